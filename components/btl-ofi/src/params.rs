//! Parameters, under Open MPI's names where the meaning is equal. README.md compares them with those of its btl/ofi, mtl/ofi and common/ofi.

use crate::library::LIBRARY;
use crate::wire::HEAD;
use oxmpi_mca::{ParamDecl, ParamKind, Params, Refused, Scope, StrRef};

const fn number(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::UNSIGNED, level, default, help)
}
const fn size(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::SIZE, level, default, help)
}
const fn list(name: &'static str, level: u32, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::LIST, level, "", help).scope(Scope::LOCAL)
}

const PROGRESS: &[StrRef] = &[StrRef::new("unspec"), StrRef::new("auto"), StrRef::new("manual")];
const ATOMICS: &[StrRef] = &[StrRef::new("host"), StrRef::new("provider")];
/// Names of the same in Open MPI.
const INCLUDE: &[StrRef] =
    &[StrRef::new("opal_common_ofi_provider_include"), StrRef::new("mtl_ofi_provider_include")];
const EXCLUDE: &[StrRef] =
    &[StrRef::new("opal_common_ofi_provider_exclude"), StrRef::new("mtl_ofi_provider_exclude")];
const CONTEXTS: &[StrRef] =
    &[StrRef::new("btl_ofi_num_contexts_per_module"), StrRef::new("mtl_ofi_num_ctxts")];
/// Most contexts of a process, its service context and the target of one-sided operations beside them.
const MOST_CONTEXTS: i64 = 1024;

/// The declarations. Full names are `btl_ofi_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "library",
        ParamKind::STRING,
        6,
        LIBRARY,
        "File of libfabric, by name or path. Set it where the library is outside the path of the dynamic linker, or to run on another version",
    )
    .scope(Scope::LOCAL),
    list(
        "provider_include",
        1,
        "Providers of libfabric to use, best first, by name (cxi) or with the layers above (tcp;ofi_rxm); empty: all that btl_ofi_provider_exclude leaves. Set it where a node has several networks, or to use a provider over TCP or shared memory",
    )
    .synonyms(INCLUDE),
    list(
        "provider_exclude",
        1,
        "Providers of libfabric not to use, by name or with the layers above. Set it to keep a network out",
    )
    .synonyms(EXCLUDE),
    list(
        "domain",
        6,
        "Domains of the provider to use, by name (a network card or an interface); several are rails, among which long messages are divided; empty: one, the first that does not loop back. Set it where a node has several cards, in the same order on all nodes",
    ),
    ParamDecl::new(
        "progress_mode",
        ParamKind::ENUM,
        7,
        "unspec",
        "Sets who moves data for the process: auto (the provider, by threads or hardware of its own), manual (calls into MPI), unspec (what the provider prefers). Set it to auto where processes compute for long while others wait for them",
    )
    .one_of(PROGRESS)
    .scope(Scope::LOCAL),
    number(
        "num_contexts",
        6,
        "0",
        "Most endpoints for messages that a process opens, each with its own completion queue for one communication resource (CRI); 0: as many as there are CRIs, but no more than the process has cores (four where it has fewer). Lower it where endpoints take too much memory (75 MiB each over ofi_rxm)",
    )
    .range(0, MOST_CONTEXTS)
    .synonyms(CONTEXTS)
    .scope(Scope::LOCAL),
    number(
        "virtual_device_count",
        6,
        "1",
        "Domains that are opened on the device, over which the endpoints are spread in turn. Raise it where threads wait for the locks of a domain",
    )
    .range(1, 128)
    .scope(Scope::LOCAL),
    number(
        "num_cq_read",
        7,
        "64",
        "Entries of a completion queue that are read at once. Lower it where other transports get too little attention",
    )
    .range(1, 1024)
    .scope(Scope::LOCAL),
    size(
        "eager_limit",
        6,
        "0",
        "Largest message, header included, that is sent eagerly; 0: the largest message. Lower it where many messages wait unreceived",
    )
    .range(0, 1 << 20),
    size(
        "rndv_eager_limit",
        6,
        "0",
        "Bytes of a longer message, header included, that are sent with its rendezvous request; 0: the largest message. Lower it where receives are mostly posted late",
    )
    .range(0, 1 << 20),
    size(
        "max_send_size",
        6,
        "66k",
        "Bytes of a send or receive buffer, and largest message with 16 bytes of header. Lower it where buffers take too much memory, or to what the provider sends eagerly (16k of ofi_rxm) where senders leave MPI for long: of a longer message the rest moves only while its sender is in MPI",
    )
    .range((128 + HEAD) as i64, 1 << 20),
    number(
        "rd_num",
        7,
        "128",
        "Receive buffers of each endpoint. Raise it where many processes send to one at once",
    )
    .range(4, 1 << 16)
    .scope(Scope::LOCAL),
    number(
        "send_buffers",
        7,
        "128",
        "Send buffers of each endpoint, and most messages that are under way from it beside those short enough to be injected. Raise it where a process sends to many at once",
    )
    .range(2, 1 << 16)
    .scope(Scope::LOCAL),
    number(
        "credits",
        7,
        "128",
        "Messages from one endpoint that may be on their way to another of this process before it has taken some; a provider without room of its own for more keeps them in memory. Raise it for the rate of short messages, lower it where many processes send to one",
    )
    .range(2, 254)
    .scope(Scope::LOCAL),
    size(
        "min_rma_size",
        7,
        "64k",
        "Smallest payload of which a rendezvous goes by get or put instead of by messages. Raise it where registering memory is slow",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "atomics",
        ParamKind::ENUM,
        6,
        "host",
        "Whether the host or the provider carries out atomics of windows; a provider's need not be atomic to the target's processors. Set it to provider where the network card has atomics and no process updates its own window by other means",
    )
    .one_of(ATOMICS),
    ParamDecl::new(
        "disable_inject",
        ParamKind::BOOL,
        7,
        "false",
        "Sends short messages from buffers as well, instead of having the provider copy them. Set it to true where a provider's way for short messages is slow or broken",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "sleep",
        ParamKind::BOOL,
        6,
        "true",
        "Has the provider offer a descriptor that wakes a process which sleeps. Set it to false where processes never sleep, to save the provider the work",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "disable_sep",
        ParamKind::BOOL,
        7,
        "false",
        "Opens an endpoint with an address of its own for each communication resource (CRI), also where the provider has scalable endpoints, whose contexts share one address. Set it to true where a provider's scalable endpoints are slow or broken",
    ),
    number(
        "exclusivity",
        8,
        "0",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it; 0: 2048, below btl_verbs for a provider over verbs (1000), below btl_tcp for one over TCP, UDP or shared memory (50). Raise it to prefer libfabric",
    )
    .range(0, u32::MAX as i64),
    number(
        "latency",
        8,
        "0",
        "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first; 0: 2, over TCP, UDP and shared memory 110. Set it where transports are ranked wrongly",
    )
    .range(0, u32::MAX as i64),
    number(
        "bandwidth",
        8,
        "0",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among transports of one exclusivity; 0: what the provider says of the card, else 1000. Set it where another network shares them",
    )
    .range(0, u32::MAX as i64),
];

/// Indices of [`PARAMS`].
pub mod index {
    pub const LIBRARY: usize = 0;
    pub const PROVIDER_INCLUDE: usize = 1;
    pub const PROVIDER_EXCLUDE: usize = 2;
    pub const DOMAIN: usize = 3;
    pub const PROGRESS_MODE: usize = 4;
    pub const NUM_CONTEXTS: usize = 5;
    pub const VIRTUAL_DEVICE_COUNT: usize = 6;
    pub const NUM_CQ_READ: usize = 7;
    pub const EAGER_LIMIT: usize = 8;
    pub const RNDV_EAGER_LIMIT: usize = 9;
    pub const MAX_SEND_SIZE: usize = 10;
    pub const RD_NUM: usize = 11;
    pub const SEND_BUFFERS: usize = 12;
    pub const CREDITS: usize = 13;
    pub const MIN_RMA_SIZE: usize = 14;
    pub const ATOMICS: usize = 15;
    pub const DISABLE_INJECT: usize = 16;
    pub const SLEEP: usize = 17;
    pub const DISABLE_SEP: usize = 18;
    pub const EXCLUSIVITY: usize = 19;
    pub const LATENCY: usize = 20;
    pub const BANDWIDTH: usize = 21;
}

/// The values, in the types that the code wants.
#[derive(Clone, Debug)]
pub struct Settings {
    pub library: String,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub domains: Vec<String>,
    /// As the library numbers progress; 0: what the provider prefers.
    pub progress: i32,
    /// 0: as many as there are communication resources.
    pub contexts: usize,
    pub devices: usize,
    pub cq_read: usize,
    pub eager_limit: usize,
    pub rndv_eager_limit: usize,
    /// Bytes of a buffer: the largest message and its head.
    pub buffer: usize,
    pub recv_buffers: usize,
    pub send_buffers: usize,
    pub credits: u32,
    pub min_rma_size: u64,
    pub provider_atomics: bool,
    pub injects: bool,
    pub sleeps: bool,
    /// Contexts are those of scalable endpoints where the provider has these.
    pub scales: bool,
    /// 0: by the provider.
    pub exclusivity: u32,
    pub latency: u32,
    pub bandwidth: u32,
}

/// Names without those that came before.
fn once(names: Vec<String>) -> Vec<String> {
    let mut all = Vec::new();
    names.into_iter().for_each(|name| {
        if !all.contains(&name) {
            all.push(name)
        }
    });
    all
}

impl Settings {
    pub fn of(p: Params<'_>) -> Result<Settings, Refused> {
        let names = |index: usize| {
            let names = p.text(index).split(',').map(str::trim).filter(|name| !name.is_empty());
            names.map(str::to_owned).collect::<Vec<_>>()
        };
        let buffer = p.size(index::MAX_SEND_SIZE);
        let most = buffer - HEAD;
        let limit = |index: usize, name: &str| match p.size(index) {
            0 => Ok(most),
            n if (128..=most).contains(&n) => Ok(n),
            n => {
                let why = format!(
                    "btl_ofi_{name} is {n}; it may be 0, or 128 to {most}, what a buffer of btl_ofi_max_send_size holds"
                );
                Err(Refused::bad(index, why))
            }
        };
        Ok(Settings {
            library: p.text(index::LIBRARY).to_owned(),
            include: names(index::PROVIDER_INCLUDE),
            exclude: names(index::PROVIDER_EXCLUDE),
            domains: once(names(index::DOMAIN)),
            progress: p.int(index::PROGRESS_MODE) as i32,
            contexts: p.int(index::NUM_CONTEXTS) as usize,
            devices: p.int(index::VIRTUAL_DEVICE_COUNT) as usize,
            cq_read: p.int(index::NUM_CQ_READ) as usize,
            eager_limit: limit(index::EAGER_LIMIT, "eager_limit")?,
            rndv_eager_limit: limit(index::RNDV_EAGER_LIMIT, "rndv_eager_limit")?,
            buffer,
            recv_buffers: p.int(index::RD_NUM) as usize,
            send_buffers: p.int(index::SEND_BUFFERS) as usize,
            credits: p.int(index::CREDITS) as u32,
            min_rma_size: p.size(index::MIN_RMA_SIZE) as u64,
            provider_atomics: p.int(index::ATOMICS) == 1,
            injects: !p.flag(index::DISABLE_INJECT),
            sleeps: p.flag(index::SLEEP),
            scales: !p.flag(index::DISABLE_SEP),
            exclusivity: p.int(index::EXCLUSIVITY) as u32,
            latency: p.int(index::LATENCY) as u32,
            bandwidth: p.int(index::BANDWIDTH) as u32,
        })
    }

    /// Most bytes behind the head of a message.
    pub fn max_send_size(&self) -> usize {
        self.buffer - HEAD
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn indices_name_their_parameters() {
        let all = [
            (index::LIBRARY, "library"),
            (index::PROVIDER_INCLUDE, "provider_include"),
            (index::PROVIDER_EXCLUDE, "provider_exclude"),
            (index::DOMAIN, "domain"),
            (index::PROGRESS_MODE, "progress_mode"),
            (index::NUM_CONTEXTS, "num_contexts"),
            (index::VIRTUAL_DEVICE_COUNT, "virtual_device_count"),
            (index::NUM_CQ_READ, "num_cq_read"),
            (index::EAGER_LIMIT, "eager_limit"),
            (index::RNDV_EAGER_LIMIT, "rndv_eager_limit"),
            (index::MAX_SEND_SIZE, "max_send_size"),
            (index::RD_NUM, "rd_num"),
            (index::SEND_BUFFERS, "send_buffers"),
            (index::CREDITS, "credits"),
            (index::MIN_RMA_SIZE, "min_rma_size"),
            (index::ATOMICS, "atomics"),
            (index::DISABLE_INJECT, "disable_inject"),
            (index::SLEEP, "sleep"),
            (index::DISABLE_SEP, "disable_sep"),
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
}
