//! First exchange on the world of the job: which ranks are clients, which are proxies, and which proxies serve whom.
//!
//! Every rank contributes one `Hello`; all get all of them and compute the same assignment: on each node the proxies are dealt
//! to the node's clients in order of rank, each client getting an equal share and the first ones one more.
#![allow(dead_code, reason = "each side uses its part")]

use crate::abi::*;
use crate::pmpi;
use crate::protocol::segment::{HEAP, Header, MAGIC, PROXIES, Segment, VERSION};
use crate::protocol::sys;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;

pub const CLIENT: u32 = 1;
pub const PROXY: u32 = 2;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct Hello {
    pub magic: u64,
    pub version: u32,
    pub role: u32,
    pub pid: i32,
    /// The segment's descriptor in a client.
    pub fd: i32,
    /// Rank of the first process of the node.
    pub node: i32,
    /// A proxy polls without being asked.
    pub asynchronous: i32,
    pub cookie: u64,
    pub size: u64,
}

impl Hello {
    pub fn new(role: u32) -> Hello {
        let pid = std::process::id().cast_signed();
        Hello { magic: MAGIC, version: VERSION, role, pid, fd: -1, ..Hello::default() }
    }
}

impl Hello {
    /// Opens and maps the memory of the client that said this, where the client has it if that place is free here.
    pub fn open(&self) -> Result<(File, Segment), String> {
        let path = format!("/proc/{}/fd/{}", self.pid, self.fd);
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&path);
        let file = file.map_err(|e| format!("cannot open the client's memory, {path}: {e}"))?;
        let size = self.size as usize;
        let mut bytes = [0u8; size_of::<Header>()];
        let there = file.read_exact_at(&mut bytes, 0).is_ok();
        // SAFETY: integers, which any bytes are.
        let header: Header = unsafe { core::ptr::read_unaligned(bytes.as_ptr().cast()) };
        if !there || file.metadata().map_or(0, |m| m.len()) < self.size || size < HEAP {
            return Err(format!("{path} is not the memory of a client"));
        }
        if header.magic != MAGIC || header.version != VERSION || header.cookie != self.cookie {
            return Err(format!("{path} is not the memory of the client that said hello"));
        }
        let base = sys::map_at(header.base as *mut u8, size, file.as_raw_fd(), 0)
            .or_else(|_| sys::map(file.as_raw_fd(), size));
        let base = base.map_err(|e| format!("cannot map {size} bytes of {path}: {e}"))?;
        Ok((file, Segment { base, size }))
    }
}

/// Everything a process knows of the job.
#[derive(Debug)]
pub struct Job {
    /// This process's rank in the world of the job.
    pub rank: usize,
    pub hellos: Vec<Hello>,
    /// World ranks of the clients, which is their order in the application's world.
    pub clients: Vec<usize>,
    /// World ranks of each client's proxies.
    pub proxies: Vec<Vec<usize>>,
}

/// Collective over the world of the job.
pub fn exchange(mut mine: Hello) -> Result<Job, String> {
    let (mut rank, mut size, mut node) = (0, 0, COMM_NULL);
    let bytes = size_of::<Hello>() as c_int;
    // SAFETY: every pointer is to a local; the lists have an entry for each rank.
    let hellos = unsafe {
        pmpi::MPI_Comm_rank(COMM_WORLD, &raw mut rank);
        pmpi::MPI_Comm_size(COMM_WORLD, &raw mut size);
        mine.node = rank;
        pmpi::MPI_Comm_split_type(COMM_WORLD, COMM_TYPE_SHARED, rank, INFO_NULL, &raw mut node);
        pmpi::MPI_Bcast((&raw mut mine.node).cast(), 1, INT, 0, node);
        pmpi::MPI_Comm_free(&raw mut node);
        let mut hellos = vec![Hello::default(); size as usize];
        let (from, to) = ((&raw const mine).cast(), hellos.as_mut_ptr().cast());
        pmpi::MPI_Allgather(from, bytes, BYTE, to, bytes, BYTE, COMM_WORLD);
        hellos
    };
    for (rank, hello) in hellos.iter().enumerate() {
        if hello.magic != MAGIC || hello.version != VERSION {
            return Err(format!(
                "rank {rank} has version {} of this library, and this process has {VERSION}",
                hello.version
            ));
        }
    }
    let (clients, proxies) = assign(&hellos)?;
    Ok(Job { rank: rank as usize, hellos, clients, proxies })
}

type Assignment = (Vec<usize>, Vec<Vec<usize>>);

fn assign(hellos: &[Hello]) -> Result<Assignment, String> {
    let of = |role: u32, node: Option<i32>| -> Vec<usize> {
        let fits = |h: &Hello| h.role == role && node.is_none_or(|n| h.node == n);
        (0..hellos.len()).filter(|r| fits(&hellos[*r])).collect()
    };
    let clients = of(CLIENT, None);
    let mut proxies = vec![Vec::new(); clients.len()];
    let mut nodes: Vec<i32> = hellos.iter().map(|h| h.node).collect();
    nodes.sort_unstable();
    nodes.dedup();
    for node in nodes {
        let (here, servers) = (of(CLIENT, Some(node)), of(PROXY, Some(node)));
        if here.is_empty() && !servers.is_empty() {
            return Err(format!(
                "the proxies on the node of rank {} have no process of the application there; start as many \
                 proxies for each process on every node",
                servers[0]
            ));
        }
        let mut servers = servers.into_iter();
        let (share, more) =
            if here.is_empty() { (0, 0) } else { (servers.len() / here.len(), servers.len() % here.len()) };
        for (at, client) in here.iter().enumerate() {
            let index = clients.iter().position(|c| c == client).expect("it is a client");
            proxies[index].extend(servers.by_ref().take(share + usize::from(at < more)));
            if proxies[index].len() > PROXIES {
                return Err(format!(
                    "rank {client} would have {} proxies, and the most is {PROXIES}",
                    proxies[index].len()
                ));
            }
        }
    }
    Ok((clients, proxies))
}

impl Job {
    /// Which client a proxy serves, and its number there.
    pub fn served(&self, proxy: usize) -> Option<(usize, usize)> {
        let of = |list: &Vec<usize>| list.iter().position(|p| *p == proxy);
        self.proxies.iter().enumerate().find_map(|(client, list)| Some((client, of(list)?)))
    }

    /// Processes of this process's node.
    pub fn neighbors(&self) -> usize {
        self.hellos.iter().filter(|h| h.node == self.hellos[self.rank].node).count()
    }
}

/// The greatest tag of a message.
pub fn tag_limit() -> i64 {
    let (mut value, mut flag) = (core::ptr::null_mut::<c_int>(), 0);
    // SAFETY: the attribute is a pointer to an int, by the standard.
    unsafe {
        pmpi::MPI_Comm_get_attr(COMM_WORLD, TAG_UB, (&raw mut value).cast(), &raw mut flag);
        if flag != 0 && !value.is_null() { (*value).into() } else { 32767 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_are_dealt_to_clients_of_their_node() {
        let hello = |role, node| Hello { node, ..Hello::new(role) };
        let list = [(CLIENT, 0), (CLIENT, 1), (CLIENT, 0), (PROXY, 0), (PROXY, 1), (PROXY, 0), (PROXY, 0)];
        let hellos: Vec<Hello> = list.iter().map(|(role, node)| hello(*role, *node)).collect();
        let (clients, proxies) = assign(&hellos).unwrap();
        assert_eq!(clients, [0, 1, 2]);
        assert_eq!(proxies, [vec![3, 5], vec![4], vec![6]]);
        let alone = [hello(CLIENT, 0), hello(PROXY, 1)];
        assert!(assign(&alone).unwrap_err().contains("rank 1"));
        assert_eq!(assign(&[hello(CLIENT, 0)]).unwrap().1, [Vec::<usize>::new()]);
    }
}
