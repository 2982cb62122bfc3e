//! Messages that wait to be sent, and one round in which each is offered to the provider.

use crate::buffers::Route;
use crate::wire::Kind;
use oxmpi_mca::Status;
use std::collections::VecDeque;

/// A message of the driver's own, a request or a reply that waits for room.
pub struct Unsent {
    pub via: Route,
    pub kind: Kind,
    pub tag: u8,
    pub bytes: Box<[u8]>,
}

/// Offers each message of a queue once, in order; those that find no room (NO_RESOURCE) stay, in their order, and so do those behind them that go by the same link.
/// How many have gone.
///
/// An offer may read the completion queue, which adds to the end of the queue, and takes out of it what was for a link that has gone.
pub fn offer_each<C>(
    cx: &mut C,
    queue: fn(&mut C) -> &mut VecDeque<Unsent>,
    mut offer: impl FnMut(&mut C, &Unsent) -> Status,
) -> i32 {
    let (mut gone, mut kept) = (0, 0);
    let mut full: Vec<Route> = Vec::new();
    let mut left = queue(cx).len();
    while left > 0 {
        let Some(first) = queue(cx).pop_front() else { break };
        let status = match full.contains(&first.via) {
            true => Status::NO_RESOURCE,
            false => offer(cx, &first),
        };
        if status == Status::NO_RESOURCE {
            full.push(first.via);
            queue(cx).push_back(first);
            kept += 1;
        } else {
            // Also where the process is gone: nobody waits for it.
            gone += 1;
        }
        // Fewer where some were taken out: one that was offered and kept is not to go behind the next.
        left = (left - 1).min(queue(cx).len().saturating_sub(kept));
    }
    gone
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A context whose link 3 waits for its proof.
    #[derive(Default)]
    struct Links {
        unsent: VecDeque<Unsent>,
        proofs: VecDeque<Unsent>,
        is_open: bool,
        sent: Vec<u8>,
    }

    fn message(via: Route, kind: Kind, tag: u8) -> Unsent {
        Unsent { via, kind, tag, bytes: Box::default() }
    }

    fn round(links: &mut Links, mut offer: impl FnMut(&mut Links, &Unsent) -> Status) {
        let mut tell = |links: &mut Links, message: &Unsent| {
            let status = offer(links, message);
            if status.is_ok() {
                links.sent.push(message.tag);
            }
            status
        };
        offer_each(links, |links| &mut links.proofs, &mut tell);
        offer_each(links, |links| &mut links.unsent, &mut tell);
    }

    /// The proof of a link comes to light while a reply finds no room, and finds none itself; requests wait for the link. It goes as soon as there is room, and they
    /// behind it in their order.
    #[test]
    fn a_proof_does_not_wait_behind_what_waits_for_it() {
        let (reply, link) = (Route::In(1), Route::Out(3));
        let mut links = Links::default();
        for (via, kind, tag) in [(reply, Kind::Reply, 0), (link, Kind::Request, 1), (link, Kind::Request, 2)]
        {
            links.unsent.push_back(message(via, kind, tag));
        }
        for number in 0..4 {
            round(&mut links, |links, m| match m.kind {
                Kind::Reply if number == 0 => {
                    links.proofs.push_back(message(link, Kind::Proof, 9));
                    Status::NO_RESOURCE
                }
                Kind::Proof if number > 1 => {
                    links.is_open = true;
                    Status::OK
                }
                Kind::Request if links.is_open => Status::OK,
                _ => Status::NO_RESOURCE,
            });
            let waits: Vec<u8> = links.unsent.iter().map(|m| m.tag).collect();
            assert_eq!(waits, if number > 1 { vec![0] } else { vec![0, 1, 2] }, "round {number}");
        }
        assert_eq!(links.sent, [9, 1, 2]);
    }

    /// Messages of one link keep their order though one of another link is taken out, and one is added, while the first is offered.
    #[test]
    fn order_is_kept_while_the_queue_changes() {
        let mut links = Links::default();
        let all = [(Route::Out(0), 1), (Route::Out(0), 2), (Route::In(5), 3), (Route::Out(0), 4)];
        for (via, tag) in all {
            links.unsent.push_back(message(via, Kind::Request, tag));
        }
        let mut is_first = true;
        round(&mut links, |links, _| {
            if core::mem::take(&mut is_first) {
                links.unsent.retain(|m| m.via != Route::In(5));
                links.unsent.push_back(message(Route::In(6), Kind::Credits, 7));
            }
            Status::NO_RESOURCE
        });
        let order: Vec<u8> = links.unsent.iter().map(|m| m.tag).filter(|tag| *tag != 7).collect();
        assert_eq!(order, [1, 2, 4]);
        round(&mut links, |_, _| Status::OK);
        assert!(links.unsent.is_empty());
    }
}
