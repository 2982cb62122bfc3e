//! Values that daemons ask of each other by links of their own, or through the tree where there is none.

use super::state::{ANSWER, DIRECT, Daemon};
use crate::direct::{Heard, Links, Question};
use crate::link::{Exchange, FromNode};
use rustix::event::epoll::{self, EventData, EventFlags};
use std::net::TcpListener;
use std::time::Instant;

impl Daemon {
    /// From now on daemons of other nodes may call here, where there are any, and this one calls them.
    pub(super) fn open_door(&mut self, door: Option<TcpListener>) -> Result<(), String> {
        if !self.several_nodes() || self.launch.doors.is_empty() {
            return Ok(());
        }
        let launch = &self.launch;
        let cannot = |why: std::io::Error| format!("cannot wait for other daemons: {why}");
        let links = Links::new(launch.node, launch.job_id, launch.secret.clone(), launch.doors.clone(), door);
        let links = links.map_err(cannot)?;
        epoll::add(&self.epoll, &links, EventData::new_u64(DIRECT), EventFlags::IN)
            .map_err(|why| cannot(why.into()))?;
        self.direct = Some(links);
        Ok(())
    }

    /// A rank asks for what a rank of another node has published.
    pub(super) fn ask(&mut self, proc: u32, key: String) {
        let question = Question { proc, key };
        let node = self.launch.map.node_of(proc);
        let heard = match (&mut self.direct, node) {
            (Some(links), Some(node)) => links.ask(node, question),
            _ => vec![Heard::ByTree(question)],
        };
        // A question that was just asked has no answer yet.
        let answered = self.take_heard(heard);
        debug_assert!(!answered, "an answer came before its question was sent");
    }

    /// Messages of other daemons. True: values came, and there may be more to ask.
    pub(super) fn hear_direct(&mut self) -> bool {
        let heard = self.direct.as_mut().map(Links::turn);
        heard.is_some_and(|heard| self.take_heard(heard))
    }

    /// Looks, when it is time to, which links are over. True: values came, and there may be more to ask.
    pub(super) fn look_at_direct_links(&mut self, now: Instant) -> bool {
        let heard = self.direct.as_mut().map(|links| links.look(now));
        heard.is_some_and(|heard| self.take_heard(heard))
    }

    /// True: values came.
    fn take_heard(&mut self, all: Vec<Heard>) -> bool {
        let mut answered = false;
        for heard in all {
            match heard {
                Heard::Ask { caller, proc, key } => {
                    let (values, whole) = self.server.values(proc, &key, ANSWER);
                    if let Some(links) = &mut self.direct {
                        links.answer(caller, Exchange::Answer { to: 0, proc, key, values, whole });
                    }
                }
                Heard::Answer { proc, key, values, whole } => {
                    self.server.receive_values(proc, &key, values, whole);
                    answered = true;
                }
                Heard::ByTree(Question { proc, key }) => {
                    let from = self.launch.node;
                    self.say(&FromNode::Exchange(Exchange::Ask { from, proc, key }));
                }
                Heard::Cannot { node, why } => self.say(&FromNode::Barred { node, why }),
                Heard::Refused(text) => self.say(&FromNode::Refused(text)),
            }
        }
        answered
    }
}
