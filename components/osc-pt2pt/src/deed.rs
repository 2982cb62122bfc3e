//! Operations on memory that is exposed: what a record says is done, and old values are told.

use crate::wire::{Head, flag, kind};
use oxmpi_datatype::Base;
use oxmpi_osc_support::Blocks;

/// No sender of ours makes such a record.
#[derive(Debug, PartialEq, Eq)]
pub struct Nonsense;

pub type Taken<T = ()> = Result<T, Nonsense>;

pub fn expect<T>(value: Option<T>) -> Taken<T> {
    value.ok_or(Nonsense)
}

/// Bytes of old values that an operation answers with; `None`: it has no answer of its own. Nonsense: it is no operation.
pub fn answer_of(head: &Head) -> Taken<Option<usize>> {
    match head.kind {
        kind::PUT | kind::ACCUMULATE => Ok(None),
        kind::GET | kind::FETCH | kind::SWAP => expect(usize::try_from(head.len).ok()).map(Some),
        _ => Err(Nonsense),
    }
}

/// Carries an operation out, with the lock of the memory held. `old` is as long as [`answer_of`] says, or empty.
pub fn carry_out(head: &Head, blocks: &Blocks<'_>, data: &[u8], old: &mut [u8]) -> Taken {
    let len = expect(usize::try_from(head.len).ok())?;
    match head.kind {
        kind::PUT if data.len() == len => blocks.write(data),
        kind::GET => blocks.read(old),
        kind::ACCUMULATE if data.len() == len => accumulate(head, blocks, data)?,
        kind::FETCH if !head.has(flag::GIVES) || data.len() == len => {
            blocks.read(old);
            if head.has(flag::GIVES) {
                accumulate(head, blocks, data)?;
            }
        }
        kind::SWAP if data.len() == 2 * len => {
            blocks.read(old);
            let (compare, new) = data.split_at(len);
            if *compare == *old {
                blocks.write(new);
            }
        }
        _ => return Err(Nonsense),
    }
    Ok(())
}

/// The target's elements after the operation.
fn accumulate(head: &Head, blocks: &Blocks<'_>, data: &[u8]) -> Taken {
    let status = blocks.combine(head.code.into(), Base(head.word), data);
    if status.is_err() { Err(Nonsense) } else { Ok(()) }
}
