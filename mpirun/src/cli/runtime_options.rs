//! `--runtime-options` and `--forward-signals`.

use super::options::JobOptions;
use super::words::{bad_value, pick, seconds, truth};
use crate::help::paragraph;

/// One `--runtime-options` value.
#[derive(Debug, Default)]
pub struct RuntimeOptions {
    status_ends_job: Option<bool>,
    do_not_launch: bool,
    timeout: Option<u64>,
    spawn_timeout: Option<u64>,
    children_apart: Option<bool>,
    state: Option<bool>,
    stack_traces: Option<bool>,
    aggregate_help: Option<bool>,
    forward_environment: bool,
}

const KNOWN: &[&str] = &[
    "error-nonzero-status",
    "abort-nonzero-status",
    "donotlaunch",
    "timeout",
    "spawn-timeout",
    "report-child-jobs-separately",
    "report-state-on-timeout",
    "get-stack-traces",
    "aggregate-help-messages",
    "fwd-environment",
    "recoverable",
    "autorestart",
    "continuous",
];

/// Known, and not to be had, with the reason.
const REFUSED: &[(&str, &str)] = &[
    ("show-progress", "there is no progress report of the launch"),
    ("notifyerrors", "there are no events of PMIx"),
    ("max-restarts", "failed processes are never restarted"),
    ("exec-agent", "give the agent as the program, and the program as its argument"),
    ("default-exec-agent", "there is none"),
    ("output-proctable", "a debugger finds the processes through MPIR_proctable"),
    ("stop-on-exec", "processes cannot be stopped for a debugger"),
    ("stop-in-init", "processes cannot be stopped for a debugger"),
    ("stop-in-app", "processes cannot be stopped for a debugger"),
];

impl RuntimeOptions {
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        for directive in text.split(',') {
            let (word, value) = match directive.split_once('=') {
                Some((word, value)) => (word, Some(value)),
                None => (directive, None),
            };
            let all: Vec<&str> = KNOWN.iter().copied().chain(REFUSED.iter().map(|r| r.0)).collect();
            let bad = || bad_value("--runtime-options", directive, &KNOWN.join(", "));
            let yes = || truth(value).ok_or_else(bad);
            match pick(word, &all).ok_or_else(bad)? {
                "error-nonzero-status" | "abort-nonzero-status" => self.status_ends_job = Some(yes()?),
                "donotlaunch" => self.do_not_launch = yes()?,
                "timeout" => self.timeout = Some(value.and_then(seconds).ok_or_else(bad)?),
                "spawn-timeout" => self.spawn_timeout = Some(value.and_then(seconds).ok_or_else(bad)?),
                "report-child-jobs-separately" => self.children_apart = Some(yes()?),
                "report-state-on-timeout" => self.state = Some(yes()?),
                "get-stack-traces" => self.stack_traces = Some(yes()?),
                "aggregate-help-messages" => self.aggregate_help = Some(yes()?),
                "fwd-environment" => self.forward_environment = yes()?,
                word @ ("recoverable" | "autorestart" | "continuous") => {
                    if yes()? {
                        return Err(paragraph(
                            "missing-option",
                            &[&format!("runtime-options {word}"), "failed processes are never restarted"],
                        ));
                    }
                }
                word => {
                    let why = REFUSED.iter().find(|(name, _)| *name == word).map_or("", |r| r.1);
                    return Err(paragraph("missing-option", &[&format!("runtime-options {word}"), why]));
                }
            }
        }
        Ok(())
    }

    pub fn put_into(self, job: &mut JobOptions) -> Result<(), String> {
        let limits = [
            (self.timeout, &mut job.timeout, "time limit"),
            (self.spawn_timeout, &mut job.spawn_timeout, "time limit of the start"),
        ];
        for (given, limit, name) in limits {
            let Some(seconds) = given else { continue };
            if let Some(before) = limit.filter(|before| *before != seconds) {
                let before = format!("a {name} of {before} seconds");
                return Err(super::policy::conflict(&before, &format!("one of {seconds}")));
            }
            *limit = Some(seconds);
        }
        job.children_apart = self.children_apart.unwrap_or(job.children_apart);
        job.status_ends_job = self.status_ends_job.unwrap_or(job.status_ends_job);
        job.do_not_launch |= self.do_not_launch;
        job.forward_environment |= self.forward_environment;
        job.at_time_limit.state = self.state.unwrap_or(job.at_time_limit.state);
        job.at_time_limit.stack_traces = self.stack_traces.unwrap_or(job.at_time_limit.stack_traces);
        job.aggregate_help = self.aggregate_help.unwrap_or(job.aggregate_help);
        Ok(())
    }
}

/// `SIGUSR1,12,none`: signals to pass on besides the usual ones; `none` alone passes on none.
pub fn signals(text: &str) -> Result<Vec<i32>, String> {
    let mut all = Vec::new();
    if text.eq_ignore_ascii_case("none") {
        return Ok(all);
    }
    for word in text.split(',') {
        let bad = || bad_value("--forward-signals", word, "names as SIGUSR1, numbers, or none");
        let number = match word.trim().parse::<i32>() {
            Ok(number) => number,
            Err(_) => crate::signals::number(word.trim()).ok_or_else(bad)?,
        };
        // Those that cannot be caught, that are the launcher's own, or that end the job.
        let never = [
            libc::SIGKILL,
            libc::SIGSTOP,
            libc::SIGCHLD,
            libc::SIGINT,
            libc::SIGTERM,
            libc::SIGHUP,
            libc::SIGQUIT,
        ];
        if !(1..=31).contains(&number) || never.contains(&number) {
            return Err(bad());
        }
        all.push(number);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives() {
        let mut options = RuntimeOptions::default();
        options.add("ERROR=0,timeout=1:00,report-st,get").expect("sound");
        let mut job = JobOptions { status_ends_job: true, ..JobOptions::default() };
        options.put_into(&mut job).expect("no conflict");
        assert!(!job.status_ends_job && job.at_time_limit.state && job.at_time_limit.stack_traces);
        assert_eq!(job.timeout, Some(60));
        let mut options = RuntimeOptions::default();
        options.add("spawn-timeout=5,report-child").expect("sound");
        let mut job = JobOptions::default();
        options.put_into(&mut job).expect("no conflict");
        assert!(job.children_apart && job.spawn_timeout == Some(5) && job.timeout.is_none());
        for wrong in
            ["", "bogus", "timeout", "spawn-timeout=0", "timeout=x", "error=maybe", "recover", "stop-on", "s"]
        {
            assert!(RuntimeOptions::default().add(wrong).is_err(), "{wrong}");
        }
        assert!(RuntimeOptions::default().add("recoverable=0").is_ok());
    }

    #[test]
    fn names_of_signals() {
        assert_eq!(signals("SIGUSR1,usr2,28"), Ok(vec![libc::SIGUSR1, libc::SIGUSR2, 28]));
        assert_eq!(signals("none"), Ok(vec![]));
        for wrong in ["", "SIGBOGUS", "9", "0", "99", "SIGTERM"] {
            assert!(signals(wrong).is_err(), "{wrong}");
        }
    }
}
