//! Each kind of signal: sentences that are of it, and near misses that are not.

use super::*;

fn kinds(role: Role, text: &str) -> Vec<Kind> {
    let ledger = survey(&conversation(&[(role, text), (Role::User, "Thanks, go on.")]), &Settings::default());
    ledger.signals.iter().filter(|signal| signal.order == 1).map(|signal| signal.kind).collect()
}

fn assert_kind(kind: Kind, positive: &[(Role, &str)], near_misses: &[(Role, &str)]) {
    for (role, text) in positive {
        assert_eq!(kinds(*role, text), [kind], "{text}");
    }
    for (role, text) in near_misses {
        assert!(!kinds(*role, text).contains(&kind), "{text}");
    }
}

#[test]
fn rules_and_preferences_are_constraints_and_reports_of_them_are_not() {
    assert_kind(
        Kind::Constraint,
        &[
            (Role::User, "Never force-push to the shared branch."),
            (Role::User, "Always run the linter before you commit anything."),
            (Role::User, "Don't publish the article yet, the lawyer must read it."),
            (Role::User, "Bitte niemals Kundendaten in den Testordner kopieren."),
            (Role::User, "Il ne faut jamais modifier la base de production."),
            (Role::User, "Nunca borres los archivos originales del cliente."),
            (Role::User, "请不要修改生产数据库的表结构。"),
            (Role::User, "本番環境のデータベースを変更しないでください。"),
            (Role::User, "운영 데이터베이스를 절대 수정하지 마세요."),
            (Role::User, "Никогда не удаляйте резервные копии клиентов."),
        ],
        &[
            (Role::Assistant, "The exporter never reaches the second page of results."),
            (Role::User, "Which of the two parsers is faster on large inputs?"),
        ],
    );
}

#[test]
fn choices_are_decisions_and_failures_are_not() {
    assert_kind(
        Kind::Decision,
        &[
            (Role::User, "We decided to store the thumbnails in the object store."),
            (Role::Assistant, "Agreed, we go with the second layout for the dashboard."),
        ],
        &[(Role::Assistant, "The thumbnail worker crashed with an exception again.")],
    );
}

#[test]
fn open_work_and_asks_are_tasks_and_results_are_not() {
    assert_kind(
        Kind::Task,
        &[
            (Role::Assistant, "Should I translate the remaining chapters now?"),
            (Role::Assistant, "Next step: translate the remaining chapters of the manual."),
        ],
        &[(Role::Assistant, "The chapters of the manual were translated successfully.")],
    );
}

#[test]
fn failures_and_causes_are_errors_and_plans_are_not() {
    assert_kind(
        Kind::Error,
        &[
            (Role::Assistant, "The upload failed because the certificate had expired."),
            (Role::Assistant, "Import breaks due to a circular dependency in the parser."),
        ],
        &[(Role::User, "I want the upload page to look like the landing page.")],
    );
}

#[test]
fn questions_are_questions_and_statements_are_not() {
    assert_kind(
        Kind::Question,
        &[(Role::User, "Which of the two parsers is faster on large inputs?")],
        &[(Role::User, "The second parser is faster on large inputs.")],
    );
}

#[test]
fn results_are_states_and_orders_are_not() {
    assert_kind(
        Kind::State,
        &[(Role::Assistant, "The chapters of the manual were translated successfully.")],
        &[(Role::User, "Never translate the chapters of the manual by machine.")],
    );
}

#[test]
fn names_are_infrastructure_and_plain_words_are_not() {
    let session = [(Role::Assistant, "I read loadInvoices in billing/export.py and set --dry-run for 38cd6b4f1.")];
    let ledger = survey(&conversation(&session), &Settings::default());
    let names: Vec<&str> = ledger
        .signals
        .iter()
        .filter(|signal| signal.kind == Kind::Infrastructure)
        .flat_map(|signal| signal.members.iter().map(|member| member.text.as_str()))
        .collect();
    for name in ["loadInvoices", "billing/export.py", "--dry-run", "38cd6b4f1"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(!names.contains(&"read") && !names.contains(&"for"), "{names:?}");
}
