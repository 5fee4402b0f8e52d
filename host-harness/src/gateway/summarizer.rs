//! Who writes the summary: the recorded session itself, or any OpenAI-compatible endpoint.

use compact_review::event::{Message, Role};
use serde::Deserialize;
use serde_json::json;
use std::time::Duration;

/// Writes a summary of messages.
pub trait Summarizer {
    /// The summary, or why there is none.
    fn summarize(&self, messages: &[Message]) -> Result<String, String>;
}

/// The summary that the agent really got.
#[derive(Clone, Debug)]
pub struct Recorded(pub String);

impl Summarizer for Recorded {
    fn summarize(&self, _messages: &[Message]) -> Result<String, String> {
        Ok(self.0.clone())
    }
}

/// An endpoint that speaks OpenAI's chat completions.
#[derive(Clone, Debug)]
pub struct Endpoint {
    url: String,
    model: String,
    agent: ureq::Agent,
}

/// What the endpoint is asked. The headings are those that OpenClaw asks for.
const INSTRUCTIONS: &str = "Summarize the conversation so that the work can go on without it. Keep every rule of the \
user, every decision with its reason, every open task and question, and exact identifiers. Use the headings \
## Decisions, ## Open TODOs, ## Constraints/Rules, ## Pending user asks, ## Exact identifiers.";

/// How much of an answer is read at most, in bytes.
const MAX_ANSWER: u64 = 1024 * 1024;

#[derive(Deserialize)]
struct Answer {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Content,
}

#[derive(Deserialize)]
struct Content {
    content: Option<String>,
}

impl Endpoint {
    /// An endpoint at a base URL such as `http://127.0.0.1:8082/v1`.
    pub fn new(url: &str, model: &str, timeout: Duration) -> Self {
        let agent = ureq::Agent::config_builder().timeout_global(Some(timeout)).build().into();
        Endpoint { url: format!("{}/chat/completions", url.trim_end_matches('/')), model: model.to_string(), agent }
    }
}

impl Summarizer for Endpoint {
    fn summarize(&self, messages: &[Message]) -> Result<String, String> {
        let conversation: Vec<String> =
            messages.iter().map(|message| format!("[{}] {}", speaker(message.role), message.text)).collect();
        let request = json!({"model": self.model, "messages": [
            {"role": "system", "content": INSTRUCTIONS},
            {"role": "user", "content": conversation.join("\n\n")},
        ]});
        let failed = |error: ureq::Error| format!("{}: {error}", self.url);
        let mut response = self.agent.post(&self.url).send_json(request).map_err(failed)?;
        let answer: Answer = response.body_mut().with_config().limit(MAX_ANSWER).read_json().map_err(failed)?;
        let content = answer.choices.into_iter().next().and_then(|choice| choice.message.content);
        content.ok_or_else(|| format!("{}: the answer has no choices[0].message.content", self.url))
    }
}

fn speaker(role: Role) -> &'static str {
    match role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    }
}
