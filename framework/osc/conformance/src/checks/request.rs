//! Operations with a request.

use crate::check;
use crate::rank::{Data, Rank, TargetElements, basic, rank_value};
use oxmpi_datatype::Base;
use oxmpi_datatype::kernel::op;
use oxmpi_mca::Status;
use oxmpi_osc::Operation;

check!(requests_complete, ranks: [1, 2, 4], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = vec![1i64; 1200];
    let win = rank.over(&mut memory);
    let to = rank.right();
    let part = |disp, count| TargetElements { rank: to, disp, count, dtype: &long };
    win.lock_all();
    let mut data: Vec<i64> = (0..1000).map(|i| rank_value(rank.me(), i)).collect();
    let put = win.request(Operation::Put, Data::of(&data, &long), part(0, 1000), op::NO_OP);
    assert_eq!(win.wait(put), Status::OK);
    data.fill(-1);
    let fives = [5i64; 200];
    let sum = win.request(Operation::Accumulate, Data::of(&fives, &long), part(1000, 200), op::SUM);
    assert_eq!(win.wait(sum), Status::OK);
    win.flush(to);
    let (mut all, mut rest) = (vec![0i64; 1000], vec![0i64; 200]);
    let get = win.request(Operation::Get, Data::into(&mut all, &long), part(0, 1000), op::NO_OP);
    let fetch = win.request(Operation::GetAccumulate, Data::into(&mut rest, &long), part(1000, 200), op::NO_OP);
    // In another order than they were started in.
    assert_eq!((win.wait(fetch), win.wait(get)), (Status::OK, Status::OK));
    assert!(all.iter().enumerate().all(|(i, v)| *v == rank_value(rank.me(), i)));
    assert_eq!(rest, [6; 200]);
    win.unlock_all();
    rank.barrier();
    win.free();
});

check!(many_requests_at_once, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory: Vec<i64> = (0..500).map(|i| rank_value(rank.me(), i)).collect();
    let win = rank.over(&mut memory);
    win.lock_all();
    for _ in 0..3 {
        let mut got = vec![[0i64]; 500];
        let there = |disp| TargetElements { rank: rank.right(), disp, count: 1, dtype: &long };
        let start = |(i, into): (usize, &mut [i64; 1])| {
            win.request(Operation::Get, Data::into(into, &long), there(i as i64), op::NO_OP)
        };
        let pending: Vec<_> = got.iter_mut().enumerate().map(start).collect();
        assert!(pending.into_iter().all(|p| win.wait(p) == Status::OK));
        assert!(got.iter().enumerate().all(|(i, v)| v[0] == rank_value(rank.right(), i)));
    }
    win.unlock_all();
    win.free();
});

check!(a_request_that_is_given_back_early, ranks: [2], |rank: &Rank| {
    // MPI_Request_free: the operation goes on, and the epoch's end completes it.
    let long = basic(Base::I64);
    let mut memory: Vec<i64> = (0..2000).map(|i| rank_value(rank.me(), i)).collect();
    let win = rank.over(&mut memory);
    win.lock_all();
    for _ in 0..20 {
        let mut got = vec![0i64; 2000];
        let there = TargetElements { rank: rank.right(), disp: 0, count: 2000, dtype: &long };
        let pending = win.request(Operation::Get, Data::into(&mut got, &long), there, op::NO_OP);
        win.release(pending);
        win.flush(rank.right());
        assert!(got.iter().enumerate().all(|(i, v)| *v == rank_value(rank.right(), i)));
    }
    win.unlock_all();
    win.free();
});

check!(requests_of_nothing, ranks: [2], |rank: &Rank| {
    let long = basic(Base::I64);
    let mut memory = [0i64; 1];
    let win = rank.over(&mut memory);
    win.lock_all();
    let there = TargetElements { rank: rank.right(), disp: 0, count: 0, dtype: &long };
    for which in [Operation::Put, Operation::Get, Operation::Accumulate, Operation::GetAccumulate] {
        let mut nothing = [0i64; 0];
        let pending = win.request(which, Data::into(&mut nothing, &long), there, op::NO_OP);
        assert_eq!(win.wait(pending), Status::OK, "{which:?}");
    }
    win.unlock_all();
    win.free();
});
