//! A relay between ranks that mistreats what goes through it, and the caller's half of a handshake by hand.
#![allow(dead_code, reason = "each test uses its part")]

pub mod relay;

use btl_tcp::fuzz::{Challenge, Hello, Proof, Welcome};
use oxmpi_btl_conformance::{Harness, Msg, Setup};
use oxmpi_mca::services::AUTH_BYTES;
use oxmpi_mca::{ProcName, SliceRef, Status};
use std::io::{Read, Write};
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Two ranks with one context each.
pub fn pair() -> Setup {
    Setup::new(btl_tcp::descriptor()).ranks(2).cris(1)
}

/// Reads what a caller tells a relay: where it wants to go.
pub fn destination(from: &mut TcpStream) -> Option<SocketAddr> {
    let mut preface = [0; 24];
    from.read_exact(&mut preface).ok()?;
    assert_eq!(&preface[..4], b"VIA1", "a caller that goes through a relay says so first");
    let port = u16::from_le_bytes([preface[4], preface[5]]);
    let ip = Ipv6Addr::from(<[u8; 16]>::try_from(&preface[8..]).expect("16 bytes"));
    let ip = if preface[6] == 4 { ip.to_ipv4_mapped().expect("mapped").into() } else { ip.into() };
    Some(SocketAddr::new(ip, port))
}

/// A job of two, and where its rank 0 listens: found out by having rank 1 call it through us.
pub fn job(setup: Setup) -> (Harness, SocketAddr) {
    let spy = TcpListener::bind("127.0.0.1:0").expect("a port");
    let via = spy.local_addr().expect("bound").to_string();
    let h = Harness::open(&setup.param("relay", &via)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(h.ranks[1].send(0, 0, &Msg::new(1, 24, 8)), Status::NO_RESOURCE, "no connection yet");
    let (mut caller, _) = spy.accept().expect("rank 1 calls");
    h.ranks[1].progress(0);
    let to = destination(&mut caller).expect("rank 1 says where to");
    (h, to)
}

pub fn name_of(h: &Harness, rank: u32) -> ProcName {
    let host = h.ranks[0].host.view();
    let mut name = ProcName::default();
    assert_eq!((host.services().name_of)(host.table().instance, rank, &mut name), Status::OK);
    name
}

/// The hello that rank 1 sends to rank 0.
pub fn hello(h: &Harness) -> Hello {
    Hello {
        from: name_of(h, 1),
        to: name_of(h, 0),
        from_ctx: 0,
        to_ctx: 0,
        from_rail: 0,
        to_rail: 0,
        attempt: 1,
        seen: 0,
        window: 1 << 20,
        nonce: [7; 32],
    }
}

/// Calls rank 0, whose progress this makes while it waits.
pub struct Caller<'a> {
    pub h: &'a Harness,
    pub socket: TcpStream,
}

impl Caller<'_> {
    pub fn new(h: &Harness, to: SocketAddr) -> Caller<'_> {
        let socket = TcpStream::connect(to).expect("rank 0 listens");
        socket.set_nonblocking(true).expect("a socket");
        Caller { h, socket }
    }

    pub fn say(&mut self, bytes: &[u8]) {
        self.socket.write_all(bytes).expect("it listens");
    }

    /// The next `N` bytes; `None`: the connection has ended.
    pub fn hear<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (mut out, mut have, begun) = ([0; N], 0, Instant::now());
        while have < N {
            self.h.ranks[0].progress(0);
            match self.socket.read(&mut out[have..]) {
                Ok(0) => return None,
                Ok(n) => have += n,
                Err(e) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "rank 0 says nothing");
        }
        Some(out)
    }

    /// As rank 1, which knows the secret if `honest`.
    pub fn prove(&mut self, hello: &Hello, honest: bool) -> Option<Welcome> {
        self.say(&hello.encode());
        let challenge = Challenge::decode(&self.hear()?).expect("a challenge");
        let position = 0u64;
        let context = [b"btl tcp connector", &hello.encode()[..], &position.to_le_bytes()].concat();
        let mut answer = [0; AUTH_BYTES];
        if honest {
            let host = self.h.ranks[1].host.view();
            let slice = |b: &[u8]| SliceRef { ptr: b.as_ptr(), len: b.len() };
            let make = host.services().auth_make;
            let status =
                make(host.table().instance, slice(&challenge.nonce), slice(&context), answer.as_mut_ptr());
            assert_eq!(status, Status::OK);
        }
        self.say(&Proof { position, answer }.encode());
        Some(Welcome::decode(&self.hear()?).expect("a welcome"))
    }
}
