//! System calls of this driver: the kernel's lists of network cards, random numbers, and waiting for descriptors.

use core::time::Duration;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::path::Path;

/// Whether the kernel lists a network card that libfabric has a provider for beside TCP: Slingshot's, or one that has verbs (InfiniBand, Omni-Path,
/// EFA). It tells at once, where the providers take a third of a second to look for their cards.
pub fn has_card() -> bool {
    lists_a_card(Path::new("/sys/class"))
}

fn lists_a_card(classes: &Path) -> bool {
    ["infiniband", "cxi"]
        .iter()
        .any(|class| std::fs::read_dir(classes.join(class)).is_ok_and(|mut cards| cards.next().is_some()))
}

/// Bytes that nobody guesses.
pub fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    let mut at = 0;
    while at < N {
        at += rustix::rand::getrandom(&mut bytes[at..], rustix::rand::GetRandomFlags::empty())?;
    }
    Ok(bytes)
}

/// Waits for one of the descriptors, for a time at most. Whether one has something.
///
/// # Safety
/// The descriptors are open.
pub unsafe fn wait_for(fds: &[RawFd], longest: Duration) -> bool {
    let borrowed = fds.iter().map(|fd| {
        // SAFETY: the caller's promise.
        PollFd::from_borrowed_fd(unsafe { BorrowedFd::borrow_raw(*fd) }, PollFlags::IN)
    });
    let mut polled: Vec<_> = borrowed.collect();
    let time = Timespec { tv_sec: longest.as_secs() as i64, tv_nsec: i64::from(longest.subsec_nanos()) };
    poll(&mut polled, Some(&time)).is_ok_and(|ready| ready > 0)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn cards_are_found_where_the_kernel_lists_one() {
        let classes = std::env::temp_dir().join(format!("oxmpi-btl-ofi-cards-{}", std::process::id()));
        assert!(!lists_a_card(&classes), "no list");
        std::fs::create_dir_all(classes.join("infiniband")).expect("a folder");
        assert!(!lists_a_card(&classes), "an empty list");
        std::fs::create_dir_all(classes.join("cxi/cxi0")).expect("a folder");
        assert!(lists_a_card(&classes), "a card");
        std::fs::remove_dir_all(&classes).expect("no folder");
    }
}
