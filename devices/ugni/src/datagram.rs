//! Datagrams: the state machine of a device's sessions, by which two endpoints exchange 128 bytes each before they know each other.
//!
//! A session is LOCAL (posted, the peer's data has not come), REMOTE (the peer's data has come, nothing is posted), COMPLETED, TERMINATED or
//! TIMED OUT. A post carries the session's generation and its answer repeats it, so an answer to a session that is gone is known.
//! Nothing here sends: transitions return the packet that has to go out.

use crate::numbers::{DATAGRAM_MAXSIZE, Return, post_state, rc};

/// Node and instance.
pub type Peer = (u32, u32);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DatagramState {
    Local,
    Remote,
    Completed,
    Terminated,
    TimedOut,
}

struct Session {
    /// Handle of the endpoint, 0 of a session that a peer began.
    ep: usize,
    /// `None`: whoever comes.
    peer: Option<Peer>,
    id: Option<u64>,
    local: Vec<u8>,
    /// Where the program wants the peer's data.
    out: (usize, usize),
    got: Vec<u8>,
    state: DatagramState,
    generation: u64,
    peer_generation: u64,
}

impl Session {
    /// One that a peer's post begins.
    fn begun_by(peer: Peer, generation: u64, data: &[u8]) -> Session {
        Session {
            ep: 0,
            peer: Some(peer),
            id: None,
            local: Vec::new(),
            out: (0, 0),
            got: data.to_vec(),
            state: DatagramState::Remote,
            generation: 0,
            peer_generation: generation,
        }
    }
}

#[derive(Default)]
pub struct Sessions {
    all: Vec<Session>,
    last_generation: u64,
}

/// A packet to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    Post {
        to: Peer,
        generation: u64,
        data: Vec<u8>,
    },
    /// `generation` is the peer's.
    Reply {
        to: Peer,
        generation: u64,
        data: Vec<u8>,
    },
    Withdraw {
        to: Peer,
        generation: u64,
    },
}

impl Packet {
    pub fn to(&self) -> Peer {
        match self {
            Packet::Post { to, .. } | Packet::Reply { to, .. } | Packet::Withdraw { to, .. } => *to,
        }
    }
}

/// Outcome of a test of a session.
#[derive(Debug, PartialEq, Eq)]
pub struct Tested {
    pub state: i32,
    pub peer: Option<Peer>,
    /// Data and the place for it, of a session that has ended.
    pub data: Option<(Vec<u8>, (usize, usize))>,
    /// The session is gone now.
    pub is_over: bool,
}

/// A datagram as a program posts it.
pub struct Post {
    pub ep: usize,
    pub peer: Option<Peer>,
    pub id: Option<u64>,
    pub data: Vec<u8>,
    pub out: (usize, usize),
}

impl Sessions {
    /// Posts a datagram.
    ///
    /// # Errors
    /// SIZE_ERROR for more than 128 bytes, ERROR_RESOURCE where one to that peer is under way, INVALID_PARAM for a wildcard without identifier.
    pub fn post(&mut self, post: Post) -> Result<Option<Packet>, Return> {
        if post.data.len() > DATAGRAM_MAXSIZE || post.out.1 > DATAGRAM_MAXSIZE {
            return Err(rc::SIZE_ERROR);
        }
        self.last_generation += 1;
        let generation = self.last_generation;
        let same = |s: &&mut Session| s.peer.is_some() && s.peer == post.peer;
        let waiting = match post.peer {
            Some(_) => match self.all.iter_mut().find(same) {
                Some(s) if s.state == DatagramState::Remote => Some(s),
                Some(_) => return Err(rc::ERROR_RESOURCE),
                None => None,
            },
            None if post.id.is_none() => return Err(rc::INVALID_PARAM),
            None => self.all.iter_mut().find(|s| s.state == DatagramState::Remote),
        };
        if let Some(s) = waiting {
            let to = s.peer.expect("a session that a peer began has a peer");
            let reply = Packet::Reply { to, generation: s.peer_generation, data: post.data.clone() };
            (s.ep, s.id, s.local, s.out) = (post.ep, post.id, post.data, post.out);
            (s.state, s.generation) = (DatagramState::Completed, generation);
            return Ok(Some(reply));
        }
        let packet = post.peer.map(|to| Packet::Post { to, generation, data: post.data.clone() });
        let Post { ep, peer, id, data: local, out } = post;
        let (got, state) = (Vec::new(), DatagramState::Local);
        self.all.push(Session { ep, peer, id, local, out, got, state, generation, peer_generation: 0 });
        Ok(packet)
    }

    /// A peer's post has come: the answer, where there is one. It meets our own post to that peer, or else a wildcard, also while an
    /// exchange of before waits to be collected; where there is neither it waits for one.
    pub fn arrived(&mut self, from: Peer, generation: u64, data: &[u8]) -> Option<Packet> {
        let is_theirs = |s: &Session| s.peer == Some(from);
        if self
            .all
            .iter()
            .any(|s| is_theirs(s) && s.state != DatagramState::Remote && s.peer_generation == generation)
        {
            return None;
        }
        let place = |want: &dyn Fn(&Session) -> bool| self.all.iter().position(want);
        let found =
            place(&|s| is_theirs(s) && matches!(s.state, DatagramState::Local | DatagramState::Remote))
                .or_else(|| place(&|s| s.peer.is_none() && s.state == DatagramState::Local));
        let Some(i) = found else {
            self.all.push(Session::begun_by(from, generation, data));
            return None;
        };
        let s = &mut self.all[i];
        (s.got, s.peer_generation) = (data.to_vec(), generation);
        if s.state == DatagramState::Remote {
            // A newer attempt of the peer, or the one that is known.
            return None;
        }
        (s.peer, s.state) = (Some(from), DatagramState::Completed);
        Some(Packet::Reply { to: from, generation, data: s.local.clone() })
    }

    /// The answer to a post of ours has come. If we have withdrawn it in the meantime, the peer's post that it met is over, too.
    pub fn replied(&mut self, from: Peer, generation: u64, data: &[u8]) {
        let ours = |s: &&mut Session| s.generation == generation && s.peer == Some(from);
        match self.all.iter_mut().find(ours) {
            Some(s) if s.state == DatagramState::Local => {
                (s.got, s.state) = (data.to_vec(), DatagramState::Completed)
            }
            Some(s) if s.state == DatagramState::Terminated => {
                self.all.retain(|s| !(s.state == DatagramState::Remote && s.peer == Some(from)));
            }
            _ => {}
        }
    }

    /// Whether a post of ours waits for the peer's data.
    pub fn is_waiting(&self, generation: u64) -> bool {
        self.all.iter().any(|s| s.generation == generation && s.state == DatagramState::Local)
    }

    /// A peer has withdrawn its post.
    pub fn withdrawn(&mut self, from: Peer, generation: u64) {
        self.all.retain(|s| {
            !(s.state == DatagramState::Remote && s.peer == Some(from) && s.peer_generation == generation)
        });
    }

    /// A post of ours could not be delivered.
    pub fn failed(&mut self, generation: u64) {
        if let Some(s) =
            self.all.iter_mut().find(|s| s.generation == generation && s.state == DatagramState::Local)
        {
            s.state = DatagramState::TimedOut;
        }
    }

    /// A session that has ended and waits to be collected: identifier and peer.
    pub fn probe(&self, named: bool) -> Option<(Option<u64>, Option<Peer>)> {
        let over = |s: &&Session| {
            matches!(s.state, DatagramState::Completed | DatagramState::Terminated | DatagramState::TimedOut)
        };
        self.all.iter().filter(over).find(|s| !named || s.id.is_some()).map(|s| (s.id, s.peer))
    }

    fn find(&self, ep: usize, peer: Option<Peer>, id: Option<u64>) -> Option<usize> {
        let own = self.all.iter().position(|s| match id {
            Some(_) => s.id == id && s.ep != 0,
            None => s.ep == ep,
        });
        own.or_else(|| peer.and_then(|_| self.all.iter().position(|s| s.ep == 0 && s.peer == peer)))
    }

    /// Looks at a session by endpoint or identifier; one that has ended is collected.
    ///
    /// # Errors
    /// NO_MATCH where there is none, SIZE_ERROR where the peer's data is longer than the place for it.
    pub fn test(&mut self, ep: usize, peer: Option<Peer>, id: Option<u64>) -> Result<Tested, Return> {
        let i = self.find(ep, peer, id).ok_or(rc::NO_MATCH)?;
        let s = &self.all[i];
        let state = match s.state {
            DatagramState::Local => post_state::PENDING,
            DatagramState::Remote => post_state::REMOTE_DATA,
            DatagramState::Completed => post_state::COMPLETED,
            DatagramState::Terminated => post_state::TERMINATED,
            DatagramState::TimedOut => post_state::TIMEOUT,
        };
        if matches!(s.state, DatagramState::Local | DatagramState::Remote) {
            return Ok(Tested { state, peer: s.peer, data: None, is_over: false });
        }
        let s = self.all.remove(i);
        if s.got.len() > s.out.1 && s.out.0 != 0 {
            return Err(rc::SIZE_ERROR);
        }
        Ok(Tested { state, peer: s.peer, data: (s.out.0 != 0).then_some((s.got, s.out)), is_over: true })
    }

    /// Withdraws a post. A wildcard is gone at once; one to a peer is TERMINATED and has to be collected.
    pub fn cancel(&mut self, ep: usize, id: Option<u64>) -> Result<(bool, Option<Packet>), Return> {
        let i = self.find(ep, None, id).ok_or(rc::NO_MATCH)?;
        let s = &mut self.all[i];
        match (s.state, s.peer) {
            (DatagramState::Local, None) => {
                self.all.remove(i);
                Ok((true, None))
            }
            (DatagramState::Local, Some(to)) => {
                s.state = DatagramState::Terminated;
                Ok((false, Some(Packet::Withdraw { to, generation: s.generation })))
            }
            _ => Ok((false, None)),
        }
    }

    /// An endpoint is gone with all it posted.
    pub fn end(&mut self, ep: usize) {
        self.all.retain(|s| s.ep != ep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Peer = (1, 10);
    const B: Peer = (2, 20);

    fn post(ep: usize, peer: Option<Peer>, id: Option<u64>, data: &[u8]) -> Post {
        Post { ep, peer, id, data: data.to_vec(), out: (64, DATAGRAM_MAXSIZE) }
    }
    fn parts(packet: Option<Packet>) -> (u64, Vec<u8>) {
        match packet.expect("a packet") {
            Packet::Post { generation, data, .. } | Packet::Reply { generation, data, .. } => {
                (generation, data)
            }
            Packet::Withdraw { generation, .. } => (generation, Vec::new()),
        }
    }

    #[test]
    fn crossing_posts_complete_both_and_their_answers_do_no_harm() {
        let (mut a, mut b) = (Sessions::default(), Sessions::default());
        let (ga, da) = parts(a.post(post(1, Some(B), None, b"from a")).expect("posted"));
        let (gb, db) = parts(b.post(post(1, Some(A), None, b"from b")).expect("posted"));
        let (ra, ra_data) = parts(a.arrived(B, gb, &db));
        let (rb, rb_data) = parts(b.arrived(A, ga, &da));
        let tested = a.test(1, Some(B), None).expect("a session");
        assert_eq!(
            (tested.state, tested.data.map(|d| d.0)),
            (post_state::COMPLETED, Some(b"from b".to_vec()))
        );
        // A posts again before the answer to its first post comes.
        a.post(post(1, Some(B), None, b"second")).expect("posted");
        a.replied(B, rb, &rb_data);
        assert_eq!(
            a.test(1, Some(B), None).expect("a session").state,
            post_state::PENDING,
            "an answer of before"
        );
        b.replied(A, ra, &ra_data);
        assert_eq!(b.test(1, Some(A), None).expect("a session").data.map(|d| d.0), Some(b"from a".to_vec()));
    }

    /// A's answer to B's post is on its way before A's own post was sent: that one is not sent any more, since B has what it carries.
    #[test]
    fn a_post_that_was_met_before_it_went_out_is_over() {
        let (mut a, mut b) = (Sessions::default(), Sessions::default());
        let (ga, _) = parts(a.post(post(1, Some(B), None, b"from a")).expect("posted"));
        assert!(a.is_waiting(ga));
        let (gb, db) = parts(b.post(post(1, Some(A), None, b"from b")).expect("posted"));
        let (ra, ra_data) = parts(a.arrived(B, gb, &db));
        assert!(!a.is_waiting(ga), "the peer's has met it");
        b.replied(A, ra, &ra_data);
        assert_eq!(b.test(1, Some(A), None).expect("a session").data.map(|d| d.0), Some(b"from a".to_vec()));
    }

    /// The peer answers an exchange by a post of its own before the program has collected that exchange: the wildcard beside it takes it.
    #[test]
    fn a_wildcard_takes_a_post_behind_an_exchange_that_is_not_collected() {
        let (mut a, mut b) = (Sessions::default(), Sessions::default());
        a.post(post(5, None, Some(7), b"any")).expect("posted");
        b.post(post(5, None, Some(7), b"any")).expect("posted");
        let (ga, da) = parts(a.post(post(1, Some(B), Some(1), b"call")).expect("posted"));
        let (ra, ra_data) = parts(b.arrived(A, ga, &da));
        a.replied(B, ra, &ra_data);
        assert_eq!(b.test(5, None, Some(7)).expect("there").data.map(|d| d.0), Some(b"call".to_vec()));
        let (gb, db) = parts(b.post(post(1, Some(A), Some(2), b"answer")).expect("posted"));
        let (rb, rb_data) = parts(a.arrived(B, gb, &db));
        b.replied(A, rb, &rb_data);
        assert_eq!(a.arrived(B, gb, &db), None, "the same once more");
        assert_eq!(a.test(1, Some(B), Some(1)).expect("there").data.map(|d| d.0), Some(b"any".to_vec()));
        assert_eq!(a.test(5, None, Some(7)).expect("there").data.map(|d| d.0), Some(b"answer".to_vec()));
        assert_eq!(b.test(1, Some(A), Some(2)).expect("there").state, post_state::COMPLETED);
        assert_eq!((a.probe(false), b.probe(false)), (None, None));
    }

    /// A post that comes while ours is withdrawn is not lost; it is over if the peer has taken ours for its answer.
    #[test]
    fn a_post_behind_a_withdrawn_one_waits() {
        for met in [false, true] {
            let (mut a, mut b) = (Sessions::default(), Sessions::default());
            let (ga, da) = parts(a.post(post(1, Some(B), None, b"x")).expect("posted"));
            a.cancel(1, None).expect("there");
            let (gb, db) = parts(b.post(post(1, Some(A), None, b"y")).expect("posted"));
            assert_eq!(a.arrived(B, gb, &db), None, "it waits");
            if met {
                let (rb, rb_data) = parts(b.arrived(A, ga, &da));
                a.replied(B, rb, &rb_data);
            }
            assert_eq!(a.test(1, Some(B), None).expect("there").state, post_state::TERMINATED);
            let next = a.post(post(1, Some(B), None, b"z")).expect("posted");
            assert_eq!(matches!(next, Some(Packet::Reply { .. })), !met);
        }
    }

    #[test]
    fn a_wildcard_meets_whoever_comes_and_a_post_waits_for_one() {
        let (mut a, mut b) = (Sessions::default(), Sessions::default());
        assert_eq!(
            b.post(post(5, None, None, b"any")),
            Err(rc::INVALID_PARAM),
            "a wildcard has an identifier"
        );
        let (ga, da) = parts(a.post(post(1, Some(B), Some(77), b"hello")).expect("posted"));
        assert_eq!(b.arrived(A, ga, &da), None, "waits");
        assert_eq!(
            (b.probe(false), b.test(9, Some(A), None).expect("there").state),
            (None, post_state::REMOTE_DATA)
        );
        let (gr, dr) = parts(b.post(post(5, None, Some(0), b"welcome")).expect("posted"));
        assert_eq!(b.probe(true), Some((Some(0), Some(A))));
        a.replied(B, gr, &dr);
        assert_eq!(a.probe(true), Some((Some(77), Some(B))));
        assert_eq!(a.test(1, Some(B), Some(77)).expect("there").data.map(|d| d.0), Some(b"welcome".to_vec()));
        assert_eq!(a.test(1, Some(B), Some(77)), Err(rc::NO_MATCH), "collected once");
    }

    #[test]
    fn one_at_a_time_to_a_peer_and_not_too_long() {
        let mut a = Sessions::default();
        assert_eq!(a.post(post(1, Some(B), None, &[0; 129])), Err(rc::SIZE_ERROR));
        assert!(a.post(post(1, Some(B), None, &[0; 128])).is_ok());
        assert_eq!(a.post(post(2, Some(B), None, b"")), Err(rc::ERROR_RESOURCE));
    }

    #[test]
    fn a_withdrawn_post_is_collected_and_the_peer_forgets_it() {
        let (mut a, mut b) = (Sessions::default(), Sessions::default());
        let (ga, da) = parts(a.post(post(1, Some(B), None, b"x")).expect("posted"));
        b.arrived(A, ga, &da);
        let (over, packet) = a.cancel(1, None).expect("there");
        assert!(!over && matches!(packet, Some(Packet::Withdraw { .. })));
        b.withdrawn(A, ga);
        assert_eq!(b.test(1, Some(A), None), Err(rc::NO_MATCH));
        assert_eq!(a.test(1, Some(B), None).expect("there").state, post_state::TERMINATED);
        assert_eq!(a.cancel(1, None), Err(rc::NO_MATCH));
    }

    #[test]
    fn a_post_that_cannot_be_delivered_times_out() {
        let mut a = Sessions::default();
        let (g, _) = parts(a.post(post(1, Some(B), Some(3), b"x")).expect("posted"));
        a.failed(g);
        assert_eq!(a.test(1, Some(B), Some(3)).expect("there").state, post_state::TIMEOUT);
    }

    #[test]
    fn data_that_does_not_fit_is_told() {
        let mut a = Sessions::default();
        a.post(Post { out: (64, 2), ..post(1, Some(B), None, b"x") }).expect("posted");
        a.arrived(B, 1, b"long");
        assert_eq!(a.test(1, Some(B), None), Err(rc::SIZE_ERROR));
    }
}
