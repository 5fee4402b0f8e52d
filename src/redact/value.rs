//! Does a value look like a secret, or like something that merely stands where a secret could stand?

/// Where a value was found: the less the place says, the more the value itself must look like a secret.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Between quotes.
    Quoted,
    /// Directly after `=`, or after an upper-case name: an environment assignment, a query, a connection string.
    Assigned,
    /// Anywhere else: prose, YAML, source code.
    Loose,
}

/// What the name before a value promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Promise {
    /// A password: people choose short ones and plain words.
    Password,
    /// Several words may be one secret.
    Passphrase,
    /// Machine-made: tokens, keys, secrets.
    Machine,
    /// The value of a cookie header.
    Cookie,
}

/// Words that stand in for a secret in documentation and code.
const STAND_INS: &[&[u8]] = &[
    b"changeme",
    b"change-me",
    b"change_me",
    b"default",
    b"dummy",
    b"empty",
    b"false",
    b"foobar",
    b"hidden",
    b"invalid",
    b"missing",
    b"none",
    b"null",
    b"optional",
    b"pass",
    b"password",
    b"passwd",
    b"pwd",
    b"required",
    b"secret",
    b"string",
    b"test",
    b"text",
    b"todo",
    b"token",
    b"true",
    b"undefined",
    b"unset",
    b"value",
    b"hash",
    b"hashed",
    b"user",
    b"username",
    b"key",
    b"apikey",
    b"mypassword",
    b"mysecret",
    b"boolean",
    b"number",
    b"basic",
    b"bearer",
];

/// Parts that make any value a stand-in.
const STAND_IN_PARTS: &[&[u8]] = &[
    b"your",
    b"example",
    b"placeholder",
    b"redacted",
    b"xxx",
    b"***",
    b"...",
    b"changeme",
    b"process.env",
    b"environ",
    b"getenv",
    b"secrets.",
    b"\xe2\x80\xa6",
    b"<",
    b"{{",
    b"dummy",
    b"not-a-",
    b"insert",
];

/// Whether `value` is a secret, found at `place` after a name with this `promise`.
pub(super) fn is_secret(value: &[u8], place: Place, promise: Promise) -> bool {
    if value.len() < 3 || stands_in(value) {
        return false;
    }
    match promise {
        Promise::Password => is_password(value, place),
        Promise::Passphrase => is_password(value, place) || (place == Place::Quoted && is_phrase(value)),
        Promise::Machine => is_machine_made(value, place),
        Promise::Cookie => value.contains(&b'=') && value.len() >= 16 && value.iter().any(u8::is_ascii_digit),
    }
}

/// Whether a value only stands where a secret would: a variable, an example, a word such as `changeme`.
pub(super) fn stands_in(value: &[u8]) -> bool {
    let Some(&first) = value.first() else { return true };
    if matches!(first, b'$' | b'<' | b'{' | b'[' | b'(' | b'%' | b'@' | b'`' | b'|' | b'>') {
        // Only a variable is a stand-in after `$`: `$2b$10$…` is a hash, `$ecret1` a password.
        return first != b'$' || is_variable(value);
    }
    if value.iter().all(|byte| *byte == first) {
        return true;
    }
    let lower = Lower::of(value);
    let lower = lower.bytes();
    STAND_INS.contains(&lower) || STAND_IN_PARTS.iter().any(|part| contains(lower, part)) || is_upper_name(value)
}

fn is_variable(value: &[u8]) -> bool {
    match value.get(1) {
        None => true,
        Some(b'{' | b'(' | b'$') => true,
        Some(_) => {
            value.iter().skip(1).all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')) && {
                // `$TOKEN`, `$token`, `$1`, `$env`: one case only.
                let upper = value.iter().any(u8::is_ascii_uppercase);
                let lower = value.iter().any(u8::is_ascii_lowercase);
                let digits = value.iter().filter(|byte| byte.is_ascii_digit()).count();
                digits < 3 && !(upper && lower && digits > 0)
            }
        }
    }
}

/// `MY_API_KEY`: the name of a value, not the value.
fn is_upper_name(value: &[u8]) -> bool {
    value.len() < 40
        && value.contains(&b'_')
        && value.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
        && value.iter().filter(|byte| byte.is_ascii_digit()).count() < 4
}

fn is_password(value: &[u8], place: Place) -> bool {
    if value.len() > 256 || is_code(value) || contains(value, b"://") || (is_path(value) && !is_random(value)) {
        return false;
    }
    let letters = value.iter().any(u8::is_ascii_alphabetic);
    let digits = value.iter().any(u8::is_ascii_digit);
    let spaces = value.iter().any(|byte| byte.is_ascii_whitespace());
    match place {
        // Quoted words are labels ("Passwort", "Enter a password") as often as passwords.
        Place::Quoted => {
            let label = value.first().is_some_and(u8::is_ascii_uppercase) || !value.is_ascii();
            !spaces && value.len() >= 4 && (digits || !label) && (letters || value.len() >= 6)
        }
        Place::Assigned => !spaces && (letters || value.len() >= 6) && !is_type_name(value),
        Place::Loose => !spaces && value.len() >= 6 && letters && digits && !is_dotted_name(value) && !is_words(value),
    }
}

/// Several lower-case words, as in a recovery phrase.
fn is_phrase(value: &[u8]) -> bool {
    let words = value.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).count();
    (3..=30).contains(&words) && value.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b' ')
}

fn is_machine_made(value: &[u8], place: Place) -> bool {
    let least = if place == Place::Loose { 16 } else { 8 };
    value.len() >= least
        && value.iter().all(|byte| byte.is_ascii_graphic())
        && !contains(value, b"://")
        && !is_code(value)
        && is_random(value)
}

/// Letters and digits mixed as people do not mix them, in one piece without separators; or many changes of case.
fn is_random(value: &[u8]) -> bool {
    value.split(|byte| matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'@')).any(|piece| {
        let digits = piece.iter().filter(|byte| byte.is_ascii_digit()).count();
        let letters = piece.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let changes = piece.windows(2).filter(|pair| class(pair[0]) != class(pair[1])).count();
        let mixed = piece.len() >= 8 && digits >= 2 && letters >= 2 && changes >= 2;
        let plain = piece.len() >= 8 && digits >= 3 && letters >= 3 && piece.len() == value.len();
        // 0.45: `GetSecretValue` changes class at 0.36 of its places, random base62 at about 0.6.
        let jumpy = piece.len() >= 16 && letters >= 12 && changes * 100 >= piece.len() * 45;
        mixed || plain || jumpy
    })
}

fn class(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    }
}

fn is_code(value: &[u8]) -> bool {
    value.iter().any(|byte| matches!(byte, b'(' | b')' | b'{' | b'}' | b'[' | b']' | b'<' | b'>' | b'\\'))
        || contains(value, b"=>")
        || contains(value, b"::")
        || contains(value, b"->")
}

fn is_path(value: &[u8]) -> bool {
    value.starts_with(b"/") || value.starts_with(b"./") || value.starts_with(b"../") || value.starts_with(b"~/")
}

/// `config.db.password`, `req.body.pass1`: a name in source code.
fn is_dotted_name(value: &[u8]) -> bool {
    value.contains(&b'.')
        && value.split(|byte| *byte == b'.').all(|piece| {
            piece.first().is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
                && piece.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'_')
                && !is_random(piece)
        })
}

/// `step-2-of-3`, `form_field_1`: words and numbers with separators between them.
fn is_words(value: &[u8]) -> bool {
    let mut pieces = value.split(|byte| matches!(byte, b'-' | b'_' | b'/' | b',' | b'.')).peekable();
    let several = value.iter().any(|byte| matches!(byte, b'-' | b'_' | b'/' | b',' | b'.'));
    pieces.peek().is_some()
        && several
        && pieces.all(|piece| {
            piece.iter().all(u8::is_ascii_alphabetic) || (piece.len() <= 4 && piece.iter().all(u8::is_ascii_digit))
        })
}

fn is_type_name(value: &[u8]) -> bool {
    [&b"str"[..], b"String", b"string", b"Option", b"bool", b"int", b"any", b"self", b"this"].contains(&value)
}

/// How different the bytes of a token are; a row of `x` or `0` is an example.
pub(super) fn is_varied(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    let mut distinct = 0;
    for byte in value.iter().take(64) {
        if !std::mem::replace(&mut seen[usize::from(*byte)], true) {
            distinct += 1;
        }
    }
    let lower = Lower::of(value);
    let stand_in = [&b"xxxx"[..], b"your", b"example", b"placeholder", b"redacted", b"dummy"]
        .iter()
        .any(|part| contains(lower.bytes(), part));
    // 7 of 20: random hex of that length has about 12 different bytes, `abcabc…` has 3.
    distinct >= 7.min(value.len() / 2) && !stand_in
}

/// The first bytes in lower case, on the stack.
pub(super) struct Lower {
    bytes: [u8; 96],
    len: usize,
}

impl Lower {
    pub(super) fn of(value: &[u8]) -> Lower {
        let mut lower = Lower { bytes: [0; 96], len: value.len().min(96) };
        for (to, from) in lower.bytes.iter_mut().zip(value) {
            *to = from.to_ascii_lowercase();
        }
        lower
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// Whether `part` stands anywhere in `whole`. Both are short.
pub(super) fn contains(whole: &[u8], part: &[u8]) -> bool {
    let Some((&first, rest)) = part.split_first() else { return true };
    whole
        .iter()
        .enumerate()
        .any(|(at, byte)| *byte == first && whole.get(at + 1..).is_some_and(|tail| tail.starts_with(rest)))
}
