//! Each status: what has it, and what nearly has it.

use super::*;

const FILLER: &str = "The user and the agent worked on the newsletter for a while and looked at some pictures.";

fn status(messages: &[(Role, &str)], summary: &str, part: &str) -> Option<Status> {
    lost(&audit(messages, &after(summary)), part).map(|finding| finding.status)
}

#[test]
fn a_rule_in_other_words_is_preserved_and_one_about_the_same_thing_is_not() {
    let session = [(Role::User, "Never mail the subscribers before Dora has approved the text.")];
    let kept = "Rule from the user: subscribers are never mailed before Dora approved the text of a mail.";
    assert_eq!(status(&session, kept, "Never mail"), None);
    let near = "The subscribers got a mail last week, and Dora wrote a text about gardens for the next one.";
    assert!(status(&session, near, "Never mail").is_some());
    assert_eq!(status(&session, FILLER, "Never mail"), Some(Status::Dropped));
}

#[test]
fn another_value_is_altered_and_another_form_of_the_value_is_not() {
    let session = [(Role::User, "The staging database listens on port 15432 behind the proxy.")];
    let altered = "The staging database listens on port 15999 behind the proxy. Other work went on.";
    assert_eq!(status(&session, altered, "15432"), Some(Status::Altered));
    let kept = "- **Staging** database listens on port `15432`, behind the proxy. Other work went on.";
    assert_eq!(status(&session, kept, "15432"), None);
}

#[test]
fn done_for_pending_is_altered_and_both_readings_are_shown() {
    let session = [(Role::User, "The migration of the invoices table is still pending.")];
    let report = audit(&session, &after("The migration of the invoices table is completed. Other work went on."));
    let finding = lost(&report, "still pending").unwrap();
    assert_eq!(finding.status, Status::Altered);
    assert!(finding.summary_says.as_deref().unwrap().contains("completed"));
    assert_eq!(
        status(&session, "The migration of the invoices table is still pending. Other work went on.", "still pending"),
        None
    );
}

#[test]
fn an_overturned_decision_is_superseded_and_the_new_one_is_not() {
    let session = [
        (Role::User, "The newsletter archive uses the Postgres cluster on port 15432."),
        (Role::Assistant, "Understood, the archive goes there."),
        (Role::User, "Actually the newsletter archive uses the Postgres cluster on port 15777 now."),
        (Role::Assistant, "Understood, I will remember that."),
    ];
    let report = audit(&session, &after(FILLER));
    assert!(lost(&report, "15432").is_none(), "{:?}", report.lost);
    assert!(lost(&report, "15777").is_some());
}

#[test]
fn two_facts_of_one_form_do_not_overturn_each_other() {
    let session = [
        (Role::User, "The newsletter archive uses the Postgres cluster on port 15432."),
        (Role::User, "The billing ledger uses the Mongo replica on port 27017."),
    ];
    let report = audit(&session, &after(FILLER));
    assert!(lost(&report, "15432").is_some() && lost(&report, "27017").is_some(), "{:?}", report.lost);
}

#[test]
fn an_approval_that_nobody_gave_is_invented_and_a_given_one_is_not() {
    let summary = "The user approved the deployment of the gallery. The pictures were sorted by year and by place.";
    let invented = |messages: &[(Role, &str)]| {
        audit(messages, &after(summary)).invented.iter().any(|invention| invention.text == "an approval")
    };
    let pictures = (Role::Assistant, "The pictures are sorted by year. Should I start the deployment of the gallery?");
    assert!(invented(&[pictures, (Role::User, "Let me look at the pictures first, please.")]));
    assert!(!invented(&[pictures, (Role::User, "Yes, go ahead.")]));
    assert!(!invented(&[pictures, (Role::User, "The deployment of the gallery is approved.")]));
}

#[test]
fn a_completion_of_what_is_open_is_invented_and_a_true_one_is_not() {
    let summary = "Migration of the gallery thumbnails database is completed. Nothing else is known about the session.";
    let invented = |said: &str| {
        audit(&[(Role::Assistant, said), (Role::User, "I see.")], &after(summary))
            .invented
            .iter()
            .any(|invention| invention.text == "a completion")
    };
    assert!(invented("Migration of the gallery thumbnails database is still pending."));
    assert!(!invented("Migration of the gallery thumbnails database is completed."));
}

#[test]
fn a_lost_rule_cannot_hide_behind_many_kept_paths() {
    let paths: Vec<String> = (0..120).map(|at| format!("src/part_{at}/module_{at}.rs")).collect();
    let files = format!("I changed these files: {}.", paths.join(", "));
    let session =
        [(Role::User, "Never touch the customer records without asking me."), (Role::Assistant, files.as_str())];
    let report = audit(&session, &after(&format!("Files that were changed: {}.", paths.join(", "))));
    let infrastructure = report.categories.iter().find(|category| category.category == Kind::Infrastructure).unwrap();
    assert!(infrastructure.score > 95.0, "{:?}", report.categories);
    assert!(report.score.unwrap() <= 55.0, "{:?}", report.score);
    assert_eq!((report.verdict, report.alerts[0].code.as_str()), (Verdict::Lossy, "rule-lost"));
}

#[test]
fn an_ask_is_kept_where_it_is_told_as_open_and_not_where_it_is_answered() {
    let session = [(Role::Assistant, "Should I drop the old invoices table now, or keep it until Friday?")];
    let told = "The agent asked whether to drop the old invoices table now or keep it until Friday.";
    assert_eq!(status(&session, told, "invoices table"), None);
    let answered = "The old invoices table is kept now, and Friday it goes. The newsletter went out too.";
    assert!(status(&session, answered, "invoices table").is_some());
}

#[test]
fn a_flag_is_not_kept_by_its_word_without_the_dashes() {
    let session = [
        (Role::User, "Call the exporter with `--tenant` so that it reads one ledger."),
        (Role::Assistant, "[tool Bash] exporter --tenant north"),
        (Role::Assistant, "The exporter ran with `--tenant` and read one ledger."),
    ];
    let report = audit(&session, &after("The exporter was called for one tenant so that it reads one ledger."));
    assert!(report.lost.iter().any(|finding| finding.values.iter().any(|value| value == "--tenant")), "{report:?}");
    let report = audit(&session, &after("The exporter was called with --tenant so that it reads one ledger."));
    assert!(!report.lost.iter().any(|finding| finding.text == "--tenant"), "{report:?}");
}

#[test]
fn a_fragment_stands_in_one_line_with_its_neighbour_and_long_neighbours_do_not() {
    let queue = "We use NATS JetStream for the queue instead, because the operations team knows how to run it and the \
                 licence is settled.";
    let text = format!("After talking to Mei: not Redis. {queue}");
    let report = audit(&[(Role::User, &text)], &after(FILLER));
    assert!(lost(&report, "not Redis").unwrap().text.contains("JetStream"), "{:?}", report.lost);
    let rule =
        "Never restart the invoicer before ten in the morning, because the finance team closes its accounts then.";
    let text = format!("{rule} {queue}");
    let report = audit(&[(Role::User, &text)], &after(FILLER));
    assert!(!lost(&report, "invoicer").unwrap().text.contains("JetStream"), "{:?}", report.lost);
}

const TREES: [&str; 30] = [
    "alder", "aspen", "birch", "cedar", "cypress", "ebony", "elder", "fig", "ginkgo", "hazel", "hemlock", "hickory",
    "holly", "juniper", "larch", "laurel", "linden", "maple", "myrtle", "olive", "pecan", "poplar", "quince", "rowan",
    "spruce", "sumac", "sycamore", "walnut", "willow", "yew",
];

/// Thirty hosts, each with words that are said of no other.
fn hosts() -> Vec<(Role, String)> {
    let host = |tree| {
        let readers = format!("{tree}ist auditors, from {tree}ford, {tree}land, {tree}wick and {tree}ham");
        format!("The {tree}ese invoices of {tree}burg are kept as {tree}grams on `{tree}-rack` for the {readers}.")
    };
    TREES.iter().map(|tree| (Role::Assistant, host(tree))).collect()
}

fn audit_of(messages: &[(Role, String)], summary: &str) -> Report {
    let messages: Vec<(Role, &str)> = messages.iter().map(|(role, text)| (*role, text.as_str())).collect();
    audit(&messages, &after(summary))
}

#[test]
fn a_name_in_the_place_of_another_is_altered_and_both_are_named() {
    let hosts = hosts();
    let report = audit_of(&hosts, &hosts[0].1.replace("alder-rack", "willow-rack"));
    let altered = report.lost.iter().find(|finding| finding.status == Status::Altered).unwrap();
    assert!(altered.values.iter().any(|value| value == "alder-rack"), "{altered:?}");
    assert!(altered.summary_says.as_deref().unwrap().contains("willow-rack"), "{altered:?}");
}

#[test]
fn a_new_name_that_shares_some_words_with_a_lost_one_is_not_accused() {
    // Three of the words beside the lost host, among others that say what this sentence is about.
    let new = "Dashboards, tracing, alderburg aldergrams reach the `gateway-node` with alderist throttling, batching, sharding.";
    let report = audit_of(&hosts(), new);
    let accused = report.lost.iter().filter(|finding| finding.status == Status::Altered);
    assert_eq!(accused.map(|finding| &finding.text).collect::<Vec<_>>(), Vec::<&String>::new());
    assert!(lost(&report, "alder-rack").is_some_and(|finding| finding.status == Status::Dropped));
}

#[test]
fn a_prohibition_is_not_kept_by_its_words_without_the_not() {
    let messages = [
        (Role::User, "I don't want to resolve the hardcoded paths before publishing to GitHub."),
        (Role::Assistant, "Understood, publishing to GitHub comes first."),
    ];
    let without = "The user wants publishing to GitHub. Paths were set up before publishing to GitHub.";
    assert!(matches!(status(&messages, without, "hardcoded"), Some(Status::Dropped | Status::Altered)));
    let with = "The user does not want to resolve the hardcoded paths before publishing to GitHub.";
    assert_eq!(status(&messages, with, "hardcoded"), None);
}

#[test]
fn a_path_is_kept_by_its_last_two_parts_and_not_by_the_last_alone() {
    let messages = [(Role::Assistant, "The logs of each commit are in `origin/entire/sessions`.")];
    assert!(lost(&audit(&messages, &after("Logs: see entire/sessions.")), "origin/entire").is_none());
    assert!(lost(&audit(&messages, &after("Logs: see the sessions.")), "origin/entire").is_some());
}
