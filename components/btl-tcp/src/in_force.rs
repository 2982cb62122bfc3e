//! Values in force in a process, told by the functions with which its modules are made.

use crate::component::{chosen, speed_of};
use crate::params::{Ports, Settings, at};
use crate::sys;
use oxmpi_mca::{Answers, Params, Refused};

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
    let settings = Settings::of(params)?;
    interfaces(&settings, answers)?;
    let ports = [
        (at::PORT_MIN_V4, at::PORT_RANGE_V4, settings.ports_v4, "btl_tcp_port_range_v4"),
        (at::PORT_MIN_V6, at::PORT_RANGE_V6, settings.ports_v6, "btl_tcp_port_range_v6"),
    ];
    for (first, range, ports, name) in ports {
        if ports == Ports::ANY {
            let because = format!("with {name} of {} any port: the system chooses one", Ports::ANY.count);
            answers.as_set(first, because);
        } else if ports.count() < ports.count {
            answers.tell(range, ports.count(), format!("no more are left from {} on", ports.first));
        }
    }
    for (param, file) in [(at::SNDBUF, "tcp_wmem"), (at::RCVBUF, "tcp_rmem")] {
        if params.size(param) == 0 {
            answers.as_set(param, format!("0: the system adapts it, within net.ipv4.{file}{}", limits(file)));
        }
    }
    if params.int(at::DISABLE_FAMILY) == 0 {
        answers.as_set(at::DISABLE_FAMILY, "0: addresses of both families are used");
    }
    Ok(())
}

fn interfaces(settings: &Settings, answers: &mut Answers<'_>) -> Result<(), Refused> {
    // Where they cannot be listed there is nothing to tell; `open` says so.
    let Ok(all) = sys::interfaces() else { return Ok(()) };
    let (found, _) = chosen(&all, settings).map_err(|(refused, ..)| refused)?;
    if found.is_empty() {
        answers.as_set(at::IF_INCLUDE, "no interface is left by the two lists, so that tcp is not used");
        return Ok(());
    }
    let names: Vec<&str> = found.iter().map(|i| &*i.name).collect();
    let names = names.join(",");
    if settings.include.is_empty() {
        answers.tell(at::IF_INCLUDE, &names, "empty: the interfaces that btl_tcp_if_exclude leaves");
    } else if settings.include != names {
        answers.tell(at::IF_INCLUDE, &names, format!("the interfaces that {} names", settings.include));
    }
    if settings.bandwidth == 0 {
        let speeds: Vec<u32> = found.iter().map(speed_of).collect();
        let each = found.iter().zip(&speeds).map(|(i, speed)| match sys::speed(&i.name) {
            Some(_) => format!("{speed} of {}, as the system says", i.name),
            None => format!("{speed} of {}, whose speed the system does not know", i.name),
        });
        let because = format!("0: {}", each.collect::<Vec<_>>().join("; "));
        match speeds.iter().all(|speed| *speed == speeds[0]) {
            true => answers.tell(at::BANDWIDTH, speeds[0], because),
            false => answers.as_set(at::BANDWIDTH, because),
        }
    }
    Ok(())
}

/// The least, usual and largest size, for a sentence.
fn limits(file: &str) -> String {
    let text = std::fs::read_to_string(format!("/proc/sys/net/ipv4/{file}")).unwrap_or_default();
    match text.split_whitespace().collect::<Vec<_>>()[..] {
        [least, usual, most] => format!(" ({least} to {most}, at first {usual})"),
        _ => String::new(),
    }
}
