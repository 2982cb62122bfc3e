//! Values in force in a process, told by the functions with which its modules are made: the choice of interfaces and their speed
//! are here, for both.

use crate::interfaces::{BadWish, Wish, choose};
use crate::params::{Ports, Settings, index};
use crate::sys::{self, Interface};
use oxmpi_mca::{Answers, Params, Refused};

/// See `Component::resolve`.
pub fn tell(params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
    let settings = Settings::of(params)?;
    interfaces(&settings, answers)?;
    let ports = [
        (index::PORT_MIN_V4, index::PORT_RANGE_V4, settings.ports_v4, "btl_tcp_port_range_v4"),
        (index::PORT_MIN_V6, index::PORT_RANGE_V6, settings.ports_v6, "btl_tcp_port_range_v6"),
    ];
    for (first, range, ports, name) in ports {
        if ports == Ports::ANY {
            let because = format!("with {name} of {} any port: the system chooses one", Ports::ANY.count);
            answers.as_set(first, because);
        } else if ports.count() < ports.count {
            answers.tell(range, ports.count(), format!("no more are left from {} on", ports.first));
        }
    }
    for (param, file) in [(index::SNDBUF, "tcp_wmem"), (index::RCVBUF, "tcp_rmem")] {
        if params.size(param) == 0 {
            answers.as_set(param, format!("0: the system adapts it, within net.ipv4.{file}{}", limits(file)));
        }
    }
    for (param, value) in [
        (index::MAX_SEND_SIZE, settings.max_send_size),
        (index::EAGER_LIMIT, settings.eager_limit),
        (index::RNDV_EAGER_LIMIT, settings.rndv_eager_limit),
    ] {
        if value < params.size(param) {
            answers.tell(param, value, "a quarter of btl_tcp_window");
        }
    }
    if params.int(index::DISABLE_FAMILY) == 0 {
        answers.as_set(index::DISABLE_FAMILY, "0: addresses of both families are used");
    }
    Ok(())
}

fn interfaces(settings: &Settings, answers: &mut Answers<'_>) -> Result<(), Refused> {
    // Where they cannot be listed there is nothing to tell; `open` says so.
    let Ok(all) = sys::interfaces() else { return Ok(()) };
    let (found, _) = chosen(&all, settings).map_err(|(refused, ..)| refused)?;
    if found.is_empty() {
        answers.as_set(index::IF_INCLUDE, "no interface is left by the two lists, so that tcp is not used");
        return Ok(());
    }
    let names: Vec<&str> = found.iter().map(|i| &*i.name).collect();
    let names = names.join(",");
    if settings.include.is_empty() {
        answers.tell(index::IF_INCLUDE, &names, "empty: the interfaces that btl_tcp_if_exclude leaves");
    } else if settings.include != names {
        answers.tell(index::IF_INCLUDE, &names, format!("the interfaces that {} names", settings.include));
    }
    if settings.bandwidth == 0 {
        let speeds: Vec<u32> = found.iter().map(speed_of).collect();
        let each = found.iter().zip(&speeds).map(|(i, speed)| match sys::speed(&i.name) {
            Some(_) => format!("{speed} of {}, as the system says", i.name),
            None => format!("{speed} of {}, whose speed the system does not know", i.name),
        });
        let because = format!("0: {}", each.collect::<Vec<_>>().join("; "));
        match speeds.iter().all(|speed| *speed == speeds[0]) {
            true => answers.tell(index::BANDWIDTH, speeds[0], because),
            false => answers.as_set(index::BANDWIDTH, because),
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

/// A refusal, the paragraph of `help.txt` that says what to do, and its arguments.
type Unmet = (Refused, &'static str, Vec<String>);

/// The interfaces that the lists leave of `all`, and what of the lists fits none.
pub fn chosen(all: &[Interface], settings: &Settings) -> Result<(Vec<Interface>, Vec<String>), Unmet> {
    let (include, exclude) = (&settings.include, &settings.exclude);
    let wish = Wish { include, exclude, families: settings.families, warn_unfound: settings.warn_unfound };
    choose(all, &wish).map_err(|bad| match bad {
        BadWish::Both => {
            let why = "btl_tcp_if_include and btl_tcp_if_exclude are both set";
            (Refused::bad(index::IF_EXCLUDE, why), "both-lists", vec![include.clone(), exclude.clone()])
        }
        BadWish::NotANetwork(text) => {
            let param = if include.contains(&text) { index::IF_INCLUDE } else { index::IF_EXCLUDE };
            let why = format!("{text} is neither the name of an interface nor a network");
            (Refused::bad(param, why), "not-a-network", vec![text])
        }
        BadWish::NotHere(text) => {
            let here: Vec<&str> = all.iter().map(|i| &*i.name).collect();
            let why = format!("btl_tcp_if_include names {text}, which is not here");
            (Refused::not_here(index::IF_INCLUDE, why), "not-here", vec![text, here.join(", ")])
        }
    })
}

/// In Mb/s. Where the system does not know it, as of virtual and loopback interfaces: Open MPI's number.
pub fn speed_of(interface: &Interface) -> u32 {
    sys::speed(&interface.name).unwrap_or(100)
}
