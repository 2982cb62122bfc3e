//! The suite on a network that does everything it may: operations overtake each other, events precede their data, posts are refused now and then,
//! datagrams and messages are lost and sent again.

mod common;

fn setup() -> oxmpi_btl_conformance::Setup {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        common::set_up("shuffle=7,early_event=1,refuse=5,datagram_drop=3,datagram_delay_ms=1,smsg_drop=50");
    });
    common::setup().param("atomics", "device")
}

oxmpi_btl_conformance::suite!(setup());
