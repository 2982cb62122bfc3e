//! The choice of the component that serves a window: the best by the least priority of all ranks.
//!
//! Every rank asks its components, and all are told all answers (two collectives: how many answers, then the answers).
//! A component counts where every rank has it and it said yes; its priority is the least that it said anywhere. Ranks
//! sort alike, so they try the same components in the same order. Making a module is collective; one that fails anywhere is
//! given back everywhere, and the next component is tried. A rank where the component panics in there cannot say so to those that wait
//! for it inside of the component: the job ends, with one report.

use crate::objects::{Communicator, Instance};
use oxmpi_loading::accept::accepted::OscComponent;
use oxmpi_loading::accept::read_osc_table;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::{Entry, Status};
use oxmpi_osc::Verbs;
use oxmpi_osc::{OscWindow, WinDesc};
use std::ptr::{null, null_mut};

/// A component's answer on the wire: its name, shortened, and priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Answer {
    name: [u8; NAME],
    priority: i32,
}

/// Bytes of a name that tell components apart; the loader refuses longer ones.
const NAME: usize = 64;
/// Bytes of an answer on the wire.
const ANSWER: usize = NAME + 4;

impl Answer {
    /// Makes an answer; a longer name is cut off.
    fn new(name: &str, priority: i32) -> Answer {
        let mut bytes = [0; NAME];
        let n = name.len().min(NAME);
        bytes[..n].copy_from_slice(&name.as_bytes()[..n]);
        Answer { name: bytes, priority }
    }

    /// Turns an answer into the bytes that travel.
    fn encode(&self) -> [u8; ANSWER] {
        let mut out = [0; ANSWER];
        out[..NAME].copy_from_slice(&self.name);
        out[NAME..].copy_from_slice(&self.priority.to_le_bytes());
        out
    }

    /// Reads an answer from its bytes.
    fn decode(bytes: &[u8; ANSWER]) -> Answer {
        let (mut name, mut priority) = ([0; NAME], [0; 4]);
        name.copy_from_slice(&bytes[..NAME]);
        priority.copy_from_slice(&bytes[NAME..]);
        Answer { name, priority: i32::from_le_bytes(priority) }
    }
}

/// The components that all ranks have, best first: by least priority, then in the order of rank 0.
fn ranking(all: &[Vec<Answer>]) -> Vec<[u8; NAME]> {
    let Some((first, others)) = all.split_first() else { return Vec::new() };
    let mut common: Vec<(i32, [u8; NAME])> = first
        .iter()
        .filter_map(|answer| {
            others
                .iter()
                .try_fold(answer.priority, |least, rank| {
                    let theirs = rank.iter().find(|a| a.name == answer.name)?;
                    Some(least.min(theirs.priority))
                })
                .map(|least| (least, answer.name))
        })
        .collect();
    common.sort_by_key(|(priority, _)| std::cmp::Reverse(*priority));
    common.into_iter().map(|(_, name)| name).collect()
}

/// Tells all ranks this rank's answers; returns the answers of each rank, by rank. Called by all ranks.
fn exchange(comm: &Communicator, entry: &mut Entry, own: &[Answer]) -> Result<Vec<Vec<Answer>>, Error> {
    let counts = comm.tell_all(entry, &[(own.len() as u64).to_le()])?;
    let counts: Vec<usize> = counts.into_iter().map(|n| u64::from_le(n) as usize).collect();
    let most = counts.iter().copied().max().unwrap_or(0);
    let mut mine: Vec<u8> = own.iter().flat_map(Answer::encode).collect();
    mine.resize(most * ANSWER, 0);
    let mut all = vec![0u8; mine.len() * counts.len()];
    comm.tell_all_bytes(entry, &mine, &mut all)?;
    let of_rank = |(rank, count): (usize, &usize)| {
        let (answers, _) = all[rank * mine.len()..].as_chunks::<ANSWER>();
        answers.iter().take(*count).map(Answer::decode).collect()
    };
    Ok(counts.iter().enumerate().map(of_rank).collect())
}

/// Asks a component about the window; `None`: it does not want to serve it.
fn ask(component: &OscComponent, desc: &WinDesc) -> Option<Answer> {
    let mut priority = 0;
    let status = (component.module.query)(component.module.state, desc, &mut priority);
    (!status.is_err()).then(|| Answer::new(component.name, priority))
}

/// Has a component make its module of the window; called by all ranks.
fn create(
    instance: &Instance,
    component: &OscComponent,
    desc: &WinDesc,
    entry: &mut Entry,
) -> Result<Verbs, Status> {
    let mut made = OscWindow { window: null_mut(), table: null() };
    let status = (component.module.create)(component.module.state, desc, entry.thread(), &mut made);
    instance.renew(entry);
    if status == Status::PANICKED {
        instance.component_panicked("osc", component.name, "making a window");
    }
    if status.is_err() {
        return Err(status);
    }
    adopt(component.name, &made)
}

/// Wraps a module that a component has made; INTERNAL: its table cannot be read.
pub(super) fn adopt(component: &'static str, made: &OscWindow) -> Result<Verbs, Status> {
    // SAFETY: the component's table; its size and slots are looked at.
    let table = unsafe { read_osc_table(made.table, component) }.map_err(|_| Status::INTERNAL)?;
    // SAFETY: the component made both for each other.
    Ok(unsafe { Verbs::new(component, made.window, table) })
}

/// Has the best component make a module for the window; `None`: no component serves it. Called by all ranks.
pub(super) fn choose(comm: &Communicator, entry: &mut Entry, desc: &WinDesc) -> Result<Option<Verbs>, Error> {
    let components = comm.instance().osc_components();
    let own: Vec<Answer> = components.iter().filter_map(|c| ask(c, desc)).collect();
    let mut last = None;
    for name in ranking(&exchange(comm, entry, &own)?) {
        let component = components.iter().find(|c| Answer::new(c.name, 0).name == name);
        let made = component.map_or(Err(Status::INTERNAL), |c| create(comm.instance(), c, desc, entry));
        let outcome = made.as_ref().err().copied().unwrap_or(Status::OK);
        let least = comm.least(entry, outcome)?;
        match made {
            Ok(verbs) if !least.is_err() => {
                let line = format!("window {} is served by {}", comm.name(), verbs.component());
                comm.instance().logger().debug("osc", &line);
                return Ok(Some(verbs));
            }
            Ok(verbs) => drop(verbs.free(entry, true)),
            Err(_) => {}
        }
        let name = component.map_or("?", |c| c.name);
        comm.instance().logger().warn("osc", &format!("{name}: does not make a window: {least}"));
        last = Some(least);
    }
    match last {
        None => Ok(None),
        Some(status) => Err(Error {
            kind: ErrorKind::of(status),
            message: format!("no one-sided component makes the window: {status}"),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(list: &[(&str, i32)]) -> Vec<Answer> {
        list.iter().map(|(name, priority)| Answer::new(name, *priority)).collect()
    }

    fn names(all: &[Vec<Answer>]) -> Vec<String> {
        let text = |name: [u8; NAME]| String::from_utf8_lossy(&name).trim_end_matches('\0').to_owned();
        ranking(all).into_iter().map(text).collect()
    }

    #[test]
    fn the_least_priority_of_all_ranks_counts() {
        let all = [
            answers(&[("slow", 10), ("fast", 90), ("lonely", 99)]),
            answers(&[("fast", 50), ("slow", 60)]),
            answers(&[("slow", 20), ("fast", 70), ("other", 80)]),
        ];
        assert_eq!(names(&all), ["fast", "slow"]);
        assert_eq!(names(&all[..1]), ["lonely", "fast", "slow"]);
        assert_eq!(names(&[answers(&[("a", 1)]), Vec::new()]), Vec::<String>::new());
        let equal = [answers(&[("b", 5), ("a", 5)]), answers(&[("a", 5), ("b", 7)])];
        assert_eq!(names(&equal), ["b", "a"], "the order of rank 0 decides between equals");
    }

    #[test]
    fn an_answer_survives_the_wire() {
        for answer in [Answer::new("", 0), Answer::new("rdma", -3), Answer::new(&"x".repeat(NAME), i32::MAX)]
        {
            assert_eq!(Answer::decode(&answer.encode()), answer);
        }
    }
}
