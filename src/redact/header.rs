//! Credentials after the name of their scheme: `Bearer …`, `Basic …`.

use super::Secret;
use super::value::stands_in;

/// Bytes of a token68 (RFC 7235) at most looked at.
const LONGEST: usize = 8192;
/// Shorter ones are words: "Bearer tokens", "Basic auth".
const SHORTEST_BEARER: usize = 12;
const SHORTEST_BASIC: usize = 12;
/// Bytes by which it is judged: the rest is only looked at where these are a credential's.
const SAMPLE: usize = 256;

/// At the word `Bearer` or `Basic` (any case): what follows it, where that is a credential.
pub(super) fn credentials(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes.get(at..)?;
    let (name, kind, least) =
        [("bearer", "bearer token", SHORTEST_BEARER), ("basic", "basic credentials", SHORTEST_BASIC)]
            .into_iter()
            .find(|(name, ..)| rest.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes())))?;
    let start = at + name.len() + 1;
    if !matches!(bytes.get(start - 1), Some(b' ' | b'\t' | b'+')) && !rest.get(name.len()..)?.starts_with(b"%20") {
        return None;
    }
    let start = if bytes.get(start - 1) == Some(&b'%') { start + 2 } else { start };
    let run = |most: usize| bytes.iter().skip(start).take(most).take_while(|byte| is_token68(**byte)).count();
    let value = bytes.get(start..start + run(SAMPLE))?;
    let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
    let upper = value.iter().any(u8::is_ascii_uppercase) && value.iter().any(u8::is_ascii_lowercase);
    // Base64 of `name:password` need not hold a digit, but it mixes cases.
    let base64 = kind == "basic credentials" && upper;
    if value.len() < least || (digits < 2 && !base64) || stands_in(value) {
        return None;
    }
    let len = run(LONGEST);
    (digits >= 2 || len % 4 == 0).then_some(Secret { start, end: start + len, kind })
}

fn is_token68(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b':')
}
