//! The text of a message: a string, or a list of parts of which only text, calls and results are kept.

use super::peek::{Flag, Parts, Text, anything_else};
use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use std::borrow::Cow;
use std::fmt;

/// One message is held with at most so much text: its beginning and its end. The plugin itself samples tool output
/// above 24,000 bytes.
pub const MAX_MESSAGE_BYTES: usize = 256 * 1024;

/// What a message says.
#[derive(Debug, Default)]
pub(super) struct Content {
    /// Text and calls, one below the other.
    pub text: String,
    /// What tools gave back.
    pub results: String,
    /// The call that a result answers.
    pub answers: Option<String>,
    /// A result says that the tool failed.
    pub failed: bool,
    /// Ids and names of the calls.
    pub calls: Vec<(String, String)>,
}

impl Content {
    fn string(text: &str) -> Content {
        Content { text: bounded(text).into_owned(), ..Content::default() }
    }

    fn take(&mut self, part: Part<'_>) {
        match part.kind.as_deref() {
            Some("text" | "input_text" | "output_text") => {
                if let Some(text) = part.text {
                    line(&mut self.text, &text);
                }
            }
            Some("toolCall" | "tool_use") => {
                let name = part.name.as_deref().unwrap_or("tool");
                let arguments = part.arguments.map(|value| value.to_string()).unwrap_or_default();
                line(&mut self.text, &format!("{name} {arguments}"));
                if let Some(id) = part.id {
                    self.calls.push((id.into_owned(), name.to_string()));
                }
            }
            Some("tool_result" | "toolResult") => {
                if let Some(inside) = part.content {
                    line(&mut self.results, &inside.text);
                }
                self.answers = part.tool_use_id.map(Cow::into_owned).or(self.answers.take());
                self.failed |= part.failed;
            }
            Some(kind) => {
                // Counted when the line was first looked at; here it is only left out.
                Parts::default().count(kind);
            }
            None => {}
        }
    }
}

fn line(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&bounded(more));
}

/// Beginning and end of a text that is too long.
pub(super) fn bounded(text: &str) -> Cow<'_, str> {
    cut(text, MAX_MESSAGE_BYTES)
}

/// Beginning and end of a text that is longer than `most` bytes.
pub(crate) fn cut(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let head = text.floor_char_boundary(most / 2);
    let tail = text.ceil_char_boundary(text.len() - most / 2);
    let (first, last) = (&text[..head], &text[tail..]);
    Cow::Owned(format!("{first}\n[{} bytes are left out here]\n{last}", tail - head))
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Content;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Content, E> {
                Ok(Content::string(text))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(part) = list.next_element::<Part<'de>>()? {
                    content.take(part);
                }
                Ok(content)
            }
            /// Codex wraps the output of a tool: `{"content": …, "success": true}`.
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Content, A::Error> {
                let mut content = Content::default();
                while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                    match key.as_deref() {
                        Some("content" | "output" | "text") => {
                            let inside: Content = map.next_value()?;
                            line(&mut content.text, &inside.text);
                        }
                        Some("success") => content.failed = !map.next_value::<Flag>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(content)
            }
            anything_else!(Content::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }
        deserializer.deserialize_any(Reader)
    }
}

/// One part.
#[derive(Default)]
struct Part<'a> {
    kind: Option<Cow<'a, str>>,
    text: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    id: Option<Cow<'a, str>>,
    tool_use_id: Option<Cow<'a, str>>,
    arguments: Option<Value>,
    content: Option<Box<Content>>,
    failed: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Part<'de>;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("anything")
            }
            fn visit_str<E: Error>(self, text: &str) -> Result<Part<'de>, E> {
                Ok(Part { kind: Some("text".into()), text: Some(text.to_string().into()), ..Part::default() })
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Part<'de>, A::Error> {
                let mut part = Part::default();
                while let Some(Text(key)) = map.next_key::<Text<'de>>()? {
                    match key.as_deref() {
                        Some("type") => part.kind = map.next_value::<Text<'de>>()?.0,
                        Some("text") => part.text = map.next_value::<Text<'de>>()?.0,
                        Some("name") => part.name = map.next_value::<Text<'de>>()?.0,
                        Some("id") => part.id = map.next_value::<Text<'de>>()?.0,
                        Some("tool_use_id") => part.tool_use_id = map.next_value::<Text<'de>>()?.0,
                        Some("arguments" | "input") => part.arguments = Some(map.next_value()?),
                        Some("content") => part.content = Some(map.next_value()?),
                        Some("is_error" | "isError") => part.failed = map.next_value::<Flag>()?.0,
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(part)
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Part<'de>, A::Error> {
                while list.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Part::default())
            }
            anything_else!(Part::default(); visit_bool: bool, visit_i64: i64, visit_u64: u64, visit_f64: f64);
        }
        deserializer.deserialize_any(Reader)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn text_calls_and_results_are_kept_and_nothing_else() {
        let content: Content = serde_json::from_str(
            r#"["bare",{"type":"text","text":"said"},{"type":"image","data":"SECRETIMAGE"},
                {"type":"thinking","thinking":"HIDDEN"},
                {"type":"tool_use","id":"c1","name":"Bash","input":{"command":"ls"}},
                {"type":"tool_result","tool_use_id":"c0","is_error":true,"content":[{"type":"text","text":"gone"}]}]"#,
        )
        .unwrap();
        assert_eq!(content.text, "bare\nsaid\nBash {\"command\":\"ls\"}");
        assert_eq!((content.results.as_str(), content.failed), ("gone", true));
        assert_eq!(content.answers.as_deref(), Some("c0"));
        assert_eq!(content.calls, [("c1".to_string(), "Bash".to_string())]);
    }

    #[test]
    fn a_long_text_keeps_its_beginning_and_its_end_on_characters() {
        let text = format!("begin{}end", "日".repeat(MAX_MESSAGE_BYTES));
        let held = bounded(&text);
        assert!(held.len() < MAX_MESSAGE_BYTES + 100 && held.starts_with("begin") && held.ends_with("end"));
        assert!(held.contains("bytes are left out here"));
    }
}
