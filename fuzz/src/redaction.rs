//! Redaction: a secret of every known shape is hidden, whatever stands around it.

use crate::input;
use compact_review::checkpoint::quote::quote;
use compact_review::redact::redact;

/// Letters and digits that spell nothing, so that no body looks like a placeholder.
const LETTERS: &[u8] = b"bcdfghjkmnqrstvwz0123456789BCDFGHJKMNQRSTVWZ";
const UPPER: &[u8] = b"BCDFGHJKMNQRSTVWZ0123456789";
const HEX: &[u8] = b"0123456789abcdef";

/// What stands before a secret and behind it, its letters and its length.
type Shape = (&'static str, &'static [u8], usize, &'static str);

/// Tokens by their prefix, values by the name before them, and the shapes of their own.
const SHAPES: &[Shape] = &[
    ("ghp_", LETTERS, 36, ""),
    ("github_pat_", LETTERS, 60, ""),
    ("glpat-", LETTERS, 20, ""),
    ("sk-ant-api03-", LETTERS, 80, ""),
    ("sk-proj-", LETTERS, 48, ""),
    ("sk-", LETTERS, 48, ""),
    ("sk_live_", LETTERS, 24, ""),
    ("xoxb-", LETTERS, 40, ""),
    ("AKIA", UPPER, 16, ""),
    ("AIza", LETTERS, 35, ""),
    ("npm_", LETTERS, 36, ""),
    ("hf_", LETTERS, 34, ""),
    ("dop_v1_", HEX, 64, ""),
    ("hvs.", LETTERS, 90, ""),
    ("pypi-AgE", LETTERS, 80, ""),
    ("DB_PASSWORD=", LETTERS, 12, ""),
    ("password: ", LETTERS, 12, ""),
    ("\"password\": \"", LETTERS, 12, "\""),
    ("\\\"api_key\\\": \\\"", LETTERS, 24, "\\\""),
    ("--token ", LETTERS, 24, ""),
    ("export API_KEY='", LETTERS, 24, "'"),
    ("<password>", LETTERS, 12, "</password>"),
    ("Authorization: Bearer ", LETTERS, 32, ""),
    ("postgres://bob:", LETTERS, 12, "@db:5432/app"),
    ("https://h/x?api_key=", LETTERS, 24, "&page=2"),
    ("https://hooks.slack.com/services/", LETTERS, 44, ""),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.", LETTERS, 43, ""),
    ("-----BEGIN RSA PRIVATE KEY-----\n", LETTERS, 128, "\n-----END RSA PRIVATE KEY-----"),
];

/// Any text: twice is once, and it grows by no more than the words that stand for secrets. Then the same text around a
/// secret of a known shape: the first byte says which, the second makes its letters, a blank line stands around it.
pub fn redaction(data: &[u8]) {
    let (shape, rest) = input::choice(data);
    let (seed, rest) = input::choice(rest);
    let text = input::text(rest);
    check(&text);
    let (before, letters, length, behind) = SHAPES[shape % SHAPES.len()];
    let secret = body(letters, length, seed as u64);
    let half = text.floor_char_boundary(text.len() / 2);
    let (first, second) = text.split_at(half);
    let around = format!("{first}\n{before}{secret}{behind}\n{second}");
    let clean = check(&around);
    assert!(!clean.contains(&secret), "{secret} in {clean:?}");
    // What is quoted is cut and put on one line: no part of the secret may come through that way.
    let quoted = quote(&around, 4096);
    assert!(!quoted.contains(&secret), "{secret} in {quoted:?}");
}

fn check(text: &str) -> String {
    let clean = redact(text).into_owned();
    assert_eq!(redact(&clean), clean, "twice is once");
    let hidden = clean.matches("[redacted: ").count()
        - text.matches("[redacted: ").count().min(clean.matches("[redacted: ").count());
    assert!(clean.len() <= text.len() + hidden * 48, "{} of {}, {hidden} secrets", clean.len(), text.len());
    clean
}

/// Letters that look random, with a digit among the first: a small generator (splitmix) is enough.
fn body(letters: &[u8], length: usize, seed: u64) -> String {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) as usize
    };
    (0..length)
        .map(|at| {
            if at % 5 == 2 {
                char::from(b'2' + (next() % 8) as u8)
            } else {
                char::from(letters[next() % letters.len()])
            }
        })
        .collect()
}
