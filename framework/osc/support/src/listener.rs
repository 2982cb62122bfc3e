//! A listener carries out what peers ask of this process: the host calls [`serve`] for the entries of lists that are questions, and that a [`Carrier`].

use core::ffi::c_void;
use core::sync::atomic::{Ordering, fence};
use oxmpi_btl::AskDesc;
use oxmpi_mca::Status;

/// Carries out what peers ask. It runs under the host's service lock, in whichever thread serves: it loads and stores, and neither waits nor calls the host. A lock
/// that it takes is a leaf, which nobody holds for longer than he moves bytes.
pub trait Carrier: Sync {
    /// Carries a question out, and writes the answer, which is as long as the origin wants it and filled with zeros. Nothing of the question is to be believed. The
    /// error is NOT_AVAILABLE where the origin is to ask again, and any other where it is not; then nothing has been done.
    ///
    /// # Safety
    /// The caller has the service lock.
    unsafe fn carry_out(&self, question: &[u8], answer: &mut [u8]) -> Result<(), Status>;
}

/// Is called by the host ([`oxmpi_btl::Listener`]): hands a question on to its carrier. The effects are visible to all processors behind the call.
///
/// # Safety
/// `carrier` is a `C` that is there, `ask` is valid during the call, and the caller has the service lock.
pub unsafe extern "C" fn serve<C: Carrier>(carrier: *mut c_void, ask: *const AskDesc) -> Status {
    // SAFETY: the caller's promise.
    let (carrier, AskDesc { data, len, answer, answer_len }) = unsafe { (&*carrier.cast::<C>(), &*ask) };
    // SAFETY: as many bytes of each are there during the call; none may have any address.
    let (question, answer): (&[u8], &mut [u8]) = unsafe {
        (
            if *len == 0 { &[] } else { core::slice::from_raw_parts(*data, *len as usize) },
            if *answer_len == 0 {
                &mut []
            } else {
                core::slice::from_raw_parts_mut(*answer, *answer_len as usize)
            },
        )
    };
    // SAFETY: the caller's promise.
    let done = unsafe { carrier.carry_out(question, answer) };
    fence(Ordering::SeqCst);
    done.err().unwrap_or(Status::OK)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Answers with each byte that it is asked, one more; refuses what begins with 255.
    struct Successor;

    impl Carrier for Successor {
        unsafe fn carry_out(&self, question: &[u8], answer: &mut [u8]) -> Result<(), Status> {
            if question.first() == Some(&255) {
                return Err(Status::NOT_AVAILABLE);
            }
            answer.iter_mut().zip(question).for_each(|(to, from)| *to = from + 1);
            Ok(())
        }
    }

    #[test]
    fn questions_are_handed_on_with_room_for_their_answers() {
        let successor = Successor;
        let ask = |question: &[u8], len: usize| {
            let mut answer = vec![0; len];
            let desc = AskDesc {
                data: if question.is_empty() { core::ptr::null() } else { question.as_ptr() },
                len: question.len() as u64,
                answer: if len == 0 { core::ptr::null_mut() } else { answer.as_mut_ptr() },
                answer_len: len as u64,
            };
            // SAFETY: the test's carrier and memory.
            let status = unsafe { serve::<Successor>((&raw const successor).cast_mut().cast(), &desc) };
            (status, answer)
        };
        assert_eq!(ask(&[1, 2], 2), (Status::OK, vec![2, 3]));
        assert_eq!(ask(&[], 1), (Status::OK, vec![0]));
        assert_eq!(ask(&[7], 0), (Status::OK, vec![]));
        assert_eq!(ask(&[255, 1], 2), (Status::NOT_AVAILABLE, vec![0, 0]));
    }
}
