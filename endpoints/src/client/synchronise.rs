//! Synchronisation of windows: what it asks of the epochs that are open, and the proxy's command.
//!
//! A call that completes operations waits for this endpoint's own first, so that what came is where it belongs.

use super::epoch::must;
use super::state::Words;
use super::window::{self, Window};
use super::{error, group, lock};
use crate::abi::*;
use crate::pmpi;
use crate::protocol::record::{Record, op};

fn asserts(given: c_int, allowed: c_int) -> Result<(), c_int> {
    if given & !allowed == 0 { Ok(()) } else { Err(ERR_ASSERT) }
}

impl Window {
    fn must_have(&self, rank: c_int) -> Result<(), c_int> {
        if (0..self.comm.size).contains(&rank) { Ok(()) } else { Err(ERR_RANK) }
    }

    /// Ranks of a group's members in the window.
    fn ranks(&self, of: Group) -> Result<Vec<c_int>, c_int> {
        let members = self.comm.members(0)?;
        let rank = |world: &i64| members.iter().position(|m| i64::from(*m) == *world).map(|r| r as c_int);
        group::world_ranks(of)?.iter().map(rank).collect::<Option<_>>().ok_or(ERR_GROUP)
    }

    /// A command for the ranks of a list.
    fn tell(&self, code: u32, ranks: &[c_int]) -> Result<(), c_int> {
        let list: Vec<i64> = ranks.iter().map(|r| i64::from(*r)).collect();
        let words = Words::new(&list)?;
        let fill = |r: &mut Record| {
            r.lists = words.address();
            r.args[0] = list.len() as i64;
        };
        self.command(code, fill, |_| Ok(()))
    }

    /// Everything to one target, or all, is complete here; the flush of the proxy's that belongs to it follows.
    fn flush(&self, code: u32, rank: c_int) -> Result<(), c_int> {
        let settled = self.settle((rank >= 0).then_some(rank));
        self.command(code, |r| r.root = rank, |_| Ok(())).and(settled)
    }

    fn lock(&self, code: u32, rank: c_int, kind: c_int, checked: bool) -> Result<(), c_int> {
        if !checked && code == op::WIN_LOCK {
            return Ok(());
        }
        let told = if code == op::WIN_LOCK { kind } else { checked.into() };
        let fill = |r: &mut Record| {
            r.root = rank;
            r.args[1] = told.into();
        };
        self.command(code, fill, |_| Ok(()))
    }
}

on_windows! {
    fn [MPI_Win_fence] (assert: c_int, win: Win) on win, w {
        asserts(assert, MODE_NOSTORE | MODE_NOPUT | MODE_NOPRECEDE | MODE_NOSUCCEED)?;
        must(!lock(&w.epoch).is_open())?;
        let settled = w.settle(None);
        w.command(op::WIN_FENCE, |_| (), |_| Ok(()))?;
        lock(&w.epoch).fenced = assert & MODE_NOSUCCEED == 0;
        settled
    }
}

on_windows! {
    fn [MPI_Win_post] (group: Group, assert: c_int, win: Win) on win, w {
        asserts(assert, MODE_NOCHECK | MODE_NOSTORE | MODE_NOPUT)?;
        let ranks = w.ranks(group)?;
        must(!lock(&w.epoch).posted)?;
        w.tell(op::WIN_POST, &ranks)?;
        lock(&w.epoch).posted = true;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_start] (group: Group, assert: c_int, win: Win) on win, w {
        asserts(assert, MODE_NOCHECK)?;
        let ranks = w.ranks(group)?;
        {
            let epoch = lock(&w.epoch);
            must(epoch.started.is_none() && !epoch.is_passive())?;
        }
        w.tell(op::WIN_START, &ranks)?;
        let mut epoch = lock(&w.epoch);
        epoch.fenced = false;
        epoch.started = Some(ranks);
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_complete] (win: Win) on win, w {
        let ranks = lock(&w.epoch).started.take().ok_or(ERR_RMA_SYNC)?;
        let settled = w.settle(None);
        w.tell(op::WIN_COMPLETE, &ranks).and(settled)
    }
}

on_windows! {
    fn [MPI_Win_wait] (win: Win) on win, w {
        must(lock(&w.epoch).posted)?;
        w.command(op::WIN_WAIT, |_| (), |_| Ok(()))?;
        lock(&w.epoch).posted = false;
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_test] (win: Win, flag: *mut c_int) on win, w {
        must(lock(&w.epoch).posted)?;
        *flag = w.command(op::WIN_TEST, |_| (), |r| Ok((r.out[0] != 0).into()))?;
        if *flag != 0 {
            lock(&w.epoch).posted = false;
        }
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_lock] (lock_type: c_int, rank: c_int, assert: c_int, win: Win) on win, w {
        if lock_type != LOCK_EXCLUSIVE && lock_type != LOCK_SHARED {
            return Err(ERR_LOCKTYPE);
        }
        asserts(assert, MODE_NOCHECK)?;
        if rank == PROC_NULL {
            return Ok(());
        }
        w.must_have(rank)?;
        {
            let epoch = lock(&w.epoch);
            must(!epoch.locks(rank) && epoch.started.is_none())?;
        }
        let checked = assert & MODE_NOCHECK == 0;
        w.lock(op::WIN_LOCK, rank, lock_type, checked)?;
        let mut epoch = lock(&w.epoch);
        epoch.fenced = false;
        epoch.locks.insert(rank, checked);
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_unlock] (rank: c_int, win: Win) on win, w {
        if rank == PROC_NULL {
            return Ok(());
        }
        w.must_have(rank)?;
        let checked = lock(&w.epoch).locks.remove(&rank).ok_or(ERR_RMA_SYNC)?;
        let settled = w.settle(Some(rank));
        w.lock(op::WIN_UNLOCK, rank, 0, checked).and(settled)
    }
}

on_windows! {
    fn [MPI_Win_lock_all] (assert: c_int, win: Win) on win, w {
        asserts(assert, MODE_NOCHECK)?;
        {
            let epoch = lock(&w.epoch);
            must(!epoch.is_passive() && epoch.started.is_none())?;
        }
        let checked = assert & MODE_NOCHECK == 0;
        w.lock(op::WIN_LOCK, -1, LOCK_SHARED, checked)?;
        let mut epoch = lock(&w.epoch);
        epoch.fenced = false;
        epoch.all = Some(checked);
        Ok(())
    }
}

on_windows! {
    fn [MPI_Win_unlock_all] (win: Win) on win, w {
        let checked = lock(&w.epoch).all.take().ok_or(ERR_RMA_SYNC)?;
        let settled = w.settle(None);
        w.lock(op::WIN_UNLOCK, -1, 0, checked).and(settled)
    }
}

macro_rules! flush {
    ($code:ident: $one:ident, $all:ident) => {
        on_windows! {
            fn [$one] (rank: c_int, win: Win) on win, w {
                if rank == PROC_NULL {
                    return Ok(());
                }
                w.must_have(rank)?;
                must(lock(&w.epoch).locks(rank))?;
                w.flush(op::$code, rank)
            }
        }
        on_windows! {
            fn [$all] (win: Win) on win, w {
                must(lock(&w.epoch).is_passive())?;
                w.flush(op::$code, -1)
            }
        }
    };
}

// fn [MPI_Win_flush, MPI_Win_flush_all, MPI_Win_flush_local, MPI_Win_flush_local_all]
flush!(WIN_FLUSH: MPI_Win_flush, MPI_Win_flush_all);
flush!(WIN_FLUSH_LOCAL: MPI_Win_flush_local, MPI_Win_flush_local_all);

on_windows! {
    fn [MPI_Win_sync] (win: Win) on win, w {
        core::sync::atomic::fence(core::sync::atomic::Ordering::SeqCst);
        w.command(op::WIN_SYNC, |_| (), |_| Ok(()))
    }
}
