//! The call that made a datatype, taken apart: the same for forms with small and with large counts (MPI 5.0 §5.1.13).

use super::mpi::{Made, PMPI_Type_get_contents_c, PMPI_Type_get_envelope_c, checked};
use crate::abi::Handle;
use core::ffi::c_int;

/// The call that made a datatype. Lengths and displacements; `by`: bytes of a unit of displacements are 1, else the old type's extent.
pub enum Call {
    /// Predefined, or as good as that: not to be taken apart.
    Basic,
    Same(Old),
    /// Blocks of `length`, each `stride` behind the one before.
    Vector {
        count: i64,
        length: i64,
        stride: i64,
        in_bytes: bool,
        of: Old,
    },
    /// Blocks of their own lengths and displacements.
    Indexed {
        lengths: Vec<i64>,
        displacements: Vec<i64>,
        in_bytes: bool,
        of: Old,
    },
    Struct {
        lengths: Vec<i64>,
        displacements: Vec<i64>,
        of: Vec<Old>,
    },
    /// For each dimension, the fastest first: its length, and the indices that belong to the datatype.
    Array {
        dimensions: Vec<(i64, Vec<i64>)>,
        of: Old,
    },
}

/// A datatype that another one was made of.
pub enum Old {
    Basic(Handle),
    /// Given by the call that asked for it, and freed.
    Derived(Made),
}

impl Old {
    pub fn handle(&self) -> Handle {
        match self {
            Old::Basic(handle) => *handle,
            Old::Derived(made) => made.handle(),
        }
    }
}

const NAMED: c_int = 101;
const DUP: c_int = 102;
const CONTIGUOUS: c_int = 103;
const VECTOR: c_int = 104;
const HVECTOR: c_int = 105;
const INDEXED: c_int = 106;
const HINDEXED: c_int = 107;
const INDEXED_BLOCK: c_int = 108;
const HINDEXED_BLOCK: c_int = 109;
const STRUCT: c_int = 110;
const SUBARRAY: c_int = 111;
const DARRAY: c_int = 112;
const F90_REAL: c_int = 113;
const F90_COMPLEX: c_int = 114;
const F90_INTEGER: c_int = 115;
const RESIZED: c_int = 116;
const VALUE_INDEX: c_int = 117;

const ORDER_C: i64 = 0xC;
const BLOCK: i64 = 17;
const CYCLIC: i64 = 18;
const DEFAULT: i64 = 19;

/// Arguments of the call, by kind.
struct Arguments {
    integers: Vec<c_int>,
    addresses: Vec<isize>,
    counts: Vec<i64>,
    types: Vec<Handle>,
    combiner: c_int,
}

/// Takes a datatype apart.
pub fn call(datatype: Handle) -> Result<Call, c_int> {
    let Some(arguments) = ask(datatype)? else { return Ok(Call::Basic) };
    let mut of = Vec::new();
    for handle in &arguments.types {
        of.push(if is_basic(combiner(*handle)?.4) {
            Old::Basic(*handle)
        } else {
            Old::Derived(Made::by(|new| take(*handle, new))?)
        });
    }
    Ok(arguments.call(of))
}

/// A handle that is ours now.
fn take(handle: Handle, place: *mut Handle) -> c_int {
    // SAFETY: the place of `Made::by`.
    unsafe { place.write(handle) };
    crate::abi::SUCCESS
}

fn is_basic(combiner: c_int) -> bool {
    matches!(combiner, NAMED | F90_REAL | F90_COMPLEX | F90_INTEGER | VALUE_INDEX)
}

/// Numbers of arguments of each kind, and the combiner.
fn combiner(datatype: Handle) -> Result<(i64, i64, i64, i64, c_int), c_int> {
    let (mut i, mut a, mut c, mut d, mut combiner) = (0, 0, 0, 0, 0);
    // SAFETY: places; a handle of whatever value may be asked about.
    checked(unsafe { PMPI_Type_get_envelope_c(datatype, &mut i, &mut a, &mut c, &mut d, &mut combiner) })?;
    Ok((i, a, c, d, combiner))
}

/// `None`: the datatype is basic.
fn ask(datatype: Handle) -> Result<Option<Arguments>, c_int> {
    let (i, a, c, d, combiner) = combiner(datatype)?;
    if is_basic(combiner) {
        return Ok(None);
    }
    let mut all = Arguments {
        integers: vec![0; i as usize],
        addresses: vec![0; a as usize],
        counts: vec![0; c as usize],
        types: vec![0; d as usize],
        combiner,
    };
    // SAFETY: places for as many as there are.
    checked(unsafe {
        PMPI_Type_get_contents_c(
            datatype,
            i,
            a,
            c,
            d,
            all.integers.as_mut_ptr(),
            all.addresses.as_mut_ptr(),
            all.counts.as_mut_ptr(),
            all.types.as_mut_ptr(),
        )
    })?;
    Ok(Some(all))
}

impl Arguments {
    /// Lengths, displacements in units of a type, and numbers of elements: counts of the large form, else integers.
    fn numbers(&self) -> Vec<i64> {
        if self.counts.is_empty() {
            self.integers.iter().map(|n| i64::from(*n)).collect()
        } else {
            self.counts.clone()
        }
    }

    /// The same, with addresses of the small form behind.
    fn numbers_and_addresses(&self) -> Vec<i64> {
        let mut all = self.numbers();
        all.extend(self.addresses.iter().map(|a| *a as i64));
        all
    }

    fn call(self, mut of: Vec<Old>) -> Call {
        let numbers = self.numbers_and_addresses();
        let count = numbers.first().copied().unwrap_or(0);
        let n = count as usize;
        let pop = |of: &mut Vec<Old>| of.pop().expect("a datatype that is made of one names it");
        match self.combiner {
            DUP | RESIZED => Call::Same(pop(&mut of)),
            CONTIGUOUS => {
                Call::Vector { count: 1, length: count, stride: 0, in_bytes: false, of: pop(&mut of) }
            }
            VECTOR | HVECTOR => Call::Vector {
                count,
                length: numbers[1],
                stride: numbers[2],
                in_bytes: self.combiner == HVECTOR,
                of: pop(&mut of),
            },
            INDEXED | HINDEXED => Call::Indexed {
                lengths: numbers[1..=n].to_vec(),
                displacements: numbers[n + 1..=2 * n].to_vec(),
                in_bytes: self.combiner == HINDEXED,
                of: pop(&mut of),
            },
            INDEXED_BLOCK | HINDEXED_BLOCK => Call::Indexed {
                lengths: vec![numbers[1]; n],
                displacements: numbers[2..n + 2].to_vec(),
                in_bytes: self.combiner == HINDEXED_BLOCK,
                of: pop(&mut of),
            },
            STRUCT => Call::Struct {
                lengths: numbers[1..=n].to_vec(),
                displacements: numbers[n + 1..=2 * n].to_vec(),
                of,
            },
            SUBARRAY => Call::Array { dimensions: self.subarray(), of: pop(&mut of) },
            DARRAY => Call::Array { dimensions: self.darray(), of: pop(&mut of) },
            _ => Call::Basic,
        }
    }

    fn subarray(&self) -> Vec<(i64, Vec<i64>)> {
        let n = self.integers[0] as usize;
        let lengths = if self.counts.is_empty() {
            self.integers[1..=3 * n].iter().map(|x| i64::from(*x)).collect()
        } else {
            self.counts.clone()
        };
        let order = i64::from(self.integers[self.integers.len() - 1]);
        let dimension = |i: usize| {
            let start = lengths[2 * n + i];
            (lengths[i], (start..start + lengths[n + i]).collect())
        };
        in_order((0..n).map(dimension).collect(), order)
    }

    fn darray(&self) -> Vec<(i64, Vec<i64>)> {
        let integer = |i: usize| i64::from(self.integers[i]);
        let (mut rank, n) = (integer(1), self.integers[2] as usize);
        // The large form has the lengths among the counts, so all else stands further in front.
        let is_large = !self.counts.is_empty();
        let length = |i: usize| if is_large { self.counts[i] } else { integer(3 + i) };
        let rest = if is_large { 3 } else { 3 + n };
        let order = integer(rest + 3 * n);
        let mut dimensions = vec![(0, Vec::new()); n];
        // Processes are numbered in the order of C, whatever the order of the array.
        for i in (0..n).rev() {
            let processes = integer(rest + 2 * n + i);
            let mine = rank % processes;
            rank /= processes;
            let (how, argument) = (integer(rest + i), integer(rest + n + i));
            dimensions[i] = (length(i), distributed(length(i), how, argument, processes, mine));
        }
        in_order(dimensions, order)
    }
}

/// Dimensions, the fastest first.
fn in_order(mut dimensions: Vec<(i64, Vec<i64>)>, order: i64) -> Vec<(i64, Vec<i64>)> {
    if order == ORDER_C {
        dimensions.reverse();
    }
    dimensions
}

/// The indices of one process in a distributed dimension (MPI 5.0 §5.1.4).
fn distributed(length: i64, how: i64, argument: i64, processes: i64, mine: i64) -> Vec<i64> {
    let block = match (how, argument) {
        (BLOCK, DEFAULT) => (length + processes - 1) / processes,
        (CYCLIC, DEFAULT) => 1,
        (BLOCK | CYCLIC, argument) => argument,
        _ => return (0..length).collect(),
    };
    let starts = (mine * block..length).step_by((processes * block).max(1) as usize);
    starts.flat_map(|start| start..(start + block).min(length)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_of_a_distributed_dimension() {
        assert_eq!(distributed(10, BLOCK, DEFAULT, 4, 3), [9]);
        assert_eq!(distributed(10, CYCLIC, 2, 2, 1), [2, 3, 6, 7]);
        assert_eq!(distributed(5, CYCLIC, DEFAULT, 3, 1), [1, 4]);
        assert_eq!(distributed(3, 16, DEFAULT, 1, 0), [0, 1, 2]);
    }
}
