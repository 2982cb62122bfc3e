//! The variable OXMPI_OFI_FAULTS, read into numbers.

use std::time::Duration;

/// Name of the variable.
pub const VARIABLE: &str = "OXMPI_OFI_FAULTS";

/// Faults to make; 0 and `None`: not that one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults {
    /// The library behind, by name or path.
    pub library: String,
    /// Result of fi_version, the major above the minor.
    pub version: Option<u32>,
    /// Every n-th post is refused.
    pub again: u64,
    /// Sends that are taken without a look at the completion queue.
    pub queue: u64,
    /// Sizes that the provider says it has.
    pub tx: Option<usize>,
    pub rx: Option<usize>,
    pub inject: Option<usize>,
    /// Endpoints of the process.
    pub endpoints: Option<u64>,
    /// Delay of completions.
    pub late: Duration,
    /// Every n-th message that comes is reported behind the next.
    pub overtaken: u64,
    /// Bytes that nobody meant go behind every n-th message.
    pub garbage: u64,
    /// The n-th send fails, or all from the n-th on, with this error number.
    pub error: u64,
    pub dead: u64,
    pub code: i32,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            library: "libfabric.so.1".into(),
            version: None,
            again: 0,
            queue: 0,
            tx: None,
            rx: None,
            inject: None,
            endpoints: None,
            late: Duration::ZERO,
            overtaken: 0,
            garbage: 0,
            error: 0,
            dead: 0,
            code: 104,
        }
    }
}

impl Faults {
    /// Reads the variable's value. The error names the word that is not known.
    pub fn parse(text: &str) -> Result<Faults, String> {
        let mut faults = Faults::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            faults.set(word).ok_or_else(|| format!("{VARIABLE}: {word} is not known"))?;
        }
        Ok(faults)
    }

    fn set(&mut self, word: &str) -> Option<()> {
        let (name, value) = word.split_once('=')?;
        match name {
            "library" => self.library = value.into(),
            "version" => {
                let (major, minor) = value.split_once('.')?;
                self.version = Some(major.parse::<u32>().ok()? << 16 | minor.parse::<u32>().ok()?);
            }
            "again" => self.again = value.parse().ok()?,
            "queue" => self.queue = value.parse().ok()?,
            "tx" => self.tx = Some(value.parse().ok()?),
            "rx" => self.rx = Some(value.parse().ok()?),
            "inject" => self.inject = Some(value.parse().ok()?),
            "endpoints" => self.endpoints = Some(value.parse().ok()?),
            "late" => self.late = Duration::from_millis(value.parse().ok()?),
            "garbage" => self.garbage = value.parse().ok()?,
            "overtaken" => self.overtaken = value.parse().ok()?,
            "error" => self.error = value.parse().ok()?,
            "dead" => self.dead = value.parse().ok()?,
            "code" => self.code = value.parse().ok()?,
            _ => return None,
        }
        Some(())
    }

    /// Whether the n-th send of the process fails, counted from 1.
    pub fn fails(&self, n: u64) -> bool {
        n == self.error || (self.dead > 0 && n >= self.dead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_others_named() {
        assert_eq!(Faults::parse(""), Ok(Faults::default()));
        let read = Faults::parse("again=3, late=5,tx=2,version=1.10,library=/x").expect("known words");
        let due = Faults {
            again: 3,
            late: Duration::from_millis(5),
            tx: Some(2),
            version: Some(1 << 16 | 10),
            library: "/x".into(),
            ..Faults::default()
        };
        assert_eq!(read, due);
        for bad in ["agian=3", "again", "garbage=-1", "again=x", "version=2"] {
            let why = Faults::parse(bad).expect_err("not known");
            assert!(why.contains(bad), "{why}");
        }
    }

    #[test]
    fn sends_fail_once_or_from_then_on() {
        let once = Faults { error: 3, ..Faults::default() };
        assert_eq!((1..6).filter(|n| once.fails(*n)).collect::<Vec<_>>(), [3]);
        let dead = Faults { dead: 3, ..Faults::default() };
        assert_eq!((1..6).filter(|n| dead.fails(*n)).collect::<Vec<_>>(), [3, 4, 5]);
    }
}
