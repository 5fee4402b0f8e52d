//! Firing hooks: awaited with a time-out, or in the background; and the faults that the gateway plays.

use super::config::{Fault, GatewayConfig};
use super::{Compaction, Gateway};
use crate::runtime::{Call, Plugin, Services};
use compact_review::budget::event::{Plan, UsageOutcome};
use compact_review::event::{AfterCompaction, BeforeCompaction};
use compact_review::report::{CheckpointOutcome, Report};
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// What came of a hook.
#[derive(Debug)]
pub enum Hook<T> {
    /// The plugin was called.
    Fired(Call<T>),
    /// The gateway did not wait for its end.
    TimedOut(Duration),
    /// The gateway could not call the plugin.
    Broken(String),
    /// It was not fired, and why.
    NotFired(String),
    /// It runs in the background.
    Pending,
}

impl<T> Hook<T> {
    /// What the plugin answered, where it did.
    pub fn answer(&self) -> Option<&T> {
        match self {
            Hook::Fired(call) => call.result.as_ref().ok(),
            _ => None,
        }
    }
}

/// An answer can tell that something in it went wrong.
pub trait Problems {
    /// What went wrong, in words.
    fn problems(&self) -> &[String];
}

impl Problems for CheckpointOutcome {
    fn problems(&self) -> &[String] {
        &self.problems
    }
}

impl Problems for Report {
    fn problems(&self) -> &[String] {
        &self.problems
    }
}

/// It tells nothing but its answer.
macro_rules! no_problems {
    ($($answer:ty),*) => {
        $(impl Problems for $answer {
            fn problems(&self) -> &[String] {
                &[]
            }
        })*
    };
}
no_problems!(UsageOutcome, Plan);

impl<T: Problems> Hook<T> {
    /// What went wrong, in words for a person.
    pub fn failures(&self, name: &str) -> Vec<String> {
        match self {
            Hook::Fired(call) => match &call.result {
                Ok(answer) => answer.problems().iter().map(|problem| format!("{name}: {problem}")).collect(),
                Err(error) => vec![format!("{name}: {error}")],
            },
            Hook::TimedOut(limit) => vec![format!("{name}: no answer within {limit:?}; the gateway went on")],
            Hook::Broken(why) => vec![format!("{name}: {why}")],
            Hook::NotFired(_) | Hook::Pending => Vec::new(),
        }
    }
}

/// One hook, ready to run on any thread.
pub(super) struct Job<E> {
    plugin: Arc<dyn Plugin>,
    services: Services,
    fault: Option<Fault>,
    event: E,
}

impl<E> Job<E> {
    fn run<T>(self, hook: impl FnOnce(&dyn Plugin, &Services, &E) -> Call<T>) -> Hook<T> {
        match self.fault {
            Some(Fault::HookError) => return Hook::Broken("the hook failed on purpose".to_string()),
            Some(Fault::SlowHook(delay)) => std::thread::sleep(delay),
            Some(Fault::CrashBetweenHooks) | None => {}
        }
        Hook::Fired(hook(&*self.plugin, &self.services, &self.event))
    }
}

/// Hooks that are not awaited. They run one after the other, as the payloads came.
pub(super) struct Background {
    tasks: Option<mpsc::Sender<Task>>,
    before: mpsc::Receiver<Hook<CheckpointOutcome>>,
    after: mpsc::Receiver<Hook<Report>>,
    limit: Duration,
}

enum Task {
    Before(Box<Job<BeforeCompaction>>),
    After(Box<Job<AfterCompaction>>),
}

impl Background {
    pub(super) fn new(config: &GatewayConfig) -> Self {
        let (tasks, todo) = mpsc::channel::<Task>();
        let (before_done, before) = mpsc::channel();
        let (after_done, after) = mpsc::channel();
        let awaited = config.shape.awaited();
        if !awaited {
            std::thread::spawn(move || {
                // A receiver that is gone has timed out and was told; there is nobody left to tell.
                for task in todo {
                    match task {
                        Task::Before(job) => drop(before_done.send(job.run(|p, s, e| p.before_compaction(s, e)))),
                        Task::After(job) => drop(after_done.send(job.run(|p, s, e| p.after_compaction(s, e)))),
                    }
                }
            });
        }
        Background { tasks: (!awaited).then_some(tasks), before, after, limit: config.hook_timeout }
    }

    /// Waits for what is still under way.
    pub(super) fn collect(mut self, done: &mut Compaction) {
        if self.tasks.take().is_none() {
            return;
        }
        if matches!(done.before, Hook::Pending) {
            done.before = self.before.recv_timeout(self.limit).unwrap_or(Hook::TimedOut(self.limit));
            done.failures.extend(done.before.failures("before_compaction"));
        }
        if matches!(done.after, Hook::Pending) {
            done.after = self.after.recv_timeout(self.limit).unwrap_or(Hook::TimedOut(self.limit));
        }
    }
}

impl Gateway {
    pub(super) fn fire_before(&self, event: BeforeCompaction, background: &mut Background) -> Hook<CheckpointOutcome> {
        let job = self.job(event);
        match &background.tasks {
            Some(tasks) => queued(tasks.send(Task::Before(Box::new(job)))),
            None => self.awaited(job, |plugin, services, event| plugin.before_compaction(services, event)),
        }
    }

    pub(super) fn fire_after(&self, event: AfterCompaction, background: &mut Background) -> Hook<Report> {
        if self.config.fault == Some(Fault::CrashBetweenHooks) {
            return Hook::NotFired("the gateway died between the hooks".to_string());
        }
        let job = self.job(event);
        match &background.tasks {
            Some(tasks) => queued(tasks.send(Task::After(Box::new(job)))),
            None => self.awaited(job, |plugin, services, event| plugin.after_compaction(services, event)),
        }
    }

    pub(super) fn job<E>(&self, event: E) -> Job<E> {
        let (plugin, services) = (self.plugin.clone(), self.services.clone());
        Job { plugin, services, fault: self.config.fault, event }
    }

    /// Runs the hook on a thread of its own, so that the gateway can stop waiting.
    pub(super) fn awaited<E: Send + 'static, T: Send + 'static>(
        &self,
        job: Job<E>,
        hook: impl FnOnce(&dyn Plugin, &Services, &E) -> Call<T> + Send + 'static,
    ) -> Hook<T> {
        let limit = self.config.hook_timeout;
        let (done, answer) = mpsc::channel();
        let thread = std::thread::Builder::new().name("hook".to_string());
        // A receiver that is gone has timed out and was told.
        match thread.spawn(move || drop(done.send(job.run(hook)))) {
            Err(error) => Hook::Broken(format!("no thread for the hook: {error}")),
            Ok(_) => answer.recv_timeout(limit).unwrap_or_else(|error| match error {
                mpsc::RecvTimeoutError::Timeout => Hook::TimedOut(limit),
                mpsc::RecvTimeoutError::Disconnected => Hook::Broken("the host panicked in the hook".to_string()),
            }),
        }
    }
}

fn queued<T, E>(sent: Result<(), E>) -> Hook<T> {
    match sent {
        Ok(()) => Hook::Pending,
        Err(_) => Hook::Broken("the thread for hooks is gone".to_string()),
    }
}
