//! The checks, by what they look at. Each opens its own job, and fails by panicking with a sentence.

mod atomics;
mod declared;
mod life;
mod messages;
mod one_sided;
mod pressure;
mod reentry;
mod sleep;
mod threads;

pub use atomics::atomics_update;
pub use declared::{attributes_are_sane, descriptor_is_complete, parameters_are_complete};
pub use life::{
    endpoints_one_by_one_or_together, finalize_sends_what_is_queued, open_and_close_many_times,
    reaches_whom_it_should, two_jobs_do_not_meet,
};
pub use messages::{
    every_tag, header_and_payload_are_copied, payload_is_packed_in_order, sizes_and_header_lengths,
    too_large_is_refused, visible_when_send_returns,
};
pub use one_sided::{
    get_reads, get_vector_reads_pieces, one_sided_is_offered_or_refused, put_writes_and_flushes, registration,
};
pub use pressure::{back_pressure_loses_nothing, order_with_many_sizes, what_waits_is_told};
pub use reentry::{callback_floods, callback_may_send};
pub use sleep::{arm_sees_what_is_there, sleepers_are_woken};
pub use threads::{contexts_are_independent, contexts_on_threads, everyone_to_everyone, ranks_on_threads};
