//! Real tokenizers: the built-in vocabularies and any `tokenizer.json`, counted once for each text.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// How many counts are remembered: a long session, many times over. Beyond it the memory begins anew.
const REMEMBERED: usize = 200_000;

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
        }
    }
}

impl std::error::Error for TokenizerError {}

/// Counts tokens and remembers what it counted, by content.
pub struct TokenCounter {
    vocabulary: Vocabulary,
    counts: HashMap<(u64, usize), u32>,
    counted: usize,
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
        texts.iter().map(|text| self.count_one(text)).collect()
    }

    /// How many texts have really been counted so far.
    pub fn counted(&self) -> usize {
        self.counted
    }

    fn count_one(&mut self, text: &str) -> Result<u32, TokenizerError> {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let key = (hasher.finish(), text.len());
        if let Some(&count) = self.counts.get(&key) {
            return Ok(count);
        }
        let count = match &self.vocabulary {
            Vocabulary::BuiltIn(tokenizer) => u32::try_from(tokenizer.count(text)).unwrap_or(u32::MAX),
            Vocabulary::File(tokenizer) => {
                let encoding = tokenizer.encode_fast(text, false);
                let encoding = encoding.map_err(|error| TokenizerError::Refused(error.to_string()))?;
                u32::try_from(encoding.len()).unwrap_or(u32::MAX)
            }
            Vocabulary::Estimate => compact_review::budget::estimate::estimate(text),
        };
        self.counted += 1;
        if self.counts.len() >= REMEMBERED {
            self.counts.clear();
        }
        self.counts.insert(key, count);
        Ok(count)
    }
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
