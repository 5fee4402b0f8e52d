//! Secrets that are known by the name before them: `password=…`, `"apiKey": "…"`, `--token …`, `<password>…`.

use super::Secret;
use super::value::{Lower, Place, Promise, is_secret, stands_in};

/// How far back a name is looked for, and how long it may be.
const LONGEST_NAME: usize = 64;
/// A quoted value ends within this many bytes, or it is not looked at.
const LONGEST_QUOTED: usize = 4096;
/// The same for a value without quotes.
const LONGEST_BARE: usize = 256;
/// Blanks between a name, its separator and its value.
const MOST_BLANKS: usize = 8;

/// What kind of secret a name announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Announced {
    kind: &'static str,
    promise: Promise,
}

/// Endings of names, without separators and in lower case; the first that fits counts.
const ENDINGS: &[(&[u8], Announced)] = &[
    (b"password", Announced { kind: "password", promise: Promise::Password }),
    (b"passwd", Announced { kind: "password", promise: Promise::Password }),
    (b"pwd", Announced { kind: "password", promise: Promise::Password }),
    (b"passcode", Announced { kind: "password", promise: Promise::Password }),
    (b"passphrase", Announced { kind: "passphrase", promise: Promise::Passphrase }),
    (b"mnemonic", Announced { kind: "recovery phrase", promise: Promise::Passphrase }),
    (b"seedphrase", Announced { kind: "recovery phrase", promise: Promise::Passphrase }),
    (b"apikey", Announced { kind: "API key", promise: Promise::Machine }),
    (b"accesskey", Announced { kind: "access key", promise: Promise::Machine }),
    (b"secretkey", Announced { kind: "secret key", promise: Promise::Machine }),
    (b"secretkeybase", Announced { kind: "secret key", promise: Promise::Machine }),
    (b"privatekey", Announced { kind: "private key", promise: Promise::Machine }),
    (b"accountkey", Announced { kind: "account key", promise: Promise::Machine }),
    (b"sharedkey", Announced { kind: "shared key", promise: Promise::Machine }),
    (b"encryptionkey", Announced { kind: "encryption key", promise: Promise::Machine }),
    (b"signingkey", Announced { kind: "signing key", promise: Promise::Machine }),
    (b"masterkey", Announced { kind: "master key", promise: Promise::Machine }),
    (b"authkey", Announced { kind: "key", promise: Promise::Machine }),
    (b"servicekey", Announced { kind: "key", promise: Promise::Machine }),
    (b"licensekey", Announced { kind: "license key", promise: Promise::Machine }),
    (b"subscriptionkey", Announced { kind: "subscription key", promise: Promise::Machine }),
    (b"secret", Announced { kind: "secret", promise: Promise::Machine }),
    (b"credential", Announced { kind: "credential", promise: Promise::Machine }),
    (b"credentials", Announced { kind: "credential", promise: Promise::Machine }),
    (b"token", Announced { kind: "token", promise: Promise::Machine }),
    (b"bearer", Announced { kind: "token", promise: Promise::Machine }),
    (b"xamzsignature", Announced { kind: "signature", promise: Promise::Machine }),
    (b"xgoogsignature", Announced { kind: "signature", promise: Promise::Machine }),
];

/// Tokens that give access to nothing: pages of a list, pieces of text, design systems.
const HARMLESS_TOKENS: &[&[u8]] = &[
    b"next", b"page", b"cancel", b"continu", b"eos", b"bos", b"pad", b"unk", b"mask", b"special", b"stop", b"design",
    b"perm",
];

/// Whether a name that ends so may announce anything: most names in a conversation do not.
fn may_end(last_but_one: u8, last: u8) -> bool {
    let two = [last_but_one.to_ascii_lowercase(), last.to_ascii_lowercase()];
    match &two {
        b"rd" | b"wd" | b"de" | b"se" | b"ic" | b"ey" | b"et" | b"al" | b"ls" | b"en" | b"er" | b"re" | b"ss"
        | b"ig" | b"ie" => true,
        // `pass-wd`: a separator before the last letter is no part of the name.
        [before, _] => !before.is_ascii_alphanumeric(),
    }
}

fn announced(name: &[u8]) -> Option<Announced> {
    let mut plain = [0u8; LONGEST_NAME];
    let mut len = 0;
    for byte in name.iter().filter(|byte| byte.is_ascii_alphanumeric()) {
        *plain.get_mut(len)? = byte.to_ascii_lowercase();
        len += 1;
    }
    let plain = plain.get(..len)?;
    let last = plain.last();
    if let Some((_, what)) = ENDINGS.iter().find(|(ending, _)| ending.last() == last && plain.ends_with(ending)) {
        let harmless = what.kind == "token" && HARMLESS_TOKENS.iter().any(|word| super::value::contains(plain, word));
        return (!harmless).then_some(*what);
    }
    let whole = |promise, kind| Some(Announced { kind, promise });
    match plain {
        // Not `PASS: 12 tests`.
        b"pass" if name == b"pass" => whole(Promise::Password, "password"),
        b"sig" => whole(Promise::Machine, "signature"),
        b"cookie" | b"setcookie" => whole(Promise::Cookie, "cookie"),
        // `SMTP_PASS`, `dbPass`, but neither `bypass` nor `compass`.
        _ if name.ends_with(b"_PASS") || name.ends_with(b"_pass") || name.ends_with(b"Pass") => {
            whole(Promise::Password, "password")
        }
        _ => None,
    }
}

/// The name that ends before a separator, and whether it stands between quotes.
struct Name<'a> {
    text: &'a [u8],
    start: usize,
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn name_before(bytes: &[u8], lowest: usize, separator: usize) -> Option<Name<'_>> {
    let mut end = separator;
    let at = |place: usize| if place > lowest { bytes.get(place - 1).copied() } else { None };
    for _ in 0..MOST_BLANKS {
        if !matches!(at(end), Some(b' ' | b'\t')) {
            break;
        }
        end -= 1;
    }
    // `env["NAME"] = …`, `"NAME": …` and the same inside a JSON string.
    for closing in [&[b']'][..], b"\"'`*", b"\\", b"\\"] {
        if at(end).is_some_and(|byte| closing.contains(&byte)) {
            end -= 1;
        }
    }
    // `**Password**: …` in Markdown.
    if at(end) == Some(b'*') {
        end -= 1;
    }
    if !may_end(at(end.saturating_sub(1)).unwrap_or(0), at(end)?) {
        return None;
    }
    let floor = end.saturating_sub(LONGEST_NAME).max(lowest);
    let mut start = end;
    while start > floor && at(start).is_some_and(is_name_byte) {
        start -= 1;
    }
    // `\npassword: …` inside a JSON string: the n belongs to the escape.
    if start > 0 && bytes.get(start - 1) == Some(&b'\\') && matches!(bytes.get(start), Some(b'n' | b'r' | b't')) {
        start += 1;
    }
    let text = bytes.get(start..end)?;
    (!text.is_empty()).then_some(Name { text, start })
}

/// At a `=`, `:` or `>`: the value after it, where the name before it announces a secret. The name begins at `floor`
/// or later.
pub(super) fn after_separator(bytes: &[u8], floor: usize, at: usize) -> Option<Secret> {
    let separator = *bytes.get(at)?;
    let name = name_before(bytes, floor, at)?;
    let what = announced(name.text)?;
    let before = name.start.checked_sub(1).and_then(|place| bytes.get(place)).copied();
    if separator == b'>' {
        return (before == Some(b'<')).then(|| element(bytes, at + 1, what)).flatten();
    }
    let mut value = at + 1;
    // `:=`, `=>`, `==`, but not `::`.
    match bytes.get(value) {
        Some(b'=' | b'>') => value += 1,
        Some(b':') => return None,
        _ => {}
    }
    let unspaced = value == at + 1 && !matches!(bytes.get(value), Some(b' ' | b'\t'));
    let query = matches!(before, Some(b'?' | b'&' | b';'));
    let upper = name.text.iter().any(u8::is_ascii_uppercase) && !name.text.iter().any(u8::is_ascii_lowercase);
    let place = if (separator == b'=' && unspaced) || upper || query { Place::Assigned } else { Place::Loose };
    read_value(bytes, value, what, place, query).or_else(|| typed_value(bytes, value, what))
}

/// After `--name`: the value in the next word. `at` is where the name begins.
pub(super) fn after_flag(bytes: &[u8], at: usize) -> Option<Secret> {
    let len = bytes.get(at..)?.iter().take(LONGEST_NAME).take_while(|byte| is_name_byte(**byte)).count();
    let name = bytes.get(at..at + len)?;
    if bytes.get(at + len) != Some(&b' ') || !may_end(at_end(name, 2), at_end(name, 1)) {
        return None;
    }
    let what = announced(name)?;
    read_value(bytes, at + len + 1, what, Place::Loose, false)
}

fn at_end(name: &[u8], back: usize) -> u8 {
    name.len().checked_sub(back).and_then(|at| name.get(at)).copied().unwrap_or(0)
}

/// `password is hunter2`. `at` is where the word begins.
pub(super) fn in_prose(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes.get(at..)?;
    let word = ["password is ", "passphrase is "]
        .iter()
        .find(|word| rest.get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word.as_bytes())))?;
    let what = Announced { kind: "password", promise: Promise::Password };
    let mut secret = read_value(bytes, at + word.len(), what, Place::Loose, false)?;
    // The full stop ends the sentence.
    while secret.end > secret.start && matches!(bytes.get(secret.end - 1), Some(b'.' | b'!' | b'?')) {
        secret.end -= 1;
    }
    Some(secret)
}

/// After `curl … -u`: the password in `name:password`. `at` is where the value begins.
pub(super) fn user_flag(bytes: &[u8], at: usize) -> Option<Secret> {
    let (start, end, _) = bounds(bytes, at, false)?;
    let colon = start + bytes.get(start..end)?.iter().position(|byte| *byte == b':')?;
    let password = bytes.get(colon + 1..end)?;
    let numeric = password.iter().all(u8::is_ascii_digit);
    (!numeric && is_secret(password, Place::Assigned, Promise::Password)).then_some(Secret {
        start: colon + 1,
        end,
        kind: "password",
    })
}

fn read_value(bytes: &[u8], at: usize, what: Announced, place: Place, query: bool) -> Option<Secret> {
    let (start, end, quoted) = bounds(bytes, at, query)?;
    let value = bytes.get(start..end)?;
    let place = if quoted { Place::Quoted } else { place };
    if let Some(secret) = scheme(bytes, start, end) {
        return Some(secret);
    }
    // A long one is judged by its first bytes, and goes as a whole.
    let more = || bytes.iter().skip(end).take_while(|byte| !quoted && !ends_bare(**byte, query)).count();
    is_secret(value, place, what.promise).then(|| Secret { start, end: end + more(), kind: what.kind })
}

/// `token: Bearer abc…`: the scheme stays, the rest goes.
fn scheme(bytes: &[u8], start: usize, end: usize) -> Option<Secret> {
    let value = bytes.get(start..end.max(start + 7).min(bytes.len()))?;
    let lower = Lower::of(value.get(..7)?);
    (lower.bytes() == b"bearer ").then(|| super::header::credentials(bytes, start)).flatten()
}

/// `const password: string = "…"`: the type stands where the value was looked for.
fn typed_value(bytes: &[u8], at: usize, what: Announced) -> Option<Secret> {
    let start = skip_blanks(bytes, at);
    let len = bytes.get(start..)?.iter().take(32).take_while(|byte| is_name_byte(**byte)).count();
    let rest = bytes.get(start + len..)?;
    if len == 0 || !rest.starts_with(b" = ") {
        return None;
    }
    let quote = start + len + 3;
    matches!(bytes.get(quote), Some(b'"' | b'\''))
        .then(|| read_value(bytes, quote, what, Place::Loose, false))
        .flatten()
}

fn element(bytes: &[u8], start: usize, what: Announced) -> Option<Secret> {
    let rest = bytes.get(start..)?;
    let len = rest.iter().take(LONGEST_BARE).position(|byte| *byte == b'<')?;
    let value = rest.get(..len)?;
    let place = if rest.get(len + 1) == Some(&b'/') { Place::Quoted } else { return None };
    is_secret(value, place, what.promise).then_some(Secret { start, end: start + len, kind: what.kind })
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    let blanks = bytes.iter().skip(at).take(MOST_BLANKS).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    at + blanks
}

/// Where the value begins and ends, and whether it stands between quotes.
fn bounds(bytes: &[u8], at: usize, query: bool) -> Option<(usize, usize, bool)> {
    let mut start = skip_blanks(bytes, at);
    // `**Password:** hunter2` in Markdown.
    if bytes.get(start..)?.starts_with(b"** ") {
        start = skip_blanks(bytes, start + 2);
    }
    let slashes = bytes.iter().skip(start).take(4).take_while(|byte| **byte == b'\\').count();
    let quote = bytes.get(start + slashes).copied().filter(|byte| matches!(byte, b'"' | b'\'' | b'`'));
    if let Some(quote) = quote {
        let inside = start + slashes + 1;
        if let Some(len) = quoted_len(bytes.get(inside..)?, quote, slashes) {
            return Some((inside, inside + len, true));
        }
        start = inside;
    }
    let len = bytes.get(start..)?.iter().take(LONGEST_BARE).take_while(|byte| !ends_bare(**byte, query)).count();
    let mut end = start + len;
    // A cut in the middle of a character: the value is no secret that anyone typed.
    while end > start && bytes.get(end).is_some_and(|byte| byte & 0xC0 == 0x80) {
        end -= 1;
    }
    (end > start).then_some((start, end, false))
}

fn quoted_len(rest: &[u8], quote: u8, slashes: usize) -> Option<usize> {
    let mut at = 0;
    while at < rest.len().min(LONGEST_QUOTED) {
        let byte = rest[at];
        if byte == b'\n' {
            return None;
        }
        if byte == b'\\' {
            let run = rest.iter().skip(at).take_while(|byte| **byte == b'\\').count();
            let ends = slashes > 0 && run == slashes && rest.get(at + run) == Some(&quote);
            if ends {
                return Some(at);
            }
            // An escaped character belongs to the value.
            at += run + usize::from(slashes == 0 && run % 2 == 1);
            continue;
        }
        if byte == quote && slashes == 0 {
            return Some(at);
        }
        at += 1;
    }
    None
}

fn ends_bare(byte: u8, query: bool) -> bool {
    byte.is_ascii_whitespace()
        || byte.is_ascii_control()
        || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'\\' | b'|')
        || (query && matches!(byte, b'&' | b'#'))
}

/// Whether what stands between `:` and `@` in a URL is a password and not a stand-in or a template.
pub(super) fn is_url_password(value: &[u8]) -> bool {
    !stands_in(value)
        && !value.is_empty()
        && !value.iter().any(|byte| matches!(byte, b'(' | b')' | b'{' | b'}' | b'\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_by_their_ends() {
        for name in [
            "password",
            "DB_PASSWORD",
            "dbPassword",
            "api-key",
            "X-Api-Key",
            "AWS_SECRET_ACCESS_KEY",
            "SMTP_PASS",
            "client_secret",
            "accessToken",
        ] {
            assert!(announced(name.as_bytes()).is_some(), "{name}");
        }
        for name in [
            "passwordHash",
            "bypass",
            "compass",
            "max_tokens",
            "tokenizer",
            "nextPageToken",
            "eos_token",
            "key",
            "secretName",
            "PASSWORD_FILE",
        ] {
            assert!(announced(name.as_bytes()).is_none(), "{name}");
        }
    }
}
