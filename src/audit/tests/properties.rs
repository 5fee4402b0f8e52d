//! What holds for generated sessions.

use super::*;

const RULES: [&str; 6] = [
    "Never email the printers before noon.",
    "Always water the orchids with rain water.",
    "Don't paint the harbour model without Marta.",
    "You must label every sample jar twice.",
    "Never feed the turtles after the concert.",
    "Always lock the workshop before lunch.",
];
const FACTS: [&str; 6] = [
    "We decided to rent the larger stage for the festival.",
    "The violin string broke because the peg was loose.",
    "Next step: translate the second chapter of the almanac.",
    "The greenhouse controller listens at glass.example.org.",
    "The carpenter finished the oak staircase yesterday.",
    "I found that the ferry timetable omits holidays.",
];

/// A session of some of these sentences, by their bits.
fn session(rules: u8, facts: u8) -> Vec<(Role, &'static str)> {
    let picked = |list: &[&'static str], bits: u8, role: Role| -> Vec<(Role, &'static str)> {
        let chosen = list.iter().enumerate().filter(|(at, _)| bits & (1 << at) != 0);
        chosen.map(|(_, text)| (role, *text)).collect()
    };
    let mut all = picked(&RULES, rules, Role::User);
    all.extend(picked(&FACTS, facts, Role::Assistant));
    all.push((Role::User, "Thank you, that is all for today."));
    all
}

fn rank(report: &Report, part: &str) -> u8 {
    match lost(report, part).map(|finding| finding.status) {
        None => 2,
        Some(Status::Dropped) => 1,
        Some(_) => 0,
    }
}

const BASE: &str = "The club met again and spoke about many small things of the season.";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn adding_the_sentence_of_a_fact_never_lowers_its_status(rules in 1u8..64, facts in 0u8..64, kept in 0u8..64) {
        let session = session(rules, facts);
        let said: Vec<&str> = session.iter().map(|(_, text)| *text).collect();
        let mut summary = vec![BASE];
        summary.extend(said.iter().enumerate().filter(|(at, _)| kept & (1 << (at % 6)) != 0).map(|(_, text)| *text));
        let before = audit(&session, &after(&summary.join("\n")));
        for text in &said {
            let mut more = summary.clone();
            more.push(text);
            let with = audit(&session, &after(&more.join("\n")));
            prop_assert!(rank(&with, text) >= rank(&before, text), "{text}");
            prop_assert_eq!(rank(&with, text), 2);
        }
    }

    #[test]
    fn the_order_of_sentences_does_not_move_the_score(rules in 1u8..64, facts in 1u8..64, kept in 1u8..64, turn in 0usize..8) {
        let session = session(rules, facts);
        let mut summary: Vec<&str> =
            session.iter().enumerate().filter(|(at, _)| kept & (1 << (at % 6)) != 0).map(|(_, said)| said.1).collect();
        summary.push(BASE);
        let score = |lines: &[&str]| audit(&session, &after(&lines.join("\n"))).score.unwrap();
        let straight = score(&summary);
        let length = summary.len();
        summary.rotate_left(turn % length);
        prop_assert!((score(&summary) - straight).abs() < 1e-9);
        summary.reverse();
        prop_assert!((score(&summary) - straight).abs() < 1e-9);
    }

    #[test]
    fn the_order_of_sentences_does_not_change_what_is_lost(rules in 1u8..64, facts in 1u8..64, kept in 1u8..64, turn in 0usize..8) {
        let session = session(rules, facts);
        let mut summary: Vec<&str> =
            session.iter().enumerate().filter(|(at, _)| kept & (1 << (at % 6)) != 0).map(|(_, said)| said.1).collect();
        summary.push(BASE);
        let lost = |lines: &[&str]| -> Vec<(String, Status)> {
            let lost = audit(&session, &after(&lines.join("\n"))).lost;
            lost.into_iter().map(|finding| (finding.text, finding.status)).collect()
        };
        let straight = lost(&summary);
        let length = summary.len();
        summary.rotate_left(turn % length);
        prop_assert_eq!(lost(&summary), straight.clone());
        summary.reverse();
        prop_assert_eq!(lost(&summary), straight);
    }

    #[test]
    fn one_more_sentence_that_was_said_never_lowers_the_score(rules in 1u8..64, facts in 0u8..64, kept in any::<u16>(), more in 0usize..12) {
        let session = session(rules, facts);
        let said = &session[..session.len() - 1];
        let mut summary: Vec<&str> = vec![BASE];
        summary.extend(said.iter().enumerate().filter(|(at, _)| kept & (1 << at) != 0).map(|(_, text)| text.1));
        let before = audit(&session, &after(&summary.join("\n"))).score.unwrap();
        summary.push(said[more % said.len()].1);
        let with = audit(&session, &after(&summary.join("\n"))).score.unwrap();
        prop_assert!(with >= before - 1e-9, "{with} after {before}: {summary:?}");
    }

    #[test]
    fn the_score_grows_with_the_sentences_that_are_kept(rules in 1u8..64, facts in 1u8..64) {
        let session = session(rules, facts);
        let mut summary = BASE.to_string();
        let mut last = 0.0;
        for (_, text) in &session {
            let score = audit(&session, &after(&summary)).score.unwrap();
            prop_assert!((0.0..=100.0).contains(&score));
            prop_assert!(score >= last - 1e-9, "{score} after {last}: {summary}");
            last = score;
            summary = format!("{summary}\n{text}");
        }
        prop_assert!(audit(&session, &after(&summary)).score.unwrap() > 90.0);
    }

    #[test]
    fn any_characters_in_any_role_make_a_report_and_the_same_twice(
        texts in proptest::collection::vec(any::<String>(), 1..6),
        summary in any::<String>(),
    ) {
        let roles = [Role::User, Role::Assistant, Role::Tool, Role::System];
        let session: Vec<(Role, &str)> =
            texts.iter().enumerate().map(|(at, text)| (roles[at % 4], text.as_str())).collect();
        let report = audit(&session, &after(&summary));
        prop_assert!(report.score.is_none_or(|score| (0.0..=100.0).contains(&score)));
        prop_assert_eq!(report, audit(&session, &after(&summary)));
    }
}
