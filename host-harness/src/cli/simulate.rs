//! `simulate`: the messages of a recorded session through the simulated gateway, which compacts as the plugin plans it.
//! The compactions that were recorded do not take place: this is what would have happened with the budget.

use super::input::now;
use super::{Outcome, PluginArgs, recorded};
use crate::gateway::{
    BudgetPolicy, ByRule, Compaction, Endpoint, Gateway, GatewayConfig, GatewaySession, ProviderReport, Step,
    Summarizer,
};
use crate::report::json::AuditJson;
use crate::report::terminal::{self, thousands};
use crate::runtime::Plugin;
use crate::transcript::Entry;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use compact_review::event::{Message, Reason, Role};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

#[derive(Debug, Args)]
pub(super) struct SimulateArgs {
    /// A session file, or an OpenClaw store: then the session that was written to last.
    transcript: PathBuf,
    /// The model's context window in tokens.
    #[arg(long, value_name = "TOKENS", default_value_t = 131_072, value_parser = clap::value_parser!(u64).range(1..))]
    window: u64,
    /// What is kept free for the answer, in tokens.
    #[arg(long, value_name = "TOKENS", default_value_t = 0)]
    reserve: u64,
    /// Compact only when the provider refuses a request.
    #[arg(long)]
    no_proactive: bool,
    /// What the simulated provider tells of each request.
    #[arg(long, value_enum, default_value_t = ProviderArg::CacheApart)]
    provider: ProviderArg,
    /// An OpenAI-compatible endpoint that writes the summaries and a part of each checkpoint, such as
    /// http://127.0.0.1:8082/v1. Without it both are made by rule.
    #[arg(long, value_name = "URL")]
    summarizer_url: Option<String>,
    /// The model that is asked for there.
    #[arg(long, value_name = "NAME", default_value = "default", requires = "summarizer_url")]
    summarizer_model: String,
    /// How long an answer is awaited, in seconds.
    #[arg(long, value_name = "SECONDS", default_value_t = 60, requires = "summarizer_url")]
    summarizer_timeout: u64,
    /// One JSON object for each step in which something happened, and one with the status at the end.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    plugin: PluginArgs,
}

/// What a provider tells of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ProviderArg {
    /// Nothing: the messages are counted or estimated.
    Nothing,
    /// Prompt tokens without those of the cache, as Anthropic does.
    CacheApart,
    /// Prompt tokens with those of the cache, as OpenAI does.
    CacheIncluded,
}

impl SimulateArgs {
    fn config(&self) -> Result<GatewayConfig> {
        if self.window <= self.reserve {
            bail!("--window ({}) must be above --reserve ({})", self.window, self.reserve);
        }
        let provider = match self.provider {
            ProviderArg::Nothing => ProviderReport::Nothing,
            ProviderArg::CacheApart => ProviderReport::CacheApart,
            ProviderArg::CacheIncluded => ProviderReport::CacheIncluded,
        };
        let budget = Some(BudgetPolicy { proactive: !self.no_proactive, provider, model: None });
        Ok(GatewayConfig { context_window: self.window, reserve: self.reserve, budget, ..Default::default() })
    }

    fn endpoint(&self) -> Option<Endpoint> {
        let timeout = Duration::from_secs(self.summarizer_timeout);
        self.summarizer_url.as_ref().map(|url| Endpoint::new(url, &self.summarizer_model, timeout))
    }
}

pub(super) fn run(args: &SimulateArgs) -> Result<Outcome> {
    let config = args.config()?;
    let mut recording = recorded::open(&args.transcript)?;
    let (mut messages, mut recorded_compactions) = (Vec::new(), 0);
    recording.play(0, |entry| {
        match entry {
            Entry::Message(said) => messages.push(said.message),
            Entry::Compaction(_) => recorded_compactions += 1,
            Entry::Usage(_) | Entry::Reset | Entry::RolledBack(_) => {}
        }
        true
    })?;
    let plugin = Arc::new(args.plugin.source.load()?);
    let (services, endpoint) = (args.plugin.services(&*plugin)?, args.endpoint());
    let summarizer: &dyn Summarizer = endpoint.as_ref().map_or(&ByRule, |endpoint| endpoint);
    let mut session = GatewaySession::counted_by(recording.session.clone(), services.tokens.clone());
    let gateway = Gateway::new(plugin.clone(), services.clone(), config).with_prose_writer(endpoint.clone());
    let mut out = anstream::stdout().lock();
    let clock = now();
    for message in &messages {
        let now = message.at.map_or(clock, |at| clock.at(at));
        let step = if calls_compact(message) {
            gateway
                .tool_call(&mut session, "compact", message.id.clone(), now, summarizer)
                .map_err(anyhow::Error::msg)?
        } else {
            gateway.step(&mut session, message.clone(), now, summarizer)
        };
        if args.json {
            print_json(&mut out, message, &step)?;
        } else {
            print(&mut out, message, &step)?;
        }
    }
    let status = plugin.status(&services, &session.session).result.context("status")?;
    if args.json {
        serde_json::to_writer(
            &mut out,
            &json!({"status": status.status, "recordedCompactions": recorded_compactions}),
        )?;
        writeln!(out)?;
    } else {
        writeln!(out, "{} · recorded: {}", status.line, recorded_compactions)?;
    }
    Ok(Outcome::Fine)
}

/// What the gateway's own tool answered in the record is not repeated: it is called again.
fn calls_compact(message: &Message) -> bool {
    message.role == Role::Tool && message.tool.as_deref() == Some("compact")
}

fn print(out: &mut impl Write, message: &Message, step: &Step) -> Result<()> {
    let id = terminal::plain(&message.id, 24);
    for done in &step.compactions {
        writeln!(out, "{id}: {}", compaction(done))?;
        for failure in &done.failures {
            writeln!(out, "  problem {}", terminal::plain(failure, 300))?;
        }
    }
    if let Some(usage) = &step.usage {
        for alert in &usage.alerts {
            writeln!(out, "{id}: {}", terminal::plain(&alert.text, 200))?;
        }
        for notice in &usage.notices {
            writeln!(out, "{id}: note {}", terminal::plain(notice, 300))?;
        }
    }
    for written in [&step.checkpoint, &step.prose].into_iter().flatten().filter_map(|hook| hook.answer()) {
        for write in &written.writes {
            let place = write.place.as_deref().unwrap_or("nowhere");
            writeln!(out, "{id}: checkpoint written to {}", terminal::plain(place, 120))?;
        }
    }
    for failure in &step.failures {
        writeln!(out, "{id}: problem {}", terminal::plain(failure, 300))?;
    }
    Ok(())
}

fn compaction(done: &Compaction) -> String {
    let why = match done.reason {
        Reason::Overflow => "the request was refused",
        Reason::Manual => "asked for",
        Reason::Threshold | Reason::Unknown => "proactive",
    };
    let score = done.report().and_then(|report| report.score);
    let score = score.map_or_else(String::new, |score| format!(", score {score:.1}"));
    let (before, after) = (thousands(done.tokens_before), thousands(done.tokens_after));
    format!(
        "🧹 Compaction complete ({why}): {} messages gone, {} kept, {before} → {after} tokens{score}",
        done.dropped, done.retained
    )
}

fn print_json(out: &mut impl Write, message: &Message, step: &Step) -> Result<()> {
    let crossings = step.usage.as_ref().map(|usage| usage.crossings.as_slice()).unwrap_or_default();
    let quiet = step.compactions.is_empty() && crossings.is_empty() && step.failures.is_empty();
    if quiet && step.checkpoint.is_none() {
        return Ok(());
    }
    let compactions: Vec<_> = step.compactions.iter().map(compaction_json).collect();
    let line = json!({
        "messageId": message.id,
        "status": step.status(),
        "crossings": crossings,
        "checkpoint": step.checkpoint.is_some(),
        "prose": step.prose.is_some(),
        "refused": step.refused,
        "compactions": compactions,
        "failures": step.failures,
    });
    serde_json::to_writer(&mut *out, &line)?;
    writeln!(out)?;
    Ok(())
}

fn compaction_json(done: &Compaction) -> serde_json::Value {
    json!({
        "reason": done.reason,
        "strategy": format!("{:?}", done.strategy).to_lowercase(),
        "planned": done.plan.is_some(),
        "messagesBefore": done.messages_before,
        "messagesDropped": done.dropped,
        "messagesRetained": done.retained,
        "tokensBefore": done.tokens_before,
        "tokensAfter": done.tokens_after,
        "summary": done.summary,
        "failures": done.failures,
        "audit": done.report().map(AuditJson::new),
    })
}
