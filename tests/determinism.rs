//! The same event gives the same bytes, in the component and natively.

use crate::support::{KEY, LOSSY, after, before, component, services};
use host_harness::runtime::{NativePlugin, Plugin};

fn everything(plugin: &dyn Plugin) -> (String, Vec<u8>, String) {
    let services = services();
    let outcome = plugin.before_compaction(&services, &before()).result.unwrap();
    let ledger = services.notes.lock().unwrap().load_state(KEY, "signals").unwrap().unwrap();
    let report = plugin.after_compaction(&services, &after(Some(LOSSY))).result.unwrap();
    (serde_json::to_string(&outcome).unwrap(), ledger, serde_json::to_string(&report).unwrap())
}

#[test]
fn native_and_component_give_the_same_bytes() {
    assert_eq!(everything(&NativePlugin), everything(&*component()));
}

#[test]
fn a_second_run_gives_the_same_bytes() {
    assert_eq!(everything(&*component()), everything(&*component()));
}

#[test]
fn settings_reach_the_plugin_and_wrong_ones_are_named() {
    let mut services = services();
    services.settings = Some(r#"{"recovery":{"enabled":false},"notes":{"enabled":false}}"#.to_string());
    let plugin = component();
    plugin.before_compaction(&services, &before()).result.unwrap();
    let report = plugin.after_compaction(&services, &after(Some(LOSSY))).result.unwrap();
    assert!(report.writes.is_empty());
    assert_eq!(plugin.before_prompt(&services, &before().session, before().now).result, Ok(None));

    let error = plugin.configure(&services, r#"{"audit":{"maxFindings":0}}"#).result.unwrap_err();
    assert_eq!(error.to_string(), "invalid settings: audit.maxFindings must be from 1 to 1000: found 0");
}
