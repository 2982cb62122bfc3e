//! The ways of questions: over a direct link that is open, over one that is to be made, or through the tree. A machine of states without
//! sockets: whoever owns it does the [`Step`]s and tells what came of them. `tally` counts with the same one.
//!
//! A link to a node is *made* (its questions wait), then *open* (they are under way), then gone. At most [`MOST`] are there at once: an open one
//! without a question under way gives its place up, the longest unused first; where all are in use a question waits for a place.
//! A node to which no link could be made is asked through the tree from then on; a question that was under way when its link broke
//! is asked again through the tree, where mpirun answers for a daemon that is gone. So each question is answered, or goes through the tree, once.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::{Duration, Instant};

/// Links that a daemon makes, at once.
pub const MOST: usize = 64;
/// An open link that nothing was asked over for so long is closed.
pub const IDLE: Duration = Duration::from_secs(30);
/// Questions that wait for a place go through the tree when no link has done anything for so long.
pub const STALL: Duration = Duration::from_secs(10);

/// A value of another node that is asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Question {
    pub proc: u32,
    pub key: String,
}

/// An action for the owner of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Make a link to this node, and tell `opened` or `lost`.
    Connect(u32),
    /// Ask this node over its link, which is open.
    Ask(u32, Question),
    /// Close the link to this node, over which nothing is under way.
    Close(u32),
    ByTree(Question),
}

#[derive(Debug)]
struct Link {
    open: bool,
    /// Questions that wait until it is open; then those that are under way.
    questions: Vec<Question>,
    used: Instant,
}

/// See the file's head.
#[derive(Debug)]
pub struct Table {
    most: usize,
    links: BTreeMap<u32, Link>,
    /// Questions that wait for a place.
    waiting: VecDeque<(u32, Question)>,
    /// Nodes to which no link can be made.
    barred: BTreeSet<u32>,
    /// When a link last did anything.
    progress: Instant,
}

impl Table {
    /// At most `most` links at once, which is more than none.
    pub fn new(most: usize, now: Instant) -> Table {
        let (links, waiting, barred) = (BTreeMap::new(), VecDeque::new(), BTreeSet::new());
        Table { most: most.max(1), links, waiting, barred, progress: now }
    }

    /// A question for a node.
    pub fn want(&mut self, node: u32, question: Question, now: Instant) -> Vec<Step> {
        if self.barred.contains(&node) {
            return vec![Step::ByTree(question)];
        }
        if let Some(link) = self.links.get_mut(&node) {
            link.used = now;
            link.questions.push(question.clone());
            return if link.open { vec![Step::Ask(node, question)] } else { Vec::new() };
        }
        if self.waiting.is_empty() {
            // Before the first that waits nobody has had to.
            self.progress = now;
        }
        self.waiting.push_back((node, question));
        self.fill(now)
    }

    /// A link that was to be made is open.
    pub fn opened(&mut self, node: u32, now: Instant) -> Vec<Step> {
        self.progress = now;
        let Some(link) = self.links.get_mut(&node).filter(|link| !link.open) else { return Vec::new() };
        (link.open, link.used) = (true, now);
        link.questions.iter().map(|question| Step::Ask(node, question.clone())).collect()
    }

    /// An answer came over a link. None: nobody has asked that.
    pub fn answered(&mut self, node: u32, question: &Question, now: Instant) -> Option<Vec<Step>> {
        let link = self.links.get_mut(&node).filter(|link| link.open)?;
        let at = link.questions.iter().position(|asked| asked == question)?;
        link.questions.swap_remove(at);
        link.used = now;
        self.progress = now;
        Some(self.fill(now))
    }

    /// A link is gone, or could not be made: then the node is asked through the tree from now on.
    pub fn lost(&mut self, node: u32, now: Instant) -> Vec<Step> {
        let Some(link) = self.links.remove(&node) else { return Vec::new() };
        self.progress = now;
        let mut steps: Vec<Step> = link.questions.into_iter().map(Step::ByTree).collect();
        if !link.open {
            self.barred.insert(node);
        }
        steps.extend(self.fill(now));
        steps
    }

    /// Closes links that are not used any more, and has nobody wait for a place for ever.
    pub fn expire(&mut self, now: Instant) -> Vec<Step> {
        let is_idle = |link: &Link| link.is_free() && now.saturating_duration_since(link.used) >= IDLE;
        let idle = self.links.iter().filter(|(_, link)| is_idle(link)).map(|(node, _)| *node);
        let idle: Vec<u32> = idle.collect();
        let mut steps: Vec<Step> = Vec::new();
        for node in idle {
            self.links.remove(&node);
            steps.push(Step::Close(node));
        }
        if now.saturating_duration_since(self.progress) >= STALL {
            steps.extend(self.waiting.drain(..).map(|(_, question)| Step::ByTree(question)));
        }
        steps
    }

    /// Nobody waits for a place.
    pub fn is_quiet(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Everything goes through the tree from now on.
    pub fn give_up(&mut self) -> Vec<Step> {
        let links = std::mem::take(&mut self.links);
        let asked = links.into_values().flat_map(|link| link.questions);
        let waiting = self.waiting.drain(..).map(|(_, question)| question);
        asked.chain(waiting).map(Step::ByTree).collect()
    }

    /// Gives places to those that wait, as long as there are some, and first for the nodes of those that wait longest.
    fn fill(&mut self, now: Instant) -> Vec<Step> {
        let mut steps = Vec::new();
        while let Some((node, _)) = self.waiting.front() {
            let node = *node;
            if !self.barred.contains(&node) && !self.links.contains_key(&node) {
                if self.links.len() >= self.most {
                    let free = self.links.iter().filter(|(_, link)| link.is_free());
                    let Some((&oldest, _)) = free.min_by_key(|(_, link)| link.used) else { break };
                    self.links.remove(&oldest);
                    steps.push(Step::Close(oldest));
                }
                self.links.insert(node, Link { open: false, questions: Vec::new(), used: now });
                steps.push(Step::Connect(node));
            }
            let Some((_, question)) = self.waiting.pop_front() else { break };
            match self.links.get_mut(&node) {
                None => steps.push(Step::ByTree(question)),
                Some(link) => {
                    link.questions.push(question.clone());
                    link.used = now;
                    if link.open {
                        steps.push(Step::Ask(node, question));
                    }
                }
            }
        }
        steps
    }
}

impl Link {
    /// It is open, and nothing is under way.
    fn is_free(&self) -> bool {
        self.open && self.questions.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn question(proc: u32) -> Question {
        Question { proc, key: "card".into() }
    }

    #[test]
    fn a_link_is_made_once_and_used_again() {
        let now = Instant::now();
        let mut table = Table::new(2, now);
        assert_eq!(table.want(5, question(50), now), [Step::Connect(5)]);
        assert_eq!(table.want(5, question(51), now), []);
        assert_eq!(table.opened(5, now), [Step::Ask(5, question(50)), Step::Ask(5, question(51))]);
        assert_eq!(table.answered(5, &question(51), now), Some(vec![]));
        assert_eq!(table.answered(5, &question(51), now), None, "twice");
        assert_eq!(table.answered(6, &question(60), now), None, "nobody asked");
        assert_eq!(table.answered(5, &question(50), now), Some(vec![]));
        assert_eq!(table.want(5, question(52), now), [Step::Ask(5, question(52))]);
        assert_eq!(table.answered(5, &question(52), now), Some(vec![]));
        assert_eq!(table.expire(now + IDLE / 2), []);
        assert_eq!(table.expire(now + IDLE), [Step::Close(5)]);
        assert_eq!(table.want(5, question(53), now), [Step::Connect(5)]);
    }

    #[test]
    fn what_cannot_be_made_goes_by_the_tree_and_what_breaks_is_asked_again() {
        let now = Instant::now();
        let mut table = Table::new(2, now);
        table.want(5, question(50), now);
        assert_eq!(table.lost(5, now), [Step::ByTree(question(50))]);
        assert_eq!(table.want(5, question(51), now), [Step::ByTree(question(51))], "it stays so");
        table.want(6, question(60), now);
        table.opened(6, now);
        assert_eq!(table.lost(6, now), [Step::ByTree(question(60))]);
        assert_eq!(table.want(6, question(61), now), [Step::Connect(6)], "it was there once");
    }

    #[test]
    fn places_are_few_and_nobody_waits_for_ever() {
        let now = Instant::now();
        let mut table = Table::new(2, now);
        for node in [1, 2] {
            table.want(node, question(node), now);
            table.opened(node, now);
        }
        assert_eq!(table.want(3, question(3), now), [], "both are in use");
        assert_eq!(
            table.answered(2, &question(2), now),
            Some(vec![Step::Close(2), Step::Connect(3)]),
            "the first that is free makes room"
        );
        assert_eq!(table.want(4, question(4), now), []);
        assert_eq!(table.expire(now + STALL / 2), []);
        assert_eq!(table.expire(now + STALL), [Step::ByTree(question(4))]);
    }

    /// An owner that does what it is told, with links that open, break and answer in any order.
    #[derive(Debug, Default)]
    struct Owner {
        making: BTreeSet<u32>,
        /// Of open links: what is under way.
        open: BTreeMap<u32, Vec<Question>>,
        /// How often each question has come to an end.
        ended: BTreeMap<u32, u32>,
    }

    impl Owner {
        fn take(&mut self, steps: Vec<Step>) {
            for step in steps {
                match step {
                    Step::Connect(node) => {
                        assert!(!self.open.contains_key(&node) && self.making.insert(node), "twice");
                    }
                    Step::Ask(node, question) => {
                        self.open.get_mut(&node).expect("it is open").push(question);
                    }
                    Step::Close(node) => {
                        assert_eq!(self.open.remove(&node), Some(vec![]), "something is under way");
                    }
                    Step::ByTree(question) => *self.ended.entry(question.proc).or_default() += 1,
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_question_ends_once(
            most in 1usize..5,
            acts in prop::collection::vec((0u8..6, 0u32..8), 1..200),
        ) {
            let mut now = Instant::now();
            let (mut table, mut owner, mut asked) = (Table::new(most, now), Owner::default(), 0);
            for (act, node) in acts {
                now += Duration::from_secs(1);
                let steps = match act {
                    0 | 1 => {
                        asked += 1;
                        table.want(node, question(asked), now)
                    }
                    2 if owner.making.remove(&node) => {
                        owner.open.insert(node, Vec::new());
                        table.opened(node, now)
                    }
                    3 if owner.open.get(&node).is_some_and(|all| !all.is_empty()) => {
                        let question = owner.open.get_mut(&node).expect("open").remove(0);
                        *owner.ended.entry(question.proc).or_default() += 1;
                        table.answered(node, &question, now).expect("it was asked")
                    }
                    4 if owner.making.remove(&node) || owner.open.remove(&node).is_some() => {
                        table.lost(node, now)
                    }
                    5 => table.expire(now),
                    _ => Vec::new(),
                };
                owner.take(steps);
                prop_assert!(owner.making.len() + owner.open.len() <= most);
            }
            owner.open.clear();
            owner.take(table.give_up());
            let all: BTreeMap<u32, u32> = (1..=asked).map(|proc| (proc, 1)).collect();
            prop_assert_eq!(owner.ended, all);
        }
    }
}
