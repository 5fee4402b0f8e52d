//! Secrets with a shape of their own: PEM blocks, JSON Web Tokens, passwords in URLs.

use super::Secret;

const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
/// The words between `BEGIN` and the dashes.
const LONGEST_LABEL: usize = 64;
/// A PEM line has 64 or 76 bytes; one that was cut has fewer.
const SHORTEST_LINE: usize = 30;
/// Between the two markers less is enough; longer than any word of a mark, so that a mark is not taken for a key.
const SHORTEST_ENCLOSED: usize = 16;
/// RFC 7519 has no limit; headers of servers end here.
const LONGEST_TOKEN: usize = 16_384;
/// The part of a URL before its host.
const LONGEST_USER_INFO: usize = 512;

/// At `-----BEGIN `: the whole block, if it is a private key. Certificates and public keys are no secrets.
pub(super) fn pem(bytes: &[u8], at: usize) -> Option<Secret> {
    let rest = bytes.get(at..)?.strip_prefix(BEGIN)?;
    let label_len = rest.iter().take(LONGEST_LABEL).position(|byte| *byte == b'-')?;
    let label = rest.get(..label_len)?;
    if !super::value::contains(label, b"PRIVATE KEY") || !rest.get(label_len..)?.starts_with(DASHES) {
        return None;
    }
    let body = at + BEGIN.len() + label_len + DASHES.len();
    let content = bytes.get(body..)?;
    // A body holds no five dashes, so the search ends at the next marker whatever that is.
    let end_marker =
        find(content, DASHES).filter(|place| content.get(*place..).is_some_and(|s| s.starts_with(b"-----END ")));
    if let Some(place) = end_marker {
        let key = content.get(..place)?;
        let closing = content.get(place + DASHES.len()..)?;
        let tail = find(closing.get(..LONGEST_LABEL.min(closing.len()))?, DASHES).map_or(0, |len| len + DASHES.len());
        // What is left between two markers when a key between them was hidden is no key.
        let long = !super::value::contains(key, super::MARK)
            && key.split(|byte| !is_base64(*byte)).any(|line| line.len() >= SHORTEST_ENCLOSED);
        let end = body + place + DASHES.len() + tail;
        return (long && tail > 0).then_some(Secret { start: at, end, kind: "private key" });
    }
    // Cut off: everything that still looks like its lines.
    let mut end = body;
    loop {
        let blank = blanks(bytes.get(end..)?);
        let line = bytes.get(end + blank..)?.iter().take_while(|byte| is_base64(**byte)).count();
        if line < SHORTEST_LINE {
            break;
        }
        end += blank + line;
    }
    (end > body).then_some(Secret { start: at, end, kind: "private key" })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

/// White space, also as escapes inside a JSON string.
fn blanks(rest: &[u8]) -> usize {
    let mut at = 0;
    loop {
        match rest.get(at) {
            Some(byte) if byte.is_ascii_whitespace() => at += 1,
            Some(b'\\') if matches!(rest.get(at + 1), Some(b'n' | b'r' | b't')) => at += 2,
            _ => return at,
        }
    }
}

fn find(whole: &[u8], part: &[u8]) -> Option<usize> {
    whole.windows(part.len()).position(|window| window == part)
}

/// At `eyJ`: a JSON Web Token, signed (3 parts) or encrypted (5 parts).
pub(super) fn json_web_token(bytes: &[u8], at: usize) -> Option<Secret> {
    if !bytes.get(at..)?.starts_with(b"eyJ") {
        return None;
    }
    let mut end = at;
    let mut parts = 0;
    loop {
        let part = bytes.get(end..)?;
        let len = part.iter().take(LONGEST_TOKEN).take_while(|byte| is_base64_url(**byte)).count();
        // The payload of a signed token is JSON too; an encrypted one has its key there, which may be empty.
        let fits = match parts {
            0 => len >= 12,
            1 => len >= 10 && part.starts_with(b"ey"),
            _ => len > 0,
        };
        if !fits {
            break;
        }
        end += len;
        parts += 1;
        if parts == 5 || bytes.get(end) != Some(&b'.') {
            break;
        }
        end += 1;
    }
    if bytes.get(end.wrapping_sub(1)) == Some(&b'.') {
        end -= 1;
    }
    (parts >= 2).then_some(Secret { start: at, end, kind: "JWT" })
}

/// Behind the last place in the run of letters that begins at `at` from which no token can begin, if none does here. A run
/// that is longer than any token is looked at again from where a token could still reach its end.
pub(super) fn end_of_web_token(bytes: &[u8], at: usize) -> usize {
    let len = bytes.iter().skip(at).take_while(|byte| is_base64_url(**byte)).count();
    at + if len > LONGEST_TOKEN { len - LONGEST_TOKEN } else { len }
}

fn is_base64_url(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'=')
}

/// At the `:` of `://`: the password before the host.
pub(super) fn url_password(bytes: &[u8], at: usize) -> Option<Secret> {
    let start = at + 3;
    let rest = bytes.get(start..)?;
    let authority = rest
        .iter()
        .take(LONGEST_USER_INFO)
        .position(|byte| {
            byte.is_ascii_whitespace()
                || matches!(byte, b'/' | b'"' | b'\'' | b'`' | b'<' | b'>' | b'\\' | b'?' | b'#' | b',')
        })
        .unwrap_or(rest.len().min(LONGEST_USER_INFO));
    let authority = rest.get(..authority)?;
    // A password may hold an @ of its own; the host cannot.
    let user_info = authority.get(..authority.iter().rposition(|byte| *byte == b'@')?)?;
    let end = start + user_info.len();
    match user_info.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let password = user_info.get(colon + 1..)?;
            super::named::is_url_password(password).then_some(Secret {
                start: start + colon + 1,
                end,
                kind: "password",
            })
        }
        // `https://token@host`
        None => super::value::is_secret(user_info, super::value::Place::Loose, super::value::Promise::Machine)
            .then_some(Secret { start, end, kind: "token" }),
    }
}

/// At the host of a chat webhook: its path is its password.
pub(super) fn webhook(bytes: &[u8], at: usize) -> Option<Secret> {
    const WEBHOOKS: &[(&str, &str)] = &[
        ("hooks.slack.com/services/", "Slack webhook"),
        ("hooks.slack.com/workflows/", "Slack webhook"),
        ("hooks.slack.com/triggers/", "Slack webhook"),
        ("discord.com/api/webhooks/", "Discord webhook"),
        ("discordapp.com/api/webhooks/", "Discord webhook"),
        ("api.telegram.org/bot", "Telegram bot token"),
    ];
    let rest = bytes.get(at..)?;
    let (host, kind) = WEBHOOKS.iter().find(|(host, _)| rest.starts_with(host.as_bytes()))?;
    let start = at + host.len();
    let path = bytes.get(start..)?;
    let len = path
        .iter()
        .take(LONGEST_USER_INFO)
        .take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'-' | b':'))
        .count();
    let value = path.get(..len)?;
    (len >= 30 && super::value::is_varied(value)).then_some(Secret { start, end: start + len, kind })
}
