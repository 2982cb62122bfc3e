//! Which interfaces are used: names and networks that are included or excluded.
//!
//! Pure: the interfaces come as values, so that every rule is tested without a network.

use crate::sys::Interface;
use std::net::IpAddr;

/// The default of `btl_tcp_if_exclude`. Loopback addresses are used all the same where there are no others.
pub const EXCLUDED: &str = "127.0.0.1/8,sppp";

/// Addresses of which families.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Families {
    pub v4: bool,
    pub v6: bool,
}

/// The operator's text.
#[derive(Clone, Copy, Debug)]
pub struct Wish<'a> {
    pub include: &'a str,
    pub exclude: &'a str,
    pub families: Families,
    /// Names in the list of exclusions that nothing has are told, too.
    pub warn_unfound: bool,
}

/// Why the wish cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadWish {
    /// Both lists.
    Both,
    /// Not a name, an address or a network.
    NotANetwork(String),
    /// Nothing here has that name or is in that network.
    NotHere(String),
}

#[derive(Debug, PartialEq, Eq)]
enum Item {
    Name(String),
    Network(IpAddr, u8),
}

impl Item {
    fn parse(text: &str) -> Result<Item, BadWish> {
        let bad = || BadWish::NotANetwork(text.to_owned());
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address.parse::<IpAddr>().map_err(|_| bad())?, Some(prefix)),
            None => match text.parse::<IpAddr>() {
                Ok(address) => (address, None),
                Err(_) => return Ok(Item::Name(text.to_owned())),
            },
        };
        let most = if address.is_ipv4() { 32 } else { 128 };
        let prefix = prefix.map_or(Ok(most), str::parse::<u8>).map_err(|_| bad())?;
        if prefix > most { Err(bad()) } else { Ok(Item::Network(address, prefix)) }
    }

    fn fits(&self, interface: &str, address: IpAddr) -> bool {
        match self {
            Item::Name(name) => name == interface,
            Item::Network(network, prefix) => same_network(*network, address, *prefix),
        }
    }
}

/// Whether two addresses agree in their first bits.
pub fn same_network(a: IpAddr, b: IpAddr, prefix: u8) -> bool {
    let differ = match (a, b) {
        (IpAddr::V4(a), IpAddr::V4(b)) => u128::from(a.to_bits() ^ b.to_bits()) << 96,
        (IpAddr::V6(a), IpAddr::V6(b)) => a.to_bits() ^ b.to_bits(),
        _ => return false,
    };
    differ.leading_zeros() >= u32::from(prefix)
}

fn items(list: &str) -> Result<Vec<Item>, BadWish> {
    list.split(',').map(str::trim).filter(|s| !s.is_empty()).map(Item::parse).collect()
}

/// The interfaces to use, each with the addresses to use of it; and what of the lists fitted nothing.
pub fn choose(all: &[Interface], wish: &Wish<'_>) -> Result<(Vec<Interface>, Vec<String>), BadWish> {
    let (included, excluded) = (items(wish.include)?, items(wish.exclude)?);
    if !included.is_empty() && !excluded.is_empty() && wish.exclude != EXCLUDED {
        return Err(BadWish::Both);
    }
    let unfound = |list: &[Item], text: &str| -> Vec<String> {
        let written = text.split(',').map(str::trim).filter(|s| !s.is_empty());
        let found = |i: &Item| all.iter().any(|x| x.addresses.iter().any(|a| i.fits(&x.name, a.0)));
        list.iter().zip(written).filter(|(i, _)| !found(i)).map(|(_, w)| w.to_owned()).collect()
    };
    if let Some(missing) = unfound(&included, wish.include).into_iter().next() {
        return Err(BadWish::NotHere(missing));
    }
    let told = if wish.warn_unfound { unfound(&excluded, wish.exclude) } else { Vec::new() };
    let only = |wanted: &dyn Fn(&Interface, IpAddr) -> bool| -> Vec<Interface> {
        let family = |ip: &IpAddr| if ip.is_ipv4() { wish.families.v4 } else { wish.families.v6 };
        let of = |i: &Interface| {
            let addresses = i.addresses.iter().filter(|(ip, _)| family(ip) && wanted(i, *ip));
            Interface { addresses: addresses.copied().collect(), ..i.clone() }
        };
        all.iter().map(of).filter(|i| !i.addresses.is_empty()).collect()
    };
    if !included.is_empty() {
        return Ok((only(&|i, ip| included.iter().any(|x| x.fits(&i.name, ip))), told));
    }
    let allowed = |i: &Interface, ip| !excluded.iter().any(|x| x.fits(&i.name, ip));
    // ::1 is not in 127.0.0.1/8, but is meant.
    let default = wish.exclude == EXCLUDED;
    let found = only(&|i, ip| allowed(i, ip) && !(default && i.loopback));
    if found.is_empty() && default {
        return Ok((only(&|i, _| i.loopback), told));
    }
    Ok((found, told))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Vec<Interface> {
        let ip = |s: &str| s.parse::<IpAddr>().expect("an address");
        vec![
            Interface {
                name: "lo".into(),
                loopback: true,
                addresses: vec![(ip("127.0.0.1"), 8), (ip("::1"), 128)],
            },
            Interface {
                name: "eth0".into(),
                loopback: false,
                addresses: vec![(ip("10.1.2.3"), 16), (ip("fd00::3"), 64)],
            },
            Interface { name: "ib0".into(), loopback: false, addresses: vec![(ip("192.168.7.9"), 24)] },
        ]
    }

    const BOTH: Families = Families { v4: true, v6: true };

    fn chosen(include: &str, exclude: &str, families: Families) -> Result<Vec<String>, BadWish> {
        let wish = Wish { include, exclude, families, warn_unfound: false };
        let (found, _) = choose(&machine(), &wish)?;
        Ok(found.iter().flat_map(|i| i.addresses.iter().map(|a| format!("{}={}", i.name, a.0))).collect())
    }

    #[test]
    fn by_default_all_but_loopback() {
        let all = ["eth0=10.1.2.3", "eth0=fd00::3", "ib0=192.168.7.9"];
        assert_eq!(chosen("", EXCLUDED, BOTH).as_deref(), Ok(&all.map(String::from)[..]));
        let wish = Wish { include: "", exclude: EXCLUDED, families: BOTH, warn_unfound: true };
        let (lone, told) = choose(&machine()[..1], &wish).expect("loopback");
        assert_eq!((lone.len(), lone[0].addresses.len(), told), (1, 2, vec!["sppp".to_owned()]));
    }

    #[test]
    fn names_networks_and_families() {
        let one = |s: &str| Ok(vec![s.to_owned()]);
        assert_eq!(chosen("ib0", EXCLUDED, BOTH), one("ib0=192.168.7.9"));
        assert_eq!(chosen("10.1.0.0/16", EXCLUDED, BOTH), one("eth0=10.1.2.3"));
        assert_eq!(chosen(" fd00::/8 ", EXCLUDED, BOTH), one("eth0=fd00::3"));
        assert_eq!(chosen("eth0", EXCLUDED, Families { v4: false, v6: true }), one("eth0=fd00::3"));
        assert_eq!(chosen("", "lo,eth0", BOTH), one("ib0=192.168.7.9"));
        assert_eq!(chosen("", "192.168.0.0/16,10.0.0.0/8,lo", BOTH), one("eth0=fd00::3"));
        assert_eq!(chosen("lo", EXCLUDED, Families { v4: true, v6: false }), one("lo=127.0.0.1"));
    }

    #[test]
    fn what_cannot_be_is_named() {
        assert_eq!(chosen("eth1", EXCLUDED, BOTH), Err(BadWish::NotHere("eth1".into())));
        assert_eq!(
            chosen("eth0,172.16.0.0/12", EXCLUDED, BOTH),
            Err(BadWish::NotHere("172.16.0.0/12".into()))
        );
        for bad in ["10.0.0.0/33", "10.0.0/8", "10.0.0.0/x", "fd00::/129", "/8"] {
            assert_eq!(chosen(bad, EXCLUDED, BOTH), Err(BadWish::NotANetwork(bad.into())));
            assert_eq!(chosen("", bad, BOTH), Err(BadWish::NotANetwork(bad.into())));
        }
        assert_eq!(chosen("eth0", "ib0", BOTH), Err(BadWish::Both));
    }
}
