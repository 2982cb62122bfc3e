//! Parameters, under Open MPI's names where the meaning is equal.

use crate::interfaces::{EXCLUDED, Families};
use crate::sys::Tuning;
use core::time::Duration;
use oxmpi_mca::params::param_flag;
use oxmpi_mca::{ParamDecl, ParamKind, Params, Refused, Scope};
use std::net::SocketAddr;

const fn size(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::SIZE, level, default, help)
}
const fn number(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::UNSIGNED, level, default, help)
}
const fn yes_no(name: &'static str, level: u32, default: &'static str, help: &'static str) -> ParamDecl {
    ParamDecl::new(name, ParamKind::BOOL, level, default, help)
}

/// Requests of a link without a reply at most.
pub const ROOM: u32 = 16;

/// The declarations. Full names are `btl_tcp_<name>`.
pub const PARAMS: &[ParamDecl] = &[
    ParamDecl::new(
        "if_include",
        ParamKind::LIST,
        1,
        "",
        "Interfaces to use, by name or network (eth0,10.1.0.0/16); empty: all that btl_tcp_if_exclude leaves. Set it where a node has networks that do not reach the other nodes",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "if_exclude",
        ParamKind::LIST,
        1,
        EXCLUDED,
        "Interfaces not to use, by name or network; loopback is used all the same where a node has nothing else. Set it to keep a network out, and then name loopback, too",
    )
    .scope(Scope::LOCAL),
    number(
        "links",
        6,
        "1",
        "Connections for each interface and pair of processes, among which the fragments of long messages are divided. Raise it where one connection does not fill the network",
    )
    .range(1, 16),
    number(
        "disable_family",
        6,
        "0",
        "IP version of the addresses that are not used: 4, 6, or 0 for none. Set it where one of the two is configured but does not reach the other nodes",
    )
    .range(0, 6)
    .scope(Scope::LOCAL),
    number(
        "port_min_v4",
        6,
        "1024",
        "Lowest port to listen at with IPv4. Set it with btl_tcp_port_range_v4 where a firewall lets certain ports through",
    )
    .range(1, 65535)
    .scope(Scope::LOCAL),
    number(
        "port_range_v4",
        6,
        "64511",
        "Number of ports from btl_tcp_port_min_v4 on that may be used; each process needs one for each interface and link. Set it with btl_tcp_port_min_v4",
    )
    .range(1, 65535)
    .scope(Scope::LOCAL),
    number(
        "port_min_v6",
        6,
        "1024",
        "Lowest port to listen at with IPv6. Set it with btl_tcp_port_range_v6 where a firewall lets certain ports through",
    )
    .range(1, 65535)
    .scope(Scope::LOCAL),
    number(
        "port_range_v6",
        6,
        "64511",
        "Number of ports from btl_tcp_port_min_v6 on that may be used; each process needs one for each interface and link. Set it with btl_tcp_port_min_v6",
    )
    .range(1, 65535)
    .scope(Scope::LOCAL),
    size(
        "eager_limit",
        4,
        "128k",
        "Largest message, header included, that is sent eagerly, without a rendezvous. Lower it where many messages wait unreceived, raise it where the network's latency is long",
    )
    .range(256, 1 << 24),
    size(
        "rndv_eager_limit",
        6,
        "64k",
        "Bytes of a longer message, header included, that are sent with its rendezvous request. Lower it where receives are mostly posted late",
    )
    .range(256, 1 << 24),
    size(
        "max_send_size",
        6,
        "1m",
        "Largest piece of a message that is sent at once, but never more than a quarter of btl_tcp_window. Raise it where long messages do not fill the network",
    )
    .range(1024, 1 << 24),
    size(
        "window",
        7,
        "4m",
        "Bytes, a power of two, that each connection keeps until the receiver has acknowledged them, to send them again if the connection breaks. Raise it where bandwidth times latency is more",
    )
    .range(1 << 16, 1 << 30),
    size(
        "sndbuf",
        7,
        "0",
        "Bytes of a socket's send buffer; 0: the system adapts it. Set it where the system's limits are too small for the network",
    )
    .range(0, 1 << 30)
    .scope(Scope::LOCAL),
    size(
        "rcvbuf",
        7,
        "0",
        "Bytes of a socket's receive buffer; 0: the system adapts it. Set it where the system's limits are too small for the network",
    )
    .range(0, 1 << 30)
    .scope(Scope::LOCAL),
    size(
        "endpoint_cache",
        7,
        "64k",
        "Bytes of a connection's receive buffer at first, which grows where longer messages come. Lower it where a process talks to thousands",
    )
    .range(1024, 1 << 24)
    .scope(Scope::LOCAL),
    yes_no(
        "use_nagle",
        7,
        "0",
        "Nagle's algorithm delays small messages to send several at once. Set it for message rate over slow networks, at the cost of latency",
    )
    .scope(Scope::LOCAL),
    yes_no(
        "checksum",
        6,
        "0",
        "Messages carry a checksum of their payload beside that of their header, which is always there. Set it where a network is suspected to damage data",
    ),
    number(
        "handshake_timeout",
        7,
        "10000000",
        "Microseconds that a new connection may be silent before it is retried. Raise it on networks that take longer",
    )
    .range(1000, 1 << 40),
    number(
        "cut_timeout",
        7,
        "10000",
        "Milliseconds for which a network may confirm nothing of what was sent before the connection counts as cut and is made again, over another interface where there is one. Lower it to get over a cut sooner, raise it to outlast longer pauses without a new connection",
    )
    .range(100, 1 << 30),
    number(
        "retry_timeout",
        7,
        "8000",
        "Milliseconds for which a process may be out of reach before it counts as failed. Raise it to outlast longer breaks of the network",
    )
    .range(1, 1 << 40),
    number(
        "exclusivity",
        8,
        "100",
        "Priority among transports that reach the same process; those of lower exclusivity are not used for it. Raise it to prefer tcp",
    )
    .range(0, u32::MAX as i64),
    number(
        "latency",
        8,
        "100",
        "Latency in microseconds; of transports of one exclusivity the one of lowest latency comes first. Set it where transports are ranked wrongly",
    )
    .range(0, u32::MAX as i64),
    number(
        "bandwidth",
        6,
        "0",
        "Bandwidth in Mb/s, by which the fragments of long messages are divided among interfaces; 0: the speed that the system reports, or 100. Set it where the system does not know the speed",
    )
    .range(0, u32::MAX as i64),
    yes_no(
        "warn_all_unfound_interfaces",
        6,
        "0",
        "Names in btl_tcp_if_exclude that no interface has are warned of. Set it to find a misspelt name",
    )
    .scope(Scope::LOCAL),
    ParamDecl::new(
        "relay",
        ParamKind::STRING,
        9,
        "",
        "Address and port of a test relay through which all connections go. Leave it empty outside of tests",
    )
    .flags(param_flag::INTERNAL),
];

/// Indices of [`PARAMS`].
pub mod index {
    pub const IF_INCLUDE: usize = 0;
    pub const IF_EXCLUDE: usize = 1;
    pub const LINKS: usize = 2;
    pub const DISABLE_FAMILY: usize = 3;
    pub const PORT_MIN_V4: usize = 4;
    pub const PORT_RANGE_V4: usize = 5;
    pub const PORT_MIN_V6: usize = 6;
    pub const PORT_RANGE_V6: usize = 7;
    pub const EAGER_LIMIT: usize = 8;
    pub const RNDV_EAGER_LIMIT: usize = 9;
    pub const MAX_SEND_SIZE: usize = 10;
    pub const WINDOW: usize = 11;
    pub const SNDBUF: usize = 12;
    pub const RCVBUF: usize = 13;
    pub const ENDPOINT_CACHE: usize = 14;
    pub const USE_NAGLE: usize = 15;
    pub const CHECKSUM: usize = 16;
    pub const HANDSHAKE_TIMEOUT: usize = 17;
    pub const CUT_TIMEOUT: usize = 18;
    pub const RETRY_TIMEOUT: usize = 19;
    pub const EXCLUSIVITY: usize = 20;
    pub const LATENCY: usize = 21;
    pub const BANDWIDTH: usize = 22;
    pub const WARN_UNFOUND: usize = 23;
    pub const RELAY: usize = 24;
}

/// Ports to listen at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ports {
    pub first: u16,
    pub count: u16,
}

impl Ports {
    /// Any that the system gives.
    pub const ANY: Ports = Ports { first: 1024, count: 64511 };

    /// How many there are: the last port has the number 65535.
    pub fn count(self) -> u16 {
        self.count.min((65535 - self.first).saturating_add(1))
    }

    /// The ports to try; those of processes of one node do not begin alike.
    pub fn to_try(self, start: u32) -> impl Iterator<Item = u16> {
        let any = self == Ports::ANY;
        let count = u32::from(self.count());
        let nth = move |i: u32| if any { 0 } else { (u32::from(self.first) + (start + i) % count) as u16 };
        (0..if any { 1 } else { count }).map(nth)
    }
}

/// The resolved values, in the types the code wants.
#[derive(Clone, Debug)]
pub struct Settings {
    pub include: String,
    pub exclude: String,
    pub warn_unfound: bool,
    pub families: Families,
    pub links: u32,
    pub ports_v4: Ports,
    pub ports_v6: Ports,
    pub eager_limit: usize,
    pub rndv_eager_limit: usize,
    pub max_send_size: usize,
    pub window: usize,
    pub tuning: Tuning,
    pub first_buffer: usize,
    pub checksum: bool,
    pub handshake_timeout: Duration,
    pub retry_timeout: Duration,
    pub exclusivity: u32,
    pub latency: u32,
    pub bandwidth: u32,
    pub relay: Option<SocketAddr>,
}

impl Settings {
    /// Refuses what cannot be, and what does not fit each other.
    pub fn of(p: Params<'_>) -> Result<Settings, Refused> {
        let ports =
            |first: usize, count: usize| Ports { first: p.int(first) as u16, count: p.int(count) as u16 };
        let disabled = p.int(index::DISABLE_FAMILY);
        if ![0, 4, 6].contains(&disabled) {
            let why = format!("btl_tcp_disable_family is {disabled}; it takes 0, 4 or 6");
            return Err(Refused::bad(index::DISABLE_FAMILY, why));
        }
        let relay = match p.text(index::RELAY) {
            "" => None,
            text => Some(text.parse().map_err(|_| {
                Refused::bad(
                    index::RELAY,
                    format!("btl_tcp_relay is {text}, which is no address with a port"),
                )
            })?),
        };
        let s = Settings {
            include: p.text(index::IF_INCLUDE).to_owned(),
            exclude: p.text(index::IF_EXCLUDE).to_owned(),
            warn_unfound: p.flag(index::WARN_UNFOUND),
            families: Families { v4: disabled != 4, v6: disabled != 6 },
            links: p.int(index::LINKS) as u32,
            ports_v4: ports(index::PORT_MIN_V4, index::PORT_RANGE_V4),
            ports_v6: ports(index::PORT_MIN_V6, index::PORT_RANGE_V6),
            eager_limit: p.size(index::EAGER_LIMIT),
            rndv_eager_limit: p.size(index::RNDV_EAGER_LIMIT),
            max_send_size: p.size(index::MAX_SEND_SIZE),
            window: p.size(index::WINDOW),
            tuning: Tuning {
                send_buffer: p.size(index::SNDBUF),
                receive_buffer: p.size(index::RCVBUF),
                nagle: p.flag(index::USE_NAGLE),
                cut_after: Duration::from_millis(p.int(index::CUT_TIMEOUT) as u64),
            },
            first_buffer: p.size(index::ENDPOINT_CACHE),
            checksum: p.flag(index::CHECKSUM),
            handshake_timeout: Duration::from_micros(p.int(index::HANDSHAKE_TIMEOUT) as u64),
            retry_timeout: Duration::from_millis(p.int(index::RETRY_TIMEOUT) as u64),
            exclusivity: p.int(index::EXCLUSIVITY) as u32,
            latency: p.int(index::LATENCY) as u32,
            bandwidth: p.int(index::BANDWIDTH) as u32,
            relay,
        };
        s.check()
    }

    fn check(mut self) -> Result<Settings, Refused> {
        let max = self.max_send_size;
        for (param, name, value) in [
            (index::EAGER_LIMIT, "eager_limit", self.eager_limit),
            (index::RNDV_EAGER_LIMIT, "rndv_eager_limit", self.rndv_eager_limit),
        ] {
            if value > max {
                let why = format!("btl_tcp_{name} is {value}, more than btl_tcp_max_send_size, {max}");
                return Err(Refused::bad(param, why));
            }
        }
        let window = self.window;
        if !window.is_power_of_two() {
            let why = format!("btl_tcp_window is {window}, which is no power of two");
            return Err(Refused::bad(index::WINDOW, why));
        }
        let most = window / 4;
        for size in [&mut self.max_send_size, &mut self.eager_limit, &mut self.rndv_eager_limit] {
            *size = most.min(*size);
        }
        Ok(self)
    }

    /// Largest request or reply of a service link: as many as may be without an answer fit the window twice.
    pub fn service_limit(&self) -> usize {
        (self.window / (2 * ROOM as usize) - crate::frame::HEADER - 8).min(self.max_send_size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_name_their_parameters() {
        let all = [
            (index::IF_INCLUDE, "if_include"),
            (index::IF_EXCLUDE, "if_exclude"),
            (index::LINKS, "links"),
            (index::DISABLE_FAMILY, "disable_family"),
            (index::PORT_MIN_V4, "port_min_v4"),
            (index::PORT_RANGE_V4, "port_range_v4"),
            (index::PORT_MIN_V6, "port_min_v6"),
            (index::PORT_RANGE_V6, "port_range_v6"),
            (index::EAGER_LIMIT, "eager_limit"),
            (index::RNDV_EAGER_LIMIT, "rndv_eager_limit"),
            (index::MAX_SEND_SIZE, "max_send_size"),
            (index::WINDOW, "window"),
            (index::SNDBUF, "sndbuf"),
            (index::RCVBUF, "rcvbuf"),
            (index::ENDPOINT_CACHE, "endpoint_cache"),
            (index::USE_NAGLE, "use_nagle"),
            (index::CHECKSUM, "checksum"),
            (index::HANDSHAKE_TIMEOUT, "handshake_timeout"),
            (index::CUT_TIMEOUT, "cut_timeout"),
            (index::RETRY_TIMEOUT, "retry_timeout"),
            (index::EXCLUSIVITY, "exclusivity"),
            (index::LATENCY, "latency"),
            (index::BANDWIDTH, "bandwidth"),
            (index::WARN_UNFOUND, "warn_all_unfound_interfaces"),
            (index::RELAY, "relay"),
        ];
        assert_eq!(all.len(), PARAMS.len());
        for (index, due) in all {
            // SAFETY: static text of this component.
            assert_eq!(unsafe { PARAMS[index].name.get() }, Some(due));
        }
    }

    #[test]
    fn ports_are_tried_round() {
        let ports = |p: Ports, start| p.to_try(start).collect::<Vec<_>>();
        assert_eq!(ports(Ports::ANY, 7), [0]);
        assert_eq!(ports(Ports { first: 5000, count: 3 }, 4), [5001, 5002, 5000]);
        assert_eq!(ports(Ports { first: 65534, count: 100 }, 0), [65534, 65535]);
    }
}
