//! What holds for every transcript: cut anywhere, told in pieces, with any words in it, made of any bytes.

use crate::recorded::{self, lines};
use host_harness::transcript::{Control, Entry, Follower, Format, News, Transcripts};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

const FORMATS: [Format; 5] = [Format::Openclaw, Format::Pi, Format::ClaudeCode, Format::Codex, Format::Plain];

/// The recorded sessions without the lines that were left: nothing in them hangs beside the branch.
fn straight(format: Format) -> Vec<Value> {
    let mut session = match format {
        Format::Pi => recorded::pi("s1"),
        Format::ClaudeCode => recorded::claude("s1"),
        Format::Codex => recorded::codex("s1"),
        Format::Plain => recorded::plain(),
        Format::Openclaw | Format::OpenclawStore => recorded::openclaw("s1"),
    };
    session.retain(|line| line["id"] != "x");
    session
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("session.jsonl")
    }

    /// What a file with these bytes tells; nothing where it is no transcript yet.
    fn told(&self, format: Format, bytes: &[u8]) -> Vec<Entry> {
        std::fs::write(self.path(), bytes).unwrap();
        read(&self.path(), Some(format))
    }
}

fn read(path: &Path, format: Option<Format>) -> Vec<Entry> {
    let mut entries = Vec::new();
    let Ok(transcripts) = Transcripts::open(path, format, Control::default()) else { return entries };
    for index in 0..transcripts.len() {
        let Ok(mut recording) = transcripts.recording(index) else { continue };
        for branch in 0..recording.branches() {
            drop(recording.play(branch, |entry| {
                entries.push(entry);
                true
            }));
        }
    }
    entries
}

#[test]
fn a_file_that_is_cut_anywhere_loses_its_last_line_at_most() {
    let folder = Folder::new();
    for format in FORMATS {
        let bytes = lines(&straight(format)).into_bytes();
        let mut whole_lines = Vec::new();
        for cut in 0..=bytes.len() {
            let ends = |at: usize| bytes.get(at).is_none_or(|byte| *byte == b'\n');
            if cut == 0 || ends(cut - 1) {
                whole_lines = folder.told(format, &bytes[..cut]);
                continue;
            }
            // Each file has some thousand places: every seventh of them, and those at the end of a line.
            if cut % 7 != 0 && !ends(cut) && !ends(cut + 1) {
                continue;
            }
            let told = folder.told(format, &bytes[..cut]);
            // The last line may be whole but for its end.
            let more = folder.told(format, &[&bytes[..cut], b"\n"].concat());
            assert!(told == whole_lines || told == more, "{format} cut after {cut} bytes: {told:#?}");
        }
        assert!(whole_lines.len() >= 6, "{format}: {whole_lines:#?}");
    }
}

#[test]
fn a_session_that_is_followed_while_it_grows_tells_everything_once() {
    for format in [Format::Openclaw, Format::Codex, Format::Plain] {
        let bytes = lines(&straight(format)).into_bytes();
        for step in [7, 60, 333] {
            let folder = Folder::new();
            let whole = folder.told(format, &bytes);
            std::fs::write(folder.path(), &bytes[..1]).unwrap();
            let mut file = std::fs::OpenOptions::new().append(true).open(folder.path()).unwrap();
            let mut follower = Follower::new(&folder.path(), Some(format), None);
            let mut told = Vec::new();
            for piece in bytes[1..].chunks(step) {
                file.write_all(piece).unwrap();
                let mut seen = |news: News| match news {
                    News::Start(_) => told.clear(),
                    News::Past(entry) | News::Now(entry) => told.push(entry),
                };
                follower.poll(&mut seen).unwrap();
            }
            assert_eq!(told, whole, "{format} in steps of {step}");
        }
    }
}

#[test]
fn a_session_that_is_followed_from_a_line_without_its_end_tells_it_once() {
    for format in [Format::Openclaw, Format::Codex, Format::Plain] {
        let text = lines(&straight(format));
        let folder = Folder::new();
        let mut whole = folder.told(format, text.as_bytes());
        for entry in &mut whole {
            if let Entry::Message(said) = entry {
                said.message.tool = None;
            }
        }
        for (end, _) in text.match_indices('\n') {
            std::fs::write(folder.path(), &text[..end]).unwrap();
            let mut follower = Follower::new(&folder.path(), Some(format), None);
            let mut told = Vec::new();
            for rest in ["", &text[end..]] {
                let mut file = std::fs::OpenOptions::new().append(true).open(folder.path()).unwrap();
                file.write_all(rest.as_bytes()).unwrap();
                let mut seen = |news: News| match news {
                    News::Start(_) => told.clear(),
                    News::Past(entry) | News::Now(entry) => told.push(entry),
                };
                follower.poll(&mut seen).unwrap();
            }
            // A result names its call only; the name of a tool that was called before is not known from here on.
            for entry in &mut told {
                if let Entry::Message(said) = entry {
                    said.message.tool = None;
                }
            }
            assert_eq!(told, whole, "{format} from byte {end}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_words_come_out_as_they_were_said(said in prop::collection::vec(any::<String>(), 1..6)) {
        let folder = Folder::new();
        let plain: Vec<Value> = said.iter().map(|text| json!({"role": "user", "content": text})).collect();
        let openclaw: Vec<Value> = (0..).zip(&said)
            .map(|(at, text)| json!({"type": "message", "id": format!("m{at}"), "message": {"role": "user", "content": text}}))
            .collect();
        let codex: Vec<Value> = said.iter().map(|text| json!({"type": "response_item", "payload": {
            "type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}})).collect();
        for (format, session) in [(Format::Plain, plain), (Format::Openclaw, openclaw), (Format::Codex, codex)] {
            let told = folder.told(format, lines(&session).as_bytes());
            let texts: Vec<&str> = told.iter().filter_map(|entry| match entry {
                Entry::Message(said) => Some(said.message.text.as_str()),
                _ => None,
            }).collect();
            prop_assert_eq!(texts, said.iter().map(String::as_str).collect::<Vec<_>>(), "{}", format);
        }
    }

    #[test]
    fn any_bytes_are_read_as_any_format_without_a_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200), lines in prop::collection::vec(0usize..40, 0..6),
    ) {
        let folder = Folder::new();
        for format in FORMATS {
            // Lines of a session in any order, twice or not at all, with garbage behind them.
            let session = straight(format);
            let picked: Vec<Value> = lines.iter().map(|at| session[at % session.len()].clone()).collect();
            let mixed = [recorded::lines(&picked).as_bytes(), &bytes].concat();
            let first = folder.told(format, &mixed);
            prop_assert_eq!(first, folder.told(format, &mixed));
            read(&folder.path(), None);
        }
        std::fs::write(folder.path(), [b"SQLite format 3\0".as_slice(), &bytes].concat()).unwrap();
        prop_assert_eq!(read(&folder.path(), None), vec![]);
    }
}
