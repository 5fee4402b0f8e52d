//! Sessions are trees: an edited prompt starts a new branch. Only the branch that was active at the end counts.

use super::entry::Line;
use super::{Entry, RecordedCompaction};
use std::collections::{HashMap, HashSet};

/// The entries on the active branch in order, and how many there were on others.
pub(super) fn active(lines: Vec<Line>) -> (Vec<Entry>, usize) {
    let on_branch = branch_of_last(&lines);
    let numbers: Vec<(usize, Option<String>)> = lines.iter().map(|line| (line.number(), line.message_id())).collect();
    let total = lines.len();
    let mut entries = Vec::with_capacity(total);
    let mut kept = 0;
    for line in lines {
        if let (Some(branch), Some(id)) = (&on_branch, line.id())
            && !branch.contains(id)
        {
            continue;
        }
        kept += 1;
        match line {
            Line::Message { message, .. } => entries.push(Entry::Message(message)),
            Line::Compaction { compaction, first_kept_index, .. } => {
                let first_kept_id = compaction.first_kept_id.or_else(|| at_or_after(&numbers, first_kept_index));
                entries.push(Entry::Compaction(RecordedCompaction { first_kept_id, ..compaction }));
            }
            Line::Header { .. } | Line::Other { .. } => {}
        }
    }
    (entries, total - kept)
}

/// The ids from the last entry up to the root; `None` where entries do not name their parents.
fn branch_of_last(lines: &[Line]) -> Option<HashSet<String>> {
    let parents: HashMap<&str, Option<&str>> =
        lines.iter().filter_map(|line| Some((line.id()?, line.parent()))).collect();
    if !parents.values().any(Option::is_some) {
        return None;
    }
    let mut branch = HashSet::new();
    let mut next = lines.iter().rev().find_map(Line::id);
    while let Some(id) = next {
        // An id that is there already closes a cycle: what was found so far stands.
        if !branch.insert(id.to_string()) {
            break;
        }
        next = parents.get(id).copied().flatten();
    }
    Some(branch)
}

/// Pi's older entries name the first kept one by its place in the file, the header being 0.
fn at_or_after(numbers: &[(usize, Option<String>)], index: Option<usize>) -> Option<String> {
    let index = index?;
    numbers.iter().find(|(number, id)| *number > index && id.is_some()).and_then(|(_, id)| id.clone())
}
