#![allow(clippy::unwrap_used)]

use super::*;

fn said(id: &str, role: Role, text: &str) -> Message {
    Message { id: id.to_string(), role, text: text.to_string(), tool: None, failed: false, at: None }
}

fn signal(message: &Message, kind: Kind, text: &str) -> Signal {
    Signal {
        id: format!("s-{}", message.id),
        message_id: message.id.clone(),
        role: message.role,
        salience: 0.9,
        ..Signal::example(kind, text)
    }
}

fn unprotected() -> PlanSettings {
    PlanSettings { head_protection: 0, tail_protection: 0, ..Default::default() }
}

fn counts(messages: &[Message]) -> Vec<Counted> {
    messages.iter().map(|m| Counted { tokens: estimate(&m.text).into(), by_host: false }).collect()
}

fn choices(messages: &[Message], signals: &[Signal], settings: &PlanSettings) -> Vec<(Choice, String)> {
    let made = plan(messages, &counts(messages), signals, Room::default(), settings);
    made.rows.into_iter().map(|row| (row.choice, row.why)).collect()
}

#[test]
fn each_row_of_the_table_holds() {
    let mut failed = said("5", Role::Tool, "exit code 1: linker not found");
    failed.failed = true;
    let messages = [
        said("0", Role::User, "We use PostgreSQL 16, because of the licence."),
        said("1", Role::Assistant, "I looked at three ways to do this."),
        said("2", Role::User, "ok, got it!"),
        said("3", Role::Assistant, "```rust\nfn main() {}\n```"),
        said("4", Role::Tool, "3 files changed"),
        failed,
        said("6", Role::User, "Which port, please?"),
        said("7", Role::User, "which port please"),
    ];
    let signals = [signal(&messages[0], Kind::Decision, "We use PostgreSQL 16")];
    let expected = [
        (Choice::Keep, "decision or rule"),
        (Choice::Summarize, "discussion"),
        (Choice::Drop, "acknowledgement"),
        (Choice::Keep, "code under discussion"),
        (Choice::Summarize, "tool call"),
        (Choice::Keep, "failed tool call"),
        (Choice::Drop, "said again later"),
        (Choice::Summarize, "discussion"),
    ];
    let found = choices(&messages, &signals, &unprotected());
    assert_eq!(found, expected.map(|(choice, why)| (choice, why.to_string())));
}

#[test]
fn an_ok_that_answers_a_question_is_not_dropped() {
    let messages = [said("0", Role::Assistant, "Shall I delete the old bucket?"), said("1", Role::User, "ok")];
    let found = choices(&messages, &[], &unprotected());
    assert_eq!(found[1], (Choice::Summarize, "answers a question".to_string()));
}

#[test]
fn head_protection_keeps_the_last_and_tail_protection_the_first() {
    let messages: Vec<_> = (0..10).map(|n| said(&n.to_string(), Role::User, "ok")).collect();
    let settings = PlanSettings { head_protection: 3, tail_protection: 2, ..Default::default() };
    let kept: Vec<_> = choices(&messages, &[], &settings).iter().map(|row| row.0 == Choice::Keep).collect();
    assert_eq!(kept, [true, true, false, false, false, false, false, true, true, true]);
    let all = PlanSettings { head_protection: 1000, ..settings };
    assert!(choices(&messages, &[], &all).iter().all(|row| row.0 == Choice::Keep));
}

#[test]
fn a_long_failure_is_not_kept_whole() {
    let mut failed = said("0", Role::Tool, &"error at line\n".repeat(5_000));
    failed.failed = true;
    assert_eq!(choices(&[failed], &[], &unprotected())[0].1, "too long to keep");
}

#[test]
fn what_is_kept_for_what_it_says_leaves_room_and_its_facts_are_told() {
    let messages: Vec<_> =
        (0..20).map(|n| said(&n.to_string(), Role::User, &format!("We decided on plan {n}."))).collect();
    let signals: Vec<_> = messages.iter().map(|m| signal(m, Kind::Decision, &m.text)).collect();
    let tokens = vec![Counted { tokens: 100, by_host: true }; 20];
    let settings = PlanSettings { head_protection: 2, tail_protection: 1, ..Default::default() };
    let room = Room { limit: Some(1_000), pct: Some(200.0), manual: false };
    let made = plan(&messages, &tokens, &signals, room, &settings);
    // 60 % of the threshold of 80 %: 480 of 1000 tokens.
    assert_eq!(made.tokens_kept, 400);
    let kept: Vec<_> = made.rows.iter().filter(|row| row.choice == Choice::Keep).map(|row| &row.message_id).collect();
    assert_eq!(kept, ["0", "17", "18", "19"], "the first, the newest decision, the last two");
    assert_eq!(made.rows[1].why, "no room to keep it");
    assert!(made.instructions.contains("plan 1.\""), "{}", made.instructions);
}

#[test]
fn protected_results_that_would_keep_the_context_full_go_but_not_before_the_agent_saw_them() {
    let roles = [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::Tool, Role::Tool];
    let messages: Vec<_> = roles.iter().enumerate().map(|(n, role)| said(&n.to_string(), *role, "text")).collect();
    let mut tokens = vec![Counted { tokens: 10, by_host: true }; 6];
    for at in [2, 4, 5] {
        tokens[at].tokens = 25_000;
    }
    let choices = |limit| {
        let room = Room { limit: Some(limit), pct: Some(100.0), manual: false };
        let made = plan(&messages, &tokens, &[], room, &PlanSettings::default());
        made.rows.iter().map(|row| row.choice == Choice::Keep).collect::<Vec<_>>()
    };
    assert_eq!(choices(100_000), [true; 6], "there is room");
    assert_eq!(choices(70_000), [true, true, false, true, true, true]);
    assert_eq!(choices(30_000), [true, true, false, true, true, true], "the last two were not seen yet");
}

#[test]
fn discard_summarizes_nothing_and_truncate_drops_the_oldest_only_as_far_as_needed() {
    let messages: Vec<_> =
        (0..10).map(|n| said(&n.to_string(), Role::User, &format!("message number {n} of many"))).collect();
    let tokens = vec![Counted { tokens: 100, by_host: true }; 10];
    let room = Room { limit: Some(1_000), pct: Some(100.0), manual: false };
    let discard = PlanSettings { strategy: Strategy::Discard, ..unprotected() };
    let made = plan(&messages, &tokens, &[], room, &discard);
    assert_eq!((made.tokens_kept, made.tokens_summarized, made.tokens_dropped), (0, 0, 1_000));
    assert_eq!(made.instructions, "");
    let truncate = PlanSettings { strategy: Strategy::Truncate, ..unprotected() };
    let made = plan(&messages, &tokens, &[], room, &truncate);
    // 60 % of the threshold of 80 %: 480 of 1000 tokens.
    assert_eq!((made.tokens_kept, made.tokens_dropped), (400, 600));
    assert!(made.rows[..6].iter().all(|row| row.choice == Choice::Drop));
}

#[test]
fn a_plan_is_due_from_the_threshold_on_by_hand_always_and_unknown_when_usage_is() {
    let due = |pct, manual| plan(&[], &[], &[], Room { limit: None, pct, manual }, &PlanSettings::default()).due;
    assert_eq!(due(Some(79.9), false), Some(false));
    assert_eq!(due(Some(80.0), false), Some(true));
    assert_eq!(due(Some(1.0), true), Some(true));
    assert_eq!(due(None, false), None);
}

#[test]
fn instructions_hold_the_facts_of_summarized_messages_in_order_and_only_those() {
    let messages = [
        said("0", Role::Assistant, "the host is db-7.internal"),
        said("1", Role::Assistant, "the port is 5433"),
        said("2", Role::User, "the last one"),
    ];
    let mut stale = signal(&messages[0], Kind::Number, "stale");
    stale.superseded = true;
    let signals = [
        signal(&messages[1], Kind::Number, "the port\nis \"5433\""),
        signal(&messages[0], Kind::Infrastructure, "the host is db-7.internal"),
        stale,
        signal(&messages[2], Kind::Task, "the last one"),
    ];
    let settings = PlanSettings { head_protection: 1, tail_protection: 0, ..Default::default() };
    let made = plan(&messages, &counts(&messages), &signals, Room::default(), &settings);
    let port = made.instructions.find("- number: \"the port is '5433'\"\n").unwrap();
    let host = made.instructions.find("- identifier: \"the host is db-7.internal\"\n").unwrap();
    assert!(port < host, "{}", made.instructions);
    assert!(!made.instructions.contains("stale") && !made.instructions.contains("last one"));
    assert!(made.instructions.contains("[CONTEXT SUMMARY — reference only]"));
}

#[test]
fn instructions_hold_the_items_of_a_list_that_no_kept_message_holds_and_no_bare_names() {
    let item = |at: u32| said(&at.to_string(), Role::Assistant, &format!("I looked at shard {at} for a while."));
    let messages: Vec<Message> = (0..4).map(item).collect();
    let member = |text: &str, last_index: u32, weight: f64| crate::signal::Member {
        text: text.to_string(),
        values: Vec::new(),
        last_index,
        weight,
    };
    let mut list = signal(&messages[0], Kind::Infrastructure, "");
    list.members = vec![member("shard-0=ok", 0, 0.0), member("shard-3=slow", 3, 0.0)];
    let mut names = signal(&messages[1], Kind::Infrastructure, "");
    names.members = vec![member("refresh_token", 1, 0.7)];
    let settings = PlanSettings { head_protection: 1, tail_protection: 0, ..Default::default() };
    let made = plan(&messages, &counts(&messages), &[list, names], Room::default(), &settings);
    assert_eq!(made.rows[3].choice, Choice::Keep);
    assert!(made.instructions.contains("- identifier: \"shard-0=ok\"\n"), "{}", made.instructions);
    assert!(!made.instructions.contains("shard-3") && !made.instructions.contains("refresh_token"));
}

#[test]
fn instructions_are_bounded_and_say_how_much_did_not_fit() {
    let message = said("0", Role::Assistant, "much");
    let signals: Vec<_> =
        (0..500).map(|n| signal(&message, Kind::Task, &format!("number {n} {}", "слово ".repeat(200)))).collect();
    let settings = PlanSettings { instructions_max_tokens: 300, ..unprotected() };
    let messages = [message];
    let made = plan(&messages, &counts(&messages), &signals, Room::default(), &settings);
    assert!(estimate(&made.instructions) <= 300, "{}", estimate(&made.instructions));
    let told = made.instructions.matches("- open task").count() as u32;
    assert!(told > 0);
    assert_eq!(told + made.facts_left_out, 500);
}

#[test]
fn facts_are_cut_on_character_boundaries() {
    let cut = one_line(&"é中😀".repeat(300));
    assert!(cut.len() <= FACT_BYTES + 4 && cut.ends_with('…'), "{}", cut.len());
    assert_eq!(one_line(" \n\t "), "");
}
