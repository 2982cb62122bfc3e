//! `--map-by`, `--rank-by`, `--bind-to` and `--display`: their words.

use super::words::{bad_value, count, numbers, pick};
use oxmpi_wireup::topology::Level;
use std::path::PathBuf;

/// Objects that processes are dealt to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MapBy {
    Slot,
    Node,
    Object(Level),
    /// So many on each such object; None: on each node.
    PerResource(u32, Option<Level>),
    /// One on each line's node of a hostfile.
    Seq,
    Rankfile,
    /// On these processors (logical cores, or threads).
    PeList(Vec<u32>),
}

/// `--map-by` and all that adds to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mapping {
    pub by: Option<MapBy>,
    /// Cores (or threads) for each process.
    pub pe: Option<u32>,
    pub span: bool,
    pub oversubscribe: Option<bool>,
    pub nolocal: bool,
    /// A hardware thread, not a core, is what slots and `pe` count.
    pub threads: Option<bool>,
    pub ordered: bool,
    pub file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankBy {
    Slot,
    Node,
    Fill,
    Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindTo {
    None,
    /// All of the node that may be used.
    Node,
    /// The core of the process's slot, or the hardware thread where those are slots.
    Slot,
    Object(Level),
}

/// `--bind-to`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    pub to: Option<BindTo>,
    /// More processes than cores in an object: said to be allowed or not; None: as more processes than slots are.
    pub overload: Option<bool>,
    /// Where it cannot be done, go on without.
    pub if_supported: bool,
    pub report: bool,
}

/// `--display`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Display {
    pub allocation: bool,
    pub map: bool,
    pub map_devel: bool,
    pub bindings: bool,
    pub topo: bool,
    pub cpus: bool,
    pub parseable: bool,
}

const MAP: &[&str] = &[
    "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "socket", "node", "seq",
    "ppr", "rankfile", "pe-list",
];
const MAP_WITH: &[&str] = &[
    "pe",
    "span",
    "oversubscribe",
    "nooversubscribe",
    "nolocal",
    "hwtcpus",
    "corecpus",
    "inherit",
    "noinherit",
    "file",
    "ordered",
    "display",
    "donotlaunch",
];
const RANK: &[&str] = &["slot", "node", "fill", "span"];
const BIND: &[&str] = &[
    "none", "slot", "hwthread", "core", "l1cache", "l2cache", "l3cache", "numa", "package", "socket", "node",
    "board", "machine",
];
const BIND_WITH: &[&str] = &["overload-allowed", "no-overload", "if-supported", "report"];
const DISPLAY: &[&str] = &["allocation", "map", "map-devel", "bindings", "topo", "cpus"];
const DISPLAY_WITH: &[&str] = &["parseable", "parsable"];

/// The level of a word, `socket` for `package` included.
fn level(word: &str) -> Option<Level> {
    match word {
        "socket" => Some(Level::Package),
        _ => Level::ALL.into_iter().find(|l| l.name() == word),
    }
}

/// The further wishes in one `--map-by`, beyond mapping.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MapByExtras {
    pub display: bool,
    pub do_not_launch: bool,
}

impl Mapping {
    /// Adds a `--map-by` value; what is said twice must agree.
    pub fn add(&mut self, text: &str) -> Result<MapByExtras, String> {
        let mut extras = MapByExtras::default();
        let (mut head, mut rest) = split(text);
        let lower = head.to_ascii_lowercase();
        let bad = |word: &str| bad_value("--map-by", word, &MAP.join(", "));
        let by = if let Some(list) = lower.strip_prefix("pe-list=") {
            Some(MapBy::PeList(numbers(list).ok_or_else(|| bad(head))?))
        } else if lower.is_empty() {
            None
        } else {
            Some(match pick(&lower, MAP).ok_or_else(|| bad(head))? {
                "slot" => MapBy::Slot,
                "node" => MapBy::Node,
                "seq" => MapBy::Seq,
                "rankfile" => MapBy::Rankfile,
                "pe-list" => return Err(bad(head)),
                "ppr" => {
                    let whole = text;
                    let bad_ppr = || bad_value("--map-by", whole, "ppr:N:OBJECT, as in ppr:2:package");
                    let (n, after) = split(rest);
                    (head, rest) = split(after);
                    let n = count("--map-by ppr", n).map_err(|_| bad_ppr())?;
                    MapBy::PerResource(n, resource(head).ok_or_else(bad_ppr)?)
                }
                object => MapBy::Object(level(object).ok_or_else(|| bad(object))?),
            })
        };
        if let Some(by) = by {
            self.set_by(by)?;
        }
        for qualifier in rest.split(':').filter(|q| !q.is_empty()) {
            self.qualify(qualifier, &mut extras)?;
        }
        Ok(extras)
    }

    pub fn set_by(&mut self, by: MapBy) -> Result<(), String> {
        match &self.by {
            Some(before) if *before != by => Err(conflict(&before.to_string(), &by.to_string())),
            _ => {
                self.by = Some(by);
                Ok(())
            }
        }
    }

    fn qualify(&mut self, qualifier: &str, extras: &mut MapByExtras) -> Result<(), String> {
        let bad = || bad_value("--map-by", qualifier, &format!("the qualifiers {}", MAP_WITH.join(", ")));
        let (word, value) = match qualifier.split_once('=') {
            Some((word, value)) => (word, Some(value)),
            None => (qualifier, None),
        };
        match (pick(word, MAP_WITH).ok_or_else(bad)?, value) {
            ("pe", Some(n)) => self.set_pe(count("--map-by :pe=", n)?)?,
            ("file", Some(file)) if !file.is_empty() => self.file = Some(file.into()),
            ("span", None) => self.span = true,
            ("oversubscribe", None) => self.set_oversubscribe(true)?,
            ("nooversubscribe", None) => self.set_oversubscribe(false)?,
            ("nolocal", None) => self.nolocal = true,
            ("hwtcpus", None) => self.set_threads(true)?,
            ("corecpus", None) => self.set_threads(false)?,
            ("ordered", None) => self.ordered = true,
            // About jobs that a program starts; there are none yet.
            ("inherit" | "noinherit", None) => {}
            ("display", None) => extras.display = true,
            ("donotlaunch", None) => extras.do_not_launch = true,
            _ => return Err(bad()),
        }
        Ok(())
    }

    pub fn set_pe(&mut self, pe: u32) -> Result<(), String> {
        match self.pe {
            Some(before) if before != pe => Err(conflict(&format!(":pe={before}"), &format!(":pe={pe}"))),
            _ => {
                self.pe = Some(pe);
                Ok(())
            }
        }
    }

    pub fn set_oversubscribe(&mut self, wanted: bool) -> Result<(), String> {
        match self.oversubscribe {
            Some(before) if before != wanted => Err(conflict(":OVERSUBSCRIBE", ":NOOVERSUBSCRIBE")),
            _ => {
                self.oversubscribe = Some(wanted);
                Ok(())
            }
        }
    }

    pub fn set_threads(&mut self, wanted: bool) -> Result<(), String> {
        match self.threads {
            Some(before) if before != wanted => Err(conflict(":HWTCPUS", ":CORECPUS")),
            _ => {
                self.threads = Some(wanted);
                Ok(())
            }
        }
    }

    /// Options that cannot be asked for together.
    pub fn check(&self) -> Result<(), String> {
        let Some(by) = &self.by else {
            return match self.ordered {
                true => Err(conflict(":ORDERED", "no pe-list")),
                false => Ok(()),
            };
        };
        if self.pe.is_some() && matches!(by, MapBy::Rankfile | MapBy::PeList(_) | MapBy::Seq) {
            return Err(conflict(&by.to_string(), ":pe="));
        }
        if self.span && !matches!(by, MapBy::Object(_)) {
            return Err(conflict(&by.to_string(), ":SPAN"));
        }
        if self.ordered && !matches!(by, MapBy::PeList(_)) {
            return Err(conflict(&by.to_string(), ":ORDERED"));
        }
        if self.file.is_none() && *by == MapBy::Rankfile {
            return Err(bad_value("--map-by", "rankfile", "rankfile:file=FILE, or --rankfile FILE"));
        }
        Ok(())
    }
}

/// Two things that cannot be asked for together.
pub fn conflict(one: &str, other: &str) -> String {
    crate::help::paragraph("conflict", &[one, other])
}

/// The object of a `ppr`: a level, or a node.
pub fn resource(word: &str) -> Option<Option<Level>> {
    match pick(word, MAP)? {
        "node" => Some(None),
        object => level(object).map(Some),
    }
}

fn split(text: &str) -> (&str, &str) {
    text.split_once(':').unwrap_or((text, ""))
}

impl RankBy {
    pub fn parse(text: &str) -> Result<RankBy, String> {
        match pick(text, RANK) {
            Some("slot") => Ok(RankBy::Slot),
            Some("node") => Ok(RankBy::Node),
            Some("fill") => Ok(RankBy::Fill),
            Some("span") => Ok(RankBy::Span),
            _ => Err(bad_value("--rank-by", text, &RANK.join(", "))),
        }
    }
}

impl Binding {
    /// Adds a `--bind-to` value. A number as its qualifier (MPICH) goes to the mapping's `pe`.
    pub fn add(&mut self, text: &str, mapping: &mut Mapping) -> Result<(), String> {
        let bad = |word: &str| {
            let expected = format!("{}, with the qualifiers {}", BIND.join(", "), BIND_WITH.join(", "));
            bad_value("--bind-to", word, &expected)
        };
        let (head, rest) = split(text);
        if !head.is_empty() {
            let to = match pick(head, BIND).ok_or_else(|| bad(head))? {
                "none" => BindTo::None,
                "slot" => BindTo::Slot,
                "node" | "board" | "machine" => BindTo::Node,
                object => BindTo::Object(level(object).ok_or_else(|| bad(head))?),
            };
            self.set(to)?;
        }
        for qualifier in rest.split(':').filter(|q| !q.is_empty()) {
            match pick(qualifier, BIND_WITH) {
                Some("overload-allowed") => self.overload = Some(true),
                Some("no-overload") => self.overload = Some(false),
                Some("if-supported") => self.if_supported = true,
                Some("report") => self.report = true,
                _ if qualifier.bytes().all(|c| c.is_ascii_digit()) => {
                    mapping.set_pe(count("--bind-to", qualifier)?)?;
                }
                _ => return Err(bad(qualifier)),
            }
        }
        Ok(())
    }

    pub fn set(&mut self, to: BindTo) -> Result<(), String> {
        match self.to {
            Some(before) if before != to => {
                Err(conflict(&format!("--bind-to {before}"), &format!("--bind-to {to}")))
            }
            _ => {
                self.to = Some(to);
                Ok(())
            }
        }
    }
}

impl Display {
    /// Adds a `--display` value.
    pub fn add(&mut self, text: &str) -> Result<(), String> {
        let bad = |word: &str| {
            bad_value("--display", word, &format!("{} with the qualifier parseable", DISPLAY.join(", ")))
        };
        for directive in text.split(',') {
            let (directive, qualifiers) = split(directive);
            let word = directive.split('=').next().unwrap_or(directive);
            match pick(word, DISPLAY).ok_or_else(|| bad(directive))? {
                "allocation" => self.allocation = true,
                "map" => self.map = true,
                "map-devel" => self.map_devel = true,
                "bindings" => self.bindings = true,
                "topo" => self.topo = true,
                _ => self.cpus = true,
            }
            for qualifier in qualifiers.split(':').filter(|q| !q.is_empty()) {
                pick(qualifier, DISPLAY_WITH).ok_or_else(|| bad(qualifier))?;
                self.parseable = true;
            }
        }
        Ok(())
    }

    /// Something is to be shown.
    pub fn any(&self) -> bool {
        self.allocation || self.map || self.map_devel || self.bindings || self.topo || self.cpus
    }
}

impl std::fmt::Display for MapBy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            MapBy::Slot => f.write_str("slot"),
            MapBy::Node => f.write_str("node"),
            MapBy::Object(level) => f.write_str(level.name()),
            MapBy::PerResource(n, level) => write!(f, "ppr:{n}:{}", level.map_or("node", Level::name)),
            MapBy::Seq => f.write_str("seq"),
            MapBy::Rankfile => f.write_str("rankfile"),
            MapBy::PeList(list) => {
                let list: Vec<String> = list.iter().map(u32::to_string).collect();
                write!(f, "pe-list={}", list.join(","))
            }
        }
    }
}

impl std::fmt::Display for BindTo {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            BindTo::None => "none",
            BindTo::Node => "node",
            BindTo::Slot => "slot",
            BindTo::Object(level) => level.name(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapping(text: &str) -> Result<Mapping, String> {
        let mut m = Mapping::default();
        m.add(text)?;
        m.check().map(|()| m)
    }

    #[test]
    fn mapping_directives() {
        let by = |text: &str| mapping(text).expect(text).by;
        assert_eq!(by("SLOT"), Some(MapBy::Slot));
        assert_eq!(by("L3"), Some(MapBy::Object(Level::L3)));
        assert_eq!(by("socket"), Some(MapBy::Object(Level::Package)));
        assert_eq!(by("ppr:2:pack"), Some(MapBy::PerResource(2, Some(Level::Package))));
        assert_eq!(by("ppr:4:node"), Some(MapBy::PerResource(4, None)));
        assert_eq!(by("pe-list=0,2-3:ordered"), Some(MapBy::PeList(vec![0, 2, 3])));
        assert_eq!(by(":oversub"), None);
        let m = mapping("numa:PE=3:span:hwtcpus:NOOVER").expect("sound");
        assert_eq!((m.pe, m.span, m.threads, m.oversubscribe), (Some(3), true, Some(true), Some(false)));
        let m = mapping("ppr:1:core:pe=2").expect("sound");
        assert_eq!((m.by, m.pe), (Some(MapBy::PerResource(1, Some(Level::Core))), Some(2)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in [
            "bogus",
            "n",
            "core:pe=0",
            "core:pe",
            "core:bogus",
            "ppr:2",
            "ppr:x:core",
            "ppr:0:core",
            "ppr:1:slot",
            "slot:oversubscribe:nooversubscribe",
            "core:hwtcpus:corecpus",
            "slot:span",
            "core:ordered",
            "rankfile",
            "pe-list=0,1:pe=2",
            "pe-list",
            "pe-list=b",
        ] {
            let why = mapping(wrong).expect_err(wrong);
            assert!(why.starts_with("-----"), "a paragraph for {wrong}: {why}");
        }
        let mut m = mapping("core").expect("sound");
        assert!(m.add("node").is_err() && m.add("core:pe=2").is_ok() && m.set_pe(3).is_err());
    }

    #[test]
    fn bindings_ranks_and_displays() {
        let (mut b, mut m) = (Binding::default(), Mapping::default());
        b.add("core:overload:if-s:4", &mut m).expect("sound");
        assert_eq!((b.to, b.overload, b.if_supported), (Some(BindTo::Object(Level::Core)), Some(true), true));
        assert_eq!(m.pe, Some(4));
        assert!(b.add("package", &mut m).is_err() && b.add(":report", &mut m).is_ok() && b.report);
        assert!(b.add("slot", &mut m).is_err() && b.add("core:often", &mut m).is_err());
        assert_eq!(RankBy::parse("Fill"), Ok(RankBy::Fill));
        assert!(RankBy::parse("core").expect_err("not in Open MPI 5").contains("slot, node"));
        let mut d = Display::default();
        d.add("map,bind:parsable").expect("sound");
        assert!(d.map && d.bindings && d.parseable && !d.topo);
        assert!(d.add("everything").is_err());
    }
}
