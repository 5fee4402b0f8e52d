//! `docs/security.md` says what is so: its numbers are those of the code, and the tests that it names exist.

use host_harness::notes;
use host_harness::runtime::{Limits, MAX_COMPONENT_BYTES};
use std::collections::BTreeSet;
use std::path::Path;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn page() -> String {
    std::fs::read_to_string(format!("{ROOT}/docs/security.md")).unwrap()
}

#[test]
fn the_limits_in_the_documentation_are_those_of_the_code() {
    let limits = Limits::default();
    let mib = |bytes: usize| bytes >> 20;
    let rows = [
        format!("| `deadline` | {} s |", limits.deadline.as_secs()),
        format!("| `memory` | {} MiB |", mib(limits.memory)),
        format!("| `table_elements` | {} |", limits.table_elements),
        format!("| `instances`, `memories`, `tables` | {}, {}, {} |", limits.instances, limits.memories, limits.tables),
        format!("| `transfer` | {} MiB in one call", mib(limits.transfer)),
        format!("| `log_lines`, `log_line` | {} lines of {} bytes |", limits.log_lines, limits.log_line),
        format!("| `alerts` | {} |", limits.alerts),
        format!("| `writes`, `written` | {} writes, {} MiB in all |", limits.writes, mib(limits.written)),
        format!("| `text`, `list` | {} bytes, {} entries", limits.text, limits.list),
        format!("an entry {} bytes, a daily note {}", notes::MAX_ENTRY_BYTES, notes::MAX_NOTE_BYTES),
        format!("a checkpoint {}, a state\n{},", notes::MAX_CHECKPOINT_BYTES, notes::MAX_STATE_BYTES),
        format!("a session key {} bytes", notes::MAX_SESSION_KEY_BYTES),
        format!("A component may have {MAX_COMPONENT_BYTES} bytes."),
    ];
    let page = page();
    for row in rows {
        assert!(page.contains(&row), "docs/security.md does not say: {row}");
    }
}

#[test]
fn every_test_that_the_documentation_names_exists() {
    let page = page();
    let quoted = page.split('`').skip(1).step_by(2).filter(|word| word.contains("::"));
    let named: BTreeSet<(&str, &str)> = quoted.filter_map(|word| word.split_once("::")).collect();
    assert!(named.len() > 30, "{named:?}");
    let known = tests_by_file();
    for (file, name) in named {
        assert!(known.contains(&(file.to_string(), name.to_string())), "there is no test {file}::{name}");
    }
}

/// File without its ending, and each of its functions.
fn tests_by_file() -> BTreeSet<(String, String)> {
    let mut known = BTreeSet::new();
    for folder in ["src", "host-harness/src", "tests"] {
        for entry in walkdir::WalkDir::new(Path::new(ROOT).join(folder)) {
            let entry = entry.unwrap();
            if entry.path().extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let file = entry.path().file_stem().unwrap().to_str().unwrap();
            for line in std::fs::read_to_string(entry.path()).unwrap().lines() {
                let name = line.trim_start().strip_prefix("fn ").and_then(|rest| rest.split('(').next());
                known.extend(name.map(|name| (file.to_string(), name.to_string())));
            }
        }
    }
    known
}
