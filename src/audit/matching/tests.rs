use super::*;

fn ask(text: &str, fact: &str) -> Match {
    Index::new(text).look_up(&Fact::new(fact), &mut Scratch::default())
}

#[test]
fn the_same_statement_is_there_whatever_its_markup() {
    let found = ask(
        "## State\n- **Rotate** the `staging` key before release.\n- Other",
        "rotate the staging key before release",
    );
    assert!(found.in_sentence > 0.99 && found.conflict.is_none());
    assert!(ask("Nothing like that stands here", "rotate the staging key before release").anywhere < 0.2);
}

#[test]
fn values_are_found_in_tolerant_forms() {
    let index = Index::new("Commit 4be91c7d20 changed src/text/token.rs on 31 January 2024 for $1,500 in v1.2.3.");
    for value in ["4be91c7", "4be91c7d2045aa", "token.rs", "/home/me/src/text/token.rs", "2024-01-31", "1500", "1.2.3"]
    {
        assert_eq!(index.has_value(value), Presence::Exact, "{value}");
    }
    for value in ["4be91c8", "1.2.30", "$15000", "2024-01-30", "150", "other.rs"] {
        assert_eq!(index.has_value(value), Presence::Absent, "{value}");
    }
    assert_eq!(index.has_value("lib/token.rs"), Presence::Tail);
}

#[test]
fn a_number_must_stand_with_its_key() {
    assert_eq!(ask("The database port is 5432.", "port 5432").values_found, 1);
    assert_eq!(ask("There were 5432 rows to copy.", "port 5432").values_found, 0);
}

#[test]
fn contradictions_are_named() {
    let conflict = |text, fact| ask(text, fact).conflict;
    assert_eq!(
        conflict("Deploy the gateway on Friday.", "Do not deploy the gateway on Friday."),
        Some(Conflict::Polarity)
    );
    assert_eq!(
        conflict("The gateway migration is pending.", "The gateway migration is completed."),
        Some(Conflict::Status)
    );
    assert_eq!(conflict("The cache leak is confirmed.", "The cache may leak."), Some(Conflict::Certainty));
    assert_eq!(conflict("The server listens on port 5433.", "The server listens on port 5432."), Some(Conflict::Value));
    assert_eq!(conflict("Do not deploy the gateway on Friday.", "Never deploy the gateway on Friday."), None);
    assert_eq!(conflict("The server listens on port 5432.", "The server listens on port 5432."), None);
}

#[test]
fn a_sentence_that_the_fact_accounts_for_says_more_than_one_that_it_is_a_part_of() {
    let detail = |text| {
        let (index, mut scratch) = (Index::new(text), Scratch::default());
        let fact = Fact::new("If we compact or reset, the event listeners should still be there.");
        index.look_up(&fact, &mut scratch);
        index.detail(&fact, &scratch)
    };
    let own = detail("Event listeners survive compact and reset.");
    let part =
        detail("Rewrote the event bus, the reset button, the compact view of invoices and both page listeners today.");
    assert!(own.cover > 0.7 && own.cover > part.cover + 0.3, "{} {}", own.cover, part.cover);
    assert!(own.balance > part.balance + 0.1, "{} {}", own.balance, part.balance);
    assert_eq!(detail("Nothing of that.").cover, 0.0);
}

#[test]
fn other_languages_match() {
    assert!(ask("我们决定使用数据库迁移。其他事情。", "使用数据库迁移").in_sentence > 0.9);
    assert!(ask("데이터베이스 마이그레이션 완료", "데이터베이스 마이그레이션").in_sentence > 0.9);
}

#[test]
fn a_word_that_stands_everywhere_is_not_looked_up_everywhere_and_the_last_places_count() {
    let mut text: String = (0..9_000).map(|at| format!("Never deploy q{at}x on Fridays.\n")).collect();
    text.push_str("Never deploy the ledger on Fridays.\n");
    let index = Index::new(&text);
    let mut hits = 0;
    index.posted(crate::text::word_hash("deploy"), |_| hits += 1);
    assert!((1..=MOST_PLACES).contains(&hits), "{hits}");
    let fact = Fact::new("Never deploy the ledger on Fridays.");
    assert!(index.look_up(&fact, &mut Scratch::default()).in_sentence > 0.99);
}

proptest::proptest! {
    #[test]
    fn any_text_can_be_asked_for_any_fact(text in "\\PC*", fact in "\\PC*|[a-z0-9/.:日本 -]*") {
        let found = ask(&text, &fact);
        assert!((0.0..=1.001).contains(&found.anywhere) && found.in_sentence <= found.in_window + 0.001);
        Index::new(&text).has_value(&fact);
    }
}

#[test]
fn a_path_of_a_hundred_thousand_parts_is_read_in_linear_time() {
    let index = Index::new(&"https://a:".repeat(40_000)).len();
    assert_eq!(index, 1);
    // Its last parts are known all the same.
    let long = format!("{}src/main.rs", "part/".repeat(100));
    assert_eq!(Index::new(&long).has_value("src/main.rs"), Presence::Exact);
    assert_eq!(Index::new(&long).has_value("part/src/main.rs"), Presence::Exact);
}
