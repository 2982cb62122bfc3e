//! Datagrams of a process: one unreliable queue pair, by which processes that have no connection yet make one.
//!
//! It has a device context of its own, so that it takes none of the doorbell registers of the lanes. The connecting thread's alone.

use crate::device::Port;
use crate::objects::{Address, Channel, Completions, Domain, Pair, Poller, Region, Shape};
use crate::params::Settings;
use crate::wire::{Datagram, Place};
use core::ptr::null_mut;
use oxmpi_btl_support::Pages;
use oxmpi_verbs_abi::numbers::{GRH_BYTES, access, qp_mask, qp_state, qp_type, send_flags, wr_opcode};
use oxmpi_verbs_abi::{AhAttr, GlobalRoute, QpAttr, SendTarget, SendWr, Sge, UdTarget, Wc};
use std::collections::HashMap;
use std::os::fd::RawFd;
use std::sync::Arc;

/// Receive and send buffers.
const RECEIVES: usize = 128;
const SENDS: usize = 64;
const ROOM: usize = 512;
/// In identifiers: a send's.
const SENT: u64 = 1 << 32;

const _: () = assert!(Datagram::BYTES + GRH_BYTES <= ROOM);

pub struct Datagrams {
    // The pair goes before what it uses.
    pair: Pair,
    addresses: HashMap<([u8; 16], u16), Address>,
    domain: Arc<Domain>,
    poller: Poller,
    channel: Arc<Channel>,
    region: Region,
    pages: Pages,
    free: Vec<usize>,
}

/// How to reach a port.
pub fn route(port: &Port, settings: &Settings, to: &Place) -> AhAttr {
    let mut dgid = [0; 2];
    let (first, second) = to.gid.split_at(8);
    dgid[0] = u64::from_ne_bytes(first.try_into().unwrap_or_default());
    dgid[1] = u64::from_ne_bytes(second.try_into().unwrap_or_default());
    // On InfiniBand a route is needed beyond the subnet only.
    let is_global = port.ethernet || to.gid[..8] != port.gid[..8];
    AhAttr {
        grh: GlobalRoute {
            dgid,
            flow_label: 0,
            sgid_index: port.gid_index,
            hop_limit: 64,
            traffic_class: settings.traffic_class,
        },
        dlid: to.lid,
        sl: settings.service_level,
        src_path_bits: 0,
        static_rate: 0,
        is_global: is_global.into(),
        port_num: port.number,
    }
}

impl Datagrams {
    pub fn new(port: &Port, key: u32) -> Result<Datagrams, String> {
        let domain = Domain::new(&port.device)?;
        let channel = Channel::new(&port.device)?;
        let entries = (RECEIVES + SENDS) as u32;
        let (completions, poller) = Completions::new(&port.device, entries, Some(channel.clone()), false)?;
        let shape = Shape {
            domain: &domain,
            completions: &completions,
            receives: None,
            kind: qp_type::UD,
            sends: SENDS as u32,
            own_receives: RECEIVES as u32,
            inline: 0,
        };
        let mut pair = Pair::new(&shape)?;
        let mut attr = QpAttr {
            pkey_index: port.partition_index,
            port_num: port.number,
            qkey: key,
            ..QpAttr::default()
        };
        use qp_mask::*;
        for (state, mask) in
            [(qp_state::INIT, PKEY_INDEX | PORT | QKEY), (qp_state::RTR, 0), (qp_state::RTS, SQ_PSN)]
        {
            attr.qp_state = state;
            pair.modify(&mut attr, STATE | mask)?;
        }
        let pages = Pages::new((RECEIVES + SENDS) * ROOM).map_err(|e| e.to_string())?;
        // SAFETY: the pages are dropped behind their region.
        let region = unsafe { Region::new(&domain, pages.base(), pages.len(), access::LOCAL_WRITE) }?;
        let mut datagrams = Datagrams {
            pair,
            addresses: HashMap::new(),
            domain,
            poller,
            channel,
            region,
            pages,
            free: (0..SENDS).collect(),
        };
        (0..RECEIVES).for_each(|n| datagrams.receive_into(n));
        datagrams.poller.listen();
        Ok(datagrams)
    }

    pub fn pair_number(&self) -> u32 {
        self.pair.number()
    }
    pub fn fd(&self) -> RawFd {
        self.channel.fd()
    }

    fn receive_into(&mut self, n: usize) {
        let sge = Sge {
            addr: self.pages.base() as u64 + (n * ROOM) as u64,
            length: ROOM as u32,
            lkey: self.region.lkey(),
        };
        // SAFETY: receive buffer `n`, which nobody reads or writes before its completion.
        unsafe { self.pair.receive(n as u64, sge) };
    }

    /// Sends, or does not: datagrams may be lost, and are sent again by those who wait for an answer.
    pub fn send(&mut self, to: &Place, route: AhAttr, datagram: &Datagram) {
        let Some(slot) = self.free.pop() else { return };
        let known = self.addresses.entry((to.gid, to.lid));
        let address = match known {
            std::collections::hash_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => match Address::new(&self.domain, route) {
                Ok(address) => place.insert(address),
                Err(_) => return self.free.push(slot),
            },
        };
        let bytes = datagram.encode();
        let at = self.pages.base().wrapping_add((RECEIVES + slot) * ROOM);
        // SAFETY: a send buffer that nobody uses, of `ROOM` bytes.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        let mut sge = Sge { addr: at as u64, length: bytes.len() as u32, lkey: self.region.lkey() };
        let mut wr = SendWr {
            wr_id: SENT | slot as u64,
            next: null_mut(),
            sg_list: &mut sge,
            num_sge: 1,
            opcode: wr_opcode::SEND,
            send_flags: send_flags::SIGNALED | send_flags::SOLICITED,
            imm_data: 0,
            wr: SendTarget { ud: UdTarget { ah: address.raw(), remote_qpn: to.qp, remote_qkey: to.key } },
            others: [0; 7],
        };
        // SAFETY: the buffer stays as it is until its completion frees it.
        if unsafe { self.pair.post(&mut wr) }.is_err() {
            self.free.push(slot);
        }
    }

    /// Takes what has come. Garbage is nothing.
    pub fn receive(&mut self) -> Vec<Datagram> {
        self.poller.listen();
        let (mut got, mut entries) = (Vec::new(), [Wc::default(); 32]);
        while let Ok(n) = self.poller.poll(&mut entries) {
            if n == 0 {
                break;
            }
            for wc in &entries[..n] {
                if wc.wr_id & SENT != 0 {
                    self.free.push((wc.wr_id & !SENT) as usize);
                    continue;
                }
                let at = wc.wr_id as usize;
                let len = wc.byte_len as usize;
                if wc.status == 0 && at < RECEIVES && (GRH_BYTES..=ROOM).contains(&len) {
                    let from = self.pages.base().wrapping_add(at * ROOM + GRH_BYTES);
                    // SAFETY: a receive buffer that the device has filled so far.
                    let bytes = unsafe { core::slice::from_raw_parts(from, len - GRH_BYTES) };
                    got.extend(Datagram::decode(bytes));
                }
                self.receive_into(at);
            }
        }
        got
    }
}
