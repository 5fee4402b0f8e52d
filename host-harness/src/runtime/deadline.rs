//! The clock that ends endless loops: one thread that moves the engine's epoch on while calls are under way, and
//! sleeps while there are none.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use wasmtime::Engine;

/// How fine deadlines are measured.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// Moves the epoch of one engine on.
#[derive(Debug)]
pub(super) struct Ticker {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    calls: usize,
    closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is two plain numbers: valid whatever a panicking holder was about to do.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ticker {
    pub(super) fn start(engine: &Engine) -> std::io::Result<Ticker> {
        let shared = Arc::new(Shared::default());
        let (engine, for_thread) = (engine.weak(), shared.clone());
        std::thread::Builder::new().name("epoch".to_string()).spawn(move || {
            let shared = for_thread;
            loop {
                let mut state = shared.lock();
                while state.calls == 0 && !state.closed {
                    state = shared.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                if state.closed {
                    return;
                }
                drop(state);
                std::thread::sleep(TICK);
                match engine.upgrade() {
                    Some(engine) => engine.increment_epoch(),
                    None => return,
                }
            }
        })?;
        Ok(Ticker { shared })
    }

    /// The epoch moves on until the returned guard is dropped.
    pub(super) fn call(&self) -> CallGuard<'_> {
        self.shared.lock().calls += 1;
        self.shared.changed.notify_one();
        CallGuard { shared: &self.shared }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_one();
    }
}

/// A call is under way.
pub(super) struct CallGuard<'a> {
    shared: &'a Shared,
}

impl Drop for CallGuard<'_> {
    fn drop(&mut self) {
        self.shared.lock().calls -= 1;
    }
}

/// The deadline in ticks; one more, because the first tick may come at once.
pub(super) fn ticks(deadline: Duration) -> u64 {
    u64::try_from(deadline.as_millis() / TICK.as_millis()).unwrap_or(u64::MAX).saturating_add(1)
}
