//! Which nodes a program may use, with how many slots: `--host`, hostfiles, and what is counted
//! where neither says.
//!
//! Everything here and in `map` deals with lists of nodes; only [`NamedNodes::node_of`] knows which name is which node: names
//! of this machine are one node, the first; each other name is a machine of its own. With `--mca plm local` each name is
//! a node on this machine.

use crate::help::paragraph;
use std::collections::BTreeMap;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};

/// A node and how many processes of one program may run there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    pub node: usize,
    pub slots: u32,
    pub max_slots: Option<u32>,
    /// Somebody said how many slots there are; they were not counted.
    pub given: bool,
    pub used: u32,
}

impl Grant {
    pub fn free(&self) -> u32 {
        self.slots.min(self.max_slots.unwrap_or(u32::MAX)).saturating_sub(self.used)
    }

    pub fn has_room(&self) -> bool {
        self.max_slots.is_none_or(|max| self.used < max)
    }
}

/// A user's entry about one node, once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    /// None: nothing was said.
    slots: Option<u32>,
    max_slots: Option<u32>,
    /// `NAME:*`, or a name where all slots are meant.
    all: bool,
}

/// The facts that names and counts are compared with, and the nodes that were named so far.
#[derive(Clone, Debug)]
pub struct NamedNodes {
    hostname: String,
    /// Slots of the node when nobody says: cores, or hardware threads.
    slots: u32,
    /// Each name is a node, all of them on this machine.
    apart: bool,
    names: Vec<String>,
    /// The names as they were first given, with the user to log in as.
    logins: Vec<String>,
    /// Cores of other machines, once they are known.
    counted: BTreeMap<usize, u32>,
    /// Names of the nodes of the batch system's allocation: a node is called as there, whether or not the user gives a domain.
    allocated: Vec<String>,
}

/// Longest name of a node: what MPI_Get_processor_name gives.
const NAME: usize = 255;

impl NamedNodes {
    /// `apart`: each name is a node of its own.
    pub fn new(hostname: &str, slots: u32, apart: bool) -> NamedNodes {
        let names = if apart { Vec::new() } else { vec![hostname.to_owned()] };
        let (logins, counted) = (names.clone(), BTreeMap::new());
        let allocated = Vec::new();
        NamedNodes { hostname: hostname.to_owned(), slots, apart, names, logins, counted, allocated }
    }

    /// The nodes that a batch system has given; before any is named.
    pub fn in_allocation(mut self, allocated: &[(String, u32)]) -> NamedNodes {
        self.allocated = allocated.iter().map(|(name, _)| name.clone()).collect();
        self
    }

    /// The allocation's name of a node that is called by it with or without a domain; another name stays what it is.
    fn allocated_name<'a>(&'a self, name: &'a str) -> &'a str {
        let all = || self.allocated.iter().map(String::as_str);
        let is_short = |name: &str| !name.contains('.');
        let alike = |known: &&str| {
            (is_short(known) || is_short(name)) && short(known).eq_ignore_ascii_case(short(name))
        };
        if name.parse::<IpAddr>().is_ok() {
            return name;
        }
        all().find(|known| known.eq_ignore_ascii_case(name)).or_else(|| all().find(alike)).unwrap_or(name)
    }

    /// Nodes that are other machines: number, and name to log in by.
    pub fn others(&self) -> Vec<(u32, String)> {
        let others = self.logins.iter().enumerate().filter(|(node, _)| !self.is_here(*node));
        others.map(|(node, login)| (node as u32, login.clone())).collect()
    }

    /// Whether the node of a number is this machine, or a part of it.
    pub fn is_here(&self, node: usize) -> bool {
        self.apart || node == 0
    }

    /// A machine has so many cores, or hardware threads.
    pub fn count(&mut self, node: usize, slots: u32) {
        self.counted.insert(node, slots);
    }

    /// Slots of a node where nobody says; one that is not known is taken to be like this one.
    fn slots_of(&self, node: usize) -> u32 {
        self.counted.get(&node).copied().unwrap_or(self.slots)
    }

    /// Names of the nodes, by number.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The nodes there are when nobody names one.
    pub fn usual(&mut self) -> Result<Grant, String> {
        let node = self.node_of(&self.hostname.clone())?;
        Ok(Grant { node, slots: self.slots, max_slots: None, given: false, used: 0 })
    }

    /// The node of this name, and of a user on it.
    pub fn node_of(&mut self, name: &str) -> Result<usize, String> {
        if !self.apart && is_here(name, &self.hostname) {
            return Ok(0);
        }
        let login = name;
        let (user, name) = name.rsplit_once('@').map_or((None, name), |(user, name)| (Some(user), name));
        // A text that an agent would take for an option is no name, either.
        let odd = |c: char| c.is_control() || !self.apart && (c.is_whitespace() || c == ',');
        if name.is_empty() || name.len() > NAME || name.starts_with('+') || name.contains(odd) {
            return Err(paragraph("node-name", &[name]));
        }
        if !self.apart && (login.starts_with('-') || login.contains(odd)) {
            return Err(paragraph("node-name", &[login]));
        }
        let name = self.allocated_name(name).to_owned();
        Ok(self.names.iter().position(|known| known.eq_ignore_ascii_case(&name)).unwrap_or_else(|| {
            self.logins.push(user.map_or_else(|| name.clone(), |user| format!("{user}@{name}")));
            self.names.push(name);
            self.names.len() - 1
        }))
    }
}

/// The part of one program's options that is about nodes.
#[derive(Clone, Copy, Debug)]
pub struct NodeOptions<'a> {
    pub hosts: &'a [(String, bool)],
    pub hostfiles: &'a [PathBuf],
}

impl NodeOptions<'_> {
    /// None: nothing; the program shares what the job has.
    pub fn grants(&self, here: &mut NamedNodes) -> Result<Option<Vec<Grant>>, String> {
        let hosts = self.hosts.iter().map(|(list, all)| host_list(list, *all));
        let hosts: Vec<Entry> = hosts.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
        if self.hostfiles.is_empty() {
            return match hosts.is_empty() {
                true => Ok(None),
                // Each mention of a host is a slot.
                false => sum(&hosts, 1, here).map(Some),
            };
        }
        let mut grants = from_files(self.hostfiles, here)?;
        if !hosts.is_empty() {
            let chosen = sum(&hosts, 1, here)?;
            let in_file = |grant: &Grant| grants.iter().any(|g| g.node == grant.node);
            if let Some(outside) = chosen.iter().find(|grant| !in_file(grant)) {
                return Err(paragraph("host-not-in-file", &[&here.names[outside.node]]));
            }
            grants.retain(|grant| chosen.iter().any(|c| c.node == grant.node));
            let mut counted = vec![0_u32; here.names.len()];
            for host in &hosts {
                counted[here.node_of(&host.name)?] += host.slots.unwrap_or(0);
            }
            for grant in grants.iter_mut().filter(|grant| counted[grant.node] > 0) {
                let counted = counted[grant.node];
                grant.slots = if grant.given { grant.slots.min(counted) } else { counted };
                grant.given = true;
            }
        }
        Ok(Some(grants))
    }
}

/// Grants from files; lines without slots count as written in `sum`.
pub fn from_files(files: &[PathBuf], here: &mut NamedNodes) -> Result<Vec<Grant>, String> {
    let mut all = Vec::new();
    let mut without = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)
            .map_err(|why| paragraph("cannot-read", &[&file.display().to_string(), &why.to_string()]))?;
        let (entries, excluded) = hostfile(&text, file)?;
        all.extend(entries);
        without.extend(excluded);
    }
    for name in &without {
        let left_out = here.node_of(name)?;
        let mut failed = None;
        all.retain(|entry: &Entry| match here.node_of(&entry.name) {
            Ok(node) => node != left_out,
            Err(why) => {
                failed = Some(why);
                true
            }
        });
        if let Some(why) = failed {
            return Err(why);
        }
    }
    let names: Vec<String> = files.iter().map(|f| f.display().to_string()).collect();
    match all.is_empty() {
        true => Err(paragraph("cannot-read", &[&names.join(", "), "it names no node"])),
        // A node that comes once has all its cores, one that comes again a slot each time.
        false => sum(&all, if all.len() > 1 { 1 } else { 0 }, here),
    }
}

/// The lines of hostfiles as `--map-by seq` reads them: the node of each.
pub fn sequence(files: &[PathBuf], here: &mut NamedNodes) -> Result<Vec<usize>, String> {
    let mut nodes = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)
            .map_err(|why| paragraph("cannot-read", &[&file.display().to_string(), &why.to_string()]))?;
        for entry in hostfile(&text, file)?.0 {
            nodes.push(here.node_of(&entry.name)?);
        }
    }
    Ok(nodes)
}

/// One grant per node, in the order of their first mention. `plain` is what an entry without
/// slots counts; 0: the node's own number.
fn sum(entries: &[Entry], plain: u32, here: &mut NamedNodes) -> Result<Vec<Grant>, String> {
    let mut grants: Vec<Grant> = Vec::new();
    for entry in entries {
        let node = here.node_of(&entry.name)?;
        let (slots, given) = match (entry.slots, entry.all || plain == 0) {
            (Some(slots), _) => (slots, true),
            (None, true) => (here.slots_of(node), false),
            (None, false) => (plain, true),
        };
        match grants.iter_mut().find(|grant| grant.node == node) {
            Some(grant) => {
                // Its own number is all there is, however often it is said.
                grant.slots = if given || grant.given { grant.slots.saturating_add(slots) } else { slots };
                grant.given |= given;
                grant.max_slots = grant.max_slots.max(entry.max_slots);
            }
            None => grants.push(Grant { node, slots, max_slots: entry.max_slots, given, used: 0 }),
        }
    }
    Ok(grants)
}

/// `a:2,b,c:*`; with an address of version 6 in brackets before the colon.
fn host_list(list: &str, all: bool) -> Result<Vec<Entry>, String> {
    let bad =
        |part: &str| crate::cli::words::bad_value("--host", part, "NAME, NAME:N or NAME:*, with commas");
    let read = |part: &str| {
        let part = part.trim();
        let (name, count) = with_count(part);
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(bad(part));
        }
        let slots = match count {
            None | Some("*") => None,
            Some(count) => Some(count.parse().ok().filter(|&n: &u32| n > 0).ok_or_else(|| bad(part))?),
        };
        let all = all && count.is_none() || count == Some("*");
        Ok(Entry { name: name.to_owned(), slots, max_slots: None, all })
    };
    list.split(',').map(read).collect()
}

fn with_count(part: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = part.strip_prefix('[').and_then(|p| p.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match part.split_once(':') {
        // More than one colon and no bracket: an address of version 6.
        Some((_, rest)) if rest.contains(':') => (part, None),
        Some((name, count)) => (name, Some(count)),
        None => (part, None),
    }
}

const SLOTS: &[&str] = &["slots", "count", "cpu"];
const MAX: &[&str] =
    &["max_slots", "max-slots", "slots_max", "slots-max", "cpu_max", "cpu-max", "cpus_max", "max_cpu"];
/// Read and without meaning, as in Open MPI.
const IGNORED: &[&str] = &["port", "boards", "sockets_per_board", "cores_per_socket", "username"];

/// The nodes of a file, and those it takes away (`^NAME`).
fn hostfile(text: &str, file: &Path) -> Result<(Vec<Entry>, Vec<String>), String> {
    let (mut entries, mut without) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        // `slots = 4` and `slots=4` are the same.
        let spaced = line.replace('=', " = ");
        let words: Vec<&str> = spaced.split_whitespace().collect();
        let place = format!("{}, line {}", file.display(), number + 1);
        let bad = |why: &str| paragraph("bad-line", &[&place, line, why]);
        let Some((&first, settings)) = words.split_first() else { continue };
        if let Some(name) = first.strip_prefix('^') {
            without.push(name.to_owned());
            continue;
        }
        let (name, count) = with_count(first);
        let number = |text: &str| text.parse::<u32>().ok().filter(|&n| n > 0);
        let wrong_number = || bad("a number above 0 is expected");
        let mut entry = Entry { name: name.to_owned(), slots: None, max_slots: None, all: false };
        if let Some(count) = count {
            entry.slots = Some(number(count).ok_or_else(wrong_number)?);
        }
        let mut settings = settings.chunks(3);
        for setting in settings.by_ref() {
            let &[key, "=", value] = setting else {
                return Err(bad("a node's settings have the form NAME=VALUE"));
            };
            let key = key.to_ascii_lowercase();
            if SLOTS.contains(&&*key) {
                entry.slots = Some(number(value).ok_or_else(wrong_number)?);
            } else if MAX.contains(&&*key) {
                entry.max_slots = Some(number(value).ok_or_else(wrong_number)?);
            } else if !IGNORED.contains(&&*key) {
                return Err(bad("it has slots= and max_slots="));
            }
        }
        if entry.slots > entry.max_slots && entry.max_slots.is_some() {
            return Err(bad("slots are more than max_slots"));
        }
        entries.push(entry);
    }
    Ok((entries, without))
}

/// A node's name without its domain.
fn short(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

/// Is this a name of the node we are on?
fn is_here(name: &str, hostname: &str) -> bool {
    let name = name.rsplit('@').next().unwrap_or(name).to_ascii_lowercase();
    if let Ok(address) = name.trim_matches(['[', ']']).parse::<IpAddr>() {
        // An address that a socket can be bound to is ours.
        return address.is_loopback() || !address.is_unspecified() && UdpSocket::bind((address, 0)).is_ok();
    }
    let hostname = hostname.to_ascii_lowercase();
    // Open MPI compares names without their domains, too.
    name == "localhost" || name == "+n0" || name == hostname || short(&name) == short(&hostname)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> NamedNodes {
        NamedNodes::new("vm.cluster.org", 4, false)
    }

    fn hosts(list: &str) -> Result<Grant, String> {
        let hosts = [(list.to_owned(), false)];
        let grants = NodeOptions { hosts: &hosts, hostfiles: &[] }.grants(&mut here())?.expect("a list");
        assert_eq!(grants.len(), 1);
        Ok(grants[0].clone())
    }

    fn file(text: &str, hosts: &[(String, bool)]) -> Result<Grant, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hosts");
        std::fs::write(&path, text).expect("written");
        let grants = NodeOptions { hosts, hostfiles: &[path] }.grants(&mut here())?.expect("a file");
        assert_eq!(grants.len(), 1);
        Ok(grants[0].clone())
    }

    #[test]
    fn names_of_this_node() {
        for name in
            ["localhost", "LOCALHOST", "127.0.0.1", "::1", "[::1]", "vm", "vm.cluster.org", "u@vm", "+n0"]
        {
            assert!(is_here(name, "vm.cluster.org"), "{name}");
        }
        for name in ["vmx", "other", "203.0.113.7", "0.0.0.0", "+n1", ""] {
            assert!(!is_here(name, "vm.cluster.org"), "{name}");
        }
    }

    #[test]
    fn nodes_are_called_as_in_the_allocation() {
        let allocated = ["n1", "n2.cluster.org", "m.a", "m.b"].map(|name| (name.to_owned(), 1));
        let mut nodes = here().in_allocation(&allocated);
        for (said, name) in [
            ("n1", "n1"),
            ("N1.cluster.org", "n1"),
            ("u@n1", "n1"),
            ("n2", "n2.cluster.org"),
            ("m.b", "m.b"),
            ("m.c", "m.c"),
            ("n11", "n11"),
            ("10.0.0.1", "10.0.0.1"),
        ] {
            let node = nodes.node_of(said).expect(said);
            assert_eq!(nodes.names()[node], name, "{said}");
        }
        let mut nodes = here().in_allocation(&allocated);
        assert_eq!(nodes.node_of("u@n2"), Ok(1));
        assert_eq!(nodes.others(), [(1, "u@n2.cluster.org".to_owned())]);
    }

    #[test]
    fn hosts_count_their_mentions() {
        for (list, slots, given) in [
            ("localhost", 1, true),
            ("vm:3", 3, true),
            ("localhost:2,vm,127.0.0.1", 4, true),
            ("localhost:*", 4, false),
            ("[::1]:2,::1", 3, true),
        ] {
            let grant = hosts(list).expect(list);
            assert_eq!((grant.slots, grant.given), (slots, given), "{list}");
        }
        for wrong in ["", "localhost:0", "localhost:x", "localhost:", ",localhost"] {
            assert!(hosts(wrong).is_err(), "{wrong}");
        }
        let mut machines = here();
        let both = [("localhost,u@far:3,FAR,farther".to_owned(), false)];
        let grants = NodeOptions { hosts: &both, hostfiles: &[] }
            .grants(&mut machines)
            .expect("sound")
            .expect("a list");
        let slots: Vec<_> = grants.iter().map(|g| (machines.names()[g.node].as_str(), g.slots)).collect();
        assert_eq!(slots, [("vm.cluster.org", 1), ("far", 4), ("farther", 1)]);
        assert_eq!(machines.others(), [(1, "u@far".to_owned()), (2, "farther".to_owned())]);
        for wrong in ["-oProxyCommand=x", "+n3", "a b"] {
            assert!(machines.node_of(wrong).is_err(), "{wrong}");
        }
        let mpich = [("localhost".to_owned(), true)];
        let grants = NodeOptions { hosts: &mpich, hostfiles: &[] }
            .grants(&mut here())
            .expect("sound")
            .expect("a list");
        assert_eq!((grants[0].slots, grants[0].given), (4, false));
    }

    #[test]
    fn hostfiles() {
        for (text, slots, max, given) in [
            ("localhost", 4, None, false),
            ("# first\n\nvm slots=3 # mine\n", 3, None, true),
            ("vm slots = 2 max_slots=5", 2, Some(5), true),
            ("localhost\nlocalhost\nlocalhost", 3, None, true),
            ("localhost slots=2\nvm slots=1", 3, None, true),
            ("u@vm:2", 2, None, true),
            ("vm slots=2 port=22\n^other", 2, None, true),
        ] {
            let grant = file(text, &[]).expect(text);
            assert_eq!((grant.slots, grant.max_slots, grant.given), (slots, max, given), "{text}");
        }
        for (wrong, part) in [
            ("vm slots=0", "line 1"),
            ("\nvm slots", "line 2"),
            ("vm slts=2", "slots="),
            ("vm slots=4 max_slots=2", "more than"),
            ("", "names no node"),
            ("vm\n^localhost", "names no node"),
        ] {
            let why = file(wrong, &[]).expect_err(wrong);
            assert!(why.contains(part), "{wrong}: {why}");
        }
    }

    #[test]
    fn each_name_is_a_node_where_that_is_asked_for() {
        let mut here = NamedNodes::new("vm", 4, true);
        let asked = [("b:2,vm,b,localhost:*".to_owned(), false)];
        let grants =
            NodeOptions { hosts: &asked, hostfiles: &[] }.grants(&mut here).expect("sound").expect("a list");
        let slots: Vec<_> =
            grants.iter().map(|g| (here.names()[g.node].as_str(), g.slots, g.given)).collect();
        assert_eq!(slots, [("b", 3, true), ("vm", 1, true), ("localhost", 4, false)]);
        assert_eq!(here.node_of("u@VM"), Ok(1));
        for wrong in ["", "+n1", &"x".repeat(256), "a\nb"] {
            assert!(here.node_of(wrong).is_err(), "{wrong:?}");
        }
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hosts");
        std::fs::write(&path, "a slots=3\nb slots=3\nc\n^c\n").expect("written");
        let mut here = NamedNodes::new("vm", 4, true);
        let asked = NodeOptions { hosts: &[("b:2,a".to_owned(), false)], hostfiles: &[path] };
        let grants = asked.grants(&mut here).expect("sound").expect("a file");
        let slots: Vec<_> = grants.iter().map(|g| (here.names()[g.node].as_str(), g.slots)).collect();
        assert_eq!(slots, [("a", 3), ("b", 2)]);
    }

    #[test]
    fn hosts_choose_among_a_file_s() {
        let chosen = |list: &str| [(list.to_owned(), false)];
        assert_eq!(file("vm slots=3", &chosen("localhost")).expect("there").slots, 3);
        assert_eq!(file("vm slots=3", &chosen("localhost:2")).expect("there").slots, 2);
        assert!(file("vm slots=3", &chosen("far")).is_err());
    }
}
