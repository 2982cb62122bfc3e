//! Parameters of the component. README.md compares it with Open MPI 4.

use crate::abi::mode;
use crate::wire::{HEAD, MOST_DEVICES};
use oxmpi_mca::{JobInfo, ParamDecl, ParamKind, Params, Refused, Scope, StrRef};

const fn number(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::UNSIGNED, level, default, help)
}
const fn size(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::SIZE, level, default, help)
}

/// The library that is opened unless another is named.
pub const LIBRARY: &str = "libugni.so.0";
/// Most bytes of a message in a mailbox.
const MESSAGE_MOST: usize = 16384;

const ATOMICS: &[StrRef] = &[StrRef::new("host"), StrRef::new("device")];
const SMSG_DEVICES: &[StrRef] = &[StrRef::new("first"), StrRef::new("each")];

/// The declarations. Full names are `btl_ugni_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "library",
        ParamKind::STRING,
        6,
        LIBRARY,
        "File of the library of Gemini and Aries, by name or path. Set it where the library is outside the path of the dynamic linker, or to run on another implementation",
    )
    .scope(Scope::LOCAL),
    number(
        "virtual_device_count",
        3,
        "0",
        "Virtual devices of a process, each a communication domain with a lock and queues of its own, over which puts, gets and atomics are spread; 0: one below MPI_THREAD_MULTIPLE or where a node has no more cores than processes, else cores divided by processes. Raise it where many threads communicate at once",
    )
    .range(0, MOST_DEVICES as i64)
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "smsg_devices",
        ParamKind::ENUM,
        6,
        "first",
        "Devices that carry messages: first (one for all CRIs) or each (each CRI has its own). Set it to each where many threads send messages at once",
    )
    .one_of(SMSG_DEVICES)
    .scope(Scope::LOCAL),
    number(
        "remote_cq_size",
        7,
        "40000",
        "Entries of a CRI's completion queue of arriving messages; when it overruns all mailboxes are polled. Raise it where that happens often",
    )
    .range(16, 1 << 20)
    .scope(Scope::LOCAL),
    number(
        "local_cq_size",
        7,
        "8192",
        "Entries of a CRI's completion queue of sent messages, and most messages that it has under way. Raise it where a process talks to thousands at once",
    )
    .range(16, 60000)
    .scope(Scope::LOCAL),
    size(
        "smsg_limit",
        7,
        "0",
        "Largest message of a mailbox, eight bytes of header included; 0: 8k for up to 512 processes, 2k up to 1024, 1k up to 8192, 512 up to 16384, else 256. Lower it to save mailbox memory, which is this times btl_ugni_smsg_max_credits for each connection",
    )
    .range(0, MESSAGE_MOST as i64),
    number(
        "smsg_max_credits",
        7,
        "32",
        "Messages that a mailbox holds. Raise it for the rate of messages to one process, lower it to save memory",
    )
    .range(2, 1024),
    number(
        "smsg_max_retries",
        7,
        "16",
        "Times that the library sends a lost message again before the connection counts as broken. Raise it on a network with faults",
    )
    .range(0, 65535)
    .scope(Scope::LOCAL),
    number(
        "mbox_inc",
        7,
        "0",
        "Mailboxes that are allocated and registered together; 0: as many as fit into 2 MiB, at least one. Raise it where registrations are scarce",
    )
    .range(0, 1 << 16)
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "cdm_flags",
        ParamKind::LIST,
        7,
        "",
        "Modes of the communication domains, by their names in Open MPI 4 (fork-part-copy, err-no-kill, fma-shared and so on); empty: fork-part-copy, err-no-kill, fast-datagram-poll, mdd-shared, fma-small-window, and fma-dedicated where fewer than 122 domains are on a node, else fma-shared. Set it where another library in the job needs fast descriptors",
    )
    .scope(Scope::LOCAL),
    number(
        "free_list_num",
        9,
        "8",
        "Send buffers of a CRI at the start. Raise it where the first messages have to be fast",
    )
    .range(1, 1 << 16)
    .scope(Scope::LOCAL),
    number(
        "free_list_max",
        9,
        "4096",
        "Most send buffers of a CRI. Lower it to bound memory",
    )
    .range(1, 1 << 16)
    .scope(Scope::LOCAL),
    number(
        "free_list_inc",
        9,
        "64",
        "Send buffers that are allocated together when there are none left. Raise it where many messages are under way at once",
    )
    .range(1, 1 << 16)
    .scope(Scope::LOCAL),
    size(
        "eager_limit",
        6,
        "0",
        "Largest message, header included, that is sent eagerly; 0: the largest message of a mailbox. Lower it where many messages wait unreceived",
    )
    .range(0, MESSAGE_MOST as i64),
    size(
        "rndv_eager_limit",
        6,
        "0",
        "Bytes of a longer message, header included, that are sent with its rendezvous request; 0: the largest message of a mailbox. Lower it where receives are mostly posted late",
    )
    .range(0, MESSAGE_MOST as i64),
    number(
        "local_rdma_cq_size",
        7,
        "1024",
        "Most puts, gets and atomics that a virtual device has under way, and entries of its completion queue for them; 0: 2048 with one device, 256 with several. Raise it where many are issued before one is waited for",
    )
    .range(0, 60000)
    .scope(Scope::LOCAL),
    number(
        "rdma_max_retries",
        7,
        "16",
        "Times that a put or get that the network has failed is posted again before its process counts as lost. Raise it on a network with faults",
    )
    .range(0, 65535)
    .scope(Scope::LOCAL),
    size(
        "fma_get_limit",
        7,
        "2k",
        "Largest get that the processor carries out by the fast path (FMA); longer ones are the device's own (BTE). Raise it where the device's engine is busy",
    )
    .range(0, 65536)
    .scope(Scope::LOCAL),
    size(
        "fma_put_limit",
        7,
        "4k",
        "Largest put that the processor carries out by the fast path (FMA); longer ones are the device's own (BTE). Raise it where the device's engine is busy",
    )
    .range(0, 65536)
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "max_mem_reg",
        ParamKind::INT,
        6,
        "0",
        "Registrations of a process, beside those of mailboxes; 0: those of the node, less 20, divided by its processes; -1: as many as the library grants. Set it where another library of the job registers memory",
    )
    .range(-1, i32::MAX as i64)
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "bind_devices",
        ParamKind::BOOL,
        6,
        "true",
        "Puts, gets and atomics of a CRI all go over the virtual device of its number, instead of over all virtual devices in turn. Set it to false where few threads issue many",
    )
    .scope(Scope::LOCAL),
    size(
        "min_rma_size",
        6,
        "8k",
        "Smallest payload of which a rendezvous goes by get or put instead of by messages. Raise it where registering memory is slow",
    )
    .range(0, 1 << 40),
    size(
        "get_limit",
        7,
        "1m",
        "Largest get; longer ones are divided. Raise it where one get at a time does not fill the network",
    )
    .range(4096, 1 << 30),
    ParamDecl::new(
        "atomics",
        ParamKind::ENUM,
        6,
        "host",
        "Whether the host or the device carries out atomics; those of the device are not atomic to the target's processors, so windows (osc rdma) need the host's. Set it to device for layers that use the device's atomics alone",
    )
    .one_of(ATOMICS),
    number(
        "exclusivity",
        8,
        "65534",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Lower it to prefer another network",
    )
    .range(0, u32::MAX as i64),
    number(
        "latency",
        8,
        "2",
        "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first. Set it where transports are ranked wrongly",
    )
    .range(0, u32::MAX as i64),
    number(
        "bandwidth",
        8,
        "40000",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among transports of one exclusivity. Set it where another network shares them",
    )
    .range(0, u32::MAX as i64),
];

/// Indices of [`PARAMS`].
pub mod index {
    pub const LIBRARY: usize = 0;
    pub const VIRTUAL_DEVICE_COUNT: usize = 1;
    pub const SMSG_DEVICES: usize = 2;
    pub const REMOTE_CQ_SIZE: usize = 3;
    pub const LOCAL_CQ_SIZE: usize = 4;
    pub const SMSG_LIMIT: usize = 5;
    pub const SMSG_MAX_CREDITS: usize = 6;
    pub const SMSG_MAX_RETRIES: usize = 7;
    pub const MBOX_INC: usize = 8;
    pub const CDM_FLAGS: usize = 9;
    pub const FREE_LIST_NUM: usize = 10;
    pub const FREE_LIST_MAX: usize = 11;
    pub const FREE_LIST_INC: usize = 12;
    pub const EAGER_LIMIT: usize = 13;
    pub const RNDV_EAGER_LIMIT: usize = 14;
    pub const LOCAL_RDMA_CQ_SIZE: usize = 15;
    pub const RDMA_MAX_RETRIES: usize = 16;
    pub const FMA_GET_LIMIT: usize = 17;
    pub const FMA_PUT_LIMIT: usize = 18;
    pub const MAX_MEM_REG: usize = 19;
    pub const BIND_DEVICES: usize = 20;
    pub const MIN_RMA_SIZE: usize = 21;
    pub const GET_LIMIT: usize = 22;
    pub const ATOMICS: usize = 23;
    pub const EXCLUSIVITY: usize = 24;
    pub const LATENCY: usize = 25;
    pub const BANDWIDTH: usize = 26;
}

/// The resolved values, in the types the code wants, with what follows from the job for those that say 0.
#[derive(Clone, Debug)]
pub struct Settings {
    pub library: String,
    pub devices: usize,
    /// Messages of each communication resource go over its own device.
    pub smsg_on_each: bool,
    pub remote_cq_size: u32,
    pub local_cq_size: u32,
    pub message_size: usize,
    pub credits: u16,
    pub smsg_max_retries: u16,
    pub mbox_inc: usize,
    /// Modes of the domains.
    pub modes: u32,
    pub free_list_num: usize,
    pub free_list_max: usize,
    pub free_list_inc: usize,
    pub eager_limit: usize,
    pub rndv_eager_limit: usize,
    pub local_rdma_cq_size: u32,
    pub rdma_max_retries: u16,
    pub fma_get_limit: u64,
    pub fma_put_limit: u64,
    /// 0: automatic; negative: no limit of ours.
    pub max_mem_reg: i64,
    pub bind_devices: bool,
    pub min_rma_size: usize,
    pub get_limit: u64,
    pub device_atomics: bool,
    pub exclusivity: u32,
    pub latency: u32,
    pub bandwidth: u32,
}

/// Bytes of a mailbox's message that follow from the number of processes.
pub fn automatic_message_size(processes: u32) -> usize {
    match processes {
        0..=512 => 8192,
        513..=1024 => 2048,
        1025..=8192 => 1024,
        8193..=16384 => 512,
        _ => 256,
    }
}

/// Virtual devices that follow from the machine.
pub fn automatic_devices(threaded: bool, cores: u32, local_size: u32) -> usize {
    let local_size = local_size.max(1);
    if !threaded || cores <= local_size {
        return 1;
    }
    ((cores / local_size) as usize).clamp(1, MOST_DEVICES)
}

/// Domains on a node from which on fast descriptors are shared.
const SHARED_FROM: usize = 122;

const MODES: [(&str, u32); 15] = [
    ("fork-no-copy", mode::FORK_NOCOPY),
    ("fork-full-copy", mode::FORK_FULLCOPY),
    ("fork-part-copy", mode::FORK_PARTCOPY),
    ("err-no-kill", mode::ERR_NO_KILL),
    ("err-all-kill", mode::ERR_ALL_KILL),
    ("fast-datagram-poll", mode::FAST_DATAGRAM_POLL),
    ("bte-single-channel", mode::BTE_SINGLE_CHANNEL),
    ("use-pci-iommu", mode::USE_PCI_IOMMU),
    ("mdd-dedicated", mode::MDD_DEDICATED),
    ("mdd-shared", mode::MDD_SHARED),
    ("fma-dedicated", mode::FMA_DEDICATED),
    ("fma-shared", mode::FMA_SHARED),
    ("cached-amo-enabled", mode::CACHED_AMO_ENABLED),
    ("cq-nic-placement", mode::CQ_NIC_LOCAL_PLACEMENT),
    ("fma-small-window", mode::FMA_SMALL_WINDOW),
];

/// Modes of the domains; the error is a name that is none.
fn modes(list: &str, devices_of_node: usize) -> Result<u32, String> {
    if list.trim().is_empty() {
        let fma = if devices_of_node < SHARED_FROM { mode::FMA_DEDICATED } else { mode::FMA_SHARED };
        return Ok(mode::FORK_PARTCOPY
            | mode::ERR_NO_KILL
            | mode::FAST_DATAGRAM_POLL
            | mode::MDD_SHARED
            | mode::FMA_SMALL_WINDOW
            | fma);
    }
    let of = |name: &str| MODES.iter().find(|(n, _)| *n == name.trim()).map(|(_, bit)| *bit);
    list.split(',').try_fold(0, |all, name| Ok(all | of(name).ok_or_else(|| name.trim().to_owned())?))
}

impl Settings {
    pub fn of(p: Params<'_>, job: &JobInfo, threaded: bool) -> Result<Settings, Refused> {
        let or = |value: usize, automatic: usize| if value == 0 { automatic } else { value };
        let devices = or(
            p.int(index::VIRTUAL_DEVICE_COUNT) as usize,
            automatic_devices(threaded, job.cores, job.local_size),
        );
        let message_size = or(p.size(index::SMSG_LIMIT), automatic_message_size(job.job_size));
        if message_size < 128 + HEAD {
            let why = format!("btl_ugni_smsg_limit is {message_size}; it may be 0, or 136 to {MESSAGE_MOST}");
            return Err(Refused::bad(index::SMSG_LIMIT, why));
        }
        let most = message_size - HEAD;
        let limit = |index: usize, name: &str| match p.size(index) {
            0 => Ok(most),
            n if (128..=most).contains(&n) => Ok(n),
            n => {
                let why = format!(
                    "btl_ugni_{name} is {n}; it may be 0, or 128 to {most}, what a message of btl_ugni_smsg_limit holds"
                );
                Err(Refused::bad(index, why))
            }
        };
        let modes =
            modes(p.text(index::CDM_FLAGS), devices * job.local_size.max(1) as usize).map_err(|name| {
                let known: Vec<&str> = MODES.iter().map(|(n, _)| *n).collect();
                let why = format!("btl_ugni_cdm_flags names \"{name}\"; there are {}", known.join(", "));
                Refused::bad(index::CDM_FLAGS, why)
            })?;
        Ok(Settings {
            library: p.text(index::LIBRARY).to_owned(),
            devices,
            smsg_on_each: p.int(index::SMSG_DEVICES) == 1,
            remote_cq_size: p.int(index::REMOTE_CQ_SIZE) as u32,
            local_cq_size: p.int(index::LOCAL_CQ_SIZE) as u32,
            message_size,
            credits: p.int(index::SMSG_MAX_CREDITS) as u16,
            smsg_max_retries: p.int(index::SMSG_MAX_RETRIES) as u16,
            mbox_inc: p.int(index::MBOX_INC) as usize,
            modes,
            free_list_num: p.int(index::FREE_LIST_NUM) as usize,
            free_list_max: p.int(index::FREE_LIST_MAX) as usize,
            free_list_inc: p.int(index::FREE_LIST_INC) as usize,
            eager_limit: limit(index::EAGER_LIMIT, "eager_limit")?,
            rndv_eager_limit: limit(index::RNDV_EAGER_LIMIT, "rndv_eager_limit")?,
            local_rdma_cq_size: match p.int(index::LOCAL_RDMA_CQ_SIZE) {
                0 if devices == 1 => 2048,
                0 => 256,
                n => n as u32,
            },
            rdma_max_retries: p.int(index::RDMA_MAX_RETRIES) as u16,
            fma_get_limit: p.size(index::FMA_GET_LIMIT) as u64,
            fma_put_limit: p.size(index::FMA_PUT_LIMIT) as u64,
            max_mem_reg: p.int(index::MAX_MEM_REG),
            bind_devices: p.flag(index::BIND_DEVICES),
            min_rma_size: p.size(index::MIN_RMA_SIZE),
            get_limit: p.size(index::GET_LIMIT) as u64,
            device_atomics: p.int(index::ATOMICS) == 1,
            exclusivity: p.int(index::EXCLUSIVITY) as u32,
            latency: p.int(index::LATENCY) as u32,
            bandwidth: p.int(index::BANDWIDTH) as u32,
        })
    }

    /// Most bytes behind the head of a message.
    pub fn max_send_size(&self) -> usize {
        self.message_size - HEAD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_name_their_parameters() {
        let all = [
            (index::LIBRARY, "library"),
            (index::VIRTUAL_DEVICE_COUNT, "virtual_device_count"),
            (index::SMSG_DEVICES, "smsg_devices"),
            (index::REMOTE_CQ_SIZE, "remote_cq_size"),
            (index::LOCAL_CQ_SIZE, "local_cq_size"),
            (index::SMSG_LIMIT, "smsg_limit"),
            (index::SMSG_MAX_CREDITS, "smsg_max_credits"),
            (index::SMSG_MAX_RETRIES, "smsg_max_retries"),
            (index::MBOX_INC, "mbox_inc"),
            (index::CDM_FLAGS, "cdm_flags"),
            (index::FREE_LIST_NUM, "free_list_num"),
            (index::FREE_LIST_MAX, "free_list_max"),
            (index::FREE_LIST_INC, "free_list_inc"),
            (index::EAGER_LIMIT, "eager_limit"),
            (index::RNDV_EAGER_LIMIT, "rndv_eager_limit"),
            (index::LOCAL_RDMA_CQ_SIZE, "local_rdma_cq_size"),
            (index::RDMA_MAX_RETRIES, "rdma_max_retries"),
            (index::FMA_GET_LIMIT, "fma_get_limit"),
            (index::FMA_PUT_LIMIT, "fma_put_limit"),
            (index::MAX_MEM_REG, "max_mem_reg"),
            (index::BIND_DEVICES, "bind_devices"),
            (index::MIN_RMA_SIZE, "min_rma_size"),
            (index::GET_LIMIT, "get_limit"),
            (index::ATOMICS, "atomics"),
            (index::EXCLUSIVITY, "exclusivity"),
            (index::LATENCY, "latency"),
            (index::BANDWIDTH, "bandwidth"),
        ];
        assert_eq!(all.len(), PARAMS.len());
        for (index, due) in all {
            // SAFETY: static text of this component.
            assert_eq!(unsafe { PARAMS[index].name.get() }, Some(due));
        }
    }

    #[test]
    fn devices_follow_from_cores_and_processes() {
        assert_eq!(automatic_devices(false, 64, 1), 1, "no threads");
        assert_eq!(automatic_devices(true, 64, 64), 1);
        assert_eq!(automatic_devices(true, 64, 4), 16);
        assert_eq!(automatic_devices(true, 1024, 1), MOST_DEVICES);
    }

    #[test]
    fn modes_by_name_and_by_the_number_of_domains() {
        let usual = modes("", 121).expect("the default");
        assert!(usual & mode::FMA_DEDICATED != 0 && usual & mode::FMA_SHARED == 0);
        let many = modes("", 122).expect("the default");
        assert!(many & mode::FMA_SHARED != 0 && many & mode::FMA_DEDICATED == 0);
        assert_eq!(modes("fma-shared, err-all-kill", 1), Ok(mode::FMA_SHARED | mode::ERR_ALL_KILL));
        assert_eq!(modes("fma-shared,fma-mine", 1), Err("fma-mine".to_owned()));
    }
}
