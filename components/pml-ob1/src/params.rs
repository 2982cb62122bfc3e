//! The parameters of `pml_ob1_*` and their values as the rest of the room reads them.

use crate::long::runs::Limits;
use crate::matching::{Choice, Level, Setting, Simd, Windows};
use crate::order::fork::Users;
use crate::requests::copy::Copies;
use oxmpi_mca::{Answers, ParamDecl, ParamKind, Params, Refused, StrRef};

/// Matching engines by the index of their enumerator.
static ENGINES: [StrRef; Choice::ALL.len()] = {
    let mut names = [StrRef::new(""); Choice::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = StrRef::new(Choice::ALL[i].name());
        i += 1;
    }
    names
};

/// The first lets the processor decide; the others are those of [`Level::ALL`].
static LEVELS: [StrRef; 1 + Level::ALL.len()] = {
    let mut names = [StrRef::new("auto"); 1 + Level::ALL.len()];
    let mut i = 0;
    while i < Level::ALL.len() {
        names[1 + i] = StrRef::new(Level::ALL[i].name());
        i += 1;
    }
    names
};

const EAGER_CREDIT: usize = 2;
const MATCHING_SIMD: usize = 5;
const MAX_SHARDS: usize = 6;
const MIN_GET_RUN: usize = 8;
const MAX_GET_PIECES: usize = 10;
const MATCHING_RANK_WINDOW: usize = 12;

/// Declarations, in the order of the indices in [`Config::read`].
pub static PARAMS: [ParamDecl; 13] = [
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        "20",
        "Priority among point-to-point components; the highest is used. Lower it to prefer another component",
    )
    .range(0, 100),
    ParamDecl::new(
        "free_list_inc",
        ParamKind::INT,
        9,
        "64",
        "Requests that are allocated together when a pool of requests is empty. Raise it where threads start many requests at once",
    )
    .range(1, 65536),
    ParamDecl::new(
        "eager_credit",
        ParamKind::SIZE,
        6,
        "4m",
        "Bytes of eager payload (messages above 64 bytes) that may wait unmatched at one receiver; when they are used up, messages go by rendezvous. Raise it where senders run far ahead of their receivers, lower it to bound a receiver's memory",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "matching",
        ParamKind::ENUM,
        5,
        "adaptive",
        "Matching engine of communicators that name none by the info key 'oxmpi_matching'. Set it where a program has long queues of receives or unexpected messages of a kind that one engine suits",
    )
    .one_of(&ENGINES),
    ParamDecl::new(
        "matching_walk",
        ParamKind::INT,
        9,
        "64",
        "Posted receives or unexpected messages that one search of the engine 'adaptive' passes before the queue gets an index. Raise it where queues are long but matches are near their front",
    )
    .range(1, i32::MAX as i64),
    ParamDecl::new(
        "matching_simd",
        ParamKind::ENUM,
        8,
        "auto",
        "Instruction set with which matching engines compare; one that the processor lacks is an error. Set it to compare",
    )
    .one_of(&LEVELS),
    ParamDecl::new(
        "max_shards",
        ParamKind::INT,
        6,
        "64",
        "Locks, a power of two, over which the matching of one communicator may be spread by tag when several threads receive in it; 1: all threads share one. Lower it to save memory with many communicators",
    )
    .range(1, 64),
    ParamDecl::new(
        "fork_turns",
        ParamKind::INT,
        9,
        "8",
        "Changes of the thread that sends on a communicator, with tags of their own, after which its messages take a CRI for each tag instead of sharing one. Lower it where threads always keep to tags of their own",
    )
    .range(1, 255),
    ParamDecl::new(
        "min_get_run",
        ParamKind::SIZE,
        9,
        "8k",
        "Average number of contiguous bytes at the sender from which on a long message that is not contiguous is read from its memory in one copy, if pml_ob1_min_get_run_local holds at the receiver, too; 0: it is always copied through the transport. Lower it where reading many pieces is fast",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "min_get_run_local",
        ParamKind::SIZE,
        9,
        "1k",
        "Average number of contiguous bytes at the receiver from which on a message that is not contiguous may be read from the sender's memory. Raise it where writing many pieces is slow",
    )
    .range(1, 1 << 40),
    ParamDecl::new(
        "max_get_pieces",
        ParamKind::SIZE,
        9,
        "512k",
        "Largest message that is not contiguous and is read from the sender's memory; longer ones are copied through the transport by both processes at once; 0: any. Raise it where the sender has other work than copying",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "recv_pipeline_depth",
        ParamKind::INT,
        7,
        "4",
        "Pieces of one long message that a transport gets or puts at a time. Raise it where the transport's limits make pieces small for the latency of the network",
    )
    .range(1, 65536),
    ParamDecl::new(
        "matching_rank_window",
        ParamKind::INT,
        8,
        "0",
        "Low bits of the rank that the matching engines 'fuzzy32', 'fuzzy16' and 'fuzzy8' compare, in a lane whose other bits are the tag's; 0: as many as tell the communicator's ranks apart in 'fuzzy32', and all of rank and tag over each other in the others. Lower it where tags differ in more bits than are left to them",
    )
    .range(0, Windows::MOST as i64),
];

/// The values of one instance's parameters, as the component uses them.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub priority: i32,
    pub pool_step: usize,
    pub eager_credit: u64,
    /// The matching engine of communicators that name none.
    pub matching: Setting,
    /// Matching shards that a communicator may have.
    pub max_shards: u32,
    /// See `fork.rs`.
    pub fork_turns: u32,
    /// When data in pieces is read in one copy.
    pub pieces: Limits,
    pub copies: Copies,
    /// Pieces of one message under way at once.
    pub pipeline_depth: u32,
}

impl Config {
    /// Reads the parameters of an instance. `Err`: a value that the component cannot use, with the reason.
    pub fn read(params: &Params<'_>) -> Result<Config, Refused> {
        let max_shards = params.int(MAX_SHARDS);
        if !max_shards.unsigned_abs().is_power_of_two() {
            let why = "it takes a power of two from 1 to 64: 1, 2, 4, 8, 16, 32, 64";
            return Err(Refused::bad(MAX_SHARDS, format!("pml_ob1_max_shards is {max_shards}; {why}")));
        }
        Ok(Config {
            priority: params.int(0) as i32,
            pool_step: params.int(1).clamp(1, 65536) as usize,
            eager_credit: params.size(EAGER_CREDIT) as u64,
            matching: Setting {
                choice: Choice::ALL.get(params.int(3) as usize).copied().unwrap_or(Choice::Adaptive),
                walk: params.int(4).max(1) as usize,
                simd: simd(params.int(MATCHING_SIMD))?,
                windows: Windows::of(params.int(MATCHING_RANK_WINDOW) as u32),
            },
            max_shards: max_shards.clamp(1, 64) as u32,
            copies: Copies::of_this_processor(),
            pipeline_depth: params.int(11).clamp(1, 65536) as u32,
            fork_turns: params.int(7).clamp(1, Users::MOST.into()) as u32,
            pieces: Limits {
                remote: params.size(MIN_GET_RUN) as u64,
                local: params.size(9) as u64,
                largest: match params.size(MAX_GET_PIECES) {
                    0 => u64::MAX,
                    size => size as u64,
                },
            },
        })
    }
}

/// Gives the instruction set for an enumerator's index of `pml_ob1_matching_simd`; 0 is the best of this processor.
/// `Err`: the processor lacks it.
fn simd(index: i64) -> Result<Simd, Refused> {
    let Some(level) = usize::try_from(index - 1).ok().and_then(|i| Level::ALL.get(i)) else {
        return Ok(Simd::best());
    };
    Simd::new(*level).ok_or_else(|| {
        let here = Level::ALL.into_iter().filter(|level| Simd::new(*level).is_some());
        let here: Vec<&str> = std::iter::once("auto").chain(here.map(Level::name)).collect();
        let why = "which this processor does not have; it takes";
        let why = format!("pml_ob1_matching_simd is {}, {why} {}", level.name(), here.join(", "));
        Refused::not_here(MATCHING_SIMD, why)
    })
}

/// Tells the values in force of parameters that are 0 or `auto`, and why (the component's `resolve`). `Err`: a value
/// that the component cannot use.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
    let config = Config::read(&params)?;
    if params.int(MATCHING_SIMD) == 0 {
        let because = "auto: the widest that this processor has";
        answers.tell(MATCHING_SIMD, config.matching.simd.level().name(), because);
    }
    for (param, because) in [
        (EAGER_CREDIT, "0: every message above 64 bytes announces itself"),
        (MIN_GET_RUN, "0: messages that are not contiguous are always copied through the transport"),
        (MAX_GET_PIECES, "0: messages of any length"),
    ] {
        if params.size(param) == 0 {
            answers.as_set(param, because);
        }
    }
    if params.int(MATCHING_RANK_WINDOW) == 0 {
        let because =
            "0: in 'fuzzy32' the bits that tell a communicator's ranks apart, in the others no window";
        answers.as_set(MATCHING_RANK_WINDOW, because);
    }
    Ok(())
}
