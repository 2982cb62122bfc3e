//! Messages that mpirun, oxmpid and the ranks send to each other, from anybody. The first byte chooses the direction.
#![no_main]

use oxmpi_mpirun::link::{Direct, FromNode, Message, ToNode};
use oxmpi_mpirun::remote::hand::Hand;
use oxmpi_wireup::frame::{Frame, Inbox, Malformed};
use oxmpi_wireup::message::{ToDaemon, ToRank};

/// Every frame is understood or refused; what is understood says the same when it is written again.
fn all<M>(
    bytes: &[u8],
    decode: impl Fn(Frame<'_>) -> Result<M, Malformed>,
    encode: impl Fn(&M) -> Result<Vec<u8>, Malformed>,
) {
    let mut inbox = Inbox::new(1 << 16);
    // In two parts, as a socket may give them.
    let (first, second) = bytes.split_at(bytes.len() / 2);
    for part in [first, second] {
        inbox.extend(part);
        while let Ok(Some(frame)) = inbox.next() {
            let Ok(message) = decode(frame) else { return };
            let again = encode(&message).expect("it came in a frame");
            let mut copy = Inbox::new(1 << 20);
            copy.extend(&again);
            let frame = copy.next().expect("whole").expect("whole");
            let second = decode(frame).expect("understood before");
            assert_eq!(encode(&second).as_ref(), Ok(&again), "it changes on the way");
        }
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&which, bytes)) = bytes.split_first() else { return };
    match which % 6 {
        0 => all(bytes, ToDaemon::decode, ToDaemon::encode),
        1 => all(bytes, ToRank::decode, ToRank::encode),
        2 => all(bytes, ToNode::decode, ToNode::encode),
        3 => all(bytes, Direct::decode, Direct::encode),
        4 => all(bytes, Hand::decode, Hand::encode),
        _ => all(bytes, FromNode::decode, FromNode::encode),
    }
});
