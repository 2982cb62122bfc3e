//! Selections of frameworks that have one implementation here, which answers to all names that it has in Open MPI: `io` and `sharedfp`.
//!
//! Scripts choose MPI-IO by them (`io ompio`, `io ^ompio`, `sharedfp ^lockedfile`). All of these are understood: whatever name is left, the one implementation
//! has it. A list that leaves no name asks for no files at all, and is an error.

use crate::error::{Error, ErrorKind};
use oxmpi_mca_params::{Declaration, Kind, Resolved, Resolver, Scope, Value};

/// A framework, the names that its implementation answers to, a star for any ending, and which functions it is about.
struct Implementation {
    framework: &'static str,
    names: &'static [&'static str],
    about: &'static str,
}

const ALL: [Implementation; 2] = [
    Implementation { framework: "io", names: &["ompio", "romio*"], about: "files" },
    Implementation {
        framework: "sharedfp",
        names: &["sm", "lockedfile", "individual"],
        about: "shared file pointers",
    },
];

/// Whether `name` is one that `pattern` stands for.
fn is_named(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}

impl Implementation {
    /// The parameter that selects it.
    fn declaration(&self) -> Declaration {
        let help = format!(
            "Implementations of {} by their names in Open MPI ({}), to use (a,b) or not to use (^a,b); there is one, which answers to all of them. Set it only because a script does",
            self.about,
            self.names.join(", ")
        );
        Declaration::new(self.framework, "", "", Kind::List, "", &help)
            .level(6)
            .scope(Scope::ALL_EQ)
            .choices(self.names)
    }

    /// Whether a list leaves a name that the implementation has.
    fn is_left(&self, negated: bool, items: &[String]) -> bool {
        let listed = |pattern: &&&str| items.iter().any(|item| is_named(pattern, item));
        items.is_empty()
            || self.names.iter().filter(listed).count() != if negated { self.names.len() } else { 0 }
    }

    /// All that is wrong with the parameter's value; `None`: nothing.
    fn mistake(&self, resolved: &Resolved) -> Option<Error> {
        let Value::List { negated, items } = &resolved.value else { return None };
        let unknown = items.iter().find(|item| !self.names.iter().any(|pattern| is_named(pattern, item)));
        let (from, names) =
            (format!("parameter {}: from {}", self.framework, resolved.origin), self.names.join(", "));
        let message = match unknown {
            Some(name) => format!("{from}, {name:?} is none of {names}"),
            None if self.is_left(*negated, items) => return None,
            None => format!("{from}, {:?} leaves none of {names}, and so no {}", resolved.text, self.about),
        };
        Some(Error::new(ErrorKind::Other, message))
    }
}

/// Declares the selections, and returns an error for each value that is wrong.
pub fn declare(resolver: &mut Resolver) -> Vec<Error> {
    let declared =
        ALL.iter().filter_map(|implementation| match resolver.declare(implementation.declaration()) {
            Ok(resolved) => implementation.mistake(resolved),
            Err(why) => Some(why.into()),
        });
    declared.collect()
}

/// A line about each such selection that is set: it names something of Open MPI's, and is served by what there is.
pub fn told(resolver: &Resolver) -> Vec<String> {
    let set = ALL.iter().filter_map(|implementation| {
        let resolved = resolver
            .get(implementation.framework)
            .filter(|r| matches!(&r.value, Value::List { items, .. } if !items.is_empty()))?;
        Some(format!("{} {}, from {}", implementation.framework, resolved.text, resolved.origin))
    });
    set.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mistakes(name: &str, text: &str) -> Vec<String> {
        let mut resolver = Resolver::new().with([(name, text)]);
        let wrong = declare(&mut resolver);
        assert_eq!(told(&resolver).len(), usize::from(!text.is_empty()), "{text}");
        wrong.into_iter().map(|e| e.message).collect()
    }

    #[test]
    fn every_name_of_open_mpi_stands_for_the_one_implementation() {
        for text in ["", "ompio", "^ompio", "romio341", "romio321,ompio", "^romio314,romio321"] {
            assert_eq!(mistakes("io", text), Vec::<String>::new(), "{text}");
        }
        for text in ["sm", "^lockedfile", "^lockedfile,individual", "individual"] {
            assert_eq!(mistakes("sharedfp", text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn what_leaves_nothing_is_a_mistake() {
        for (name, text, word) in [
            ("io", "^ompio,romio341", "leaves none"),
            ("io", "ompoi", "ompoi"),
            ("io", "^ompoi", "ompoi"),
            ("sharedfp", "^sm,lockedfile,individual", "leaves none"),
        ] {
            let wrong = mistakes(name, text);
            assert!(
                wrong.len() == 1 && wrong[0].contains(word) && wrong[0].contains(name),
                "{text}: {wrong:?}"
            );
        }
    }
}
