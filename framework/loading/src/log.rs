//! Lines for people on the standard error, as far as each framework's verbosity asks for them.

use crate::accept::accepted::Framework;
use oxmpi_mca::sync::unmodelled::{AtomicI64, Ordering};
use oxmpi_mca_params::{Declaration, ParamError, Resolver};

/// Verbosity from which on a message of level 0 (error) to 3 (debug) is printed.
const FROM: [i64; 4] = [0, 1, 10, 60];

/// The host's own lines are those of this framework.
pub const HOST: &str = "mca";

/// Levels by component.
#[derive(Debug)]
pub struct Logger {
    prefix: String,
    verbosity: Vec<(&'static str, AtomicI64)>,
}

impl Logger {
    /// Declares and reads `<framework>_base_verbose` of all frameworks.
    pub fn new(resolver: &mut Resolver, hostname: &str, rank: u32) -> Result<Logger, ParamError> {
        let mut verbosity = Vec::new();
        for framework in Logger::frameworks() {
            let resolved = resolver.declare(Declaration::verbosity(framework))?;
            verbosity.push((framework, AtomicI64::new(resolved.value.as_i64().unwrap_or(0))));
        }
        let prefix = format!("[{hostname}:{} rank {rank}]", std::process::id());
        Ok(Logger { prefix, verbosity })
    }

    /// Makes a logger that prints no lines but those of [`Logger::always`].
    pub fn silent() -> Logger {
        Logger { prefix: String::new(), verbosity: Vec::new() }
    }

    /// The frameworks that have a verbosity, the host's own among them.
    pub fn frameworks() -> impl Iterator<Item = &'static str> {
        Framework::ALL.map(Framework::name).into_iter().chain([HOST])
    }

    /// Whether a message of a level, 0 (error) to 3 (debug), is printed for a framework.
    pub fn wants(&self, framework: &str, level: i32) -> bool {
        let from = FROM[level.clamp(0, 3) as usize];
        self.verbosity.iter().any(|(f, v)| *f == framework && v.load(Ordering::Relaxed) >= from)
    }

    /// The verbosity that a parameter's full name stands for; `None`: the parameter is no verbosity.
    fn of(&self, full_name: &str) -> Option<&AtomicI64> {
        let framework = full_name.strip_suffix("_base_verbose")?;
        self.verbosity.iter().find(|(f, _)| *f == framework).map(|(_, v)| v)
    }
    /// Whether this parameter is the verbosity of a framework.
    pub fn says(&self, full_name: &str) -> bool {
        self.of(full_name).is_some()
    }
    /// Changes the verbosity that a parameter's full name stands for.
    pub fn set(&self, full_name: &str, verbosity: i64) {
        if let Some(v) = self.of(full_name) {
            v.store(verbosity, Ordering::Relaxed);
        }
    }

    /// Prints a line in the name of `who`, if the framework's verbosity asks for its level, 0 (error) to 3 (debug).
    pub fn line(&self, framework: &str, level: i32, who: &str, message: &str) {
        if self.wants(framework, level) {
            // One write per line, so that the lines of several ranks do not mix.
            oxmpi_system::reportln!("{} {who}: {message}", self.prefix);
        }
    }

    /// Prints a framework's line of level 0, if its verbosity asks for it.
    pub fn error(&self, framework: &str, message: &str) {
        self.line(framework, 0, framework, message);
    }
    /// Prints a framework's line of level 1, if its verbosity asks for it.
    pub fn warn(&self, framework: &str, message: &str) {
        self.line(framework, 1, framework, message);
    }
    /// Prints a framework's line of level 2, if its verbosity asks for it.
    pub fn info(&self, framework: &str, message: &str) {
        self.line(framework, 2, framework, message);
    }
    /// Prints a framework's line of level 3, if its verbosity asks for it.
    pub fn debug(&self, framework: &str, message: &str) {
        self.line(framework, 3, framework, message);
    }

    /// Prints a line whatever the verbosity.
    pub fn always(&self, message: &str) {
        oxmpi_system::reportln!("{} {message}", self.prefix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verbosity_decides() {
        let mut resolver = Resolver::new().with([("btl_base_verbose", "100"), ("pml_base_verbose", "none")]);
        let log = Logger::new(&mut resolver, "host", 0).expect("good values");
        assert!(log.wants("btl", 3) && log.wants("coll", 0) && log.wants(HOST, 0));
        assert!(!log.wants("coll", 1) && !log.wants("pml", 0) && !log.wants("mtl", 0));
        assert!(Logger::new(&mut Resolver::new().with([("btl_base_verbose", "loud")]), "h", 0).is_err());
    }
}
