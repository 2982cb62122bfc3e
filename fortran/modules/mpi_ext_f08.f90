! Module mpi_ext_f08: what oxmpi offers beyond MPI 5.0, for programs that use module mpi_f08. Over another library each procedure answers
! MPI_ERR_UNSUPPORTED_OPERATION.
!
! Made from mpi/abi/fortran-extensions.tsv by `cargo xtask generate`.
module mpi_ext_f08
   use mpi_f08_types
   use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr
   implicit none
   private :: c_ptr, c_null_ptr
   integer, parameter :: MPIX_ERR_ENDPOINTS = 16001
   integer, parameter :: MPIX_COMM_TYPE_PROCESS = 16001
   type, bind(C) :: MPIX_Stream
      type(c_ptr) :: MPIX_VAL
   end type MPIX_Stream
   type(MPIX_Stream), parameter :: MPIX_STREAM_NULL = MPIX_Stream(c_null_ptr)
   type, bind(C) :: MPIX_Sync
      type(c_ptr) :: MPIX_VAL
   end type MPIX_Sync
   type(MPIX_Sync), parameter :: MPIX_SYNC_NULL = MPIX_Sync(c_null_ptr)
   interface MPIX_Progress
      subroutine MPIX_Progress_f08()
         import
         implicit none
      end subroutine MPIX_Progress_f08
   end interface
   interface MPIX_Comm_create_endpoints
      subroutine MPIX_Comm_create_endpoints_f08(parent_comm, my_num_ep, info, out_comm_hdls, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: parent_comm
         integer, intent(in) :: my_num_ep
         type(MPI_Info), intent(in) :: info
         type(MPI_Comm), intent(out) :: out_comm_hdls(*)
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Comm_create_endpoints_f08
   end interface
   interface MPIX_Comm_get_endpoint
      subroutine MPIX_Comm_get_endpoint_f08(comm, rank, process, endpoint, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: rank
         integer, intent(out) :: process
         integer, intent(out) :: endpoint
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Comm_get_endpoint_f08
   end interface
   interface MPIX_Comm_shares_memory
      subroutine MPIX_Comm_shares_memory_f08(comm, rank, flag, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: rank
         logical, intent(out) :: flag
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Comm_shares_memory_f08
   end interface
   interface MPIX_Threadcomm_init
      subroutine MPIX_Threadcomm_init_f08(comm, num_threads, newthreadcomm, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: num_threads
         type(MPI_Comm), intent(out) :: newthreadcomm
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Threadcomm_init_f08
   end interface
   interface MPIX_Threadcomm_start
      subroutine MPIX_Threadcomm_start_f08(threadcomm, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: threadcomm
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Threadcomm_start_f08
   end interface
   interface MPIX_Threadcomm_finish
      subroutine MPIX_Threadcomm_finish_f08(threadcomm, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: threadcomm
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Threadcomm_finish_f08
   end interface
   interface MPIX_Threadcomm_free
      subroutine MPIX_Threadcomm_free_f08(threadcomm, ierror)
         import
         implicit none
         type(MPI_Comm), intent(inout) :: threadcomm
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Threadcomm_free_f08
   end interface
   interface MPIX_Comm_test_threadcomm
      subroutine MPIX_Comm_test_threadcomm_f08(comm, flag, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         logical, intent(out) :: flag
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Comm_test_threadcomm_f08
   end interface
   interface MPIX_Stream_create
      subroutine MPIX_Stream_create_f08(info, stream, ierror)
         import
         implicit none
         type(MPI_Info), intent(in) :: info
         type(MPIX_Stream), intent(out) :: stream
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_create_f08
   end interface
   interface MPIX_Stream_free
      subroutine MPIX_Stream_free_f08(stream, ierror)
         import
         implicit none
         type(MPIX_Stream), intent(inout) :: stream
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_free_f08
   end interface
   interface MPIX_Stream_comm_create
      subroutine MPIX_Stream_comm_create_f08(comm, stream, newcomm, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         type(MPIX_Stream), intent(in) :: stream
         type(MPI_Comm), intent(out) :: newcomm
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_comm_create_f08
   end interface
   interface MPIX_Comm_get_stream
      subroutine MPIX_Comm_get_stream_f08(comm, idx, stream, ierror)
         import
         implicit none
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: idx
         type(MPIX_Stream), intent(out) :: stream
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Comm_get_stream_f08
   end interface
   interface MPIX_Stream_progress
      subroutine MPIX_Stream_progress_f08(stream, ierror)
         import
         implicit none
         type(MPIX_Stream), intent(in) :: stream
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_progress_f08
   end interface
   interface MPIX_Stream_send
      subroutine MPIX_Stream_send_f08(buf, count, datatype, dest, tag, comm, source_stream_index, &
         dest_stream_index, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), intent(in) :: buf
         integer, intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: dest
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_send_f08
      subroutine MPIX_Stream_send_c_f08(buf, count, datatype, dest, tag, comm, source_stream_index, &
         dest_stream_index, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), intent(in) :: buf
         integer(kind=MPI_COUNT_KIND), intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: dest
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_send_c_f08
   end interface
   interface MPIX_Stream_isend
      subroutine MPIX_Stream_isend_f08(buf, count, datatype, dest, tag, comm, source_stream_index, &
         dest_stream_index, request, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), intent(in), asynchronous :: buf
         integer, intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: dest
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_isend_f08
      subroutine MPIX_Stream_isend_c_f08(buf, count, datatype, dest, tag, comm, source_stream_index, &
         dest_stream_index, request, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), intent(in), asynchronous :: buf
         integer(kind=MPI_COUNT_KIND), intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: dest
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_isend_c_f08
   end interface
   interface MPIX_Stream_recv
      subroutine MPIX_Stream_recv_f08(buf, count, datatype, source, tag, comm, source_stream_index, &
         dest_stream_index, status, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*) :: buf
         integer, intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: source
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Status) :: status
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_recv_f08
      subroutine MPIX_Stream_recv_c_f08(buf, count, datatype, source, tag, comm, source_stream_index, &
         dest_stream_index, status, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*) :: buf
         integer(kind=MPI_COUNT_KIND), intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: source
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Status) :: status
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_recv_c_f08
   end interface
   interface MPIX_Stream_irecv
      subroutine MPIX_Stream_irecv_f08(buf, count, datatype, source, tag, comm, source_stream_index, &
         dest_stream_index, request, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), asynchronous :: buf
         integer, intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: source
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_irecv_f08
      subroutine MPIX_Stream_irecv_c_f08(buf, count, datatype, source, tag, comm, source_stream_index, &
         dest_stream_index, request, ierror)
         import
         implicit none
         !dir$ ignore_tkr buf
         !gcc$ attributes no_arg_check :: buf
         type(*), dimension(*), asynchronous :: buf
         integer(kind=MPI_COUNT_KIND), intent(in) :: count
         type(MPI_Datatype), intent(in) :: datatype
         integer, intent(in) :: source
         integer, intent(in) :: tag
         type(MPI_Comm), intent(in) :: comm
         integer, intent(in) :: source_stream_index
         integer, intent(in) :: dest_stream_index
         type(MPI_Request), intent(out) :: request
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Stream_irecv_c_f08
   end interface
   interface MPIX_Put_notify
      subroutine MPIX_Put_notify_f08(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
         target_count, target_datatype, notification_idx, win, ierror)
         import
         implicit none
         !dir$ ignore_tkr origin_addr
         !gcc$ attributes no_arg_check :: origin_addr
         type(*), dimension(*), intent(in), asynchronous :: origin_addr
         integer, intent(in) :: origin_count
         type(MPI_Datatype), intent(in) :: origin_datatype
         integer, intent(in) :: target_rank
         integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
         integer, intent(in) :: target_count
         type(MPI_Datatype), intent(in) :: target_datatype
         integer, intent(in) :: notification_idx
         type(MPI_Win), intent(in) :: win
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Put_notify_f08
      subroutine MPIX_Put_notify_c_f08(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
         target_count, target_datatype, notification_idx, win, ierror)
         import
         implicit none
         !dir$ ignore_tkr origin_addr
         !gcc$ attributes no_arg_check :: origin_addr
         type(*), dimension(*), intent(in), asynchronous :: origin_addr
         integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
         type(MPI_Datatype), intent(in) :: origin_datatype
         integer, intent(in) :: target_rank
         integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
         integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
         type(MPI_Datatype), intent(in) :: target_datatype
         integer, intent(in) :: notification_idx
         type(MPI_Win), intent(in) :: win
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Put_notify_c_f08
   end interface
   interface MPIX_Get_notify
      subroutine MPIX_Get_notify_f08(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
         target_count, target_datatype, notification_idx, win, ierror)
         import
         implicit none
         !dir$ ignore_tkr origin_addr
         !gcc$ attributes no_arg_check :: origin_addr
         type(*), dimension(*), asynchronous :: origin_addr
         integer, intent(in) :: origin_count
         type(MPI_Datatype), intent(in) :: origin_datatype
         integer, intent(in) :: target_rank
         integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
         integer, intent(in) :: target_count
         type(MPI_Datatype), intent(in) :: target_datatype
         integer, intent(in) :: notification_idx
         type(MPI_Win), intent(in) :: win
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Get_notify_f08
      subroutine MPIX_Get_notify_c_f08(origin_addr, origin_count, origin_datatype, target_rank, target_disp, &
         target_count, target_datatype, notification_idx, win, ierror)
         import
         implicit none
         !dir$ ignore_tkr origin_addr
         !gcc$ attributes no_arg_check :: origin_addr
         type(*), dimension(*), asynchronous :: origin_addr
         integer(kind=MPI_COUNT_KIND), intent(in) :: origin_count
         type(MPI_Datatype), intent(in) :: origin_datatype
         integer, intent(in) :: target_rank
         integer(kind=MPI_ADDRESS_KIND), intent(in) :: target_disp
         integer(kind=MPI_COUNT_KIND), intent(in) :: target_count
         type(MPI_Datatype), intent(in) :: target_datatype
         integer, intent(in) :: notification_idx
         type(MPI_Win), intent(in) :: win
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Get_notify_c_f08
   end interface
   interface MPIX_Win_get_num_notify
      subroutine MPIX_Win_get_num_notify_f08(win, rank, num_notify, ierror)
         import
         implicit none
         type(MPI_Win), intent(in) :: win
         integer, intent(in) :: rank
         integer, intent(out) :: num_notify
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_get_num_notify_f08
   end interface
   interface MPIX_Win_get_notify_value
      subroutine MPIX_Win_get_notify_value_f08(win, notification_idx, value, ierror)
         import
         implicit none
         type(MPI_Win), intent(in) :: win
         integer, intent(in) :: notification_idx
         integer(kind=MPI_COUNT_KIND), intent(out) :: value
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_get_notify_value_f08
   end interface
   interface MPIX_Win_reset_notify_value
      subroutine MPIX_Win_reset_notify_value_f08(win, notification_idx, value, ierror)
         import
         implicit none
         type(MPI_Win), intent(in) :: win
         integer, intent(in) :: notification_idx
         integer(kind=MPI_COUNT_KIND), intent(out) :: value
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_reset_notify_value_f08
   end interface
   interface MPIX_Win_wait_notify_value
      subroutine MPIX_Win_wait_notify_value_f08(win, notification_idx, threshold, value, ierror)
         import
         implicit none
         type(MPI_Win), intent(in) :: win
         integer, intent(in) :: notification_idx
         integer(kind=MPI_COUNT_KIND), intent(in) :: threshold
         integer(kind=MPI_COUNT_KIND), intent(out) :: value
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_wait_notify_value_f08
   end interface
   interface MPIX_Win_dup_with_info
      subroutine MPIX_Win_dup_with_info_f08(win, info, newwin, ierror)
         import
         implicit none
         type(MPI_Win), intent(in) :: win
         type(MPI_Info), intent(in) :: info
         type(MPI_Win), intent(out) :: newwin
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_dup_with_info_f08
   end interface
   interface MPIX_Win_flush_many
      subroutine MPIX_Win_flush_many_f08(count, wins, ierror)
         import
         implicit none
         integer, intent(in) :: count
         type(MPI_Win), intent(in) :: wins(*)
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Win_flush_many_f08
   end interface
   interface MPIX_Sync_init
      subroutine MPIX_Sync_init_f08(sync, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(out) :: sync
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_init_f08
   end interface
   interface MPIX_Sync_free
      subroutine MPIX_Sync_free_f08(sync)
         import
         implicit none
         type(MPIX_Sync), intent(inout) :: sync
      end subroutine MPIX_Sync_free_f08
   end interface
   interface MPIX_Sync_attach
      subroutine MPIX_Sync_attach_f08(sync, request, completion_data, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         type(MPI_Request), intent(inout) :: request
         integer(kind=MPI_ADDRESS_KIND), intent(in), optional :: completion_data
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_attach_f08
   end interface
   interface MPIX_Sync_detach
      subroutine MPIX_Sync_detach_f08(sync, request, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         type(MPI_Request), intent(inout) :: request
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_detach_f08
   end interface
   interface MPIX_Sync_waitall
      subroutine MPIX_Sync_waitall_f08(sync, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_waitall_f08
   end interface
   interface MPIX_Sync_size
      subroutine MPIX_Sync_size_f08(sync, size, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         integer, intent(out) :: size
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_size_f08
   end interface
   interface MPIX_Sync_probe
      subroutine MPIX_Sync_probe_f08(sync, events, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         integer, intent(out) :: events
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_probe_f08
   end interface
   interface MPIX_Sync_query
      subroutine MPIX_Sync_query_f08(sync, completion_data, flag, status, ierror)
         import
         implicit none
         type(MPIX_Sync), intent(in) :: sync
         integer(kind=MPI_ADDRESS_KIND), intent(out) :: completion_data
         logical, intent(out) :: flag
         type(MPI_Status) :: status
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_query_f08
   end interface
   interface MPIX_Sync_query_bulk
      subroutine MPIX_Sync_query_bulk_f08(incount, sync, outcount, completion_data, statuses, ierror)
         import
         implicit none
         integer, intent(in) :: incount
         type(MPIX_Sync), intent(in) :: sync
         integer, intent(out) :: outcount
         integer(kind=MPI_ADDRESS_KIND), intent(out) :: completion_data(*)
         type(MPI_Status) :: statuses(*)
         integer, optional, intent(out) :: ierror
      end subroutine MPIX_Sync_query_bulk_f08
   end interface
end module mpi_ext_f08
