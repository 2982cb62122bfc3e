//! MPIX_Comm_create_endpoints (EP-lib paper, §III.D; the 2014 proposal's rules).
//!
//! 1. The parent's ranks gather how many endpoints each asks for, and on which process it is.
//! 2. Everybody deals each process's proxies to its ranks in their order in the parent, so all know the new group, and all find out alike
//!    if a process asks for more than it has.
//! 3. The proxies of the new group, and no others, call MPI_Comm_create_group on the world of the job.
//! 4. The client makes a handle of each proxy's answer.

use super::buffers::Buffer;
use super::collective::{Plan, blocking};
use super::comm::{self, EpComm, blank, from_facts};
use super::error;
use super::state::{Client, Words, client};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{access, op};
use std::sync::atomic::Ordering;

const NAME: &str = "MPIX_Comm_create_endpoints";

/// Values that a rank of the parent tells the others.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
struct EndpointRequest {
    count: c_int,
    /// The process's rank in the application's world.
    process: c_int,
    /// A number that no other creation of this process has.
    number: c_int,
}

const INTS: c_int = (size_of::<EndpointRequest>() / size_of::<c_int>()) as c_int;

/// Which proxies serve the new communicator.
#[derive(Debug, PartialEq)]
struct Deal {
    /// World ranks, in the order of the new ranks.
    members: Vec<i64>,
    /// The caller's first proxy.
    first: usize,
}

/// Deals the proxies of each process (their world ranks) to the ranks of the parent.
fn deal(asked: &[EndpointRequest], rank: usize, proxies: &[Vec<usize>]) -> Result<Deal, c_int> {
    if asked.iter().any(|a| a.count < 0) {
        return Err(ERR_ARG);
    }
    let mut used = vec![0; proxies.len()];
    let mut deal = Deal { members: Vec::new(), first: 0 };
    for (at, one) in asked.iter().enumerate() {
        let process = one.process as usize;
        if at == rank {
            deal.first = used[process];
        }
        let mine = proxies[process].iter().skip(used[process]).take(one.count as usize);
        deal.members.extend(mine.map(|r| *r as i64));
        used[process] += one.count as usize;
    }
    match used.iter().zip(proxies).all(|(used, there)| *used <= there.len()) {
        true => Ok(deal),
        false => Err(ERR_ENDPOINTS),
    }
}

/// The parent, and how errors on it are raised.
enum Parent {
    Conventional(Comm),
    Endpoints(&'static EpComm),
}

impl Parent {
    fn of(comm: Comm) -> Parent {
        match comm::find(comm) {
            Some(ep) => Parent::Endpoints(ep),
            None => Parent::Conventional(comm::native(comm)),
        }
    }

    /// Gathers what all ranks ask for; gives the caller's rank, too.
    fn gather(&self, mine: EndpointRequest) -> Result<(Vec<EndpointRequest>, usize), c_int> {
        let from = (&raw const mine).cast();
        match self {
            Parent::Endpoints(ep) => {
                if ep.is_inter() {
                    return Err(ERR_COMM);
                }
                let mut all = vec![EndpointRequest::default(); ep.size as usize];
                let first = (Buffer::plain(from, INTS.into(), INT), access::READ);
                let to = Buffer::times(all.as_mut_ptr().cast(), INTS.into(), ep.size, INT);
                blocking(ep, NAME, Plan::new(op::ALLGATHER, first, (to, access::WRITE)))?;
                Ok((all, ep.rank as usize))
            }
            Parent::Conventional(comm) => {
                let (mut size, mut rank, mut inter) = (0, 0, 0);
                // SAFETY: locals; the list has an entry for each rank.
                unsafe {
                    let error = pmpi::MPI_Comm_test_inter(*comm, &raw mut inter);
                    if error != SUCCESS || inter != 0 {
                        return Err(ERR_COMM);
                    }
                    pmpi::MPI_Comm_size(*comm, &raw mut size);
                    pmpi::MPI_Comm_rank(*comm, &raw mut rank);
                    let mut all = vec![EndpointRequest::default(); size as usize];
                    let to = all.as_mut_ptr().cast();
                    match pmpi::MPI_Allgather(from, INTS, INT, to, INTS, INT, *comm) {
                        SUCCESS => Ok((all, rank as usize)),
                        error => Err(error),
                    }
                }
            }
        }
    }

    fn errhandler(&self) -> Errhandler {
        match self {
            Parent::Endpoints(ep) => ep.errhandler.load(Ordering::Relaxed),
            Parent::Conventional(comm) => {
                let mut handler = ERRORS_ARE_FATAL;
                // SAFETY: a local. The new communicators keep the reference.
                unsafe { pmpi::MPI_Comm_get_errhandler(*comm, &raw mut handler) };
                handler
            }
        }
    }

    fn raise(&self, class: c_int) -> c_int {
        match self {
            Parent::Endpoints(ep) => error::answer(ep, NAME, Err(class)),
            Parent::Conventional(comm) => {
                let mut handler = ERRORS_ARE_FATAL;
                // SAFETY: the program's communicator; its own handler is called by the library.
                unsafe {
                    if pmpi::MPI_Comm_get_errhandler(*comm, &raw mut handler) != SUCCESS {
                        return class;
                    }
                    match handler {
                        ERRORS_ARE_FATAL | ERRORS_ABORT => error::raise(handler, *comm, NAME, class),
                        ERRORS_RETURN => class,
                        _ => {
                            pmpi::MPI_Comm_call_errhandler(*comm, class);
                            pmpi::MPI_Errhandler_free(&raw mut handler);
                            class
                        }
                    }
                }
            }
        }
    }
}

fn create(
    client: &'static Client,
    parent: &Parent,
    count: c_int,
    info: Info,
    out: *mut Comm,
) -> Result<(), c_int> {
    let number = client.creations.fetch_add(1, Ordering::Relaxed) as c_int;
    let mine = EndpointRequest { count, process: client.rank as c_int, number };
    let (asked, rank) = parent.gather(mine)?;
    let deal = deal(&asked, rank, &client.job.proxies)?;
    if count == 0 {
        return Ok(());
    }
    // Creations that run at once on the same proxies have different tags: the first rank of each parent gives a number.
    let processes = client.job.clients.len() as i64;
    let tag = i64::from(asked[0].number) * processes + i64::from(asked[0].process);
    let words = Words::new(&deal.members)?;
    let hints = Words::of_hints(info)?;
    let errhandler = parent.errhandler();
    let mine = &client.proxies[deal.first..deal.first + count as usize];
    let mut issued = Vec::new();
    for proxy in mine {
        let index = proxy.take()?;
        let record = client.record(proxy.number, index);
        // SAFETY: the record is this thread's.
        unsafe {
            blank(&mut *record, op::ENDPOINTS);
            (*record).lists = words.address();
            (*record).hints = hints.as_ref().map_or(0, Words::address);
            (*record).args[0] = deal.members.len() as i64;
            (*record).args[1] = tag;
            (*record).tag = (tag % (client.tag_limit + 1)) as c_int;
            proxy.issue(record, index);
        }
        issued.push((proxy, index, record));
    }
    let mut result = Ok(());
    for (i, (proxy, index, record)) in issued.into_iter().enumerate() {
        // SAFETY: the record was issued, and is this thread's again when it is done.
        let handle = unsafe {
            proxy.wait(client, record);
            match (*record).error {
                SUCCESS => from_facts(client, proxy, &*record, errhandler),
                class => Err(class),
            }
        };
        proxy.give_back(index);
        match handle {
            // SAFETY: the program's array has as many places as it asked for.
            Ok(handle) => unsafe { *out.add(i) = handle },
            Err(class) => result = Err(class),
        }
    }
    result
}

/// Makes a communicator in which the caller has `count` ranks, one for each handle of `handles`, in order of the parent's ranks.
/// Collective over the parent. MPIX_ERR_ENDPOINTS: a process asked for more endpoints than it has proxies; MPI_ERR_ARG: a
/// count is negative. Every rank of the parent gets the same answer.
///
/// # Safety
/// `handles` has `count` places.
// SAFETY: the name is this library's.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn MPIX_Comm_create_endpoints(
    parent: Comm,
    count: c_int,
    info: Info,
    handles: *mut Comm,
) -> c_int {
    let Some(client) = client() else {
        report!("{NAME} before MPI_Init");
        return ERR_OTHER;
    };
    let parent = Parent::of(parent);
    match create(client, &parent, count, info, handles) {
        Ok(()) => SUCCESS,
        Err(class) => parent.raise(class),
    }
}

/// The profiling name of MPIX_Comm_create_endpoints.
///
/// # Safety
/// As above.
// SAFETY: as above.
#[cfg_attr(not(test), unsafe(no_mangle))]
pub unsafe extern "C" fn PMPIX_Comm_create_endpoints(
    parent: Comm,
    count: c_int,
    info: Info,
    handles: *mut Comm,
) -> c_int {
    // SAFETY: the caller's arguments.
    unsafe { MPIX_Comm_create_endpoints(parent, count, info, handles) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(list: &[(c_int, c_int)]) -> Vec<EndpointRequest> {
        list.iter()
            .map(|(count, process)| EndpointRequest { count: *count, process: *process, number: 0 })
            .collect()
    }

    #[test]
    fn ranks_follow_the_parent_and_proxies_are_used_once() {
        let proxies = [vec![2, 4], vec![3, 5]];
        // Two ranks of the parent are in process 0.
        let list = asked(&[(1, 0), (2, 1), (1, 0)]);
        assert_eq!(deal(&list, 2, &proxies), Ok(Deal { members: vec![2, 3, 5, 4], first: 1 }));
        assert_eq!(deal(&asked(&[(0, 1), (2, 0)]), 0, &proxies).unwrap().members, [2, 4]);
    }

    #[test]
    fn everybody_finds_out_alike() {
        let proxies = [vec![2], vec![3]];
        for rank in 0..2 {
            assert_eq!(deal(&asked(&[(1, 0), (2, 1)]), rank, &proxies), Err(ERR_ENDPOINTS));
            assert_eq!(deal(&asked(&[(1, 0), (-1, 1)]), rank, &proxies), Err(ERR_ARG));
        }
    }
}
