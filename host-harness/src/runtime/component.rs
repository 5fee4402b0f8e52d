//! The component in wasmtime: loaded and compiled once (compiled code is cached on disk), a fresh store per call.

use super::bindings::{self, PluginPre, host, wit};
use super::deadline::{Ticker, ticks};
use super::limits::{Limits, MAX_COMPONENT_BYTES, Meter};
use super::output::Bounded;
use super::services::{EventHost, Services};
use super::{Call, CallError, Plugin};
use crate::user_cache::{self, CacheError};
use compact_review::budget::event::{Plan, PlanRequest, StatusReport, UsageEvent, UsageOutcome};
use compact_review::event::{AfterCompaction, BeforeCompaction, CheckpointRequest, LocalTime, Session, SessionStart};
use compact_review::host::{Host, LogLevel, NoteEntry};
use compact_review::report::{CheckpointOutcome, HookError, Recovery, Report, SessionStartOutcome};
use sha2::{Digest, Sha256};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use wasmtime::component::{Component, HasSelf, Linker};
use wasmtime::{Cache, CacheConfig, Config, Engine, Store, Trap};

/// The component that was built from the sources of this package.
pub const COMPONENT: &[u8] = include_bytes!(env!("COMPACT_REVIEW_COMPONENT"));

/// The only interface that a plugin may import, beside the types it uses.
const HOST_INTERFACE: &str = "compact-review:plugin/host@";
const TYPES_INTERFACE: &str = "compact-review:plugin/types@";

/// Why a component cannot be used.
#[derive(Debug)]
pub enum LoadError {
    /// It has more than [`MAX_COMPONENT_BYTES`].
    TooLarge,
    /// It is no component, or not one that this engine can run.
    Invalid(wasmtime::Error),
    /// It wants imports that no host offers.
    Imports(Vec<String>),
    /// It does not export the hooks, or with other types.
    Contract(wasmtime::Error),
    /// The engine could not be set up.
    Engine(wasmtime::Error),
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::TooLarge => write!(f, "a component may have {MAX_COMPONENT_BYTES} bytes, and this one has more"),
            LoadError::Invalid(error) => write!(f, "not a component that can run here: {error:#}"),
            LoadError::Imports(names) => {
                write!(f, "the plugin wants more than the contract gives it: {}", names.join(", "))
            }
            LoadError::Contract(error) => write!(f, "the plugin does not keep the contract: {error:#}"),
            LoadError::Engine(error) => write!(f, "wasmtime could not be set up: {error:#}"),
        }
    }
}

impl std::error::Error for LoadError {}

/// A plugin in wasmtime.
pub struct ComponentPlugin {
    pre: PluginPre<StoreData>,
    engine: Engine,
    ticker: Ticker,
    limits: Limits,
    sha256: String,
    stores: Arc<StoreCount>,
}

/// What one store holds.
struct StoreData {
    host: EventHost,
    meter: Meter,
    _counted: Counted,
}

/// How many stores a plugin was given, one for each call, and how many of them are gone.
#[derive(Debug, Default)]
struct StoreCount {
    made: AtomicU64,
    dropped: AtomicU64,
}

/// Lives as long as the store that it is counted for.
struct Counted(Arc<StoreCount>);

impl Counted {
    fn new(count: &Arc<StoreCount>) -> Counted {
        count.made.fetch_add(1, Ordering::Relaxed);
        Counted(count.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

impl ComponentPlugin {
    /// Our own component with the default limits.
    pub fn embedded() -> Result<Self, LoadError> {
        Self::load(COMPONENT, Limits::default())
    }

    /// Compiles a component, or takes its code from the cache, and checks that it keeps the contract.
    pub fn load(bytes: &[u8], limits: Limits) -> Result<Self, LoadError> {
        if bytes.len() > MAX_COMPONENT_BYTES {
            return Err(LoadError::TooLarge);
        }
        let engine = engine().map_err(LoadError::Engine)?;
        let component = Component::new(&engine, bytes).map_err(LoadError::Invalid)?;
        let foreign = foreign_imports(&engine, &component);
        if !foreign.is_empty() {
            return Err(LoadError::Imports(foreign));
        }
        let mut linker = Linker::new(&engine);
        host::add_to_linker::<_, HasSelf<_>>(&mut linker, |data: &mut StoreData| data).map_err(LoadError::Engine)?;
        let pre = linker.instantiate_pre(&component).and_then(PluginPre::new).map_err(LoadError::Contract)?;
        let ticker = Ticker::start(&engine).map_err(|error| LoadError::Engine(error.into()))?;
        Ok(ComponentPlugin { pre, engine, ticker, limits, sha256: sha256(bytes), stores: Arc::default() })
    }

    /// The hash of the bytes that it was loaded from.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// How many stores were made since it was loaded, and how many of them were dropped. The same number twice while no
    /// call is under way: a call leaves nothing behind, however it ended.
    pub fn stores(&self) -> (u64, u64) {
        let dropped = self.stores.dropped.load(Ordering::Relaxed);
        (self.stores.made.load(Ordering::Relaxed), dropped)
    }

    /// A fresh store and instance, and nothing else: what every call costs at least.
    pub fn instantiate(&self, services: &Services) -> Call<()> {
        self.call(services, |_, _| Ok(Ok(())))
    }

    fn call<T: Bounded, W: Into<T>>(
        &self,
        services: &Services,
        hook: impl FnOnce(&bindings::Plugin, &mut Store<StoreData>) -> wasmtime::Result<Result<W, wit::HookError>>,
    ) -> Call<T> {
        let started = Instant::now();
        let mut store = self.store(services);
        let guard = self.ticker.call();
        let answer = self.pre.instantiate(&mut store).and_then(|plugin| hook(&plugin, &mut store));
        drop(guard);
        let StoreData { host, meter, .. } = store.into_data();
        let said = host.into_said();
        let result = match answer {
            Ok(Ok(value)) => {
                let value: T = value.into();
                value.check(&self.limits).map(|()| value).map_err(CallError::Garbage)
            }
            Ok(Err(error)) => {
                let error = HookError::from(error);
                Err(error.check(&self.limits).map_or_else(CallError::Garbage, |()| CallError::Hook(error)))
            }
            Err(error) => Err(self.name_of(&error, &meter, &said)),
        };
        Call { result, said, took: started.elapsed() }
    }

    fn store(&self, services: &Services) -> Store<StoreData> {
        let data = StoreData {
            host: EventHost::new(services, self.limits),
            meter: Meter::new(&self.limits),
            _counted: Counted::new(&self.stores),
        };
        let mut store = Store::new(&self.engine, data);
        store.limiter(|data| &mut data.meter);
        store.set_hostcall_fuel(self.limits.transfer);
        store.set_epoch_deadline(ticks(self.limits.deadline));
        store.epoch_deadline_trap();
        store
    }

    /// Which of the things that can go wrong in a plugin this was.
    fn name_of(&self, error: &wasmtime::Error, meter: &Meter, said: &super::Said) -> CallError {
        if let Some(limit) = meter.hit() {
            return CallError::Limit(limit.to_string());
        }
        match error.downcast_ref::<Trap>() {
            Some(Trap::Interrupt) => CallError::Deadline(self.limits.deadline),
            Some(Trap::UnreachableCodeReached) => {
                let panic = said.log.iter().rev().find(|line| line.level == LogLevel::Error);
                CallError::Trap(panic.map_or_else(|| "it aborted".to_string(), |line| line.message.clone()))
            }
            Some(trap) => CallError::Trap(trap.to_string()),
            None => self.name_of_transfer(&error.root_cause().to_string()),
        }
    }
}

impl ComponentPlugin {
    /// No trap of the machine: what was handed over is too much, or cannot be read as the contract says.
    fn name_of_transfer(&self, why: &str) -> CallError {
        // wasmtime has no type for it. A test sees to it that the words stay the same.
        if why.contains("fuel allocated for hostcalls has been exhausted") {
            let most = self.limits.transfer >> 20;
            return CallError::Limit(format!("transfer: one call to or from the host may carry {most} MiB"));
        }
        CallError::Garbage(why.to_string())
    }
}

impl Plugin for ComponentPlugin {
    fn configure(&self, services: &Services, settings: &str) -> Call<String> {
        self.call(services, |plugin, store| plugin.compact_review_plugin_hooks().call_configure(store, settings))
    }

    fn before_compaction(&self, services: &Services, event: &BeforeCompaction) -> Call<CheckpointOutcome> {
        let messages = bindings::messages(&event.messages);
        self.call(services, |plugin, store| {
            let event = bindings::before_compaction(event, &messages);
            plugin.compact_review_plugin_hooks().call_before_compaction(store, event)
        })
    }

    fn after_compaction(&self, services: &Services, event: &AfterCompaction) -> Call<Report> {
        let kept = event.kept_message_ids.as_deref().map(bindings::texts);
        self.call(services, |plugin, store| {
            let event = bindings::after_compaction(event, kept.as_deref());
            plugin.compact_review_plugin_hooks().call_after_compaction(store, event)
        })
    }

    fn before_prompt(&self, services: &Services, session: &Session, now: LocalTime) -> Call<Option<Recovery>> {
        self.call(services, |plugin, store| {
            let (session, now) = (bindings::session(session), bindings::local_time(now));
            let answer = plugin.compact_review_plugin_hooks().call_before_prompt(store, session, now)?;
            Ok(answer.map(|recovery| recovery.map(Recovery::from)))
        })
    }

    fn checkpoint(&self, services: &Services, request: &CheckpointRequest) -> Call<CheckpointOutcome> {
        let messages = bindings::messages(&request.messages);
        self.call(services, |plugin, store| {
            let event = bindings::checkpoint(request, &messages);
            plugin.compact_review_plugin_hooks().call_checkpoint(store, event)
        })
    }

    fn session_start(&self, services: &Services, event: &SessionStart) -> Call<SessionStartOutcome> {
        let ids = bindings::texts(&event.message_ids);
        self.call(services, |plugin, store| {
            let event = bindings::session_start(event, &ids);
            plugin.compact_review_plugin_hooks().call_session_start(store, event)
        })
    }

    fn usage(&self, services: &Services, event: &UsageEvent) -> Call<UsageOutcome> {
        let (messages, added) = (bindings::messages(&event.messages), bindings::messages(&event.added));
        self.call(services, |plugin, store| {
            let event = bindings::usage(event, &messages, &added);
            plugin.compact_review_plugin_hooks().call_usage(store, event)
        })
    }

    fn status(&self, services: &Services, session: &Session) -> Call<StatusReport> {
        self.call(services, |plugin, store| {
            plugin.compact_review_plugin_hooks().call_status(store, bindings::session(session))
        })
    }

    fn plan(&self, services: &Services, request: &PlanRequest) -> Call<Plan> {
        let messages = bindings::messages(&request.messages);
        let mut call: Call<Plan> = self.call(services, |plugin, store| {
            let request = bindings::plan(request, &messages);
            plugin.compact_review_plugin_hooks().call_plan(store, request)
        });
        if let Ok(plan) = &call.result
            && plan.rows.len() > messages.len()
        {
            let garbage = format!("rows has {} entries for {} messages", plan.rows.len(), messages.len());
            call.result = Err(CallError::Garbage(garbage));
        }
        call
    }
}

fn engine() -> wasmtime::Result<Engine> {
    let mut config = Config::new();
    config.epoch_interruption(true);
    // Without a place for the cache, or on a disk that refuses it, every start compiles: slower, and no error.
    config.cache(cache_directory().ok().and_then(|directory| {
        let mut cache = CacheConfig::new();
        cache.with_directory(directory);
        Cache::new(cache).ok()
    }));
    Engine::new(&config)
}

/// Where compiled code is kept: in the user's cache folder, closed to others. Whoever could write there could have
/// machine code run that no limit holds for.
pub fn cache_directory() -> Result<PathBuf, CacheError> {
    user_cache::folder("wasmtime")
}

/// What names the bytes of a component: 64 hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn foreign_imports(engine: &Engine, component: &Component) -> Vec<String> {
    let ty = component.component_type();
    let names = ty.imports(engine).map(|(name, _)| name.to_string());
    names.filter(|name| !name.starts_with(HOST_INTERFACE) && !name.starts_with(TYPES_INTERFACE)).collect()
}

impl wit::Host for StoreData {}

impl host::Host for StoreData {
    fn log(&mut self, level: host::LogLevel, message: String) {
        self.host.log(level.into(), &message);
    }

    fn raise_alert(&mut self, alert: wit::Alert) {
        self.host.alert(&alert.into());
    }

    fn settings(&mut self) -> Option<String> {
        self.host.settings()
    }

    fn count_tokens(&mut self, texts: Vec<String>) -> Option<Vec<u32>> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        self.host.count_tokens(&texts)
    }

    fn load_state(&mut self, session_key: String, slot: String) -> Result<Option<Vec<u8>>, wit::HostError> {
        Ok(self.host.load_state(&session_key, &slot)?)
    }

    fn save_state(&mut self, session_key: String, slot: String, bytes: Vec<u8>) -> Result<(), wit::HostError> {
        Ok(self.host.save_state(&session_key, &slot, &bytes)?)
    }

    fn clear_state(&mut self, session_key: String, slot: String) -> Result<(), wit::HostError> {
        Ok(self.host.clear_state(&session_key, &slot)?)
    }

    fn read_checkpoint(&mut self, session_key: String) -> Result<Option<String>, wit::HostError> {
        Ok(self.host.read_checkpoint(&session_key)?)
    }

    fn write_checkpoint(
        &mut self,
        session_key: String,
        text: String,
        keep: host::Retention,
    ) -> Result<String, wit::HostError> {
        Ok(self.host.write_checkpoint(&session_key, &text, keep.into())?)
    }

    fn read_note(&mut self, session_key: String, date: String) -> Result<Option<String>, wit::HostError> {
        Ok(self.host.read_note(&session_key, &date)?)
    }

    fn append_note(&mut self, entry: host::NoteEntry) -> Result<host::NotePlace, wit::HostError> {
        let host::NoteEntry { session_key, date, entry_id, text } = entry;
        let place = self.host.append_note(&NoteEntry { session_key, date, entry_id, text })?;
        Ok(host::NotePlace { place: place.place, already_there: place.already_there })
    }
}
