//! Data in pieces, at either end, read in one copy or streamed: the bytes are the same.

mod common;

use common::*;
use oxmpi_datatype::build::{self, Part};
use oxmpi_datatype::{Base, TypeDesc, TypeRef, pack};
use oxmpi_mca::Status;
use oxmpi_pml::mode;
use proptest::prelude::*;

fn byte_type() -> TypeRef {
    let desc: &'static TypeDesc = Box::leak(Box::new(TypeDesc::basic(Base::BYTE).expect("basic")));
    // SAFETY: the descriptor lives as long as the program.
    unsafe { TypeRef::adopt(desc) }
}

/// How the data of one end lies.
#[derive(Clone, Debug)]
enum Layout {
    Contiguous,
    /// Blocks of one length at equal distances.
    Vector {
        len: u64,
        gap: u64,
    },
    /// Blocks of several lengths, as long as there is data.
    Irregular(Vec<(u64, u64)>),
    /// Planes of rows.
    Box {
        len: u64,
        gap: u64,
        rows: u64,
        plane: u64,
    },
}

impl Layout {
    /// The type with `total` bytes of data.
    fn of(&self, total: u64) -> TypeRef {
        let bytes = byte_type();
        // A block and a rest, so that any total can be had.
        let with_rest = |block: &TypeRef, step: u64, per: u64| {
            let (count, rest) = (total / per, total % per);
            let body = build::hvector(count, 1, step as i64, block).expect("vector");
            let tail = build::contiguous(rest, &bytes).expect("rest");
            build::structure(&[
                Part { disp: 0, count: 1, old: &body },
                Part { disp: (count * step) as i64, count: 1, old: &tail },
            ])
            .expect("structure")
        };
        match self {
            Layout::Contiguous => build::contiguous(total, &bytes).expect("contiguous"),
            Layout::Vector { len, gap } => {
                with_rest(&build::contiguous(*len, &bytes).expect("block"), len + gap, *len)
            }
            Layout::Irregular(blocks) => {
                let (mut parts, mut at, mut left) = (Vec::new(), 0, total);
                for (len, gap) in blocks.iter().cycle() {
                    let n = (*len).min(left);
                    parts.push(Part { disp: at, count: n, old: &bytes });
                    at += (n + gap) as i64;
                    left -= n;
                    if left == 0 {
                        break;
                    }
                }
                build::structure(&parts).expect("structure")
            }
            Layout::Box { len, gap, rows, plane } => {
                let row = build::contiguous(*len, &bytes).expect("row");
                let face = build::hvector(*rows, 1, (len + gap) as i64, &row).expect("plane");
                with_rest(&face, rows * (len + gap) + plane, rows * len)
            }
        }
    }
}

fn layout() -> impl Strategy<Value = Layout> {
    let len = || prop_oneof![1u64..200, 500u64..9000];
    prop_oneof![
        1 => Just(Layout::Contiguous),
        2 => (len(), 1u64..5000).prop_map(|(len, gap)| Layout::Vector { len, gap }),
        2 => proptest::collection::vec((len(), 0u64..3000), 1..12).prop_map(Layout::Irregular),
        2 => (len(), 1u64..500, 1u64..40, 0u64..5000)
            .prop_map(|(len, gap, rows, plane)| Layout::Box { len, gap, rows, plane }),
    ]
}

fn packed(ty: &TypeDesc, user: &[u8]) -> Vec<u8> {
    let mut out = vec![0; ty.packed as usize];
    // SAFETY: the buffer is as long as the type says.
    unsafe { pack(ty, 1, user.as_ptr(), 0, out.as_mut_ptr(), ty.packed) };
    out
}

/// One message from a layout to another, whose buffer takes `room` bytes. How many reads there were.
fn exchange(setup: Setup, from: &Layout, to: &Layout, total: u64, room: u64, posted_first: bool) -> u64 {
    let w = World::new(setup);
    let c = w.world();
    let (from, to) = (from.of(total), to.of(room));
    let data = pattern((from.true_extent as usize).max(1), total + 1);
    let mut buf = vec![0xEEu8; (to.true_extent as usize).max(1)];
    let send = || w.isend_typed(c[0], Elements(&data, &from, 1), 1, 5, mode::STANDARD);
    let (s, r);
    if posted_first {
        r = w.irecv_typed(c[1], &mut buf, &to, 1, 0, 5);
        s = send();
    } else {
        s = send();
        w.settle();
        r = w.irecv_typed(c[1], &mut buf, &to, 1, 0, 5);
    }
    let status = w.wait(r);
    let expected = if room < total { Status::TRUNCATED } else { Status::OK };
    assert_eq!((status.source, status.tag, status.error), (0, 5, expected));
    assert_eq!(w.wait(s).error, Status::OK);
    let n = total.min(room) as usize;
    assert!(packed(&to, &buf)[..n] == packed(&from, &data)[..n], "{total} bytes differ");
    // Bytes between the data stay as they were.
    let mut touched = vec![0xEEu8; buf.len()];
    // SAFETY: both are as long as the type says.
    unsafe { oxmpi_datatype::copy(&to, 1, buf.as_ptr(), touched.as_mut_ptr()) };
    assert!(touched[..] == buf[..] || n < room as usize, "something beside the data was written");
    w.assert_clean();
    w.gets()
}

fn reading() -> Setup {
    Setup { min_get: 8192, ..Setup::default() }
}

const LONG: Layout = Layout::Vector { len: 4096, gap: 100 };
const SHORT: Layout = Layout::Vector { len: 64, gap: 100 };

#[test]
fn long_pieces_are_read_and_short_ones_streamed() {
    let total = 300_000;
    let go = |from: &Layout, to: &Layout| exchange(reading(), from, to, total, total, true);
    assert_eq!(go(&LONG, &LONG), 1);
    assert_eq!(go(&LONG, &Layout::Contiguous), 1);
    assert_eq!(go(&Layout::Contiguous, &LONG), 1);
    assert_eq!(go(&SHORT, &LONG), 0, "not offered");
    assert_eq!(go(&LONG, &SHORT), 0, "not accepted");
    assert_eq!(go(&Layout::Contiguous, &SHORT), 0);
    let boxes = Layout::Box { len: 3000, gap: 96, rows: 7, plane: 1000 };
    assert_eq!(go(&boxes, &LONG), 1);
    // More pieces than fit one call of the transport.
    let total = 6 << 20;
    assert!(exchange(reading(), &LONG, &boxes, total, total, true) >= 4);
}

#[test]
fn it_can_be_switched_off_and_older_transports_lack_it() {
    let total = 300_000;
    for setup in [Setup { min_get_run: 0, ..reading() }, Setup { offers_vector: false, ..reading() }] {
        assert_eq!(exchange(setup, &LONG, &LONG, total, total, true), 0);
        assert_eq!(exchange(setup, &Layout::Contiguous, &LONG, total, total, false), 0);
    }
    let all = Setup { min_get_run: 60, ..reading() };
    assert_eq!(exchange(all, &SHORT, &SHORT, total, total, true), total.div_ceil(64 * 512));
}

#[test]
fn refused_reads_are_streamed_from_where_they_stopped() {
    let total = 6 << 20;
    for (get, tried) in [(Get::Refused, 1), (Get::RefusedLater, 1), (Get::RefusedSecond, 2)] {
        let setup = Setup { get, ..reading() };
        assert_eq!(exchange(setup, &LONG, &LONG, total, total, false), tried);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The bytes arrive, and no others, with any layouts, read or streamed.
    #[test]
    fn bytes_arrive(
        from in layout(),
        to in layout(),
        total in prop_oneof![1u64..20_000, 20_000u64..500_000],
        room in prop_oneof![Just(None), (0u64..500_000).prop_map(Some)],
        min_get_run in prop_oneof![Just(1i64), Just(2048), Just(0)],
        get in prop_oneof![3 => Just(Get::Works), 1 => Just(Get::RefusedSecond)],
        posted_first in any::<bool>(),
    ) {
        let setup = Setup { min_get_run, get, ..reading() };
        exchange(setup, &from, &to, total, room.unwrap_or(total).max(1), posted_first);
    }
}
