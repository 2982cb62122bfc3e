//! Addresses of this machine: where mpirun can be reached, and which of them a daemon tries first.

use crate::help::paragraph;
use std::ffi::CStr;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// An address of one of this machine's interfaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: String,
    pub address: IpAddr,
    /// Bits of the network.
    pub prefix: u32,
    pub loopback: bool,
}

/// All that are up.
pub fn interfaces() -> Result<Vec<Interface>, String> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    // SAFETY: `list` is a valid place for the pointer, which is freed below.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(format!("this machine's addresses cannot be read: {}", std::io::Error::last_os_error()));
    }
    let mut found = Vec::new();
    let mut next = list;
    while !next.is_null() {
        // SAFETY: an entry of the list that getifaddrs made; it stays until it is freed.
        let entry = unsafe { &*next };
        next = entry.ifa_next;
        let up = entry.ifa_flags & libc::IFF_UP as u32 != 0;
        // SAFETY: addresses are null or as long as their family says.
        let (address, mask) = unsafe { (ip(entry.ifa_addr), ip(entry.ifa_netmask)) };
        let Some(address) = address.filter(|_| up) else { continue };
        // SAFETY: the name is a C string of the entry.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        let prefix = mask
            .map_or(0, |mask| bits(mask).count_ones().saturating_sub(if mask.is_ipv4() { 96 } else { 0 }));
        let loopback = entry.ifa_flags & libc::IFF_LOOPBACK as u32 != 0;
        found.push(Interface { name, address, prefix, loopback });
    }
    // SAFETY: made by getifaddrs, and nothing of it is used any more.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// SAFETY: `address` is null or points to a socket address as long as its family says.
unsafe fn ip(address: *const libc::sockaddr) -> Option<IpAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: by the caller; unaligned reads need no alignment.
    unsafe {
        match i32::from((&raw const (*address).sa_family).read_unaligned()) {
            libc::AF_INET => {
                let v4 = address.cast::<libc::sockaddr_in>().read_unaligned();
                Some(IpAddr::V4(Ipv4Addr::from(u32::from_be(v4.sin_addr.s_addr))))
            }
            libc::AF_INET6 => {
                let v6 = address.cast::<libc::sockaddr_in6>().read_unaligned();
                Some(IpAddr::V6(Ipv6Addr::from(v6.sin6_addr.s6_addr)))
            }
            _ => None,
        }
    }
}

/// An address of either family as one number; those of version 4 lie behind 96 ones, which no mask of theirs changes.
fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(v4) => !u128::from(u32::MAX) | u128::from(u32::from(v4)),
        IpAddr::V6(v6) => u128::from(v6),
    }
}

/// Are both in the network of so many bits?
pub fn same_network(a: IpAddr, b: IpAddr, prefix: u32) -> bool {
    let width = if a.is_ipv4() { 32 } else { 128 };
    let kept = width - prefix.min(width);
    a.is_ipv4() == b.is_ipv4() && (bits(a) ^ bits(b)).checked_shr(kept).unwrap_or(0) == 0
}

/// A name of an interface, or a network in the form 10.0.0.0/8.
fn network(text: &str) -> Result<Option<(IpAddr, u32)>, String> {
    let Some((address, prefix)) = text.split_once('/') else { return Ok(None) };
    match (address.parse::<IpAddr>(), prefix.parse::<u32>()) {
        (Ok(address), Ok(prefix)) if prefix <= if address.is_ipv4() { 32 } else { 128 } => {
            Ok(Some((address, prefix)))
        }
        _ => Err(paragraph("bad-network", &[text])),
    }
}

/// Which addresses daemons are told: what is asked for, else what is not loopback, else what there is.
/// Addresses that mean something on one link only are left out.
pub fn reachable(all: &[Interface], include: &[String], exclude: &[String]) -> Result<Vec<IpAddr>, String> {
    let link_local = |address: IpAddr| match address {
        IpAddr::V4(v4) => v4.is_link_local(),
        IpAddr::V6(v6) => v6.is_unicast_link_local(),
    };
    let usable: Vec<&Interface> = all.iter().filter(|i| !link_local(i.address)).collect();
    let matches = |interface: &Interface, wanted: &str| -> Result<bool, String> {
        Ok(match network(wanted)? {
            Some((address, prefix)) => same_network(interface.address, address, prefix),
            None => interface.name == wanted,
        })
    };
    let any = |interface: &Interface, list: &[String]| -> Result<bool, String> {
        list.iter().try_fold(false, |found, wanted| Ok(found || matches(interface, wanted)?))
    };
    let mut chosen = Vec::new();
    for interface in usable.iter().filter(|i| !include.is_empty() || !i.loopback) {
        let in_list = any(interface, include)?;
        if (include.is_empty() || in_list) && !any(interface, exclude)? {
            chosen.push(interface.address);
        }
    }
    if chosen.is_empty() && !include.is_empty() {
        let names: Vec<&str> = all.iter().map(|i| i.name.as_str()).collect();
        return Err(paragraph("no-interface", &[&include.join(","), &names.join(", ")]));
    }
    if chosen.is_empty() {
        // A machine without a network still has itself.
        chosen = usable.iter().filter(|i| i.loopback).map(|i| i.address).collect();
    }
    match chosen.is_empty() {
        true => Err(paragraph("no-interface", &["", ""])),
        false => Ok(chosen),
    }
}

/// Where a daemon of this machine is reached that listens at a port of all of its addresses: as with `reachable`, and without names of
/// interfaces that mean nothing here.
pub fn door(port: u16, include: &[String], exclude: &[String]) -> Result<Vec<SocketAddr>, String> {
    let interfaces = interfaces()?;
    let own = reachable(&interfaces, include, exclude).or_else(|_| reachable(&interfaces, &[], &[]))?;
    Ok(own.into_iter().map(|address| SocketAddr::new(address, port)).collect())
}

/// Puts addresses in a network of one's own before the others.
pub fn nearest_first(addresses: &mut [SocketAddr], own: &[Interface]) {
    addresses.sort_by_key(|address| {
        !own.iter().any(|i| i.prefix > 0 && same_network(i.address, address.ip(), i.prefix))
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(name: &str, address: &str, prefix: u32) -> Interface {
        let loopback = name == "lo";
        Interface { name: name.into(), address: address.parse().expect("an address"), prefix, loopback }
    }

    fn some() -> Vec<Interface> {
        vec![
            at("lo", "127.0.0.1", 8),
            at("lo", "::1", 128),
            at("eth0", "10.1.0.5", 16),
            at("eth0", "fe80::5", 64),
            at("ib0", "192.168.7.5", 24),
            at("ib0", "fd00:7::5", 64),
        ]
    }

    fn chosen(include: &[&str], exclude: &[&str]) -> Result<Vec<String>, String> {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>();
        let found = reachable(&some(), &owned(include), &owned(exclude))?;
        Ok(found.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn what_is_handed_out() {
        assert_eq!(chosen(&[], &[]).expect("some"), ["10.1.0.5", "192.168.7.5", "fd00:7::5"]);
        assert_eq!(chosen(&["ib0"], &[]).expect("some"), ["192.168.7.5", "fd00:7::5"]);
        assert_eq!(chosen(&["10.0.0.0/8"], &[]).expect("some"), ["10.1.0.5"]);
        assert_eq!(chosen(&["lo"], &[]).expect("some"), ["127.0.0.1", "::1"]);
        assert_eq!(chosen(&[], &["ib0", "10.1.0.0/16"]).expect("itself"), ["127.0.0.1", "::1"]);
        assert!(chosen(&["eth9"], &[]).expect_err("unknown").contains("eth9"));
        assert!(chosen(&["10.0.0.0/33"], &[]).is_err());
    }

    #[test]
    fn networks() {
        let a = |text: &str| text.parse::<IpAddr>().expect("an address");
        assert!(same_network(a("10.1.2.3"), a("10.1.9.9"), 16));
        assert!(!same_network(a("10.1.2.3"), a("10.2.2.3"), 16));
        assert!(same_network(a("10.1.2.3"), a("99.2.2.3"), 0));
        assert!(!same_network(a("10.1.2.3"), a("::1"), 0));
        assert!(
            same_network(a("fd00::1"), a("fd00::2"), 64) && !same_network(a("fd00::1"), a("fd00::2"), 128)
        );
        let mut far = ["203.0.113.1:9", "192.168.7.1:9", "[fd00:7::1]:9"].map(|t| t.parse().expect("sound"));
        nearest_first(&mut far, &some());
        assert_eq!(far.map(|a| a.to_string()), ["192.168.7.1:9", "[fd00:7::1]:9", "203.0.113.1:9"]);
    }

    #[test]
    fn this_machine_has_itself() {
        let own = interfaces().expect("the kernel says");
        assert!(own.iter().any(|i| i.loopback && i.address.is_loopback() && i.prefix >= 8), "{own:?}");
    }
}
