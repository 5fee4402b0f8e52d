#![allow(clippy::unwrap_used)]
use super::*;

fn words(text: &str) -> Vec<u64> {
    let mut list = Vec::new();
    tokens(text, |token| {
        if token.is_word() {
            list.push(token.hash);
        }
    });
    list
}

fn values(text: &str) -> Vec<(&str, Shape)> {
    let mut list = Vec::new();
    tokens(text, |token| {
        if token.is_value() {
            list.push((&text[token.start..token.end], token.shape));
        }
    });
    list
}

fn value_hash(text: &str) -> u64 {
    let mut found = None;
    tokens(text, |token| {
        if token.is_value() && found.is_none() {
            found = Some(token.hash);
        }
    });
    found.unwrap()
}

fn pieces(text: &str) -> Vec<&str> {
    let mut list = Vec::new();
    units(text, |unit| list.push(&text[unit.start..unit.end]));
    list
}

#[test]
fn markdown_case_and_quotes_do_not_count() {
    assert_eq!(words("**Rotate** the `staging` \"key\"!"), words("rotate the staging key"));
    assert_eq!(words("the user’s files"), words("The user's file"));
}

#[test]
fn identifiers_come_whole_and_in_parts() {
    assert_eq!(words("maxRetries"), words("max retries"));
    assert_eq!(words("max_retries"), words("max retries"));
    assert_eq!(words("HTTPServer"), words("http server"));
    assert_eq!(
        values("see src/text/token.rs and ./a.rs:12, --dry-run, $HOME, MAX_SIZE, .env"),
        [
            ("src/text/token.rs", Shape::Path),
            ("./a.rs:12", Shape::Path),
            ("--dry-run", Shape::Flag),
            ("$HOME", Shape::Env),
            ("MAX_SIZE", Shape::Env),
            (".env", Shape::Path),
        ]
    );
    assert_eq!(
        values("at https://example.org/x?y=z, localhost:8080 and JOB42."),
        [("https://example.org/x?y=z", Shape::Url), ("localhost:8080", Shape::Name), ("JOB42", Shape::Name)]
    );
}

#[test]
fn numbers_versions_dates_and_ids_are_told_apart() {
    assert_eq!(
        values("v1.2.3 1.2.30 3.14 12:30 2024-01-31 4be91c7 1,234,567 $500 $5000 18th 15KB 10:15:00.123"),
        [
            ("v1.2.3", Shape::Version),
            ("1.2.30", Shape::Version),
            ("3.14", Shape::Number),
            ("12:30", Shape::Number),
            ("2024-01-31", Shape::Date),
            ("4be91c7", Shape::Id),
            ("1,234,567", Shape::Number),
            ("$500", Shape::Number),
            ("$5000", Shape::Number),
            ("18th", Shape::Number),
            ("15KB", Shape::Number),
            ("10:15:00.123", Shape::Number),
        ]
    );
    assert_eq!(value_hash("v1.2.3"), value_hash("1.2.3"));
    assert_ne!(value_hash("v1.2.3"), value_hash("1.2.30"));
    assert_eq!(value_hash("1,234,567"), value_hash("1234567"));
    assert_ne!(value_hash("$500"), value_hash("$5000"));
    assert_eq!(value_hash("2024/01/31"), value_hash("2024-01-31"));
}

#[test]
fn cjk_is_cut_into_pairs_and_hangul_also_whole() {
    assert_eq!(words("数据库").len(), 2);
    assert_eq!(words("使用Python脚本").len(), 3);
    assert!(words("데이터베이스를").len() >= 5);
    assert_eq!(words("サーバー").len(), 3);
}

#[test]
fn diacritics_width_and_case_fold_in_other_scripts() {
    assert_eq!(words("Café Müller"), words("cafe muller"));
    assert_eq!(words("ＡＢＣ"), words("abc"));
    assert_eq!(words("МОСКВА"), words("москва"));
    assert_eq!(words("cafe\u{301}"), words("café"));
}

#[test]
fn right_to_left_emoji_and_crlf_pass() {
    assert_eq!(words("שלום עולם").len(), 2);
    assert_eq!(words("done 👩‍👩‍👧 ✅").len(), 1);
    assert_eq!(pieces("one two.\r\nthree four\r\n"), ["one two.", "three four"]);
}

#[test]
fn units_understand_markdown() {
    let text = "# Title\n\n- **first** item. Second sentence.\n  1. numbered\n| a | b |\n|---|---|\n| c | d |\n```rs\nlet x = 1;\n```\nEnd";
    assert_eq!(
        pieces(text),
        ["Title", "**first** item.", "Second sentence.", "numbered", "| a | b |", "| c | d |", "let x = 1;", "End"]
    );
}

#[test]
fn abbreviations_decimals_and_file_names_do_not_end_a_sentence() {
    assert_eq!(
        pieces("Use e.g. main.rs v1.2 by Dr. Who. Then stop."),
        ["Use e.g. main.rs v1.2 by Dr. Who.", "Then stop."]
    );
    assert_eq!(pieces("请不要提交。明天再说！好吗？"), ["请不要提交。", "明天再说！", "好吗？"]);
}

#[test]
fn wrapped_lines_are_one_sentence() {
    let text = "This is a long line of prose that was broken by an editor at some\ncolumn and goes on here. Next.";
    assert_eq!(pieces(text).len(), 2);
}

proptest::proptest! {
    #[test]
    fn any_text_passes_and_ranges_are_whole_characters(text in "\\PC*|[a-zA-Z0-9_./:@'，。日本語한글é \\-\\n#`|$]*") {
        let mut last = 0;
        tokens(&text, |token| {
            assert!(text.get(token.start..token.end).is_some_and(|t| !t.is_empty()));
            if token.place != Place::Part { assert!(token.end > last); last = token.end; }
        });
        let mut end = 0;
        units(&text, |unit| {
            assert!(unit.start >= end && text.get(unit.start..unit.end).is_some());
            end = unit.end;
        });
        let mut again = Vec::new();
        let mut first = Vec::new();
        tokens(&text, |token| first.push(token));
        tokens(&text, |token| again.push(token));
        assert_eq!(first, again);
        cue::of_text(&text);
    }
}
