//! The suite on Gemini, whose gets want both ends aligned, with messages on several devices.

mod common;

fn setup() -> oxmpi_btl_conformance::Setup {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| common::set_up("device=gemini"));
    common::setup()
        .param("virtual_device_count", "2")
        .param("smsg_devices", "each")
        .param("atomics", "device")
}

oxmpi_btl_conformance::suite!(setup());
