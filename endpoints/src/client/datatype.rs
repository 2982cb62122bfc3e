//! The client's knowledge of datatypes: whether their data is one piece in order, and their likeness in each proxy.
//!
//! Derived datatypes are the library's, in the client; one is rebuilt in a proxy when it is first used there on data that the proxy
//! has mapped. Both are kept until MPI_Type_free.

use super::state::{Client, Proxy, Words, client};
use super::{comm, lock};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};

const NAMED: c_int = 101;
const DUP: c_int = 102;
const CONTIGUOUS: c_int = 103;

#[derive(Clone, Copy, Debug)]
pub struct Info {
    pub size: i64,
    pub lb: i64,
    pub extent: i64,
    pub true_lb: i64,
    pub true_extent: i64,
    /// Elements follow one another without gaps and in the order of the type map.
    pub dense: bool,
}

static KNOWN: RwLock<Option<HashMap<Datatype, Info>>> = RwLock::new(None);
type Likenesses = HashMap<(usize, Datatype), Option<u64>>;
/// Likenesses by proxy and datatype; `None` for one that cannot be rebuilt.
static THERE: Mutex<Option<Likenesses>> = Mutex::new(None);

/// The known facts of a datatype.
pub fn info(dtype: Datatype) -> Result<Info, c_int> {
    if dtype == DATATYPE_NULL {
        return Err(ERR_TYPE);
    }
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(info) = known.as_ref().and_then(|k| k.get(&dtype)) {
        return Ok(*info);
    }
    drop(known);
    let info = ask(dtype)?;
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).get_or_insert_default().insert(dtype, info);
    Ok(info)
}

fn ask(dtype: Datatype) -> Result<Info, c_int> {
    let mut info = Info { size: 0, lb: 0, extent: 0, true_lb: 0, true_extent: 0, dense: false };
    // SAFETY: locals.
    let errors = unsafe {
        [
            pmpi::MPI_Type_size_c(dtype, &raw mut info.size),
            pmpi::MPI_Type_get_extent_c(dtype, &raw mut info.lb, &raw mut info.extent),
            pmpi::MPI_Type_get_true_extent_c(dtype, &raw mut info.true_lb, &raw mut info.true_extent),
        ]
    };
    if errors != [SUCCESS; 3] {
        return Err(ERR_TYPE);
    }
    let compact =
        info.lb == 0 && info.true_lb == 0 && info.size == info.extent && info.extent == info.true_extent;
    info.dense = compact && in_order(dtype);
    Ok(info)
}

/// Is it a predefined datatype, or made of one by repetition only? Others may have the order of their data changed.
fn in_order(dtype: Datatype) -> bool {
    if is_predefined(dtype) {
        return true;
    }
    let Some(contents) = Contents::of(dtype) else { return false };
    let fine = match contents.combiner {
        NAMED => true,
        DUP | CONTIGUOUS => contents.types.first().is_some_and(|old| info(*old).is_ok_and(|i| i.dense)),
        _ => false,
    };
    contents.release();
    fine
}

/// The predefined datatype of all elements; none where there are several.
pub fn element(dtype: Datatype) -> Option<Datatype> {
    if is_predefined(dtype) {
        return Some(dtype);
    }
    let contents = Contents::of(dtype)?;
    let elements: Option<Vec<Datatype>> = contents.types.iter().map(|old| element(*old)).collect();
    contents.release();
    let elements = elements?;
    let first = *elements.first()?;
    elements.iter().all(|e| *e == first).then_some(first)
}

/// How a datatype was made.
struct Contents {
    combiner: c_int,
    ints: Vec<c_int>,
    addresses: Vec<isize>,
    types: Vec<Datatype>,
}

impl Contents {
    /// `None` for those with large counts, which are packed instead.
    fn of(dtype: Datatype) -> Option<Contents> {
        let (mut ni, mut na, mut nl, mut nd, mut combiner) = (0i64, 0i64, 0i64, 0i64, 0);
        // SAFETY: locals, and lists of the lengths that the library named.
        unsafe {
            let error = pmpi::MPI_Type_get_envelope_c(
                dtype,
                &raw mut ni,
                &raw mut na,
                &raw mut nl,
                &raw mut nd,
                &raw mut combiner,
            );
            if error != SUCCESS || nl != 0 {
                return None;
            }
            let mut contents = Contents {
                combiner,
                ints: vec![0; ni as usize],
                addresses: vec![0; na as usize],
                types: vec![DATATYPE_NULL; nd as usize],
            };
            if combiner == NAMED {
                return Some(contents);
            }
            let (i, a, d) =
                (contents.ints.as_mut_ptr(), contents.addresses.as_mut_ptr(), contents.types.as_mut_ptr());
            let error = pmpi::MPI_Type_get_contents(dtype, ni as c_int, na as c_int, nd as c_int, i, a, d);
            (error == SUCCESS).then_some(contents)
        }
    }

    /// The library gave handles of its own for derived datatypes.
    fn release(self) {
        for mut dtype in self.types {
            if !is_predefined(dtype) && dtype != DATATYPE_NULL {
                forget(dtype);
                // SAFETY: a handle that MPI_Type_get_contents gave to this caller.
                unsafe { pmpi::MPI_Type_free(&raw mut dtype) };
            }
        }
    }
}

/// The likeness of a datatype in a proxy; `None` where it has to be packed.
pub fn there(client: &'static Client, proxy: &'static Proxy, dtype: Datatype) -> Option<u64> {
    if is_predefined(dtype) {
        return Some(dtype as u64);
    }
    let key = (proxy.number, dtype);
    if let Some(known) = lock(&THERE).as_ref().and_then(|t| t.get(&key)) {
        return *known;
    }
    let made = rebuild(client, proxy, dtype);
    lock(&THERE).get_or_insert_default().insert(key, made);
    made
}

fn rebuild(client: &'static Client, proxy: &'static Proxy, dtype: Datatype) -> Option<u64> {
    if is_predefined(dtype) {
        return Some(dtype as u64);
    }
    let contents = Contents::of(dtype)?;
    let olds: Vec<Option<u64>> = contents.types.iter().map(|old| rebuild(client, proxy, *old)).collect();
    let mut made = None;
    if contents.combiner != NAMED && olds.iter().all(Option::is_some) {
        let ints = contents.ints.iter().map(|i| i64::from(*i));
        let addresses = contents.addresses.iter().map(|a| *a as i64);
        let words: Vec<i64> = ints.chain(addresses).chain(olds.iter().flatten().map(|o| *o as i64)).collect();
        let words = Words::new(&words).ok()?;
        let lengths = [contents.ints.len(), contents.addresses.len(), olds.len()];
        let fill = |record: &mut Record| {
            record.lists = words.address();
            record.args[0] = contents.combiner.into();
            for (arg, length) in record.args[1..].iter_mut().zip(lengths) {
                *arg = length as i64;
            }
        };
        made = comm::run(client, proxy, op::TYPE_CREATE, fill, |r| Ok(r.out[0])).ok();
    }
    // The likeness keeps what it is made of.
    for old in olds.into_iter().flatten().filter(|o| !is_predefined(*o as usize)) {
        free_there(client, proxy, old);
    }
    contents.release();
    made
}

fn free_there(client: &'static Client, proxy: &'static Proxy, dtype: u64) {
    // A failure leaves a datatype behind in the proxy, and nothing of the program's is wrong.
    let _ = comm::run(client, proxy, op::TYPE_FREE, |r| r.args[0] = dtype as i64, |_| Ok(()));
}

/// A handle is about to mean nothing, or something else.
fn forget(dtype: Datatype) {
    if let Some(known) = KNOWN.write().unwrap_or_else(PoisonError::into_inner).as_mut() {
        known.remove(&dtype);
    }
    let Some(client) = client() else { return };
    let mut gone = Vec::new();
    if let Some(there) = lock(&THERE).as_mut() {
        there.retain(|(proxy, d), likeness| {
            if *d == dtype {
                gone.extend(likeness.map(|l| (*proxy, l)));
            }
            *d != dtype
        });
    }
    for (proxy, likeness) in gone {
        free_there(client, &client.proxies[proxy], likeness);
    }
}

mpi! {
    fn MPI_Type_free(datatype: *mut Datatype) {
        forget(*datatype);
        pmpi::MPI_Type_free(datatype)
    }
}
