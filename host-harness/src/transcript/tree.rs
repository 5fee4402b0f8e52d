//! Sessions are trees: an edited prompt starts a new branch. Which lines belong to a branch is decided here, from ids
//! and parents alone: some 40 bytes are held for each line, whatever it says.

use super::classify::LineKind;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// No parent.
const NONE: u32 = u32::MAX;

/// One line that is part of the tree.
#[derive(Clone, Copy, Debug)]
struct Node {
    parent: u32,
    line: u32,
    kind: LineKind,
}

/// What was odd about a tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Oddities {
    /// Lines whose id was there before.
    pub duplicate_ids: u64,
    /// Lines that are their own ancestors.
    pub cycles: u64,
    /// Parents that are nowhere; the line before was taken instead.
    pub missing_parents: u64,
    /// The first line of each sort, for a person to look at.
    pub first_duplicate: Option<u64>,
    /// See there.
    pub first_cycle: Option<u64>,
}

/// The tree of one session.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    ids: HashMap<u64, u32>,
    /// Parents that were not there when their child came.
    pending: Vec<(u32, u64)>,
    /// The last line of the conversation: the end of the active branch.
    tip: Option<u32>,
    pub(super) oddities: Oddities,
}

/// The lines of one branch.
#[derive(Debug, Default)]
pub(super) struct Branch {
    /// For each line of the tree in order: its number, what it is, and whether it is on the branch.
    lines: Vec<(u32, LineKind)>,
}

impl Branch {
    /// The lines that must be read again, in order.
    pub(super) fn lines(&self) -> &[(u32, LineKind)] {
        &self.lines
    }
}

impl Tree {
    /// Takes in a line. `parent` is `None` where the format has none: the line before it then.
    pub(super) fn add(&mut self, kind: LineKind, line: u64, id: Option<&str>, parent: Option<Option<&str>>) {
        let index = self.nodes.len() as u32;
        let before = index.checked_sub(1).unwrap_or(NONE);
        let parent = match (id, parent) {
            (None, _) | (_, None) => before,
            (_, Some(None)) => NONE,
            (_, Some(Some(parent))) => {
                let hash = hash(parent);
                match self.ids.get(&hash) {
                    Some(known) => *known,
                    None => {
                        self.pending.push((index, hash));
                        before
                    }
                }
            }
        };
        self.nodes.push(Node { parent, line: u32::try_from(line).unwrap_or(NONE), kind });
        if let Some(id) = id
            && self.ids.insert(hash(id), index).is_some()
        {
            self.oddities.duplicate_ids += 1;
            self.oddities.first_duplicate.get_or_insert(line);
        }
        self.tip = Some(index);
    }

    /// All lines are known: parents that came after their children are found now.
    pub(super) fn finish(&mut self) {
        for (child, parent) in std::mem::take(&mut self.pending) {
            match self.ids.get(&parent) {
                Some(known) => self.nodes[child as usize].parent = *known,
                // The first line of a file that continues another one has its parent there.
                None if child > 0 => self.oddities.missing_parents += 1,
                None => {}
            }
        }
        self.ids = HashMap::new();
    }

    /// The branch that was active at the end.
    pub(super) fn active(&mut self) -> Branch {
        let tip = self.tip;
        self.branch(tip)
    }

    /// How many lines are on no branch of these.
    pub(super) fn lines_beside(&self, branch: &Branch) -> u64 {
        (self.nodes.len() - branch.lines.len()) as u64
    }

    /// How many compactions there are at all.
    pub(super) fn compactions(&self) -> usize {
        self.nodes.iter().filter(|node| node.kind == LineKind::Compaction).count()
    }

    /// Branches for the compactions that the given one does not have, each from its newest compaction up.
    pub(super) fn others(&mut self, active: &Branch, most: usize) -> Vec<Branch> {
        let mut covered: Vec<u32> = active.lines.iter().map(|(line, _)| *line).collect();
        let mut branches = Vec::new();
        for index in (0..self.nodes.len()).rev() {
            let node = self.nodes[index];
            if node.kind != LineKind::Compaction || covered.binary_search(&node.line).is_ok() {
                continue;
            }
            if branches.len() == most {
                break;
            }
            let branch = self.branch(Some(index as u32));
            covered.extend(branch.lines.iter().map(|(line, _)| *line));
            covered.sort_unstable();
            branches.push(branch);
        }
        branches
    }

    fn branch(&mut self, tip: Option<u32>) -> Branch {
        let mut on = vec![false; self.nodes.len()];
        let mut lowest = NONE;
        let mut next = tip.unwrap_or(NONE);
        while let Some(node) = self.nodes.get(next as usize).copied() {
            if std::mem::replace(&mut on[next as usize], true) {
                // Its own ancestor. What stands before the circle in the file comes next.
                self.oddities.cycles += 1;
                self.oddities.first_cycle.get_or_insert(u64::from(node.line));
                next = lowest.checked_sub(1).unwrap_or(NONE);
                if on.get(next as usize) != Some(&false) {
                    break;
                }
                continue;
            }
            lowest = lowest.min(next);
            next = node.parent;
        }
        self.adopt_results(&mut on);
        let lines = self.nodes.iter().zip(&on).filter(|(_, on)| **on);
        Branch { lines: lines.map(|(node, _)| (node.line, node.kind)).collect() }
    }

    /// Results of calls that were made at the same time hang side by side; the branch goes on from one of them only.
    fn adopt_results(&self, on: &mut [bool]) {
        for (index, node) in self.nodes.iter().enumerate() {
            if node.kind == LineKind::ToolResult && on.get(node.parent as usize) == Some(&true) {
                on[index] = true;
            }
        }
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines `id<parent`, numbered from 1; `-` is no parent.
    fn tree(lines: &[&str]) -> Tree {
        let mut tree = Tree::default();
        for (number, line) in (1..).zip(lines) {
            let (id, parent) = line.split_once('<').unwrap_or((line, "-"));
            let kind = match id.chars().next() {
                Some('k') => LineKind::Compaction,
                Some('r') => LineKind::ToolResult,
                _ => LineKind::Message,
            };
            tree.add(kind, number, Some(id), Some((parent != "-").then_some(parent)));
        }
        tree.finish();
        tree
    }

    fn numbers(branch: &Branch) -> Vec<u32> {
        branch.lines().iter().map(|(line, _)| *line).collect()
    }

    #[test]
    fn the_branch_of_the_last_line_counts() {
        let mut tree = tree(&["a", "b<a", "x<a", "c<b"]);
        let active = tree.active();
        assert_eq!(numbers(&active), [1, 2, 4]);
        assert_eq!(tree.lines_beside(&active), 1);
    }

    #[test]
    fn compactions_on_left_branches_are_found_too() {
        let mut tree = tree(&["a", "b<a", "k1<b", "c<k1", "k2<c", "d<b"]);
        let active = tree.active();
        assert_eq!(numbers(&active), [1, 2, 6]);
        let others = tree.others(&active, 8);
        assert_eq!(others.iter().map(numbers).collect::<Vec<_>>(), [[1, 2, 3, 4, 5]]);
    }

    #[test]
    fn cycles_end_and_are_named() {
        let mut tree = tree(&["z", "a<c", "b<a", "c<b"]);
        assert_eq!(numbers(&tree.active()), [1, 2, 3, 4]);
        assert_eq!((tree.oddities.cycles, tree.oddities.first_cycle), (1, Some(4)));
    }

    #[test]
    fn a_line_that_is_its_own_parent_does_not_hide_what_came_before() {
        let mut tree = tree(&["a", "b<a", "c<c", "d<c"]);
        assert_eq!(numbers(&tree.active()), [1, 2, 3, 4]);
    }

    #[test]
    fn of_two_lines_with_one_id_the_nearer_is_the_parent() {
        let mut tree = tree(&["a", "b<a", "b<a", "c<b"]);
        assert_eq!(numbers(&tree.active()), [1, 3, 4]);
        assert_eq!((tree.oddities.duplicate_ids, tree.oddities.first_duplicate), (1, Some(3)));
    }

    #[test]
    fn a_broken_line_does_not_cut_the_branch_off() {
        let mut tree = tree(&["a", "b<a", "d<broken"]);
        assert_eq!(numbers(&tree.active()), [1, 2, 3]);
        assert_eq!(tree.oddities.missing_parents, 1);
    }

    #[test]
    fn results_of_calls_at_the_same_time_belong_to_the_branch() {
        let mut tree = tree(&["a", "b<a", "r1<a", "r2<b", "c<r2"]);
        assert_eq!(numbers(&tree.active()), [1, 2, 3, 4, 5]);
    }
}
