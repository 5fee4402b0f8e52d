//! What must never be written: secrets, replaced by what kind they were.
//!
//! One pass over the bytes. Three things make the scanner look closer: the begin of a word (tokens are known by their
//! first letters, see `rules`), a separator after a name that announces a secret (`named`), and a shape of its own
//! (`block`). Everything else is passed over: a commit id, a UUID, a hash or an image is no secret, however random.
//! What stands in for a secret (`$TOKEN`, `<your-key>`, `changeme`) is left alone, so that documentation stays readable.

mod block;
mod header;
mod named;
mod rules;
pub(crate) mod unseen;
mod value;

use rules::RULES;
use std::borrow::Cow;

/// A part of a text that must not be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Secret {
    start: usize,
    end: usize,
    kind: &'static str,
}

/// The text without secrets; borrowed where there were none.
///
/// Each secret becomes `[redacted: GitHub token]` or the like. Doing it twice changes nothing more. What nobody sees
/// hides no secret: terminal colours inside a token are taken out where a secret comes to light without them.
pub fn redact(text: &str) -> Cow<'_, str> {
    let (clean, has_unseen) = hide(text);
    if has_unseen && let Cow::Owned(seen) = hide(&unseen::without(text)).0 {
        return Cow::Owned(seen);
    }
    clean
}

/// The text without the secrets that stand in it unbroken, and whether something in it is not seen.
fn hide(text: &str) -> (Cow<'_, str>, bool) {
    let mut clean = String::new();
    let mut copied = 0;
    let mut scanner = Scanner { bytes: text.as_bytes(), at: 0, floor: 0, no_web_token_before: 0, has_unseen: false };
    while let Some(secret) = scanner.next_secret() {
        // All rules begin and end next to ASCII; a rule that did not would rather hide nothing than panic.
        let Some(before) = text.get(copied..secret.start) else { continue };
        if !text.is_char_boundary(secret.end) {
            continue;
        }
        clean.push_str(before);
        clean.push_str("[redacted: ");
        clean.push_str(secret.kind);
        clean.push(']');
        copied = secret.end;
    }
    if copied == 0 {
        return (Cow::Borrowed(text), scanner.has_unseen);
    }
    clean.push_str(text.get(copied..).unwrap_or_default());
    (Cow::Owned(clean), scanner.has_unseen)
}

/// How a byte is treated by the scanner.
const PLAIN: u8 = 0;
const WORD: u8 = 1;
const SEPARATOR: u8 = 2;
const DASH: u8 = 3;
const BRACKET: u8 = 4;
const UNSEEN: u8 = 5;

static CLASSES: [u8; 256] = {
    let mut classes = [PLAIN; 256];
    let mut byte = 0;
    while byte < 256 {
        let b = byte as u8;
        classes[byte] = match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => WORD,
            b'=' | b':' | b'>' => SEPARATOR,
            b'-' => DASH,
            b'[' => BRACKET,
            unseen::ESCAPE | 0xc2 | 0xe2 | 0xef => UNSEEN,
            _ => PLAIN,
        };
        byte += 1;
    }
    classes
};

/// The first three bytes of everything that a word may begin with, hashed into a set of bits: most words stop here.
static BEGINNINGS: [u64; 256] = {
    let mut set = [0u64; 256];
    let mut at = 0;
    while at < RULES.len() {
        let prefix = RULES[at].prefix.as_bytes();
        // A prefix of two bytes may have any third one behind it.
        let mut third = if prefix.len() > 2 { prefix[2] } else { 0 };
        loop {
            let (word, bit) = beginning(prefix[0], prefix[1], third);
            set[word] |= bit;
            if prefix.len() > 2 || third == u8::MAX {
                break;
            }
            third += 1;
        }
        at += 1;
    }
    // Words that other rules look at: eyJ…, bearer, basic, password, passphrase, hooks., discord, api.telegram.
    let more = [
        b"eyJ", b"bea", b"Bea", b"BEA", b"BeA", b"beA", b"BEa", b"bas", b"Bas", b"BAS", b"BaS", b"baS", b"BAs", b"pas",
        b"Pas", b"PAS", b"PaS", b"paS", b"PAs", b"hoo", b"dis", b"api",
    ];
    let mut at = 0;
    while at < more.len() {
        let (word, bit) = beginning(more[at][0], more[at][1], more[at][2]);
        set[word] |= bit;
        at += 1;
    }
    set
};

/// Where three bytes stand in [`BEGINNINGS`].
const fn beginning(first: u8, second: u8, third: u8) -> (usize, u64) {
    let bytes = (first as u32) << 16 | (second as u32) << 8 | third as u32;
    let hash = bytes.wrapping_mul(0x9e37_79b1) >> 18;
    ((hash >> 6) as usize, 1 << (hash & 63))
}

struct Scanner<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The end of the last secret or mark: no name is read from what stands before it.
    floor: usize,
    /// Up to here a web token was looked for and is not there.
    no_web_token_before: usize,
    /// Something was passed that nobody sees.
    has_unseen: bool,
}

impl Scanner<'_> {
    /// The next secret; the scanner goes on behind it.
    fn next_secret(&mut self) -> Option<Secret> {
        let mut at = self.at;
        while let Some(&byte) = self.bytes.get(at) {
            let class = CLASSES[usize::from(byte)];
            if class == PLAIN {
                at += 1;
                continue;
            }
            let found = if class == WORD {
                let start = at;
                at = word_end(self.bytes, start);
                self.word(start, at)
            } else {
                self.at = at;
                let found = match class {
                    SEPARATOR => self.separator(),
                    DASH => self.dash(),
                    BRACKET => self.bracket(),
                    _ => self.unseen(),
                };
                at = self.at;
                found
            };
            if let Some(secret) = found {
                self.at = secret.end.max(at);
                self.floor = secret.end;
                return Some(secret);
            }
        }
        self.at = at;
        None
    }

    #[inline]
    fn word(&mut self, start: usize, end: usize) -> Option<Secret> {
        // Behind `\n` and `%3D` the word begins later than it seems.
        match start.checked_sub(1).and_then(|place| self.bytes.get(place)) {
            Some(b'\\') => self.escaped_word(start, (start + 1).min(end)),
            Some(b'%') => self.escaped_word(start, (start + 2).min(end)),
            _ => self.word_at(start),
        }
    }

    #[cold]
    fn escaped_word(&mut self, start: usize, behind: usize) -> Option<Secret> {
        self.word_at(start).or_else(|| self.word_at(behind))
    }

    #[inline(always)]
    fn word_at(&mut self, start: usize) -> Option<Secret> {
        let (&first, &second, &third) =
            (self.bytes.get(start)?, self.bytes.get(start + 1)?, self.bytes.get(start + 2)?);
        let (word, bit) = beginning(first, second, third);
        if BEGINNINGS[word] & bit == 0 { None } else { self.known_word(first, second, start) }
    }

    fn known_word(&mut self, first: u8, second: u8, start: usize) -> Option<Secret> {
        match (first, second) {
            (b'e', b'y') => return self.web_token(start),
            (b'b' | b'B', _) => return header::credentials(self.bytes, start),
            (b'p' | b'P', b'a' | b'A') => {
                if let Some(secret) = named::in_prose(self.bytes, start) {
                    return Some(secret);
                }
            }
            (b'h', b'o') | (b'd', b'i') | (b'a', b'p') => {
                if let Some(secret) = block::webhook(self.bytes, start) {
                    return Some(secret);
                }
            }
            _ => {}
        }
        prefixed(self.bytes, start)
    }

    /// All starts in one run of letters end where the run does: where the first is no token, the others are none. So the
    /// run is read once, however often a token seems to begin in it.
    fn web_token(&mut self, start: usize) -> Option<Secret> {
        if start < self.no_web_token_before {
            return None;
        }
        let found = block::json_web_token(self.bytes, start);
        if found.is_none() && self.bytes.get(start + 2) == Some(&b'J') {
            self.no_web_token_before = block::end_of_web_token(self.bytes, start);
        }
        found
    }

    fn separator(&mut self) -> Option<Secret> {
        let at = self.at;
        self.at += 1;
        if self.bytes.get(at..)?.starts_with(b"://") {
            return block::url_password(self.bytes, at);
        }
        let secret = named::after_separator(self.bytes, self.floor, at)?;
        Some(precise(self.bytes, secret))
    }

    fn dash(&mut self) -> Option<Secret> {
        let start = self.at;
        let dashes = self.bytes.get(start..)?.iter().take_while(|byte| **byte == b'-').count();
        self.at += dashes;
        let after_blank = start.checked_sub(1).is_none_or(|place| {
            self.bytes.get(place).is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b'"' | b'\'' | b'`'))
        });
        match dashes {
            5 => block::pem(self.bytes, start),
            2 if after_blank => named::after_flag(self.bytes, self.at).map(|secret| precise(self.bytes, secret)),
            1 if after_blank && self.bytes.get(start..)?.starts_with(b"-u ") && self.follows_curl(start) => {
                named::user_flag(self.bytes, start + 3)
            }
            _ => None,
        }
    }

    /// `-u` is an account only for a few programs; for `docker run` it is a number.
    fn follows_curl(&self, at: usize) -> bool {
        const FAR: usize = 200;
        let line = self.bytes.get(at.saturating_sub(FAR)..at).unwrap_or_default();
        let line = line.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        value::contains(line, b"curl") || value::contains(line, b"wget") || value::contains(line, b"http ")
    }

    /// Something that nobody sees is told and passed over.
    fn unseen(&mut self) -> Option<Secret> {
        self.has_unseen |= unseen::len_at(self.bytes, self.at) > 0;
        self.at += 1;
        None
    }

    /// What was redacted already is passed over.
    fn bracket(&mut self) -> Option<Secret> {
        const LONGEST_KIND: usize = 40;
        let rest = self.bytes.get(self.at..)?;
        self.at += 1;
        let kind = rest.strip_prefix(MARK)?;
        let len = kind.iter().take(LONGEST_KIND).position(|byte| *byte == b']')?;
        if is_kind(kind.get(..len)?) {
            self.at += MARK.len() + len;
            self.floor = self.at;
        }
        None
    }
}

/// Behind the word that begins at `start`.
#[inline]
fn word_end(bytes: &[u8], start: usize) -> usize {
    let mut end = start + 1;
    while bytes.get(end).is_some_and(|byte| CLASSES[usize::from(*byte)] == WORD) {
        end += 1;
    }
    end
}

/// For each byte the rules that begin with it stand from here to there.
static BY_FIRST: [(u8, u8); 256] = {
    let mut places = [(0u8, 0u8); 256];
    let mut at = 0;
    while at < RULES.len() {
        let place = &mut places[RULES[at].prefix.as_bytes()[0] as usize];
        if place.1 == 0 {
            place.0 = at as u8;
        }
        place.1 = at as u8 + 1;
        at += 1;
    }
    places
};

/// How a mark begins.
const MARK: &[u8] = b"[redacted: ";

/// Short words and nothing else: a mark that somebody put around a secret is none.
fn is_kind(kind: &[u8]) -> bool {
    const LONGEST_WORD: usize = 14;
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'.';
    kind.split(|byte| *byte == b' ').all(|word| (1..=LONGEST_WORD).contains(&word.len()) && word.iter().all(plain))
}

/// The rule whose prefix stands at `start` and whose body follows.
fn prefixed(bytes: &[u8], start: usize) -> Option<Secret> {
    let rest = bytes.get(start..)?;
    let (from, to) = BY_FIRST[usize::from(*rest.first()?)];
    let rule = RULES
        .get(usize::from(from)..usize::from(to))?
        .iter()
        .rev()
        .find(|rule| rest.starts_with(rule.prefix.as_bytes()) && fits(rest, rule))?;
    let mut len = rest.iter().skip(rule.prefix.len()).take_while(|byte| rule.body.holds(**byte)).count();
    // The full stop or slash that ends a sentence or path is not the token's.
    while len > 0 && matches!(rest.get(rule.prefix.len() + len - 1), Some(b'.' | b'/' | b'-')) {
        len -= 1;
    }
    Some(Secret { start, end: start + rule.prefix.len() + len, kind: rule.kind })
}

/// Bytes of a token that are looked at before it is believed.
const BODY_SAMPLE: usize = 256;

fn fits(rest: &[u8], rule: &rules::Rule) -> bool {
    let body = rest.get(rule.prefix.len()..).unwrap_or_default();
    let len = body.iter().take(BODY_SAMPLE).take_while(|byte| rule.body.holds(**byte)).count();
    let body = body.get(..len).unwrap_or_default();
    len >= rule.least && body.iter().any(u8::is_ascii_digit) | (len >= 30) && value::is_varied(body)
}

/// A value that is also known by its first letters is named by them: `GitHub token` says more than `token`.
fn precise(bytes: &[u8], secret: Secret) -> Secret {
    match prefixed(bytes, secret.start).or_else(|| block::json_web_token(bytes, secret.start)) {
        Some(known) if known.end >= secret.end => Secret { kind: known.kind, ..known },
        _ => secret,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Made up here: random letters behind the real prefixes, joined so that no scanner takes this file for a leak.
    fn fake(prefix: &str, body: &str) -> String {
        format!("{prefix}{body}")
    }

    const BODY: &str = "a8F3kQ9zL2mX7cV5bN1jH4gT6rY0wE8uP3sD";

    #[test]
    fn tokens_are_known_by_how_they_begin_and_named() {
        for (prefix, kind) in [
            ("ghp_", "GitHub token"),
            ("glpat-", "GitLab token"),
            ("sk-ant-api03-", "Anthropic API key"),
            ("sk-proj-", "OpenAI API key"),
            ("sk-", "API key"),
            ("xoxb-", "Slack token"),
            ("npm_", "npm token"),
            ("hf_", "Hugging Face token"),
            ("AIza", "Google API key"),
            ("sk_live_", "Stripe key"),
        ] {
            let token = fake(prefix, BODY);
            let expected = format!("use [redacted: {kind}], then go on");
            assert_eq!(redact(&format!("use {token}, then go on")), expected, "{prefix}");
            // Inside a JSON string, behind an escape and in a URL query.
            assert_eq!(redact(&format!("line\\n{token}\\n")), format!("line\\n[redacted: {kind}]\\n"));
        }
        let aws = fake("AKIA", "IOSFODNN7QWERTYU");
        assert_eq!(redact(&aws), "[redacted: AWS access key]");
    }

    #[test]
    fn every_rule_finds_its_own_token() {
        for rule in RULES {
            let body: String =
                "0a1b2c3d4e5f60718293a4b5c6d7e8f9".chars().cycle().take(rule.least.max(20) * 2).collect();
            let body = if rule.body == rules::Body::Upper { body.to_uppercase() } else { body };
            let text = format!("({}{body})", rule.prefix);
            assert!(redact(&text).starts_with("([redacted: "), "{}: {}", rule.prefix, redact(&text));
        }
    }

    #[test]
    fn values_are_known_by_the_name_before_them() {
        for (text, expected) in [
            (
                r#"{"user":"bob","password":"hunter2","port":22}"#,
                r#"{"user":"bob","password":"[redacted: password]","port":22}"#,
            ),
            (r#"{\"password\": \"hunter2\"}"#, r#"{\"password\": \"[redacted: password]\"}"#),
            ("DB_PASSWORD=correcthorse make", "DB_PASSWORD=[redacted: password] make"),
            ("export API_KEY='a8F3kQ9zL2mX7c'", "export API_KEY='[redacted: API key]'"),
            ("password: hunter2\nuser: bob", "password: [redacted: password]\nuser: bob"),
            ("**Password:** hunter2", "**Password:** [redacted: password]"),
            ("mysql --password hunter22 db", "mysql --password [redacted: password] db"),
            ("tool --token=a8F3kQ9zL2mX7c x", "tool --token=[redacted: token] x"),
            ("https://h/x?api_key=a8F3kQ9zL2&page=2", "https://h/x?api_key=[redacted: API key]&page=2"),
            ("Server=db;User Id=sa;Password=Pa55word!;", "Server=db;User Id=sa;Password=[redacted: password];"),
            ("AccountKey=a8F3kQ9zL2mX7cV5bN1jH4gT==;Endpoint=x", "AccountKey=[redacted: account key];Endpoint=x"),
            ("<password>hunter2</password>", "<password>[redacted: password]</password>"),
            ("const password: string = \"hunter2\";", "const password: string = \"[redacted: password]\";"),
            ("os.environ[\"DB_PASSWORD\"] = \"hunter2\"", "os.environ[\"DB_PASSWORD\"] = \"[redacted: password]\""),
            ("The password is hunter2.", "The password is [redacted: password]."),
            ("X-Api-Key: a8F3kQ9zL2mX7cV5bN", "X-Api-Key: [redacted: API key]"),
            ("curl -s -u bob:hunter2 https://h", "curl -s -u bob:[redacted: password] https://h"),
        ] {
            assert_eq!(redact(text), expected);
        }
    }

    #[test]
    fn headers_urls_and_web_tokens() {
        for (text, expected) in [
            ("Authorization: Bearer a8F3kQ9zL2mX7cV5bN", "Authorization: Bearer [redacted: bearer token]"),
            ("Authorization: Basic Ym9iOmh1bnRlcjI=", "Authorization: Basic [redacted: basic credentials]"),
            ("postgres://bob:hunter2@db:5432/app", "postgres://bob:[redacted: password]@db:5432/app"),
            ("redis://:p@ss@cache/0", "redis://:[redacted: password]@cache/0"),
        ] {
            assert_eq!(redact(text), expected);
        }
        let token = fake("eyJhbGciOiJIUzI1NiJ9", ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N");
        assert_eq!(redact(&format!("cookie jar: {token}")), "cookie jar: [redacted: JWT]");
    }

    #[test]
    fn private_keys_go_as_a_block_and_certificates_stay() {
        let line = "MIIEpAIBAAKCAQEA0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071";
        let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} RSA PRIVATE KEY-----"));
        assert_eq!(redact(&format!("a\n{begin}\n{line}\n{line}\n{end}\nb")), "a\n[redacted: private key]\nb");
        assert_eq!(redact(&format!("{begin}\\n{line}\\n{end}\\n\"")), "[redacted: private key]\\n\"");
        assert_eq!(redact(&format!("{begin}\n{line}\n{line}\n[cut]")), "[redacted: private key]\n[cut]");
        let certificate = format!("-----BEGIN CERTIFICATE-----\n{line}\n-----END CERTIFICATE-----");
        assert_eq!(redact(&certificate), certificate);
        let mention = format!("look for {begin} in the file");
        assert_eq!(redact(&mention), mention);
    }

    #[test]
    fn a_key_inside_the_frame_of_another_is_hidden_once_and_for_all() {
        let [begin, end] = ["BEGIN", "END"].map(|word| format!("-----{word} PRIVATE KEY-----"));
        let line = "MIIEpAIBAAKCAQEA0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f6071";
        let text =
            format!("{begin}\nMIIEpAIBAAKCAQEA0a1b2c3\n{begin}\n{line}\n{end}\nd4e5f60718293a4b5c6d7e8f90\n{end}");
        let once = redact(&text).into_owned();
        assert!(!once.contains(line));
        assert_eq!(redact(&once), once);
    }

    #[test]
    fn a_mark_around_a_secret_hides_it_from_nobody() {
        let token = fake("ghp_", BODY);
        assert_eq!(redact(&format!("[redacted: {token}]")), "[redacted: [redacted: GitHub token]]");
        for rule in RULES {
            assert!(is_kind(rule.kind.as_bytes()), "{}", rule.kind);
        }
    }

    #[test]
    fn a_secret_comes_to_light_without_what_is_not_seen_and_other_text_keeps_it() {
        let (first, second) = BODY.split_at(12);
        assert_eq!(
            redact(&format!("use ghp_{first}\u{1b}[31m{second}\u{1b}[0m now")),
            "use [redacted: GitHub token] now"
        );
        assert_eq!(redact("pass\u{200b}word=hunter2"), "password=[redacted: password]");
        let coloured = "\u{1b}[31merror\u{1b}[0m: no\u{ad}thing secret";
        assert!(matches!(redact(coloured), Cow::Borrowed(text) if text == coloured));
    }

    #[test]
    fn what_is_no_secret_is_left_alone() {
        for text in [
            "commit 49ef1bd0c3a1b2c3d4e5f60718293a4b5c6d7e8f9",
            "id 550e8400-e29b-41d4-a716-446655440000",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
            "password=$PASSWORD token=${TOKEN} apiKey: process.env.API_KEY secret=<your-secret>",
            "PASSWORD=changeme API_KEY=xxxxxxxxxxxxxxxx GITHUB_TOKEN=ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "password: string, token: str = None, apiKey: config.apiKey",
            "const token = getToken(request); password = req.body.password",
            "--- PASS: TestResume_Branch2 (0.42s)",
            "max_tokens=4096 nextPageToken=a8F3kQ9zL2mX7cV5bN tokens: 123456",
            "\"password\": \"Enter a password of 8 characters\"",
            "postgres://user:password@localhost/db https://host:8080/a@b git@github.com:a/b.git",
            "Bearer tokens and Basic authentication are two schemes",
            "docker run -u 1000:1000 image",
            "scikit sk-learn-estimators-and-pipelines risk-assessment",
            "PASSWORD_FILE=/run/secrets/db password=/run/secrets/db_password",
        ] {
            assert_eq!(redact(text), text);
            assert!(matches!(redact(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn hostile_repetition_does_not_hang() {
        for unit in [
            "token:",
            "glpat-",
            "eyJ.",
            "eyJ-",
            "eyJhbGciOiJIUzI1NiJ9-",
            "bearer+",
            "Basic+",
            "-----BEGIN PRIVATE KEY-----",
            "password=\"",
            "https://a:",
            "[redacted: ",
            "\\",
        ] {
            let text = unit.repeat(200_000 / unit.len());
            assert!(!redact(&text).is_empty());
        }
    }

    proptest! {
        #[test]
        fn twice_is_once_on_any_text(text in any::<String>()) {
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once), once.as_str());
        }

        #[test]
        fn a_token_on_a_line_of_its_own_is_hidden_whatever_stands_around_it(
            which in any::<prop::sample::Index>(),
            body in "[bcdfghjkmnqrstvz]{6}[2-9]{3}[bcdfghjkmnqrstvz]{5}[2-9]{3}",
            before in any::<String>(),
            behind in any::<String>(),
        ) {
            let rule = which.get(RULES);
            let body = match rule.body {
                rules::Body::Upper => body.to_uppercase(),
                rules::Body::Hex => body.bytes().map(|byte| format!("{byte:02x}")).collect(),
                _ => body,
            };
            let token = format!("{}{}", rule.prefix, body.repeat(rule.least / body.len() + 2));
            // A row of few letters is an example and stays.
            prop_assume!(value::is_varied(body.as_bytes()) && value::is_varied(token.as_bytes()));
            let clean = redact(&format!("{before}\n{token}\n{behind}")).into_owned();
            prop_assert!(!clean.contains(&body), "{} in {clean:?}", rule.prefix);
        }

        #[test]
        fn a_password_behind_its_name_is_hidden_whatever_stands_around_it(
            form in prop::sample::select(vec![
                "password=@", "DB_PASSWORD=@", "password: @", "\"password\": \"@\"", "\\\"password\\\": \\\"@\\\"", "--password @",
                "<password>@</password>", "postgres://bob:@:@h/x", "postgres://bob:@@h/x", "https://h/x?api_key=@&y=1",
            ]),
            secret in "[bcdfghjkmnqrstvz]{4}[2-9]{3}[bcdfghjkmnqrstvz]{4}[2-9]{3}",
            before in any::<String>(),
            behind in any::<String>(),
        ) {
            let form = form.replacen('@', &secret, 1);
            let clean = redact(&format!("{before}\n{form}\n{behind}")).into_owned();
            prop_assert!(!clean.contains(&secret), "{form} in {clean:?}");
        }

        /// Pieces that the rules look at, in any order: this is where rules meet each other.
        #[test]
        fn twice_is_once_where_rules_meet(
            pieces in prop::collection::vec(
                prop::sample::select(vec![
                    "password", "token", "API_KEY", "=", ":", ": ", " ", "\"", "'", "\\", "\\n", "\n", "://", "@", "/", "?", "&", "--",
                    "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Bearer ", "Basic ", "eyJhbGciOiJIUzI1NiJ9", ".",
                    "ghp_", "sk-", "a8F3kQ9zL2mX7cV5bN1jH4gT6rY0wE8uP3sD", "hunter2", "<", ">", "[redacted: ", "]", "é", "curl -u ",
                    "password is ", ";", "%", "3D", " = ", "str", "**", "cookie", "{", "}", "(", "x",
                    "\u{1b}[31m", "\u{1b}", "\u{200b}", "\u{ad}",
                ]),
                0..24,
            )
        ) {
            let text: String = pieces.concat();
            let once = redact(&text).into_owned();
            prop_assert_eq!(redact(&once), once.as_str(), "from {:?}", text);
        }
    }
}
