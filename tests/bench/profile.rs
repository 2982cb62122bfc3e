//! The profile that callgrind wrote: instructions by object, and calls with what they cost.
//!
//! The format (Valgrind's manual, "Callgrind Format Specification"), as far as callgrind writes it
//! with one kind of event: `ob=`, `fl=`, `fi=`, `fe=`, `fn=` say where the lines that follow belong,
//! `cob=`, `cfn=` whom the next call reaches. A line `position cost` is a function's own cost; the
//! first such line after `calls=` is that of the call, with all that the callee did. A name is
//! written once behind its number, later by the number alone.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// One function calling another, or one source file's part in an object.
pub type Pair = (String, String);

/// How often a function was called by another, and the instructions that took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub times: u64,
    pub cost: u64,
}

/// Caller and callee: objects by path, functions by name.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Edge {
    pub from: Pair,
    pub to: Pair,
}

/// One dump.
#[derive(Debug, Default)]
pub struct Profile {
    /// Own instructions by object and source file.
    pub own: BTreeMap<Pair, u64>,
    pub calls: BTreeMap<Edge, Calls>,
}

/// Names by number, one table for each kind of name.
#[derive(Default)]
struct Names(HashMap<String, String>);

impl Names {
    fn get(&mut self, text: &str) -> Result<String, String> {
        let Some((number, name)) = text.strip_prefix('(').and_then(|rest| rest.split_once(')')) else {
            return Ok(text.to_owned());
        };
        if !name.trim().is_empty() {
            self.0.insert(number.to_owned(), name.trim().to_owned());
        }
        self.0.get(number).cloned().ok_or_else(|| format!("the name ({number}) is used before it is told"))
    }
}

impl Profile {
    pub fn read(path: &Path) -> Result<Profile, String> {
        let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
        Profile::parse(&text).map_err(|why| format!("{}: {why}", path.display()))
    }

    pub fn parse(text: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        let (mut objects, mut files, mut functions) = (Names::default(), Names::default(), Names::default());
        let (mut object, mut file, mut function) = (String::new(), String::new(), String::new());
        let (mut to_object, mut to_function) = (None, String::new());
        let mut pending = None;
        for line in text.lines() {
            if let Some((key, value)) = line.split_once('=') {
                match key {
                    "ob" => object = objects.get(value)?,
                    "fl" | "fi" | "fe" => file = files.get(value)?,
                    "fn" => function = functions.get(value)?,
                    "cob" => to_object = Some(objects.get(value)?),
                    // Only so that the names become known.
                    "cfi" | "cfl" => drop(files.get(value)?),
                    "cfn" => to_function = functions.get(value)?,
                    "calls" => pending = Some(number(value.split(' ').next())?),
                    _ => {}
                }
            } else if let Some(event) = line.strip_prefix("events:") {
                if event.trim() != "Ir" {
                    return Err(format!("it counts {event}, not instructions alone"));
                }
            } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
                let cost = number(line.split(' ').nth(1))?;
                match pending.take() {
                    None => *profile.own.entry((object.clone(), file.clone())).or_default() += cost,
                    Some(times) => {
                        // Without `cob=` the call stays in its object.
                        let to_object = to_object.take().unwrap_or_else(|| object.clone());
                        let from = (object.clone(), function.clone());
                        let edge = Edge { from, to: (to_object, to_function.clone()) };
                        let calls = profile.calls.entry(edge).or_default();
                        calls.times += times;
                        calls.cost += cost;
                    }
                }
            }
        }
        Ok(profile)
    }

    /// The costs that this profile has and `less` had not: a run of twice the length less one of the
    /// single length leaves out whatever happened once.
    pub fn without(&self, less: &Profile) -> Profile {
        let own = self.own.iter().map(|(at, cost)| {
            let before = less.own.get(at).copied().unwrap_or_default();
            (at.clone(), cost.saturating_sub(before))
        });
        let calls = self.calls.iter().map(|(edge, calls)| {
            let before = less.calls.get(edge).copied().unwrap_or_default();
            let times = calls.times.saturating_sub(before.times);
            (edge.clone(), Calls { times, cost: calls.cost.saturating_sub(before.cost) })
        });
        let calls = calls.filter(|(_, calls)| calls.times > 0).collect();
        Profile { own: own.filter(|(_, cost)| *cost > 0).collect(), calls }
    }
}

fn number(text: Option<&str>) -> Result<u64, String> {
    let text = text.unwrap_or_default();
    text.parse().map_err(|_| format!("{text:?} where a count should be"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "\
events: Ir
summary: 70

ob=(1) /bin/program
fl=(1) program.c
fn=(1) main
cob=(2) /lib/library.so
cfi=(2) library.rs
cfn=(2) Send
calls=3 10
12 60

ob=(2)
fl=(2)
fn=(2)
10 30
fi=(3) macros.rs
+2 6
fe=(2)
cfn=(3) helper
calls=6 4
* 24

fn=(3)
4 24
";

    #[test]
    fn reads_what_callgrind_writes() {
        let p = Profile::parse(DUMP).expect("a dump");
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let own: Vec<_> = p.own.into_iter().collect();
        let library = |file| pair("/lib/library.so", file);
        assert_eq!(own, [(library("library.rs"), 54), (library("macros.rs"), 6)]);
        let calls: Vec<_> = p.calls.into_iter().collect();
        let send = Edge { from: pair("/bin/program", "main"), to: library("Send") };
        let helper = Edge { from: library("Send"), to: library("helper") };
        let expected = [(send, Calls { times: 3, cost: 60 }), (helper, Calls { times: 6, cost: 24 })];
        assert_eq!(calls, expected);
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        assert!(Profile::parse("events: Ir Dr\n").is_err());
        assert!(Profile::parse("fn=(7)\n").is_err());
        assert!(Profile::parse("events: Ir\nfn=(7) f\n12 many\n").is_err());
    }

    #[test]
    fn what_happened_once_is_gone_from_the_difference() {
        let twice = DUMP.replace("calls=3 10\n12 60", "calls=5 10\n12 90").replace("10 30", "10 41");
        let (one, two) = (Profile::parse(DUMP).expect("a dump"), Profile::parse(&twice).expect("a dump"));
        let steady = two.without(&one);
        let own: Vec<_> = steady.own.values().copied().collect();
        let calls: Vec<_> = steady.calls.values().copied().collect();
        assert_eq!((own, calls), (vec![11], vec![Calls { times: 2, cost: 30 }]));
    }
}
