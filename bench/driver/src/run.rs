//! Rounds and turns: every library runs every job of a case in every round, so that what disturbs the machine
//! for a while disturbs all.

use crate::case::{Case, Point};
use crate::cases;
use crate::device::{Device, RULES};
use crate::job;
use crate::keep::{self, Collected, Kept};
use crate::library::Library;
use crate::machine::Machine;
use crate::program::{ITERATIONS, Measured, Program};
use crate::results::{Report, Row};
use crate::sources::Sum;
use crate::transport_setup::TransportSetup;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// How much is measured.
#[derive(Clone, Debug)]
pub struct Effort {
    pub rounds: usize,
    /// A run is made longer until what it measures takes so long.
    pub seconds: f64,
    /// Instead of that.
    pub iterations: Option<u64>,
    /// Of one job.
    pub limit: Duration,
    /// No job begins behind it; what there is of the case then is kept for the next time.
    pub until: Option<Instant>,
}

/// Where a point is: library, series, place in the list of x values.
type Spot = (usize, usize, usize);

/// Runs cases.
pub struct Runner {
    pub libraries: Vec<Library>,
    pub effort: Effort,
    /// For compiled programs and the output of jobs.
    pub work: PathBuf,
    pub machine: Machine,
    /// `None`: on this machine, over what a job has unless told otherwise.
    pub over: Option<TransportSetup>,
    /// Called when a run has ended.
    pub watch: Option<Watch>,
    compiled: HashMap<Compiled, Result<PathBuf, String>>,
    /// For programs without MPI; looked for when the first of them is to run.
    device: Option<Result<Device, String>>,
}

/// Hears of each run that has ended.
pub type Watch = Box<dyn FnMut()>;

/// A program as a library compiled it: the library's name, the program, and whether its endpoints are those of proxies.
type Compiled = (String, Program, bool);

impl Runner {
    pub fn new(libraries: Vec<Library>, effort: Effort, work: PathBuf) -> Result<Runner, String> {
        std::fs::create_dir_all(&work).map_err(|e| format!("{}: {e}", work.display()))?;
        let machine = Machine::here();
        let (compiled, device) = (HashMap::new(), None);
        Ok(Runner { libraries, effort, work, machine, over: None, watch: None, compiled, device })
    }

    /// Runs a case, or what is left of it; what an earlier run kept in `out` counts. Failures are in the report, with
    /// their reasons. `None`: time was up before it was whole, and what there is was kept.
    pub fn case(&mut self, case: &Case, out: &Path) -> Result<Option<Report>, String> {
        let question = self.question(case);
        let mut all = self.kept(case, keep::read(out, case.name, &question)?);
        if !self.collect(case, &mut all) {
            keep::write(out, case.name, &question, self.keep(case, all))?;
            return Ok(None);
        }
        keep::remove(out, case.name)?;
        Ok(Some(self.report(case, &all)))
    }

    /// The same, where an earlier part that answers another question is forgotten.
    pub fn case_anew(&mut self, case: &Case, out: &Path) -> Result<Option<Report>, String> {
        if keep::read(out, case.name, &self.question(case)).is_err() {
            keep::remove(out, case.name)?;
        }
        self.case(case, out)
    }

    /// Runs as much of a case as there is time for; nothing is kept. The report, and whether the case is whole.
    pub fn glance(&mut self, case: &Case) -> (Report, bool) {
        let mut all = BTreeMap::new();
        let whole = self.collect(case, &mut all);
        (self.report(case, &all), whole)
    }

    /// Runs that are not there yet, place by place; false where time was up first.
    fn collect(&mut self, case: &Case, all: &mut BTreeMap<Spot, Collected>) -> bool {
        let rounds = self.effort.rounds;
        for (place, round) in (0..case.xs.len()).flat_map(|p| (0..rounds).map(move |r| (p, r))) {
            for library in 0..self.libraries.len() {
                for series in 0..case.series.len() {
                    if self.effort.until.is_some_and(|until| Instant::now() >= until) {
                        return false;
                    }
                    self.turn(case, (library, series, place), round, all);
                }
            }
        }
        true
    }

    fn report(&self, case: &Case, all: &BTreeMap<Spot, Collected>) -> Report {
        let rows = all.iter().flat_map(|(spot, collected)| self.rows(case, *spot, collected)).collect();
        let report = Report::new(case, &self.libraries, &self.machine, self.effort.rounds, rows);
        let report = Report { model: case.program.model(), ..report };
        match &self.over {
            Some(over) => Report { over: Some(over.line()), model: over.model(), ..report },
            None => report,
        }
    }

    /// A text that changes when a result would not be the same measurement: jobs, effort, the program's source, the libraries' revisions.
    pub fn key(&self, case: &Case) -> String {
        let mut sum = Sum::default();
        sum.add(self.question(case).as_bytes());
        sum.add(&std::fs::read(case.program.source()).unwrap_or_default());
        sum.add(case.program.constants().as_bytes());
        for (series, x) in case.series.iter().flat_map(|s| case.xs.iter().map(move |x| (s, *x))) {
            sum.add(format!("{} {x} {:?}", series.label, (series.point)(x)).as_bytes());
        }
        let revisions: Vec<String> = self.libraries.iter().map(Library::revision).collect();
        format!("{} {}", revisions.join(" "), sum.text())
    }

    /// The command of a job as a person would type it.
    pub fn line(&self, case: &Case, library: &Library, point: &Point) -> String {
        let program = case.program.source().with_extension("");
        let program = Path::new(program.file_name().unwrap_or_default());
        if case.program.is_on_device() {
            return format!("OXMPI_FAKE_VERBS={RULES} {} {}", program.display(), point.arguments.join(" "));
        }
        let command = self.command(library, point, program, &point.arguments);
        let words = std::iter::once(command.get_program()).chain(command.get_args());
        let short = |word: &std::ffi::OsStr| {
            let text = word.to_string_lossy();
            let inside = text
                .strip_prefix(&*library.prefix.to_string_lossy())
                .map(|rest| rest.trim_start_matches('/'));
            inside.and_then(|rest| rest.strip_prefix("bin/")).unwrap_or(&text).to_owned()
        };
        words.map(short).collect::<Vec<_>>().join(" ")
    }

    fn command(&self, library: &Library, point: &Point, program: &Path, arguments: &[String]) -> Command {
        let over = self.over.as_ref();
        let mut command = library.job(point.ranks, point.binding, &point.params, over, program, arguments);
        if point.proxies > 0 {
            command.args([":", "-n"]).arg(point.proxies.to_string()).arg(library.proxy());
            // Each beside its client, as in the paper, where a node has as many processors.
            command.env("OXMPI_EP_PROXY_CPUS", "auto");
        }
        command
    }

    /// Why no job of a case can run here; nothing where they can.
    pub fn missing(&mut self, case: &Case) -> Option<String> {
        if let Some(why) = case.program.by_hand() {
            return Some(why.to_owned());
        }
        match case.program.is_on_device() && self.libraries.iter().any(Library::is_ours) {
            true => self.device().err(),
            false => None,
        }
    }

    fn device(&mut self) -> Result<Device, String> {
        self.device.get_or_insert_with(|| Device::new(&self.work)).clone()
    }

    /// Compiles what a case needs, so that its time is not part of a limit; a failure is that of its jobs.
    pub fn prepare(&mut self, case: &Case) {
        for library in 0..self.libraries.len() {
            let ours = self.libraries[library].is_ours();
            let series = case.series.iter().filter(|s| s.libraries.runs(ours));
            let kinds: std::collections::BTreeSet<bool> = series
                .filter_map(|s| case.xs.iter().find_map(|x| (s.point)(*x)))
                .map(|point| point.proxies > 0)
                .collect();
            for by_proxies in kinds {
                // Said by the job that needs it.
                let _ = self.compiled(case.program, library, by_proxies);
            }
        }
    }

    /// Properties that must be the same for parts to be put together: libraries by place, and how much is measured.
    fn question(&self, case: &Case) -> String {
        let prefixes: Vec<String> =
            self.libraries.iter().map(|l| format!("{}={}", l.name, l.prefix.display())).collect();
        let Effort { rounds, seconds, iterations, .. } = &self.effort;
        let arguments: Vec<String> = case
            .series
            .iter()
            .filter_map(|s| (s.point)(*case.xs.first()?))
            .map(|point| point.arguments.join(" "))
            .collect();
        let over = self.over.as_ref().map(TransportSetup::line).unwrap_or_default();
        format!(
            "{prefixes:?} {:?} rounds {rounds} seconds {seconds} {iterations:?} {arguments:?} {over}",
            case.xs
        )
    }

    fn kept(&self, case: &Case, kept: Vec<Kept>) -> BTreeMap<Spot, Collected> {
        let spot = |k: &Kept| {
            let library = self.libraries.iter().position(|l| l.name == k.library)?;
            let series = case.series.iter().position(|s| s.label == k.series)?;
            Some((library, series, case.xs.iter().position(|x| *x == k.x)?))
        };
        kept.into_iter().filter_map(|k| Some((spot(&k)?, k.collected))).collect()
    }

    fn keep(&self, case: &Case, all: BTreeMap<Spot, Collected>) -> Vec<Kept> {
        let named = |((library, series, place), collected): (Spot, Collected)| Kept {
            library: self.libraries[library].name.clone(),
            series: case.series[series].label.clone(),
            x: case.xs[place],
            collected,
        };
        all.into_iter().map(named).collect()
    }

    /// One run, if this round's is not there yet.
    fn turn(&mut self, case: &Case, spot: Spot, round: usize, all: &mut BTreeMap<Spot, Collected>) {
        let (library, series, place) = spot;
        let of_case = &case.series[series];
        if !of_case.libraries.runs(self.libraries[library].is_ours()) {
            return;
        }
        let Some(point) = (of_case.point)(case.xs[place]) else { return };
        let collected = all.entry(spot).or_default();
        if collected.failure.is_some() || collected.runs.len() > round {
            return;
        }
        let first = collected.iterations == 0;
        if first {
            collected.iterations = case.iterations.or(self.effort.iterations).unwrap_or(10);
        }
        let chosen = case.iterations.is_some() || self.effort.iterations.is_some() || !first;
        loop {
            let ended = self.job(case.program, library, &point, collected.iterations);
            if let Some(watch) = &mut self.watch {
                watch();
            }
            match ended {
                Err(why) => {
                    collected.failure = Some(why);
                    return;
                }
                Ok(measured) => match longer(self.effort.seconds, &measured, collected.iterations) {
                    Some(more) if !chosen => collected.iterations = more,
                    _ => {
                        collected.runs.push(measured);
                        return;
                    }
                },
            }
        }
    }

    fn job(
        &mut self,
        program: Program,
        library: usize,
        point: &Point,
        iterations: u64,
    ) -> Result<Measured, String> {
        let path = self.compiled(program, library, point.proxies > 0)?;
        let fill = |a: &String| a.replace(ITERATIONS, &iterations.to_string());
        let arguments: Vec<String> = point.arguments.iter().map(fill).collect();
        let device = if program.is_on_device() { Some(self.device()?) } else { None };
        let library = &self.libraries[library];
        let mut params = point.params.clone();
        let over = self.over.as_ref();
        let mut command = match device {
            Some(device) => device.job(&path, &arguments),
            None => self.command(library, point, &path, &arguments),
        };
        let said = job::run(&mut command, self.effort.limit, &self.work)?;
        params.extend(over.map(TransportSetup::params).unwrap_or_default().iter().cloned());
        if library.is_ours()
            && let Some(line) = refused(&said.err, &params)
        {
            return Err(line);
        }
        let mut measured = program.read(&arguments, &said.out)?;
        add_counters(&mut measured, &said.err);
        Ok(measured)
    }

    fn compiled(&mut self, program: Program, library: usize, by_proxies: bool) -> Result<PathBuf, String> {
        if program.is_on_device() {
            let device = self.device()?;
            let into = self.work.join("programs-on-device");
            let made = || device.compile(&program.source(), &into);
            return self.compiled.entry((String::new(), program, false)).or_insert_with(made).clone();
        }
        let into = self.work.join(if by_proxies { "programs-by-proxies" } else { "programs" });
        let of = &self.libraries[library];
        let counts = self.over.as_ref().filter(|_| of.is_ours()).and_then(TransportSetup::counts);
        let flags: Vec<&str> =
            by_proxies.then_some("-loxmpi_ep").iter().chain(program.flags()).copied().collect();
        let made = || of.compile(&program.source(), counts.as_deref(), &flags, &into);
        self.compiled.entry((of.name.clone(), program, by_proxies)).or_insert_with(made).clone()
    }

    fn rows(&self, case: &Case, (library, series, place): Spot, collected: &Collected) -> Vec<Row> {
        let name = &self.libraries[library].name;
        let label = &case.series[series].label;
        let at = |x: u64, runs: &[&Measured]| {
            let make = |quantity: &str, values: Vec<f64>| Row {
                iterations: collected.iterations,
                verified: !runs.is_empty() && runs.iter().all(|r| r.verified),
                ..Row::new(name, label, x, quantity, values)
            };
            let mut value = make("value", runs.iter().map(|r| r.value).collect());
            value.failure.clone_from(&collected.failure);
            let mut rows = vec![value];
            let names = runs.first().into_iter().flat_map(|first| first.more.keys());
            let of = |name: &String| runs.iter().filter_map(|r| r.more.get(name).copied()).collect();
            rows.extend(names.map(|n| make(n, of(n))));
            rows
        };
        let runs: Vec<&Measured> = collected.runs.iter().collect();
        match runs.first().map(|first| &first.places).filter(|places| !places.is_empty()) {
            None => at(case.xs[place], &runs),
            Some(places) => places
                .iter()
                .flat_map(|(x, _)| at(*x, &runs.iter().filter_map(|r| r.place(*x)).collect::<Vec<_>>()))
                .collect(),
        }
    }
}

/// How many iterations a run needs to take `seconds`, if it was too short.
fn longer(seconds: f64, measured: &Measured, iterations: u64) -> Option<u64> {
    if measured.seconds >= seconds {
        return None;
    }
    let factor = (seconds / measured.seconds.max(1e-9) * 1.2).clamp(2.0, 100.0);
    Some((iterations as f64 * factor).ceil() as u64).filter(|n| *n < 1_000_000_000)
}

/// A parameter that the library does not have or does not take as it was given: the line that says so.
fn refused(err: &str, params: &[(String, String)]) -> Option<String> {
    err.lines()
        .find(|line| params.iter().any(|(name, _)| line.contains(name.as_str())))
        .map(|l| l.trim().to_owned())
}

/// Adds the counters that ranks print at their end, the library's and those of a device in software, summed over the ranks.
fn add_counters(measured: &mut Measured, err: &str) {
    for line in err.lines() {
        let Some((name, n)) = line.split_once(" -> ") else { continue };
        let (name, Ok(n)) = (name.trim(), n.trim().parse::<f64>()) else { continue };
        if ["OMPI_SPC_", "runtime_", "device_"].iter().any(|known| name.starts_with(known)) {
            *measured.more.entry(name.to_owned()).or_default() += n;
        }
    }
    if let Some(received) = measured.more.get("OMPI_SPC_IRECV").copied().filter(|n| *n > 0.0) {
        let late = measured.more.get("OMPI_SPC_OUT_OF_SEQUENCE").copied().unwrap_or(0.0);
        measured.more.insert(cases::OUT_OF_SEQUENCE.to_owned(), late / received);
        let each = [
            ("runtime_cri_lock_misses", cases::LOCK_MISSES),
            ("runtime_cri_shared_writes", cases::SHARED_WRITES),
            ("OMPI_SPC_MATCH_TIME", cases::MATCH_TIME_EACH),
        ];
        for (counter, quantity) in each {
            let of = |(name, _): &(&String, &f64)| name.split('[').next() == Some(counter);
            let sum: f64 = measured.more.iter().filter(of).map(|(_, n)| n).sum();
            measured.more.insert(quantity.to_owned(), sum / received);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_grows_until_it_is_long_enough() {
        let took = |seconds| Measured { seconds, ..Measured::default() };
        assert_eq!(longer(0.4, &took(0.5), 10), None);
        assert_eq!(longer(0.4, &took(0.2), 10), Some(24));
        assert_eq!(longer(0.4, &took(0.0), 10), Some(1000));
        assert_eq!(longer(0.4, &took(0.39), 10), Some(20));
    }

    #[test]
    fn counters_are_summed_over_ranks() {
        let text = "rank 0: software performance counters\n    OMPI_SPC_IRECV -> 10\n\
                    rank 1: software performance counters\n    OMPI_SPC_IRECV -> 30\n    OMPI_SPC_OUT_OF_SEQUENCE -> 4\n";
        let mut m = Measured::default();
        add_counters(&mut m, text);
        assert_eq!(m.more["OMPI_SPC_IRECV"], 40.0);
        assert_eq!(m.more[cases::OUT_OF_SEQUENCE], 0.1);
        assert_eq!(m.more[cases::LOCK_MISSES], 0.0);
        let text = "runtime_cri_lock_misses[0] -> 3\nruntime_cri_lock_misses[7] -> 5\nOMPI_SPC_IRECV -> 4\nOMPI_SPC_MATCH_TIME -> 10\n";
        let mut m = Measured::default();
        add_counters(&mut m, text);
        assert_eq!((m.more[cases::LOCK_MISSES], m.more[cases::MATCH_TIME_EACH]), (2.0, 2.5));
    }

    #[test]
    fn a_refused_parameter_is_named() {
        let params = [("runtime_progress".to_owned(), "serial".to_owned())];
        let text = "something\n  there is no parameter runtime_progress\n";
        assert_eq!(refused(text, &params).as_deref(), Some("there is no parameter runtime_progress"));
        assert_eq!(refused("something\n", &params), None);
    }
}
