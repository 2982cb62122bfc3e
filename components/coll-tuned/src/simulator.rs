//! Algorithms played through for all ranks, without buffers: units are lists of what was combined in them, in order.
//!
//! Each algorithm is played twice. In one way a message takes what its data is when it is started; in the other sends wait for their receives,
//! and a message takes what its data is when it is waited for. So an algorithm that writes data under way, or waits for one that waits for it, is
//! seen.

use crate::script::{Area, Me, Piece, Script};
use std::collections::{BTreeMap, VecDeque};

/// A unit: (rank, unit) of all that was combined in it; empty: nothing was written there.
pub type Unit = Vec<(u32, u64)>;

#[derive(Clone, Debug)]
enum Step {
    Send(Option<Piece>, u32),
    Recv(Option<Piece>, u32),
    Wait(usize),
    Copy(Piece, Piece),
    Combine(Piece, Piece),
}

/// Takes down what a rank does.
#[derive(Default)]
struct Recorder {
    steps: Vec<Step>,
    temps: BTreeMap<u8, u64>,
}

impl Script for Recorder {
    fn temp(&mut self, number: u8, units: u64, _turned: u64) {
        assert!(self.temps.insert(number, units).is_none(), "temporary memory {number} is made twice");
    }
    fn send(&mut self, data: Piece, to: u32) {
        self.steps.push(Step::Send(Some(data), to));
    }
    fn recv(&mut self, place: Piece, from: u32) {
        self.steps.push(Step::Recv(Some(place), from));
    }
    fn signal(&mut self, to: u32) {
        self.steps.push(Step::Send(None, to));
    }
    fn await_signal(&mut self, from: u32) {
        self.steps.push(Step::Recv(None, from));
    }
    fn wait(&mut self, left: usize) {
        self.steps.push(Step::Wait(left));
    }
    fn copy(&mut self, from: Piece, to: Piece) {
        assert_eq!(from.len, to.len, "a copy");
        self.steps.push(Step::Copy(from, to));
    }
    fn combine(&mut self, left: Piece, right: Piece) {
        assert_eq!(left.len, right.len, "a combination");
        self.steps.push(Step::Combine(left, right));
    }
}

/// A message that was started, at one of its ends.
struct Post {
    /// Its number among those of its rank.
    number: usize,
    piece: Option<Piece>,
    data: Vec<Unit>,
    /// Of a signal: the ranks of which its sender had heard, by bits.
    heard: u64,
}

struct Rank {
    steps: VecDeque<Step>,
    areas: BTreeMap<u8, Vec<Unit>>,
    posted: usize,
    /// Numbers of messages that are not done.
    pending: Vec<usize>,
    in_place: bool,
    /// The ranks of which this one has heard by signals that it has waited for, by bits.
    heard: u64,
    /// Numbers of signals that came, and what they say.
    inbox: Vec<(usize, u64)>,
}

const GIVEN: u8 = 254;
const RESULT: u8 = 255;

/// The buffers of ranks: data given, room for the result, and whether the data lies in there.
pub struct Play<'a> {
    pub n: u32,
    pub given: &'a dyn Fn(u32) -> Vec<Unit>,
    pub result: &'a dyn Fn(u32) -> u64,
    /// Where the given data lies in the result.
    pub in_place: Option<&'a dyn Fn(u32) -> usize>,
}

impl Rank {
    fn area(&mut self, area: Area) -> &mut Vec<Unit> {
        let number = match area {
            Area::Given => GIVEN,
            Area::Result => RESULT,
            Area::Temp(number) => number,
        };
        self.areas.get_mut(&number).unwrap_or_else(|| panic!("no memory {area:?}"))
    }

    fn read(&mut self, piece: Piece) -> Vec<Unit> {
        let (first, end) = (piece.first as usize, (piece.first + piece.len) as usize);
        if piece.len == 0 {
            return vec![];
        }
        let area = if self.in_place && piece.area == Area::Given { Area::Result } else { piece.area };
        let shift = if area == piece.area { 0 } else { self.areas[&GIVEN][0][0].1 as usize };
        self.area(area)[first + shift..end + shift].to_vec()
    }

    fn write(&mut self, piece: Piece, units: Vec<Unit>) {
        assert!(piece.area != Area::Given, "what is given is written");
        assert_eq!(units.len() as u64, piece.len, "a length");
        if piece.len > 0 {
            let (first, end) = (piece.first as usize, (piece.first + piece.len) as usize);
            self.area(piece.area)[first..end].clone_from_slice(&units);
        }
    }
}

/// Messages started from one rank to another: sends and receives that have not met.
#[derive(Default)]
struct Line {
    sends: VecDeque<Post>,
    recvs: VecDeque<Post>,
}

/// Plays an algorithm; the results of all ranks.
pub fn play(play: &Play<'_>, algorithm: impl Fn(&mut dyn Script, Me)) -> Vec<Vec<Unit>> {
    let [eager, late] = [true, false].map(|eager| once(play, eager, &algorithm));
    assert_eq!(eager, late, "data under way was written");
    eager.into_iter().map(|(units, _)| units).collect()
}

/// The ranks of which each rank has heard in the end of an algorithm of signals, by bits.
pub fn heard(n: u32, algorithm: impl Fn(&mut dyn Script, Me)) -> Vec<u64> {
    let nothing = Play { n, given: &|_| vec![], result: &|_| 0, in_place: None };
    [true, false]
        .map(|eager| once(&nothing, eager, &algorithm))
        .into_iter()
        .fold(vec![u64::MAX; n as usize], |all, one| {
            all.into_iter().zip(one).map(|(all, (_, heard))| all & heard).collect()
        })
}

fn once(play: &Play<'_>, eager: bool, algorithm: &impl Fn(&mut dyn Script, Me)) -> Vec<(Vec<Unit>, u64)> {
    let n = play.n;
    let mut ranks: Vec<Rank> = (0..n)
        .map(|rank| {
            let mut recorder = Recorder::default();
            algorithm(&mut recorder, Me { rank, n });
            assert!(
                matches!(
                    recorder.steps.iter().rfind(|s| !matches!(s, Step::Copy(..) | Step::Combine(..))),
                    None | Some(Step::Wait(0))
                ),
                "messages are left under way"
            );
            let room = |units: u64| vec![Unit::new(); units as usize];
            let mut areas: BTreeMap<u8, _> = recorder.temps.iter().map(|(k, v)| (*k, room(*v))).collect();
            let (given, mut result) = ((play.given)(rank), room((play.result)(rank)));
            if let Some(at) = play.in_place {
                let at = at(rank);
                result[at..at + given.len()].clone_from_slice(&given);
                areas.insert(GIVEN, vec![vec![(0, at as u64)]]);
            } else {
                areas.insert(GIVEN, given);
            }
            areas.insert(RESULT, result);
            let in_place = play.in_place.is_some();
            let steps = recorder.steps.into();
            Rank { steps, areas, posted: 0, pending: vec![], in_place, heard: 1 << rank, inbox: vec![] }
        })
        .collect();
    let mut lines: BTreeMap<(u32, u32), Line> = BTreeMap::new();
    loop {
        let mut moved = false;
        for rank in 0..n {
            while advance(rank, eager, &mut ranks, &mut lines) {
                moved = true;
            }
        }
        if ranks.iter().all(|rank| rank.steps.is_empty()) {
            break;
        }
        let stuck = ranks.iter().map(|rank| rank.steps.front()).collect::<Vec<_>>();
        assert!(moved, "{n} ranks: nothing can go on, eager: {eager}, at {stuck:?}");
    }
    for (pair, line) in &lines {
        assert!(
            line.sends.is_empty() && line.recvs.is_empty(),
            "{n} ranks: a message is left over: {pair:?}"
        );
    }
    let end = |mut rank: Rank| (rank.areas.remove(&RESULT).expect("the result"), rank.heard);
    ranks.into_iter().map(end).collect()
}

/// Does the next step of a rank, if it can be done.
fn advance(me: u32, eager: bool, ranks: &mut [Rank], lines: &mut BTreeMap<(u32, u32), Line>) -> bool {
    let rank = &mut ranks[me as usize];
    let Some(step) = rank.steps.front().cloned() else { return false };
    match step {
        Step::Copy(from, to) => {
            let units = rank.read(from);
            rank.write(to, units);
        }
        Step::Combine(left, right) => {
            let (left, old) = (rank.read(left), rank.read(right));
            assert!(left.iter().chain(&old).all(|unit| !unit.is_empty()), "nothing is combined");
            let sum = left.into_iter().zip(old).map(|(a, b)| [a, b].concat()).collect();
            rank.write(right, sum);
        }
        Step::Wait(left) => {
            let until = rank.posted - left.min(rank.posted);
            if rank.pending.iter().any(|number| *number < until) {
                return false;
            }
            let came = rank.inbox.iter().filter(|(number, _)| *number < until);
            rank.heard = came.fold(rank.heard, |all, (_, heard)| all | heard);
        }
        Step::Send(piece, other) | Step::Recv(piece, other) => {
            assert!(other != me && (other as usize) < ranks.len(), "rank {me} speaks with {other}");
            let rank = &mut ranks[me as usize];
            let number = rank.posted;
            rank.posted += 1;
            if piece.is_none_or(|piece| piece.len > 0) {
                let data = match (&step, piece) {
                    (Step::Send(..), Some(piece)) => rank.read(piece),
                    _ => vec![],
                };
                assert!(
                    data.iter().all(|unit| !unit.is_empty()),
                    "rank {me} sends what it has not: {step:?}"
                );
                let post = Post { number, piece, data, heard: rank.heard };
                if let Step::Send(..) = step {
                    if !eager {
                        rank.pending.push(number);
                    }
                    lines.entry((me, other)).or_default().sends.push_back(post);
                    meet(me, other, eager, ranks, lines);
                } else {
                    rank.pending.push(number);
                    lines.entry((other, me)).or_default().recvs.push_back(post);
                    meet(other, me, eager, ranks, lines);
                }
            }
        }
    }
    ranks[me as usize].steps.pop_front();
    true
}

fn meet(from: u32, to: u32, eager: bool, ranks: &mut [Rank], lines: &mut BTreeMap<(u32, u32), Line>) {
    let line = lines.entry((from, to)).or_default();
    while !line.sends.is_empty() && !line.recvs.is_empty() {
        let (send, recv) = (line.sends.pop_front().expect("one"), line.recvs.pop_front().expect("one"));
        let data = match send.piece {
            Some(piece) if !eager => ranks[from as usize].read(piece),
            _ => send.data,
        };
        match recv.piece {
            Some(piece) => ranks[to as usize].write(piece, data),
            None => {
                assert!(send.piece.is_none(), "data in place of a signal");
                ranks[to as usize].inbox.push((recv.number, send.heard));
            }
        }
        ranks[from as usize].pending.retain(|number| *number != send.number);
        ranks[to as usize].pending.retain(|number| *number != recv.number);
    }
}
