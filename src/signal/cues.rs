//! The words by which people mark what matters: prohibitions, rules, decisions, tasks, failures, results.
//!
//! Phrases are looked for in folded words, so that case, Markdown and typographic apostrophes do not count.
//! They are common words of their languages, written from general knowledge. The English list was written by someone
//! who had read evaluation conversations; phrases known to come from there were taken out again.

/// What a phrase hints at. One bit each.
pub mod cue {
    /// "don't", "never", "must not".
    pub const PROHIBITION: u32 = 1;
    /// "always", "must", "make sure".
    pub const RULE: u32 = 1 << 1;
    /// "I want", "I prefer", "please".
    pub const WISH: u32 = 1 << 2;
    /// "not yet", "wait", "hold off", "before you".
    pub const DEFER: u32 = 1 << 3;
    /// "let's", "we decided", "agreed".
    pub const DECISION: u32 = 1 << 4;
    /// "instead of", "rather than".
    pub const CONTRAST: u32 = 1 << 5;
    /// "todo", "next step", "remaining", "we still need".
    pub const TASK: u32 = 1 << 6;
    /// "should I", "would you like me to": the agent waits for an answer.
    pub const ASK: u32 = 1 << 7;
    /// "error", "failed", "not found".
    pub const FAILURE: u32 = 1 << 8;
    /// "because", "root cause", "the reason".
    pub const CAUSE: u32 = 1 << 9;
    /// "done", "passed", "committed".
    pub const DONE: u32 = 1 << 10;
    /// "turns out", "I found", "no sign of".
    pub const FINDING: u32 = 1 << 11;
    /// "afraid", "worried", "careful", "annoying": feelings about how the work is done.
    pub const CONCERN: u32 = 1 << 12;
    /// "goal", "purpose", "the point is".
    pub const GOAL: u32 = 1 << 13;
    /// "remember", "note that", "important", "keep in mind".
    pub const EMPHASIS: u32 = 1 << 14;
    /// "you keep", "you should have", "why did you": correction of the agent.
    pub const CORRECTION: u32 = 1 << 15;
    /// "thanks", "ok", "great": nothing to keep.
    pub const COURTESY: u32 = 1 << 16;
    /// "let me", "I'll now": the agent announces its own next move.
    pub const NARRATION: u32 = 1 << 17;
    /// "actually", "no longer", "changed": something earlier is overturned.
    pub const REVERSAL: u32 = 1 << 18;
    /// "obsolete", "unrelated", "ignore", "example": declared not to matter.
    pub const DISCLAIMED: u32 = 1 << 19;
    /// "for now", "currently", "at the moment".
    pub const CURRENT: u32 = 1 << 20;
    /// Ends as a question.
    pub const QUESTION: u32 = 1 << 21;
    /// Found around the statement, not in it: a later statement speaks of the same.
    pub const FOLLOWED: u32 = 1 << 22;
}
use cue::*;

/// Phrases of space-separated languages, in folded words.
const PHRASES: &[(&str, u32)] = &[
    // English
    ("don't", PROHIBITION),
    ("dont", PROHIBITION),
    ("do not", PROHIBITION),
    ("never", PROHIBITION | RULE),
    ("must not", PROHIBITION | RULE),
    ("mustn't", PROHIBITION | RULE),
    ("should not", PROHIBITION),
    ("shouldn't", PROHIBITION),
    ("may not", PROHIBITION),
    ("cannot", FAILURE),
    ("can't", FAILURE),
    ("no need", PROHIBITION),
    ("avoid", PROHIBITION | RULE),
    ("without", CONTRAST),
    ("stop", PROHIBITION),
    ("forbidden", PROHIBITION | RULE),
    ("off limits", PROHIBITION | RULE),
    ("hands off", PROHIBITION | RULE),
    ("under no circumstances", PROHIBITION | RULE),
    ("not allowed", PROHIBITION | RULE),
    ("refrain", PROHIBITION | RULE),
    ("prohibited", PROHIBITION | RULE),
    ("keep out", PROHIBITION),
    ("i don't want", PROHIBITION | WISH),
    ("i do not want", PROHIBITION | WISH),
    ("we don't want", PROHIBITION | WISH),
    ("don't like", PROHIBITION | CONCERN),
    ("don't know", COURTESY),
    ("don't understand", CONCERN),
    ("don't think", 0),
    ("don't see", FINDING),
    ("don't have", 0),
    ("always", RULE),
    ("must", RULE),
    ("have to", RULE),
    ("has to", RULE),
    ("need to", TASK),
    ("needs to", TASK),
    ("needs to be", TASK),
    ("make sure", RULE),
    ("ensure", RULE),
    ("be sure", RULE),
    ("required", RULE),
    ("requires", RULE),
    ("mandatory", RULE),
    ("only", RULE),
    ("at most", RULE),
    ("no more than", RULE),
    ("at least", RULE),
    ("unless", RULE),
    ("from now on", RULE | EMPHASIS),
    ("every time", RULE),
    ("whenever", RULE),
    ("policy", RULE),
    ("rule", RULE),
    ("convention", RULE),
    ("guideline", RULE),
    ("should", WISH),
    ("shall", RULE),
    ("i want", WISH),
    ("we want", WISH),
    ("i'd like", WISH),
    ("i would like", WISH),
    ("i need", WISH | TASK),
    ("i prefer", WISH | RULE),
    ("prefer", WISH),
    ("would rather", WISH),
    ("please", WISH),
    ("pls", WISH),
    ("i think we should", WISH),
    ("keep it", WISH),
    ("keep the", WISH),
    ("stick to", RULE),
    ("stick with", DECISION),
    ("according to", RULE),
    ("not yet", DEFER | PROHIBITION),
    ("yet", DEFER),
    ("wait", DEFER),
    ("hold off", DEFER | PROHIBITION),
    ("hold on", DEFER),
    ("until", DEFER | RULE),
    ("before", DEFER),
    ("first", DEFER),
    ("later", DEFER | TASK),
    ("postpone", DEFER | DECISION),
    ("for later", DEFER | TASK),
    ("let's", DECISION),
    ("lets", DECISION),
    ("let us", DECISION),
    ("decided", DECISION),
    ("decision", DECISION),
    ("agreed", DECISION),
    ("agree", DECISION),
    ("go with", DECISION),
    ("going with", DECISION),
    ("we'll use", DECISION),
    ("we will use", DECISION),
    ("switch to", DECISION),
    ("chose", DECISION),
    ("choose", DECISION),
    ("opted", DECISION),
    ("settled on", DECISION),
    ("approach", DECISION),
    ("the plan is", DECISION),
    ("option", DECISION),
    ("replace", DECISION),
    ("instead", CONTRAST | DECISION),
    ("instead of", CONTRAST | DECISION),
    ("rather than", CONTRAST | DECISION),
    ("todo", TASK),
    ("to do", TASK),
    ("next", TASK),
    ("next step", TASK),
    ("next steps", TASK),
    ("remaining", TASK),
    ("pending", TASK),
    ("follow up", TASK),
    ("still need", TASK),
    ("still have to", TASK),
    ("outstanding", TASK),
    ("can you", TASK),
    ("could you", TASK),
    ("can we", TASK),
    ("could we", TASK),
    ("would you", TASK),
    ("will you", TASK),
    ("we need", TASK),
    ("we should", TASK | WISH),
    ("we'll need", TASK),
    ("not yet done", TASK),
    ("fixme", TASK),
    ("waiting for", TASK | ASK),
    ("awaiting", TASK | ASK),
    ("blocked", TASK),
    ("blocked on", TASK | ASK),
    ("blocked by", TASK | ASK),
    ("should i", ASK | TASK),
    ("shall i", ASK | TASK),
    ("shall we", ASK | TASK),
    ("would you like", ASK | TASK),
    ("do you want", ASK | TASK),
    ("want me to", ASK | TASK),
    ("let me know", ASK),
    ("which would you", ASK),
    ("what do you think", ASK),
    ("ready to", ASK),
    ("approve", ASK | TASK),
    ("approval", ASK | TASK),
    ("permission", ASK | RULE),
    ("confirm", ASK),
    ("sign off", ASK),
    ("error", FAILURE),
    ("errors", FAILURE),
    ("failed", FAILURE),
    ("fails", FAILURE),
    ("failing", FAILURE),
    ("failure", FAILURE),
    ("fail", FAILURE),
    ("exception", FAILURE),
    ("not found", FAILURE),
    ("no such", FAILURE),
    ("broken", FAILURE),
    ("broke", FAILURE),
    ("breaks", FAILURE),
    ("bug", FAILURE),
    ("crash", FAILURE),
    ("crashes", FAILURE),
    ("panic", FAILURE),
    ("denied", FAILURE),
    ("timeout", FAILURE),
    ("timed out", FAILURE),
    ("warning", FAILURE),
    ("invalid", FAILURE),
    ("unable", FAILURE),
    ("doesn't work", FAILURE),
    ("does not work", FAILURE),
    ("not working", FAILURE),
    ("wrong", FAILURE | CORRECTION),
    ("missing", FAILURE),
    ("conflict", FAILURE),
    ("regression", FAILURE),
    ("issue is", FAILURE | FINDING),
    ("problem is", FAILURE | FINDING),
    ("problem", FAILURE),
    ("issue", FAILURE),
    ("unexpected", FAILURE),
    ("silently", FAILURE | FINDING),
    ("accidentally", FAILURE),
    ("because", CAUSE),
    ("root cause", CAUSE | FINDING),
    ("the reason", CAUSE),
    ("due to", CAUSE),
    ("caused by", CAUSE | FINDING),
    ("that's why", CAUSE),
    ("so that", CAUSE),
    ("done", DONE),
    ("completed", DONE),
    ("complete", DONE),
    ("finished", DONE),
    ("passed", DONE),
    ("passes", DONE),
    ("pass", DONE),
    ("fixed", DONE),
    ("works", DONE),
    ("verified", DONE),
    ("implemented", DONE),
    ("committed", DONE),
    ("pushed", DONE),
    ("merged", DONE),
    ("deployed", DONE),
    ("created", DONE),
    ("added", DONE),
    ("updated", DONE),
    ("removed", DONE),
    ("resolved", DONE),
    ("successfully", DONE),
    ("in progress", CURRENT),
    ("uncommitted", CURRENT),
    ("turns out", FINDING),
    ("i found", FINDING),
    ("found that", FINDING),
    ("found", FINDING),
    ("discovered", FINDING),
    ("noticed", FINDING),
    ("it seems", FINDING),
    ("looks like", FINDING),
    ("this means", FINDING),
    ("the key", FINDING | EMPHASIS),
    ("no evidence", FINDING),
    ("actually", REVERSAL),
    ("no longer", REVERSAL | PROHIBITION),
    ("scratch that", REVERSAL),
    ("changed my mind", REVERSAL | DECISION),
    ("on second thought", REVERSAL | DECISION),
    ("never mind", REVERSAL),
    ("nevermind", REVERSAL),
    ("revert", REVERSAL),
    ("undo", REVERSAL),
    ("supersedes", REVERSAL),
    ("correction", REVERSAL),
    ("afraid", CONCERN),
    ("worried", CONCERN),
    ("worry", CONCERN),
    ("careful", CONCERN | RULE),
    ("carefully", CONCERN),
    ("scared", CONCERN),
    ("annoying", CONCERN),
    ("annoys", CONCERN),
    ("frustrating", CONCERN),
    ("not familiar", CONCERN),
    ("new to", CONCERN),
    ("i'm not sure", CONCERN),
    ("risky", CONCERN),
    ("dangerous", CONCERN | RULE),
    ("destructive", CONCERN | RULE),
    ("goal", GOAL),
    ("purpose", GOAL),
    ("the point", GOAL),
    ("objective", GOAL),
    ("intent", GOAL),
    ("aim", GOAL),
    ("want to", WISH),
    ("remember", EMPHASIS | RULE),
    ("note that", EMPHASIS),
    ("important", EMPHASIS),
    ("importantly", EMPHASIS),
    ("keep in mind", EMPHASIS | RULE),
    ("critical", EMPHASIS),
    ("crucial", EMPHASIS),
    ("especially", EMPHASIS),
    ("explicitly", EMPHASIS),
    ("exactly", EMPHASIS),
    ("why did you", CORRECTION),
    ("why do you", CORRECTION),
    ("why are you", CORRECTION),
    ("you forgot", CORRECTION),
    ("you missed", CORRECTION),
    ("i told you", CORRECTION | EMPHASIS),
    ("i said", CORRECTION | EMPHASIS),
    ("i asked", CORRECTION),
    ("i meant", CORRECTION),
    ("that's not", CORRECTION),
    ("not what", CORRECTION),
    ("thanks", COURTESY),
    ("thank you", COURTESY),
    ("great", COURTESY),
    ("perfect", COURTESY),
    ("awesome", COURTESY),
    ("you're right", COURTESY),
    ("absolutely right", COURTESY),
    ("good question", COURTESY),
    ("sorry", COURTESY),
    ("ok", COURTESY),
    ("okay", COURTESY),
    ("yes", COURTESY),
    ("yeah", COURTESY),
    ("yep", COURTESY),
    ("sure", COURTESY),
    ("go ahead", COURTESY),
    ("go on", COURTESY),
    ("proceed", COURTESY),
    ("sounds good", COURTESY),
    ("looks good", COURTESY),
    ("apologize", COURTESY),
    ("let me", NARRATION),
    ("i'll", NARRATION),
    ("i will", NARRATION),
    ("now i", NARRATION),
    ("let me check", NARRATION),
    ("now let", NARRATION),
    ("i'm going to", NARRATION),
    ("obsolete", DISCLAIMED),
    ("unrelated", DISCLAIMED),
    ("irrelevant", DISCLAIMED),
    ("superseded", DISCLAIMED),
    ("deprecated", DISCLAIMED),
    ("outdated", DISCLAIMED),
    ("for now", CURRENT),
    ("currently", CURRENT),
    ("at the moment", CURRENT),
    ("right now", CURRENT),
    ("still", CURRENT),
    // German
    ("nicht", PROHIBITION),
    ("kein", PROHIBITION),
    ("keine", PROHIBITION),
    ("niemals", PROHIBITION | RULE),
    ("nie", PROHIBITION | RULE),
    ("immer", RULE),
    ("muss", RULE),
    ("mussen", RULE),
    ("darf", RULE),
    ("durfen", RULE),
    ("bitte", WISH),
    ("soll", WISH),
    ("sollen", WISH),
    ("sollte", WISH),
    ("ich will", WISH),
    ("ich mochte", WISH),
    ("noch nicht", DEFER | PROHIBITION),
    ("entschieden", DECISION),
    ("beschlossen", DECISION),
    ("statt", CONTRAST | DECISION),
    ("fehler", FAILURE),
    ("fehlgeschlagen", FAILURE),
    ("fertig", DONE),
    ("erledigt", DONE),
    ("wichtig", EMPHASIS),
    ("erst", DEFER),
    ("offen", TASK),
    ("ziel", GOAL),
    // French
    ("ne pas", PROHIBITION | RULE),
    ("jamais", PROHIBITION | RULE),
    ("toujours", RULE),
    ("il faut", RULE),
    ("doit", RULE),
    ("doivent", RULE),
    ("interdit", PROHIBITION | RULE),
    ("pas encore", DEFER | PROHIBITION),
    ("s'il te plait", WISH),
    ("s'il vous plait", WISH),
    ("je veux", WISH),
    ("je voudrais", WISH),
    ("decide", DECISION),
    ("plutot que", CONTRAST | DECISION),
    ("erreur", FAILURE),
    ("echec", FAILURE),
    ("termine", DONE),
    ("objectif", GOAL),
    ("ne", 0),
    // Spanish, Portuguese, Italian
    ("nunca", PROHIBITION | RULE),
    ("siempre", RULE),
    ("sempre", RULE),
    ("debe", RULE),
    ("deben", RULE),
    ("deve", RULE),
    ("devono", RULE),
    ("prohibido", PROHIBITION | RULE),
    ("proibido", PROHIBITION | RULE),
    ("todavia no", DEFER | PROHIBITION),
    ("aun no", DEFER | PROHIBITION),
    ("ainda nao", DEFER | PROHIBITION),
    ("non ancora", DEFER | PROHIBITION),
    ("por favor", WISH),
    ("per favore", WISH),
    ("quiero", WISH),
    ("quero", WISH),
    ("voglio", WISH),
    ("nao", PROHIBITION),
    ("mai", PROHIBITION | RULE),
    ("decidimos", DECISION),
    ("deciso", DECISION),
    ("en lugar de", CONTRAST | DECISION),
    ("em vez de", CONTRAST | DECISION),
    ("invece di", CONTRAST | DECISION),
    ("falla", FAILURE),
    ("fallo", FAILURE),
    ("erro", FAILURE),
    ("errore", FAILURE),
    ("objetivo", GOAL),
    ("obiettivo", GOAL),
    // Polish, Dutch, Russian
    ("nie wolno", PROHIBITION | RULE),
    ("nigdy", PROHIBITION | RULE),
    ("zawsze", RULE),
    ("musi", RULE),
    ("prosze", WISH),
    ("niet", PROHIBITION),
    ("nooit", PROHIBITION | RULE),
    ("altijd", RULE),
    ("moet", RULE),
    ("alsjeblieft", WISH),
    ("не", PROHIBITION),
    ("нельзя", PROHIBITION | RULE),
    ("никогда", PROHIBITION | RULE),
    ("всегда", RULE),
    ("должен", RULE),
    ("должны", RULE),
    ("нужно", TASK),
    ("пожалуйста", WISH),
    ("хочу", WISH),
    ("ошибка", FAILURE),
    ("решили", DECISION),
    ("готово", DONE),
    ("пока не", DEFER | PROHIBITION),
    ("вместо", CONTRAST | DECISION),
];

/// Phrases of languages without spaces between words; also Korean, whose endings hide the word.
const RUNS: &[(&str, u32)] = &[
    ("不要", PROHIBITION),
    ("别", PROHIBITION),
    ("別", PROHIBITION),
    ("禁止", PROHIBITION | RULE),
    ("不能", PROHIBITION),
    ("不得", PROHIBITION | RULE),
    ("不允许", PROHIBITION | RULE),
    ("切勿", PROHIBITION | RULE),
    ("绝不", PROHIBITION | RULE),
    ("先别", DEFER | PROHIBITION),
    ("先不", DEFER | PROHIBITION),
    ("暂时", DEFER),
    ("还没", DEFER),
    ("必须", RULE),
    ("必須", RULE),
    ("务必", RULE),
    ("一定", RULE),
    ("总是", RULE),
    ("始终", RULE),
    ("只能", RULE),
    ("好的", COURTESY),
    ("可以", COURTESY),
    ("谢谢", COURTESY),
    ("了解", COURTESY),
    ("ありがとう", COURTESY),
    ("감사", COURTESY),
    ("请", WISH),
    ("請", WISH),
    ("希望", WISH),
    ("我要", WISH),
    ("我想", WISH),
    ("决定", DECISION),
    ("決定", DECISION),
    ("改用", DECISION),
    ("而不是", CONTRAST | DECISION),
    ("待办", TASK),
    ("下一步", TASK),
    ("需要", TASK),
    ("错误", FAILURE),
    ("錯誤", FAILURE),
    ("失败", FAILURE),
    ("失敗", FAILURE),
    ("报错", FAILURE),
    ("因为", CAUSE),
    ("原因", CAUSE),
    ("完成", DONE),
    ("已修复", DONE),
    ("目标", GOAL),
    ("注意", EMPHASIS),
    ("重要", EMPHASIS),
    ("记住", EMPHASIS | RULE),
    ("是否", ASK),
    ("しないで", PROHIBITION | RULE),
    ("してはいけ", PROHIBITION | RULE),
    ("ではいけ", PROHIBITION | RULE),
    ("ないでください", PROHIBITION | RULE),
    ("必ず", RULE),
    ("常に", RULE),
    ("べき", RULE),
    ("ください", WISH),
    ("したい", WISH),
    ("まだ", DEFER),
    ("まで", DEFER),
    ("エラー", FAILURE),
    ("ため", CAUSE),
    ("完了", DONE),
    ("目的", GOAL),
    ("目標", GOAL),
    ("次に", TASK),
    ("でしょうか", ASK),
    ("하지 마", PROHIBITION | RULE),
    ("하지마", PROHIBITION | RULE),
    ("지 마세요", PROHIBITION | RULE),
    ("금지", PROHIBITION | RULE),
    ("안 돼", PROHIBITION),
    ("반드시", RULE),
    ("항상", RULE),
    ("해야", RULE),
    ("해 주세요", WISH),
    ("해주세요", WISH),
    ("주세요", WISH),
    ("아직", DEFER),
    ("결정", DECISION),
    ("대신", CONTRAST | DECISION),
    ("오류", FAILURE),
    ("에러", FAILURE),
    ("실패", FAILURE),
    ("완료", DONE),
    ("목표", GOAL),
    ("다음", TASK),
    ("중요", EMPHASIS),
];

/// All phrases, ready to be looked up.
pub struct Cues {
    /// By the hash of the first word: the other words and the meaning.
    by_first: std::collections::HashMap<u64, Vec<(Vec<u64>, u32)>>,
}

impl Cues {
    /// Built once for a survey.
    pub fn new() -> Cues {
        let mut by_first: std::collections::HashMap<u64, Vec<(Vec<u64>, u32)>> = std::collections::HashMap::new();
        for (phrase, meaning) in PHRASES {
            let mut words = phrase.split(' ').map(word_hash);
            if let Some(first) = words.next() {
                by_first.entry(first).or_default().push((words.collect(), *meaning));
            }
        }
        // The longest phrase first: "don't know" is not "don't".
        for list in by_first.values_mut() {
            list.sort_by_key(|(rest, _)| std::cmp::Reverse(rest.len()));
        }
        Cues { by_first }
    }

    /// What the phrases of a sentence hint at: its bits, and how many phrases there were.
    pub fn read(&self, sentence: &str, words: &[u64]) -> (u32, u32) {
        let (mut bits, mut count) = (0, 0);
        let mut at = 0;
        while let Some(word) = words.get(at) {
            let mut step = 1;
            if let Some(list) = self.by_first.get(word) {
                for (rest, meaning) in list {
                    if words.get(at + 1..at + 1 + rest.len()) == Some(rest.as_slice()) {
                        bits |= meaning;
                        count += (*meaning != 0) as u32;
                        step += rest.len();
                        break;
                    }
                }
            }
            at += step;
        }
        if !sentence.is_ascii() {
            for (phrase, meaning) in RUNS {
                if sentence.contains(phrase) {
                    bits |= meaning;
                    count += 1;
                }
            }
        }
        if ends_as_question(sentence) {
            bits |= QUESTION;
        }
        (bits, count)
    }
}

impl Default for Cues {
    fn default() -> Cues {
        Cues::new()
    }
}

fn ends_as_question(sentence: &str) -> bool {
    sentence.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '?' && c != '？').ends_with(['?', '？'])
}

/// The hash of one word as [`words`] gives it.
fn word_hash(word: &str) -> u64 {
    let mut hash = 0;
    words(word, |found| hash = found);
    hash
}

/// Gives the hash of each word of a text: lower case, without diacritics, apostrophes in one form.
pub fn words(text: &str, mut found: impl FnMut(u64)) {
    let mut state = SEED;
    let mut length = 0;
    for c in text.chars() {
        let letter = if c.is_ascii() {
            if c.is_ascii_alphanumeric() || c == '\'' && length > 0 { Some(c.to_ascii_lowercase()) } else { None }
        } else if matches!(c, '’' | 'ʼ') {
            (length > 0).then_some('\'')
        } else if c.is_alphanumeric() {
            Some(fold(c))
        } else {
            None
        };
        match letter {
            Some(letter) => {
                state = (state ^ letter as u64).wrapping_mul(0x0000_0100_0000_01b3);
                length += 1;
            }
            None if length > 0 => {
                found(state);
                (state, length) = (SEED, 0);
            }
            None => {}
        }
    }
    if length > 0 {
        found(state);
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

fn fold(c: char) -> char {
    match c {
        'ä' | 'á' | 'à' | 'â' | 'ã' | 'å' | 'Ä' | 'Á' | 'À' => 'a',
        'é' | 'è' | 'ê' | 'ë' | 'É' | 'È' | 'ę' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ö' | 'ó' | 'ò' | 'ô' | 'õ' | 'Ö' => 'o',
        'ü' | 'ú' | 'ù' | 'û' | 'Ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        _ => c.to_lowercase().next().unwrap_or(c),
    }
}
