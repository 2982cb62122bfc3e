//! Parameters. `priority` is a name of Open MPI's; the others are ours.

use crate::wire::HEAD;
use oxmpi_mca::{ParamDecl, ParamKind, Params};
use oxmpi_osc_support::wire::RUN;

/// Place in [`PARAMS`].
pub const PRIORITY: usize = 0;
/// Place in [`PARAMS`].
pub const AGGREGATION: usize = 1;

/// Full names are `osc_pt2pt_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        8,
        "10",
        "Priority among the components that serve a window; the highest serves it. Raise it to prefer messages where another component would serve windows, too",
    )
    .range(0, 100),
    ParamDecl::new(
        "aggregation",
        ParamKind::SIZE,
        6,
        "4k",
        "Bytes up to which small operations to one target are collected before they are sent, unless a synchronisation or a call of progress that finds no new ones sends them sooner; 0: each is sent at once. Set it to 0 where targets wait for single puts of programs that then compute",
    )
    .range(0, LARGEST_MESSAGE),
    ParamDecl::new(
        "message_size",
        ParamKind::SIZE,
        7,
        "4k",
        "Largest message of operations; longer data and layouts follow in messages of their own. Raise it, not above the transports' eager limits, where most operations are a little longer",
    )
    .range(LEAST_MESSAGE, LARGEST_MESSAGE),
    ParamDecl::new(
        "receives",
        ParamKind::INT,
        7,
        "8",
        "Messages of operations that each window is ready to receive, each with a buffer of osc_pt2pt_message_size. Lower it where a program has very many windows",
    )
    .range(1, 1024),
    ParamDecl::new(
        "service_links",
        ParamKind::BOOL,
        8,
        "true",
        "Has operations that fit into a message carried out at their targets by whoever serves their transport there, so also while they compute, where it has service links. Set it to false to have all carried out in the targets' own calls of MPI",
    ),
];

/// A record of any kind without data fits, and the largest element for compare and swap, twice.
const LEAST_MESSAGE: i64 = 256;
const LARGEST_MESSAGE: i64 = 1 << 20;

const _: () = assert!(HEAD + RUN + 2 * 32 <= LEAST_MESSAGE as usize);

/// Values of the parameters.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    pub priority: i32,
    /// In bytes; 0: none.
    pub aggregation: usize,
    pub message: usize,
    pub receives: usize,
    /// Operations are asked of the targets' listeners.
    pub asks: bool,
}

impl Settings {
    pub fn of(params: Params<'_>) -> Settings {
        Settings {
            priority: params.int(0) as i32,
            aggregation: params.size(AGGREGATION),
            message: params.size(2),
            receives: params.int(3) as usize,
            asks: params.flag(4),
        }
    }

    /// How many bytes of operations wait for each other at most, to a rank that receives messages of `room`.
    pub fn batch(&self, room: usize) -> usize {
        self.aggregation.min(room)
    }
}
