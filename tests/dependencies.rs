//! The supply chain, by the rules of `deny.toml`: licences and sources of everything that is built into the tool on this
//! machine, or tests it. `cargo deny check` does more, and is no part of a Rust installation.

use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

fn file(name: &str) -> String {
    std::fs::read_to_string(format!("{ROOT}/{name}")).unwrap()
}

/// All packages for this machine and for the component, from what is downloaded already.
fn packages() -> Vec<Value> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_string());
    let version = Command::new(&cargo).arg("-vV").output().unwrap();
    let version = String::from_utf8(version.stdout).unwrap();
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let output = Command::new(&cargo)
        .args(["metadata", "--offline", "--locked", "--format-version", "1"])
        .args(["--filter-platform", host, "--filter-platform", "wasm32-unknown-unknown"])
        .args(["--manifest-path", &format!("{ROOT}/Cargo.toml")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 100, "all of them, not only those of the workspace");
    packages
}

fn allowed() -> BTreeSet<String> {
    let rules = file("deny.toml");
    let (_, list) = rules.split_once("\nallow = [").unwrap();
    let (list, _) = list.split_once(']').unwrap();
    list.split(',').map(|name| name.trim().trim_matches('"').to_string()).filter(|name| !name.is_empty()).collect()
}

/// Whether the allowed licences are enough for an SPDX expression; `/` is an old way to write OR.
fn enough(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let fits = any(&words, &mut at, allowed);
    assert_eq!(at, words.len(), "{expression} is no SPDX expression");
    fits
}

fn any(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut fits = all(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        fits |= all(words, at, allowed);
    }
    fits
}

fn all(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let mut fits = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        fits &= one(words, at, allowed);
    }
    fits
}

fn one(words: &[&str], at: &mut usize, allowed: &BTreeSet<String>) -> bool {
    let word = words[*at];
    *at += 1;
    if word == "(" {
        let fits = any(words, at, allowed);
        assert_eq!(words.get(*at), Some(&")"));
        *at += 1;
        return fits;
    }
    if words.get(*at) == Some(&"WITH") {
        let name = format!("{word} WITH {}", words[*at + 1]);
        *at += 2;
        return allowed.contains(&name);
    }
    allowed.contains(word)
}

#[test]
fn an_expression_of_licences_is_read_as_spdx_means_it() {
    let allowed = ["MIT", "Zlib", "Apache-2.0 WITH LLVM-exception"].map(str::to_string).into();
    for fits in
        ["MIT", "GPL-3.0/MIT", "GPL-3.0 OR MIT AND Zlib", "(GPL-3.0 OR Zlib) AND MIT", "Apache-2.0 WITH LLVM-exception"]
    {
        assert!(enough(fits, &allowed), "{fits}");
    }
    for refused in ["GPL-3.0", "MIT AND GPL-3.0", "Apache-2.0", "(MIT OR Zlib) AND GPL-3.0", "Apache-2.0 WITH Other"] {
        assert!(!enough(refused, &allowed), "{refused}");
    }
}

#[test]
fn every_dependency_has_a_licence_that_is_allowed() {
    let allowed = allowed();
    let refused: Vec<String> = packages()
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(|license| enough(license, &allowed)))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "{refused:#?}");
}

#[test]
fn every_dependency_comes_from_the_one_registry_and_is_pinned_by_its_hash() {
    let lock = file("Cargo.lock");
    for package in lock.split("[[package]]").skip(1) {
        let own =
            ["compact-review", "host-harness"].iter().any(|name| package.contains(&format!("name = \"{name}\"\n")));
        let registry = package.contains("source = \"registry+https://github.com/rust-lang/crates.io-index\"");
        assert!(own || (registry && package.contains("checksum = \"")), "{package}");
    }
}

#[test]
fn every_direct_dependency_has_its_reason_in_the_documentation() {
    let reasons = file("docs/dependencies.md");
    for package in packages().iter().filter(|package| package["source"].is_null()) {
        for dependency in package["dependencies"].as_array().unwrap() {
            let name = dependency["name"].as_str().unwrap();
            let known = name == "compact-review" || reasons.contains(&format!("\n| `{name}` |"));
            assert!(known, "docs/dependencies.md has no row for {name}");
        }
    }
    let plugin: Value = serde_json::from_str(&file("openclaw-plugin/package.json")).unwrap();
    assert!(plugin["dependencies"].is_null(), "the npm package needs nothing at run time");
    for name in plugin["devDependencies"].as_object().unwrap().keys() {
        assert!(reasons.contains(&format!("\n| `{name}` |")), "docs/dependencies.md has no row for {name}");
    }
}
