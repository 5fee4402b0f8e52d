//! Lines of a transcript, one after the other, in bounded memory.
//!
//! A line that is too long to be held is still looked at while it passes by, so that it keeps its place in the tree.

use super::peek::{Outline, Peek};
use super::{Control, TranscriptError};
use memchr::memchr;
use serde::Deserialize;
use std::io::{BufReader, Read};

/// Longer lines are not held. Codex was seen to write lines of 7 MB (a compaction with its images), and the plugin
/// takes 32 MiB at once.
pub const MAX_LINE_BYTES: usize = 16 * 1024 * 1024;
/// How much is read at once. Larger reads were not faster.
const CHUNK: usize = 256 * 1024;

/// One line, or one row of a store.
#[derive(Debug)]
pub(super) enum RawLine<'a> {
    /// All of it, without its newline.
    Whole { number: u64, bytes: &'a [u8] },
    /// Too long to be held; what could be told of it in passing.
    Oversize { number: u64, length: u64, peek: Result<Box<Peek<'static>>, String> },
}

/// Opens the same bytes again, from the start.
pub(super) type Reopen = Box<dyn Fn() -> std::io::Result<Box<dyn Read>>>;

/// The lines of a file, or of anything that can be read twice.
pub(super) struct Lines {
    reopen: Reopen,
    input: Box<dyn Read>,
    control: Control,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    ended: bool,
    /// The last line had no newline: somebody may be writing it.
    pub unfinished: bool,
}

impl Lines {
    pub(super) fn open(reopen: Reopen, control: Control) -> std::io::Result<Lines> {
        let input = reopen()?;
        let buffer = vec![0; CHUNK];
        Ok(Lines { reopen, input, control, buffer, start: 0, end: 0, number: 0, ended: false, unfinished: false })
    }

    pub(super) fn rewind(&mut self) -> std::io::Result<()> {
        self.input = (self.reopen)()?;
        (self.start, self.end, self.number, self.ended, self.unfinished) = (0, 0, 0, false, false);
        Ok(())
    }

    /// The next line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<RawLine<'_>>, TranscriptError> {
        let mut searched = 0;
        loop {
            let held = &self.buffer[self.start..self.end];
            if let Some(at) = memchr(b'\n', &held[searched..]) {
                let (from, to) = (self.start, self.start + searched + at);
                self.start = to + 1;
                self.number += 1;
                return Ok(Some(RawLine::Whole { number: self.number, bytes: &self.buffer[from..to] }));
            }
            searched = held.len();
            if self.ended {
                if searched == 0 {
                    return Ok(None);
                }
                let (from, to) = (self.start, self.end);
                self.start = self.end;
                self.number += 1;
                self.unfinished = true;
                return Ok(Some(RawLine::Whole { number: self.number, bytes: &self.buffer[from..to] }));
            }
            if searched >= MAX_LINE_BYTES {
                return self.pass_by().map(Some);
            }
            self.fill()?;
        }
    }

    /// Reads on, behind what is held.
    fn fill(&mut self) -> Result<(), TranscriptError> {
        self.control.check()?;
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize((self.buffer.len() * 2).min(MAX_LINE_BYTES + CHUNK), 0);
        } else if self.buffer.len() > CHUNK && self.end < CHUNK / 2 {
            // A long line is behind us: its room is given back.
            self.buffer.truncate(CHUNK);
            self.buffer.shrink_to_fit();
        }
        let count = read_some(&mut self.input, &mut self.buffer[self.end..])?;
        self.end += count;
        self.ended = count == 0;
        self.control.read(count as u64);
        Ok(())
    }

    /// Looks at a line that is too long while it streams by.
    fn pass_by(&mut self) -> Result<RawLine<'static>, TranscriptError> {
        self.number += 1;
        let mut passing = Passing {
            held: &self.buffer[self.start..self.end],
            input: &mut self.input,
            control: &self.control,
            chunk: vec![0; CHUNK],
            from: 0,
            to: 0,
            length: 0,
            over: false,
            failed: None,
        };
        let peek = {
            let mut json = serde_json::Deserializer::from_reader(BufReader::with_capacity(CHUNK, &mut passing));
            Outline::deserialize(&mut json)
                .map(|outline| Box::new(Peek::from(outline)))
                .map_err(|error| format!("not JSON: {error}"))
        };
        // Whatever the reader did not want.
        let mut rest = [0; 8192];
        while passing.failed.is_none() && passing.read(&mut rest).is_ok_and(|count| count > 0) {}
        if let Some(error) = passing.failed.take() {
            return Err(error);
        }
        let (length, over) = (passing.length, passing.over);
        let left = passing.chunk[passing.from..passing.to].to_vec();
        self.buffer = vec![0; CHUNK.max(left.len() * 2)];
        self.buffer[..left.len()].copy_from_slice(&left);
        (self.start, self.end) = (0, left.len());
        self.ended = !over;
        self.unfinished |= !over;
        Ok(RawLine::Oversize { number: self.number, length, peek })
    }
}

/// The bytes of one line up to its newline, none of them kept.
struct Passing<'a> {
    held: &'a [u8],
    input: &'a mut Box<dyn Read>,
    control: &'a Control,
    chunk: Vec<u8>,
    from: usize,
    to: usize,
    length: u64,
    over: bool,
    failed: Option<TranscriptError>,
}

impl Read for Passing<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        if !self.held.is_empty() {
            let count = self.held.read(out)?;
            self.length += count as u64;
            return Ok(count);
        }
        if self.over {
            return Ok(0);
        }
        if self.from == self.to {
            if let Err(error) = self.control.check() {
                self.failed = Some(error);
                return Ok(0);
            }
            let count = self.input.read(&mut self.chunk)?;
            self.control.read(count as u64);
            (self.from, self.to) = (0, count);
            if count == 0 {
                return Ok(0);
            }
        }
        let there = &self.chunk[self.from..self.to];
        let line = memchr(b'\n', there).unwrap_or(there.len());
        if line == 0 {
            self.from += 1;
            self.over = true;
            return Ok(0);
        }
        let count = line.min(out.len());
        out[..count].copy_from_slice(&there[..count]);
        self.from += count;
        self.length += count as u64;
        Ok(count)
    }
}

fn read_some(input: &mut impl Read, into: &mut [u8]) -> std::io::Result<usize> {
    loop {
        match input.read(into) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use std::io::Cursor;

    fn lines(bytes: Vec<u8>) -> Lines {
        let bytes: std::sync::Arc<[u8]> = bytes.into();
        Lines::open(Box::new(move || Ok(Box::new(Cursor::new(bytes.clone())))), Control::default()).unwrap()
    }

    fn all(lines: &mut Lines) -> Vec<(u64, usize)> {
        let mut found = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            found.push(match line {
                RawLine::Whole { number, bytes } => (number, bytes.len()),
                RawLine::Oversize { number, length, .. } => (number, usize::try_from(length).unwrap()),
            });
        }
        found
    }

    #[test]
    fn lines_of_every_length_come_out_whole_and_again_after_a_rewind() {
        let lengths = [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 7];
        let text: Vec<String> = lengths.iter().map(|length| "x".repeat(*length)).collect();
        let mut reader = lines(text.join("\n").into_bytes());
        let expected: Vec<(u64, usize)> = (1..).zip(lengths).collect();
        assert_eq!(all(&mut reader), expected);
        assert!(reader.unfinished, "no newline at the end");
        reader.rewind().unwrap();
        assert_eq!(all(&mut reader), expected);
        let mut ended = lines(b"a\n".to_vec());
        assert_eq!(all(&mut ended), [(1, 1)]);
        assert!(!ended.unfinished);
    }

    #[test]
    fn a_line_that_is_too_long_is_passed_by_and_keeps_its_place() {
        let long = format!(
            r#"{{"type":"message","id":"a","parentId":"p","message":{{"role":"user","content":"{}"}}}}"#,
            "y".repeat(MAX_LINE_BYTES + 5 * CHUNK)
        );
        let mut reader = lines(format!("first\n{long}\nlast\n").into_bytes());
        assert!(matches!(reader.next().unwrap(), Some(RawLine::Whole { bytes: b"first", .. })));
        let Some(RawLine::Oversize { number: 2, length, peek }) = reader.next().unwrap() else { panic!("held") };
        assert_eq!(length, long.len() as u64);
        assert_eq!(peek.unwrap().id.as_deref(), Some("a"));
        assert!(matches!(reader.next().unwrap(), Some(RawLine::Whole { number: 3, bytes: b"last" })));
        assert!(reader.next().unwrap().is_none() && !reader.unfinished);
        assert!(reader.buffer.len() <= 2 * CHUNK, "the room was given back");
    }

    #[test]
    fn a_long_line_without_an_end_is_an_unfinished_one() {
        let mut reader = lines(vec![b'z'; MAX_LINE_BYTES + 10 * CHUNK]);
        let Some(RawLine::Oversize { peek, .. }) = reader.next().unwrap() else { panic!("held") };
        assert!(peek.is_err());
        assert!(reader.next().unwrap().is_none() && reader.unfinished);
    }
}
