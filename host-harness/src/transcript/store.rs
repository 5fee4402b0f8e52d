//! OpenClaw's store: one SQLite file for each agent, read without writing to it, also while the gateway writes.
//!
//! Large events are compressed (zstd). Sessions that were reset or deleted are kept whole in a table of archives.

use super::lines::{MAX_LINE_BYTES, RawLine, Reopen};
use super::{Control, ErrorKind, TranscriptError};
use rusqlite::{Connection, OpenFlags, OptionalExtension};
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// The newest schema whose columns are known: `PRAGMA user_version` of OpenClaw in September 2026.
pub const KNOWN_SCHEMA: i64 = 24;
/// A compressed archive beyond this is not read.
const MAX_ARCHIVE_BYTES: i64 = 64 * 1024 * 1024;
/// Nor is more of one than this many bytes, unpacked: a small file can be packed so that it never ends.
const MAX_UNPACKED_BYTES: u64 = 4 * 1024 * 1024 * 1024;
/// How long a writer that locks the whole file is waited for.
const BUSY: Duration = Duration::from_secs(3);

/// An open store.
pub(super) struct Store {
    path: PathBuf,
    connection: Rc<Connection>,
    compressed: bool,
    /// What a person should know about it.
    pub notices: Vec<String>,
}

/// A session in a store.
#[derive(Clone, Debug)]
pub(super) struct StoredSession {
    pub id: String,
    pub key: Option<String>,
    /// The generation of an archived one.
    pub archive: Option<String>,
}

impl Store {
    pub(super) fn open(path: &Path) -> Result<Store, TranscriptError> {
        let connection = connect(path).map_err(|error| failed(path, &error))?;
        let mut store =
            Store { path: path.to_path_buf(), connection: Rc::new(connection), compressed: false, notices: Vec::new() };
        let columns = store.columns("transcript_events").map_err(|error| failed(path, &error))?;
        let version: i64 = store
            .connection
            .query_row("PRAGMA user_version", [], |row| row.get(0))
            .map_err(|error| failed(path, &error))?;
        let has = |name: &str| columns.iter().any(|column| column == name);
        if columns.is_empty() {
            let why = "a SQLite file, but no OpenClaw store: it has no table transcript_events".to_string();
            return Err(TranscriptError::new(path, ErrorKind::NoStore, why));
        }
        if !has("session_id") || !has("seq") || !has("event_json") {
            let why = format!(
                "a store of schema {version} whose table transcript_events has other columns ({}); this version reads \
                 schemas up to {KNOWN_SCHEMA}",
                columns.join(", ")
            );
            return Err(TranscriptError::new(path, ErrorKind::NewerStore, why));
        }
        store.compressed = has("event_zstd");
        if version > KNOWN_SCHEMA {
            store.notices.push(format!(
                "schema {version} is newer than {KNOWN_SCHEMA}, the newest that is known; the events were read as there"
            ));
        }
        // One snapshot for everything that is read: what the gateway writes meanwhile does not mix in.
        store.connection.execute_batch("BEGIN").map_err(|error| failed(path, &error))?;
        Ok(store)
    }

    /// The columns of a plain table. What goes by its name and is a view could compute for ever.
    fn columns(&self, table: &str) -> rusqlite::Result<Vec<String>> {
        let mut statement = self.connection.prepare(
            "SELECT name FROM pragma_table_info(?1) WHERE EXISTS (SELECT 1 FROM sqlite_schema s
             WHERE s.type = 'table' AND s.name = ?1 AND s.sql LIKE 'CREATE TABLE%')",
        )?;
        statement.query_map([table], |row| row.get(0))?.collect()
    }

    /// The sessions in it, in the order of their ids; archived ones last.
    pub(super) fn sessions(&self) -> Result<Vec<StoredSession>, TranscriptError> {
        self.list().map_err(|error| failed(&self.path, &error))
    }

    fn list(&self) -> rusqlite::Result<Vec<StoredSession>> {
        let keyed = !self.columns("session_windows")?.is_empty();
        let query = if keyed {
            "SELECT e.session_id, (SELECT w.session_key FROM session_windows w WHERE w.session_id = e.session_id)
             FROM transcript_events e GROUP BY e.session_id ORDER BY e.session_id"
        } else {
            "SELECT session_id, NULL FROM transcript_events GROUP BY session_id ORDER BY session_id"
        };
        let mut statement = self.connection.prepare(query)?;
        let live = statement
            .query_map([], |row| Ok(StoredSession { id: row.get(0)?, key: row.get(1)?, archive: None }))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let mut sessions = live;
        let archives = self.columns("session_transcript_archives")?;
        if ["generation", "encoding", "archive_blob"].iter().all(|name| archives.iter().any(|column| column == name)) {
            let mut statement = self.connection.prepare(
                "SELECT session_id, session_key, generation FROM session_transcript_archives
                 ORDER BY session_id, generation",
            )?;
            let rows = statement.query_map([], |row| {
                Ok(StoredSession { id: row.get(0)?, key: row.get(1)?, archive: Some(row.get(2)?) })
            })?;
            for row in rows {
                sessions.push(row?);
            }
        }
        Ok(sessions)
    }

    /// The session that was written to last.
    pub(super) fn newest(&self) -> Result<Option<String>, TranscriptError> {
        let order = match self.columns("transcript_events") {
            Ok(columns) if columns.iter().any(|column| column == "created_at") => "created_at DESC, rowid DESC",
            _ => "rowid DESC",
        };
        let query = format!("SELECT session_id FROM transcript_events ORDER BY {order} LIMIT 1");
        let newest = self.connection.query_row(&query, [], |row| row.get(0)).optional();
        newest.map_err(|error| failed(&self.path, &error))
    }

    /// The events of a session.
    pub(super) fn rows(&self, session: &str, control: Control) -> Rows {
        Rows {
            connection: self.connection.clone(),
            path: self.path.clone(),
            session: session.to_string(),
            compressed: self.compressed,
            after: i64::MIN,
            buffer: Vec::new(),
            control,
        }
    }

    /// An archived session: JSONL, compressed or not.
    pub(super) fn archive(&self, session: &str, generation: &str) -> Result<Reopen, TranscriptError> {
        let found: Option<(String, Option<Vec<u8>>, i64)> = self
            .connection
            .query_row(
                "SELECT encoding, CASE WHEN length(archive_blob) <= ?3 THEN archive_blob END, length(archive_blob)
                 FROM session_transcript_archives WHERE session_id = ?1 AND generation = ?2",
                rusqlite::params![session, generation, MAX_ARCHIVE_BYTES],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()
            .map_err(|error| failed(&self.path, &error))?;
        let unreadable = |why: String| TranscriptError::new(&self.path, ErrorKind::Unreadable, why);
        let Some((encoding, bytes, length)) = found else {
            return Err(unreadable(format!("the archive of session {session} is gone")));
        };
        let Some(bytes) = bytes else {
            return Err(unreadable(format!("the archive of session {session} has {length} bytes, which is too much")));
        };
        let bytes: Arc<[u8]> = bytes.into();
        match encoding.as_str() {
            "identity" => Ok(Box::new(move || Ok(Box::new(Cursor::new(bytes.clone()))))),
            "zstd" => Ok(Box::new(move || {
                let decoder = zstd::stream::read::Decoder::new(Cursor::new(bytes.clone()))?;
                Ok(Box::new(decoder.take(MAX_UNPACKED_BYTES)))
            })),
            other => Err(unreadable(format!("the archive of session {session} is encoded as {other:?}"))),
        }
    }
}

/// The events of one session, by their number.
pub(super) struct Rows {
    connection: Rc<Connection>,
    path: PathBuf,
    session: String,
    compressed: bool,
    after: i64,
    buffer: Vec<u8>,
    control: Control,
}

impl Rows {
    /// Goes on behind the row with this number.
    pub(super) fn skip_to(&mut self, number: u64) {
        self.after = i64::try_from(number).unwrap_or(i64::MAX);
    }

    pub(super) fn rewind(&mut self) {
        self.after = i64::MIN;
    }

    /// The next event; its number is that of its row, from 1.
    pub(super) fn next(&mut self) -> Result<Option<RawLine<'_>>, TranscriptError> {
        self.control.check()?;
        let found = self.fetch().map_err(|error| failed(&self.path, &error))?;
        let Some((seq, length, fault)) = found else { return Ok(None) };
        self.after = seq;
        let number = u64::try_from(seq).unwrap_or(0);
        self.control.read(self.buffer.len() as u64);
        Ok(Some(match fault {
            None => RawLine::Whole { number, bytes: &self.buffer },
            Some(why) => RawLine::Oversize { number, length, peek: Err(why) },
        }))
    }

    /// Puts the next event into the buffer: its number, its length, and why it cannot be held.
    fn fetch(&mut self) -> rusqlite::Result<Option<(i64, u64, Option<String>)>> {
        let zstd = if self.compressed { "event_zstd" } else { "NULL" };
        // One row at a time: the primary key finds it, and no more than one event is ever held.
        let query = format!(
            "SELECT seq, CASE WHEN octet_length(event_json) <= ?3 THEN event_json END, octet_length(event_json), {zstd}
             FROM transcript_events WHERE session_id = ?1 AND seq > ?2 ORDER BY seq LIMIT 1"
        );
        let mut statement = self.connection.prepare_cached(&query)?;
        let most = MAX_LINE_BYTES as i64;
        let mut rows = statement.query(rusqlite::params![self.session, self.after, most])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let seq = row.get(0)?;
        self.buffer.clear();
        if let Some(text) = row.get_ref(1)?.as_bytes_or_null()? {
            self.buffer.extend_from_slice(text);
            return Ok(Some((seq, text.len() as u64, None)));
        }
        if let Some(length) = row.get::<_, Option<i64>>(2)? {
            let length = u64::try_from(length).unwrap_or(0);
            return Ok(Some((seq, length, Some("the event is too long to be read".to_string()))));
        }
        let Some(packed) = row.get_ref(3)?.as_bytes_or_null()? else {
            return Ok(Some((seq, 0, Some("the event has neither event_json nor event_zstd".to_string()))));
        };
        let unpacked = zstd::stream::read::Decoder::new(packed)
            .and_then(|decoder| decoder.take(MAX_LINE_BYTES as u64 + 1).read_to_end(&mut self.buffer));
        Ok(Some(match unpacked {
            Ok(length) if length > MAX_LINE_BYTES => {
                self.buffer = Vec::new();
                (seq, length as u64, Some("the event is too long to be read".to_string()))
            }
            Ok(length) => (seq, length as u64, None),
            Err(error) => (seq, packed.len() as u64, Some(format!("event_zstd cannot be unpacked: {error}"))),
        }))
    }
}

/// Read-only. A store that was closed cleanly is opened as immutable, because SQLite would otherwise create its
/// `-wal` and `-shm` files beside it; one that is in use is read through these files, as every reader of it does.
fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let in_use = ["-wal", "-journal"].iter().any(|suffix| {
        let mut beside = path.as_os_str().to_os_string();
        beside.push(suffix);
        std::fs::metadata(beside).is_ok_and(|data| data.len() > 0)
    });
    let mut uri = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' => uri.push(char::from(*byte)),
            other => uri.push_str(&format!("%{other:02X}")),
        }
    }
    uri.push_str(if in_use { "?mode=ro" } else { "?mode=ro&immutable=1" });
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let connection = Connection::open_with_flags(uri, flags)?;
    connection.busy_timeout(BUSY)?;
    connection.pragma_update(None, "query_only", true)?;
    // A file from elsewhere: what its schema says is not run, and its cells are checked before they are read.
    connection.pragma_update(None, "trusted_schema", false)?;
    connection.pragma_update(None, "cell_size_check", true)?;
    Ok(connection)
}

fn failed(path: &Path, error: &rusqlite::Error) -> TranscriptError {
    let kind = match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase | rusqlite::ErrorCode::DatabaseCorrupt) => ErrorKind::NoStore,
        _ => ErrorKind::Unreadable,
    };
    TranscriptError::new(path, kind, format!("the SQLite file cannot be read: {error}"))
}
