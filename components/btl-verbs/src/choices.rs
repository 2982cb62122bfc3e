//! Parameters that are one of several words.

use oxmpi_mca::StrRef;

pub const CATEGORIES: &[StrRef] = &[
    StrRef::new("auto"),
    StrRef::new("mpi_everywhere"),
    StrRef::new("2xdynamic"),
    StrRef::new("dynamic"),
    StrRef::new("shared_dynamic"),
    StrRef::new("static"),
    StrRef::new("mpi_threads"),
];

pub const REGISTERS: &[StrRef] =
    &[StrRef::new("auto"), StrRef::new("library"), StrRef::new("own"), StrRef::new("page")];

/// Doorbell registers of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registers {
    /// Those that the library gives to queue pairs without a thread domain, with its locks.
    Library,
    /// One for each lane.
    Own,
    /// One for each lane, alone on its page.
    Page,
}

impl Registers {
    /// The word of the parameter.
    pub fn name(self) -> &'static str {
        match self {
            Registers::Library => "library",
            Registers::Own => "own",
            Registers::Page => "page",
        }
    }

    pub fn of(index: i64) -> Option<Registers> {
        match index {
            1 => Some(Registers::Library),
            2 => Some(Registers::Own),
            3 => Some(Registers::Page),
            _ => None,
        }
    }
}

/// How the queue pairs of different communication resources share what lies below them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// `Dynamic` where the library has thread domains, else `Static`.
    Auto,
    /// A device context each.
    MpiEverywhere,
    /// A page of doorbell registers each, and twice the queue pairs, of which every other one is used.
    TwiceDynamic,
    /// A page of doorbell registers each.
    Dynamic,
    /// A doorbell register each, two on a page.
    SharedDynamic,
    /// The registers that the library gives.
    Static,
    /// One queue pair for all.
    MpiThreads,
}

impl Category {
    /// The word of the parameter.
    pub fn name(self) -> &'static str {
        match self {
            Category::Auto => "auto",
            Category::MpiEverywhere => "mpi_everywhere",
            Category::TwiceDynamic => "2xdynamic",
            Category::Dynamic => "dynamic",
            Category::SharedDynamic => "shared_dynamic",
            Category::Static => "static",
            Category::MpiThreads => "mpi_threads",
        }
    }

    pub fn of(index: i64) -> Category {
        match index {
            1 => Category::MpiEverywhere,
            2 => Category::TwiceDynamic,
            3 => Category::Dynamic,
            4 => Category::SharedDynamic,
            5 => Category::Static,
            6 => Category::MpiThreads,
            _ => Category::Auto,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_have_the_names_of_their_parameters() {
        for (index, name) in CATEGORIES.iter().enumerate() {
            // SAFETY: static text of this component.
            assert_eq!(unsafe { name.get() }, Some(Category::of(index as i64).name()));
        }
    }
}
