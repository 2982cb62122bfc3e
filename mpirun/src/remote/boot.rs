//! The line that a daemon on another node finds on its standard input.
//!
//! `oxmpi-boot VERSION BUILD KEY=VALUE ...`, one line of text, so that somebody can paste it. Version and build come first
//! and will in every later form of the line, so that a daemon of another version can say so. In values everything but
//! letters, digits and a few marks is written as %XX; lists are separated by commas.

use super::options::{Launcher, ports};
use super::tree::Member;
use oxmpi_wireup::Secret;
use std::net::SocketAddr;
use std::time::Duration;

const WORD: &str = "oxmpi-boot";
/// A longer line is not read.
pub const LIMIT: usize = 16 << 20;

#[derive(Clone, Debug)]
pub struct Boot {
    pub secret: Secret,
    /// Where mpirun listens, or the daemon that starts this one.
    pub addresses: Vec<SocketAddr>,
    /// Which node this is; None: the one that Slurm says, by its name among `nodes`.
    pub node: Option<u32>,
    /// The nodes that this daemon starts in turn; for Slurm: all of its nodes.
    pub nodes: Vec<Member>,
    pub launcher: Launcher,
    /// To put before PATH and LD_LIBRARY_PATH.
    pub path: Vec<String>,
    pub libraries: Vec<String>,
    /// How long the way back may take.
    pub patience: Duration,
}

/// Why a line is not obeyed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// mpirun is of another version: this one.
    Version(String),
    Malformed(String),
}

impl Boot {
    pub fn to_line(&self) -> String {
        let list = |items: &[String]| items.iter().map(|i| escape(i)).collect::<Vec<_>>().join(",");
        let addresses: Vec<String> = self.addresses.iter().map(ToString::to_string).collect();
        let nodes: Vec<String> =
            self.nodes.iter().map(|(number, name)| format!("{number}:{}", escape(name))).collect();
        let ports: Vec<String> =
            self.launcher.ports.iter().map(|range| format!("{}-{}", range.start(), range.end())).collect();
        let node = self.node.map_or("slurm".to_owned(), |node| node.to_string());
        let mut line = format!("{WORD} {} {}", env!("CARGO_PKG_VERSION"), super::BUILD);
        for (key, value) in [
            ("secret", self.secret.to_hex()),
            ("to", list(&addresses)),
            ("node", node),
            ("nodes", nodes.join(",")),
            ("agent", list(&self.launcher.agent)),
            ("args", list(&self.launcher.arguments)),
            ("command", escape(&self.launcher.command)),
            ("width", self.launcher.width.to_string()),
            ("ports", ports.join(",")),
            ("include", list(&self.launcher.include)),
            ("exclude", list(&self.launcher.exclude)),
            ("path", list(&self.path)),
            ("libraries", list(&self.libraries)),
            ("patience", self.patience.as_secs().to_string()),
        ] {
            line.push_str(&format!(" {key}={value}"));
        }
        line.push('\n');
        line
    }

    /// Reads the line.
    pub fn parse(line: &str) -> Result<Boot, Refusal> {
        let bad = |what: &str| Refusal::Malformed(what.to_owned());
        let mut words = line.split_ascii_whitespace();
        if words.next() != Some(WORD) {
            return Err(bad("it does not begin like one"));
        }
        let (Some(version), Some(build)) = (words.next(), words.next()) else {
            return Err(bad("it has no version"));
        };
        if (version, build) != (env!("CARGO_PKG_VERSION"), super::BUILD) {
            return Err(Refusal::Version(format!("{version} build {build}")));
        }
        let fields: Vec<(&str, &str)> = words.filter_map(|word| word.split_once('=')).collect();
        let get = |key: &str| {
            let found = fields.iter().find(|(k, _)| *k == key).map(|(_, value)| *value);
            found.ok_or_else(|| bad(&format!("{key} is missing")))
        };
        let list = |key: &str| -> Result<Vec<String>, Refusal> {
            let items = get(key)?.split(',').filter(|item| !item.is_empty());
            items.map(|item| unescape(item).ok_or_else(|| bad(key))).collect()
        };
        let number = |key: &str| get(key)?.parse::<u32>().map_err(|_| bad(key));
        let member = |item: String| {
            let (number, name) = item.split_once(':')?;
            Some((number.parse().ok()?, name.to_owned()))
        };
        let nodes = list("nodes")?.into_iter().map(|item| member(item).ok_or_else(|| bad("nodes")));
        let addresses = list("to")?.into_iter().map(|item| item.parse().map_err(|_| bad("to")));
        Ok(Boot {
            secret: Secret::from_hex(get("secret")?).ok_or_else(|| bad("secret"))?,
            addresses: addresses.collect::<Result<_, _>>()?,
            node: match get("node")? {
                "slurm" => None,
                text => Some(text.parse().map_err(|_| bad("node"))?),
            },
            nodes: nodes.collect::<Result<_, _>>()?,
            launcher: Launcher {
                agent: list("agent")?,
                arguments: list("args")?,
                command: unescape(get("command")?).ok_or_else(|| bad("command"))?,
                width: number("width")? as usize,
                ports: list("ports")?
                    .iter()
                    .map(|item| ports(item).ok_or_else(|| bad("ports")))
                    .collect::<Result<_, _>>()?,
                include: list("include")?,
                exclude: list("exclude")?,
                ..Launcher::default()
            },
            path: list("path")?,
            libraries: list("libraries")?,
            patience: Duration::from_secs(number("patience")?.into()),
        })
    }
}

/// Letters, digits and a few marks as they are, everything else as %XX.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b':' | b'@' | b'+' => {
                out.push(byte.into());
            }
            _ => out.push_str(&format!("%{byte:02x}")),
        }
    }
    out
}

fn unescape(text: &str) -> Option<String> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, more)) = rest.split_first() {
        rest = more;
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        let (digits, more) = rest.split_at_checked(2)?;
        let digits = std::str::from_utf8(digits).ok().filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
        out.push(u8::from_str_radix(digits, 16).ok()?);
        rest = more;
    }
    String::from_utf8(out).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boot() -> Boot {
        Boot {
            secret: Secret::from_bytes([7; 32]),
            addresses: vec![
                "10.0.0.1:4000".parse().expect("sound"),
                "[fe80::1]:4000".parse().expect("sound"),
            ],
            node: Some(3),
            nodes: vec![(4, "n4".into()), (5, "fd00::5".into())],
            launcher: Launcher {
                agent: vec!["ssh".into(), "-q".into()],
                arguments: vec!["-o".into(), "Port 22".into()],
                command: "'/opt/a b/oxmpid' --remote".into(),
                width: 2,
                ports: vec![4000..=4002, 5000..=5000],
                include: vec!["10.0.0.0/8".into()],
                ..Launcher::default()
            },
            path: vec!["/opt/a b/bin".into()],
            libraries: vec![],
            patience: Duration::from_secs(60),
        }
    }

    #[test]
    fn a_line_and_back() {
        let line = boot().to_line();
        assert_eq!(line.matches('\n').count(), 1);
        let again = Boot::parse(&line).expect("sound");
        assert_eq!(again.to_line(), line);
        assert_eq!((again.addresses, again.nodes), (boot().addresses, boot().nodes));
        assert_eq!(again.launcher, boot().launcher);
        let slurm = Boot { node: None, ..boot() };
        assert_eq!(Boot::parse(&slurm.to_line()).expect("sound").node, None);
    }

    #[test]
    fn others_are_told_apart() {
        let line = boot().to_line();
        let other = line.replace(env!("CARGO_PKG_VERSION"), "99.0.0");
        assert!(
            matches!(Boot::parse(&other), Err(Refusal::Version(text)) if text.starts_with("99.0.0 build"))
        );
        let later = "oxmpi-boot 2.0.0 0123 something=else entirely\n";
        assert!(matches!(Boot::parse(later), Err(Refusal::Version(_))));
        for wrong in [
            "",
            "hello",
            "oxmpi-boot",
            &line.replace("secret=", "sekret="),
            &line.replace("node=3", "node=x"),
        ] {
            assert!(matches!(Boot::parse(wrong), Err(Refusal::Malformed(_))), "{wrong}");
        }
        for wrong in ["%", "%4", "%zz", "%ff"] {
            assert_eq!(unescape(wrong), None, "{wrong}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_survives(text in ".*") {
            proptest::prop_assert_eq!(unescape(&escape(&text)), Some(text));
        }

        #[test]
        fn any_line_is_read_or_refused(line in ".{0,400}") {
            let _ = Boot::parse(&line);
            let _ = Boot::parse(&format!("oxmpi-boot {} {} {line}", env!("CARGO_PKG_VERSION"), super::super::BUILD));
        }
    }
}
