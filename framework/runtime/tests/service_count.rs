//! Atomic read-modify-writes on the path of messages, counted: as many with an open service context as without one.
//!
//! The test starts itself again under ptrace. There one thread drives both ranks of a job in one process, so that every receive finds its
//! message; its instructions between two marks are taken one by one, and those that lock the bus are counted. Helper threads are
//! not traced and do not matter: what counts is what the thread in MPI executes.

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod common;

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
mod counted {
    use super::common::{Basic, Form, Thread, config};
    use oxmpi_btl::{BtlServices, access};
    use oxmpi_datatype::Base;
    use oxmpi_mca::{MsgStatus, SliceRef, Status};
    use oxmpi_runtime::{Communicator, Envelope, Instance, Level};
    use oxmpi_wireup::{Client, Source};
    use std::collections::BTreeMap;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};
    use std::sync::Arc;

    const CHILD: &str = "OXMPI_TEST_SERVICE_COUNT";
    const MESSAGES: u64 = 40;

    /// Instructions that were stepped over between two marks.
    #[derive(Default)]
    struct Phase {
        instructions: u64,
        /// Of those that lock the bus: where, and how often.
        locking: BTreeMap<u64, u64>,
    }

    impl Phase {
        fn locked(&self) -> u64 {
            self.locking.values().sum()
        }
    }

    pub fn main() {
        if std::env::var_os(CHILD).is_some() { ranks() } else { trace() }
    }

    /// Stops for the tracer, which steps from the first mark to the next.
    #[inline(never)]
    fn mark() {
        // SAFETY: the process is traced, so the signal stops it and is not delivered.
        unsafe { libc::raise(libc::SIGUSR1) };
    }

    fn ranks() {
        // A rank starts when all do.
        let starts: Vec<_> = Client::local_job(2)
            .expect("a job in this process")
            .into_iter()
            .map(|client| {
                std::thread::spawn(move || {
                    let mut config = config(Form::LinkedIn, Level::Single, &[("btl", "shm,self")]);
                    config.wireup = Source::Given(client);
                    Instance::start(config).expect("a rank")
                })
            })
            .collect();
        let ranks: Vec<Arc<Instance>> = starts.into_iter().map(|t| t.join().expect("a rank")).collect();
        let byte = Basic::new(Base::BYTE, 1);
        let worlds: Vec<_> = ranks.iter().map(|rank| rank.world()).collect();
        let exchange = |count| {
            for n in 0..count {
                for me in [0, 1] {
                    message(&worlds[me], &worlds[1 - me], n, &byte);
                }
            }
        };
        exchange(100);
        mark();
        exchange(MESSAGES);
        mark();
        let registrations: Vec<_> = ranks.iter().map(open_service).collect();
        exchange(100);
        mark();
        exchange(MESSAGES);
        mark();
        drop((registrations, worlds));
        for rank in ranks {
            assert_eq!(rank.service_counts().by_waiters, 0);
            rank.finalize().expect("the end");
        }
    }

    fn message(from: &Communicator, to: &Communicator, n: u64, byte: &Basic) {
        let (mut got, mut status) = ([0u64], MsgStatus::EMPTY);
        let (data, t) = (byte.data(std::slice::from_ref(&n)), Thread::main(from.instance()));
        let sent = from.send(&mut t.entry(), data, Envelope::new(to.rank() as i32, 3));
        assert_eq!(sent, Status::OK);
        let (place, t) = (byte.place(&mut got), Thread::main(to.instance()));
        let answer = to.recv(&mut t.entry(), place, Envelope::new(from.rank() as i32, 3), &mut status);
        assert_eq!(answer, Status::OK);
        assert_eq!(got, [n]);
    }

    /// Memory that peers may update, by way of an emulated transport.
    fn open_service(instance: &Arc<Instance>) -> Box<[u64; 4]> {
        // SAFETY: valid as long as the instance.
        let services: &BtlServices = unsafe { &*instance.btl_services_for_rma() };
        let mut out = SliceRef { ptr: std::ptr::null(), len: 0 };
        assert_eq!((services.reach)(services.instance, 1 - instance.job().rank, &mut out), Status::OK);
        // SAFETY: the host's list.
        let btl = unsafe { out.get() }[0].btl;
        let (mut memory, mut registration) = (Box::new([0u64; 4]), std::ptr::null());
        let (at, access) = (memory.as_mut_ptr().cast(), access::REMOTE_ATOMIC);
        let status = (services.register)(services.instance, btl, at, 32, access, &mut registration);
        assert_eq!(status, Status::OK);
        assert_eq!(instance.service_counts().helpers, 1);
        memory
    }

    fn trace() {
        let mut command = Command::new(std::env::current_exe().expect("the path of the test"));
        command.env(CHILD, "1");
        // SAFETY: one system call between fork and exec.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            });
        }
        let child = match command.spawn() {
            Ok(child) => child,
            Err(why) => return println!("not counted: this machine does not let processes trace: {why}"),
        };
        let phases = steps(&child);
        let [without, with] = &phases[..] else { panic!("{} phases were marked, not two", phases.len()) };
        let [locked, more] = [without, with].map(Phase::locked);
        println!(
            "{locked} read-modify-writes in {} instructions, {more} in {} with an open service context",
            without.instructions, with.instructions
        );
        assert!(without.instructions > 100 * MESSAGES, "something was counted");
        // A ring that its receiver does not watch has a bit set for every message; on machines with a core for each rank it is watched.
        // Instructions of the first phase alone run once (a table that grows, a first use), and have nothing to do with services.
        let new =
            with.locking.iter().filter(|(at, n)| without.locking.get(at).is_none_or(|before| before < n));
        let new: Vec<String> = new.map(|(at, n)| format!("{n} at {at:#x}")).collect();
        assert!(more <= locked, "an open service costs messages read-modify-writes: {}", new.join(", "));
    }

    /// Each phase between two marks.
    fn steps(child: &Child) -> Vec<Phase> {
        let pid = child.id() as i32;
        let (mut phases, mut counting) = (Vec::<Phase>::new(), false);
        loop {
            let mut status = 0;
            // SAFETY: our child.
            assert_eq!(unsafe { libc::waitpid(pid, &mut status, 0) }, pid);
            if libc::WIFEXITED(status) {
                assert_eq!(libc::WEXITSTATUS(status), 0, "the ranks failed");
                return phases;
            }
            assert!(libc::WIFSTOPPED(status), "the ranks ended with status {status:#x}");
            let signal = match libc::WSTOPSIG(status) {
                libc::SIGTRAP => 0,
                libc::SIGUSR1 => {
                    counting = !counting;
                    if counting {
                        phases.push(Phase::default());
                    }
                    0
                }
                other => other,
            };
            let request = match phases.last_mut().filter(|_| counting) {
                Some(phase) => {
                    // A stop for another signal shows an instruction that is going to be shown again.
                    if signal == 0 {
                        phase.instructions += 1;
                        if let Some(at) = locks(pid) {
                            *phase.locking.entry(at).or_default() += 1;
                        }
                    }
                    libc::PTRACE_SINGLESTEP
                }
                None => libc::PTRACE_CONT,
            };
            // SAFETY: our child, which is stopped.
            assert_ne!(unsafe { libc::ptrace(request, pid, 0, signal) }, -1, "the ranks cannot go on");
        }
    }

    /// Where the next instruction is, if it has the prefix, or is an exchange with memory, which locks without it.
    fn locks(pid: i32) -> Option<u64> {
        // SAFETY: plain numbers, filled by the call; our child, which is stopped.
        let (at, code) = unsafe {
            let mut registers: libc::user_regs_struct = std::mem::zeroed();
            assert_ne!(libc::ptrace(libc::PTRACE_GETREGS, pid, 0, &mut registers), -1);
            (registers.rip, libc::ptrace(libc::PTRACE_PEEKTEXT, pid, registers.rip, 0).to_le_bytes())
        };
        let is_prefix =
            |b: &u8| matches!(b, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
        let prefixes = code.iter().take_while(|b| is_prefix(b)).count();
        let rest = &code[prefixes..];
        let exchanges = rest.len() > 1 && matches!(rest[0], 0x86 | 0x87) && rest[1] >> 6 != 3;
        (code[..prefixes].contains(&0xf0) || exchanges).then_some(at)
    }
}

fn main() {
    #[cfg(all(target_arch = "x86_64", target_os = "linux"))]
    counted::main();
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
    println!("not counted: instructions are told apart on x86-64 alone");
}
