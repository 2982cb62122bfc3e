//! Calls outside of the epoch that they need, and data outside of the window: refused, and the window is as good as before.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, Win, basic};
use oxmpi_datatype::kernel::op;
use oxmpi_datatype::{Base, TypeRef, build};
use oxmpi_mca::Status;
use oxmpi_osc::{assertion, lock_type};

const SYNC: Status = Status::RMA_SYNC;

fn put(win: &Win<'_>, to: u32) -> Status {
    let int = basic(Base::I32);
    win.try_put(Data::of(&[1i32], &int), TargetElements { rank: to, disp: 0, count: 1, dtype: &int })
}

check!(operations_need_an_epoch, ranks: [1, 2], |rank: &Rank| {
    let int = basic(Base::I32);
    let mut memory = [0i32; 4];
    let win = rank.over(&mut memory);
    let to = rank.right();
    let there = TargetElements { rank: to, disp: 0, count: 1, dtype: &int };
    let mut into = [0i32];
    assert_eq!(put(&win, to), SYNC);
    assert_eq!(win.try_get(Data::into(&mut into, &int), there), SYNC);
    assert_eq!(win.try_accumulate(Data::of(&[1i32], &int), there, op::SUM), SYNC);
    let v = win.verbs();
    assert_eq!([v.unlock(&mut rank.entry(), to), v.unlock_all(&mut rank.entry()), v.complete(&mut rank.entry())], [SYNC; 3]);
    assert_eq!([v.wait(&mut rank.entry(), true), v.wait(&mut rank.entry(), false)], [SYNC; 2]);
    assert_eq!([v.flush(&mut rank.entry(), Some(to), false), v.flush(&mut rank.entry(), None, true)], [SYNC; 2]);
    win.lock(lock_type::SHARED, to);
    assert_eq!(v.lock(&mut rank.entry(), lock_type::SHARED, to, 0), SYNC, "locked already");
    assert_eq!([v.lock_all(&mut rank.entry(), 0), v.unlock_all(&mut rank.entry()), v.access(&mut rank.entry(), &[to], 0)], [SYNC; 3]);
    assert_eq!(put(&win, to), Status::OK);
    win.unlock(to);
    assert_eq!(put(&win, to), SYNC, "the epoch has ended");
    win.lock_all();
    assert_eq!([v.lock_all(&mut rank.entry(), 0), v.lock(&mut rank.entry(), lock_type::SHARED, to, 0), v.unlock(&mut rank.entry(), to)], [SYNC; 3]);
    assert_eq!(put(&win, to), Status::OK);
    win.unlock_all();
    win.fence();
    assert_eq!(put(&win, to), Status::OK);
    assert!(!v.fence(&mut rank.entry(), assertion::NOSUCCEED).is_err());
    assert_eq!(put(&win, to), SYNC, "the fence has opened nothing");
    rank.barrier();
    win.free();
});

check!(a_fence_that_nothing_follows_opens_nothing, ranks: [2], |rank: &Rank| {
    let mut memory = [0i32; 4];
    let win = rank.over(&mut memory);
    win.fence();
    win.lock(lock_type::EXCLUSIVE, rank.right());
    assert_eq!(put(&win, rank.right()), Status::OK);
    win.unlock(rank.right());
    rank.barrier();
    win.free();
});

check!(other_ranks_than_those_of_the_epoch, ranks: [3], |rank: &Rank| {
    let mut memory = [0i32; 4];
    let win = rank.over(&mut memory);
    let v = win.verbs();
    win.lock(lock_type::SHARED, rank.right());
    assert_eq!((put(&win, rank.right()), put(&win, rank.left())), (Status::OK, SYNC));
    assert_eq!(v.flush(&mut rank.entry(), Some(rank.left()), false), SYNC);
    win.unlock(rank.right());
    assert_eq!(v.post(&mut rank.entry(), &[rank.left()], 0), Status::OK);
    assert_eq!(v.post(&mut rank.entry(), &[rank.left()], 0), SYNC, "exposed already");
    assert_eq!(v.access(&mut rank.entry(), &[rank.right()], 0), Status::OK);
    assert_eq!((put(&win, rank.right()), put(&win, rank.left())), (Status::OK, SYNC));
    assert_eq!(v.complete(&mut rank.entry()), Status::OK);
    assert_eq!(v.wait(&mut rank.entry(), true), Status::OK);
    win.free();
});

/// MPI_ERR_RMA_SYNC.
const RMA_SYNC: i32 = 50;

check!(an_open_epoch_keeps_the_window, ranks: [1, 2], |rank: &Rank| {
    let mut memory = [0i32; 4];
    let win = rank.over(&mut memory);
    if rank.me() == 0 {
        win.lock(lock_type::SHARED, rank.right());
    }
    // All ranks are refused, and all may go on.
    let refused = win.window.free(rank.thread()).expect_err("an epoch is open somewhere");
    assert_eq!(refused.class, RMA_SYNC, "{refused}");
    if rank.me() == 0 {
        assert_eq!(put(&win, rank.right()), Status::OK);
        win.unlock(rank.right());
    }
    win.free();
});

/// The call that starts an operation, or the one that completes it, says RMA_RANGE.
fn out_of_range(win: &Win<'_>, there: TargetElements<'_>) {
    let data = [9i32; 64];
    let int = basic(Base::I32);
    let count = there.count * there.dtype.packed / 4;
    win.lock(lock_type::SHARED, there.rank);
    let started = win.try_put(Data::of(&data[..count as usize], &int), there);
    let ended = win.verbs().unlock(&mut win.rank.entry(), there.rank);
    let told = [started, ended];
    assert!(told.contains(&Status::RMA_RANGE), "{told:?}: {} at {}", there.count, there.disp);
}

check!(outside_of_the_window, ranks: [1, 2], |rank: &Rank| {
    let int = basic(Base::I32);
    let mut memory = [3i32; 10];
    let win = rank.over(&mut memory);
    let to = rank.right();
    let at = |disp, count| TargetElements { rank: to, disp, count, dtype: &int };
    for (disp, count) in [(10, 1), (9, 2), (-1, 1), (0, 11), (i64::MAX, 1), (i64::MIN, 1), (1 << 61, 1)] {
        out_of_range(&win, at(disp, count));
    }
    let spread: TypeRef = build::vector(3, 1, 5, &int).expect("a type");
    out_of_range(&win, TargetElements { rank: to, disp: 0, count: 1, dtype: &spread });
    let backwards: TypeRef = build::vector(3, 1, -4, &int).expect("a type");
    out_of_range(&win, TargetElements { rank: to, disp: 7, count: 1, dtype: &backwards });
    win.lock(lock_type::SHARED, to);
    win.put(Data::of(&[5i32; 3], &int), TargetElements { rank: to, disp: 8, count: 1, dtype: &backwards });
    // Nothing is nowhere.
    win.put(Data::of(&[0i32; 0], &int), at(1000, 0));
    win.unlock(to);
    rank.barrier();
    win.sync();
    assert_eq!(memory, [5, 3, 3, 3, 5, 3, 3, 3, 5, 3]);
    win.free();
});
