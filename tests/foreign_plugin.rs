//! A plugin that a person names on the command line, and what other users of the machine could slip in.

use crate::guest;
use crate::support::{LOSSY, after, before};
use host_harness::runtime::{COMPONENT, sha256};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A folder with a compaction.
struct Place {
    folder: tempfile::TempDir,
    events: PathBuf,
}

impl Place {
    fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let events = folder.path().join("events.json");
        let text = serde_json::json!({"before": before(), "after": after(Some(LOSSY))}).to_string();
        std::fs::write(&events, text).unwrap();
        Place { folder, events }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn with(&self, name: &str, bytes: &[u8]) -> String {
        std::fs::write(self.path(name), bytes).unwrap();
        self.path(name).to_str().unwrap().to_string()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_compact-review"));
        command.args(arguments).current_dir(self.folder.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn audit(&self, options: &[&str]) -> Output {
        self.run(&[&["audit", "--json", self.events.to_str().unwrap()], options].concat())
    }
}

fn released() -> Vec<u8> {
    guest::from_text(&guest::released(), include_str!("released/plugin-0.1.0.wat"))
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{}", stderr(output));
    assert!(output.stdout.is_empty());
    stderr(output)
}

#[test]
fn a_plugin_is_run_by_its_path_and_its_hash_is_told_beside_the_output() {
    let place = Place::new();
    let plugin = place.with("plugin.wasm", &released());
    let output = place.audit(&["--plugin", &plugin]);
    assert!(output.status.success(), "{}", stderr(&output));
    let report: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((report["score"].as_f64(), report["verdict"].as_str()), (Some(50.0), Some("lossy")));
    assert_eq!(stderr(&output), format!("the plugin {plugin}: SHA-256 {}\n", sha256(&released())));
    assert!(stderr(&place.audit(&[])).is_empty(), "the built-in plugin needs no hash");
}

#[test]
fn our_component_in_a_file_gives_what_the_built_in_one_gives() {
    let place = Place::new();
    let plugin = place.path("ours.wasm");
    let plugin = plugin.to_str().unwrap();
    assert!(place.run(&["component", "--output", plugin]).status.success());
    assert_eq!(stdout(&place.audit(&["--plugin", plugin])), stdout(&place.audit(&[])));
}

#[test]
fn a_required_hash_lets_one_plugin_in_and_refuses_others_with_both_hashes() {
    let place = Place::new();
    let plugin = place.with("plugin.wasm", &released());
    let (right, ours) = (sha256(&released()), sha256(COMPONENT));
    assert!(place.audit(&["--plugin", &plugin, "--require-hash", &right.to_uppercase()]).status.success());
    assert!(place.audit(&["--require-hash", &ours]).status.success());

    let error = refused(&place.audit(&["--plugin", &plugin, "--require-hash", &ours]));
    let told = format!("was not loaded: its SHA-256 is {right}, --require-hash wants {ours}");
    assert!(error.contains(&told), "{error}");
    let error = refused(&place.audit(&["--require-hash", &right]));
    assert!(error.contains(&format!("the built-in plugin was not loaded: its SHA-256 is {ours}")), "{error}");
    let error = refused(&place.audit(&["--require-hash", "abc"]));
    assert!(error.contains("a SHA-256 has 64 hexadecimal digits"), "{error}");
}

#[test]
fn a_plugin_with_other_imports_is_refused_by_their_names() {
    let place = Place::new();
    let wit = guest::released().replace(
        "world plugin {",
        "interface network { connect: func(host: string); }\nworld plugin {\n  import network;",
    );
    let greedy = guest::with_hook_for(&wit, "(func $hook (result i32) unreachable)");
    let plugin = place.with("greedy.wasm", &greedy);
    let error = refused(&place.audit(&["--plugin", &plugin]));
    assert!(error.contains("more than the contract gives it: compact-review:plugin/network@0.1.0"), "{error}");
}

#[test]
fn what_is_no_plugin_is_refused_with_its_path_and_why() {
    let place = Place::new();
    let folder = place.folder.path().to_str().unwrap();
    let cases = [
        (folder.to_string(), "this is no plain file"),
        (place.path("nowhere.wasm").to_str().unwrap().to_string(), "No such file"),
        (place.with("text.wasm", b"text"), "not a component that can run here"),
        (place.with("large.wasm", &vec![0; 9 << 20]), "a component may have 8388608 bytes, and this one has more"),
    ];
    for (path, why) in cases {
        let error = refused(&place.audit(&["--plugin", &path]));
        assert!(error.contains(&path) && error.contains(why), "{error}");
    }
}

#[test]
fn commands_that_run_no_plugin_take_no_plugin() {
    let place = Place::new();
    for command in [&["probe", "facts.jsonl"][..], &["component"], &["recover", "--workspace", "."]] {
        let error = refused(&place.run(&[command, &["--plugin", "plugin.wasm"]].concat()));
        assert!(error.contains("unexpected argument '--plugin'"), "{error}");
    }
}

#[test]
fn settings_are_checked_by_the_plugin_that_gets_them() {
    let place = Place::new();
    let settings = place.with("settings.json", br#"{"another":{"plugin":true}}"#);
    let plugin = place.with("plugin.wasm", &released());
    assert!(place.audit(&["--plugin", &plugin, "--settings", &settings]).status.success());
    let error = refused(&place.audit(&["--settings", &settings]));
    assert!(error.contains("settings.json") && error.contains("another"), "{error}");
}

#[test]
fn what_one_plugin_found_is_never_shown_as_the_finding_of_another() {
    let place = Place::new();
    let plugin = place.with("plugin.wasm", &released());
    let transcript = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/demo-session.jsonl");
    std::fs::create_dir(place.path("in")).unwrap();
    std::fs::copy(transcript, place.path("in/session.jsonl")).unwrap();
    let from_cache = |options: &[&str]| {
        stdout(&place.run(&[&["scan", "in", "--cache", "cache"], options].concat()))
            .contains("1 of them from the cache")
    };
    assert!(!from_cache(&[]) && from_cache(&[]));
    assert!(!from_cache(&["--plugin", &plugin]) && from_cache(&["--plugin", &plugin]));
}

#[cfg(unix)]
mod other_users {
    use super::*;
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    fn set_mode(path: &Path, mode: u32) {
        std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// The names and bytes below a folder.
    fn files(folder: &Path) -> usize {
        walkdir::WalkDir::new(folder).into_iter().filter(|entry| entry.as_ref().unwrap().file_type().is_file()).count()
    }

    /// With a cache folder of its own, and a plugin that is compiled in no time.
    fn run_with_own_cache(place: &Place, arguments: &[&str]) -> Output {
        let plugin = place.with("plugin.wasm", &released());
        let arguments = [arguments, &["--plugin", &plugin]].concat();
        place.command(&arguments).env("XDG_CACHE_HOME", place.path("cache")).output().unwrap()
    }

    #[test]
    fn caches_are_closed_to_others() {
        let place = Place::new();
        std::fs::create_dir(place.path("in")).unwrap();
        std::fs::write(place.path("in/a.jsonl"), "{\"role\":\"user\",\"content\":\"hello\"}\n").unwrap();
        assert!(run_with_own_cache(&place, &["scan", "in"]).status.success());
        for folder in ["cache/compact-review", "cache/compact-review/wasmtime", "cache/compact-review/scan"] {
            assert_eq!(mode(&place.path(folder)), 0o700, "{folder}");
        }
        assert!(files(&place.path("cache/compact-review/wasmtime")) > 0, "compiled code is kept");
        assert!(files(&place.path("cache/compact-review/scan")) > 0, "what was found is kept");
    }

    #[test]
    fn a_cache_that_others_could_write_to_is_neither_used_nor_filled_and_the_doctor_says_so() {
        let place = Place::new();
        let open = place.path("cache/compact-review/wasmtime");
        std::fs::create_dir_all(&open).unwrap();
        set_mode(&open, 0o777);
        let events = place.events.to_str().unwrap().to_string();
        assert!(run_with_own_cache(&place, &["audit", &events]).status.success(), "it works without");
        assert_eq!(files(&open), 0);
        let output = run_with_own_cache(&place, &["doctor"]);
        assert_eq!(output.status.code(), Some(1));
        assert!(stdout(&output).contains("is not used: every user may write to it"), "{}", stdout(&output));
    }

    #[test]
    fn a_scan_refuses_a_cache_folder_that_others_could_write_to() {
        let place = Place::new();
        std::fs::create_dir(place.path("open")).unwrap();
        set_mode(&place.path("open"), 0o777);
        let error = refused(&place.run(&["scan", ".", "--cache", "open"]));
        assert!(error.contains("/open is not used: every user may write to it"), "{error}");
    }

    #[test]
    fn pages_and_exports_are_the_users_alone() {
        let place = Place::new();
        std::fs::create_dir(place.path("in")).unwrap();
        assert!(place.run(&["scan", "in", "--html", "page.html"]).status.success());
        assert_eq!(mode(&place.path("page.html")), 0o600);
        assert!(place.audit(&["--workspace", "."]).status.success());
        assert_eq!(mode(&place.path("memory")), 0o700);
        assert_eq!(mode(&place.path("memory/checkpoint.md")), 0o600);
        let output = place.run(&["checkpoints", "export", "--workspace", ".", "--output", "all.json"]);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(mode(&place.path("all.json")), 0o600);
    }
}
