//! The secret that every process of a job knows and nobody else.

use super::error::{Error, ErrorKind};
use std::fmt;

/// 256 random bits. They show neither in debug output nor in an error message.
#[derive(Clone)]
pub struct Secret([u8; Secret::BYTES]);

impl Secret {
    /// Bytes of a secret.
    pub const BYTES: usize = 32;

    /// Makes a new secret from the kernel's generator.
    pub fn random() -> Result<Secret, Error> {
        let mut bytes = [0; Secret::BYTES];
        fill_random(&mut bytes)?;
        Ok(Secret(bytes))
    }

    /// Makes a secret of given bytes.
    pub fn from_bytes(bytes: [u8; Secret::BYTES]) -> Secret {
        Secret(bytes)
    }

    /// The secret's bytes.
    pub fn bytes(&self) -> &[u8; Secret::BYTES] {
        &self.0
    }

    /// The secret as hexadecimal text, the form in which it travels in the environment.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }

    /// Reads a secret from hexadecimal text; `None`: it has not 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Secret> {
        let text = text.as_bytes();
        if text.len() != 2 * Secret::BYTES {
            return None;
        }
        let digit = |c: u8| char::from(c).to_digit(16).map(|d| d as u8);
        let mut bytes = [0; Secret::BYTES];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(Secret(bytes))
    }

    /// Compares without telling by its duration where the first difference is.
    pub fn matches(&self, other: &[u8; Secret::BYTES]) -> bool {
        let difference =
            self.0.iter().zip(other).fold(0u8, |all, (a, b)| std::hint::black_box(all | (a ^ b)));
        difference == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// Fills `bytes` from the kernel's generator.
pub(crate) fn fill_random(mut bytes: &mut [u8]) -> Result<(), Error> {
    while !bytes.is_empty() {
        match rustix::rand::getrandom(&mut *bytes, rustix::rand::GetRandomFlags::empty()) {
            Ok(0) => return Err(Error::new(ErrorKind::System, "the kernel gave no random bytes")),
            Ok(n) => bytes = &mut bytes[n..],
            Err(rustix::io::Errno::INTR) => {}
            Err(why) => return Err(Error::system("cannot get random bytes from the kernel", why)),
        }
    }
    Ok(())
}

/// A random number, for names and ids; never 0.
pub fn random_id() -> Result<u64, Error> {
    let mut bytes = [0; 8];
    loop {
        fill_random(&mut bytes)?;
        match u64::from_le_bytes(bytes) {
            0 => {}
            id => return Ok(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_and_back() {
        let secret = Secret::random().expect("the kernel has random bytes");
        let text = secret.to_hex();
        let again = Secret::from_hex(&text).expect("what to_hex wrote");
        assert!(secret.matches(again.bytes()));
        assert!(Secret::from_hex(&text[1..]).is_none());
        assert!(Secret::from_hex(&text.replace(|c: char| c.is_ascii_hexdigit(), "g")).is_none());
    }

    #[test]
    fn one_bit_is_enough_to_differ() {
        let secret = Secret::from_bytes([7; 32]);
        for at in [0, 15, 31] {
            let mut other = [7; 32];
            other[at] ^= 0x10;
            assert!(!secret.matches(&other));
        }
        assert!(secret.matches(&[7; 32]));
        assert_eq!(format!("{secret:?}"), "Secret(..)");
    }
}
