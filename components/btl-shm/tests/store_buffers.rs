//! All executions of one sender and one receiver on a machine with store buffers (as x86 has them) and
//! an asymmetric barrier: no wake-up is lost, and where the barrier is left out the loss is found.
//!
//! The machine: each thread has a queue of stores that only it sees; at any time the oldest may go to
//! memory; loads take the newest store of the own queue, else memory; a read-modify-write and a fence
//! wait for the own queue to be empty. `membarrier` waits for the own queue, and at some moment before
//! it returns the *other* thread's core is interrupted, which empties that thread's queue. A sleeper
//! checks the bell in memory and falls asleep in one step, as futexes do.
//!
//! The programs are those of `doorbell.rs` (`notify`, `arm`, `disarm`, `unwatch`), written down a second
//! time as lists of memory accesses. The algorithm is explored, not the code: the loom models run the
//! code, and they cannot express an asymmetric barrier.
#![cfg(not(loom))]

use std::collections::{HashSet, VecDeque};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Var {
    /// How many messages are published.
    Ring,
    /// 1: the receiver watches the ring.
    Notification,
    Summary,
    Bit,
    Bell,
}
use Var::*;

/// One access; conditions name the register and value that must hold, or it is skipped.
#[derive(Clone, Copy, Debug)]
enum Op {
    Store(Var, u8),
    Load(Var),
    /// Exchanges; the old value goes to the register.
    Swap(Var, u8),
    Fence,
    Membarrier,
    /// Go to an instruction if the register has this value.
    If(u8, usize),
    Goto(usize),
    /// Adds what the ring holds to what was received: register holds the ring's count.
    Receive,
    /// Go if all was received.
    IfAll(usize),
    /// Go if the ring (in the register) holds more than was received.
    IfMore(usize),
    Sleep,
    Wake,
    End,
}
use Op::*;

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct Thread {
    at: usize,
    register: u8,
    buffer: VecDeque<(Var, u8)>,
    asleep: bool,
    /// In a membarrier whose interrupt has not come yet.
    calling: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
struct State {
    memory: [u8; 5],
    threads: [Thread; 2],
    received: u8,
}

const SENDER: usize = 0;
const RECEIVER: usize = 1;
/// Stores a core can hold back.
const BUFFER: usize = 4;

impl State {
    fn load(&self, thread: usize, var: Var) -> u8 {
        let own = self.threads[thread].buffer.iter().rev().find(|(v, _)| *v == var);
        own.map_or(self.memory[var as usize], |&(_, value)| value)
    }

    fn drain_one(&mut self, thread: usize) -> bool {
        let Some((var, value)) = self.threads[thread].buffer.pop_front() else { return false };
        self.memory[var as usize] = value;
        true
    }

    /// One instruction of a thread; `None` if it cannot go on now.
    fn step(&self, thread: usize, program: &[Op], messages: u8) -> Option<State> {
        let mut next = self.clone();
        let t = &self.threads[thread];
        if t.asleep || t.calling {
            return None;
        }
        let mut goto = t.at + 1;
        match program[t.at] {
            Store(var, value) => {
                if t.buffer.len() == BUFFER {
                    return None;
                }
                next.threads[thread].buffer.push_back((var, value));
            }
            Load(var) => next.threads[thread].register = self.load(thread, var),
            Fence if !t.buffer.is_empty() => return None,
            Fence => {}
            Swap(..) | Sleep | Wake | Membarrier if !t.buffer.is_empty() => return None,
            Swap(var, value) => {
                next.threads[thread].register = self.memory[var as usize];
                next.memory[var as usize] = value;
            }
            Membarrier => next.threads[thread].calling = true,
            If(value, to) if t.register == value => goto = to,
            IfAll(to) if self.received == messages => goto = to,
            IfMore(to) if t.register > self.received => goto = to,
            If(..) | IfAll(_) | IfMore(_) => {}
            Goto(to) => goto = to,
            Receive => next.received = t.register,
            Sleep => next.threads[thread].asleep = self.memory[Bell as usize] == 1,
            Wake => next.threads[RECEIVER].asleep = false,
            End => return None,
        }
        next.threads[thread].at = goto;
        Some(next)
    }

    fn successors(&self, programs: [&[Op]; 2], messages: u8) -> Vec<State> {
        let mut all = Vec::new();
        for thread in [SENDER, RECEIVER] {
            all.extend(self.step(thread, programs[thread], messages));
            let mut drained = self.clone();
            if drained.drain_one(thread) {
                all.push(drained);
            }
            if self.threads[thread].calling {
                // The interrupt on the other core, and the return from the call.
                let mut interrupted = self.clone();
                while interrupted.drain_one(1 - thread) {}
                interrupted.threads[thread].calling = false;
                all.push(interrupted);
            }
        }
        all
    }
}

struct Explored {
    /// End states in which a message is lost.
    lost: usize,
    /// End states in all.
    ends: usize,
    /// States in which the receiver was asleep.
    slept: usize,
    states: usize,
}

/// Walks through every reachable state. A state without successor must be one where `good` holds.
fn explore(start: State, programs: [&[Op]; 2], messages: u8, good: impl Fn(&State) -> bool) -> Explored {
    let mut seen = HashSet::from([start.clone()]);
    let mut todo = vec![start];
    let mut found = Explored { lost: 0, ends: 0, slept: 0, states: 0 };
    while let Some(state) = todo.pop() {
        found.states += 1;
        found.slept += state.threads[RECEIVER].asleep as usize;
        let next = state.successors(programs, messages);
        if next.is_empty() {
            found.ends += 1;
            found.lost += !good(&state) as usize;
        }
        for state in next {
            if seen.insert(state.clone()) {
                todo.push(state);
            }
        }
    }
    found
}

/// `send` of so many messages. `fenced`: as by a sender whose receiver says WATCHED_FENCED.
fn sender(messages: u8, fenced: bool) -> Vec<Op> {
    let mut ops = Vec::new();
    for i in 1..=messages {
        let start = ops.len();
        let fence = if fenced { Fence } else { Goto(start + 2) };
        let end = start + 10;
        ops.extend([
            Store(Ring, i),
            fence,
            Load(Notification),
            If(1, end),
            Swap(Bit, 1),
            If(1, end),
            Swap(Summary, 1),
            Load(Bell),
            If(0, end),
            Swap(Bell, 0),
        ]);
        // The sender that changed the bell from 1 wakes the sleeper.
        ops.extend([If(0, end + 2), Wake]);
        // All exits above lead behind the wake.
        for op in &mut ops[start..] {
            if let If(_, to) = op
                && *to == end
            {
                *to = end + 2;
            }
        }
    }
    ops.push(End);
    ops
}

/// A receiver that takes everything, and sleeps whenever `arm` lets it. It watches the ring or not.
fn sleeper(watching: bool, barrier: Op) -> Vec<Op> {
    let watch = |value| if watching { Store(Notification, value) } else { Load(Bell) };
    vec![
        // 0: a turn. A ring that is not watched is looked at for its bit only.
        watch(1),
        if watching { Load(Ring) } else { Goto(3) },
        Receive,
        Swap(Summary, 0), // 3
        If(0, 8),
        Swap(Bit, 0),
        Load(Ring),
        Receive,
        IfAll(20), // 8
        // arm
        Store(Bell, 1),
        watch(0),
        barrier,
        Load(Summary), // 12
        If(1, 17),
        if watching { Load(Ring) } else { Goto(16) },
        IfMore(17),
        Sleep, // 16
        // disarm
        Store(Bell, 0), // 17
        Goto(0),
        End,
        End, // 20
    ]
}

fn sleeping(messages: u8, watching: bool, barrier: Op, fenced: bool) -> Explored {
    let (send, receive) = (sender(messages, fenced), sleeper(watching, barrier));
    let all_arrived = |state: &State| state.received == messages;
    explore(State::default(), [&send, &receive], messages, all_arrived)
}

#[test]
fn no_wake_up_is_lost_with_membarrier() {
    for messages in 1..=3 {
        let found = sleeping(messages, true, Membarrier, false);
        assert!(found.ends > 0 && found.slept > 0 && found.states > 100, "nothing was explored");
        assert_eq!(found.lost, 0);
    }
}

#[test]
fn without_membarrier_a_wake_up_is_lost() {
    // The receiver's own fence alone does not help: the sender's store may wait.
    for barrier in [Fence, Load(Bell)] {
        assert!(sleeping(1, true, barrier, false).lost > 0);
        assert!(sleeping(2, true, barrier, false).lost > 0);
    }
}

#[test]
fn fences_on_both_sides_do_without_membarrier() {
    for messages in 1..=3 {
        let found = sleeping(messages, true, Fence, true);
        assert!(found.slept > 0);
        assert_eq!(found.lost, 0);
    }
    // Not if the receiver leaves out its own.
    assert!(sleeping(1, true, Load(Bell), true).lost > 0);
}

#[test]
fn ready_bits_need_the_receivers_fence_only() {
    for messages in 1..=3 {
        let found = sleeping(messages, false, Fence, false);
        assert!(found.slept > 0);
        assert_eq!(found.lost, 0);
    }
    assert!(sleeping(1, false, Load(Ring), false).lost > 0);
}

/// Stops watching for good, and looks once more.
fn unwatching(barrier: Op, fenced: bool) -> Explored {
    let receive = [Store(Notification, 0), barrier, Load(Ring), Receive, End];
    let send = sender(1, fenced);
    let mut start = State::default();
    start.memory[Notification as usize] = 1;
    explore(start, [&send, &receive], 1, |state| state.received == 1 || state.memory[Bit as usize] == 1)
}

#[test]
fn a_ring_given_up_is_looked_at_or_announced() {
    assert_eq!(unwatching(Membarrier, false).lost, 0);
    assert_eq!(unwatching(Fence, true).lost, 0);
    assert!(unwatching(Fence, false).lost > 0);
}
