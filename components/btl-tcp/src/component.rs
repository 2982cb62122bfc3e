//! Opening: chooses interfaces, listens on each, and publishes where.

use crate::card::{Card, Rail};
use crate::context::Context;
use crate::courier::Courier;
use crate::door::Doors;
use crate::hello::SERVICE;
use crate::in_force::{chosen, speed_of, tell};
use crate::lobby::Lobby;
use crate::params::{Ports, Settings};
use crate::placed::Placers;
use crate::rail::Tcp;
use crate::service::Service;
use crate::sys::{self, Interface};
use crate::watch::Watch;
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex};

pub struct TcpComponent;

/// Rails of a process, at most: the card counts them in a byte.
const MOST_RAILS: usize = 64;

impl Component for TcpComponent {
    type Module = BtlModule;
    const NAME: &'static str = "tcp";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let module = |Parts { rail, contexts, service }| {
            oxmpi_btl::module(rail, contexts)
                .sleep()
                .service(service)
                .service_sleep()
                .partner()
                .places()
                .keeps()
                .build()
        };
        Ok((0, rails(host, params)?.into_iter().map(module).collect()))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers)
    }
}

/// A rail and its contexts.
pub struct Parts {
    pub rail: Tcp,
    pub contexts: Vec<Context>,
    pub service: Service,
}

/// Makes all rails of a process, and publishes where they listen.
pub fn rails(host: Host, params: Params<'_>) -> Result<Vec<Parts>, OpenError> {
    let settings = Settings::of(params)?;
    let interfaces = interfaces(&host, &settings)?;
    let settings = Arc::new(settings);
    let mut rails = Vec::new();
    for interface in interfaces.iter().flat_map(|i| (0..settings.links).map(move |_| i)) {
        rails.push((interface, listen(&host, &settings, interface)?));
    }
    rails.truncate(MOST_RAILS);
    let card = Arc::new(Card {
        place: sys::place().map_err(|e| internal("cannot find out where it is", &e))?,
        contexts: host.num_cris().min(u32::from(SERVICE)) as u16,
        rails: rails
            .iter()
            .map(|(i, sockets)| Rail {
                addresses: sockets.iter().map(|s| (s.1, s.2)).collect(),
                loopback: i.loopback,
            })
            .collect(),
    });
    let all = Common { host, settings, card: card.clone() };
    let made = all.make(rails).map_err(|e| internal("cannot make a context", &e))?;
    let status = host.exchange_put(&card.encode());
    if status.is_err() {
        return Err(OpenError::new(status, "cannot publish the address"));
    }
    Ok(made)
}

fn internal(what: &str, e: &std::io::Error) -> OpenError {
    OpenError::new(Status::INTERNAL, format!("{what}: {e}"))
}

fn interfaces(host: &Host, settings: &Settings) -> Result<Vec<Interface>, OpenError> {
    let all = sys::interfaces().map_err(|e| internal("cannot list the interfaces", &e))?;
    match chosen(&all, settings) {
        Ok((found, unfound)) => {
            for name in unfound {
                host.warn(&format!("btl_tcp_if_exclude names {name}, which no interface has"));
            }
            if found.is_empty() {
                return Err(OpenError::not_available("no interface is left by the lists of interfaces"));
            }
            Ok(found)
        }
        Err((refused, topic, args)) => {
            host.help(topic, &args.iter().map(String::as_str).collect::<Vec<_>>());
            Err(refused.into())
        }
    }
}

/// A listening socket, where it listens, and the prefix of that network.
type Listening = (OwnedFd, SocketAddr, u8);

fn listen(host: &Host, settings: &Settings, interface: &Interface) -> Result<Vec<Listening>, OpenError> {
    let job = host.job();
    // Processes of a node begin at different ports of a range.
    let start = job.local_rank.wrapping_mul(settings.links);
    interface
        .addresses
        .iter()
        .map(|&(ip, prefix)| {
            let ports = if ip.is_ipv4() { settings.ports_v4 } else { settings.ports_v6 };
            listen_at(ip, ports, start).map(|(fd, at)| (fd, at, prefix)).map_err(|e| {
                let (first, count) = (ports.first.to_string(), ports.count.to_string());
                let args = [&*interface.name, &ip.to_string(), &first, &count, &e.to_string()];
                host.help("no-port", &args);
                internal(&format!("cannot listen at {ip}"), &e)
            })
        })
        .collect()
}

fn listen_at(ip: IpAddr, ports: Ports, start: u32) -> std::io::Result<(OwnedFd, SocketAddr)> {
    let mut last = std::io::Error::other("there is no port to try");
    for port in ports.to_try(start) {
        match sys::listen(SocketAddr::new(ip, port)) {
            Ok(listening) => return Ok(listening),
            Err(e) => last = e,
        }
    }
    Err(last)
}

/// State and settings that all rails of a process share.
struct Common {
    host: Host,
    settings: Arc<Settings>,
    card: Arc<Card>,
}

impl Common {
    fn make(&self, rails: Vec<(&Interface, Vec<Listening>)>) -> std::io::Result<Vec<Parts>> {
        let doors = Arc::new(Doors::new(rails.len(), self.card.contexts)?);
        let make = |(rail, (interface, sockets)): (usize, (&Interface, Vec<Listening>))| {
            self.rail(&doors, rail as u16, interface, sockets)
        };
        rails.into_iter().enumerate().map(make).collect()
    }

    fn rail(
        &self,
        doors: &Arc<Doors>,
        rail: u16,
        interface: &Interface,
        sockets: Vec<Listening>,
    ) -> std::io::Result<Parts> {
        let lobby = Lobby::new(sockets.into_iter().map(|s| s.0).collect())?;
        let context = |number| {
            let door = doors.find(rail, number).ok_or(std::io::ErrorKind::NotFound)?;
            Context::new(number, &lobby.poller, door.clone())
        };
        let contexts = (0..self.card.contexts).map(context).collect::<Result<Vec<_>, _>>()?;
        let service = context(SERVICE)?;
        let courier = Courier::new(contexts.iter().map(|context| context.gathered.clone()).collect());
        let name = Tcp::name_of(&self.host, self.host.job().rank).ok_or(std::io::ErrorKind::NotFound)?;
        let peers = Arc::new(Mutex::default());
        let rail = Tcp {
            host: self.host,
            settings: self.settings.clone(),
            rail,
            name,
            card: self.card.clone(),
            doors: doors.clone(),
            device: interface.name.clone(),
            speed: speed_of(interface),
            lobby,
            courier,
            placers: Placers::default(),
            watch: Watch::begin(&self.host, &peers, doors, rail),
            peers,
        };
        Ok(Parts { rail, contexts, service: Service::new(service) })
    }
}
