//! The first look at a line: what it is, its id and its parent, and how many parts are no text. Nothing is copied.
//!
//! One shape serves all formats, because their field names do not collide. Every field takes any JSON: a number where
//! text is expected is a line of some other kind, not a broken one.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::fmt;

/// What can be told of a line without keeping it.
#[derive(Debug, Default)]
pub(super) struct Peek<'a> {
    pub kind: Option<Cow<'a, str>>,
    pub subtype: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    pub uuid: Option<Cow<'a, str>>,
    /// `parentId` or `parentUuid`; `Some(None)` where it is there and null.
    pub parent: Option<Option<Cow<'a, str>>>,
    pub logical_parent: Option<Cow<'a, str>>,
    pub session_id: Option<Cow<'a, str>>,
    pub version: Option<u64>,
    pub cwd: Option<Cow<'a, str>>,
    pub role: Option<Cow<'a, str>>,
    pub record_type: bool,
    pub instructions: bool,
    pub sidechain: bool,
    pub compact_summary: bool,
    pub tool_result: bool,
    pub timestamp: bool,
    /// `message`, where it is an object.
    pub message: Option<Inner<'a>>,
    /// `payload`, where it is an object.
    pub payload: Option<Inner<'a>>,
    /// The parts of a top-level `content`.
    pub content: Option<Parts>,
}

/// The object inside a line.
#[derive(Debug, Default)]
pub(super) struct Inner<'a> {
    pub kind: Option<Cow<'a, str>>,
    pub role: Option<Cow<'a, str>>,
    pub id: Option<Cow<'a, str>>,
    pub cwd: Option<Cow<'a, str>>,
    pub encrypted: bool,
    pub content: Parts,
}

/// Parts of a content that are no text. They are counted and never shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Parts {
    /// Pictures and documents.
    pub images: u64,
    /// Hidden reasoning.
    pub thinking: u64,
    /// Content that only its provider can read.
    pub encrypted: u64,
    /// Anything else.
    pub other: u64,
}

impl Parts {
    /// How many there are.
    pub fn total(&self) -> u64 {
        self.images + self.thinking + self.encrypted + self.other
    }

    /// Adds others to these.
    pub fn add(&mut self, more: &Parts) {
        self.images += more.images;
        self.thinking += more.thinking;
        self.encrypted += more.encrypted;
        self.other += more.other;
    }

    /// Counts a part by its type; false where it is text, a call or a result.
    pub(super) fn count(&mut self, kind: &str) -> bool {
        match kind {
            "text" | "input_text" | "output_text" | "toolCall" | "tool_use" | "tool_result" | "toolResult" => {
                return false;
            }
            "image" | "input_image" | "document" | "image_url" => self.images += 1,
            "thinking" | "reasoning" => self.thinking += 1,
            "redacted_thinking" | "encrypted" => self.encrypted += 1,
            _ => self.other += 1,
        }
        true
    }
}

/// Implements the methods of a visitor for everything that it does not care about.
macro_rules! anything_else {
    ($value:expr; $($method:ident: $kind:ty),*) => {
        $(fn $method<E: Error>(self, _: $kind) -> Result<Self::Value, E> { Ok($value) })*
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> { Ok($value) }
        fn visit_none<E: Error>(self) -> Result<Self::Value, E> { Ok($value) }
    };
}
pub(super) use anything_else;

/// Text, where it is text.
#[derive(Debug, Default)]
pub(super) struct Text<'a>(pub Option<Cow<'a, str>>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Option<Cow<'de, str>>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
                Ok(Some(Cow::Borrowed(text)))
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(Some(Cow::Owned(text.to_string())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            anything_else!(None; visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }
        deserializer.deserialize_any(Reader).map(Text)
    }
}

/// A flag, where it is one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flag(pub bool);

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Number::deserialize(deserializer).map(|number| Flag(number.0 == Some(1)))
    }
}

/// A whole number, where it is one; `true` is 1.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Number(pub Option<u64>);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Option<u64>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
                Ok(Some(number))
            }
            fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
                Ok(Some(u64::from(flag)))
            }
            fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
                Ok((0.0..1e18).contains(&number).then_some(number as u64))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(None)
            }
            anything_else!(None; visit_i64: i64, visit_str: &str);
        }
        deserializer.deserialize_any(Reader).map(Number)
    }
}

/// The parts of a content, whatever it is.
struct Content(Parts);

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Parts;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut parts = Parts::default();
                while let Some(part) = list.next_element::<PartPeek<'de>>()? {
                    if let Some(kind) = &part.kind {
                        parts.count(kind);
                    }
                    parts.add(&part.inside);
                }
                Ok(parts)
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(Parts::default())
            }
            anything_else!(Parts::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
        }
        deserializer.deserialize_any(Reader).map(Content)
    }
}

/// One part of a content.
#[derive(Default)]
struct PartPeek<'a> {
    kind: Option<Cow<'a, str>>,
    inside: Parts,
}

/// Reads the object of a peek field by field; anything that is no object is an empty one.
macro_rules! peek_object {
    ($name:ident; $($key:literal => $read:expr),* $(,)?) => {
        impl<'de: 'a, 'a> Deserialize<'de> for $name<'a> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl<'de> Visitor<'de> for Reader {
                    type Value = $name<'de>;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str("anything")
                    }
                    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                        let mut found = $name::default();
                        while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                            match key.as_deref() {
                                $(Some($key) => {
                                    let read: fn(&mut $name<'de>, &mut A) -> Result<(), A::Error> = $read;
                                    read(&mut found, &mut map)?;
                                })*
                                _ => {
                                    map.next_value::<IgnoredAny>()?;
                                }
                            }
                        }
                        Ok(found)
                    }
                    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                        while list.next_element::<IgnoredAny>()?.is_some() {}
                        Ok($name::default())
                    }
                    anything_else!($name::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64, visit_str: &str);
                }
                deserializer.deserialize_any(Reader)
            }
        }
    };
}

peek_object!(PartPeek;
    "type" => |part, map| { part.kind = map.next_value::<Text>()?.0; Ok(()) },
    "content" => |part, map| { part.inside = map.next_value::<Content>()?.0; Ok(()) },
);

peek_object!(Inner;
    "type" => |inner, map| { inner.kind = map.next_value::<Text>()?.0; Ok(()) },
    "role" => |inner, map| { inner.role = map.next_value::<Text>()?.0; Ok(()) },
    "id" => |inner, map| { inner.id = map.next_value::<Text>()?.0; Ok(()) },
    "cwd" => |inner, map| { inner.cwd = map.next_value::<Text>()?.0; Ok(()) },
    "encrypted_content" => |inner, map| { inner.encrypted = map.next_value::<Text>()?.0.is_some(); Ok(()) },
    "content" => |inner, map| { inner.content = map.next_value::<Content>()?.0; Ok(()) },
);

peek_object!(Peek;
    "type" => |peek, map| { peek.kind = map.next_value::<Text>()?.0; Ok(()) },
    "subtype" => |peek, map| { peek.subtype = map.next_value::<Text>()?.0; Ok(()) },
    "id" => |peek, map| { peek.id = map.next_value::<Text>()?.0; Ok(()) },
    "uuid" => |peek, map| { peek.uuid = map.next_value::<Text>()?.0; Ok(()) },
    "parentId" => |peek, map| { peek.parent = Some(map.next_value::<Text>()?.0); Ok(()) },
    "parentUuid" => |peek, map| { peek.parent = Some(map.next_value::<Text>()?.0); Ok(()) },
    "logicalParentUuid" => |peek, map| { peek.logical_parent = map.next_value::<Text>()?.0; Ok(()) },
    "sessionId" => |peek, map| { peek.session_id = map.next_value::<Text>()?.0; Ok(()) },
    "version" => |peek, map| { peek.version = map.next_value::<Number>()?.0; Ok(()) },
    "cwd" => |peek, map| { peek.cwd = map.next_value::<Text>()?.0; Ok(()) },
    "role" => |peek, map| { peek.role = map.next_value::<Text>()?.0; Ok(()) },
    "record_type" => |peek, map| { peek.record_type = true; map.next_value::<IgnoredAny>().map(drop) },
    "instructions" => |peek, map| { peek.instructions = true; map.next_value::<IgnoredAny>().map(drop) },
    "timestamp" => |peek, map| { peek.timestamp = true; map.next_value::<IgnoredAny>().map(drop) },
    "isSidechain" => |peek, map| { peek.sidechain = map.next_value::<Flag>()?.0; Ok(()) },
    "isCompactSummary" => |peek, map| { peek.compact_summary = map.next_value::<Flag>()?.0; Ok(()) },
    "toolUseResult" => |peek, map| { peek.tool_result = true; map.next_value::<IgnoredAny>().map(drop) },
    "message" => |peek, map| { peek.message = Some(map.next_value()?); Ok(()) },
    "payload" => |peek, map| { peek.payload = Some(map.next_value()?); Ok(()) },
    "content" => |peek, map| { peek.content = Some(map.next_value::<Content>()?.0); Ok(()) },
);

/// The place of a line that is too long to be held. Its texts are skipped while they stream by, where a [`Peek`] would
/// hold each of them for a moment.
#[derive(Default, serde::Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Outline<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(borrow)]
    uuid: Text<'a>,
    #[serde(borrow, alias = "parentUuid")]
    parent_id: Option<Text<'a>>,
    #[serde(borrow)]
    session_id: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
    is_sidechain: Flag,
    is_compact_summary: Flag,
    tool_use_result: Option<IgnoredAny>,
    #[serde(borrow)]
    message: Option<InnerOutline<'a>>,
    #[serde(borrow)]
    payload: Option<InnerOutline<'a>>,
}

#[derive(Default, serde::Deserialize)]
#[serde(default)]
struct InnerOutline<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    role: Text<'a>,
}

impl<'a> From<Outline<'a>> for Peek<'a> {
    fn from(outline: Outline<'a>) -> Peek<'a> {
        let inner = |inner: InnerOutline<'a>| Inner { kind: inner.kind.0, role: inner.role.0, ..Inner::default() };
        Peek {
            kind: outline.kind.0,
            id: outline.id.0,
            uuid: outline.uuid.0,
            parent: outline.parent_id.map(|parent| parent.0),
            session_id: outline.session_id.0,
            role: outline.role.0,
            sidechain: outline.is_sidechain.0,
            compact_summary: outline.is_compact_summary.0,
            tool_result: outline.tool_use_result.is_some(),
            message: outline.message.map(inner),
            payload: outline.payload.map(inner),
            ..Peek::default()
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn fields_of_other_types_do_not_break_a_line() {
        let line = r#"{"type":7,"id":["a"],"parentId":null,"message":"text","payload":[1],"content":{"a":1},
            "isSidechain":"yes","version":"2.1.7","role":null}"#;
        let peek: Peek<'_> = serde_json::from_str(line).unwrap();
        assert!(peek.kind.is_none() && peek.id.is_none() && peek.version.is_none() && !peek.sidechain);
        assert_eq!(peek.parent, Some(None));
    }

    #[test]
    fn parts_that_are_no_text_are_counted_at_every_depth() {
        let line = r#"{"type":"user","message":{"role":"user","content":[
            {"type":"tool_result","content":[{"type":"text","text":"a"},{"type":"image","source":{}}]},
            {"type":"thinking","thinking":"x"},{"type":"redacted_thinking","data":"x"},{"type":"hologram"}]}}"#;
        let peek: Peek<'_> = serde_json::from_str(line).unwrap();
        let expected = Parts { images: 1, thinking: 1, encrypted: 1, other: 1 };
        assert_eq!(peek.message.unwrap().content, expected);
    }
}
