//! The name of a port: one word of letters, digits, `:`, `.`, `_` and `-`, at most [`LONGEST_NAME`] bytes.
//!
//! `oxmpi1:RENDEZVOUS:KEY:PORT:ADDRESS.ADDRESS…`, numbers in hexadecimal but for the port. KEY is `t` (the mpirun's), `u` and the number of a user's
//! key, or `s` and the key itself. Addresses have 8 digits (version 4) or 32 (version 6).

use crate::secret::Secret;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Most bytes of a name.
pub const LONGEST_NAME: usize = 255;
/// Most addresses in a name, so that it fits whatever the key.
const MOST: usize = 8;
const BEGINNING: &str = "oxmpi1";

/// Which key proves that a caller may call.
#[derive(Clone, Debug)]
pub enum KeyOf {
    /// The secret of the mpirun that both sides belong to.
    Tree,
    /// The user's, by its number.
    User(u32),
    /// It is in the name.
    Name(Secret),
}

/// Where a port is, and by which key it is called. Its debug output does not show a key.
#[derive(Clone, Debug)]
pub struct PortName {
    /// A random number: a process may have several ports, and another process the same address.
    pub rendezvous: u64,
    pub key: KeyOf,
    pub port: u16,
    pub addresses: Vec<IpAddr>,
}

impl PortName {
    /// Reads a name; `None`: it is none of ours.
    pub fn parse(text: &str) -> Option<PortName> {
        let mut parts = text.trim().split(':');
        if parts.next()? != BEGINNING {
            return None;
        }
        let rendezvous = u64::from_str_radix(parts.next()?, 16).ok()?;
        let key = match parts.next()?.split_at_checked(1)? {
            ("t", "") => KeyOf::Tree,
            ("u", number) => KeyOf::User(u32::from_str_radix(number, 16).ok()?),
            ("s", hex) => KeyOf::Name(Secret::from_hex(hex)?),
            _ => return None,
        };
        let port = parts.next()?.parse().ok()?;
        let addresses: Option<Vec<IpAddr>> = parts.next()?.split('.').map(address).collect();
        let addresses = addresses?;
        match parts.next().is_none() && !addresses.is_empty() && addresses.len() <= MOST {
            true => Some(PortName { rendezvous, key, port, addresses }),
            false => None,
        }
    }

    /// Keeps as many addresses as a name may have: the first, and the last one, which is of this machine alone.
    pub(super) fn with_few_addresses(mut self) -> PortName {
        while self.addresses.len() > MOST || self.to_string().len() > LONGEST_NAME {
            let at = self.addresses.len().saturating_sub(2);
            self.addresses.remove(at);
        }
        self
    }
}

impl fmt::Display for PortName {
    /// The name as it is handed to others: with the key, if that is in the name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BEGINNING}:{:016x}:", self.rendezvous)?;
        match &self.key {
            KeyOf::Tree => f.write_str("t")?,
            KeyOf::User(number) => write!(f, "u{number:08x}")?,
            KeyOf::Name(secret) => write!(f, "s{}", secret.to_hex())?,
        }
        write!(f, ":{}", self.port)?;
        for (n, address) in self.addresses.iter().enumerate() {
            f.write_str(if n == 0 { ":" } else { "." })?;
            match address {
                IpAddr::V4(v4) => write!(f, "{:08x}", u32::from(*v4))?,
                IpAddr::V6(v6) => write!(f, "{:032x}", u128::from(*v6))?,
            }
        }
        Ok(())
    }
}

/// An address in hexadecimal digits; `None`: it is none.
fn address(text: &str) -> Option<IpAddr> {
    match text.len() {
        8 => u32::from_str_radix(text, 16).ok().map(|n| IpAddr::V4(Ipv4Addr::from(n))),
        32 => u128::from_str_radix(text, 16).ok().map(|n| IpAddr::V6(Ipv6Addr::from(n))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn name(key: KeyOf, addresses: usize) -> PortName {
        let v6 = |n: usize| IpAddr::V6(Ipv6Addr::from(n as u128 | 1 << 120));
        let addresses = (0..addresses).map(v6).chain([IpAddr::V4(Ipv4Addr::LOCALHOST)]).collect();
        PortName { rendezvous: 7, key, port: 1234, addresses }
    }

    #[test]
    fn names_are_one_word_and_fit() {
        for key in [KeyOf::Tree, KeyOf::User(77), KeyOf::Name(Secret::from_bytes([0xab; 32]))] {
            for addresses in [0, 1, 30] {
                let text = name(key.clone(), addresses).with_few_addresses().to_string();
                let allowed = |c: char| c.is_ascii_alphanumeric() || ":._-".contains(c);
                assert!(text.len() <= LONGEST_NAME && text.chars().all(allowed), "{text}");
                let again = PortName::parse(&text).expect("ours");
                assert_eq!(again.to_string(), text);
                assert_eq!(again.addresses.last(), Some(&IpAddr::V4(Ipv4Addr::LOCALHOST)));
            }
        }
        let secret = name(KeyOf::Name(Secret::from_bytes([0xab; 32])), 1);
        assert!(!format!("{secret:?}").contains("abab"));
    }

    #[test]
    fn what_is_no_name_is_refused() {
        let good = "oxmpi1:0000000000000007:t:1:7f000001";
        assert!(PortName::parse(good).is_some());
        for bad in [
            "",
            "oxmpi1",
            "oxmpi2:0000000000000007:t:1:7f000001",
            "oxmpi1:0000000000000007:x:1:7f000001",
            "oxmpi1:0000000000000007:u:1:7f000001",
            "oxmpi1:0000000000000007:s12:1:7f000001",
            "oxmpi1:0000000000000007:t:70000:7f000001",
            "oxmpi1:0000000000000007:t:1:",
            "oxmpi1:0000000000000007:t:1:7f0000",
            "oxmpi1:0000000000000007:t:1:7f000001:",
        ] {
            assert!(PortName::parse(bad).is_none(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_a_name_or_not(text in ".{0,300}") {
            if let Some(name) = PortName::parse(&text) {
                prop_assert!(PortName::parse(&name.to_string()).is_some());
            }
        }
    }
}
