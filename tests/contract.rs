//! The contract: what the component imports and exports, and how the WIT may change.

use host_harness::runtime::COMPONENT;
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId};

const WIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");

fn world(resolve: &mut Resolve, text: &str) -> WorldId {
    let package = resolve.push_str("test.wit", text).unwrap();
    resolve.select_world(&[package], Some("plugin")).unwrap()
}

fn released() -> String {
    std::fs::read_to_string(format!("{WIT}/released/plugin-0.1.0.wit")).unwrap()
}

/// The current contract as one text, under another version so that both can stand in one `Resolve`.
fn current() -> String {
    let mut text = "package compact-review:plugin@0.1.999;\n".to_string();
    for file in ["types", "host", "hooks", "world"] {
        let part = std::fs::read_to_string(format!("{WIT}/{file}.wit")).unwrap();
        text += &part.replace("package compact-review:plugin@0.1.0;", "");
    }
    text
}

fn compatible(new: &str) -> bool {
    let mut resolve = Resolve::default();
    let old = world(&mut resolve, &released());
    let new = world(&mut resolve, new);
    wit_component::semver_check(resolve, old, new).is_ok()
}

#[test]
fn the_component_imports_the_host_interface_and_nothing_else() {
    let DecodedWasm::Component(resolve, world) = wit_component::decode(COMPONENT).unwrap() else {
        panic!("not a component");
    };
    let name = |key| resolve.name_world_key(key);
    let world = &resolve.worlds[world];
    let imports: Vec<String> = world.imports.keys().map(name).collect();
    let expected = ["compact-review:plugin/types@0.1.0", "compact-review:plugin/host@0.1.0"];
    assert!(imports.iter().all(|import| expected.contains(&import.as_str())), "{imports:?}");
    assert!(imports.iter().any(|import| import == expected[1]), "{imports:?}");
    let exports: Vec<String> = world.exports.keys().map(name).collect();
    assert_eq!(exports, ["compact-review:plugin/hooks@0.1.0"]);
}

#[test]
fn the_component_is_small() {
    assert!(COMPONENT.len() < 1_500_000, "{} bytes", COMPONENT.len());
}

#[test]
fn the_contract_is_a_compatible_upgrade_of_the_released_one() {
    assert!(compatible(&current()), "wit/ changed in a way that needs 0.2, see wit/world.wit");
}

#[test]
fn a_new_function_for_the_plugin_to_call_is_compatible() {
    let more = current().replace("interface host {", "interface host {\n  /// New.\n  more: func() -> string;\n");
    assert!(compatible(&more));
}

#[test]
fn changed_records_functions_and_enums_are_not_compatible() {
    let changes = [
        ("    failed: bool,", "    failed: bool,\n    /// New.\n    more: bool,"),
        ("  settings: func() -> option<string>;", "  settings: func() -> string;"),
        ("    superseded,", "    superseded,\n    /// New.\n    unknown,"),
        ("  settings: func() -> option<string>;", ""),
    ];
    for (from, to) in changes {
        let changed = current().replace(from, to);
        assert_ne!(changed, current(), "{from} is not there");
        assert!(!compatible(&changed), "{from}");
    }
}

#[test]
fn every_field_and_function_says_what_it_is() {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_dir(WIT).unwrap();
    let mut bare = Vec::new();
    for interface in resolve.packages[package].interfaces.values() {
        let interface = &resolve.interfaces[*interface];
        let undocumented = interface.functions.values().filter(|function| function.docs.contents.is_none());
        bare.extend(undocumented.map(|function| function.name.clone()));
        for (name, ty) in &interface.types {
            let ty = &resolve.types[*ty];
            let fields: Vec<(&String, bool)> = match &ty.kind {
                wit_parser::TypeDefKind::Record(record) => {
                    record.fields.iter().map(|field| (&field.name, field.docs.contents.is_none())).collect()
                }
                wit_parser::TypeDefKind::Enum(cases) => {
                    cases.cases.iter().map(|case| (&case.name, case.docs.contents.is_none())).collect()
                }
                wit_parser::TypeDefKind::Variant(cases) => {
                    cases.cases.iter().map(|case| (&case.name, case.docs.contents.is_none())).collect()
                }
                _ => Vec::new(),
            };
            bare.extend(fields.into_iter().filter(|(_, bare)| *bare).map(|(field, _)| format!("{name}.{field}")));
        }
    }
    assert!(bare.is_empty(), "{bare:?}");
}
