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
