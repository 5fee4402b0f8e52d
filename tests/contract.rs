//! The contract: what the component imports and exports, and how the WIT may change.

use crate::guest::{WIT, released};
use host_harness::runtime::COMPONENT;
use wit_component::DecodedWasm;
use wit_parser::{Resolve, WorldId, WorldItem, WorldKey};

fn world(resolve: &mut Resolve, text: &str) -> WorldId {
    let package = resolve.push_str("test.wit", text).unwrap();
    resolve.select_world(&[package], Some("plugin")).unwrap()
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

/// What a plugin must export, function by function.
fn exports(resolve: &Resolve, world: WorldId) -> Vec<String> {
    let mut names = Vec::new();
    for (key, item) in &resolve.worlds[world].exports {
        let WorldItem::Interface { id, .. } = item else { continue };
        let interface = match key {
            WorldKey::Name(name) => name.clone(),
            WorldKey::Interface(id) => resolve.interfaces[*id].name.clone().unwrap_or_default(),
        };
        names.extend(resolve.interfaces[*id].functions.keys().map(|function| format!("{interface}.{function}")));
    }
    names.sort_unstable();
    names
}

/// A component of the old world can be used as one of the new; and, which that does not say, is asked for no less.
fn compatible(new: &str) -> bool {
    let mut resolve = Resolve::default();
    let old = world(&mut resolve, &released());
    let new = world(&mut resolve, new);
    let same_hooks = exports(&resolve, old) == exports(&resolve, new);
    same_hooks && wit_component::semver_check(resolve, old, new).is_ok()
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

fn changed(from: &str, to: &str) -> String {
    let changed = current().replacen(from, to, 1);
    assert_ne!(changed, current(), "{from} is not there");
    changed
}

/// What `wit/world.wit` allows while the version stays 0.1.x.
#[test]
fn what_the_rule_allows_is_compatible() {
    let allowed = [
        ("a doc comment", "  settings: func()", "  /// More to say.\n  settings: func()"),
        ("a function in host", "interface host {", "interface host {\n  /// New.\n  more: func() -> string;\n"),
        (
            "an interface that a host offers",
            "world plugin {",
            "interface clock { now: func() -> u64; }\nworld plugin {\n  import clock;",
        ),
        (
            "an interface that a plugin may export, in a world of its own",
            "world plugin {",
            "interface extra { look: func() -> u64; }\nworld plugin-with-extra { include plugin; export extra; }\n\
             world plugin {",
        ),
    ];
    for (what, from, to) in allowed {
        assert!(compatible(&changed(from, to)), "{what}");
    }
}

/// What it says needs 0.2.
#[test]
fn what_the_rule_forbids_is_not_compatible() {
    let forbidden = [
        ("a field more", "    failed: bool,", "    failed: bool,\n    more: bool,"),
        ("a field less", "    failed: bool,\n", ""),
        ("another name of a field", "    failed: bool,", "    has-failed: bool,"),
        ("another type of a field", "    failed: bool,", "    failed: option<bool>,"),
        ("a case more in a variant", "    full(string),", "    full(string),\n    gone(string),"),
        ("a case less in a variant", "    full(string),\n", ""),
        ("another payload", "    full(string),", "    full(u64),"),
        ("a case more in an enum", "    superseded,", "    superseded,\n    unknown,"),
        ("a case less in an enum", "    superseded,\n", ""),
        ("a parameter more", "settings: func() -> option<string>", "settings: func(key: string) -> option<string>"),
        ("another type of a parameter", "configure: func(settings: string)", "configure: func(settings: list<u8>)"),
        ("another result", "settings: func() -> option<string>", "settings: func() -> string"),
        ("a function less in host", "  settings: func() -> option<string>;", ""),
        ("a function more in hooks", "interface hooks {", "interface hooks {\n  more: func() -> string;\n"),
        ("a function less in hooks", "  configure: func(settings: string) -> result<string, hook-error>;", ""),
        ("an export more", "  export hooks;", "  export hooks;\n  export extra: interface { look: func() -> u64; }"),
        ("an export less", "  export hooks;", ""),
        ("an import less", "  import host;\n", ""),
    ];
    for (what, from, to) in forbidden {
        assert!(!compatible(&changed(from, to)), "{what}");
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
