//! Which devices and ports are used, and at which address each is reached.

use crate::library::{Api, text};
use crate::objects::{OpenDevice, Refused};
use crate::params::Settings;
use oxmpi_verbs_abi::numbers::{atomic_cap, gid_type, link_layer, port_state};
use oxmpi_verbs_abi::{DeviceAttr, Gid, PortAttr};
use std::sync::Arc;

/// A port that is used.
pub struct Port {
    pub device: Arc<OpenDevice>,
    /// Device and port, as parameters name them.
    pub name: String,
    pub number: u8,
    pub gid: Gid,
    pub gid_index: u8,
    pub lid: u16,
    pub ethernet: bool,
    /// As `enum ibv_mtu`.
    pub mtu: u32,
    pub partition_index: u16,
    /// Mb/s.
    pub rate: u32,
    pub limits: Limits,
}

/// Limits of a device, as far as we meet them.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub requests: u32,
    pub shared_receives: u32,
    pub entries: u32,
    /// Reads and atomics under way, as requester and as responder.
    pub rd_atomic_out: u8,
    pub rd_atomic_in: u8,
    pub message: u64,
    pub atomics: bool,
    /// Atomic to the processors, too.
    pub coherent: bool,
}

/// Why no port is used.
#[derive(Debug)]
pub enum NoPort {
    /// Nothing is there that could be: normal.
    Nothing(String),
    /// A list names something that is not here; and what is here.
    NotHere(String, Vec<String>),
    /// Device and port that are in no such partition.
    NoPartition(String, u8),
}

/// An entry of a list of devices.
#[derive(Debug, PartialEq, Eq)]
struct Item<'a> {
    device: &'a str,
    port: Option<u8>,
    text: &'a str,
}

/// Entries that cannot be a port keep their text and fit nothing.
fn items(list: &str) -> Vec<Item<'_>> {
    let of = |text| match str::split_once(text, ':') {
        Some((device, port)) => match port.parse() {
            Ok(port) => Item { device, port: Some(port), text },
            Err(_) => Item { device: text, port: None, text },
        },
        None => Item { device: text, port: None, text },
    };
    list.split(',').map(str::trim).filter(|s| !s.is_empty()).map(of).collect()
}

impl Item<'_> {
    fn fits(&self, device: &str, port: u8) -> bool {
        self.device == device && self.port.is_none_or(|p| p == port)
    }
}

/// All ports that the parameters leave, in the order of the library's list.
pub fn ports(api: &Arc<Api>, settings: &Settings) -> Result<Vec<Port>, NoPort> {
    let devices = devices(api);
    if devices.is_empty() {
        return Err(NoPort::Nothing("the verbs library finds no device".into()));
    }
    let (include, exclude) = (items(&settings.include), items(&settings.exclude));
    let here: Vec<(String, u8)> = devices
        .iter()
        .flat_map(|(name, _, attr)| (1..=attr.phys_port_cnt).map(move |p| (name.clone(), p)))
        .collect();
    for item in include.iter().chain(&exclude) {
        if !here.iter().any(|(device, port)| item.fits(device, *port)) {
            let here = here.iter().map(|(device, port)| format!("{device}:{port}")).collect();
            return Err(NoPort::NotHere(item.text.into(), here));
        }
    }
    let (mut found, mut why) = (Vec::new(), "the lists of devices leave none".to_owned());
    for (name, device, attr) in &devices {
        for number in 1..=attr.phys_port_cnt {
            let included = include.is_empty() || include.iter().any(|i| i.fits(name, number));
            if !included || exclude.iter().any(|i| i.fits(name, number)) {
                continue;
            }
            match port(device, name, number, attr, settings) {
                Ok(Ok(port)) => found.push(port),
                Ok(Err(unfit)) => why = unfit,
                Err(stop) => return Err(stop),
            }
        }
    }
    if found.is_empty() { Err(NoPort::Nothing(why)) } else { Ok(found) }
}

/// Devices that can be opened, with their names and attributes.
fn devices(api: &Arc<Api>) -> Vec<(String, Arc<OpenDevice>, DeviceAttr)> {
    let mut found = Vec::new();
    // SAFETY: the list ends with null, and its devices are opened before it is freed.
    unsafe {
        let list = (api.get_device_list)(core::ptr::null_mut());
        if list.is_null() {
            return found;
        }
        let mut at = list;
        while !(*at).is_null() {
            let name = text((api.get_device_name)(*at));
            let opened = OpenDevice::open(api, *at).and_then(|d| d.attributes().map(|a| (d, a)));
            if let Ok((device, attr)) = opened {
                found.push((name, device, attr));
            }
            at = at.add(1);
        }
        (api.free_device_list)(list);
    }
    found
}

/// The inner error: why this port is passed by.
fn port(
    device: &Arc<OpenDevice>,
    name: &str,
    number: u8,
    attr: &DeviceAttr,
    settings: &Settings,
) -> Result<Result<Port, Refused>, NoPort> {
    let pass = |why: &str| Ok(Err(format!("port {number} of {name} {why}")));
    let Ok(state) = device.port(number) else { return pass("does not answer") };
    if state.state != port_state::ACTIVE {
        return pass("is not up");
    }
    let ethernet = state.link_layer == link_layer::ETHERNET;
    let Some((gid, gid_index)) = address(device, number, &state, ethernet, settings) else {
        return pass("has no address (GID) to be reached at");
    };
    let keys = 0..state.pkey_tbl_len;
    let full = |index: &u16| match device.partition(number, u32::from(*index)) {
        Some(key) => key != 0 && (settings.partition == 0 || (key ^ settings.partition) & 0x7fff == 0),
        None => false,
    };
    let Some(partition_index) = keys.into_iter().find(full) else {
        if settings.partition != 0 {
            return Err(NoPort::NoPartition(name.into(), number));
        }
        return pass("is in no partition");
    };
    let mtu = if settings.mtu == 0 { state.active_mtu } else { settings.mtu.min(state.active_mtu) };
    Ok(Ok(Port {
        device: device.clone(),
        name: format!("{name}:{number}"),
        number,
        gid,
        gid_index,
        lid: state.lid,
        ethernet,
        mtu,
        partition_index,
        rate: rate(&state),
        limits: limits(attr, &state),
    }))
}

/// GID and index: the one that is asked for, or the first IPv4 one of RoCE version 2 on Ethernet, else the first.
fn address(
    device: &OpenDevice,
    port: u8,
    state: &PortAttr,
    ethernet: bool,
    settings: &Settings,
) -> Option<(Gid, u8)> {
    let at = |index: u32| device.gid(port, index).map(|(gid, kind)| (gid, kind, index as u8));
    if let Some(index) = settings.gid_index {
        return at(index).map(|(gid, _, index)| (gid, index));
    }
    let all = || (0..state.gid_tbl_len.clamp(0, 256) as u32).filter_map(at);
    let is_v2 = |kind: Option<u32>| kind.is_none_or(|k| k == gid_type::ROCE_V2);
    let is_v4 = |gid: &Gid| gid[..10] == [0; 10] && gid[10..12] == [0xff; 2];
    let best = match ethernet {
        true => all().find(|(gid, kind, _)| is_v2(*kind) && is_v4(gid)).or_else(|| {
            // Version 2 over IPv6, then whatever there is.
            all().find(|(_, kind, _)| is_v2(*kind)).or_else(|| all().next())
        }),
        false => all().next(),
    };
    best.map(|(gid, _, index)| (gid, index))
}

/// Mb/s of a port by its width and speed.
fn rate(port: &PortAttr) -> u32 {
    let lanes = match port.active_width {
        2 => 4,
        4 => 8,
        8 => 12,
        16 => 2,
        _ => 1,
    };
    let lane = match port.active_speed {
        1 => 2_000,
        2 => 4_000,
        4 | 8 => 10_000,
        16 => 14_000,
        32 => 25_000,
        64 => 50_000,
        128 => 100_000,
        _ => 2_500,
    };
    lanes * lane
}

fn limits(attr: &DeviceAttr, port: &PortAttr) -> Limits {
    let positive = |n: i32| n.max(1) as u32;
    let small = |n: i32| n.clamp(0, 128) as u8;
    Limits {
        requests: positive(attr.max_qp_wr),
        shared_receives: positive(attr.max_srq_wr),
        entries: positive(attr.max_cqe),
        rd_atomic_out: small(attr.max_qp_init_rd_atom),
        rd_atomic_in: small(attr.max_qp_rd_atom),
        message: u64::from(port.max_msg_sz),
        atomics: attr.atomic_cap != atomic_cap::NONE,
        coherent: attr.atomic_cap == atomic_cap::GLOB,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_devices_and_ports() {
        let all = items("mlx5_0, mlx5_1:2,rxe0:x");
        assert!(all[0].fits("mlx5_0", 1) && all[0].fits("mlx5_0", 2) && !all[0].fits("mlx5_1", 1));
        assert!(all[1].fits("mlx5_1", 2) && !all[1].fits("mlx5_1", 1));
        assert!(!all[2].fits("rxe0", 1), "no port is meant");
    }
}
