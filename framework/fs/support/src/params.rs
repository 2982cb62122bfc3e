//! The parameter `lock_algorithm`, which Open MPI's components have.

use oxmpi_mca::{Answers, Params};

/// Its one value that changes something: no locks at all. Open MPI's others say which range is locked around an access; accesses need none here, and atomic mode locks what it
/// touches.
pub const WITHOUT_LOCKS: i64 = 1;

/// Its help.
pub const HELP: &str = "Whether byte-range locks may be taken: 1 means never, and what needs them (atomic mode, sieved writes) is refused; 0, 2 and 3, which choose among ways of locking in Open MPI, mean that they are taken where an operation needs them and nowhere else. Set it to 1 where the locks of a file system hang";

/// Says what the parameter at an index means, as `Component::resolve` has to, where it is 0.
pub fn tell(params: Params<'_>, index: usize, answers: &mut Answers<'_>) {
    if params.int(index) == 0 {
        answers.as_set(index, "0: a lock is taken where an operation needs it");
    }
}

/// Why a file has no locks under [`WITHOUT_LOCKS`], by the parameter's full name.
pub fn because(name: &str) -> String {
    format!("the parameter {name} forbids locks")
}
