//! Values in force in a process, told from the ports that `open` would use.

use crate::category::{Domains, Plan, Takes};
use crate::choices::{Category, Registers};
use crate::device::Port;
use crate::params::{Settings, index};
use oxmpi_mca::{Answers, Process};

/// See `Component::resolve`. `found`: the ports, or why there is none.
pub fn tell(
    process: &Process<'_>,
    settings: &Settings,
    found: Result<&[Port], &str>,
    answers: &mut Answers<'_>,
) {
    for (param, value) in
        [(index::SERVICE_LEVEL, settings.service_level), (index::TRAFFIC_CLASS, settings.traffic_class)]
    {
        if value == 0 {
            answers.as_set(param, "0: the usual one");
        }
    }
    if settings.timeout == 0 {
        answers.as_set(index::TIMEOUT, "0: the device waits without a limit");
    }
    if settings.retry_count == 0 {
        answers.as_set(index::RETRY_COUNT, "0: the device sends nothing again");
    }
    if settings.max_inline == 0 {
        answers.as_set(index::MAX_INLINE, "0: everything is sent from buffers");
    }
    match found {
        Ok(ports) => of_ports(process, settings, ports, answers),
        Err(why) => without_ports(settings, why, answers),
    }
}

fn of_ports(process: &Process<'_>, settings: &Settings, ports: &[Port], answers: &mut Answers<'_>) {
    let names: Vec<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let names = names.join(",");
    if settings.include.trim().is_empty() {
        answers.tell(index::IF_INCLUDE, &names, "empty: all ports that btl_verbs_if_exclude leaves");
    }
    if settings.exclude.trim().is_empty() {
        answers.as_set(index::IF_EXCLUDE, "empty: no port is left out");
    }
    let mut each = |param, value: &dyn Fn(&Port) -> u32, what: &str| {
        let values: Vec<u32> = ports.iter().map(value).collect();
        let told: Vec<String> =
            ports.iter().zip(&values).map(|(p, v)| format!("{v} of {}", p.name)).collect();
        let because = format!("{what}: {}", told.join("; "));
        match values.first() {
            Some(first) if values.iter().all(|value| value == first) => answers.tell(param, first, because),
            _ => answers.as_set(param, because),
        }
    };
    if settings.gid_index.is_none() {
        each(index::GID_INDEX, &|port| port.gid_index.into(), "-1: the index chosen for each port");
    }
    if settings.mtu == 0 {
        each(index::MTU, &|port| 128 << port.mtu, "0: what each port is set to");
    }
    if settings.bandwidth == 0 {
        each(index::BANDWIDTH, &|port| port.rate, "0: the rate of each port in Mb/s");
    }
    if settings.partition == 0 {
        answers.as_set(index::PARTITION_KEY, "0: the first partition of each port");
    }
    if settings.virtual_devices == 0 {
        answers.tell(
            index::VIRTUAL_DEVICES,
            process.num_cris,
            "0: one for each communication resource instance",
        );
    }
    let Some(first) = ports.first() else { return };
    let domains = Domains::of(&first.device);
    let (plan, lanes) = Plan::of(settings, process.num_cris);
    let takes = Takes::of(plan, lanes, domains);
    let takes = format!("{} on each port: {takes}", many(process.num_cris));
    if settings.share_contexts == 0 {
        answers.tell(index::SHARE_CONTEXTS, plan.contexts, "0: as the category has it");
    }
    if settings.share_domains == 0 {
        answers.tell(index::SHARE_DOMAINS, plan.domains, "0: one for all that share a device context");
    }
    for (param, set, value) in [
        (index::SHARE_QUEUES, settings.share_queues, plan.queues),
        (index::SHARE_BUFFERS, settings.share_buffers, plan.buffers),
        (index::SHARE_REGISTRATIONS, settings.share_registrations, plan.registrations),
    ] {
        if set == 0 {
            answers.tell(param, value, "0: not shared beyond what shares send buffers");
        }
    }
    if settings.registers.is_none() {
        let (registers, because) = match domains {
            Domains::None => (Registers::Library, "auto: the library has no thread domains"),
            _ => (plan.registers, "auto: as the category has it"),
        };
        answers.tell(index::SHARE_REGISTERS, registers.name(), because);
    }
    match (settings.category, domains) {
        (Category::Auto, Domains::None) => answers.tell(
            index::CATEGORY,
            Category::Static.name(),
            format!("auto: the library has no thread domains; {takes}"),
        ),
        (Category::Auto, _) => answers.tell(
            index::CATEGORY,
            Category::Dynamic.name(),
            format!("auto: the library has thread domains; {takes}"),
        ),
        (Category::TwiceDynamic | Category::Dynamic | Category::SharedDynamic, Domains::None) => answers
            .tell(
                index::CATEGORY,
                Category::Static.name(),
                format!("the library has no thread domains; {takes}"),
            ),
        _ => answers.as_set(index::CATEGORY, takes),
    }
}

fn many(contexts: u32) -> String {
    if contexts == 1 { "one context".into() } else { format!("{contexts} contexts") }
}

/// Answers for the parameters whose automatic values need a port, where there is none: they stay as set.
fn without_ports(settings: &Settings, why: &str, answers: &mut Answers<'_>) {
    let because = format!("verbs is not used in this process: {why}");
    let automatic = [
        (index::IF_INCLUDE, settings.include.trim().is_empty()),
        (index::IF_EXCLUDE, settings.exclude.trim().is_empty()),
        (index::GID_INDEX, settings.gid_index.is_none()),
        (index::CATEGORY, settings.category == Category::Auto),
        (index::MTU, settings.mtu == 0),
        (index::BANDWIDTH, settings.bandwidth == 0),
        (index::PARTITION_KEY, settings.partition == 0),
        (index::VIRTUAL_DEVICES, settings.virtual_devices == 0),
        (index::SHARE_CONTEXTS, settings.share_contexts == 0),
        (index::SHARE_DOMAINS, settings.share_domains == 0),
        (index::SHARE_REGISTERS, settings.registers.is_none()),
        (index::SHARE_QUEUES, settings.share_queues == 0),
        (index::SHARE_BUFFERS, settings.share_buffers == 0),
        (index::SHARE_REGISTRATIONS, settings.share_registrations == 0),
    ];
    for (param, _) in automatic.into_iter().filter(|(_, automatic)| *automatic) {
        answers.as_set(param, &because);
    }
}
