//! Parameters: the device's shape, its limits, and its faults.

use core::time::Duration;
use oxmpi_mca::{ParamDecl, ParamKind, Params};

const fn size(name: &'static str, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::SIZE, 9, default, help)
}
const fn number(name: &'static str, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::UNSIGNED, 9, default, help)
}

pub const PARAMS: &[ParamDecl] = &[
    number(
        "contexts",
        "8",
        "Most contexts of the device. Lower it to test modules with fewer contexts than CRIs",
    )
    .range(1, 16),
    size("ring_size", "32k", "Bytes of messages under way from one process on one context")
        .range(4096, 1 << 24),
    size("eager_limit", "4k", "Largest message that is sent before its receive is known").range(128, 1 << 20),
    size("max_send_size", "8k", "Largest message that is sent in one piece").range(128, 1 << 20),
    size("min_rma_size", "16k", "From this payload on a rendezvous by get or put is worth while")
        .range(0, 1 << 40),
    size("rma_limit", "0", "Largest get or put. Lower it to test operations that are cut").range(0, 1 << 40),
    number("alignment", "0", "Alignment of addresses and lengths of get and put, 0: none").range(0, 4096),
    number(
        "outstanding",
        "256",
        "One-sided operations under way on one context; the next answers NO_RESOURCE",
    )
    .range(1, 65536),
    size("registration_limit", "0", "Bytes that may be registered at once, 0: no limit").range(0, 1 << 50),
    ParamDecl::new(
        "verbs",
        ParamKind::ENUM,
        9,
        "all",
        "One-sided verbs that are offered. Lower it to test emulation",
    )
    .one_of(VERBS),
    number(
        "seed",
        "0",
        "Seed of the order in which operations are carried out and contexts looked at, 0: in order",
    ),
    ParamDecl::new(
        "completion",
        ParamKind::ENUM,
        9,
        "prompt",
        "When completions come: on demand is by control function",
    )
    .one_of(COMPLETIONS),
    number("late_us", "300", "Most microseconds by which late completions come late").range(1, 1_000_000),
    ParamDecl::new("put_done_is_remote", ParamKind::BOOL, 9, "0", "Puts complete when the data has arrived"),
    ParamDecl::new("shared_queue", ParamKind::BOOL, 9, "0", "All contexts share one completion queue"),
    ParamDecl::new("sleep", ParamKind::ENUM, 9, "word", "What a sleeper sleeps on").one_of(SLEEPS),
    number("fail_after", "0", "After so many operations to a peer it fails, 0: never"),
    ParamDecl::new(
        "late_landing",
        ParamKind::BOOL,
        9,
        "0",
        "Puts that failed still land, when the control function says so",
    ),
    number(
        "exclusivity",
        "0",
        "Priority among transports that reach the same process; the highest is used alone",
    )
    .range(0, u32::MAX as i64),
    ParamDecl::new(
        "pinned",
        ParamKind::BOOL,
        9,
        "0",
        "Memory is reached by the pages that were there when it was registered, not by address",
    ),
    ParamDecl::new(
        "counts",
        ParamKind::STRING,
        9,
        "",
        "File that gets what each process asked of the device when it ends, with the process's number behind a dot; empty: none",
    ),
];

/// Place of the parameter `counts`, which is no part of [`Settings`].
pub const COUNTS: usize = 20;
const _: () = assert!(PARAMS.len() == COUNTS + 1);

const VERBS: &[oxmpi_mca::StrRef] = &[
    oxmpi_mca::StrRef::new("all"),
    oxmpi_mca::StrRef::new("get"),
    oxmpi_mca::StrRef::new("put"),
    oxmpi_mca::StrRef::new("none"),
];
const COMPLETIONS: &[oxmpi_mca::StrRef] = &[
    oxmpi_mca::StrRef::new("prompt"),
    oxmpi_mca::StrRef::new("late"),
    oxmpi_mca::StrRef::new("on_demand"),
    oxmpi_mca::StrRef::new("never"),
];
const SLEEPS: &[oxmpi_mca::StrRef] = &[oxmpi_mca::StrRef::new("word"), oxmpi_mca::StrRef::new("descriptor")];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    All,
    GetAlone,
    PutAlone,
    Nothing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completions {
    Prompt,
    Late,
    OnDemand,
    Never,
}

/// The resolved values. The order is that of [`PARAMS`].
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub contexts: u32,
    pub ring_size: usize,
    pub eager_limit: usize,
    pub max_send_size: usize,
    pub min_rma_size: usize,
    pub rma_limit: u64,
    pub alignment: u64,
    pub outstanding: usize,
    pub registration_limit: u64,
    pub verbs: Offered,
    pub seed: u64,
    pub completion: Completions,
    pub late: Duration,
    pub put_done_is_remote: bool,
    pub shared_queue: bool,
    pub by_descriptor: bool,
    pub fail_after: u64,
    pub late_landing: bool,
    pub exclusivity: u32,
    pub pinned: bool,
}

impl Settings {
    pub fn of(p: Params<'_>) -> Settings {
        Settings {
            contexts: p.int(0) as u32,
            ring_size: p.size(1).next_multiple_of(64),
            eager_limit: p.size(2),
            max_send_size: p.size(3),
            min_rma_size: p.size(4),
            rma_limit: p.size(5) as u64,
            alignment: p.int(6) as u64,
            outstanding: p.int(7) as usize,
            registration_limit: p.size(8) as u64,
            verbs: match p.int(9) {
                1 => Offered::GetAlone,
                2 => Offered::PutAlone,
                3 => Offered::Nothing,
                _ => Offered::All,
            },
            seed: p.int(10) as u64,
            completion: match p.int(11) {
                1 => Completions::Late,
                2 => Completions::OnDemand,
                3 => Completions::Never,
                _ => Completions::Prompt,
            },
            late: Duration::from_micros(p.int(12) as u64),
            put_done_is_remote: p.int(13) != 0,
            shared_queue: p.int(14) != 0,
            by_descriptor: p.int(15) == 1,
            fail_after: p.int(16) as u64,
            late_landing: p.int(17) != 0,
            exclusivity: p.int(18) as u32,
            pinned: p.int(19) != 0,
        }
    }
}
