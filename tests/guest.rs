//! Small plugins made of WebAssembly text, for tests: the contract says what a module imports and exports, a test says
//! what its hooks do.

use std::fmt::Write;
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::abi::{AbiVariant, WasmType};
use wit_parser::{ManglingAndAbi, Resolve, WasmExport, WasmExportKind, WasmImport, WorldId, WorldItem};

pub const WIT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../wit");

/// The text of the contract that was released.
pub fn released() -> String {
    std::fs::read_to_string(format!("{WIT}/released/plugin-0.1.0.wit")).unwrap()
}

/// A plugin for the contract as it is now. Its hooks ignore what they get and answer with what `$hook` of this text
/// gives: the address of the answer. The text may call every import by its name (`$log`, `$append-note`, …) and bring
/// its own memory and `cabi_realloc`.
pub fn with_hook(body: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(WIT).unwrap();
    let world = resolve.select_world(&[package], Some("plugin")).unwrap();
    component(&resolve, world, &module(&resolve, world, body))
}

/// The same for another contract.
pub fn with_hook_for(wit: &str, body: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("contract.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some("plugin")).unwrap();
    component(&resolve, world, &module(&resolve, world, body))
}

/// A component of a contract and the text of a whole module for it.
pub fn from_text(wit: &str, module: &str) -> Vec<u8> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("contract.wit", wit).unwrap();
    let world = resolve.select_world(&[package], Some("plugin")).unwrap();
    component(&resolve, world, module)
}

fn component(resolve: &Resolve, world: WorldId, text: &str) -> Vec<u8> {
    let mut module = wat::parse_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    embed_component_metadata(&mut module, resolve, world, StringEncoding::UTF8).unwrap();
    ComponentEncoder::default().module(&module).unwrap().encode().unwrap()
}

fn module(resolve: &Resolve, world: WorldId, body: &str) -> String {
    let mangling = ManglingAndAbi::Legacy(wit_parser::LiftLowerAbi::Sync);
    let world = &resolve.worlds[world];
    let mut text = "(module\n".to_string();
    for (key, item) in &world.imports {
        let WorldItem::Interface { id, .. } = item else { continue };
        for function in resolve.interfaces[*id].functions.values() {
            let import = WasmImport::Func { interface: Some(key), func: function };
            let (from, name) = resolve.wasm_import_name(mangling, import);
            let signature = resolve.wasm_signature(AbiVariant::GuestImport, function);
            let types = types(&signature.params, &signature.results);
            writeln!(text, "(import {from:?} {name:?} (func ${} {types}))", function.name).unwrap();
        }
    }
    for (key, item) in &world.exports {
        let WorldItem::Interface { id, .. } = item else { continue };
        for function in resolve.interfaces[*id].functions.values() {
            let export = WasmExport::Func { interface: Some(key), func: function, kind: WasmExportKind::Normal };
            let name = resolve.wasm_export_name(mangling, export);
            let signature = resolve.wasm_signature(AbiVariant::GuestExport, function);
            assert_eq!(signature.results, [WasmType::Pointer], "every hook answers with an address");
            let types = types(&signature.params, &signature.results);
            writeln!(text, "(func (export {name:?}) {types} call $hook)").unwrap();
        }
    }
    for (name, field) in [("(export \"memory\")", MEMORY), ("(export \"cabi_realloc\")", REALLOC)] {
        if !body.contains(name) {
            text += field;
        }
    }
    text + "(table $table 1 funcref)\n" + body + ")\n"
}

const MEMORY: &str = "(memory (export \"memory\") 400)\n";

/// Never frees, and begins where no test keeps anything; a call needs little.
const REALLOC: &str = "(global $next (mut i32) (i32.const 0x1000000))
(func (export \"cabi_realloc\") (param i32 i32 i32 i32) (result i32)
  global.get $next
  (global.set $next
    (i32.and (i32.add (i32.add (global.get $next) (local.get 3)) (i32.const 15)) (i32.const -16))))\n";

fn types(params: &[WasmType], results: &[WasmType]) -> String {
    let name = |ty: &WasmType| match ty {
        WasmType::I64 | WasmType::PointerOrI64 => " i64",
        WasmType::F32 => " f32",
        WasmType::F64 => " f64",
        WasmType::I32 | WasmType::Pointer | WasmType::Length => " i32",
    };
    let list = |word: &str, types: &[WasmType]| match types {
        [] => String::new(),
        types => format!("({word}{})", types.iter().map(name).collect::<String>()),
    };
    list("param", params) + &list("result", results)
}

/// The names of the hooks, in the order of the contract.
pub fn hooks() -> Vec<String> {
    let mut resolve = Resolve::default();
    let (package, _) = resolve.push_path(WIT).unwrap();
    let interface = resolve.packages[package].interfaces["hooks"];
    resolve.interfaces[interface].functions.keys().cloned().collect()
}
