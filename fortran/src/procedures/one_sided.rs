//! Windows, put, get, accumulate (§12).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Accumulate mpi_accumulate_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Accumulate_c mpi_accumulate_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Compare_and_swap mpi_compare_and_swap_ (origin_addr: Choice as descriptor, compare_addr: Choice as descriptor, result_addr: Choice as descriptor, datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, win: handles::In<Win>) on win(win) { one(origin_addr, datatype); one(compare_addr, datatype); one(result_addr, datatype); }
}
procedure! {
    MPI_Fetch_and_op mpi_fetch_and_op_ (origin_addr: Choice as descriptor, result_addr: Choice as descriptor, datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, op: handles::In<Op>, win: handles::In<Win>) on win(win) { [reads_origin(op)] one(origin_addr, datatype); one(result_addr, datatype); }
}
procedure! {
    MPI_Get mpi_get_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, win: handles::In<Win>) on win(win) { data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Get_c mpi_get_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, win: handles::In<Win>) on win(win) { data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Get_accumulate mpi_get_accumulate_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, result_addr: Choice as descriptor, result_count: Value<c_int>, result_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); data(result_addr, result_count, result_datatype); }
}
procedure! {
    MPI_Get_accumulate_c mpi_get_accumulate_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, result_addr: Choice as descriptor, result_count: Value<i64>, result_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); data(result_addr, result_count, result_datatype); }
}
procedure! {
    MPI_Put mpi_put_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, win: handles::In<Win>) on win(win) { data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Put_c mpi_put_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, win: handles::In<Win>) on win(win) { data(origin_addr, origin_count, origin_datatype); }
}
procedure! {
    MPI_Raccumulate mpi_raccumulate_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Raccumulate_c mpi_raccumulate_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Rget mpi_rget_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Rget_c mpi_rget_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Rget_accumulate mpi_rget_accumulate_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, result_addr: Choice as descriptor, result_count: Value<c_int>, result_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); data(result_addr, result_count, result_datatype); later(request); }
}
procedure! {
    MPI_Rget_accumulate_c mpi_rget_accumulate_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, result_addr: Choice as descriptor, result_count: Value<i64>, result_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, op: handles::In<Op>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { [reads_origin(op)] data(origin_addr, origin_count, origin_datatype); data(result_addr, result_count, result_datatype); later(request); }
}
procedure! {
    MPI_Rput mpi_rput_ (origin_addr: Choice as descriptor, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Rput_c mpi_rput_c_ (origin_addr: Choice as descriptor, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, win: handles::In<Win>, request: handles::Out<Request>) on win(win) { data(origin_addr, origin_count, origin_datatype); later(request); }
}
procedure! {
    MPI_Win_allocate mpi_win_allocate_ (size: Value<isize>, disp_unit: Value<c_int>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_allocate mpi_win_allocate_cptr_ (size: Value<isize>, disp_unit: Value<c_int>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_allocate_c mpi_win_allocate_c_ (size: Value<isize>, disp_unit: Value<isize>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_allocate_shared mpi_win_allocate_shared_ (size: Value<isize>, disp_unit: Value<c_int>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_allocate_shared mpi_win_allocate_shared_cptr_ (size: Value<isize>, disp_unit: Value<c_int>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_allocate_shared_c mpi_win_allocate_shared_c_ (size: Value<isize>, disp_unit: Value<isize>, info: handles::In<Info>, comm: handles::In<Comm>, baseptr: Place<c_void>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_attach mpi_win_attach_ (win: handles::In<Win>, base: Choice as descriptor, size: Value<isize>) on win(win) { whole(base); }
}
procedure! {
    MPI_Win_complete mpi_win_complete_ (win: handles::In<Win>)
}
procedure! {
    MPI_Win_create mpi_win_create_ (base: Choice as descriptor, size: Value<isize>, disp_unit: Value<c_int>, info: handles::In<Info>, comm: handles::In<Comm>, win: handles::Out<Win>) on comm(comm) { whole(base); }
}
procedure! {
    MPI_Win_create_c mpi_win_create_c_ (base: Choice as descriptor, size: Value<isize>, disp_unit: Value<isize>, info: handles::In<Info>, comm: handles::In<Comm>, win: handles::Out<Win>) on comm(comm) { whole(base); }
}
procedure! {
    MPI_Win_create_dynamic mpi_win_create_dynamic_ (info: handles::In<Info>, comm: handles::In<Comm>, win: handles::Out<Win>)
}
procedure! {
    MPI_Win_delete_attr mpi_win_delete_attr_ (win: handles::In<Win>, win_keyval: Value<c_int>)
}
procedure! {
    MPI_Win_detach mpi_win_detach_ (win: handles::In<Win>, base: Choice as descriptor) on win(win) { }
}
procedure! {
    MPI_Win_fence mpi_win_fence_ (assert: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_flush mpi_win_flush_ (rank: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_flush_all mpi_win_flush_all_ (win: handles::In<Win>)
}
procedure! {
    MPI_Win_flush_local mpi_win_flush_local_ (rank: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_flush_local_all mpi_win_flush_local_all_ (win: handles::In<Win>)
}
procedure! {
    MPI_Win_free mpi_win_free_ (win: handles::InOut<Win>)
}
procedure! {
    MPI_Win_free_keyval mpi_win_free_keyval_ (win_keyval: Place<c_int>)
}
procedure! {
    MPI_Win_get_group mpi_win_get_group_ (win: handles::In<Win>, group: handles::Out<Group>)
}
procedure! {
    MPI_Win_get_info mpi_win_get_info_ (win: handles::In<Win>, info_used: handles::Out<Info>)
}
procedure! {
    MPI_Win_get_name mpi_win_get_name_ (win: handles::In<Win>, win_name: text::Out<MPI_MAX_OBJECT_NAME>[win_name_len], resultlen: Place<c_int>) (win_name_len)
}
procedure! {
    MPI_Win_lock mpi_win_lock_ (lock_type: Value<c_int>, rank: Value<c_int>, assert: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_lock_all mpi_win_lock_all_ (assert: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_post mpi_win_post_ (group: handles::In<Group>, assert: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_set_info mpi_win_set_info_ (win: handles::In<Win>, info: handles::In<Info>)
}
procedure! {
    MPI_Win_set_name mpi_win_set_name_ (win: handles::In<Win>, win_name: text::In[win_name_len]) (win_name_len)
}
procedure! {
    MPI_Win_shared_query mpi_win_shared_query_ (win: handles::In<Win>, rank: Value<c_int>, size: Place<isize>, disp_unit: Place<c_int>, baseptr: Place<c_void>)
}
procedure! {
    MPI_Win_shared_query mpi_win_shared_query_cptr_ (win: handles::In<Win>, rank: Value<c_int>, size: Place<isize>, disp_unit: Place<c_int>, baseptr: Place<c_void>)
}
procedure! {
    MPI_Win_shared_query_c mpi_win_shared_query_c_ (win: handles::In<Win>, rank: Value<c_int>, size: Place<isize>, disp_unit: Place<isize>, baseptr: Place<c_void>)
}
procedure! {
    MPI_Win_start mpi_win_start_ (group: handles::In<Group>, assert: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_sync mpi_win_sync_ (win: handles::In<Win>)
}
procedure! {
    MPI_Win_test mpi_win_test_ (win: handles::In<Win>, flag: logical::Out)
}
procedure! {
    MPI_Win_unlock mpi_win_unlock_ (rank: Value<c_int>, win: handles::In<Win>)
}
procedure! {
    MPI_Win_unlock_all mpi_win_unlock_all_ (win: handles::In<Win>)
}
procedure! {
    MPI_Win_wait mpi_win_wait_ (win: handles::In<Win>)
}
