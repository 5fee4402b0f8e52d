//! What stands in a text and is not seen: terminal escapes and characters without width.
//!
//! A coloured match of `grep` and a zero-width space cut a token in two for a program, and not for a reader.

/// How a terminal escape begins.
pub(crate) const ESCAPE: u8 = 0x1b;

/// How many bytes that nobody sees begin here; 0 where something visible does.
pub(super) fn len_at(bytes: &[u8], at: usize) -> usize {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest {
        [ESCAPE, rest @ ..] => 1 + escape_len(rest),
        // The soft hyphen.
        [0xc2, 0xad, ..] => 2,
        // U+200B to U+200F, U+202A to U+202E, U+2060 to U+2069, U+FEFF.
        [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..] | [0xe2, 0x81, 0xa0..=0xa9, ..] | [0xef, 0xbb, 0xbf, ..] => 3,
        _ => 0,
    }
}

/// What belongs to an escape behind its first character: `[…m` and its kind, or `]…` up to its end.
pub(crate) fn escape_len(rest: &[u8]) -> usize {
    match rest.first() {
        Some(b'[') => {
            let inner = rest.iter().skip(1).take_while(|byte| (b' '..=b'?').contains(byte)).count();
            1 + inner + usize::from(rest.get(1 + inner).is_some_and(|byte| (b'@'..=b'~').contains(byte)))
        }
        Some(b']') => rest.iter().take_while(|byte| !matches!(**byte, 0x07 | ESCAPE | b'\n')).count(),
        _ => 0,
    }
}

/// The text as it is seen.
pub(super) fn without(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut seen = String::with_capacity(text.len());
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        let len = len_at(bytes, at);
        if len == 0 {
            at += 1;
            continue;
        }
        seen.push_str(text.get(copied..at).unwrap_or_default());
        // An escape that began behind the last one may be eaten whole, and then ends between characters.
        at = text.ceil_char_boundary(at + len);
        copied = at;
    }
    seen.push_str(text.get(copied..).unwrap_or_default());
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_stays() {
        for (text, seen) in [
            ("a\u{1b}[01;31mb\u{1b}[mc", "abc"),
            ("a\u{200b}b\u{feff}c\u{ad}d", "abcd"),
            ("\u{1b}]0;title\u{7}x", "\u{7}x"),
            ("日本語 … 🎉 é", "日本語 … 🎉 é"),
            ("\u{1b}", ""),
            ("\u{1b}[日", "日"),
        ] {
            assert_eq!(without(text), seen);
        }
    }
}
