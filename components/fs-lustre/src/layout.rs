//! Layouts of files as the bytes of Lustre's ioctls (`struct lov_user_md_v1` and `_v3`, little-endian on all clients that are supported).

/// Kinds of layouts, by the first word.
const V1: u32 = 0x0bd1_0bd0;
const V3: u32 = 0x0bd3_0bd0;
/// Stripes one after the other.
const RAID0: u32 = 1;
/// "Any", for a device.
const ANY: u16 = u16::MAX;
/// Bytes of a layout before its devices, and of the name of a pool behind that in the newer kind.
const HEAD: usize = 32;
const POOL: usize = 16;
/// Bytes of one device's entry, and where its number is.
const DEVICE: usize = 24;
const DEVICE_NUMBER: usize = 20;
/// Devices of a file at most.
const MOST_DEVICES: u32 = 2000;
/// Bytes of which a stripe is a multiple.
const STRIPE_UNIT: u64 = 64 << 10;

/// Bytes that hold any layout of the kinds that are known.
pub const MOST_BYTES: usize = HEAD + POOL + MOST_DEVICES as usize * DEVICE;

/// A layout; 0 and `None` where it does not matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    pub stripe_size: u64,
    pub devices: u32,
    pub first: Option<u32>,
}

impl Layout {
    /// The bytes that ask for it, as far as Lustre can have it; `None`: nothing is asked for.
    pub fn encode(&self) -> Option<[u8; HEAD]> {
        if *self == Layout::default() {
            return None;
        }
        let most = u64::from(u32::MAX) / STRIPE_UNIT * STRIPE_UNIT;
        let size = match self.stripe_size {
            0 => 0,
            size => (size - size % STRIPE_UNIT).clamp(STRIPE_UNIT, most),
        };
        let first = self.first.and_then(|first| u16::try_from(first).ok()).unwrap_or(ANY);
        let mut bytes = [0; HEAD];
        bytes[0..4].copy_from_slice(&V1.to_le_bytes());
        bytes[4..8].copy_from_slice(&RAID0.to_le_bytes());
        bytes[24..28].copy_from_slice(&(size as u32).to_le_bytes());
        bytes[28..30].copy_from_slice(&(self.devices.min(MOST_DEVICES) as u16).to_le_bytes());
        bytes[30..32].copy_from_slice(&first.to_le_bytes());
        Some(bytes)
    }

    /// The bytes that ask what a file's layout is, in which the answer comes.
    pub fn question() -> Vec<u8> {
        let mut bytes = vec![0; MOST_BYTES];
        bytes[0..4].copy_from_slice(&V1.to_le_bytes());
        bytes
    }

    /// The layout that an answer tells; `None`: of another kind.
    pub fn decode(bytes: &[u8]) -> Option<Layout> {
        let word = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let devices_at = match word(0)? {
            V1 => HEAD,
            V3 => HEAD + POOL,
            _ => return None,
        };
        let devices = u16::from_le_bytes(bytes.get(28..30)?.try_into().ok()?);
        if word(4)? != RAID0 || devices == 0 || u32::from(devices) > MOST_DEVICES {
            return None;
        }
        let (stripe_size, first) = (word(24)?.into(), word(devices_at + DEVICE_NUMBER));
        Some(Layout { stripe_size, devices: devices.into(), first })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layout_is_asked_for_byte_by_byte() {
        let layout = Layout { stripe_size: 4 << 20, devices: 8, first: Some(3) };
        let mut expected = [0u8; 32];
        expected[0..8].copy_from_slice(&[0xd0, 0x0b, 0xd1, 0x0b, 1, 0, 0, 0]);
        expected[24..32].copy_from_slice(&[0, 0, 0x40, 0, 8, 0, 3, 0]);
        assert_eq!(layout.encode(), Some(expected));
        let of = |layout: Layout| layout.encode().expect("something is asked for")[24..32].to_vec();
        assert_eq!(of(Layout { devices: 5000, ..Layout::default() }), [0, 0, 0, 0, 0xd0, 7, 0xff, 0xff]);
        assert_eq!(of(Layout { stripe_size: 100_000, ..Layout::default() }), [0, 0, 1, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(of(Layout { stripe_size: 1, ..Layout::default() }), [0, 0, 1, 0, 0, 0, 0xff, 0xff]);
        assert_eq!(of(Layout { stripe_size: u64::MAX, ..Layout::default() })[..4], [0, 0, 0xff, 0xff]);
        assert_eq!(Layout::default().encode(), None);
    }

    #[test]
    fn answers_of_both_kinds_are_understood_and_others_are_not() {
        for (kind, devices_at) in [(V1, 32), (V3, 48)] {
            let mut bytes = Layout::question();
            bytes[0..4].copy_from_slice(&kind.to_le_bytes());
            bytes[4] = 1;
            bytes[24..30].copy_from_slice(&[0, 0, 0x10, 0, 4, 0]);
            bytes[devices_at + 20] = 7;
            let expected = Layout { stripe_size: 1 << 20, devices: 4, first: Some(7) };
            assert_eq!(Layout::decode(&bytes), Some(expected));
            bytes[3] = 0x55;
            assert_eq!(Layout::decode(&bytes), None);
        }
        assert_eq!(Layout::decode(&[]), None);
        assert_eq!(Layout::decode(&Layout::question()), None);
    }
}
