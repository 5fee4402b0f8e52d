//! What the plugin asks of whoever runs it: the imports of `wit/host.wit` as a trait.
//!
//! The component implements it by calling its imports, the host-harness natively, tests in memory.

/// How important a log line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// For the authors of plugins.
    Debug,
    /// What happened.
    Info,
    /// What a person may want to look at.
    Warn,
    /// What went wrong.
    Error,
}

/// Why the host did not do what it was asked to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostError {
    /// The host does not allow it.
    Denied(String),
    /// No room.
    Full(String),
    /// Over one of the host's size limits.
    TooLarge(String),
    /// Anything else.
    Failed(String),
}

impl std::fmt::Display for HostError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            HostError::Denied(why) => write!(f, "not allowed: {why}"),
            HostError::Full(why) => write!(f, "no room: {why}"),
            HostError::TooLarge(why) => write!(f, "too large: {why}"),
            HostError::Failed(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for HostError {}

/// One entry for a daily note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteEntry {
    /// Whose.
    pub session_key: String,
    /// The user's local date, `YYYY-MM-DD`.
    pub date: String,
    /// Names the entry; it is written once.
    pub entry_id: String,
    /// Markdown that contains `entry_id` in an HTML comment.
    pub text: String,
}

/// What became of a [`NoteEntry`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotePlace {
    /// Where it stands, as a label for people.
    pub place: String,
    /// It stood there already and nothing was written.
    pub already_there: bool,
}

/// How many earlier checkpoints a host keeps beside the active one, oldest removed first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// So many at most.
    pub count: u32,
    /// So many bytes of them at most.
    pub bytes: u64,
}

/// What is kept from one call to the next, by session key.
pub mod slot {
    /// The ledger from `before-compaction` to `after-compaction`.
    pub const SIGNALS: &str = "signals";
    /// The recovery text that the next prompt will get, once.
    pub const RECOVERY: &str = "recovery";
    /// How full the context is: see [`crate::budget::track::Tracker`].
    pub const BUDGET: &str = "budget";
    /// When the last checkpoint was written and what was handed back: see [`crate::checkpoint::Record`].
    pub const CHECKPOINTS: &str = "checkpoints";
    /// What the last compaction lost, for the next one: a ledger of those signals.
    pub const CARRIED: &str = "carried";
}

/// The plugin's whole reach.
pub trait Host {
    /// One line for the gateway's log; already redacted.
    fn log(&mut self, level: LogLevel, message: &str);
    /// A notice for a person.
    fn alert(&mut self, alert: &crate::report::Alert);
    /// The settings as one JSON object, where the user set any.
    fn settings(&mut self) -> Option<String>;
    /// Counts tokens, all texts in one call; `None` where the host has no tokenizer.
    fn count_tokens(&mut self, texts: &[&str]) -> Option<Vec<u32>>;
    /// What was last saved.
    fn load_state(&mut self, session_key: &str, slot: &str) -> Result<Option<Vec<u8>>, HostError>;
    /// Replaces what stands there.
    fn save_state(&mut self, session_key: &str, slot: &str, bytes: &[u8]) -> Result<(), HostError>;
    /// Forgets what stands there.
    fn clear_state(&mut self, session_key: &str, slot: &str) -> Result<(), HostError>;
    /// The active checkpoint.
    fn read_checkpoint(&mut self, session_key: &str) -> Result<Option<String>, HostError>;
    /// Replaces the active checkpoint durably and keeps the one before it; gives its place.
    fn write_checkpoint(&mut self, session_key: &str, text: &str, keep: Retention) -> Result<String, HostError>;
    /// The end of the daily note of a date.
    fn read_note(&mut self, session_key: &str, date: &str) -> Result<Option<String>, HostError>;
    /// Appends an entry to a daily note durably.
    fn append_note(&mut self, entry: &NoteEntry) -> Result<NotePlace, HostError>;
}
