//! A small conversation, a summary of it that loses things, and a plugin to run them in.

use compact_review::event::{AfterCompaction, BeforeCompaction, LocalTime, Message, Reason, Role, Session};
use host_harness::gateway::{Gateway, GatewayConfig, GatewaySession};
use host_harness::notes::MemoryNotes;
use host_harness::runtime::{ComponentPlugin, Plugin, Services};
use std::sync::{Arc, OnceLock};

pub const KEY: &str = "agent:main:test";
pub const NOW: LocalTime = LocalTime { unix_ms: 1_794_933_000_000, utc_offset_minutes: 480 };

/// Loses the prohibition and the ticket, keeps the rest.
pub const LOSSY: &str = "The service runs on db-1.example.internal:5432. Staging was deployed with image api:4.8.2 and \
the smoke test passed. The user wants a dashboard for queue lag next.";

/// Our own component, compiled once for all tests.
pub fn component() -> Arc<dyn Plugin> {
    static PLUGIN: OnceLock<Arc<ComponentPlugin>> = OnceLock::new();
    PLUGIN.get_or_init(|| Arc::new(ComponentPlugin::embedded().unwrap())).clone()
}

pub fn services() -> Services {
    Services::new(MemoryNotes::default())
}

pub fn messages() -> Vec<Message> {
    let said = [
        (Role::User, "Never deploy on Fridays. The database is Postgres 16 on db-1.example.internal:5432."),
        (Role::Assistant, "Understood: no deploys on Fridays. The database is db-1.example.internal:5432."),
        (Role::User, "Ticket HER-1001 must stay open until Dana approves the budget of 4200 EUR."),
        (Role::Assistant, "I keep HER-1001 open until Dana approves the 4200 EUR."),
        (Role::Tool, "deployed image api:4.8.2 to staging\nsmoke test: 41 passed, 0 failed"),
        (Role::Assistant, "Staging runs api:4.8.2 and the smoke test passed."),
        (Role::User, "Next, build a dashboard for queue lag."),
        (Role::Assistant, "I start with the dashboard."),
    ];
    let message = |(index, (role, text)): (usize, (Role, &str))| Message {
        id: format!("m{index}"),
        role,
        text: text.to_string(),
        tool: (role == Role::Tool).then(|| "bash".to_string()),
        failed: false,
        at: Some(NOW.unix_ms - 60_000 * (10 - index as i64)),
    };
    said.into_iter().enumerate().map(message).collect()
}

pub fn session() -> GatewaySession {
    let mut session = GatewaySession::new(Session {
        session_key: KEY.to_string(),
        session_id: Some("test-1".to_string()),
        agent_id: Some("main".to_string()),
        ..Default::default()
    });
    for message in messages() {
        session.push(message);
    }
    session
}

/// All but the last two messages are compacted.
pub fn config() -> GatewayConfig {
    GatewayConfig { head_protection: 2, ..Default::default() }
}

pub fn gateway(config: GatewayConfig) -> (Gateway, Services) {
    let services = services();
    (Gateway::new(component(), services.clone(), config), services)
}

pub fn before() -> BeforeCompaction {
    BeforeCompaction {
        session: session().session,
        reason: Reason::Manual,
        now: NOW,
        message_count: Some(8),
        messages: messages(),
        ..Default::default()
    }
}

pub fn after(summary: Option<&str>) -> AfterCompaction {
    AfterCompaction {
        session: session().session,
        now: NOW,
        messages_retained: Some(2),
        messages_dropped: Some(6),
        first_kept_entry_id: Some("m6".to_string()),
        summary_text: summary.map(str::to_string),
        ..Default::default()
    }
}

/// The words of everything that was found lost.
pub fn lost_text(report: &compact_review::report::Report) -> String {
    report.lost.iter().map(|finding| format!("{} {}\n", finding.text, finding.values.join(" "))).collect()
}
