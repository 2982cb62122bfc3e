//! The report of a process that a signal ends.
//!
//! **Handlers** for the signals of `opal_signal` are installed in MPI_Init. A handler runs once per
//! signal and process: it collects where the thread was (registers, a piece of the stack, the map
//! of memory), gives it to the node daemon, puts back whatever stood there before, and has the
//! signal come again. So a program's own earlier handler gets it exactly as without us, with its
//! own flags and mask; where there was none, the process ends and leaves its core file as usual. A
//! program that installs a handler afterwards replaces ours. A signal that the program survives is not shown:
//! the daemon shows a report only of a process that ends badly after it.
//!
//! **In the handler** nothing is allowed that allocates, locks or trusts the program's memory: it
//! makes system calls on buffers of its own and reads the stack through /proc/self/mem, which gives
//! an error where a plain read would fault again. Nothing is unwound and no name is looked for;
//! the daemon does that, in its own process, from the files. Only without a daemon (a program
//! started alone) the C library's `backtrace` prints what it finds: a process that has nobody else
//! and ends anyway.
//!
//! **Stack.** The thread that calls MPI_Init gets an alternate signal stack unless it has one, so
//! that an overflow of its stack is reported, too. Other threads that have none are handled on
//! their own stacks.
//!
//! **fork.** A child inherits handlers but is no rank: there the handler only puts back what stood
//! before.

use oxmpi_runtime::Instance;
use oxmpi_wireup::{MAPS_LIMIT, Moment, STACK_LIMIT, Witness};
use std::cell::UnsafeCell;
use std::ffi::CStr;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

/// Data of the handlers. Made once, never freed: a signal may come at any time.
struct Plan {
    pid: libc::pid_t,
    rank: u32,
    witness: Option<Witness>,
    /// `opal_stacktrace_output`, as the daemon is told.
    to: String,
    /// Where a process without a daemon writes; -1: nowhere.
    own_output: libc::c_int,
    /// The handlers that stood there before, by signal.
    before: [Option<libc::sigaction>; SIGNALS],
}

const SIGNALS: usize = 65;
/// Enough for a handler whose buffers are elsewhere.
const ALTERNATE_STACK: usize = 64 << 10;

/// Buffers of the handler. Only the thread that has taken `REPORTING` touches them.
struct Buffers(UnsafeCell<Space>);
struct Space {
    stack: [u8; STACK_LIMIT],
    maps: [u8; MAPS_LIMIT],
}

// SAFETY: `REPORTING` lets one thread in at a time.
unsafe impl Sync for Buffers {}

static PLAN: AtomicPtr<Plan> = AtomicPtr::new(null_mut());
static REPORTING: AtomicBool = AtomicBool::new(false);
// Zero, and so no memory until a handler runs.
static BUFFERS: Buffers = Buffers(UnsafeCell::new(Space { stack: [0; STACK_LIMIT], maps: [0; MAPS_LIMIT] }));

const OUTPUT: &str = "opal_stacktrace_output";

fn text(instance: &Instance, parameter: &str) -> String {
    let value = instance.param(parameter).and_then(|p| p.value.as_str().map(str::to_owned));
    value.unwrap_or_default()
}

/// Says where the calling thread is, which is about to abort the job. In no handler, so it may do
/// what it likes; a crash of another thread at the same moment says enough.
pub fn tell(instance: &Instance) {
    let to = text(instance, OUTPUT);
    if to == "none" || REPORTING.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: all fields are numbers or pointers; the call fills them with the caller's registers.
    let mut context: libc::ucontext_t = unsafe { std::mem::zeroed() };
    // SAFETY: a place for such a context.
    unsafe { libc::getcontext(&mut context) };
    let moment = Moment { thread: thread().cast_unsigned(), ..registers(&context) };
    Plan::new(instance, to).report(&moment);
    REPORTING.store(false, Ordering::Release);
}

/// Installs the handlers that the parameters ask for.
pub fn install(instance: &Instance) -> Result<(), String> {
    let signals = signals_in(&text(instance, "opal_signal"))?;
    let to = text(instance, OUTPUT);
    check_output(&to)?;
    if to == "none" || signals.is_empty() || !PLAN.load(Ordering::Acquire).is_null() {
        return Ok(());
    }
    let mut plan = Plan::new(instance, to);
    let complain = signals.iter().any(|(_, complain)| *complain);
    let mut kept = Vec::new();
    for &(signal, _) in &signals {
        // SAFETY: a zeroed sigaction is a place to write to; a null action only asks.
        let mut before: libc::sigaction = unsafe { std::mem::zeroed() };
        // SAFETY: a null action only asks, and there is a place for the answer.
        if unsafe { libc::sigaction(signal, null(), &mut before) } != 0 {
            return Err(format!("opal_signal: {signal} is no signal that can be handled"));
        }
        match before.sa_sigaction {
            // The user wants none of it.
            libc::SIG_IGN => {}
            handler => {
                if handler != libc::SIG_DFL {
                    kept.push(signal.to_string());
                }
                plan.before[signal as usize] = Some(before);
            }
        }
    }
    if complain && !kept.is_empty() {
        let kept = kept.join(", ");
        oxmpi_system::reportln!(
            "oxmpi: signals {kept} had handlers before MPI_Init, which run after a stack is reported"
        );
    }
    if plan.witness.is_none() {
        // The first call loads what it needs, which a handler must not.
        let mut one = [null_mut(); 1];
        // SAFETY: room for one address.
        unsafe { libc::backtrace(one.as_mut_ptr(), 1) };
    }
    make_alternate_stack();
    let wanted: Vec<usize> = (0..SIGNALS).filter(|&n| plan.before[n].is_some()).collect();
    PLAN.store(Box::into_raw(Box::new(plan)), Ordering::Release);
    for signal in wanted {
        // SAFETY: `crashed` has the form of a SA_SIGINFO handler, and its plan stands.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = crashed as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigemptyset(&mut action.sa_mask);
            libc::sigaction(signal as libc::c_int, &action, null_mut());
        }
    }
    Ok(())
}

/// Numbers separated by commas, each with `:complain` behind it or not.
fn signals_in(list: &str) -> Result<Vec<(libc::c_int, bool)>, String> {
    let mut signals = Vec::new();
    for item in list.split(',').map(str::trim).filter(|item| !item.is_empty()) {
        let (number, complain) = match item.split_once(':') {
            None => (item, false),
            Some((number, "complain")) => (number, true),
            Some(_) => {
                return Err(format!("opal_signal: in {item:?} only \":complain\" may stand behind a colon"));
            }
        };
        let may =
            |&n: &libc::c_int| n > 0 && (n as usize) < SIGNALS && n != libc::SIGKILL && n != libc::SIGSTOP;
        match number.parse().ok().filter(may) {
            Some(number) => signals.push((number, complain)),
            None => {
                return Err(format!("opal_signal: {number:?} is no number of a signal that can be handled"));
            }
        }
    }
    Ok(signals)
}

fn check_output(to: &str) -> Result<(), String> {
    match to.split_once(':').unwrap_or((to, "")) {
        ("none" | "stdout" | "stderr", "") | ("file", _) => Ok(()),
        _ => Err(format!("opal_stacktrace_output: {to:?} is none of none, stdout, stderr, file, file:NAME")),
    }
}

/// Where a process without a daemon writes. A file is opened now: later it may be too late.
fn own_output(to: &str) -> libc::c_int {
    use std::os::fd::IntoRawFd;
    match to.split_once(':').unwrap_or((to, "")) {
        ("stdout", _) => libc::STDOUT_FILENO,
        ("file", name) => {
            let name = if name.is_empty() { "stacktrace" } else { name };
            let name = format!("{name}.0.{}", std::process::id());
            std::fs::File::create(name).map_or(libc::STDERR_FILENO, IntoRawFd::into_raw_fd)
        }
        _ => libc::STDERR_FILENO,
    }
}

fn make_alternate_stack() {
    // SAFETY: the calling thread's alternate stack is asked for, and set to fresh memory that
    // stays for the life of the process.
    unsafe {
        let mut now: libc::stack_t = std::mem::zeroed();
        if libc::sigaltstack(null(), &mut now) != 0 || now.ss_flags & libc::SS_DISABLE == 0 {
            return;
        }
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK;
        let memory =
            libc::mmap(null_mut(), ALTERNATE_STACK, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if memory != libc::MAP_FAILED {
            let stack = libc::stack_t { ss_sp: memory, ss_flags: 0, ss_size: ALTERNATE_STACK };
            libc::sigaltstack(&stack, null_mut());
        }
    }
}

/// The handler.
extern "C" fn crashed(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the kernel's arguments are valid; the plan is never freed; everything called is
    // async-signal-safe.
    unsafe {
        let errno = *libc::__errno_location();
        let Some(plan) = PLAN.load(Ordering::Acquire).as_ref() else { return };
        if libc::getpid() == plan.pid {
            // A handler of the program's own may go on, and writes its output itself.
            let handled = plan.before.get(signal as usize).and_then(Option::as_ref);
            if handled.is_some_and(|before| before.sa_sigaction == libc::SIG_DFL) {
                crate::call::stdio::rescue();
            }
            if REPORTING.swap(true, Ordering::Acquire) {
                // Another thread was first, and its report counts. It ends the process, or its
                // own handler does something else; either is soon.
                let moment = libc::timespec { tv_sec: 0, tv_nsec: 10_000_000 };
                for _ in 0..1000 {
                    if !REPORTING.load(Ordering::Acquire) {
                        break;
                    }
                    libc::nanosleep(&moment, null_mut());
                }
            } else {
                plan.report(&moment_of(signal, info, context));
                REPORTING.store(false, Ordering::Release);
            }
        }
        if let Some(before) = plan.before.get(signal as usize).and_then(Option::as_ref) {
            libc::sigaction(signal, before, null_mut());
        }
        // A signal that the processor raised comes again when the instruction is tried again. A signal that
        // a process sent is sent again, and arrives when this handler returns.
        if (*info).si_code <= 0 {
            libc::syscall(libc::SYS_rt_tgsigqueueinfo, libc::getpid(), thread(), signal, info);
        }
        *libc::__errno_location() = errno;
    }
}

fn thread() -> libc::pid_t {
    // SAFETY: no arguments, no memory.
    unsafe { libc::syscall(libc::SYS_gettid) as libc::pid_t }
}

/// # Safety
/// The arguments are those of a SA_SIGINFO handler.
unsafe fn moment_of(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) -> Moment {
    // SAFETY: the caller's promise.
    let (info, context) = unsafe { (&*info, &*context.cast::<libc::ucontext_t>()) };
    let thread = thread().cast_unsigned();
    let mut moment = Moment { signal, code: info.si_code, thread, ..registers(context) };
    let faults = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGTRAP];
    if info.si_code > 0 && faults.contains(&signal) {
        // SAFETY: these signals, raised by the processor, carry an address.
        moment.address = unsafe { info.si_addr() } as u64;
    }
    moment
}

/// Those that say where a thread is; all else is 0.
fn registers(context: &libc::ucontext_t) -> Moment {
    let mut moment = Moment::default();
    #[cfg(target_arch = "x86_64")]
    {
        let register = |number: libc::c_int| context.uc_mcontext.gregs[number as usize].cast_unsigned();
        moment.ip = register(libc::REG_RIP);
        moment.sp = register(libc::REG_RSP);
        moment.fp = register(libc::REG_RBP);
    }
    #[cfg(target_arch = "aarch64")]
    {
        let registers = &context.uc_mcontext;
        (moment.ip, moment.sp) = (registers.pc, registers.sp);
        (moment.fp, moment.lr) = (registers.regs[29], registers.regs[30]);
    }
    moment
}

impl Plan {
    /// Without any signal.
    fn new(instance: &Instance, to: String) -> Plan {
        let witness = instance.witness().cloned();
        Plan {
            pid: std::process::id().cast_signed(),
            rank: instance.job().rank,
            own_output: if witness.is_some() { -1 } else { own_output(&to) },
            witness,
            to,
            before: [None; SIGNALS],
        }
    }

    /// Async-signal-safe where there is a daemon.
    fn report(&self, moment: &Moment) {
        // SAFETY: `REPORTING` is ours.
        let space = unsafe { &mut *BUFFERS.0.get() };
        let Some(witness) = &self.witness else { return self.print(moment) };
        let stack = read_stack(moment.sp, &mut space.stack);
        let maps = read_file(c"/proc/self/maps", 0, &mut space.maps);
        witness.report(moment, self.to.as_bytes(), &space.stack[..stack], &space.maps[..maps]);
    }

    /// A process alone says it itself.
    fn print(&self, moment: &Moment) {
        let mut line = Line { bytes: [0; 256], length: 0 };
        line.text(b"oxmpi: process ");
        line.number(self.pid.cast_unsigned().into(), 10);
        line.text(b" (rank ");
        line.number(self.rank.into(), 10);
        if moment.signal == 0 {
            line.text(b") aborts");
        } else {
            line.text(b") got signal ");
            line.number(moment.signal.cast_unsigned().into(), 10);
            line.text(b" (code ");
            line.number(moment.code.unsigned_abs().into(), 10);
            line.text(b") at address 0x");
            line.number(moment.address, 16);
        }
        line.text(b"; its stack:\n");
        let mut frames = [null_mut(); 64];
        // SAFETY: buffers of the sizes that are told; the descriptor is one the user chose. The
        // C library makes no memory of its own for these once the first call has been made.
        unsafe {
            libc::write(self.own_output, line.bytes.as_ptr().cast(), line.length);
            let n = libc::backtrace(frames.as_mut_ptr(), frames.len() as libc::c_int);
            libc::backtrace_symbols_fd(frames.as_ptr(), n, self.own_output);
        }
    }
}

/// A line made without memory from elsewhere.
struct Line {
    bytes: [u8; 256],
    length: usize,
}

impl Line {
    fn text(&mut self, text: &[u8]) {
        for (place, byte) in self.bytes[self.length..].iter_mut().zip(text) {
            *place = *byte;
            self.length += 1;
        }
    }

    fn number(&mut self, mut number: u64, base: u64) {
        let (mut digits, mut at) = ([0; 20], 20);
        loop {
            at -= 1;
            digits[at] = b"0123456789abcdef"[(number % base) as usize];
            number /= base;
            if number == 0 {
                break;
            }
        }
        self.text(&digits[at..]);
    }
}

/// Reads the stack from `sp` on; how much. Where it has overflowed, the pointer is beyond what is
/// mapped: nothing stands there, and what stands behind counts. Async-signal-safe.
fn read_stack(sp: u64, into: &mut [u8]) -> usize {
    const PAGE: usize = 4096;
    let mut gap = 0;
    while gap < into.len() / 2 {
        let length = read_file(c"/proc/self/mem", sp.wrapping_add(gap as u64), &mut into[gap..]);
        if length > 0 {
            return gap + length;
        }
        let past = (sp % PAGE as u64) as usize;
        gap = if gap == 0 { PAGE - past } else { gap + PAGE };
    }
    0
}

/// Reads from `offset` on as far as there is something; how much. Async-signal-safe.
fn read_file(name: &CStr, offset: u64, into: &mut [u8]) -> usize {
    let mut length = 0;
    // SAFETY: system calls with a descriptor of ours and the room that is left.
    unsafe {
        let file = libc::open(name.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        if file < 0 {
            return 0;
        }
        while length < into.len() {
            let at = offset.wrapping_add(length as u64).cast_signed();
            let rest = &mut into[length..];
            match usize::try_from(libc::pread(file, rest.as_mut_ptr().cast(), rest.len(), at)) {
                Ok(n) if n > 0 => length += n,
                _ => break,
            }
        }
        libc::close(file);
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_signals() {
        assert_eq!(signals_in("6,7:complain, 11"), Ok(vec![(6, false), (7, true), (11, false)]));
        assert_eq!(signals_in(""), Ok(vec![]));
        for wrong in ["9", "0", "65", "x", "6:loudly", "-1"] {
            assert!(signals_in(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn places_of_reports() {
        for good in ["none", "stdout", "stderr", "file", "file:name"] {
            assert_eq!(check_output(good), Ok(()), "{good}");
        }
        assert!(check_output("printer").is_err() && check_output("stdout:x").is_err());
    }

    #[test]
    fn a_stack_is_read_and_what_is_not_there_is_not() {
        let words = [0x5a_u8; 100];
        let mut copy = [0; 100];
        assert_eq!(read_file(c"/proc/self/mem", words.as_ptr() as u64, &mut copy), 100);
        assert_eq!(copy, words);
        assert_eq!(read_file(c"/proc/self/mem", 8, &mut copy), 0);
    }

    #[test]
    fn lines() {
        let mut line = Line { bytes: [0; 256], length: 0 };
        line.text(b"a ");
        line.number(0, 10);
        line.text(b" ");
        line.number(u64::MAX, 16);
        assert_eq!(&line.bytes[..line.length], b"a 0 ffffffffffffffff");
        line.text(&[b'x'; 1000]);
        assert_eq!(line.length, 256);
    }
}
