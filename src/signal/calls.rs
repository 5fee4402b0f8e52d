//! Calls of tools as transcripts write them out, and the commands in them.

use super::survey::collapse;

/// A call of a tool, written out: `[tool Read] {…}`, `⏺ Bash(…)`, `{"command": …}`.
pub fn is_call(text: &str) -> bool {
    let text = text.trim_start_matches(['⏺', ' ']);
    let name = text.bytes().take_while(|byte| byte.is_ascii_alphabetic()).count();
    text.starts_with("[tool") || text.starts_with('{') || name > 2 && text.as_bytes().get(name) == Some(&b'(')
}

/// The command of a tool call: `"command": "…"`, `Bash(…)`; without the change of folder before it.
pub fn command_of(text: &str) -> Option<String> {
    let raw = if let Some(at) = text.find("\"command\"") {
        let rest = text.get(at + 9..)?;
        let open = rest.find('"')?;
        let body = rest.get(open + 1..)?;
        let mut end = None;
        let mut escaped = false;
        for (at, byte) in body.bytes().enumerate() {
            match byte {
                b'\\' if !escaped => escaped = true,
                b'"' if !escaped => {
                    end = Some(at);
                    break;
                }
                _ => escaped = false,
            }
        }
        body.get(..end?)?
    } else {
        let at = text.find("Bash(")?;
        let body = text.get(at + 5..)?;
        body.get(..body.find(")\n").or(body.find(")…")).or(body.rfind(')'))?)?
    };
    let mut command = raw.trim();
    if let Some(rest) = command.strip_prefix("cd ").and_then(|rest| rest.split_once("&&")) {
        command = rest.1.trim();
    }
    let command = command.split(" 2>&1").next().unwrap_or(command).split(" | ").next().unwrap_or(command).trim();
    (4..=160).contains(&command.len()).then(|| collapse(command)).filter(|command| !command.contains("\\n"))
}
