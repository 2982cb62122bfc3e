//! One of the two processes of a measurement: messages to and fro.
//!
//! They are MPI programs of the standard ABI like any other, but for taking the library at run time, from
//! the installation that this program belongs to.

use libloading::Library;
use oxmpi_mca_params::Places;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::time::{Duration, Instant};

// The standard's values (MPI 5.0 §20).
const COMM_WORLD: *mut c_void = 0x101 as *mut c_void;
const BYTE: *mut c_void = 0x247 as *mut c_void;

type Handle = *mut c_void;

/// The functions that are needed.
struct Mpi {
    init: extern "C" fn(*mut c_int, *mut c_void) -> c_int,
    finalize: extern "C" fn() -> c_int,
    rank: extern "C" fn(Handle, *mut c_int) -> c_int,
    send: extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle) -> c_int,
    recv: extern "C" fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void) -> c_int,
    vector: extern "C" fn(c_int, c_int, c_int, Handle, *mut Handle) -> c_int,
    commit: extern "C" fn(*mut Handle) -> c_int,
}

impl Mpi {
    fn load() -> Result<Mpi, String> {
        let lib = Places::of_this_program().lib.ok_or("this program does not know its installation")?;
        let file = lib.join("libmpi_abi.so.1");
        // SAFETY: the library of our own installation; it is never unloaded.
        let library = unsafe { Library::new(&file) }.map_err(|e| format!("{}: {e}", file.display()))?;
        let library = Box::leak(Box::new(library));
        macro_rules! function {
            ($name:literal) => {
                // SAFETY: the type is that of the function in the standard's C binding.
                *unsafe { library.get($name) }.map_err(|e| format!("{}: {e}", file.display()))?
            };
        }
        Ok(Mpi {
            init: function!(b"MPI_Init"),
            finalize: function!(b"MPI_Finalize"),
            rank: function!(b"MPI_Comm_rank"),
            send: function!(b"MPI_Send"),
            recv: function!(b"MPI_Recv"),
            vector: function!(b"MPI_Type_vector"),
            commit: function!(b"MPI_Type_commit"),
        })
    }
}

/// The buffer that is sent to and fro.
struct Ball<'a> {
    mpi: &'a Mpi,
    out: Vec<u8>,
    back: Vec<u8>,
    count: c_int,
    kind: Handle,
    peer: c_int,
    /// Written before it is sent, and read when it came.
    used: bool,
}

impl Ball<'_> {
    fn send(&mut self) {
        if self.used {
            let next = self.out.first().map_or(0, |byte| byte.wrapping_add(1));
            std::hint::black_box(&mut self.out).fill(next);
        }
        (self.mpi.send)(self.out.as_ptr().cast(), self.count, self.kind, self.peer, 1, COMM_WORLD);
    }
    fn receive(&mut self) {
        let to = self.back.as_mut_ptr().cast();
        (self.mpi.recv)(to, self.count, self.kind, self.peer, 1, COMM_WORLD, null_mut());
        if self.used {
            std::hint::black_box(self.back.iter().fold(0u8, |sum, byte| sum ^ byte));
        }
    }
    /// So many round trips; whoever is first to send measures.
    fn play(&mut self, times: u32, first: bool) -> Duration {
        let begun = Instant::now();
        for _ in 0..times {
            if first {
                self.send();
                self.receive();
            } else {
                self.receive();
                self.send();
            }
        }
        begun.elapsed()
    }
}

/// `--calibrate-rank KIND BYTES PIECE MILLISECONDS`, in a job of two. Rank 0 prints microseconds.
pub fn run(words: &[String]) -> Result<String, String> {
    let [kind, bytes, piece, milliseconds] = words else {
        return Err("--calibrate-rank is for --calibrate alone".into());
    };
    let number = |word: &String| word.parse::<u32>().map_err(|e| format!("{word}: {e}"));
    let (bytes, piece, milliseconds) = (number(bytes)?, number(piece)?, number(milliseconds)?);
    let mpi = Mpi::load()?;
    let mut rank = 0;
    (mpi.init)(null_mut(), null_mut());
    (mpi.rank)(COMM_WORLD, &mut rank);
    let (mut count, mut ty, mut length) = (bytes as c_int, BYTE, bytes as usize);
    if kind == "pieces" && piece > 0 {
        (mpi.vector)((bytes / piece) as c_int, piece as c_int, 2 * piece as c_int, BYTE, &mut ty);
        (mpi.commit)(&mut ty);
        (count, length) = (1, 2 * length);
    }
    let peer = 1 - rank;
    let (out, back, used) = (vec![1; length], vec![2; length], kind == "used");
    let mut ball = Ball { mpi: &mpi, out, back, count, kind: ty, peer, used };
    let first = rank == 0;
    let mut best = f64::MAX;
    let until = Instant::now() + Duration::from_millis(u64::from(milliseconds));
    let mut times: u32 = 2;
    // The first turns warm up; rank 0 says how long the next turn is, 0 for none.
    for turn in 0.. {
        let mut next = if turn > 1 && Instant::now() >= until { 0 } else { times };
        let word = (&raw mut next).cast::<c_void>();
        match first {
            true => (mpi.send)(word, 4, BYTE, peer, 2, COMM_WORLD),
            false => (mpi.recv)(word, 4, BYTE, peer, 2, COMM_WORLD, null_mut()),
        };
        if next == 0 {
            break;
        }
        let took = ball.play(next, first).as_secs_f64() * 1e6;
        if turn > 0 {
            best = best.min(took / f64::from(next) / 2.0);
        }
        // Turns of about half a millisecond.
        times = (500.0 / (took / f64::from(next)).max(0.01)).clamp(1.0, 10_000.0) as u32;
    }
    (mpi.finalize)();
    Ok(if first { format!("{best:.4}\n") } else { String::new() })
}
