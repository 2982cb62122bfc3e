//! The file: values, each with what was measured.

use super::questions::Found;
use std::fmt::Write;

pub struct MeasuringConditions {
    /// Share of the processors' time that others used before.
    pub busy: f64,
    pub seconds: f64,
    pub cores: usize,
}

/// A later question may set what an earlier one set; a file says each once.
fn is_last(found: &[Found], index: usize, name: &str) -> bool {
    !found[index + 1..].iter().any(|f| f.set.iter().any(|(n, _)| *n == name))
}

pub fn text(conditions: &MeasuringConditions, found: &[Found]) -> String {
    let host = oxmpi_wireup::server::hostname();
    let mut out = format!(
        "# Measured on {host} by mpi-info --calibrate, {} cores, in {:.0} s, two processes on two cores.\n\
         # Others used {:.0} % of the processors' time when it began.\n\
         #   mpirun --tune THIS_FILE ...\n\
         # Figures are microseconds for a message one way, the least of several jobs each.\n",
        conditions.cores,
        conditions.seconds,
        conditions.busy * 100.0
    );
    for (index, f) in found.iter().enumerate() {
        let _ = write!(out, "\n# {}\n#   {}: {}, {}\n", f.question, f.sizes, f.ways[0], f.ways[1]);
        for p in &f.points {
            let _ = writeln!(out, "#   {:>8}: {:9.3} {:9.3}", p.size, p.one, p.other);
        }
        let _ = writeln!(out, "# {}.", f.conclusion);
        for (name, value) in f.set.iter().filter(|(name, _)| is_last(found, index, name)) {
            let _ = writeln!(out, "{name} = {value}");
        }
    }
    out
}

/// For people who watch.
pub fn summary(found: &[Found]) -> String {
    let mut out = String::new();
    for (index, f) in found.iter().enumerate() {
        for (name, value) in f.set.iter().filter(|(name, _)| is_last(found, index, name)) {
            let _ = writeln!(out, "{name} = {value}");
        }
        let _ = writeln!(out, "    {}", f.conclusion);
    }
    out
}
