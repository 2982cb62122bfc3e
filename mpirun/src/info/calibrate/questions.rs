//! Questions to a machine, and the parameter that an answer sets.

use super::bench::{Bench, CLEARLY, Kind, Point, from_which_on};

const K: u64 = 1 << 10;
const M: u64 = 1 << 20;
/// Longer than any message: the parameter's largest value.
const NEVER: u64 = 1 << 40;
/// The first part of a rendezvous is no shorter than its default.
const LEAST_RNDV: u64 = 16 * K;

/// A value that was found, and why.
pub struct Found {
    /// Parameters and their values; none where the default is as good.
    pub set: Vec<(&'static str, String)>,
    /// The alternatives that were compared.
    pub question: &'static str,
    /// Titles of the two columns.
    pub ways: [&'static str; 2],
    /// Unit of the sizes.
    pub sizes: &'static str,
    pub points: Vec<Point>,
    pub conclusion: String,
}

type Values = Vec<(&'static str, String)>;

fn bytes(name: &'static str, value: u64) -> (&'static str, String) {
    (name, value.to_string())
}
fn word(name: &'static str, value: &str) -> (&'static str, String) {
    (name, value.to_owned())
}

/// Messages of `size` go eagerly, whole.
fn eagerly(size: u64) -> Values {
    let limit = (size + 128).max(256);
    vec![
        bytes("btl_shm_max_send_size", limit.max(32 * K)),
        bytes("btl_shm_eager_limit", limit),
        bytes("btl_shm_rndv_eager_limit", limit),
    ]
}

/// Messages of `size` are announced, and read.
fn read() -> Values {
    vec![bytes("btl_shm_eager_limit", 512), bytes("btl_shm_min_get_size", 1), bytes("btl_shm_assist_min", 0)]
}

pub fn ask(bench: &Bench) -> Result<Vec<Found>, String> {
    let (eager, limit) = eager_limit(bench)?;
    let long = min_get_size(bench, limit)?;
    let string = string_min(bench)?;
    let nontemporal = nontemporal_min(bench)?;
    let pieces = max_send_size(bench, limit.max(LEAST_RNDV))?;
    Ok(vec![eager, long, string, nontemporal, assist_min(bench)?, pieces, min_get_run(bench)?])
}

fn whole(size: u64) -> (Kind, u64) {
    (Kind::RoundTrip, size)
}

/// Messages that nobody touches, and messages that were just written. The way that is better for the one may be worse for
/// the other, and programs have both; so that both count the same, the geometric mean of the two times is taken.
fn untouched_and_used(
    bench: &Bench,
    sizes: &[u64],
    one: impl Fn(u64) -> Values,
    other: impl Fn(u64) -> Values,
) -> Result<Vec<Point>, String> {
    let mut points = bench.compare(sizes, whole, &one, &other)?;
    let used = bench.compare(sizes, |size| (Kind::Used, size), &one, &other)?;
    for (point, more) in points.iter_mut().zip(used) {
        point.one = (point.one * more.one).sqrt();
        point.other = (point.other * more.other).sqrt();
    }
    Ok(points)
}

/// And the limit itself.
fn eager_limit(bench: &Bench) -> Result<(Found, u64), String> {
    let sizes = [2 * K, 4 * K, 8 * K, 12 * K, 16 * K, 24 * K, 32 * K, 64 * K];
    let points = untouched_and_used(bench, &sizes, eagerly, |_| read())?;
    let limit = from_which_on(&points).unwrap_or(64 * K);
    let set = vec![
        bytes("btl_shm_eager_limit", limit),
        bytes("btl_shm_rndv_eager_limit", limit.max(LEAST_RNDV)),
        bytes("btl_shm_max_send_size", limit.max(32 * K)),
    ];
    let conclusion = match from_which_on(&points) {
        Some(size) => format!("reading is faster from {size} bytes on: shorter messages go eagerly"),
        None => "reading is not faster up to 64 KiB, or not permitted here".into(),
    };
    let found = Found {
        set,
        question: "How long may a message be that is sent without asking?",
        ways: ["eager", "read"],
        sizes: "bytes; geometric mean of a message that nobody touches and one that was just written",
        points,
        conclusion,
    };
    Ok((found, limit))
}

/// From where on longer ones are read; `limit`: the longest that is sent without asking.
fn min_get_size(bench: &Bench, limit: u64) -> Result<Found, String> {
    let sizes = [64 * K, 256 * K, M].map(|size| size.max(2 * limit));
    let copied = |_| vec![word("btl_shm_single_copy_mechanism", "none")];
    let points = untouched_and_used(bench, &sizes, copied, |_| vec![bytes("btl_shm_min_get_size", 1)])?;
    let min = from_which_on(&points).map(|size| if size == sizes[0] { limit } else { size });
    Ok(Found {
        set: vec![bytes("btl_shm_min_get_size", min.unwrap_or(NEVER))],
        question: "From which size on is a message better read from the sender's memory than copied in pieces?",
        ways: ["copied", "read"],
        sizes: "bytes; geometric mean of a message that nobody touches and one that was just written",
        conclusion: match min {
            Some(size) => format!("read from {size} bytes on"),
            None => "never, or reading is not permitted here".into(),
        },
        points,
    })
}

fn string_min(bench: &Bench) -> Result<Found, String> {
    let sizes = [K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K];
    let with = |size: u64, min: u64| {
        let mut values = eagerly(size);
        values.extend([bytes("btl_shm_nontemporal_min", NEVER), bytes("btl_shm_string_min", min)]);
        values
    };
    let points = untouched_and_used(bench, &sizes, |size| with(size, NEVER), |size| with(size, 1))?;
    let min = from_which_on(&points);
    Ok(Found {
        set: vec![bytes("btl_shm_string_min", min.unwrap_or(NEVER))],
        question: "From which size on is payload better stored by the processor's string instruction?",
        ways: ["ordinary stores", "string"],
        sizes: "bytes; geometric mean of a message that nobody touches and one that was just written",
        conclusion: match min {
            Some(size) => format!("by string from {size} bytes on"),
            None => "by ordinary stores up to 32 KiB".into(),
        },
        points,
    })
}

fn nontemporal_min(bench: &Bench) -> Result<Found, String> {
    let sizes = [4 * K, 8 * K, 16 * K, 32 * K];
    let with = |size: u64, min: u64| {
        let mut values = eagerly(size);
        values.extend([bytes("btl_shm_string_min", NEVER), bytes("btl_shm_nontemporal_min", min)]);
        values
    };
    let points = untouched_and_used(bench, &sizes, |size| with(size, NEVER), |size| with(size, 1))?;
    let min = from_which_on(&points);
    Ok(Found {
        set: vec![bytes("btl_shm_nontemporal_min", min.unwrap_or(NEVER))],
        question: "From which size on is payload better stored past the cache?",
        ways: ["through the cache", "past it"],
        sizes: "bytes; geometric mean of a message that nobody touches and one that was just written",
        conclusion: match min {
            Some(size) => format!("past the cache from {size} bytes on"),
            None => "through the cache up to 32 KiB".into(),
        },
        points,
    })
}

fn assist_min(bench: &Bench) -> Result<Found, String> {
    let sizes = [32 * K, 64 * K, 128 * K, 256 * K, M];
    let points = bench.compare(
        &sizes,
        whole,
        |_| vec![bytes("btl_shm_min_get_size", 1), bytes("btl_shm_assist_min", 0)],
        |_| vec![bytes("btl_shm_min_get_size", 1), bytes("btl_shm_assist_min", 1)],
    )?;
    let min = from_which_on(&points);
    Ok(Found {
        set: vec![bytes("btl_shm_assist_min", min.unwrap_or(0))],
        question: "From which size on should the sender of a message help to read it?",
        ways: ["alone", "together"],
        sizes: "bytes",
        conclusion: match min {
            Some(size) => format!("together from {size} bytes on"),
            None => "never: one process is as fast".into(),
        },
        points,
    })
}

/// The one question with more than two ways: the best piece for streaming, where reading is not possible.
/// `least`: messages of that size go in one.
fn max_send_size(bench: &Bench, least: u64) -> Result<Found, String> {
    let with =
        |size: u64| vec![word("btl_shm_single_copy_mechanism", "none"), bytes("btl_shm_max_send_size", size)];
    let sizes = [16 * K, 64 * K, 128 * K];
    let points = bench.compare(&sizes, |_| (Kind::RoundTrip, M), |_| with(32 * K), with)?;
    let best = points
        .iter()
        .filter(|p| p.other < p.one * CLEARLY)
        .min_by(|a, b| (a.other / a.one).total_cmp(&(b.other / b.one)));
    Ok(Found {
        // One that is too small for those is only told.
        set: best
            .filter(|p| p.size >= least)
            .map(|p| bytes("btl_shm_max_send_size", p.size))
            .into_iter()
            .collect(),
        question: "In which pieces is a message of 1 MiB best copied through shared memory, where it cannot be \
                   read?",
        ways: ["pieces of 32 KiB", "pieces of that size"],
        sizes: "bytes of a piece",
        conclusion: match best {
            Some(p) => format!("pieces of {} bytes", p.size),
            None => "pieces of 32 KiB".into(),
        },
        points,
    })
}

fn min_get_run(bench: &Bench) -> Result<Found, String> {
    let pieces = [K, 2 * K, 4 * K, 8 * K, 16 * K, 32 * K];
    let points = bench.compare(
        &pieces,
        |piece| (Kind::Pieces(piece), 256 * K),
        |_| vec![bytes("pml_ob1_min_get_run", 0)],
        |_| vec![bytes("pml_ob1_min_get_run", 1), bytes("pml_ob1_min_get_run_local", 1)],
    )?;
    let min = from_which_on(&points);
    Ok(Found {
        set: vec![bytes("pml_ob1_min_get_run", min.unwrap_or(0))],
        question: "How long must the pieces of a message of 256 KiB be that is better read from the sender's \
                   memory in one copy?",
        ways: ["packed and unpacked", "read"],
        sizes: "bytes of a piece",
        conclusion: match min {
            Some(size) => format!("pieces of {size} bytes"),
            None => "never, or reading is not permitted here".into(),
        },
        points,
    })
}
