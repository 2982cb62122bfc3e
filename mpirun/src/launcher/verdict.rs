//! The meaning of an ending: the job's exit status, and the one report.
//!
//! | what happened first | exit status |
//! |---|---|
//! | every process ended with 0 | 0 |
//! | a process ended with another status | that status |
//! | a process was killed by a signal | 128 and the signal's number |
//! | a process called MPI_Abort, or the library ended the job after an error | the code (the low eight bits; 1 where those are 0 and the code is not) |
//! | a process ended between MPI_Init and MPI_Finalize with 0 | 1 |
//! | the program cannot be found, cannot be executed | 127, 126 |
//! | the time limit passed | 110 |
//! | mpirun got a signal that ends it | 128 and the signal's number |
//! | processes of a job of several had another MPI's library and never called MPI_Init of ours, and nothing else went wrong | 1 |
//! | the node daemon died, or anything else | 1 |

use crate::help::{paragraph, section};
use crate::link::{Ending, FromNode, Mpi};
use crate::{program, signals};
use std::collections::BTreeMap;
use std::ffi::OsString;

#[derive(Debug)]
pub struct Verdict {
    /// The program of each rank.
    programs: Vec<OsString>,
    size: u32,
    status: Option<u8>,
    /// A status that did not end the job, of the lowest rank that had one.
    tolerated: Option<(u32, u8)>,
    /// Where ranks were that crashed, the first of each node.
    crashes: BTreeMap<u32, String>,
    /// Ranks that ended without this MPI and have loaded another or are linked with it, and that one's library.
    strangers: Option<(u32, String)>,
    /// Such ranks are no failure.
    permits_singletons: bool,
    /// The process that the job's own one stands for.
    stands_for: Option<u32>,
}

impl Verdict {
    pub fn new(programs: Vec<OsString>, size: u32, permits_singletons: bool) -> Verdict {
        Verdict {
            programs,
            size,
            status: None,
            tolerated: None,
            crashes: BTreeMap::new(),
            strangers: None,
            permits_singletons,
            stands_for: None,
        }
    }

    /// The job is one process that stands for this one, which mpirun has not started: of that reports are.
    pub fn of_process(self, stands_for: Option<u32>) -> Verdict {
        Verdict { stands_for, ..self }
    }

    /// The status that something has decided, so far.
    pub fn decided(&self) -> Option<u8> {
        self.status
    }

    pub fn status(&self) -> u8 {
        match self.status.or(self.tolerated.map(|(_, status)| status)).unwrap_or(0) {
            0 if self.ran_apart() => 1,
            status => status,
        }
    }

    /// For jobs in which a status is not a failure: takes note of one, of a process that is not
    /// between MPI_Init and MPI_Finalize. True: this was one.
    pub fn tolerate(&mut self, message: &FromNode) -> bool {
        let FromNode::Exited { rank, ending: Ending::Exit(code), mpi: Mpi::Never | Mpi::Finalized, .. } =
            message
        else {
            return false;
        };
        let lowest = self.tolerated.is_none_or(|(before, _)| *rank < before);
        if *code != 0 && lowest {
            self.tolerated = Some((*rank, status_of_code(*code)));
        }
        true
    }

    /// Sets the status if nothing has before. True: it did.
    pub fn decide(&mut self, status: u8) -> bool {
        let first = self.status.is_none();
        self.status.get_or_insert(status);
        first
    }

    /// Where a rank was when it crashed; it is shown when that decides the job.
    pub fn note_crash(&mut self, rank: u32, report: String) {
        self.crashes.entry(rank).or_insert(report);
    }

    /// A rank never came, and has another MPI's library.
    pub fn note_stranger(&mut self, library: String) {
        self.strangers.get_or_insert((0, library)).0 += 1;
    }

    /// The paragraph about such ranks, for the end of the job.
    pub fn strangers(&self) -> Option<String> {
        let (count, library) = self.strangers.as_ref()?;
        let failed = || format!("\n\n{}", section("other-mpi-failed").unwrap_or_default());
        let note = if self.ran_apart() { failed() } else { String::new() };
        Some(paragraph("other-mpi", &[&count.to_string(), &self.size.to_string(), library, &note]))
    }

    /// Processes that were to be one job had another MPI each for itself.
    fn ran_apart(&self) -> bool {
        self.strangers.is_some() && self.size > 1 && !self.permits_singletons
    }

    fn crash_of(&self, rank: u32) -> String {
        let report = self.crashes.get(&rank);
        report.map_or_else(String::new, |report| format!("\n\n{}", report.trim_end()))
    }

    /// Looks at what the daemon of a node says. Some: it decides the job, which is to end, and this is what
    /// to say.
    pub fn consider(&mut self, node: &str, message: &FromNode) -> Option<String> {
        let (status, report) = self.judge(node, message)?;
        self.decide(status).then_some(report)
    }

    fn judge(&self, node: &str, message: &FromNode) -> Option<(u8, String)> {
        let message = &self.about_its_process(message.clone());
        Some(match message {
            FromNode::Exited { pid, ending: Ending::Exit(0), mpi: Mpi::Inside, .. }
                if self.stands_for.is_some() =>
            {
                (1, paragraph("no-finalize-alone", &[&pid.to_string(), node]))
            }
            FromNode::Exited { ending: Ending::Exit(0), mpi: Mpi::Never | Mpi::Finalized, .. } => {
                return None;
            }
            FromNode::Exited { rank, pid, ending: Ending::Exit(0), mpi: Mpi::Inside } => {
                (1, paragraph("no-finalize", &[&rank.to_string(), node, &pid.to_string()]))
            }
            FromNode::Exited { rank, pid, ending: Ending::Exit(code), .. } => {
                let mut after = self.crash_of(*rank);
                if *code == 127 && matches!(message, FromNode::Exited { mpi: Mpi::Never, .. }) {
                    after += "\n\n127 is what the dynamic loader and shells say when something is missing: a\n\
                              shared library (LD_LIBRARY_PATH), a function in one that belongs to another\n\
                              installation, or a program. Their own message stands above.";
                }
                let arguments = [&*rank.to_string(), node, &pid.to_string(), &code.to_string(), &after];
                (status_of_code(*code), paragraph("exit-status", &arguments))
            }
            FromNode::Exited { rank, pid, ending: Ending::Signal { number, core }, .. } => {
                let core = if *core { " (a core file was written)" } else { "" };
                let (crash, name) = (self.crash_of(*rank), signals::name(*number));
                let arguments = [&*rank.to_string(), node, &pid.to_string(), &name, core, &crash];
                (128 + (*number & 0x7f) as u8, paragraph("killed", &arguments))
            }
            FromNode::Abort { rank, pid, code, origin, message, .. } => {
                let mut message = match message.trim() {
                    "" => String::new(),
                    text => format!("\n\n{text}"),
                };
                message += &self.crash_of(*rank);
                let arguments = [&*rank.to_string(), node, &pid.to_string(), &code.to_string(), &message];
                match origin.as_str() {
                    "" => (status_of_code(*code), paragraph("abort", &arguments)),
                    origin => {
                        let arguments = [arguments[0], node, arguments[2], origin, &message];
                        (status_of_code(*code), paragraph("error", &arguments))
                    }
                }
            }
            FromNode::CannotStart { rank, errno, limits } => self.cannot_start(node, *rank, *errno, limits),
            FromNode::Vanished { rank, pid } => {
                let crash = self.crash_of(*rank);
                (1, paragraph("vanished", &[&rank.to_string(), node, &pid.to_string(), &crash]))
            }
            FromNode::NeverInit { rank, pid, waiting } => {
                let arguments = [&*rank.to_string(), node, &pid.to_string(), &waiting.to_string()];
                (1, paragraph("never-init", &arguments))
            }
            FromNode::Broken { rank, pid, why } => {
                (1, paragraph("broken", &[&rank.to_string(), node, &pid.to_string(), why]))
            }
            FromNode::Failed(why) => (1, paragraph("daemon-failed", &[node, why])),
            FromNode::Here(_) | FromNode::Unstarted(_) => {
                (1, paragraph("daemon-failed", &[node, "it speaks of the start when the job runs"]))
            }
            FromNode::Output { .. }
            | FromNode::Started(_)
            | FromNode::Crashed { .. }
            | FromNode::OtherMpi { .. }
            | FromNode::State { .. }
            | FromNode::Counted
            | FromNode::Help { .. }
            | FromNode::Exchange(_)
            | FromNode::Jobs { .. }
            | FromNode::Barred { .. }
            | FromNode::Refused(_)
            | FromNode::Took { .. }
            | FromNode::Lost { .. }
            | FromNode::Done => return None,
        })
    }

    /// A message that names the process for which the job's own one stands.
    fn about_its_process(&self, mut message: FromNode) -> FromNode {
        let Some(process) = self.stands_for else { return message };
        match &mut message {
            FromNode::Exited { pid, .. }
            | FromNode::Abort { pid, .. }
            | FromNode::Vanished { pid, .. }
            | FromNode::Broken { pid, .. } => *pid = process,
            _ => {}
        }
        message
    }

    fn cannot_start(&self, node: &str, rank: u32, errno: i32, limits: &str) -> (u8, String) {
        let why = std::io::Error::from_raw_os_error(errno);
        let name = self.programs.get(rank as usize).cloned().unwrap_or_default();
        let program = format!("{name:?}");
        match errno {
            libc::ENOENT if program::exists(&name) => {
                let why = match program::interpreter(&name) {
                    Some(name) => format!("it asks for {name}, which is not there"),
                    None => "something that it needs to be started is not there".into(),
                };
                (126, paragraph("not-executable", &[&program, &why]))
            }
            libc::ENOENT => {
                let here = std::path::Path::new(&name);
                let hint = match here.components().count() == 1 && here.is_file() {
                    true => format!(".\nThere is a file of this name here: ./{} starts it", here.display()),
                    false => String::new(),
                };
                (127, paragraph("not-found", &[&program, &hint]))
            }
            libc::ENOTDIR => (1, paragraph("no-folder-there", &[&rank.to_string(), node, &program])),
            libc::ENOEXEC => {
                let why = program::foreign(&name).unwrap_or_else(|| why.to_string());
                (126, paragraph("not-executable", &[&program, &why]))
            }
            libc::EACCES | libc::EISDIR => {
                let why = match program::is_folder(&name) {
                    true => "it is a folder".into(),
                    false => format!("{why}; `chmod +x` makes a file executable"),
                };
                (126, paragraph("not-executable", &[&program, &why]))
            }
            _ => {
                let rank = format!("{rank} of {}", self.size);
                (1, paragraph("cannot-start", &[&rank, node, &format!("{why}{limits}")]))
            }
        }
    }
}

/// After this the other ranks may be ending by the same mistake, each with a report of its own to write. Nobody has asked
/// for their end, as MPI_Abort does.
pub fn leaves_time(message: &FromNode) -> bool {
    matches!(message, FromNode::Exited { ending: Ending::Signal { .. } | Ending::Exit(1..), .. })
}

/// A status has eight bits; a code that is not 0 must not become 0 by that.
fn status_of_code(code: i32) -> u8 {
    match code & 0xff {
        0 if code != 0 => 1,
        low => low as u8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exited(ending: Ending, mpi: Mpi) -> FromNode {
        FromNode::Exited { rank: 3, pid: 99, ending, mpi }
    }

    fn fresh() -> Verdict {
        Verdict::new(vec!["/no/such".into(); 4], 4, false)
    }

    #[test]
    fn good_endings_decide_nothing() {
        let mut v = fresh();
        assert_eq!(v.consider("here", &exited(Ending::Exit(0), Mpi::Never)), None);
        assert_eq!(v.consider("here", &exited(Ending::Exit(0), Mpi::Finalized)), None);
        assert_eq!(v.status(), 0);
    }

    #[test]
    fn the_first_failure_decides() {
        let mut v = fresh();
        let report = v.consider("here", &exited(Ending::Exit(7), Mpi::Inside)).expect("a failure");
        for part in ["Rank 3", "here", "99", "status 7"] {
            assert!(report.contains(part), "{part}: {report}");
        }
        assert_eq!(
            v.consider("here", &exited(Ending::Signal { number: 15, core: false }, Mpi::Inside)),
            None
        );
        assert_eq!(v.status(), 7);
    }

    #[test]
    fn a_process_that_mpirun_has_not_started_is_named_itself() {
        let mut v = Verdict::new(vec!["/no/such".into()], 1, false).of_process(Some(4711));
        let report = v.consider("here", &exited(Ending::Exit(0), Mpi::Inside)).expect("a failure");
        assert!(report.contains("4711") && !report.contains("99") && !report.contains("status"), "{report}");
    }

    #[test]
    fn bad_endings_leave_others_time_and_aborts_do_not() {
        let signal = Ending::Signal { number: 6, core: false };
        assert!(
            [signal, Ending::Exit(1), Ending::Exit(255)]
                .iter()
                .all(|e| leaves_time(&exited(*e, Mpi::Inside)))
        );
        assert!(!leaves_time(&exited(Ending::Exit(0), Mpi::Inside)));
        assert!(!leaves_time(&FromNode::CannotStart { rank: 0, errno: libc::ENOENT, limits: String::new() }));
        let (origin, message) = (String::new(), String::new());
        assert!(!leaves_time(&FromNode::Abort { rank: 1, pid: 2, code: 5, origin, message, peer: None }));
    }

    #[test]
    fn a_status_may_be_no_failure() {
        let mut v = fresh();
        let ended = |rank, code, mpi| FromNode::Exited { rank, pid: 9, ending: Ending::Exit(code), mpi };
        assert!(v.tolerate(&ended(3, 7, Mpi::Never)) && v.tolerate(&ended(1, 0, Mpi::Finalized)));
        assert_eq!(v.status(), 7);
        assert!(v.tolerate(&ended(2, 8, Mpi::Finalized)) && v.tolerate(&ended(5, 9, Mpi::Never)));
        assert_eq!(v.status(), 8);
        assert!(!v.tolerate(&ended(0, 5, Mpi::Inside)), "others may wait for it");
    }

    #[test]
    fn programs_of_another_mpi_are_counted() {
        let mut v = fresh();
        assert_eq!(v.strangers(), None);
        (0..2).for_each(|_| v.note_stranger("libmpi.so.40".into()));
        let text = v.strangers().expect("a paragraph");
        assert!(text.contains("2 of the job's 4") && text.contains("libmpi.so.40"), "{text}");
        assert_eq!(v.status(), 1);
        v.decide(7);
        assert_eq!(v.status(), 7, "a failure with a status of its own");
        for (size, permitted) in [(1, false), (4, true)] {
            let mut v = Verdict::new(vec!["/no/such".into()], size, permitted);
            v.note_stranger("libmpi.so.40".into());
            assert!(v.strangers().is_some_and(|text| !text.contains("mpi_permit_singletons")));
            assert_eq!(v.status(), 0);
        }
    }

    #[test]
    fn every_failure_has_its_status() {
        let abort = |code| FromNode::Abort {
            rank: 1,
            pid: 2,
            code,
            origin: String::new(),
            message: "why".into(),
            peer: None,
        };
        let error = FromNode::Abort {
            rank: 1,
            pid: 2,
            code: 15,
            origin: "an error in MPI_Recv".into(),
            message: "why".into(),
            peer: None,
        };
        for (message, status, part) in [
            (exited(Ending::Exit(0), Mpi::Inside), 1, "MPI_Finalize"),
            (exited(Ending::Signal { number: 11, core: true }, Mpi::Inside), 139, "SIGSEGV"),
            (abort(5), 5, "why"),
            (error.clone(), 15, "MPI ended the job after an error in MPI_Recv"),
            (error, 15, "why"),
            (abort(256), 1, "256"),
            (abort(-1), 255, "-1"),
            (FromNode::CannotStart { rank: 0, errno: libc::ENOENT, limits: String::new() }, 127, "/no/such"),
            (FromNode::CannotStart { rank: 0, errno: libc::EACCES, limits: String::new() }, 126, "/no/such"),
            (
                FromNode::CannotStart { rank: 0, errno: libc::EAGAIN, limits: " (a limit)".into() },
                1,
                "(a limit)",
            ),
            (FromNode::Vanished { rank: 1, pid: 2 }, 1, "still running"),
            (FromNode::NeverInit { rank: 1, pid: 2, waiting: 0 }, 1, "without calling MPI_Init"),
            (FromNode::Broken { rank: 1, pid: 2, why: "odd".into() }, 1, "odd"),
            (FromNode::Failed("odd".into()), 1, "odd"),
        ] {
            let mut v = fresh();
            let report = v.consider("here", &message).expect("a failure");
            assert!(report.contains(part), "{part}: {report}");
            assert_eq!(v.status(), status, "{report}");
        }
    }
}
