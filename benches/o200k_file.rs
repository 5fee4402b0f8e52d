//! o200k as a file for `tokenizers`, which has no vocabulary of its own: made from the ranks that bpe-openai brings.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashMap;

/// How o200k cuts a text before it merges bytes.
const PATTERN: &str = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+";

pub fn tokenizer_json() -> Vec<u8> {
    let bpe = &bpe_openai::o200k_base().bpe;
    let tokens: Vec<&[u8]> = (0..bpe.num_tokens() as u32).map(|id| bpe.token_bytes(id)).collect();
    let ranks: HashMap<&[u8], u32> = (0..).zip(&tokens).map(|(id, token)| (*token, id)).collect();
    let letters = letters();
    let spell = |bytes: &[u8]| bytes.iter().map(|byte| letters[usize::from(*byte)]).collect::<String>();
    let vocab: serde_json::Map<String, serde_json::Value> =
        (0u32..).zip(&tokens).map(|(id, token)| (spell(token), id.into())).collect();
    let merges: Vec<[String; 2]> = (0..)
        .zip(&tokens)
        .filter_map(|(id, token)| last_merge(token, id, &ranks))
        .map(|(left, right)| [spell(left), spell(right)])
        .collect();
    let json = serde_json::json!({
        "version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
            {"type": "Split", "pattern": {"Regex": PATTERN}, "behavior": "Isolated", "invert": false},
            {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false},
        ]},
        "post_processor": null, "decoder": null,
        "model": {"type": "BPE", "dropout": null, "unk_token": null, "continuing_subword_prefix": null,
            "end_of_word_suffix": null, "fuse_unk": false, "byte_fallback": false, "ignore_merges": true,
            "vocab": vocab, "merges": merges},
    });
    serde_json::to_vec(&json).expect("JSON")
}

/// The two tokens that a token is merged from.
fn last_merge<'a>(token: &'a [u8], rank: u32, ranks: &HashMap<&[u8], u32>) -> Option<(&'a [u8], &'a [u8])> {
    // Ends of the parts; the pair with the lowest rank is merged until no pair is below the token itself.
    let mut ends: Vec<usize> = (0..=token.len()).collect();
    while ends.len() > 3 {
        let pair = |at: &usize| ranks.get(&token[ends[*at]..ends[*at + 2]]).copied().unwrap_or(u32::MAX);
        let best = (0..ends.len() - 2).min_by_key(pair)?;
        if pair(&best) >= rank {
            return None;
        }
        ends.remove(best + 1);
    }
    (ends.len() == 3).then(|| token.split_at(ends[1]))
}

/// The letters that stand for bytes in such files: printable ones for themselves, the others from U+0100 on.
fn letters() -> Vec<char> {
    let mut next = 0x100;
    (0u8..=255)
        .map(|byte| match byte {
            b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff => char::from(byte),
            _ => {
                next += 1;
                char::from_u32(next - 1).unwrap_or('?')
            }
        })
        .collect()
}
