//! The module: one rank's shared-memory device, and the verbs by name.
//!
//! Everything this component knows about an instance lies in [`Shm`]; several may live in one process,
//! each with its own view of the segment. Contexts have nothing in common but read-only facts, so verbs
//! of different contexts run concurrently; verbs of one context are serialised by the caller, which is
//! what lanes and receivers rely on. `add_proc` touches neither.

use crate::copy::Limits;
use crate::doorbell::Barriers;
use crate::endpoint::{Endpoint, LaneCell};
use crate::params::Settings;
use crate::progress::Receiver;
use crate::segment::Segment;
use crate::service::{Server, link};
use crate::sys::{self, Direction};
use crate::xpmem::Device;
use oxmpi_btl::{
    Btl, BtlAttrs, BtlFlush, BtlGet, BtlGetVector, BtlHold, BtlPut, BtlSleep, FlushDesc, Message, ProcInfo,
    RmaDesc, RmaVectorDesc, WaitSet,
};
use oxmpi_mca::sync::unmodelled::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use oxmpi_mca::{Host, Status};
use rustix::io::Errno;

/// Facts that opening found out.
pub struct Facts {
    pub segment: Segment,
    pub settings: Settings,
    pub barriers: Barriers,
    pub contexts: u32,
    pub pid: u32,
    pub pid_namespace: u64,
    pub xpmem: Option<Box<dyn Device>>,
}

pub struct Shm {
    host: Host,
    max_send_size: u64,
    local_rank: u32,
    barriers: Barriers,
    receivers: Box<[Receiver]>,
    /// By peer, then context.
    lanes: Box<[LaneCell]>,
    settings: Settings,
    /// Of the first context and of the others.
    ring_log2: [u32; 2],
    pid: u32,
    pid_namespace: u64,
    /// From this size on a read is done together with its source; `u64::MAX`: never.
    assist_min: AtomicU64,
    server: Server,
    /// Contexts that are armed: they share a bell.
    armed: AtomicI32,
    xpmem: Option<Box<dyn Device>>,
    /// It has refused something.
    no_xpmem: AtomicBool,
    /// A shortage has been reported; the next ones only count as statuses.
    short_reported: AtomicBool,
    // Last: lanes and receivers point into it.
    segment: Segment,
}

impl Shm {
    pub fn new(host: Host, facts: Facts) -> Shm {
        let Facts { segment, settings, barriers, contexts, pid, pid_namespace, xpmem } = facts;
        let job = host.job();
        let (me, ranks) = (job.local_rank, job.local_size);
        let places = settings.watched(job.oversubscribed != 0);
        let pause = settings.answer_pause(job.oversubscribed != 0);
        let receivers = (0..contexts)
            .map(|ctx| Receiver::new(ctx, ranks, segment.inbox(me, ctx), places, pause))
            .collect();
        let lanes = (0..ranks)
            .flat_map(|peer| (0..contexts).map(move |ctx| (peer, ctx)))
            .map(|(peer, ctx)| LaneCell::new(peer, segment.inbox(peer, ctx)))
            .collect();
        Shm {
            host,
            server: Server::new(segment.service_inbox(me)),
            max_send_size: settings.max_send_size(ranks),
            local_rank: me,
            barriers,
            receivers,
            lanes,
            assist_min: AtomicU64::new(settings.assist_min(job.oversubscribed != 0)),
            settings,
            ring_log2: [settings.ring_log2(ranks), settings.further_ring_log2(ranks)],
            pid,
            pid_namespace,
            armed: AtomicI32::new(0),
            xpmem,
            no_xpmem: AtomicBool::new(false),
            short_reported: AtomicBool::new(false),
            segment,
        }
    }

    #[inline(always)]
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }
    #[inline(always)]
    pub(crate) fn contexts(&self) -> u32 {
        self.receivers.len() as u32
    }
    #[inline(always)]
    pub(crate) fn limits(&self) -> Limits {
        self.settings.limits
    }

    pub(crate) fn max_send_size(&self) -> u64 {
        self.max_send_size
    }
    #[inline(always)]
    pub(crate) fn receiver(&self, ctx: u32) -> Option<&Receiver> {
        self.receivers.get(ctx as usize)
    }
    #[inline(always)]
    pub(crate) fn lane(&self, peer: u32, ctx: u32) -> Option<&LaneCell> {
        self.lanes.get((peer * self.contexts() + ctx) as usize)
    }
    pub(crate) fn receivers(&self) -> &[Receiver] {
        &self.receivers
    }
    pub(crate) fn local_rank(&self) -> u32 {
        self.local_rank
    }
    pub(crate) fn barriers(&self) -> Barriers {
        self.barriers
    }
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }
    pub(crate) fn segment(&self) -> &Segment {
        &self.segment
    }
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }
    pub(crate) fn pid_namespace(&self) -> u64 {
        self.pid_namespace
    }
    /// How large a ring of a context is, and how large at least.
    pub(crate) fn ring_log2(&self, ctx: u32) -> [u32; 2] {
        let usual = self.ring_log2[usize::from(ctx > 0)];
        [usual, self.settings.min_ring_log2(self.host.job().local_size).min(usual)]
    }

    pub(crate) fn assist_min(&self) -> u64 {
        self.assist_min.load(Ordering::Relaxed)
    }
    /// A helper could not write to us: we read alone from now on.
    #[cold]
    pub(crate) fn stop_helping(&self) {
        self.assist_min.store(u64::MAX, Ordering::Relaxed);
    }

    /// The device by which peers' memory is mapped, while it does what it is asked for.
    pub(crate) fn xpmem(&self) -> Option<&dyn Device> {
        self.xpmem.as_deref().filter(|_| !self.no_xpmem.load(Ordering::Relaxed))
    }
    /// It does not: copies go on without it.
    #[cold]
    pub(crate) fn xpmem_refused(&self, errno: Errno) {
        if !self.no_xpmem.swap(true, Ordering::Relaxed) {
            self.host.help("xpmem", &[&errno.to_string()]);
        }
    }

    /// Counts an armed context; true: it was the first. The caller of `arm` serialises all contexts.
    pub(crate) fn count_armed(&self, change: i32) -> bool {
        let before = self.armed.load(Ordering::Relaxed);
        self.armed.store(before + change, Ordering::Relaxed);
        before == 0
    }

    /// A peer broke the protocol: the job cannot go on without it.
    #[cold]
    pub(crate) fn peer_broke(&self, peer: u32, what: &str) {
        let proc = self.segment.identity(peer).map_or(u32::MAX, |who| who.proc);
        self.host.help("garbage", &[&proc.to_string(), what]);
        self.host.peer_error(proc, true, &format!("process {proc} (local rank {peer}) {what}"));
    }

    /// Memory is short; said once.
    #[cold]
    pub(crate) fn report_shortage(&self, topic: &str, bytes: u64, why: &str) {
        if !self.short_reported.swap(true, Ordering::Relaxed) {
            self.host.help(topic, &[&bytes.to_string(), why]);
        }
    }
}

impl Btl for Shm {
    type Endpoint = Endpoint;

    fn attrs(&self) -> BtlAttrs {
        let s = &self.settings;
        let shared = self.host.job().oversubscribed != 0;
        let min_get_size = s.min_get(shared, self.xpmem.is_some());
        // Where ranks share cores, who asks to be read waits until the reader has a core.
        let reads = if min_get_size < u64::MAX && !shared { BtlAttrs::GET_COST_VARIES } else { 0 };
        let mut attrs = BtlAttrs {
            contexts: self.contexts(),
            eager_limit: s.eager_limit(self.host.job().local_size),
            rndv_eager_limit: s.rndv_eager_limit(self.host.job().local_size),
            max_send_size: self.max_send_size,
            min_get_size,
            latency: s.latency,
            bandwidth: s.bandwidth,
            exclusivity: s.exclusivity,
            service_limit: link::MOST as u32,
            flags: BtlAttrs::VISIBLE_AT_ONCE | reads,
            ..BtlAttrs::new()
        };
        attrs.device[..3].copy_from_slice(b"shm");
        attrs
    }

    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<Box<Endpoint>>, Status> {
        let job = self.host.job();
        if proc.local == 0 || proc.node != job.node || proc.local_rank == self.local_rank {
            return Ok(None);
        }
        if proc.local_rank >= job.local_size {
            return Err(Status::BAD_PARAM);
        }
        let first = (proc.local_rank * self.contexts()) as usize;
        Ok(Some(Box::new(Endpoint { peer: proc.local_rank, lanes: &self.lanes[first] })))
    }

    #[inline(always)]
    fn send(&self, endpoint: &Endpoint, ctx: u32, msg: &Message<'_>) -> Status {
        self.send_on(endpoint, ctx, msg)
    }

    #[inline(always)]
    fn progress(&self, ctx: u32) -> i32 {
        self.turn(ctx)
    }

    /// Messages that peers have not read yet stay in the segment for them. In a child after `fork` this
    /// unmaps the child's copy and says nothing to anyone.
    fn finalize(&self) {
        if sys::pid() == self.pid {
            for receiver in &self.receivers {
                receiver.close();
                if let Some(device) = &self.xpmem {
                    receiver.attached.borrow_mut().clear(device.as_ref());
                }
            }
            self.segment.leave(self.local_rank);
        }
    }
}

impl BtlGet for Shm {
    fn get(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.copy_memory(Direction::Read, endpoint, ctx, rma)
    }
}

impl BtlGetVector for Shm {
    fn get_vector(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaVectorDesc) -> Status {
        self.read_pieces(endpoint, ctx, rma)
    }
}

impl BtlPut for Shm {
    fn put(&self, endpoint: &Endpoint, ctx: u32, rma: &RmaDesc) -> Status {
        self.copy_memory(Direction::Write, endpoint, ctx, rma)
    }
}

impl BtlFlush for Shm {
    fn flush(&self, _endpoint: Option<&Endpoint>, _ctx: u32, _flush: &FlushDesc) -> Status {
        self.flush_puts()
    }
}

impl BtlHold for Shm {
    fn hold(&self, endpoint: &Endpoint, oldest: u64) {
        // SYNC POINT with `held`: what waited before was sent before.
        self.segment.oldest_pending(endpoint.peer, self.local_rank).store(oldest, Ordering::Release);
    }
    fn held(&self, endpoint: &Endpoint) -> u64 {
        // SYNC POINT with `hold`: who sees a later word sees what was sent before it.
        self.segment.oldest_pending(self.local_rank, endpoint.peer).load(Ordering::Acquire)
    }
}

impl BtlSleep for Shm {
    fn arm(&self, ctx: u32, set: &mut WaitSet) -> Status {
        self.arm_ctx(ctx).map_or(Status::PENDING, |word| set.add_word(word))
    }
    fn disarm(&self, ctx: u32) {
        self.disarm_ctx(ctx)
    }
}
