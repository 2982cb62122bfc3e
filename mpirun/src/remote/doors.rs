//! Addresses at which daemons of a job are reached by each other, as they travel with the job: a few for each node, or none.

use oxmpi_wireup::frame::{Builder, Fields, Malformed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Most addresses of a daemon that others are told; more of one machine are of no use.
pub const MOST: usize = 4;

/// The addresses of each node's daemon, by node; an empty list: it is reached through the tree alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Doors(Vec<Vec<SocketAddr>>);

impl Doors {
    /// By node.
    pub fn new(all: Vec<Vec<SocketAddr>>) -> Doors {
        match all.iter().all(Vec::is_empty) {
            true => Doors::default(),
            false => Doors(all),
        }
    }

    /// Of a node; none: it has none.
    pub fn of(&self, node: u32) -> &[SocketAddr] {
        self.0.get(node as usize).map_or(&[], Vec::as_slice)
    }

    /// No daemon is reached but through the tree.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn encode(&self, b: Builder) -> Builder {
        self.0.iter().fold(b.count(self.0.len()), |b, door| put(b, door))
    }

    pub fn decode(f: &mut Fields<'_>) -> Result<Doors, Malformed> {
        Ok(Doors(f.list("doors", 1, take)?))
    }
}

/// Appends the addresses of one daemon.
pub fn put(b: Builder, door: &[SocketAddr]) -> Builder {
    let door = &door[..door.len().min(MOST)];
    door.iter().fold(b.u8(door.len() as u8), |b, address| {
        let b = match address.ip() {
            IpAddr::V4(v4) => b.u8(4).raw(&v4.octets()),
            IpAddr::V6(v6) => b.u8(6).raw(&v6.octets()),
        };
        b.raw(&address.port().to_le_bytes())
    })
}

/// Reads the addresses of one daemon.
pub fn take(f: &mut Fields<'_>) -> Result<Vec<SocketAddr>, Malformed> {
    let count = f.u8("addresses of a daemon")?;
    if usize::from(count) > MOST {
        return Err(Malformed::Value { field: "addresses of a daemon", value: count.into() });
    }
    let mut door = Vec::with_capacity(count.into());
    for _ in 0..count {
        let ip = match f.u8("family of an address")? {
            4 => IpAddr::V4(Ipv4Addr::from(f.array::<4>("address")?)),
            6 => IpAddr::V6(Ipv6Addr::from(f.array::<16>("address")?)),
            other => return Err(Malformed::Value { field: "family of an address", value: other.into() }),
        };
        door.push(SocketAddr::new(ip, u16::from_le_bytes(f.array("port")?)));
    }
    Ok(door)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_wireup::frame::HEADER;

    fn addresses(count: u16) -> Vec<SocketAddr> {
        let one = |n: u16| match n % 2 {
            0 => SocketAddr::from(([10, 0, 1, n as u8], 4000 + n)),
            _ => SocketAddr::new(IpAddr::V6(Ipv6Addr::from(u128::from(n) << 100)), n),
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn few_of_each_are_told_and_more_are_refused() {
        let doors = Doors::new(vec![addresses(1), Vec::new(), addresses(9)]);
        let bytes = doors.encode(Builder::new(1)).finish().expect("short");
        let again = Doors::decode(&mut Fields::new(&bytes[HEADER..])).expect("sound");
        assert_eq!((again.of(0), again.of(1)), (&addresses(1)[..], &[][..]));
        assert_eq!((again.of(2), again.of(3)), (&addresses(4)[..], &[][..]));
        // A node with one address of version 4 costs eight bytes.
        let one = Doors::new(vec![addresses(1); 100]).encode(Builder::new(1)).finish().expect("short");
        assert_eq!(one.len(), HEADER + 4 + 100 * 8);
        let mut many = bytes[HEADER..].to_vec();
        many[4] = 5;
        assert!(Doors::decode(&mut Fields::new(&many)).is_err());
        many[4] = 1;
        many[5] = 7;
        assert!(Doors::decode(&mut Fields::new(&many)).is_err());
        assert_eq!(Doors::new(vec![Vec::new(); 7]), Doors::default());
    }
}
