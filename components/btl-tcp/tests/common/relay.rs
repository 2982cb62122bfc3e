//! The relay: it takes connections, learns where each wants to go, and passes bytes on both ways, with one kind of
//! mischief.

use super::destination;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Faults that the relay adds to the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mischief {
    /// Every connection is cut after this long.
    Cut(Duration),
    /// Nothing passes for a while, now and then.
    Stall,
    /// A few bytes at a time.
    Trickle,
    /// A stretch is missing, now and then.
    Swallow,
    /// A byte is wrong, now and then.
    Corrupt,
    /// All of these.
    All,
}

pub struct Relay {
    pub at: SocketAddr,
    shared: Arc<RelayState>,
    listener: Option<JoinHandle<()>>,
}

struct RelayState {
    over: AtomicBool,
    mischief: Mischief,
    open: Mutex<Vec<(TcpStream, Instant)>>,
    pumps: Mutex<Vec<JoinHandle<()>>>,
    /// Connections, and acts of mischief.
    connections: AtomicU64,
    acts: AtomicU64,
    dice: AtomicU64,
}

impl Relay {
    pub fn new(mischief: Mischief) -> Relay {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a socket");
        let at = listener.local_addr().expect("bound");
        let shared = Arc::new(RelayState {
            over: AtomicBool::new(false),
            mischief,
            open: Mutex::default(),
            pumps: Mutex::default(),
            connections: AtomicU64::new(0),
            acts: AtomicU64::new(0),
            dice: AtomicU64::new(88),
        });
        let mine = shared.clone();
        let listener = std::thread::spawn(move || {
            while !mine.over.load(Ordering::Relaxed) {
                match listener.accept() {
                    Ok((socket, _)) => RelayState::connect(&mine, socket),
                    Err(_) => std::thread::sleep(Duration::from_millis(1)),
                }
                mine.cut_old();
            }
        });
        Relay { at, shared, listener: Some(listener) }
    }

    /// Connections that went through, and how often something was done to them.
    pub fn counts(&self) -> (u64, u64) {
        (self.shared.connections.load(Ordering::Relaxed), self.shared.acts.load(Ordering::Relaxed))
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::Relaxed);
        self.listener.take().map(JoinHandle::join);
        for (socket, _) in self.shared.open.lock().expect("not poisoned").drain(..) {
            let _ = socket.shutdown(Shutdown::Both);
        }
        let pumps = std::mem::take(&mut *self.shared.pumps.lock().expect("not poisoned"));
        pumps.into_iter().for_each(|pump| drop(pump.join()));
    }
}

impl RelayState {
    fn connect(shared: &Arc<RelayState>, mut from: TcpStream) {
        from.set_nonblocking(false).expect("a socket");
        from.set_read_timeout(Some(Duration::from_secs(2))).expect("a socket");
        let Some(to) = destination(&mut from) else { return };
        let Ok(to) = TcpStream::connect(to) else { return };
        shared.connections.fetch_add(1, Ordering::Relaxed);
        let pumps = [(&from, &to), (&to, &from)].map(|(from, to)| {
            let (from, to) = (from.try_clone().expect("a socket"), to.try_clone().expect("a socket"));
            let shared = shared.clone();
            std::thread::spawn(move || shared.pump(from, to))
        });
        shared.pumps.lock().expect("not poisoned").extend(pumps);
        let mut open = shared.open.lock().expect("not poisoned");
        open.extend([(from, Instant::now()), (to, Instant::now())]);
    }

    fn cut_old(&self) {
        let after = match self.mischief {
            Mischief::Cut(after) => after,
            Mischief::All => Duration::from_secs(1),
            _ => return,
        };
        self.open.lock().expect("not poisoned").retain(|(socket, born)| {
            let old = born.elapsed() > after;
            if old {
                let _ = socket.shutdown(Shutdown::Both);
                self.acts.fetch_add(1, Ordering::Relaxed);
            }
            !old
        });
    }

    /// True once in `n` times.
    fn now_and_then(&self, n: u64) -> bool {
        let x = self.dice.fetch_add(0x9e37_79b9_7f4a_7c15, Ordering::Relaxed);
        let hit = ((x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33).is_multiple_of(n);
        if hit {
            self.acts.fetch_add(1, Ordering::Relaxed);
        }
        hit
    }

    fn does(&self, mischief: Mischief) -> bool {
        self.mischief == mischief || self.mischief == Mischief::All
    }

    fn pump(&self, mut from: TcpStream, mut to: TcpStream) {
        from.set_read_timeout(Some(Duration::from_millis(100))).expect("a socket");
        let mut buffer = vec![0; 64 << 10];
        while !self.over.load(Ordering::Relaxed) {
            let n = match from.read(&mut buffer) {
                Ok(0) => break,
                Ok(n) => n,
                Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
                Err(_) => break,
            };
            if !self.pass(&mut buffer[..n], &mut to) {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
        let _ = from.shutdown(Shutdown::Both);
    }

    fn pass(&self, bytes: &mut [u8], to: &mut TcpStream) -> bool {
        if self.does(Mischief::Stall) && self.now_and_then(50) {
            std::thread::sleep(Duration::from_millis(150));
        }
        if self.does(Mischief::Corrupt) && self.now_and_then(60) {
            let at = bytes.len() * 2 / 3;
            bytes[at] ^= 0x41;
        }
        let mut end = bytes.len();
        if self.does(Mischief::Swallow) && self.now_and_then(60) {
            end -= end / 3 + 1;
        }
        let step = if self.does(Mischief::Trickle) && self.now_and_then(20) { 31 } else { end.max(1) };
        for piece in bytes[..end].chunks(step).take(2000) {
            if to.write_all(piece).is_err() {
                return false;
            }
            if step == 31 {
                std::thread::sleep(Duration::from_micros(20));
            }
        }
        // Bytes beyond the 2000 steps are lost, too.
        end.div_ceil(step) <= 2000
    }
}
