//! The parameters of `pml_ob1_*` and their values as the rest of the room reads them.

use oxmpi_mca::{ParamDecl, ParamKind, Params, StrRef};

/// Matching engines by the index of their enumerator.
const ENGINE_NAMES: [&str; 1] = ["list"];
static ENGINES: [StrRef; 1] = [StrRef::new(ENGINE_NAMES[0])];

/// Declarations, in the order of the indices in [`Config::read`].
pub static PARAMS: [ParamDecl; 4] = [
    ParamDecl::new(
        "priority",
        ParamKind::INT,
        9,
        "20",
        "Priority of this component when a point-to-point layer is selected",
    )
    .range(0, 100),
    ParamDecl::new(
        "free_list_inc",
        ParamKind::INT,
        9,
        "64",
        "Requests made at a time when a pool of requests is empty",
    )
    .range(1, 65536),
    ParamDecl::new(
        "eager_credit",
        ParamKind::SIZE,
        5,
        "4m",
        "Bytes of eager payload (messages above 64 bytes) that may wait unmatched at one peer; when they \
         are used up, messages announce themselves and wait for their receive",
    )
    .range(0, 1 << 40),
    ParamDecl::new(
        "matching",
        ParamKind::ENUM,
        5,
        "list",
        "Matching engine of communicators that name none by the info key 'oxmpi_matching'",
    )
    .one_of(&ENGINES),
];

/// The values of one instance.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    pub priority: i32,
    pub pool_step: usize,
    pub eager_credit: u64,
    /// Engine of communicators that name none.
    pub matching: &'static str,
}

impl Config {
    pub fn read(params: &Params<'_>) -> Config {
        Config {
            priority: params.int(0) as i32,
            pool_step: params.int(1).clamp(1, 65536) as usize,
            eager_credit: params.size(2) as u64,
            matching: ENGINE_NAMES.get(params.int(3) as usize).copied().unwrap_or(ENGINE_NAMES[0]),
        }
    }
}
