//! Places that a file names one by one: `--map-by seq` and rankfiles.

use super::hosts::NamedNodes;
use crate::cli::words::numbers;
use crate::help::paragraph;
use oxmpi_wireup::topology::{Level, Topology};
use std::collections::BTreeMap;
use std::path::Path;

/// Which cores a line of a rankfile names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Logical numbers of cores.
    Cores(Vec<u32>),
    /// Packages, and cores counted inside of each.
    Packages(Vec<(u32, Vec<u32>)>),
}

/// One line: where a rank runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    pub node: usize,
    pub slots: Slots,
}

/// Reads `rank N=HOST slot=LIST` lines; every rank from 0 on has one.
pub fn rankfile(file: &Path, here: &mut NamedNodes) -> Result<Vec<Listed>, String> {
    let name = file.display().to_string();
    let text =
        std::fs::read_to_string(file).map_err(|why| paragraph("cannot-read", &[&name, &why.to_string()]))?;
    let mut found: BTreeMap<u32, Listed> = BTreeMap::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if line.is_empty() {
            continue;
        }
        let place = format!("{name}, line {}", number + 1);
        let bad = |why: &str| paragraph("bad-line", &[&place, line, why]);
        let (rank, listed) = rankfile_line(line, here, &bad)?;
        if found.insert(rank, listed).is_some() {
            return Err(bad("this rank has a line already"));
        }
    }
    match found.keys().copied().eq(0..found.len() as u32) && !found.is_empty() {
        true => Ok(found.into_values().collect()),
        false => Err(paragraph("cannot-read", &[&name, "its ranks are not 0, 1, 2, … without a gap"])),
    }
}

fn rankfile_line(
    line: &str,
    here: &mut NamedNodes,
    bad: &dyn Fn(&str) -> String,
) -> Result<(u32, Listed), String> {
    let form = || bad("a line has the form `rank N=HOST slot=LIST`");
    let rest = line.strip_prefix("rank").ok_or_else(form)?.trim_start();
    let (rank, rest) = rest.split_once('=').ok_or_else(form)?;
    let rank: u32 = rank.trim().parse().map_err(|_| form())?;
    let (host, rest) = rest.trim_start().split_once(char::is_whitespace).ok_or_else(form)?;
    let list = rest.trim_start().strip_prefix("slot").ok_or_else(form)?.trim_start();
    let list = list.strip_prefix('=').ok_or_else(form)?.trim().trim_matches('"');
    let node = here.node_of(host)?;
    Ok((rank, Listed { node, slots: slots(list).ok_or_else(|| bad("the list of slots is not one"))? }))
}

/// `0,2-4`, or `0:1-2;1:0` (packages, and cores of each; commas separate packages, too).
fn slots(list: &str) -> Option<Slots> {
    if !list.contains(':') {
        return numbers(list).map(Slots::Cores);
    }
    let mut packages: Vec<(u32, Vec<u32>)> = Vec::new();
    for part in list.split([',', ';']) {
        match part.split_once(':') {
            Some((package, cores)) => packages.push((package.trim().parse().ok()?, numbers(cores)?)),
            // More cores of the package before.
            None => packages.last_mut()?.1.extend(numbers(part)?),
        }
    }
    Some(Slots::Packages(packages))
}

impl Slots {
    /// The processors meant; the name of what is not there otherwise.
    pub fn processors(&self, topology: &Topology, threads: bool) -> Result<Vec<u32>, String> {
        let level = if threads { Level::Hwthread } else { Level::Core };
        let units = topology.objects(level);
        let unit = |index: u32| {
            let found = units.iter().find(|unit| unit.index == index);
            found.ok_or_else(|| format!("{} {index}", level.name()))
        };
        let mut all = Vec::new();
        match self {
            Slots::Cores(list) => {
                for &index in list {
                    all.extend_from_slice(&unit(index)?.processors);
                }
            }
            Slots::Packages(list) => {
                for (package, inside) in list {
                    let found = topology.objects(Level::Package).iter().find(|p| p.index == *package);
                    let found = found.ok_or_else(|| format!("package {package}"))?;
                    let own: Vec<_> =
                        units.iter().filter(|u| found.processors.contains(&u.processors[0])).collect();
                    for &at in inside {
                        let unit = own.get(at as usize);
                        let unit =
                            unit.ok_or_else(|| format!("{} {at} of package {package}", level.name()))?;
                        all.extend_from_slice(&unit.processors);
                    }
                }
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Listed>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("ranks");
        std::fs::write(&path, text).expect("written");
        rankfile(&path, &mut NamedNodes::new("vm", 4, false))
    }

    #[test]
    fn lines() {
        let all = read("# two\nrank 1=localhost slot=1:0-2\nrank 0 = vm slot = 0,2-3\n").expect("sound");
        assert_eq!(all[0].slots, Slots::Cores(vec![0, 2, 3]));
        assert_eq!(all[1].slots, Slots::Packages(vec![(1, vec![0, 1, 2])]));
        assert_eq!(slots("0:0,1,1:2"), Some(Slots::Packages(vec![(0, vec![0, 1]), (1, vec![2])])));
        for (wrong, part) in [
            ("rank 0=vm slot=a", "line 1"),
            ("rank 0=vm", "the form"),
            ("rank 0=vm slot=0\nrank 0=vm slot=1", "already"),
            ("rank 1=vm slot=0", "without a gap"),
            ("", "without a gap"),
        ] {
            let why = read(wrong).expect_err(wrong);
            assert!(why.contains(part), "{wrong}: {why}");
        }
    }
}
