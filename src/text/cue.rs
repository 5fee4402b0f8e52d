//! Polarity, status and modality: the words that turn a statement round.
//!
//! English in full; short tables for German, French, Spanish, Chinese, Japanese and Korean. All tables were written
//! from general knowledge of these languages.

use super::table::Table;
use super::token::{Place, Token, tokens};
use super::{pair, word_hash};
use std::sync::OnceLock;

/// A set of cues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cues(u16);

impl Cues {
    /// No cue.
    pub const NONE: Cues = Cues(0);
    /// not, no, never, without, isn't, no longer.
    pub const NEGATION: Cues = Cues(1);
    /// done, completed, fixed, merged, passed, ✅.
    pub const DONE: Cues = Cues(2);
    /// pending, todo, waiting, not yet, remaining, in progress.
    pub const PENDING: Cues = Cues(4);
    /// failed, broken, error, crash, ❌.
    pub const FAILED: Cues = Cues(8);
    /// may, might, perhaps, proposed, considering.
    pub const TENTATIVE: Cues = Cues(16);
    /// confirmed, verified, decided, approved.
    pub const CONFIRMED: Cues = Cues(32);
    /// must, always, required, need to.
    pub const OBLIGATION: Cues = Cues(64);
    /// don't, never, must not, avoid, forbidden.
    pub const PROHIBITION: Cues = Cues(128);
    /// A question mark or a word that asks.
    pub const QUESTION: Cues = Cues(256);
    /// instead of, rather than, replaced by, no longer.
    pub const CHANGE: Cues = Cues(512);

    /// Both sets together.
    pub const fn with(self, other: Cues) -> Cues {
        Cues(self.0 | other.0)
    }

    /// This set without the other.
    pub const fn without(self, other: Cues) -> Cues {
        Cues(self.0 & !other.0)
    }

    /// Whether any of `other` is in this set.
    pub const fn has(self, other: Cues) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether it is empty.
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

/// Where a cue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hit {
    /// First byte.
    pub start: usize,
    /// Behind its last byte.
    pub end: usize,
    /// What it says.
    pub cues: Cues,
}

const NEG: Cues = Cues::NEGATION;
const PROHIBIT: Cues = Cues::PROHIBITION.with(Cues::NEGATION);
const NOT_YET: Cues = Cues::PENDING.with(Cues::NEGATION);

/// Single words: English, German, French, Spanish.
const WORDS: &[(Cues, &str)] = &[
    (
        NEG,
        "not no never none nothing neither nor without cannot isn't aren't wasn't weren't doesn't didn't haven't hasn't \
         hadn't couldn't wouldn't needn't unable lacks lacking lack absent missing nicht kein keine keinen keiner nie \
         niemals ohne ne pas jamais sans aucun aucune ningún ninguna nunca sin jamás tampoco",
    ),
    (
        PROHIBIT,
        "don't can't won't mustn't shouldn't avoid forbidden prohibited refuse forbid prohibit disallow disallowed verboten interdit prohibido",
    ),
    (
        Cues::DONE,
        "done completed complete finished fixed merged resolved implemented passed passing passes committed deployed \
         solved shipped landed succeeded success successful successfully works working ready closed achieved erledigt \
         fertig abgeschlossen behoben gelöst terminé fini corrigé résolu hecho terminado completado corregido resuelto listo",
    ),
    (
        Cues::PENDING,
        "pending todo waiting awaiting remaining remains outstanding unfinished incomplete unresolved unstarted later \
         upcoming postponed deferred blocked wip offen ausstehend später attente restant pendiente falta después",
    ),
    (
        Cues::FAILED,
        "failed fails failing failure fail broken breaks error errors crash crashed crashes exception bug regression \
         fehlgeschlagen fehler kaputt gescheitert échoué échec erreur cassé falló fallo fallido error roto",
    ),
    (
        Cues::TENTATIVE,
        "may might maybe perhaps possibly probably likely could considering proposed proposal suggests suspected \
         suspect apparently seems potentially presumably optional hypothesis unclear unconfirmed unverified vielleicht \
         möglicherweise vermutlich wahrscheinlich eventuell könnte peut-être probablement pourrait quizás tal \
         posiblemente probablemente podría",
    ),
    (
        Cues::CONFIRMED,
        "confirmed verified decided approved agreed certain definitely proven validated accepted bestätigt beschlossen \
         entschieden genehmigt confirmé décidé approuvé vérifié confirmado decidido aprobado verificado",
    ),
    (
        Cues::OBLIGATION,
        "must always should require required requires mandatory need needs ensure shall only muss müssen immer soll \
         sollte doit toujours faut debe siempre tiene",
    ),
    (Cues::QUESTION, "whether which why wondering unsure ob warum pourquoi cuál por"),
    (Cues::CHANGE, "instead replaced replaces formerly previously anymore stattdessen plutôt"),
];

/// Two words in a row.
const PHRASES: &[(Cues, &str)] = &[
    (NEG.with(Cues::CHANGE), "no longer,not any,nicht mehr,ne plus,ya no"),
    (NOT_YET, "not yet,noch nicht,pas encore,todavía no,aún no,yet to,still needs,still need,left to,not started"),
    (
        Cues::PENDING,
        "in progress,to do,next step,next steps,follow up,still open,still pending,in arbeit,en cours,en curso,por hacer",
    ),
    (PROHIBIT, "do not,must not,should not,may not,can not,never use,darf nicht,nicht ohne,no debe,ne pas"),
    (Cues::CHANGE, "instead of,rather than,replaced by,switched to,changed to,statt dessen,au lieu,en lugar,en vez"),
    (NEG, "out of,fails to,failed to"),
    (Cues::TENTATIVE, "not sure,tal vez,peut être,a lo"),
];

/// Scripts without spaces, and symbols: the longest first, so that 尚未完成 is not 完成.
const SUBSTRINGS: &[(Cues, &[&str])] = &[
    (NOT_YET, &["尚未完成", "还没有", "尚未", "还没", "還沒", "まだ", "未完了", "未完成", "아직", "미완료"]),
    (
        PROHIBIT,
        &[
            "不要",
            "不能",
            "不得",
            "禁止",
            "不可",
            "切勿",
            "しないで",
            "してはいけない",
            "してはならない",
            "하지 마",
            "하지마",
            "금지",
            "안 된다",
        ],
    ),
    (NEG.with(Cues::CHANGE), &["不再", "もう使わない", "더 이상"]),
    (
        NEG,
        &[
            "没有",
            "沒有",
            "无法",
            "無法",
            "不是",
            "不会",
            "ません",
            "しない",
            "ではない",
            "なし",
            "없",
            "않",
            "아니",
            "안 ",
        ],
    ),
    (
        Cues::DONE,
        &[
            "已完成",
            "完成",
            "已修复",
            "修复了",
            "解决了",
            "通过了",
            "完了",
            "修正済み",
            "できた",
            "成功",
            "완료",
            "해결",
            "성공",
            "끝났",
            "✅",
            "✔",
            "☑",
            "🎉",
        ],
    ),
    (
        Cues::PENDING,
        &[
            "待办",
            "待处理",
            "等待",
            "进行中",
            "進行中",
            "保留中",
            "待ち",
            "대기",
            "진행 중",
            "진행중",
            "남은",
            "⏳",
            "🚧",
            "☐",
            "🔄",
        ],
    ),
    (Cues::FAILED, &["失败", "失敗", "错误", "報錯", "报错", "エラー", "실패", "오류", "에러", "❌", "✗", "✘", "💥"]),
    (Cues::TENTATIVE, &["可能", "也许", "或许", "かもしれ", "おそらく", "たぶん", "아마", "수도 있", "것 같"]),
    (Cues::CONFIRMED, &["确认", "確認", "决定", "決定", "批准", "承認", "확인", "결정", "승인"]),
    (
        Cues::OBLIGATION,
        &["必须", "必須", "务必", "总是", "一定要", "必ず", "なければならない", "반드시", "항상", "해야"],
    ),
    (Cues::QUESTION, &["？", "吗", "是否", "ですか", "ますか", "까?", "나요"]),
    (Cues::CHANGE, &["改为", "改用", "而不是", "代わりに", "대신"]),
];

/// What is known of one word.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    cues: Cues,
    /// A phrase begins with it.
    opens: bool,
}

/// The words, and the phrases by the hash of their two words.
struct Tables {
    words: Table<Known>,
    phrases: Table<Cues>,
}

fn tables() -> &'static Tables {
    static TABLES: OnceLock<Tables> = OnceLock::new();
    TABLES.get_or_init(|| {
        let words = || WORDS.iter().flat_map(|(cues, list)| list.split_whitespace().map(|word| (*cues, word)));
        let phrases = || PHRASES.iter().flat_map(|(cues, list)| list.split(',').map(|phrase| (*cues, phrase)));
        let (count, pairs) = (words().count(), phrases().count());
        let mut tables = Tables { words: Table::new(count + pairs), phrases: Table::new(pairs) };
        for (cues, word) in words() {
            let known = tables.words.entry(word_hash(word));
            known.cues = known.cues.with(cues);
        }
        for (cues, phrase) in phrases() {
            let mut words = phrase.split(' ').map(word_hash);
            let (first, second) = (words.next().unwrap_or(0), words.next().unwrap_or(0));
            tables.words.entry(first).opens = true;
            let known = tables.phrases.entry(pair(first, second));
            *known = known.with(cues);
        }
        tables
    })
}

/// The cue of one word by its hash.
#[inline]
pub fn of_word(hash: u64) -> Cues {
    tables().words.get(hash).map_or(Cues::NONE, |known| known.cues)
}

/// Calls `emit` for each cue in `text`: words, phrases of two words, then substrings of other scripts and symbols.
pub fn find(text: &str, mut emit: impl FnMut(Hit)) {
    let mut reader = Reader::new();
    tokens(text, |token| reader.take(&token, &mut emit));
    find_marks(text, &mut emit);
}

/// The same for a text whose tokens are known.
pub fn find_in(text: &str, tokens: &[Token], mut emit: impl FnMut(Hit)) {
    let mut reader = Reader::new();
    for token in tokens {
        reader.take(token, &mut emit);
    }
    find_marks(text, &mut emit);
}

/// Reads the words of a text in order.
struct Reader {
    tables: &'static Tables,
    /// The word before, if a phrase begins with it: its first byte and its hash.
    opening: Option<(usize, u64)>,
}

impl Reader {
    fn new() -> Reader {
        Reader { tables: tables(), opening: None }
    }

    #[inline]
    fn take(&mut self, token: &Token, emit: &mut impl FnMut(Hit)) {
        if token.place == Place::Part {
            return;
        }
        let known = self.tables.words.get(token.hash).unwrap_or_default();
        if !known.cues.is_none() {
            emit(Hit { start: token.start, end: token.end, cues: known.cues });
        }
        if let Some((start, first)) = self.opening
            && let Some(cues) = self.tables.phrases.get(pair(first, token.hash))
        {
            emit(Hit { start, end: token.end, cues });
        }
        self.opening = known.opens.then_some((token.start, token.hash));
    }
}

fn find_marks(text: &str, emit: &mut impl FnMut(Hit)) {
    if text.is_ascii() {
        if text.ends_with('?') {
            emit(Hit { start: text.len() - 1, end: text.len(), cues: Cues::QUESTION });
        }
        return;
    }
    find_substrings(text, emit);
}

fn find_substrings(text: &str, emit: &mut impl FnMut(Hit)) {
    let mut position = 0;
    while let Some(rest) = text.get(position..).filter(|rest| !rest.is_empty()) {
        let Some(c) = rest.chars().next() else { break };
        let mut step = c.len_utf8();
        if !c.is_ascii() {
            for (cues, list) in SUBSTRINGS {
                if let Some(found) = list.iter().find(|known| rest.starts_with(**known)) {
                    emit(Hit { start: position, end: position + found.len(), cues: *cues });
                    step = found.len();
                    break;
                }
            }
        } else if c == '?' && rest.len() == 1 {
            emit(Hit { start: position, end: position + 1, cues: Cues::QUESTION });
        }
        position += step;
    }
}

/// All cues together of a text whose tokens are known.
pub fn of_tokens(text: &str, tokens: &[Token]) -> Cues {
    let mut all = Cues::NONE;
    find_in(text, tokens, |hit| all = all.with(hit.cues));
    all
}

/// All cues of a text together.
pub fn of_text(text: &str) -> Cues {
    let mut all = Cues::NONE;
    find(text, |hit| all = all.with(hit.cues));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn english_cues_are_found_in_any_form() {
        assert!(of_text("We do not use it").has(Cues::NEGATION));
        assert!(of_text("don’t touch prod").has(Cues::PROHIBITION));
        assert!(of_text("Tests are passing").has(Cues::DONE));
        assert!(of_text("migration is still pending").has(Cues::PENDING));
        assert!(of_text("It **might** be the cache").has(Cues::TENTATIVE));
        assert!(of_text("Not yet deployed").has(Cues::PENDING));
        assert!(of_text("which one?").has(Cues::QUESTION));
        assert!(of_text("Use the blue notebook").is_none());
    }

    #[test]
    fn other_languages_have_cues_too() {
        assert!(of_text("不要提交代码").has(Cues::PROHIBITION));
        assert!(of_text("任务尚未完成").has(Cues::PENDING));
        assert!(!of_text("任务尚未完成").has(Cues::DONE));
        assert!(of_text("テストは失敗しました").has(Cues::FAILED));
        assert!(of_text("배포 완료").has(Cues::DONE));
        assert!(of_text("Das ist nicht erledigt").has(Cues::NEGATION));
        assert!(of_text("ne jamais supprimer").has(Cues::NEGATION));
        assert!(of_text("nunca borrar").has(Cues::NEGATION));
    }
}
