//! Messages over a link that two daemons have made for themselves: a question, and its answer the other way.

use super::exchange::Exchange;
use super::kinds::DIRECT;
use super::message::Message;
use oxmpi_wireup::frame::{Builder, Fields, Frame, Malformed};

/// A question or an answer about the key-value store; no other exchange goes by such a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Direct(pub Exchange);

impl Message for Direct {
    fn encode(&self) -> Result<Vec<u8>, Malformed> {
        self.0.encode(Builder::new(DIRECT)).finish()
    }

    fn decode(frame: Frame<'_>) -> Result<Direct, Malformed> {
        if frame.kind != DIRECT {
            return Err(Malformed::Kind(frame.kind));
        }
        let mut f = Fields::new(frame.payload);
        let exchange = Exchange::decode(&mut f)?;
        f.finish()?;
        match exchange {
            Exchange::Ask { .. } | Exchange::Answer { .. } => Ok(Direct(exchange)),
            Exchange::Fence | Exchange::Gone { .. } | Exchange::Never { .. } => {
                let value = frame.payload.first().copied().unwrap_or_default().into();
                Err(Malformed::Value { field: "exchange of a direct link", value })
            }
        }
    }
}
