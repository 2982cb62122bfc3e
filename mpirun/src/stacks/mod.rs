//! Where other processes are: from registers, a piece of stack and a map of memory to lines that a
//! user reads.
//!
//! All of it happens here, in the daemon, from the files of the program: the process that crashed
//! has only to say its registers, and one that hangs need not say anything. Unwinding follows the
//! tables that compilers write (`.eh_frame`), names and lines come from symbols and DWARF.
//!
//! Nothing in the files or in the other process is trusted: what cannot be read or makes no sense
//! ends the stack there, a panic in a parser costs this one stack, and everything has a bound.
//!
//! Map: `image` (the map of memory, and the files in it) · `ptrace` (looking at a process that
//! does not know it).

pub mod image;
pub mod ptrace;

use framehop::{CacheNative, MayAllocateDuringUnwind, Unwinder, UnwinderNative};
use image::{Files, Image};
use oxmpi_wireup::Moment;
use std::panic::AssertUnwindSafe;
use std::path::Path;

/// Longest stack that is shown.
const FRAMES: usize = 64;

/// Turns moments into lines; remembers the files it has read.
#[derive(Debug, Default)]
pub struct Reader {
    files: Files,
}

impl Reader {
    /// The stack of a thread, one frame per line, innermost first. `stack` has the bytes from the
    /// stack pointer on, `maps` is the process's `/proc/PID/maps`.
    pub fn describe(&mut self, moment: &Moment, stack: &[u8], maps: &[u8], frames: Frames) -> String {
        let work = AssertUnwindSafe(|| self.lines(moment, stack, maps, frames));
        match std::panic::catch_unwind(work) {
            Ok(lines) => lines,
            Err(_) => {
                // Work that a parser had half done is of no use.
                self.files = Files::default();
                format!("  #0  {:#018x}  (the rest of the stack cannot be read)\n", moment.ip)
            }
        }
    }

    fn lines(&mut self, moment: &Moment, stack: &[u8], maps: &[u8], frames: Frames) -> String {
        let image = Image::parse(maps);
        let mut all = Vec::new();
        for (number, (address, lookup)) in self.unwind(&image, moment, stack).into_iter().enumerate() {
            let mut text = String::new();
            self.files.describe(&image, number, address, lookup, &mut text);
            all.push((owner(image.file_of(lookup)), text));
        }
        match frames {
            Frames::All => all.into_iter().map(|(_, text)| text).collect(),
            Frames::OfTheProgram => without_the_library(&all),
        }
    }

    /// Addresses, and where to look up what they are: the place before a return address.
    fn unwind(&mut self, image: &Image, moment: &Moment, stack: &[u8]) -> Vec<(u64, u64)> {
        let mut unwinder: UnwinderNative<Vec<u8>, MayAllocateDuringUnwind> = UnwinderNative::new();
        for module in self.files.modules(image) {
            unwinder.add_module(module);
        }
        let mut read = |address: u64| {
            let at = usize::try_from(address.checked_sub(moment.sp).ok_or(())?).map_err(|_| ())?;
            let bytes = stack.get(at..).and_then(|rest| rest.first_chunk::<8>()).ok_or(())?;
            Ok(u64::from_le_bytes(*bytes))
        };
        let mut cache: CacheNative<MayAllocateDuringUnwind> = CacheNative::new();
        let mut start = (moment.ip, registers(moment));
        let mut found = Vec::new();
        if !image.is_code(moment.ip) {
            // A call to nowhere: its caller is what the return address on the stack says.
            found.push((moment.ip, moment.ip));
            if let Some(caller) = after_wild_call(moment, &mut read) {
                start = (caller.ip, registers(&caller));
            } else {
                return found;
            }
        }
        let mut frames = unwinder.iter_frames(start.0, start.1, &mut cache, &mut read);
        while let Ok(Some(frame)) = frames.next() {
            if found.len() == FRAMES {
                break;
            }
            found.push((frame.address(), frame.address_for_lookup()));
        }
        if start.0 != moment.ip && found.len() > 1 {
            // That was a return address.
            found[1].1 = found[1].1.saturating_sub(1);
        }
        found
    }
}

/// Which frames are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frames {
    All,
    /// Not those inside of the MPI function that the program called.
    OfTheProgram,
}

/// Owner of a frame's code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Library,
    /// The C library, the loader, the kernel: whoever called it counts.
    System,
    Program,
}

fn owner(file: &Path) -> Owner {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let in_components = file.parent().is_some_and(|folder| folder.ends_with("lib/oxmpi"));
    match &*name {
        _ if in_components || name.starts_with("libmpi_abi.so") => Owner::Library,
        "[vdso]" => Owner::System,
        name if ["libc.so", "libc-", "ld-linux", "libpthread"].iter().any(|s| name.starts_with(s)) => {
            Owner::System
        }
        _ => Owner::Program,
    }
}

/// The innermost frames, up to the MPI function that the program called, in one line; none of them is the program's.
fn without_the_library(all: &[(Owner, String)]) -> String {
    let inside = all.iter().position(|(owner, _)| *owner == Owner::Program).unwrap_or(0);
    let called = all[..inside].iter().rposition(|(owner, _)| *owner == Owner::Library);
    let hidden = called.unwrap_or(0);
    let mut text = String::new();
    if hidden > 0 {
        text += &format!("  ({hidden} frames inside of MPI; --verbose shows them)\n");
    }
    let mut shown = all[hidden..].iter();
    if let Some((_, frame)) = called.and_then(|_| shown.next()) {
        text += &called_function(frame).unwrap_or_else(|| frame.clone());
    }
    shown.for_each(|(_, frame)| text += frame);
    text
}

/// Of the lines of the frame that the program called the one that names the function of MPI.
fn called_function(frame: &str) -> Option<String> {
    let name = frame.split_whitespace().find(|word| word.starts_with("MPI_") || word.starts_with("PMPI_"))?;
    let start: Vec<&str> = frame.split_whitespace().take(2).collect();
    match start[..] {
        [number, address] if address.starts_with("0x") => Some(format!("  {number:<3} {address}  {name}\n")),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
fn registers(m: &Moment) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(m.ip, m.sp, m.fp)
}

#[cfg(target_arch = "aarch64")]
fn registers(m: &Moment) -> framehop::UnwindRegsNative {
    framehop::UnwindRegsNative::new(m.lr, m.sp, m.fp)
}

/// The state behind a call of an address that is no code.
fn after_wild_call(moment: &Moment, read: &mut impl FnMut(u64) -> Result<u64, ()>) -> Option<Moment> {
    if cfg!(target_arch = "x86_64") {
        let ip = read(moment.sp).ok()?;
        Some(Moment { ip, sp: moment.sp + 8, ..*moment })
    } else {
        Some(Moment { ip: moment.lr, ..*moment })
    }
}

/// Meaning of a signal's code, after the name of the signal.
pub fn cause(moment: &Moment) -> &'static str {
    match (moment.signal, moment.code) {
        (_, code) if code <= 0 => "sent by a process",
        (libc::SIGSEGV, 1) => "no memory is mapped there",
        (libc::SIGSEGV, 2) => "the memory there does not permit it",
        (libc::SIGBUS, 1) => "the address is not aligned",
        (libc::SIGBUS, 2) => "nothing is behind the mapped address: a file is shorter, or memory is short",
        (libc::SIGFPE, 1) => "integer division by zero",
        (libc::SIGFPE, 2) => "integer overflow",
        (libc::SIGFPE, 3) => "floating-point division by zero",
        (libc::SIGFPE, 4) => "floating-point overflow",
        (libc::SIGFPE, 5) => "floating-point underflow",
        (libc::SIGFPE, 6) => "inexact floating-point result",
        (libc::SIGFPE, 7) => "invalid floating-point operation",
        (libc::SIGILL, _) => "no valid instruction",
        _ => "raised by the processor",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn a_function_to_be_found(out: &mut Vec<String>) {
        let mut registers = Moment::default();
        let marker = 0_u64;
        registers.sp = &raw const marker as u64;
        // SAFETY: reads two registers.
        #[cfg(target_arch = "x86_64")]
        unsafe {
            std::arch::asm!("lea {}, [rip]", "mov {}, rsp", "mov {}, rbp",
                out(reg) registers.ip, out(reg) registers.sp, out(reg) registers.fp);
        }
        let maps = std::fs::read("/proc/self/maps").expect("there");
        let mut stack = vec![0; 256 << 10];
        let memory = std::fs::File::open("/proc/self/mem").expect("there");
        let n = std::os::unix::fs::FileExt::read_at(&memory, &mut stack, registers.sp).expect("mapped");
        out.push(Reader::default().describe(&registers, &stack[..n], &maps, Frames::All));
        std::hint::black_box(&marker);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn this_test_finds_itself() {
        let mut out = Vec::new();
        a_function_to_be_found(&mut out);
        assert!(out[0].contains("a_function_to_be_found"), "{}", out[0]);
        assert!(out[0].contains("this_test_finds_itself"), "{}", out[0]);
        assert!(out[0].contains("stacks/mod.rs:"), "{}", out[0]);
    }

    #[test]
    fn frames_of_the_library_are_left_out() {
        let frame = |file: &str, text: &str| (owner(Path::new(file)), format!("{text}\n"));
        let stack = [
            frame("/lib/libc.so.6", "futex"),
            frame("/x/lib/oxmpi/libbtl_shm.so", "sleep"),
            frame("/x/lib/libmpi_abi.so.1", "wait"),
            frame("/x/lib/libmpi_abi.so.1", "MPI_Recv"),
            frame("/home/me/program", "main"),
            frame("/lib/libc.so.6", "start"),
        ];
        assert_eq!(
            without_the_library(&stack),
            "  (3 frames inside of MPI; --verbose shows them)\nMPI_Recv\nmain\nstart\n"
        );
        // A callback of the program's inside of MPI, and a program that computes.
        assert_eq!(without_the_library(&stack[4..]), "main\nstart\n");
        let callback = [&stack[4..5], &stack[..5]].concat();
        assert!(!without_the_library(&callback).contains("frames inside"));
        assert_eq!(without_the_library(&[]), "");
    }

    #[test]
    fn nonsense_is_survived() {
        for maps in [
            &b""[..],
            b"\xff\xff",
            b"00400000-00500000 r-xp 00000000 00:00 0 /no/such\n",
            b"9-1 r-xp 0 0 0 /",
        ] {
            let moment = Moment { ip: 0x40_1000, sp: u64::MAX - 7, ..Moment::default() };
            let text = Reader::default().describe(&moment, &[0xff; 64], maps, Frames::OfTheProgram);
            assert!(text.contains("0x0000000000401000"), "{text}");
        }
    }
}
