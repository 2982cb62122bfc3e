//! The verbs of a window: operations are passed on, synchronisation is done here.
//!
//! A verb looks at the window or changes it while that is locked (`with`), and waits with nothing locked (`until`). It keeps values across a
//! wait, and other threads may have changed the window since.

use crate::window::{Peer, TemplateWindow};
use crate::wire::Message;
use oxmpi_mca::Status;
use oxmpi_osc::{LockKind, assertion};
use oxmpi_osc_support::simple::{Call, Desk, Open, Operation, Result, Window};
use oxmpi_osc_support::{Access, Epochs};

type TheCall<'a> = Call<'a, TemplateWindow>;

fn all(call: &TheCall<'_>) -> Vec<u32> {
    (0..call.num_ranks()).collect()
}

/// Checks or changes the epochs.
fn epochs(call: &mut TheCall<'_>, change: impl FnOnce(&mut Epochs) -> Status) -> Result {
    call.with(|window, _| change(&mut window.epochs)).ok().map(drop)
}

/// Waits until the ranks have answered all that was sent to them before, and tells what failed.
fn settle(call: &mut TheCall<'_>, ranks: &[u32]) -> Result {
    let sent: Vec<u64> = call.with(|window, _| ranks.iter().map(|rank| window.peer(*rank).sent).collect());
    call.until(|window| {
        ranks.iter().zip(&sent).all(|(rank, sent)| {
            let peer = window.peer(*rank);
            peer.answered >= *sent || peer.lost.is_err()
        })
    })?;
    call.with(|window, _| {
        let failures: Vec<Result> = ranks.iter().map(|rank| window.peer(*rank).take_failure()).collect();
        failures.into_iter().collect()
    })
}

/// Takes one of what a count of each rank says has come; false: one of them has not.
fn use_up(window: &mut TemplateWindow, ranks: &[u32], count: fn(&mut Peer) -> &mut u32) -> Result<bool> {
    for rank in ranks {
        let peer = window.peer(*rank);
        if *count(peer) == 0 {
            peer.lost.ok()?;
            return Ok(false);
        }
    }
    ranks.iter().for_each(|rank| *count(window.peer(*rank)) -= 1);
    Ok(true)
}

/// Waits until that is so.
fn use_up_later(call: &mut TheCall<'_>, ranks: &[u32], count: fn(&mut Peer) -> &mut u32) -> Result {
    let mut used = Ok(false);
    call.until(|window| {
        used = use_up(window, ranks, count);
        used != Ok(false)
    })?;
    used.map(drop)
}

/// Asks the ranks for their locks and waits for them.
fn lock_ranks(call: &mut TheCall<'_>, ranks: &[u32], kind: LockKind) -> Result {
    call.with(|window, desk| {
        for rank in ranks {
            window.peer(*rank).granted = false;
            desk.send(*rank, Message::Lock(kind.number()).encode());
        }
    });
    let mut granted = Ok(());
    call.until(|window| {
        let waits = |rank: &&u32| !window.peers[**rank as usize].granted;
        let Some(rank) = ranks.iter().find(waits) else { return true };
        granted = window.peer(*rank).lost.ok().map(drop);
        granted.is_err()
    })?;
    granted
}

/// The ranks of the exposure epoch.
fn exposed_to(call: &mut TheCall<'_>) -> Result<Vec<u32>> {
    call.with(|window, _| window.epochs.exposure.clone()).ok_or(Status::RMA_SYNC)
}

impl Window for TemplateWindow {
    fn operate(&mut self, desk: &mut Desk, operation: &Operation<'_>, open: Open) -> Result {
        self.issue(desk, operation, open)
    }

    fn fence(call: &mut TheCall<'_>, assert: u32) -> Result {
        epochs(call, |e| e.may_fence())?;
        let ranks = all(call);
        let done = settle(call, &ranks);
        // A failure does not keep this rank away: the others wait here.
        call.barrier()?;
        let opens = assert & assertion::NOSUCCEED == 0;
        let access = if opens { Access::Fence { used: false } } else { Access::None };
        call.with(|window, _| window.epochs.access = access);
        done
    }

    fn post(call: &mut TheCall<'_>, ranks: &[u32], assert: u32) -> Result {
        call.with(|window, desk| {
            window.know(ranks)?;
            if window.epochs.exposure.is_some() {
                return Err(Status::RMA_SYNC);
            }
            window.epochs.exposure = Some(ranks.to_vec());
            if assert & assertion::NOCHECK == 0 {
                window.ask_all(desk, ranks, &Message::Post);
            }
            Ok(())
        })
    }

    fn start(call: &mut TheCall<'_>, ranks: &[u32], assert: u32) -> Result {
        call.with(|window, _| {
            window.know(ranks)?;
            window.epochs.may_begin().ok()?;
            window.epochs.access = Access::Start(ranks.to_vec());
            Ok(())
        })?;
        // With that assertion no post is told: all were called before.
        if assert & assertion::NOCHECK != 0 {
            Ok(())
        } else {
            use_up_later(call, ranks, |peer| &mut peer.posts)
        }
    }

    fn complete(call: &mut TheCall<'_>) -> Result {
        let ranks = call.with(|window, _| match &window.epochs.access {
            Access::Start(ranks) => Ok(ranks.clone()),
            _ => Err(Status::RMA_SYNC),
        })?;
        let done = settle(call, &ranks);
        call.with(|window, desk| {
            window.epochs.access = Access::None;
            window.ask_all(desk, &ranks, &Message::Complete);
        });
        done
    }

    fn wait(call: &mut TheCall<'_>) -> Result {
        let ranks = exposed_to(call)?;
        let done = use_up_later(call, &ranks, |peer| &mut peer.completes);
        call.with(|window, _| window.epochs.exposure = None);
        done
    }

    fn test(call: &mut TheCall<'_>) -> Result<bool> {
        let ranks = exposed_to(call)?;
        call.progress();
        call.with(|window, _| {
            let is_over = use_up(window, &ranks, |peer| &mut peer.completes)?;
            if is_over {
                window.epochs.exposure = None;
            }
            Ok(is_over)
        })
    }

    fn lock(call: &mut TheCall<'_>, kind: LockKind, rank: u32, assert: u32) -> Result {
        call.with(|window, _| window.know(&[rank]))?;
        let checked = assert & assertion::NOCHECK == 0;
        epochs(call, |e| e.lock(rank, checked))?;
        if checked { lock_ranks(call, &[rank], kind) } else { Ok(()) }
    }

    fn unlock(call: &mut TheCall<'_>, rank: u32) -> Result {
        // The epoch is open until all is done, for operations of other threads.
        epochs(call, |e| {
            if matches!(e.access, Access::LockAll(_)) { Status::RMA_SYNC } else { e.may_flush(Some(rank)) }
        })?;
        let done = settle(call, &[rank]);
        call.with(|window, desk| {
            if window.epochs.unlock(rank)? {
                window.ask_all(desk, &[rank], &Message::Unlock);
            }
            done
        })
    }

    fn lock_all(call: &mut TheCall<'_>, assert: u32) -> Result {
        let checked = assert & assertion::NOCHECK == 0;
        call.with(|window, _| {
            window.epochs.may_begin().ok()?;
            window.epochs.access = Access::LockAll(checked);
            Ok(())
        })?;
        let ranks = all(call);
        if checked { lock_ranks(call, &ranks, LockKind::Shared) } else { Ok(()) }
    }

    fn unlock_all(call: &mut TheCall<'_>) -> Result {
        let checked = call.with(|window, _| match window.epochs.access {
            Access::LockAll(checked) => Ok(checked),
            _ => Err(Status::RMA_SYNC),
        })?;
        let ranks = all(call);
        let done = settle(call, &ranks);
        call.with(|window, desk| {
            window.epochs.access = Access::None;
            if checked {
                window.ask_all(desk, &ranks, &Message::Unlock);
            }
        });
        done
    }

    fn flush(call: &mut TheCall<'_>, rank: Option<u32>) -> Result {
        epochs(call, |e| e.may_flush(rank))?;
        let ranks = rank.map_or_else(|| all(call), |rank| vec![rank]);
        settle(call, &ranks)
    }

    fn free(call: &mut TheCall<'_>) -> Result {
        let own = epochs(call, |e| e.may_end());
        // An epoch that is open anywhere keeps the window everywhere.
        call.agree(own)?;
        let ranks = all(call);
        // A failure of an operation is not one of freeing, and nobody asks for it any more. All that was sent is answered once all are here.
        let _ = settle(call, &ranks);
        call.barrier()
    }
}
