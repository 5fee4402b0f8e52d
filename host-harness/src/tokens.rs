//! Real tokenizers: the built-in vocabularies and any `tokenizer.json`. Texts are counted in batches on all cores, and
//! each text once: the counts are remembered by content.

use rayon::prelude::*;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How many counts are remembered: a long session, many times over. Beyond it only those of the texts at hand are.
const REMEMBERED: usize = 200_000;

/// Below this many bytes a batch is counted on one core: to wake the others takes longer.
const WORTH_MORE_CORES: usize = 32 * 1024;

/// With a deadline, a text of more bytes is not counted: nothing can stop a tokenizer in the middle of one.
const LONGEST_IN_TIME: usize = 4 * 1024 * 1024;

/// A text, for the memory: two texts of the same length and hash are taken for one.
type Key = (u64, usize);

/// Which tokenizer counts.
enum Vocabulary {
    BuiltIn(&'static bpe_openai::Tokenizer),
    File(Box<tokenizers::Tokenizer>),
    Estimate,
}

/// Why there is no tokenizer, or no count.
#[derive(Debug)]
pub enum TokenizerError {
    /// The file is not there, or is no tokenizer.
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// What the reader said.
        why: String,
    },
    /// The tokenizer of a file refused a text.
    Refused(String),
    /// A text is too long to be counted in time. Its length in bytes.
    TooLong(usize),
    /// The time was over before all were counted.
    Late,
}

impl std::fmt::Display for TokenizerError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            TokenizerError::Unreadable { path, why } => write!(
                f,
                "no tokenizer can be read from {}: {why} (o200k, cl100k, estimate, or a tokenizer.json)",
                path.display()
            ),
            TokenizerError::Refused(why) => write!(f, "the tokenizer refused a text: {why}"),
            TokenizerError::TooLong(bytes) => {
                write!(f, "a text of {bytes} bytes is too long to be counted in time, the limit is {LONGEST_IN_TIME}")
            }
            TokenizerError::Late => f.write_str("there were too many texts to count them in time"),
        }
    }
}

impl std::error::Error for TokenizerError {}

/// Counts tokens and remembers what it counted, by content.
pub struct TokenCounter {
    vocabulary: Vocabulary,
    counts: HashMap<Key, u32>,
    counted: usize,
}

impl std::fmt::Debug for TokenCounter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let remembered = self.counts.len();
        f.debug_struct("TokenCounter").field("counted", &self.counted).field("remembered", &remembered).finish()
    }
}

impl TokenCounter {
    /// `o200k`, `cl100k`, `estimate` (the plugin's own), or the path of a `tokenizer.json`.
    pub fn open(name: &str) -> Result<TokenCounter, TokenizerError> {
        let vocabulary = match name {
            "o200k" => Vocabulary::BuiltIn(bpe_openai::o200k_base()),
            "cl100k" => Vocabulary::BuiltIn(bpe_openai::cl100k_base()),
            "estimate" => Vocabulary::Estimate,
            path => Vocabulary::File(Box::new(read(Path::new(path))?)),
        };
        Ok(TokenCounter { vocabulary, counts: HashMap::new(), counted: 0 })
    }

    /// The length of each text in tokens. A text that was counted before is not counted again.
    pub fn count(&mut self, texts: &[&str]) -> Result<Vec<u32>, TokenizerError> {
        self.count_within(texts, None)
    }

    /// The same for somebody who waits: gives up soon after this moment.
    pub fn count_until(&mut self, texts: &[&str], until: Instant) -> Result<Vec<u32>, TokenizerError> {
        match texts.iter().map(|text| text.len()).max() {
            Some(longest) if longest > LONGEST_IN_TIME => Err(TokenizerError::TooLong(longest)),
            _ => self.count_within(texts, Some(until)),
        }
    }

    fn count_within(&mut self, texts: &[&str], until: Option<Instant>) -> Result<Vec<u32>, TokenizerError> {
        let keys: Vec<Key> = texts.iter().map(|text| key(text)).collect();
        let unknown: HashMap<Key, &str> = keys
            .iter()
            .zip(texts)
            .filter(|(key, _)| !self.counts.contains_key(key))
            .map(|(key, text)| (*key, *text))
            .collect();
        let fresh = self.count_all(unknown.into_iter().collect(), until)?;
        self.counted += fresh.len();
        if self.counts.len() + fresh.len() > REMEMBERED {
            let wanted: HashSet<&Key> = keys.iter().collect();
            self.counts.retain(|key, _| wanted.contains(key));
        }
        self.counts.extend(fresh);
        Ok(keys.iter().map(|key| self.counts.get(key).copied().unwrap_or_default()).collect())
    }

    /// How many texts have really been counted so far.
    pub fn counted(&self) -> usize {
        self.counted
    }

    fn count_all(&self, texts: Vec<(Key, &str)>, until: Option<Instant>) -> Result<Vec<(Key, u32)>, TokenizerError> {
        let count = |(key, text): (Key, &str)| match until {
            Some(until) if Instant::now() > until => Err(TokenizerError::Late),
            _ => Ok((key, self.vocabulary.count(text)?)),
        };
        let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
        if texts.len() > 1 && bytes >= WORTH_MORE_CORES {
            texts.into_par_iter().map(count).collect()
        } else {
            texts.into_iter().map(count).collect()
        }
    }
}

impl Vocabulary {
    fn count(&self, text: &str) -> Result<u32, TokenizerError> {
        let count = match self {
            Vocabulary::BuiltIn(tokenizer) => tokenizer.count(text),
            Vocabulary::File(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, false);
                encoding.map_err(|error| TokenizerError::Refused(error.to_string()))?.len()
            }
            Vocabulary::Estimate => return Ok(compact_review::budget::estimate::estimate(text)),
        };
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }
}

fn key(text: &str) -> Key {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    (hasher.finish(), text.len())
}

fn read(path: &Path) -> Result<tokenizers::Tokenizer, TokenizerError> {
    let unreadable = |why: String| TokenizerError::Unreadable { path: path.to_path_buf(), why };
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let mut tokenizer = tokenizers::Tokenizer::from_bytes(&bytes).map_err(|error| unreadable(error.to_string()))?;
    // Files may ask for cut or padded texts: a count wants neither.
    tokenizer.with_truncation(None).map_err(|error| unreadable(error.to_string()))?;
    tokenizer.with_padding(None);
    Ok(tokenizer)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_built_in_vocabularies_count_what_is_known_of_them() {
        let count = |name: &str, text: &str| TokenCounter::open(name).unwrap().count(&[text]).unwrap()[0];
        assert_eq!(count("o200k", "hello world"), 2);
        assert_eq!(count("cl100k", "tiktoken is great!"), 6);
        assert_eq!(count("o200k", ""), 0);
    }

    #[test]
    fn one_more_message_costs_one_message() {
        let mut counter = TokenCounter::open("o200k").unwrap();
        let session: Vec<String> = (0..2_001).map(|n| format!("message {n} of the session")).collect();
        let texts: Vec<&str> = session.iter().map(String::as_str).collect();
        counter.count(&texts[..2_000]).unwrap();
        assert_eq!(counter.counted(), 2_000);
        counter.count(&texts).unwrap();
        assert_eq!(counter.counted(), 2_001);
    }

    #[test]
    fn a_large_batch_gives_the_counts_of_its_texts_in_their_order() {
        let texts: Vec<String> = (0..300).map(|n| format!("{n} ").repeat(n % 97)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(texts.iter().map(|text| text.len()).sum::<usize>() > WORTH_MORE_CORES);
        let together = TokenCounter::open("o200k").unwrap().count(&texts).unwrap();
        let mut alone = TokenCounter::open("o200k").unwrap();
        let alone: Vec<u32> = texts.iter().map(|text| alone.count(&[text]).unwrap()[0]).collect();
        assert_eq!(together, alone);
    }

    #[test]
    fn the_same_text_twice_in_a_batch_is_counted_once() {
        let mut counter = TokenCounter::open("cl100k").unwrap();
        assert_eq!(counter.count(&["hello", "hello", ""]).unwrap(), [1, 1, 0]);
        assert_eq!(counter.counted(), 2);
    }

    #[test]
    fn who_waits_gets_an_answer_in_time() {
        let mut counter = TokenCounter::open("o200k").unwrap();
        let error = counter.count_until(&["one", "two"], Instant::now()).unwrap_err();
        assert_eq!(error.to_string(), "there were too many texts to count them in time");
        let soon = Instant::now() + std::time::Duration::from_secs(60);
        let error = counter.count_until(&[&"x".repeat(LONGEST_IN_TIME + 1)], soon).unwrap_err();
        assert!(error.to_string().starts_with("a text of 4194305 bytes is too long"), "{error}");
        assert_eq!(counter.count_until(&["one", "two"], soon).unwrap(), [1, 1]);
    }

    #[test]
    fn a_file_that_is_missing_or_no_tokenizer_is_named() {
        let error = TokenCounter::open("/nowhere/tokenizer.json").err().unwrap().to_string();
        assert!(error.contains("/nowhere/tokenizer.json") && error.contains("No such file"), "{error}");
        let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
        let error = TokenCounter::open(manifest).err().unwrap().to_string();
        assert!(error.starts_with("no tokenizer can be read from") && error.contains("Cargo.toml"), "{error}");
    }

    #[test]
    fn a_tokenizer_file_counts_without_special_tokens_or_truncation() {
        let json = r#"{"version":"1.0","truncation":{"max_length":2,"strategy":"LongestFirst","stride":0,"direction":"Right"},
            "padding":null,"added_tokens":[],"normalizer":null,"pre_tokenizer":{"type":"Whitespace"},"post_processor":null,
            "decoder":null,"model":{"type":"WordLevel","vocab":{"a":0,"b":1,"?":2},"unk_token":"?"}}"#;
        let path = std::env::temp_dir().join(format!("compact-review-tokenizer-{}.json", std::process::id()));
        std::fs::write(&path, json).unwrap();
        let counts = TokenCounter::open(path.to_str().unwrap()).unwrap().count(&["a b a b", "c"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(counts.unwrap(), [4, 1]);
    }
}
