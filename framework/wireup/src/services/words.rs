//! Words between a process and a server of names: one frame each, the first byte of which says what it is.

use crate::frame::{Builder, Fields, HEADER, Malformed};

/// Most bytes of a service's name, and of a port's.
const LONGEST: usize = 1024;
/// Most bytes of a frame.
pub(super) const LIMIT: usize = 2 * LONGEST + 64;

/// From a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Answered by `Done`, `Taken` or `Full`.
    Publish { service: String, port: String },
    /// Answered by `Done` or `Absent`; absent is a name with another port, too.
    Unpublish { service: String, port: String },
    /// Answered by `Port` or `Absent`.
    Lookup { service: String },
}

/// From the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    Done,
    Port(String),
    Absent,
    /// Somebody has published it.
    Taken,
    /// There are as many names as there may be.
    Full,
}

/// A frame without the head that other links have.
fn whole(b: Builder) -> Result<Vec<u8>, Malformed> {
    let bytes = b.finish()?;
    match bytes.len() - HEADER {
        length if length > LIMIT => Err(Malformed::TooLong { length: length as u64, limit: LIMIT }),
        _ => Ok(bytes[HEADER..].to_vec()),
    }
}

fn text(f: &mut Fields<'_>, field: &'static str) -> Result<String, Malformed> {
    match f.text(field)? {
        text if text.len() > LONGEST => Err(Malformed::TooLong { length: text.len() as u64, limit: LONGEST }),
        text => Ok(text.to_owned()),
    }
}

impl Request {
    /// The frame; an error where a name is too long.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let b = Builder::new(0);
        whole(match self {
            Request::Publish { service, port } => b.u8(1).text(service).text(port),
            Request::Unpublish { service, port } => b.u8(2).text(service).text(port),
            Request::Lookup { service } => b.u8(3).text(service),
        })
    }

    /// Reads a frame of somebody else's.
    pub fn decode(frame: &[u8]) -> Result<Request, Malformed> {
        let mut f = Fields::new(frame);
        let request = match f.u8("request")? {
            1 => Request::Publish { service: text(&mut f, "service")?, port: text(&mut f, "port")? },
            2 => Request::Unpublish { service: text(&mut f, "service")?, port: text(&mut f, "port")? },
            3 => Request::Lookup { service: text(&mut f, "service")? },
            other => return Err(Malformed::Value { field: "request", value: other.into() }),
        };
        f.finish()?;
        Ok(request)
    }
}

impl Reply {
    /// The frame.
    pub fn encode(&self) -> Result<Vec<u8>, Malformed> {
        let b = Builder::new(0);
        whole(match self {
            Reply::Done => b.u8(1),
            Reply::Port(port) => b.u8(2).text(port),
            Reply::Absent => b.u8(3),
            Reply::Taken => b.u8(4),
            Reply::Full => b.u8(5),
        })
    }

    /// Reads a frame of somebody else's.
    pub fn decode(frame: &[u8]) -> Result<Reply, Malformed> {
        let mut f = Fields::new(frame);
        let reply = match f.u8("reply")? {
            1 => Reply::Done,
            2 => Reply::Port(text(&mut f, "port")?),
            3 => Reply::Absent,
            4 => Reply::Taken,
            5 => Reply::Full,
            other => return Err(Malformed::Value { field: "reply", value: other.into() }),
        };
        f.finish()?;
        Ok(reply)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_survive(service in ".{0,200}", port in ".{0,200}") {
            for request in [
                Request::Publish { service: service.clone(), port: port.clone() },
                Request::Unpublish { service: service.clone(), port: port.clone() },
                Request::Lookup { service },
            ] {
                let frame = request.encode().expect("short");
                prop_assert_eq!(Request::decode(&frame), Ok(request));
            }
            for reply in [Reply::Done, Reply::Port(port), Reply::Absent, Reply::Taken, Reply::Full] {
                let frame = reply.encode().expect("short");
                prop_assert_eq!(Reply::decode(&frame), Ok(reply));
            }
        }

        #[test]
        fn any_bytes_are_understood_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(request) = Request::decode(&bytes) {
                prop_assert_eq!(request.encode(), Ok(bytes.clone()));
            }
            if let Ok(reply) = Reply::decode(&bytes) {
                prop_assert_eq!(reply.encode(), Ok(bytes));
            }
        }
    }

    #[test]
    fn long_names_are_refused_on_both_sides() {
        let long = "x".repeat(LONGEST + 1);
        assert!(Request::Lookup { service: "x".repeat(3 * LONGEST) }.encode().is_err());
        let frame = Request::Lookup { service: long }.encode().expect("it fits a frame");
        assert!(Request::decode(&frame).is_err());
    }
}
