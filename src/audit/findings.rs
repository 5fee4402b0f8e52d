//! What was lost, most important first: neighbours in one line, families with only their lost members.

use super::judge::Judgement;
use super::summary::Summary;
use super::swaps::Swap;
use crate::config::Settings;
use crate::event::{AfterCompaction, Role};
use crate::redact::redact;
use crate::report::{Finding, Kind, Status};
use crate::signal::weights::{FAMILY, MAX_MEMBERS, MAX_TEXT, NAME_BANDS, NAME_LINE};
use crate::signal::{Ledger, Member, bounded, names};
use std::collections::HashMap;

/// Which messages still stand verbatim.
pub struct Retained {
    from: usize,
    ids: Vec<usize>,
}

impl Retained {
    /// By ids where the gateway gives them, else by their number.
    pub fn new(ledger: &Ledger, event: &AfterCompaction) -> Retained {
        let count = ledger.message_count as usize;
        let mut ids: Vec<usize> =
            event.kept_message_ids.iter().flatten().filter_map(|id| ledger.position(id)).collect();
        ids.sort_unstable();
        let from = event
            .first_kept_entry_id
            .as_deref()
            .and_then(|id| ledger.position(id))
            .or_else(|| {
                event.messages_retained.filter(|_| ids.is_empty()).map(|kept| count.saturating_sub(kept as usize))
            })
            .unwrap_or(count);
        Retained { from, ids }
    }

    /// The share of the messages that the summary replaces.
    pub fn replaced(&self, ledger: &Ledger) -> f64 {
        let count = ledger.message_count.max(1);
        let gone = (0..ledger.message_count).filter(|index| !self.has(*index)).count();
        gone as f64 / f64::from(count)
    }

    /// Whether the message at this place still stands.
    pub fn has(&self, index: u32) -> bool {
        index as usize >= self.from || self.ids.binary_search(&(index as usize)).is_ok()
    }
}

/// Statements whose loss matters less are counted in the score but not listed.
const LISTED: f64 = 0.25;
/// The same for lists of values.
const LIST_LISTED: f64 = 0.04;
/// So much of a pinned fact must stand in one place.
const PINNED: f64 = 0.7;
/// A value in the place of another matters at least so much.
const SWAPPED: f64 = 0.5;
/// An altered fact is worse than a dropped one.
const ALTERED: f64 = 0.15;
/// Neighbours stand in one line up to so many bytes: what a person reads at a glance.
const NEIGHBOURS: usize = 150;
/// A statement of so few bytes says little without its neighbour.
const FRAGMENT: usize = 48;
/// The best line of names among the other findings; those behind it fall with the root of what they are worth, so that
/// lines of names and statements stand mixed.
const NAMES_LISTED: f64 = 0.66;

/// The findings, most important first.
pub fn findings(judgements: &[Judgement<'_>], swaps: &[Swap<'_>], summary: &Summary<'_>) -> Vec<Finding> {
    let mut lost: Vec<(f64, &Judgement<'_>)> = judgements
        .iter()
        .filter(|judgement| matches!(judgement.status, Status::Dropped | Status::Altered))
        .filter(|judgement| !is_names(judgement))
        .map(|judgement| (priority(judgement), judgement))
        .filter(|(priority, judgement)| *priority >= if judgement.gone.is_empty() { LISTED } else { LIST_LISTED })
        .collect();
    lost.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.signal.order.cmp(&b.1.signal.order)));
    let mut findings = swapped(judgements, swaps, summary);
    let mut orders: Vec<(u32, u32)> = vec![(0, 0); findings.len()];
    for (priority, judgement) in lost {
        let signal = judgement.signal;
        let mut finding = finding(judgement, priority);
        // A neighbour of what is listed already belongs into its line.
        let neighbour = (signal.order > 0 && judgement.status == Status::Dropped)
            .then(|| {
                orders.iter().position(|(low, high)| *low > 0 && (signal.order + 1 == *low || signal.order == high + 1))
            })
            .flatten();
        if let Some(place) = neighbour
            && let (Some(known), Some(span)) = (findings.get_mut(place), orders.get_mut(place))
            && known.message_id == finding.message_id
            && belong_together(&known.text, &finding.text)
        {
            if signal.order < span.0 {
                span.0 = signal.order;
                known.text = format!("{} {}", finding.text, known.text);
            } else {
                span.1 = signal.order;
                known.text = format!("{} {}", known.text, finding.text);
            }
            known.values.append(&mut finding.values);
            continue;
        }
        orders.push((signal.order, signal.order));
        findings.push(finding);
    }
    findings.extend(name_lines(judgements));
    findings.sort_by(|a, b| b.salience.total_cmp(&a.salience));
    findings
}

/// Two neighbours stand in one line where it stays short, or where one of them says little alone.
fn belong_together(one: &str, other: &str) -> bool {
    let (shorter, both) = (one.len().min(other.len()), one.len() + other.len());
    both < if shorter <= FRAGMENT { MAX_TEXT } else { NEIGHBOURS }
}

/// Names that were used together, and not a list of values.
fn is_names(judgement: &Judgement<'_>) -> bool {
    judgement.signal.members.first().is_some_and(|member| member.weight > 0.0)
}

/// The lost names, packed into lines by how surely they will be needed: those of one family together.
fn name_lines(judgements: &[Judgement<'_>]) -> Vec<Finding> {
    let families = || judgements.iter().filter(|judgement| is_names(judgement));
    let weights = families().flat_map(|family| &family.signal.members).map(|member| member.weight);
    let top = weights.fold(0.0f64, f64::max).max(0.01);
    let mut gone: Vec<(&Member, &Judgement<'_>)> =
        families().flat_map(|family| family.gone.iter().map(move |member| (*member, family))).collect();
    gone.sort_by(|a, b| b.0.weight.total_cmp(&a.0.weight));
    let mut lines: Vec<Finding> = Vec::new();
    let mut rest = gone.as_slice();
    for band in NAME_BANDS {
        let (now, later) = rest.split_at(band.min(rest.len()));
        rest = later;
        // Within a band families stay together; the order of the first of each decides.
        let mut order: HashMap<&str, usize> = HashMap::new();
        for (_, family) in now {
            let next = order.len();
            order.entry(&family.signal.id).or_insert(next);
        }
        let mut sorted = now.to_vec();
        sorted.sort_by_cached_key(|(_, family)| order.get(family.signal.id.as_str()).copied());
        pack(&sorted, top, &mut lines);
    }
    lines
}

/// One line after another, each as long as a person reads.
fn pack(names: &[(&Member, &Judgement<'_>)], top: f64, lines: &mut Vec<Finding>) {
    let mut sum = 0.0;
    let from = lines.len();
    for (member, family) in names {
        let open = lines
            .last_mut()
            .filter(|_| sum > 0.0)
            .filter(|line| line.values.len() < FAMILY && line.text.len() + member.text.len() + 2 <= NAME_LINE);
        match open {
            Some(line) => {
                line.text.push_str(", ");
                line.text.push_str(&member.text);
                line.values.push(member.text.clone());
            }
            None => {
                sum = 0.0;
                let mut line = finding(family, 0.0);
                line.text = member.text.clone();
                line.values = vec![member.text.clone()];
                lines.push(line);
            }
        }
        sum += member.weight;
        if let Some(line) = lines.last_mut() {
            line.salience = NAMES_LISTED * libm::sqrt((sum / line.values.len() as f64 / top).min(1.0));
        }
    }
    for line in lines.iter_mut().skip(from) {
        line.status = Status::Dropped;
    }
}

/// Values that the summary put in the place of others: each an altered fact of its own.
fn swapped(judgements: &[Judgement<'_>], swaps: &[Swap<'_>], summary: &Summary<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for swap in swaps {
        let Some(family) = judgements.get(swap.signal).map(|judgement| judgement.signal) else { continue };
        let says = summary.piece(swap.piece);
        // The statement that says most about it; else the name itself.
        let names_it = |judgement: &&Judgement<'_>| {
            judgement.signal.order > 0 && judgement.signal.values.contains(&swap.ours.text)
        };
        let signal = judgements.iter().find(names_it).map_or(family, |judgement| judgement.signal);
        let text = if signal.order > 0 { signal.text.clone() } else { swap.ours.text.clone() };
        let mut values = vec![swap.ours.text.clone()];
        // What stands beside it says what it is the value of.
        names::names(says, |name| {
            let known = name.text == swap.theirs || values.iter().any(|known| known == name.text);
            if !known && values.len() < MAX_MEMBERS {
                values.push(name.text.to_string());
            }
        });
        let mut why = signal.why.clone();
        why.push(format!("the summary says {} where the messages say {}", swap.theirs, swap.ours.text));
        findings.push(Finding {
            id: format!("{}-{}", family.id, findings.len() + 1),
            kind: signal.kind,
            text,
            values,
            message_id: signal.message_id.clone(),
            role: signal.role,
            at: signal.at,
            salience: (family.salience.max(SWAPPED) + ALTERED).min(1.0),
            status: Status::Altered,
            summary_says: Some(redact(bounded(says, MAX_TEXT)).into_owned()),
            why,
        });
    }
    findings
}

fn priority(judgement: &Judgement<'_>) -> f64 {
    let salience = judgement.signal.salience;
    match judgement.status {
        Status::Altered => salience + ALTERED,
        _ if !judgement.gone.is_empty() => salience * (judgement.gone.len() as f64 / 12.0).min(1.0),
        _ => salience * (1.0 - judgement.kept),
    }
}

fn finding(judgement: &Judgement<'_>, priority: f64) -> Finding {
    let signal = judgement.signal;
    let mut why = signal.why.clone();
    why.push(judgement.why.clone());
    let (text, values) =
        if judgement.gone.is_empty() { (signal.text.clone(), signal.values.clone()) } else { family(judgement) };
    Finding {
        id: signal.id.clone(),
        kind: signal.kind,
        text,
        values,
        message_id: signal.message_id.clone(),
        role: signal.role,
        at: signal.at,
        salience: priority.clamp(0.0, 1.0),
        status: judgement.status,
        summary_says: judgement.says.clone(),
        why,
    }
}

/// The text of a family names its lost members densely.
fn family(judgement: &Judgement<'_>) -> (String, Vec<String>) {
    let mut text = judgement.signal.text.clone();
    if !text.is_empty() {
        text.push_str(": ");
    }
    let mut values: Vec<String> = Vec::new();
    for (number, member) in judgement.gone.iter().enumerate() {
        let separator = if number == 0 {
            ""
        } else if member.values.is_empty() {
            ", "
        } else {
            "; "
        };
        if text.len() + separator.len() + member.text.len() <= MAX_TEXT {
            text.push_str(separator);
            text.push_str(&member.text);
        }
        let of_member =
            if member.values.is_empty() { std::slice::from_ref(&member.text) } else { member.values.as_slice() };
        for value in of_member {
            if values.len() < MAX_MEMBERS && !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    (bounded(&text, MAX_TEXT).to_string(), values)
}

/// Pinned facts that the summary lacks; they come first.
pub fn lost_pins(settings: &Settings, summary: &Summary<'_>) -> Vec<Finding> {
    let mut lost = Vec::new();
    for (number, pin) in settings.audit.pins.iter().enumerate() {
        let values = crate::signal::prose::values(pin);
        if summary.share(pin) >= PINNED && values.iter().all(|value| summary.has(value)) {
            continue;
        }
        lost.push(Finding {
            id: format!("pin{}", number + 1),
            kind: Kind::Constraint,
            text: pin.clone(),
            values,
            message_id: "settings".to_string(),
            role: Role::User,
            at: None,
            salience: 1.0,
            status: Status::Dropped,
            summary_says: None,
            why: vec!["pinned in the settings".to_string(), "not in the summary".to_string()],
        });
    }
    lost
}
