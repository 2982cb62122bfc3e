//! Parameters of the component.

use crate::choices::{CATEGORIES, Category, REGISTERS, Registers};
use core::time::Duration;
use oxmpi_mca::{ParamDecl, ParamKind, Params, Scope};

const fn size(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::SIZE, level, default, help)
}
const fn number(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::UNSIGNED, level, default, help)
}

/// The library that is opened unless another is named.
pub const LIBRARY: &str = "libibverbs.so.1";

/// The declarations. Full names are `btl_verbs_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "library",
        ParamKind::STRING,
        6,
        LIBRARY,
        "File of the verbs library, by name or path. Set it where the library has another name, or to run on another implementation",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "if_include",
        ParamKind::LIST,
        1,
        "",
        "Devices to use, each with a port if not all of its ports are meant (mlx5_0,mlx5_1:1); empty: all that btl_verbs_if_exclude leaves. Set it where a node has devices for other purposes",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "if_exclude",
        ParamKind::LIST,
        6,
        "",
        "Devices not to use, written as in btl_verbs_if_include. Set it to keep a device or a port out",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "gid_index",
        ParamKind::INT,
        3,
        "-1",
        "Index of the address (GID) that a port is reached at; -1: the first IPv4 address of RoCE version 2 on Ethernet, 0 on InfiniBand. Set it where a port has several networks",
    )
    .range(-1, 255)
    .scope(Scope::LOCAL),
    number(
        "partition_key",
        6,
        "0",
        "Partition of the fabric, as the number in its key without the bit of full membership; 0: the first that the port has. Set it where jobs are kept apart by partitions",
    )
    .range(0, 0xffff),
    number(
        "mtu",
        7,
        "0",
        "Most bytes of a packet on the wire, 256 to 4096 by powers of two; 0: the setting of the port. Lower it where a path takes less than its ends",
    )
    .range(0, 4096),
    ParamDecl::new(
        "endpoint_category",
        ParamKind::ENUM,
        4,
        "auto",
        "How queue pairs of different threads share doorbell registers, device contexts and each other; auto: dynamic, or static where the library has no thread domains. Set it to trade message rate of several threads for resources of the device",
    )
    .one_of(CATEGORIES),
    number(
        "virtual_device_count",
        6,
        "0",
        "Sets of queue pairs and completion queue that a process makes; 0: one for each of its CRIs. Lower it to save resources of the device, at the cost of a lock around each set",
    )
    .range(0, 1024),
    size(
        "eager_limit",
        6,
        "12k",
        "Largest message, header included, that is sent eagerly. Lower it where many messages wait unreceived",
    )
    .range(256, 1 << 20),
    size(
        "rndv_eager_limit",
        6,
        "12k",
        "Bytes of a longer message, header included, that are sent with its rendezvous request. Lower it where receives are mostly posted late",
    )
    .range(256, 1 << 20),
    size(
        "max_send_size",
        6,
        "16k",
        "Largest piece of a message that is sent at once, and size of a receive buffer. Raise it where long messages go by fragments instead of by get",
    )
    .range(1024, 1 << 20),
    size(
        "min_rma_size",
        6,
        "32k",
        "Smallest payload of which a rendezvous goes by get or put instead of by messages. Lower it where registering memory is fast",
    )
    .range(0, 1 << 40),
    number(
        "credits",
        7,
        "64",
        "Messages that a process may have sent to another on one connection before the receiver has taken them, which is also the number of receive buffers that are kept for them. Raise it for message rate over long distances, lower it where a process talks to thousands",
    )
    .range(4, 4096),
    number(
        "srq_depth",
        7,
        "8192",
        "Most receive buffers of a CRI; further connections share them, and a receiver out of buffers makes senders wait. Lower it to bound memory",
    )
    .range(16, 1 << 20),
    number(
        "send_buffers",
        7,
        "128",
        "Send buffers of a CRI, each as large as btl_verbs_max_send_size. Raise it where many messages are under way at once",
    )
    .range(8, 1 << 16),
    number(
        "queue_depth",
        7,
        "256",
        "Requests that a queue pair takes before they are complete. Raise it with btl_verbs_credits and for many one-sided operations",
    )
    .range(16, 1 << 15),
    number(
        "completion_depth",
        7,
        "16384",
        "Entries of a completion queue, half of them for sends. Raise it where a process talks to thousands at once",
    )
    .range(64, 1 << 22),
    number(
        "max_inline",
        7,
        "128",
        "Largest message, headers included, that is copied into the request to the device; the device may permit less. Set it to 0 to send all from buffers",
    )
    .range(0, 1024),
    number(
        "signal_period",
        9,
        "16",
        "Messages of a connection for which the device reports one completion, at most a quarter of btl_verbs_queue_depth. Lower it where send buffers are scarce",
    )
    .range(1, 1 << 13),
    number(
        "postlist",
        7,
        "1",
        "One-sided operations that are collected and given to the device at once, of which the last reports completion for all. Raise it for the rate of many small ones, at the cost of their latency",
    )
    .range(1, 64),
    number(
        "rd_atomic",
        7,
        "16",
        "Reads and atomics that a queue pair has under way at once; the devices at both ends may permit less. Raise it for reads over long distances",
    )
    .range(1, 128),
    number(
        "timeout",
        7,
        "14",
        "Time without an answer after which a device sends again: 4.096 microseconds times two to the power of this number; 0: never. Raise it on networks with long pauses",
    )
    .range(0, 31),
    number(
        "retry_count",
        7,
        "7",
        "Times that a device sends again before its connection counts as lost. Lower it to learn of lost processes sooner",
    )
    .range(0, 7),
    number(
        "rnr_retry",
        7,
        "7",
        "Times that a device sends again where the receiver has no buffer; 7: without end. Lower it to have that reported as an error",
    )
    .range(0, 7),
    number(
        "rnr_timer",
        7,
        "12",
        "Time that a receiver without a buffer asks its sender to wait, in the encoding of InfiniBand; 12: 0.64 ms. Lower it where that happens often",
    )
    .range(0, 31),
    number(
        "connect_timeout",
        7,
        "120000",
        "Milliseconds for which a process may leave a request for a connection unanswered before it counts as failed. Raise it where processes are stopped for longer",
    )
    .range(1, 1 << 40),
    number(
        "service_level",
        6,
        "0",
        "Service level of all connections. Set it where the fabric has lanes for different traffic",
    )
    .range(0, 15),
    number(
        "traffic_class",
        6,
        "0",
        "Traffic class of all connections on Ethernet. Set it where switches treat classes differently",
    )
    .range(0, 255),
    number(
        "exclusivity",
        8,
        "1024",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Raise it to prefer verbs",
    )
    .range(0, u32::MAX as i64),
    number(
        "latency",
        8,
        "4",
        "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first. Set it where transports are ranked wrongly",
    )
    .range(0, u32::MAX as i64),
    number(
        "bandwidth",
        6,
        "0",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among ports; 0: the rate that the port reports. Set it where the port reports a wrong rate",
    )
    .range(0, u32::MAX as i64),
    number(
        "share_contexts",
        7,
        "0",
        "Sets of queue pairs that share one device context; 0: as btl_verbs_endpoint_category chooses, one in mpi_everywhere and all in the others. Set it to measure sharing of contexts alone",
    )
    .range(0, 1024),
    number(
        "share_domains",
        7,
        "0",
        "Sets of queue pairs that share one protection domain, of those that share a device context; memory is registered once in each domain; 0: all. Lower it to measure sharing of domains and registrations alone",
    )
    .range(0, 1024),
    ParamDecl::new(
        "share_registers",
        ParamKind::ENUM,
        7,
        "auto",
        "Doorbell registers of queue pairs: page (one each, alone on its page), own (one each), library (those that the library gives, with its locks), or auto, as btl_verbs_endpoint_category chooses. Set it to measure sharing of registers alone",
    )
    .one_of(REGISTERS),
    ParamDecl::new(
        "use_eager_rdma",
        ParamKind::BOOL,
        6,
        "false",
        "Eager messages of busy connections are written to memory that the receiver polls; before it sleeps a rank asks its senders to stop. Set it for latency where each rank has cores of its own",
    ),
    number(
        "eager_rdma_threshold",
        9,
        "16",
        "Messages on a connection after which its receiver offers memory for eager messages (btl_verbs_use_eager_rdma). Raise it where few connections are worth the memory",
    )
    .range(1, 1 << 30),
    number(
        "eager_rdma_num",
        7,
        "16",
        "Messages that the memory for eager messages of one connection holds (btl_verbs_use_eager_rdma). Raise it for rates of small messages over long distances",
    )
    .range(2, 4096),
    number(
        "max_eager_rdma",
        7,
        "16",
        "Connections of a CRI that have memory for eager messages (btl_verbs_use_eager_rdma), each btl_verbs_eager_rdma_num times btl_verbs_eager_limit bytes; the others use receive buffers. Raise it where a rank talks to many others all the time",
    )
    .range(1, 1 << 16),
    number(
        "share_queues",
        7,
        "0",
        "Queue pairs of CRIs that report to one completion queue, which then has a lock and btl_verbs_completion_depth entries for all, of those that share a device context; 0: one. Set it to save completion queues, or to measure sharing of them alone",
    )
    .range(0, 1024),
    number(
        "share_buffers",
        7,
        "0",
        "CRIs that take send buffers from one pool of btl_verbs_send_buffers, of those that share a protection domain; half of the pool is kept for single CRIs and the other half has a lock; 0: one. Set it to save memory, or to measure sharing of buffers alone",
    )
    .range(0, 1024),
    number(
        "share_registrations",
        7,
        "0",
        "CRIs whose send buffers are in one registered region, and whose receive buffers are in another, of those that share a protection domain; 0: one, or as many as share send buffers. Set it where a device has few registrations, or to measure sharing of them alone",
    )
    .range(0, 1024),
];

/// Indices of [`PARAMS`].
pub mod index {
    pub const LIBRARY: usize = 0;
    pub const IF_INCLUDE: usize = 1;
    pub const IF_EXCLUDE: usize = 2;
    pub const GID_INDEX: usize = 3;
    pub const PARTITION_KEY: usize = 4;
    pub const MTU: usize = 5;
    pub const CATEGORY: usize = 6;
    pub const VIRTUAL_DEVICES: usize = 7;
    pub const EAGER_LIMIT: usize = 8;
    pub const RNDV_EAGER_LIMIT: usize = 9;
    pub const MAX_SEND_SIZE: usize = 10;
    pub const MIN_RMA_SIZE: usize = 11;
    pub const CREDITS: usize = 12;
    pub const SRQ_DEPTH: usize = 13;
    pub const SEND_BUFFERS: usize = 14;
    pub const QUEUE_DEPTH: usize = 15;
    pub const COMPLETION_DEPTH: usize = 16;
    pub const MAX_INLINE: usize = 17;
    pub const SIGNAL_PERIOD: usize = 18;
    pub const POSTLIST: usize = 19;
    pub const RD_ATOMIC: usize = 20;
    pub const TIMEOUT: usize = 21;
    pub const RETRY_COUNT: usize = 22;
    pub const RNR_RETRY: usize = 23;
    pub const RNR_TIMER: usize = 24;
    pub const CONNECT_TIMEOUT: usize = 25;
    pub const SERVICE_LEVEL: usize = 26;
    pub const TRAFFIC_CLASS: usize = 27;
    pub const EXCLUSIVITY: usize = 28;
    pub const LATENCY: usize = 29;
    pub const BANDWIDTH: usize = 30;
    pub const SHARE_CONTEXTS: usize = 31;
    pub const SHARE_DOMAINS: usize = 32;
    pub const SHARE_REGISTERS: usize = 33;
    pub const USE_EAGER_RDMA: usize = 34;
    pub const EAGER_RDMA_THRESHOLD: usize = 35;
    pub const EAGER_RDMA_NUM: usize = 36;
    pub const MAX_EAGER_RDMA: usize = 37;
    pub const SHARE_QUEUES: usize = 38;
    pub const SHARE_BUFFERS: usize = 39;
    pub const SHARE_REGISTRATIONS: usize = 40;
}

/// The resolved values, in the types the code wants.
#[derive(Clone, Debug)]
pub struct Settings {
    pub library: String,
    pub include: String,
    pub exclude: String,
    pub gid_index: Option<u32>,
    pub partition: u16,
    /// As `enum ibv_mtu`; 0: the port's.
    pub mtu: u32,
    pub category: Category,
    pub virtual_devices: usize,
    pub eager_limit: usize,
    pub rndv_eager_limit: usize,
    pub max_send_size: usize,
    pub min_rma_size: usize,
    pub credits: u32,
    pub srq_depth: u32,
    pub send_buffers: usize,
    pub queue_depth: u32,
    pub completion_depth: u32,
    pub max_inline: u32,
    pub signal_period: u32,
    pub postlist: usize,
    pub rd_atomic: u8,
    pub timeout: u8,
    pub retry_count: u8,
    pub rnr_retry: u8,
    pub rnr_timer: u8,
    pub connect_timeout: Duration,
    pub service_level: u8,
    pub traffic_class: u8,
    pub exclusivity: u32,
    pub latency: u32,
    pub bandwidth: u32,
    /// Lanes of a device context, and of a protection domain; 0: by the category.
    pub share_contexts: u32,
    pub share_domains: u32,
    /// Lanes of a completion queue, of a pool of send buffers, and of a registration; 0: one.
    pub share_queues: u32,
    pub share_buffers: u32,
    pub share_registrations: u32,
    /// `None`: by the category.
    pub registers: Option<Registers>,
    pub use_eager_rdma: bool,
    pub eager_rdma_threshold: u32,
    pub eager_rdma_num: u32,
    pub max_eager_rdma: usize,
}

impl Settings {
    /// Err: what cannot be, in words, with the parameter's name.
    pub fn of(p: Params<'_>) -> Result<Settings, String> {
        let mtu = match p.int(index::MTU) {
            0 => 0,
            n if (256..=4096).contains(&n) && (n as u32).is_power_of_two() => (n as u32).ilog2() - 7,
            n => return Err(format!("btl_verbs_mtu is {n}; it may be 0, 256, 512, 1024, 2048 or 4096")),
        };
        let s = Settings {
            library: p.text(index::LIBRARY).to_owned(),
            include: p.text(index::IF_INCLUDE).to_owned(),
            exclude: p.text(index::IF_EXCLUDE).to_owned(),
            gid_index: u32::try_from(p.int(index::GID_INDEX)).ok(),
            partition: p.int(index::PARTITION_KEY) as u16,
            mtu,
            category: Category::of(p.int(index::CATEGORY)),
            virtual_devices: p.int(index::VIRTUAL_DEVICES) as usize,
            eager_limit: p.size(index::EAGER_LIMIT),
            rndv_eager_limit: p.size(index::RNDV_EAGER_LIMIT),
            max_send_size: p.size(index::MAX_SEND_SIZE),
            min_rma_size: p.size(index::MIN_RMA_SIZE),
            credits: p.int(index::CREDITS) as u32,
            srq_depth: p.int(index::SRQ_DEPTH) as u32,
            send_buffers: p.int(index::SEND_BUFFERS) as usize,
            queue_depth: p.int(index::QUEUE_DEPTH) as u32,
            completion_depth: p.int(index::COMPLETION_DEPTH) as u32,
            max_inline: p.int(index::MAX_INLINE) as u32,
            signal_period: p.int(index::SIGNAL_PERIOD) as u32,
            postlist: p.int(index::POSTLIST) as usize,
            rd_atomic: p.int(index::RD_ATOMIC) as u8,
            timeout: p.int(index::TIMEOUT) as u8,
            retry_count: p.int(index::RETRY_COUNT) as u8,
            rnr_retry: p.int(index::RNR_RETRY) as u8,
            rnr_timer: p.int(index::RNR_TIMER) as u8,
            connect_timeout: Duration::from_millis(p.int(index::CONNECT_TIMEOUT) as u64),
            service_level: p.int(index::SERVICE_LEVEL) as u8,
            traffic_class: p.int(index::TRAFFIC_CLASS) as u8,
            exclusivity: p.int(index::EXCLUSIVITY) as u32,
            latency: p.int(index::LATENCY) as u32,
            bandwidth: p.int(index::BANDWIDTH) as u32,
            share_contexts: p.int(index::SHARE_CONTEXTS) as u32,
            share_domains: p.int(index::SHARE_DOMAINS) as u32,
            share_queues: p.int(index::SHARE_QUEUES) as u32,
            share_buffers: p.int(index::SHARE_BUFFERS) as u32,
            share_registrations: p.int(index::SHARE_REGISTRATIONS) as u32,
            registers: Registers::of(p.int(index::SHARE_REGISTERS)),
            use_eager_rdma: p.flag(index::USE_EAGER_RDMA),
            eager_rdma_threshold: p.int(index::EAGER_RDMA_THRESHOLD) as u32,
            eager_rdma_num: p.int(index::EAGER_RDMA_NUM) as u32,
            max_eager_rdma: p.int(index::MAX_EAGER_RDMA) as usize,
        };
        s.check()
    }

    fn check(mut self) -> Result<Settings, String> {
        let max = self.max_send_size;
        for (name, value) in [("eager_limit", self.eager_limit), ("rndv_eager_limit", self.rndv_eager_limit)]
        {
            if value > max {
                return Err(format!("btl_verbs_{name} is {value}, more than btl_verbs_max_send_size, {max}"));
            }
        }
        if !self.include.trim().is_empty() && !self.exclude.trim().is_empty() {
            return Err(format!(
                "btl_verbs_if_include ({}) and btl_verbs_if_exclude ({}) are both set, and only one of them may be",
                self.include, self.exclude
            ));
        }
        if self.share_contexts != 0 && self.share_domains > self.share_contexts {
            return Err(format!(
                "btl_verbs_share_domains is {}, more than btl_verbs_share_contexts, {}: a protection domain lies in one device context",
                self.share_domains, self.share_contexts
            ));
        }
        // A request that the device never reports would never be complete.
        self.signal_period = self.signal_period.min(self.queue_depth / 4).max(1);
        self.postlist = self.postlist.min(self.queue_depth as usize / 4).max(1);
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_name_their_parameters() {
        let all = [
            (index::LIBRARY, "library"),
            (index::IF_INCLUDE, "if_include"),
            (index::IF_EXCLUDE, "if_exclude"),
            (index::GID_INDEX, "gid_index"),
            (index::PARTITION_KEY, "partition_key"),
            (index::MTU, "mtu"),
            (index::CATEGORY, "endpoint_category"),
            (index::VIRTUAL_DEVICES, "virtual_device_count"),
            (index::EAGER_LIMIT, "eager_limit"),
            (index::RNDV_EAGER_LIMIT, "rndv_eager_limit"),
            (index::MAX_SEND_SIZE, "max_send_size"),
            (index::MIN_RMA_SIZE, "min_rma_size"),
            (index::CREDITS, "credits"),
            (index::SRQ_DEPTH, "srq_depth"),
            (index::SEND_BUFFERS, "send_buffers"),
            (index::QUEUE_DEPTH, "queue_depth"),
            (index::COMPLETION_DEPTH, "completion_depth"),
            (index::MAX_INLINE, "max_inline"),
            (index::SIGNAL_PERIOD, "signal_period"),
            (index::POSTLIST, "postlist"),
            (index::RD_ATOMIC, "rd_atomic"),
            (index::TIMEOUT, "timeout"),
            (index::RETRY_COUNT, "retry_count"),
            (index::RNR_RETRY, "rnr_retry"),
            (index::RNR_TIMER, "rnr_timer"),
            (index::CONNECT_TIMEOUT, "connect_timeout"),
            (index::SERVICE_LEVEL, "service_level"),
            (index::TRAFFIC_CLASS, "traffic_class"),
            (index::EXCLUSIVITY, "exclusivity"),
            (index::LATENCY, "latency"),
            (index::BANDWIDTH, "bandwidth"),
            (index::SHARE_CONTEXTS, "share_contexts"),
            (index::SHARE_DOMAINS, "share_domains"),
            (index::SHARE_REGISTERS, "share_registers"),
            (index::USE_EAGER_RDMA, "use_eager_rdma"),
            (index::EAGER_RDMA_THRESHOLD, "eager_rdma_threshold"),
            (index::EAGER_RDMA_NUM, "eager_rdma_num"),
            (index::MAX_EAGER_RDMA, "max_eager_rdma"),
            (index::SHARE_QUEUES, "share_queues"),
            (index::SHARE_BUFFERS, "share_buffers"),
            (index::SHARE_REGISTRATIONS, "share_registrations"),
        ];
        assert_eq!(all.len(), PARAMS.len());
        for (index, due) in all {
            // SAFETY: static text of this component.
            assert_eq!(unsafe { PARAMS[index].name.get() }, Some(due));
        }
    }
}
