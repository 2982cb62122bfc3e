//! Places: how many ranks of jobs may be on this machine at once, of whichever test, test binary or checkout.
//!
//! A machine has twice as many places as cores (`OXMPI_TEST_PLACES` says otherwise); a job takes one for each of its ranks, or all of them where it has
//! more, so that two jobs of two ranks run side by side on two cores and one of sixteen runs alone. A place is an abstract socket's name: the
//! kernel gives it back when its holder ends, however that happens, and nothing is left behind.
//!
//! First come, first served: threads of a process stand in a queue, and the first of each process tries to take the turnstile, another such name. Its
//! holder collects places one by one until it has what it needs, so a large job is not passed by small ones for ever, and no two
//! wait for each other's places. A thread that has a job takes no places for another, since it might wait for itself.
//!
//! `OXMPI_TEST_TIMES` names a file that gets a line for each job: the seconds that it had its places, their number, and the test (its thread's
//! name). Those of a test together are what it costs; its own time has the waits for others, too.

use std::cell::RefCell;
use std::ffi::OsStr;
use std::io::Write;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longer than any step of `cargo xtask test`.
const PATIENCE: Duration = Duration::from_secs(2 * 3600);
const LOOK: Duration = Duration::from_millis(5);

/// Places that are held, given back when dropped.
pub struct Places {
    held: Vec<UnixDatagram>,
    since: Instant,
    /// How many `Places` the thread has that took them.
    of_thread: Arc<AtomicUsize>,
}

impl Drop for Places {
    fn drop(&mut self) {
        self.of_thread.fetch_sub(1, Ordering::Relaxed);
        if let Some(path) = std::env::var_os("OXMPI_TEST_TIMES") {
            self.write_down(Path::new(&path));
        }
    }
}

impl Places {
    /// So many, or all that there are; waits for them. The thread's first job alone takes any; one of 0 ranks takes none, and waits for nobody.
    pub fn take(ranks: usize) -> Places {
        thread_local! {
            static OWN: RefCell<Arc<AtomicUsize>> = RefCell::default();
        }
        let of_thread = OWN.with_borrow(Arc::clone);
        let is_first = of_thread.fetch_add(1, Ordering::Relaxed) == 0;
        let mut places = Places { held: Vec::new(), since: Instant::now(), of_thread };
        if is_first && ranks > 0 {
            places.held = House::of_machine().enter(ranks);
            places.since = Instant::now();
        }
        places
    }

    /// A file that cannot be written is no failure of the test that ends here.
    fn write_down(&self, file: &Path) {
        let (seconds, places) = (self.since.elapsed().as_secs_f64(), self.held.len());
        let thread = std::thread::current();
        let line = format!("{seconds:.3} {places} {}\n", thread.name().unwrap_or("?"));
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(file);
        let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
        if let Err(error) = written {
            eprintln!("{}: {error}", file.display());
        }
    }

    /// As many as the launcher's arguments ask for ranks.
    pub fn for_launcher(launcher: &Command) -> Places {
        Places::take(ranks_of(launcher.get_args()))
    }
}

/// Ranks that a launcher's arguments ask for: the numbers behind `-n`, or the places of `--host`. A command without either counts as one.
fn ranks_of<'a>(arguments: impl Iterator<Item = &'a OsStr>) -> usize {
    let words: Vec<_> = arguments.map(|word| word.to_string_lossy()).collect();
    let behind = |names: [&str; 2]| {
        let pairs = words.windows(2).filter(move |pair| names.contains(&pair[0].as_ref()));
        pairs.map(|pair| pair[1].clone()).collect::<Vec<_>>()
    };
    let ranks: usize = behind(["-n", "-np"]).iter().filter_map(|n| n.parse::<usize>().ok()).sum();
    let slots = |host: &str| host.rsplit_once(':').map_or(1, |(_, n)| n.parse().unwrap_or(1));
    let hosts: usize = behind(["--host", "-H"]).iter().flat_map(|list| list.split(',')).map(slots).sum();
    if ranks > 0 { ranks } else { hosts.max(1) }
}

/// A set of places with its turnstile.
struct House {
    name: String,
    places: usize,
    /// Of this process's threads.
    turns: &'static Turns,
}

impl House {
    fn of_machine() -> House {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let said = std::env::var("OXMPI_TEST_PLACES").ok().and_then(|n| n.parse().ok());
        let name = format!("oxmpi-tests-{}", rustix::process::getuid().as_raw());
        static TURNS: Turns = Turns::new();
        House { name, places: said.unwrap_or(2 * cores).max(1), turns: &TURNS }
    }

    fn enter(&self, ranks: usize) -> Vec<UnixDatagram> {
        let _turn = self.turns.wait();
        let begun = Instant::now();
        let mut turnstile = None;
        let wanted = ranks.clamp(1, self.places);
        let mut held = Vec::new();
        loop {
            turnstile = turnstile.or_else(|| self.take("turnstile"));
            if turnstile.is_some() {
                held.extend((0..self.places).filter_map(|n| self.take(&n.to_string())));
                // More may have become free than it needs.
                held.truncate(wanted);
            }
            if held.len() == wanted {
                return held;
            }
            let whose = if turnstile.is_some() { "jobs of other tests" } else { "another test that waits" };
            assert!(begun.elapsed() < PATIENCE, "waited {PATIENCE:?} for {wanted} places, which {whose} has");
            std::thread::sleep(LOOK);
        }
    }

    /// `None`: somebody has it.
    fn take(&self, what: &str) -> Option<UnixDatagram> {
        let name = format!("{}-{what}", self.name);
        let address = SocketAddr::from_abstract_name(name).expect("a short name");
        match UnixDatagram::bind_addr(&address) {
            Ok(socket) => Some(socket),
            Err(error) if error.kind() == std::io::ErrorKind::AddrInUse => None,
            Err(error) => panic!("no place for a job can be taken: {error}"),
        }
    }
}

/// Turns that were asked for and turns that are over, of the threads of a process.
struct Turns {
    numbers: Mutex<(u64, u64)>,
    next: Condvar,
}

/// The turn of one of them.
struct Turn<'a>(&'a Turns);

impl Turns {
    const fn new() -> Turns {
        Turns { numbers: Mutex::new((0, 0)), next: Condvar::new() }
    }

    fn wait(&self) -> Turn<'_> {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let own = numbers.0;
        numbers.0 += 1;
        let waited = self.next.wait_while(numbers, |numbers| numbers.1 != own);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        Turn(self)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.numbers.lock().unwrap_or_else(PoisonError::into_inner).1 += 1;
        self.0.next.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Places of this test alone.
    fn house(what: &str, places: usize) -> House {
        let turns = Box::leak(Box::new(Turns::new()));
        House { name: format!("oxmpi-tests-{what}-{}", std::process::id()), places, turns }
    }

    /// At no time more ranks are there than places, and everybody has had a turn, the largest, too.
    #[test]
    fn jobs_are_bounded_and_all_come() {
        let (there, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let house = house("bounded", 4);
        std::thread::scope(|scope| {
            for thread in 0..8 {
                let (house, there, most) = (&house, &there, &most);
                scope.spawn(move || {
                    for turn in 0..10 {
                        let ranks = 1 + (thread + turn) % 6;
                        let held = house.enter(ranks);
                        assert_eq!(held.len(), ranks.min(4));
                        let now = there.fetch_add(held.len(), Ordering::SeqCst) + held.len();
                        most.fetch_max(now, Ordering::SeqCst);
                        std::thread::yield_now();
                        there.fetch_sub(held.len(), Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(most.into_inner() <= 4);
    }

    /// A job that wants the whole machine is not passed by those that come later.
    #[test]
    fn nobody_is_passed() {
        let house = house("order", 2);
        let first = house.enter(1);
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (number, ranks) in [2, 1, 1].into_iter().enumerate() {
                let asked = || house.turns.numbers.lock().expect("nobody panics").0;
                let (house, order, before) = (&house, &order, asked());
                scope.spawn(move || {
                    let _held = house.enter(ranks);
                    order.lock().expect("nobody panics").push(number);
                });
                while asked() == before {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().expect("nobody panics")[0], 0);
    }

    /// The places of another process are not taken, and come back with its end. A thread's second job waits for nothing.
    #[test]
    fn places_are_the_machines() {
        let house = house("machine", 1);
        let held = house.enter(1);
        assert!(house.take("0").is_none(), "a second holder, as another process would be");
        drop(held);
        assert!(house.take("0").is_some());
        let (all, more) = (Places::take(usize::MAX), Places::take(usize::MAX));
        assert!(!all.held.is_empty() && more.held.is_empty());
    }

    #[test]
    fn ranks_are_read_from_the_arguments() {
        for (words, ranks) in [
            ("--oversubscribe -n 4 ring", 4),
            ("--host a:2,b:3 --mca plm local ring", 5),
            ("--host a,b,c ring", 3),
            ("--host a:8,b:8 -n 8 star", 8),
            ("-n 2 ring : -np 3 ring", 5),
            ("--version", 1),
            ("-n", 1),
        ] {
            assert_eq!(ranks_of(words.split(' ').map(OsStr::new)), ranks, "{words}");
        }
    }
}
