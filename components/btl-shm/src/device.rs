//! The state of one rank's shared-memory device.
//!
//! Everything this component knows about an instance lies in [`Shm`] and its contexts ([`Context`]); several instances may live in one
//! process, each with its own view of its segments. [`Shm`] is what contexts have in common: facts, and a few words that are
//! atomic. So verbs of different contexts run concurrently, and `add_proc` beside them.

use crate::context::Context;
use crate::copy::Limits;
use crate::params::Settings;
use crate::receiver::footholds::{Aside, Footholds};
use crate::receiver::incoming::Receiver;
use crate::segment::doorbell::Barriers;
use crate::segment::joined::{FurtherSegments, Joined};
use crate::segment::map::{Identity, Segment};
use crate::sender::outgoing::Outgoing;
use crate::service::ends::Requests;
use crate::single_copy::mapper::Device;
use crate::single_copy::reads::CooperativeReads;
use crate::single_copy::xpmem::Attachments;
use core::ops::Deref;
use oxmpi_mca::Host;
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicI32};
use oxmpi_mca::sync::{AtomicU64, Ordering};
use rustix::io::Errno;
use std::sync::Arc;

/// Facts about the process and the node that opening the component has found out; [`Shm::new`] takes them over.
pub struct Facts {
    pub segment: Segment,
    pub settings: Settings,
    pub barriers: Barriers,
    pub pid: u32,
    pub pid_namespace: u64,
    pub xpmem: Option<Box<dyn Device>>,
    /// The number under which XPMEM offers this process's memory; 0: nowhere.
    pub offer: i64,
    /// Number of contexts.
    pub contexts: u32,
}

/// A peer's segment: the first one is the module's, a further one may be left meanwhile, and stays mapped as long as this.
pub(crate) enum JoinedRef<'a> {
    First(&'a Joined),
    Further(Arc<Joined>),
}

impl Deref for JoinedRef<'_> {
    type Target = Joined;
    #[inline(always)]
    fn deref(&self) -> &Joined {
        match self {
            JoinedRef::First(joined) => joined,
            JoinedRef::Further(joined) => joined,
        }
    }
}

/// The module of the component: the shared-memory state of one rank that all contexts share.
pub struct Shm {
    pub(crate) host: Host,
    pub(crate) max_send_size: u64,
    pub(crate) local_rank: u32,
    pub(crate) barriers: Barriers,
    pub(crate) settings: Settings,
    /// Ring size as a power of two: of the first context, and of every other one.
    ring_log2: [u32; 2],
    pub(crate) pid: u32,
    pub(crate) pid_namespace: u64,
    /// Bytes from which on a read is shared with its source; `u64::MAX`: never.
    pub(crate) assist_min: AtomicU64,
    /// Number of contexts that are armed: they share a bell.
    pub(crate) armed: AtomicI32,
    pub(crate) xpmem: Option<Box<dyn Device>>,
    /// Whether XPMEM has refused something, so that it is not used any more.
    pub(crate) no_xpmem: AtomicBool,
    /// A shortage has been reported; the next ones only count as statuses.
    pub(crate) short_reported: AtomicBool,
    /// The number under which XPMEM offers this process's memory; 0: nowhere.
    pub(crate) offer: i64,
    pub(crate) contexts: u32,
    pub(crate) first: Joined,
    pub(crate) further: FurtherSegments,
}

impl Shm {
    /// Makes the module.
    pub fn new(host: Host, facts: Facts) -> Shm {
        let Facts { segment, settings, barriers, pid, pid_namespace, xpmem, offer, contexts } = facts;
        let job = host.job();
        let (me, ranks) = (job.local_rank, job.local_size);
        Shm {
            host,
            max_send_size: settings.max_send_size(ranks),
            local_rank: me,
            barriers,
            assist_min: AtomicU64::new(settings.assist_min(job.oversubscribed != 0)),
            settings,
            ring_log2: [settings.ring_log2(ranks), settings.further_ring_log2(ranks)],
            pid,
            pid_namespace,
            armed: AtomicI32::new(0),
            xpmem,
            no_xpmem: AtomicBool::new(false),
            short_reported: AtomicBool::new(false),
            offer,
            contexts,
            further: FurtherSegments::new(segment.layout().ranks),
            first: Joined::first(segment, me),
        }
    }

    /// Makes the contexts, each with an unconnected outgoing end for each peer. No ring is made or mapped yet.
    pub fn contexts(&self) -> Vec<Context> {
        let job = self.host.job();
        let places = self.settings.watched(job.oversubscribed != 0);
        let pause = self.settings.answer_pause(job.oversubscribed != 0);
        let context = |ctx| Context {
            outgoing: (0..job.local_size)
                .map(|peer| Outgoing::new(peer, self.local_rank, self.segment().inbox(peer, ctx)))
                .collect(),
            receiver: Receiver::new(
                job.local_size,
                self.segment().inbox(self.local_rank, ctx),
                places,
                pause,
            ),
            requests: Requests::default(),
            aside: Aside::default(),
            reads: CooperativeReads::new(),
            attached: Attachments::default(),
            further: Footholds::default(),
        };
        (0..self.contexts).map(context).collect()
    }

    /// The host that opened the component: job facts, receive callbacks, messages to the user.
    #[inline(always)]
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }
    /// Payload sizes in bytes from which on copies into a ring go by string or past the cache.
    #[inline(always)]
    pub(crate) fn limits(&self) -> Limits {
        self.settings.limits
    }

    /// Most bytes, header included, of a message that is sent at all.
    pub(crate) fn max_send_size(&self) -> u64 {
        self.max_send_size
    }
    /// This process's rank among those of the node.
    pub(crate) fn local_rank(&self) -> u32 {
        self.local_rank
    }
    /// The barriers that this process uses between a message and a notification word.
    pub(crate) fn barriers(&self) -> Barriers {
        self.barriers
    }
    /// The segment of this process's job on the node.
    #[inline(always)]
    pub(crate) fn segment(&self) -> &Segment {
        &self.first.segment
    }
    /// Number of the processes in it; peers with higher numbers are in further segments.
    #[inline(always)]
    pub(crate) fn ranks(&self) -> u32 {
        self.first.ranks()
    }
    /// The segment in which a peer is. `None`: it was in a further one, which has been left.
    #[inline(always)]
    pub(crate) fn segment_of(&self, peer: u32) -> Option<JoinedRef<'_>> {
        if peer < self.ranks() {
            return Some(JoinedRef::First(&self.first));
        }
        self.further_segment_of(peer)
    }
    /// The same of a peer that is not in the first segment.
    #[cold]
    #[inline(never)]
    fn further_segment_of(&self, peer: u32) -> Option<JoinedRef<'_>> {
        self.further.find(peer).map(JoinedRef::Further)
    }
    /// The process's id at opening; in a child after `fork` it differs from that of the child.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }
    /// Number of the pid namespace in which [`Shm::pid`] counts; 0 if /proc does not say.
    pub(crate) fn pid_namespace(&self) -> u64 {
        self.pid_namespace
    }
    /// Sizes of a ring of a context, as powers of two: the usual one, and the smallest that will do where memory is
    /// short.
    pub(crate) fn ring_log2(&self, ctx: u32) -> [u32; 2] {
        let usual = self.ring_log2[usize::from(ctx > 0)];
        [usual, self.settings.min_ring_log2(self.host.job().local_size).min(usual)]
    }

    /// Bytes from which on a read is shared with the source process; `u64::MAX`: reads are never shared.
    pub(crate) fn assist_min(&self) -> u64 {
        self.assist_min.load(Ordering::Relaxed)
    }
    /// Ends shared reads for this process, because a helper could not write to its memory: it reads alone from now on.
    #[cold]
    pub(crate) fn stop_asking_for_help(&self) {
        self.assist_min.store(u64::MAX, Ordering::Relaxed);
    }

    /// The XPMEM device, by which peers' memory is mapped. `None`: there is none, or it has refused something.
    pub(crate) fn xpmem(&self) -> Option<&dyn Device> {
        self.xpmem.as_deref().filter(|_| !self.no_xpmem.load(Ordering::Relaxed))
    }
    /// Ends the use of XPMEM for this process after a refusal, and tells the user once; copies go on by system calls.
    #[cold]
    pub(crate) fn xpmem_refused(&self, errno: Errno) {
        if !self.no_xpmem.swap(true, Ordering::Relaxed) {
            self.host.help("xpmem", &[&errno.to_string()]);
        }
    }

    /// Adds `change` to the number of armed contexts; true: there was none before. The caller of `arm` serialises all
    /// contexts.
    pub(crate) fn count_armed(&self, change: i32) -> bool {
        let before = self.armed.load(Ordering::Relaxed);
        self.armed.store(before + change, Ordering::Relaxed);
        before == 0
    }

    /// Facts about a peer; `None` before it has come.
    #[inline(always)]
    pub(crate) fn identity(&self, peer: u32) -> Option<Identity> {
        if peer < self.ranks() {
            return self.first.identity(peer);
        }
        self.further_segment_of(peer)?.identity(peer)
    }

    /// Reports that a peer (by its number) has written something against the protocol, to the user and as a fatal
    /// failure of that process to the host. `what` completes the sentence that starts with the process.
    #[cold]
    pub(crate) fn peer_broke(&self, peer: u32, what: &str) {
        let joined = self.segment_of(peer);
        let proc = joined.as_ref().and_then(|joined| joined.proc(peer)).unwrap_or(u32::MAX);
        let place = joined.map_or(peer, |joined| joined.place(peer));
        self.host.help("garbage", &[&proc.to_string(), what]);
        self.host.peer_error(proc, true, &format!("process {proc} (local rank {place}) {what}"));
    }

    /// Tells the user, with help paragraph `topic`, that `bytes` bytes of shared memory could not be had; the first
    /// time only.
    #[cold]
    pub(crate) fn report_shortage(&self, topic: &str, bytes: u64, why: &str) {
        if !self.short_reported.swap(true, Ordering::Relaxed) {
            self.host.help(topic, &[&bytes.to_string(), why]);
        }
    }
}
