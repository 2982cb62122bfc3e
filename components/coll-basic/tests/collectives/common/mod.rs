//! Ranks as threads, joined by point-to-point that checks more than a network would: a message must
//! have exactly the size of its receive, and nothing may be left over.

pub mod data;
pub mod net;
mod plan;

use core::ffi::c_void;
use core::ptr::{null, null_mut};
use net::{Net, SERVICES, View};
use oxmpi_coll::{CollArgs, CollComm, CollFn, CollModule, CollOffer, CollTable, Neighbors};
use oxmpi_datatype::{TypeDesc, kernel::OpDesc};
use oxmpi_mca::abi::Opened;
use oxmpi_mca::host::{AmEntry, AmParts, HostTable, ProgressFn};
use oxmpi_mca::{
    LockServices, LockTable, OpenArgs, ParamKind, ParamValue, RequestHeader, SliceRef, Status, StrRef,
    ThreadCtx,
};
use std::sync::atomic::AtomicU32;

/// Parameter values that differ from the defaults.
pub type Params = &'static [(&'static str, &'static str)];

/// Runs `rank_main` as ranks 0..n of one communicator. `synchronous`: no send completes before its
/// receive is there. Twice: with blocking collectives, and with plans that are made and then done.
pub fn job(n: u32, synchronous: bool, params: Params, rank_main: impl Fn(&Rank) + Sync) {
    for planned in [false, true] {
        group(n, synchronous, (params, planned), usize::MAX, &rank_main);
    }
}

/// As [`job`], blocking only; after so many operations the net is dead.
pub fn dying_job(
    n: u32,
    synchronous: bool,
    params: Params,
    dies_after: usize,
    rank_main: impl Fn(&Rank) + Sync,
) {
    group(n, synchronous, (params, false), dies_after, &rank_main);
}

/// Parameters, and whether calls are planned.
type How = (Params, bool);

fn group(n: u32, synchronous: bool, params: How, dies_after: usize, rank_main: &(impl Fn(&Rank) + Sync)) {
    let net = Net::new(n, synchronous, dies_after);
    std::thread::scope(|scope| {
        for rank in 0..n {
            let net = &net;
            let body = move || Rank::with(net, rank, n, params, rank_main);
            std::thread::Builder::new().name(format!("rank {rank}")).spawn_scoped(scope, body).unwrap();
        }
    });
    net.assert_empty();
}

/// Runs `rank_main` as the ranks of two groups that an inter-communicator joins; twice as [`job`].
pub fn two_groups(sizes: [u32; 2], synchronous: bool, params: Params, rank_main: impl Fn(&Rank) + Sync) {
    for planned in [false, true] {
        sides(sizes, synchronous, (params, planned), &rank_main);
    }
}

fn sides(sizes: [u32; 2], synchronous: bool, params: How, rank_main: &(impl Fn(&Rank) + Sync)) {
    let net = Net::new(sizes[0] + sizes[1], synchronous, usize::MAX);
    std::thread::scope(|scope| {
        for side in 0..2 {
            for rank in 0..sizes[side] {
                let net = &net;
                let body = move || Rank::of_side(net, side, rank, sizes, params, rank_main);
                let name = format!("rank {rank} of group {side}");
                std::thread::Builder::new().name(name).spawn_scoped(scope, body).unwrap();
            }
        }
    });
    net.assert_empty();
}

/// One rank and the component's module for its communicator.
pub struct Rank<'a> {
    pub rank: u32,
    pub n: u32,
    /// Ranks of the other group; 0: there is none.
    pub remote: u32,
    /// Which of two groups.
    pub side: usize,
    comm: CollComm,
    offer: CollOffer,
    net: &'a Net,
    /// Calls make plans, which are then done.
    pub planned: bool,
}

/// What a collective is called with; the buffers of a call that does not use them are null.
pub struct Args<'a> {
    pub send: (*const u8, u64, Option<&'a TypeDesc>),
    pub recv: (*mut u8, u64, Option<&'a TypeDesc>),
    pub op: Option<&'a OpDesc>,
    pub root: u32,
    /// Counts and displacements per rank; types where they differ.
    pub send_blocks: Blocks<'a>,
    pub recv_blocks: Blocks<'a>,
    pub neighbors: Option<&'a Neighbors>,
}

/// One entry per rank, or none at all.
#[derive(Clone, Copy, Default)]
pub struct Blocks<'a> {
    pub counts: &'a [u64],
    pub displs: &'a [i64],
    pub types: &'a [*const TypeDesc],
}

impl Default for Args<'_> {
    fn default() -> Self {
        Args {
            send: (null(), 0, None),
            recv: (null_mut(), 0, None),
            op: None,
            root: 0,
            send_blocks: Blocks::default(),
            recv_blocks: Blocks::default(),
            neighbors: None,
        }
    }
}

impl Rank<'_> {
    fn with(net: &Net, rank: u32, n: u32, params: How, main: impl Fn(&Rank)) {
        let view = View { net, context: 0, mine: 0, theirs: 0 };
        Rank::run(&view, None, (0, rank, n, 0), params, main);
    }

    fn of_side(net: &Net, side: usize, rank: u32, sizes: [u32; 2], params: How, main: impl Fn(&Rank)) {
        let first = [0, sizes[0]];
        let (mine, theirs) = (first[side], first[1 - side]);
        let between = View { net, context: 0, mine, theirs };
        let inside = View { net, context: 1, mine, theirs: mine };
        Rank::run(&between, Some(&inside), (side, rank, sizes[side], sizes[1 - side]), params, main);
    }

    fn run(
        view: &View,
        inside: Option<&View>,
        (side, rank, n, remote): (usize, u32, u32, u32),
        (params, planned): How,
        main: impl Fn(&Rank),
    ) {
        let threaded = AtomicU32::new(rank % 2);
        let host = host_table(&threaded);
        let module = open(&host, params);
        assert_eq!(module.flags, oxmpi_coll::flag::INTER);
        let mut thread = ThreadCtx::new(0, 0);
        let seen = |view: *const View, thread: *mut ThreadCtx, remote, local| CollComm {
            size: size_of::<CollComm>() as u32,
            num_ranks: n,
            rank,
            oversubscribed: 1,
            comm: view.cast_mut().cast(),
            thread,
            services: &SERVICES,
            num_remote: remote,
            planning: 0,
            local,
        };
        let local = inside.map(|inside| seen(inside, &mut thread, 0, null()));
        let comm = seen(view, &mut thread, remote, local.as_ref().map_or(null(), |l| &raw const *l));
        let mut offer = CollOffer::NONE;
        assert_eq!((module.comm_query)(module.state, &comm, &mut offer), Status::OK);
        assert_eq!(offer.priority, 10);
        let rank = Rank { rank, n, remote, side, comm, offer, net: view.net, planned };
        main(&rank);
        (module.comm_free)(module.state, rank.offer.module);
        (module.finalize)(module.state);
    }

    /// Whether an operation of this rank failed.
    pub fn was_told(&self) -> bool {
        self.net.told(self.rank)
    }

    pub fn call(&self, which: impl Fn(&CollTable) -> Option<CollFn>, args: Args<'_>) -> Status {
        let dtype = |d: Option<&TypeDesc>| d.map_or(null(), |d| &raw const *d);
        let args = CollArgs {
            sendbuf: args.send.0,
            sendcount: args.send.1,
            sendtype: dtype(args.send.2),
            recvbuf: args.recv.0,
            recvcount: args.recv.1,
            recvtype: dtype(args.recv.2),
            op: args.op.map_or(null(), |o| &raw const *o),
            root: args.root as i32,
            reserved: 0,
            sendcounts: args.send_blocks.counts.as_ptr(),
            sdispls: args.send_blocks.displs.as_ptr(),
            sendtypes: args.send_blocks.types.as_ptr(),
            recvcounts: args.recv_blocks.counts.as_ptr(),
            rdispls: args.recv_blocks.displs.as_ptr(),
            recvtypes: args.recv_blocks.types.as_ptr(),
            neighbors: args.neighbors.map_or(null(), |n| &raw const *n),
        };
        // SAFETY: the component's tables live as long as the component.
        let table = unsafe { &*if self.planned { self.offer.plans } else { self.offer.table } };
        let function = which(table).expect("the component has it");
        if self.planned {
            return plan::call(function, self.offer.module, &self.comm, &args);
        }
        function(self.offer.module, &self.comm, &args)
    }
}

/// Opens the component as a host does.
fn open(host: &HostTable, params: Params) -> CollModule {
    // SAFETY: the component's descriptor is a static of it.
    let descriptor = unsafe { &*coll_basic::descriptor() };
    // SAFETY: as above.
    let declared = unsafe { descriptor.params.get() };
    let values: Vec<ParamValue> = declared
        .iter()
        .map(|p| {
            // SAFETY: texts of the descriptor.
            let (name, default) = unsafe { (p.name.get().unwrap(), p.default.get().unwrap()) };
            let text = params.iter().find(|(k, _)| *k == name).map_or(default, |(_, v)| *v);
            // SAFETY: as above.
            let names = unsafe { p.enumerators.get() };
            // SAFETY: as above.
            let named = names.iter().position(|e| unsafe { e.get() } == Some(text));
            let int = match p.kind {
                ParamKind::ENUM => named.expect("a known name") as i64,
                _ => number(text),
            };
            ParamValue { kind: p.kind, reserved: 0, int, double: 0.0, text: StrRef::EMPTY }
        })
        .collect();
    for (name, _) in params {
        // SAFETY: as above.
        assert!(declared.iter().any(|p| unsafe { p.name.get() } == Some(*name)), "no parameter {name}");
    }
    let args = OpenArgs {
        size: size_of::<OpenArgs>() as u32,
        reserved: 0,
        host,
        values: SliceRef { ptr: values.as_ptr(), len: values.len() },
    };
    let mut opened = Opened { size: 0, priority: 0, modules: null(), count: 0, stride: 0 };
    assert_eq!((descriptor.open)(&args, &mut opened), Status::OK);
    assert_eq!((opened.count, opened.stride), (1, size_of::<CollModule>()));
    // SAFETY: one module, which the component never frees.
    unsafe { *opened.modules.cast::<CollModule>() }
}

fn number(text: &str) -> i64 {
    let (digits, unit) = match text.strip_suffix(['k', 'm']) {
        Some(digits) if text.ends_with('k') => (digits, 1 << 10),
        Some(digits) => (digits, 1 << 20),
        None => (text, 1),
    };
    digits.parse::<i64>().expect("a number") * unit
}

fn host_table(threaded: &AtomicU32) -> HostTable {
    extern "C" fn log(_: *mut c_void, _: i32, _: StrRef, _: StrRef) {}
    extern "C" fn help(_: *mut c_void, _: StrRef, _: StrRef, _: SliceRef<StrRef>) {
        panic!("nothing here needs help");
    }
    extern "C" fn fatal(_: *mut c_void, _: StrRef, _: StrRef) -> ! {
        std::process::abort()
    }
    extern "C" fn am_register(_: *mut c_void, _: u8, _: AmEntry) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn am_register_parts(_: *mut c_void, _: u8, _: AmParts) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn progress_register(_: *mut c_void, _: ProgressFn, _: *mut c_void, _: u32) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn progress_unregister(_: *mut c_void, _: ProgressFn, _: *mut c_void) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn progress(_: *mut c_void, _: *mut ThreadCtx) -> i32 {
        0
    }
    extern "C" fn sync_update(_: *mut c_void, _: usize) {}
    extern "C" fn request_slot(_: *mut c_void, _: *mut RequestHeader) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn wait(_: *mut c_void, _: *mut ThreadCtx, _: *mut RequestHeader) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn exchange_put(_: *mut c_void, _: StrRef, _: SliceRef<u8>) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn exchange_get(_: *mut c_void, _: StrRef, _: u32, _: *mut u8, _: *mut usize) -> Status {
        Status::NOT_SUPPORTED
    }
    extern "C" fn peer_error(_: *mut c_void, _: StrRef, _: u32, _: u32, _: StrRef) {}
    HostTable {
        size: size_of::<HostTable>() as u32,
        abi_minor: 0,
        instance: null_mut(),
        job: null(),
        threaded,
        cris: null(),
        num_cris: 0,
        cri_modes: 0,
        am_table: null(),
        log,
        help,
        fatal,
        am_register,
        progress_register,
        progress_unregister,
        progress,
        sync_update,
        request_slot,
        wait,
        exchange_put,
        exchange_get,
        peer_error,
        am_parts: null(),
        am_register_parts,
        locking: LockTable::without_calls(LockServices::WITHOUT_OWNERS),
    }
}
