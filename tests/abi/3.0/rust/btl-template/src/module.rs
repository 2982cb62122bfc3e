//! The verbs of a device but those of its service context: what we say about ourselves, meeting peers, sending, sleeping.
//! Receiving is in `progress.rs`.

use crate::device::{Context, TemplateModule, write};
use crate::endpoint::TemplateEndpoint;
use crate::sys::{DEVICE, PeerName, READABLE, Sent};
use crate::wire::{Address, BadAddress};
use oxmpi_btl::{Btl, BtlAttrs, BtlSleep, Entered, Message, Peer, ProcInfo, WaitFd, WaitSet};
use oxmpi_mca::Status;

impl Btl for TemplateModule {
    type Context = Context;
    type Endpoint = TemplateEndpoint;
    /// Where to send: the peer's context with our context's number modulo its own count.
    type Lane = PeerName;

    /// Asked once. Everything the layers above need to choose a protocol, as data.
    fn attrs(&self) -> BtlAttrs {
        let mut attrs = BtlAttrs::new();
        attrs.eager_limit = self.settings.eager_limit as u64;
        attrs.rndv_eager_limit = self.settings.eager_limit as u64;
        attrs.max_send_size = self.settings.max_send_size as u64;
        attrs.exclusivity = self.settings.exclusivity;
        attrs.service_limit = self.settings.max_send_size as u32;
        attrs.latency = 10;
        attrs.bandwidth = 1000;
        let device = DEVICE.as_bytes();
        attrs.device[..device.len()].copy_from_slice(device);
        attrs
    }

    /// Called when a process is first talked to. `Ok(None)` where this transport does not reach: quietly,
    /// another one will. An error is for a peer that should be reachable and is not. Abstract sockets reach over the
    /// whole machine, on which there may be several nodes (`--mca plm local`), so `proc.local` does not say it; who
    /// shares memory with us, or may be read by us, is asked by `proc.local` alone.
    fn add_proc(&self, proc: &ProcInfo) -> Result<Option<TemplateEndpoint>, Status> {
        if proc.proc == self.host.job().rank {
            return Ok(None);
        }
        let blob = match self.host.exchange_get(proc.proc) {
            Ok(blob) => blob,
            // The peer does not use this component.
            Err(Status::NOT_FOUND) => return Ok(None),
            Err(e) => return Err(e),
        };
        let address = match Address::decode(&blob) {
            Ok(address) => address,
            Err(why) => {
                let why = match why {
                    BadAddress::Version(theirs) => {
                        format!("it speaks wire version {theirs}, we speak {}", crate::wire::VERSION)
                    }
                    BadAddress::Damaged => "its address is damaged".to_owned(),
                };
                self.host.warn(&format!("process {} is not reached: {why}", proc.proc));
                return Ok(None);
            }
        };
        if address.place != self.place {
            return Ok(None);
        }
        let names = address.names.iter().map(|name| PeerName::new(name)).collect::<Result<_, _>>();
        let names = names.map_err(|_| Status::BAD_PARAM)?;
        let service = PeerName::new(&address.service).map_err(|_| Status::BAD_PARAM)?;
        Ok(Some(TemplateEndpoint { proc: proc.proc, names, service }))
    }

    /// Called once for each context of a new endpoint. A lane is touched on that context alone, so it may change without a lock.
    fn lane(&self, endpoint: &TemplateEndpoint, ctx: u32) -> PeerName {
        endpoint.names[ctx as usize % endpoint.names.len()].clone()
    }

    /// Sends, or says NO_RESOURCE and has done nothing. When this returns OK the receiver will find the
    /// message without our help, and header and payload belong to the caller again.
    fn send(&self, at: &mut Entered<'_, Context>, to: &Peer<Self>, msg: &Message<'_>) -> Status {
        let total = msg.total_len();
        if total > self.settings.max_send_size {
            return Status::BAD_PARAM;
        }
        let (context, name) = at.with_lane(to);
        let bytes = write(&mut context.out, self.frame(msg), msg);
        match context.socket.send(name, bytes) {
            Ok(Sent::Yes) => Status::OK,
            Ok(Sent::NoRoom) => Status::NO_RESOURCE,
            Ok(Sent::Gone) => Status::PEER_FAILED,
            Err(e) => {
                self.host.error(&format!("cannot send a datagram of {total} bytes: {e}"));
                Status::INTERNAL
            }
        }
    }

    fn progress(&self, at: &mut Entered<'_, Context>) -> i32 {
        self.receive(at)
    }

    // `del_proc` and `finalize` have nothing to do here: what was sent is with the receiver already, and
    // sockets close when the module goes. A device with messages still inside sends them in `finalize`.
}

/// A waiter may sleep: the socket is a descriptor, which wakes whoever polls it for as long as something is in it.
impl BtlSleep for TemplateModule {
    fn arm(&self, at: &mut Entered<'_, Context>, set: &mut WaitSet) -> Status {
        // Requests for which there was no room wait for a turn of ours; no descriptor says when there is some.
        if !at.requests.unsent.is_empty() || at.is_readable() {
            return Status::PENDING;
        }
        set.add_fd(WaitFd { fd: at.socket.fd(), events: READABLE })
    }

    fn disarm(&self, _at: &mut Entered<'_, Context>) {}
}
