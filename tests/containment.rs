//! Plugins that misbehave: each is contained, reported by name, and the host goes on.
//!
//! They are made from the contract itself: a module with all exports in place, and one body exchanged.

use crate::support::{after, before, component, config, messages, services, session};
use compact_review::event::Reason;
use host_harness::gateway::{Gateway, Recorded};
use host_harness::runtime::{CallError, ComponentPlugin, Limits, LoadError, Plugin};
use std::sync::Arc;
use std::time::Duration;
use wit_component::{ComponentEncoder, StringEncoding, dummy_module, embed_component_metadata};
use wit_parser::{ManglingAndAbi, Resolve};

const WIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");

/// A plugin whose hooks do nothing but `body`, with memory that a host can write arguments to.
fn hostile(body: &str) -> ComponentPlugin {
    let limits = Limits { deadline: Duration::from_millis(300), memory: 32 << 20, ..Default::default() };
    ComponentPlugin::load(&hostile_component(body, "plugin", WIT), limits).unwrap()
}

fn hostile_component(body: &str, world: &str, wit: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(wit).unwrap();
    let world = resolve.select_world(&[package], Some(world)).unwrap();
    let module = dummy_module(&resolve, world, ManglingAndAbi::Legacy(wit_parser::LiftLowerAbi::Sync));
    let text = wasmprinter::print_bytes(&module).unwrap();
    let mut module = wat::parse_str(with_body(&text, body)).unwrap();
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

/// Exchanges the bodies: `cabi_realloc` hands out memory, all else does what the test wants.
fn with_body(text: &str, body: &str) -> String {
    let realloc = export_index(text, "cabi_realloc");
    let mut out = String::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(rest) = line.trim_start().strip_prefix("(func (;") {
            current = rest.split(';').next().map(str::to_string);
        }
        if line.trim() == "unreachable" {
            let is_realloc = current.as_deref() == Some(realloc.as_str());
            out += if is_realloc { REALLOC } else { body };
        } else if line.trim_start().starts_with("(memory ") {
            out += "(memory (;0;) 400)\n(global $next (mut i32) (i32.const 1024))\n(table $t 1 funcref)\n";
        } else {
            out += line;
        }
        out.push('\n');
    }
    // Last, so that the numbers of the others stay.
    format!("{}\n(func $deep call $deep)\n)", out.trim_end().trim_end_matches(')'))
}

/// Never frees; 400 pages are enough for one call.
const REALLOC: &str = "global.get $next\nglobal.get $next\nlocal.get 3\ni32.add\ni32.const 15\ni32.add\ni32.const -16\n\
i32.and\nglobal.set $next";

fn export_index(text: &str, name: &str) -> String {
    let line = text.lines().find(|line| line.contains(&format!("(export \"{name}\""))).unwrap();
    line.split("(func ").nth(1).unwrap().split(')').next().unwrap().to_string()
}

fn error_of(body: &str) -> CallError {
    let plugin = hostile(body);
    let error = plugin.before_compaction(&services(), &before()).result.unwrap_err();
    // The same loaded plugin answers again, with a fresh instance: nothing was left behind.
    let again = plugin.before_compaction(&services(), &before()).result.unwrap_err();
    assert_eq!(error.name(), again.name());
    error
}

#[test]
fn a_trap_is_a_trap() {
    let error = error_of("unreachable");
    assert_eq!((error.name(), error.to_string().as_str()), ("trap", "the plugin trapped: it aborted"));
}

#[test]
fn an_endless_loop_is_stopped_at_the_deadline() {
    let error = error_of("(loop br 0)\nunreachable");
    assert_eq!(error, CallError::Deadline(Duration::from_millis(300)));
}

#[test]
fn deep_recursion_is_a_trap_and_no_crash() {
    let error = error_of("call $deep\nunreachable");
    assert_eq!(error.name(), "trap");
    assert!(error.to_string().contains("stack"), "{error}");
}

#[test]
fn a_memory_bomb_hits_the_memory_limit() {
    let error = error_of("(loop i32.const 100\nmemory.grow\ndrop\nbr 0)\nunreachable");
    assert_eq!(error.name(), "limit");
    assert!(error.to_string().contains("the limit is 32 MiB"), "{error}");
}

#[test]
fn a_table_bomb_hits_the_table_limit() {
    let error = error_of("(loop ref.null func\ni32.const 5000\ntable.grow $t\ndrop\nbr 0)\nunreachable");
    assert!(error.to_string().contains("table: wanted"), "{error}");
}

#[test]
fn a_pointer_to_nowhere_is_garbage() {
    let error = error_of("i32.const -16");
    assert_eq!(error.name(), "garbage", "{error}");
}

#[test]
fn a_result_that_is_no_result_is_garbage() {
    // Memory at 16 is zero but for the discriminant of the result: 7 is neither ok nor error.
    let error = error_of("i32.const 16\ni32.const 7\ni32.store8\ni32.const 16");
    assert_eq!(error.name(), "garbage", "{error}");
}

#[test]
fn a_gateway_goes_on_and_says_what_happened() {
    let gateway = Gateway::new(Arc::new(hostile("unreachable")), services(), config());
    let mut session = session();
    let done = gateway.compact(&mut session, Reason::Manual, crate::support::NOW, &Recorded("A summary.".to_string()));
    assert_eq!((done.dropped, done.retained), (6, 2));
    assert_eq!(session.messages.len(), 3, "the compaction took place");
    assert_eq!(
        done.failures,
        ["before_compaction: the plugin trapped: it aborted", "after_compaction: the plugin trapped: it aborted"]
    );
}

#[test]
fn a_component_with_other_imports_is_refused_by_their_names() {
    let folder = tempfile::tempdir().unwrap();
    let wit = std::fs::read_to_string(format!("{WIT}/released/plugin-0.1.0.wit")).unwrap();
    let greedy = wit.replace(
        "world plugin {",
        "interface network { connect: func(host: string); }\nworld plugin {\n  import network;",
    );
    std::fs::write(folder.path().join("plugin.wit"), greedy).unwrap();
    let bytes = hostile_component("unreachable", "plugin", folder.path().to_str().unwrap());
    // The dummy calls no import, so the component has none; one that does is what the test of the message is about.
    match ComponentPlugin::load(&bytes, Limits::default()) {
        Err(LoadError::Imports(names)) => assert_eq!(names, ["compact-review:plugin/network@0.1.0"]),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("a plugin that imports a network was loaded"),
    }
}

#[test]
fn what_is_no_component_is_refused() {
    let Err(error) = ComponentPlugin::load(b"not wasm", Limits::default()) else { panic!("it was loaded") };
    assert!(matches!(error, LoadError::Invalid(_)), "{error}");
}

#[test]
fn our_own_plugin_stays_within_its_limits_on_odd_events() {
    let plugin = component();
    let services = services();
    let mut event = before();
    event.messages = messages().into_iter().cycle().take(3000).collect();
    event.messages[7].text = "x".repeat(4 << 20);
    event.messages[8].text = "\u{0}\u{202e}🦀".repeat(10_000);
    assert!(plugin.before_compaction(&services, &event).result.is_ok());
    assert!(plugin.after_compaction(&services, &after(Some(&"word ".repeat(100_000)))).result.is_ok());
}
