//! Values in force of the parameters that say "as the port has it" or "by itself": how each follows, without opening a device.

use crate::params::{Category, Settings, at};
use oxmpi_mca::{Answers, Params, Refused};

/// See `Component::resolve`. Settings that cannot be are refused where the component opens, which names them.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
    let Ok(settings) = Settings::of(params) else { return Ok(()) };
    let unset = [
        (
            at::IF_INCLUDE,
            settings.include.is_empty(),
            "empty: all ports of all devices but those of btl_verbs_if_exclude",
        ),
        (at::IF_EXCLUDE, settings.exclude.is_empty(), "empty: no device is kept out"),
        (at::PARTITION_KEY, settings.partition == 0, "0: the first partition of each port"),
        (at::MTU, settings.mtu == 0, "0: what each port is set to"),
        (
            at::VIRTUAL_DEVICES,
            settings.virtual_devices == 0,
            "0: one for each communication resource (runtime_num_cris)",
        ),
        (at::MAX_INLINE, settings.max_inline == 0, "0: all messages are sent from buffers"),
        (at::TIMEOUT, settings.timeout == 0, "0: the device waits for an answer without end"),
        (at::RETRY_COUNT, settings.retry_count == 0, "0: what is lost once has failed"),
        (
            at::RNR_RETRY,
            settings.rnr_retry == 0,
            "0: a receiver without a buffer fails the connection at once",
        ),
        (at::RNR_TIMER, settings.rnr_timer == 0, "0: the longest time that InfiniBand can say, 655.36 ms"),
        (at::SERVICE_LEVEL, settings.service_level == 0, "0: the fabric's usual lane"),
        (at::TRAFFIC_CLASS, settings.traffic_class == 0, "0: the network's usual class"),
        (at::BANDWIDTH, settings.bandwidth == 0, "0: the rate that each port tells"),
    ];
    for (param, is_unset, because) in unset {
        if is_unset {
            answers.as_set(param, because);
        }
    }
    if settings.gid_index.is_none() {
        let because =
            "-1: on Ethernet the first IPv4 address of RoCE version 2 of each port, on InfiniBand 0";
        answers.tell(at::GID_INDEX, "by port", because);
    }
    if settings.category == Category::Auto {
        let because = "auto: dynamic, or static where the library has no thread domains";
        answers.tell(at::CATEGORY, "dynamic", because);
    }
    Ok(())
}
