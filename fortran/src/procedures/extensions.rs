//! Extensions of oxmpi (`mpi-ext.h`), where the library below has them.
//!
//! Made from `mpi/abi/fortran-extensions.tsv` by `cargo xtask generate`.

use super::prelude::*;

extension! {
    "MPIX_Comm_create_endpoints" mpix_comm_create_endpoints_f08_ (parent_comm: handles::In<Comm>, my_num_ep: Value<c_int>, info: handles::In<Info>, out_comm_hdls: handles::ArrayOut<Comm>[len(my_num_ep)])
}
extension! {
    "MPIX_Comm_get_endpoint" mpix_comm_get_endpoint_f08_ (comm: handles::In<Comm>, rank: Value<c_int>, process: Place<c_int>, endpoint: Place<c_int>)
}
extension! {
    "MPIX_Comm_shares_memory" mpix_comm_shares_memory_f08_ (comm: handles::In<Comm>, rank: Value<c_int>, flag: logical::Out)
}
extension! {
    "MPIX_Threadcomm_init" mpix_threadcomm_init_f08_ (comm: handles::In<Comm>, num_threads: Value<c_int>, newthreadcomm: handles::Out<Comm>)
}
extension! {
    "MPIX_Threadcomm_start" mpix_threadcomm_start_f08_ (threadcomm: handles::In<Comm>)
}
extension! {
    "MPIX_Threadcomm_finish" mpix_threadcomm_finish_f08_ (threadcomm: handles::In<Comm>)
}
extension! {
    "MPIX_Threadcomm_free" mpix_threadcomm_free_f08_ (threadcomm: handles::InOut<Comm>)
}
extension! {
    "MPIX_Comm_test_threadcomm" mpix_comm_test_threadcomm_f08_ (comm: handles::In<Comm>, flag: logical::Out)
}
extension! {
    "MPIX_Stream_create" mpix_stream_create_f08_ (info: handles::In<Info>, stream: Place<*mut c_void>)
}
extension! {
    "MPIX_Stream_free" mpix_stream_free_f08_ (stream: Place<*mut c_void>)
}
extension! {
    "MPIX_Stream_comm_create" mpix_stream_comm_create_f08_ (comm: handles::In<Comm>, stream: Value<*mut c_void>, newcomm: handles::Out<Comm>)
}
extension! {
    "MPIX_Comm_get_stream" mpix_comm_get_stream_f08_ (comm: handles::In<Comm>, idx: Value<c_int>, stream: Place<*mut c_void>)
}
extension! {
    "MPIX_Stream_progress" mpix_stream_progress_f08_ (stream: Value<*mut c_void>)
}
extension! {
    "MPIX_Stream_send" mpix_stream_send_f08_ (buf: Choice, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>)
}
extension! {
    "MPIX_Stream_send_c" mpix_stream_send_c_f08_ (buf: Choice, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>)
}
extension! {
    "MPIX_Stream_isend" mpix_stream_isend_f08_ (buf: Choice, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, request: handles::Out<Request>)
}
extension! {
    "MPIX_Stream_isend_c" mpix_stream_isend_c_f08_ (buf: Choice, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, request: handles::Out<Request>)
}
extension! {
    "MPIX_Stream_recv" mpix_stream_recv_f08_ (buf: Choice, count: Value<c_int>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, status: Statuses)
}
extension! {
    "MPIX_Stream_recv_c" mpix_stream_recv_c_f08_ (buf: Choice, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, status: Statuses)
}
extension! {
    "MPIX_Stream_irecv" mpix_stream_irecv_f08_ (buf: Choice, count: Value<c_int>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, request: handles::Out<Request>)
}
extension! {
    "MPIX_Stream_irecv_c" mpix_stream_irecv_c_f08_ (buf: Choice, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, source_stream_index: Value<c_int>, dest_stream_index: Value<c_int>, request: handles::Out<Request>)
}
extension! {
    "MPIX_Put_notify" mpix_put_notify_f08_ (origin_addr: Choice, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, notification_idx: Value<c_int>, win: handles::In<Win>)
}
extension! {
    "MPIX_Put_notify_c" mpix_put_notify_c_f08_ (origin_addr: Choice, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, notification_idx: Value<c_int>, win: handles::In<Win>)
}
extension! {
    "MPIX_Get_notify" mpix_get_notify_f08_ (origin_addr: Choice, origin_count: Value<c_int>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<c_int>, target_datatype: handles::In<Datatype>, notification_idx: Value<c_int>, win: handles::In<Win>)
}
extension! {
    "MPIX_Get_notify_c" mpix_get_notify_c_f08_ (origin_addr: Choice, origin_count: Value<i64>, origin_datatype: handles::In<Datatype>, target_rank: Value<c_int>, target_disp: Value<isize>, target_count: Value<i64>, target_datatype: handles::In<Datatype>, notification_idx: Value<c_int>, win: handles::In<Win>)
}
extension! {
    "MPIX_Win_get_num_notify" mpix_win_get_num_notify_f08_ (win: handles::In<Win>, rank: Value<c_int>, num_notify: Place<c_int>)
}
extension! {
    "MPIX_Win_get_notify_value" mpix_win_get_notify_value_f08_ (win: handles::In<Win>, notification_idx: Value<c_int>, value: Place<i64>)
}
extension! {
    "MPIX_Win_reset_notify_value" mpix_win_reset_notify_value_f08_ (win: handles::In<Win>, notification_idx: Value<c_int>, value: Place<i64>)
}
extension! {
    "MPIX_Win_wait_notify_value" mpix_win_wait_notify_value_f08_ (win: handles::In<Win>, notification_idx: Value<c_int>, threshold: Value<i64>, value: Place<i64>)
}
extension! {
    "MPIX_Win_dup_with_info" mpix_win_dup_with_info_f08_ (win: handles::In<Win>, info: handles::In<Info>, newwin: handles::Out<Win>)
}
extension! {
    "MPIX_Win_flush_many" mpix_win_flush_many_f08_ (count: Value<c_int>, wins: handles::Array<Win>[len(count)])
}
extension! {
    "MPIX_Sync_init" mpix_sync_init_f08_ (sync: Place<*mut c_void>)
}
extension! {
    "MPIX_Sync_detach" mpix_sync_detach_f08_ (sync: Value<*mut c_void>, request: handles::InOut<Request>)
}
extension! {
    "MPIX_Sync_waitall" mpix_sync_waitall_f08_ (sync: Value<*mut c_void>)
}
