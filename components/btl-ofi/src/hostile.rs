//! A stranger that reaches the address of a process: what it sends is dropped, it is told once, and the job goes on.

use crate::abi::{ADDR_UNSPEC, CqEntry, SEND};
use crate::buffers::{Purpose, Record};
use crate::endpoints::Ep;
use crate::library::{Api, LIBRARY};
use crate::objects::{Av, Cq, Domain, Fabric, Found, Info};
use crate::params::{PARAMS, Settings};
use crate::provider::{candidates, choose};
use crate::wire::{Card, Challenge, HEAD, Head, Hello, Kind, NONCE, published};
use core::ptr::null_mut;
use oxmpi_btl_conformance::{Harness, Link, Msg, Setup};
use oxmpi_mca::{Host, Params, ProcName};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const PROVIDER: &str = "tcp;ofi_rxm";

fn library() -> String {
    std::env::var("OXMPI_TEST_LIBFABRIC").unwrap_or_else(|_| LIBRARY.into())
}

/// An endpoint of nobody's, which reaches one of the job's.
struct Stranger {
    ep: Ep,
    to: u64,
    record: Record,
    place: Box<[u8]>,
    received: Record,
}

impl Stranger {
    fn new(api: &Arc<Api>, card: &Card) -> Stranger {
        let settings = [("provider_include".to_owned(), PROVIDER.to_owned())];
        let values = oxmpi_testing::setup::values(PARAMS, &settings).expect("values");
        let settings = Settings::of(Params(values)).expect("good values");
        let all = candidates(api, &settings, true).expect("providers");
        let info: &Info = &all[choose(&all, &settings).expect("the provider")].info;
        let fabric = Fabric::new(info).expect("a fabric");
        let domain = Domain::new(&fabric, info).expect("a domain");
        let av = Av::new(&domain, info).expect("a vector");
        let ep = Ep::new(info, &av, Cq::new(&domain, 256, false).expect("a queue")).expect("an endpoint");
        let to = av.insert(&card.addresses[0]).expect("the address");
        let (record, received) = (Record::new(Purpose::Send(0)), Record::new(Purpose::Receive(0)));
        let stranger = Stranger { ep, to, record, place: vec![0; 4096].into(), received };
        stranger.listen();
        stranger
    }

    fn listen(&self) {
        let (at, len) = (self.place.as_ptr().cast_mut().cast(), self.place.len());
        // SAFETY: the place is longer than what is received, and goes behind the endpoint.
        let code = unsafe {
            (self.ep.recv)(self.ep.receiver, at, len, null_mut(), ADDR_UNSPEC, self.received.context())
        };
        assert_eq!(code, 0, "a receive");
    }

    /// Sends bytes, while the job makes progress.
    fn send(&self, h: &Harness, bytes: &[u8]) {
        let begun = Instant::now();
        // SAFETY: the bytes live until the completion, which is waited for.
        while unsafe {
            (self.ep.send)(
                self.ep.object,
                bytes.as_ptr().cast(),
                bytes.len(),
                null_mut(),
                self.to,
                self.record.context(),
            )
        } != 0
        {
            self.look();
            h.progress();
            assert!(begun.elapsed() < PATIENCE, "the stranger does not get through");
        }
        while !self.look().contains(&Purpose::Send(0)) {
            h.progress();
            assert!(begun.elapsed() < PATIENCE, "the stranger's message does not go out");
        }
    }

    /// Operations that are over.
    fn look(&self) -> Vec<Purpose> {
        let mut entries = [CqEntry { context: null_mut(), flags: SEND, len: 0 }; 8];
        // SAFETY: the records of this very endpoint.
        let of = |entry: &CqEntry| unsafe { Record::of(entry.context) };
        match self.ep.cq.read(&mut entries) {
            Found::Entries(n) => entries[..n].iter().filter_map(of).collect(),
            _ => Vec::new(),
        }
    }
}

fn head(link: u32, token: u64, kind: Kind) -> Vec<u8> {
    Head { link, token, kind, tag: 7, number: 0 }.encode().to_vec()
}

#[test]
fn strangers_are_not_believed() {
    let api = match Api::load(&library()) {
        Ok(api) => api,
        Err(why) => return println!("strangers left out: {why}"),
    };
    let setup = Setup::new(crate::descriptor()).connects().ranks(2).cris(1);
    let setup = setup.param("provider_include", PROVIDER).param("library", &library());
    let h = Harness::new(&setup);
    // SAFETY: the table lives as long as the rank.
    let host = unsafe { Host::new(h.ranks[1].host.table(), "ofi") };
    let cards = published(&host.exchange_get(0).expect("published")).expect("cards");
    let card = &cards[0];
    let name = |proc| crate::rail::Rail::name_of(&host, proc).expect("a name");
    let stranger = Stranger::new(&api, card);
    let before = h.ranks[0].host.arrived();

    stranger.send(&h, b"GET / HTTP/1.1\r\n\r\n");
    stranger.send(&h, &[0; HEAD]);
    for kind in
        [Kind::Message, Kind::Reply, Kind::Bye, Kind::Challenge, Kind::Proof, Kind::Refusal, Kind::Credits]
    {
        for (link, token) in [(0, 0), (0, 0x1234_5678), (u32::MAX, u64::MAX)] {
            stranger.send(&h, &[&head(link, token, kind)[..], &[1; 40]].concat());
        }
    }
    // It says that it is rank 1, and gets a challenge, since it names its own address; it cannot answer.
    let hello = |from: ProcName, to: ProcName, to_lane| {
        let address = stranger.ep.address().expect("an address");
        let hello = Hello { from, to, from_lane: 0, to_lane, link: 3, token: 99, nonce: [7; NONCE], address };
        [head(0, 0, Kind::Hello), hello.encode()].concat()
    };
    for bad in [
        hello(name(1), name(1), 0),
        hello(ProcName { bytes: [9; 16] }, name(0), 0),
        hello(name(1), name(0), 9),
    ] {
        stranger.send(&h, &bad);
    }
    stranger.send(&h, &hello(name(1), name(0), 0));
    let begun = Instant::now();
    while !stranger.look().contains(&Purpose::Receive(0)) {
        h.progress();
        assert!(begun.elapsed() < PATIENCE, "no challenge");
    }
    let said = stranger.place[..].split_first_chunk::<HEAD>().expect("a head");
    let answered = Head::decode(said.0).expect("of this version");
    assert_eq!((answered.link, answered.token, answered.kind), (3, 99, Kind::Challenge));
    let challenge = Challenge::decode(&said.1[..44 + 32]).expect("a challenge");
    stranger.listen();
    // With the token, before and behind a proof that is none.
    let forged = [head(challenge.link, challenge.token, Kind::Message), vec![1; 64]].concat();
    stranger.send(&h, &forged);
    stranger.send(&h, &[head(challenge.link, challenge.token, Kind::Proof), vec![5; 32]].concat());
    stranger.send(&h, &forged);

    (0..50).for_each(|_| _ = h.progress());
    assert_eq!(h.ranks[0].host.arrived(), before, "a stranger's message was handed up");
    let log = h.ranks[0].host.logged();
    assert_eq!(log.matches("stranger").count(), 1, "told once: {log}");
    // The job goes on.
    let msg = Msg::new(5, 24, 100);
    h.push(Link { from: 1, to: 0 }, 0, &msg);
    h.settle(0, before + 1);
    assert_eq!(h.ranks[0].host.take().last().map(|m| m.bytes.clone()), Some(msg.bytes()));
}
