//! Addresses by which processes elsewhere, and on this machine, may reach this one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses of the interfaces that are up, version 4 first; that of this machine alone comes last. Addresses of one link only are left
/// out: they mean nothing without an interface.
pub(super) fn own() -> Vec<IpAddr> {
    let mut list: *mut libc::ifaddrs = std::ptr::null_mut();
    let mut found = Vec::new();
    // SAFETY: `list` is a place for the pointer, which is freed below.
    if unsafe { libc::getifaddrs(&raw mut list) } == 0 {
        let mut next = list;
        // SAFETY: an entry of the list that getifaddrs made; it stays until that is freed.
        while let Some(entry) = unsafe { next.as_ref() } {
            next = entry.ifa_next;
            let usable = entry.ifa_flags & libc::IFF_UP as u32 != 0
                && entry.ifa_flags & libc::IFF_LOOPBACK as u32 == 0;
            // SAFETY: an address is null or as long as its family says.
            found.extend(unsafe { ip(entry.ifa_addr) }.filter(|address| usable && means_something(*address)));
        }
        // SAFETY: made by getifaddrs, and nothing of it is used any more.
        unsafe { libc::freeifaddrs(list) };
    }
    found.sort_by_key(IpAddr::is_ipv6);
    found.push(IpAddr::V4(Ipv4Addr::LOCALHOST));
    found
}

fn means_something(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_unspecified(),
        IpAddr::V6(v6) => !v6.is_unicast_link_local() && !v6.is_unspecified(),
    }
}

/// # Safety
/// `address` is null or points to a socket address as long as its family says.
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
