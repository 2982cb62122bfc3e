//! Buffered sends and their buffers (§3.6).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Bsend mpi_bsend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Bsend_c mpi_bsend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Bsend_init mpi_bsend_init_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Bsend_init_c mpi_bsend_init_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Buffer_attach mpi_buffer_attach_ (buffer: Choice as descriptor, size: Value<c_int>) on none() { whole(buffer); }
}
procedure! {
    MPI_Buffer_attach_c mpi_buffer_attach_c_ (buffer: Choice as descriptor, size: Value<i64>) on none() { whole(buffer); }
}
procedure! {
    alone MPI_Buffer_detach mpi_buffer_detach_ (buffer_addr: Dropped, size: Place<c_int>)
}
procedure! {
    alone MPI_Buffer_detach mpi_buffer_detach_f08_ (buffer_addr: Detached, size: Place<c_int>)
}
procedure! {
    alone MPI_Buffer_detach_c mpi_buffer_detach_c_ (buffer_addr: Dropped, size: Place<i64>)
}
procedure! {
    alone MPI_Buffer_detach_c mpi_buffer_detach_c_f08_ (buffer_addr: Detached, size: Place<i64>)
}
procedure! {
    MPI_Buffer_flush mpi_buffer_flush_ ()
}
procedure! {
    MPI_Buffer_iflush mpi_buffer_iflush_ (request: handles::Out<Request>)
}
procedure! {
    MPI_Comm_attach_buffer mpi_comm_attach_buffer_ (comm: handles::In<Comm>, buffer: Choice as descriptor, size: Value<c_int>) on comm(comm) { whole(buffer); }
}
procedure! {
    MPI_Comm_attach_buffer_c mpi_comm_attach_buffer_c_ (comm: handles::In<Comm>, buffer: Choice as descriptor, size: Value<i64>) on comm(comm) { whole(buffer); }
}
procedure! {
    alone MPI_Comm_detach_buffer mpi_comm_detach_buffer_ (comm: handles::In<Comm>, buffer_addr: Dropped, size: Place<c_int>)
}
procedure! {
    alone MPI_Comm_detach_buffer mpi_comm_detach_buffer_f08_ (comm: handles::In<Comm>, buffer_addr: Detached, size: Place<c_int>)
}
procedure! {
    alone MPI_Comm_detach_buffer_c mpi_comm_detach_buffer_c_ (comm: handles::In<Comm>, buffer_addr: Dropped, size: Place<i64>)
}
procedure! {
    alone MPI_Comm_detach_buffer_c mpi_comm_detach_buffer_c_f08_ (comm: handles::In<Comm>, buffer_addr: Detached, size: Place<i64>)
}
procedure! {
    MPI_Comm_flush_buffer mpi_comm_flush_buffer_ (comm: handles::In<Comm>)
}
procedure! {
    MPI_Comm_iflush_buffer mpi_comm_iflush_buffer_ (comm: handles::In<Comm>, request: handles::Out<Request>)
}
procedure! {
    MPI_Ibsend mpi_ibsend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Ibsend_c mpi_ibsend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Session_attach_buffer mpi_session_attach_buffer_ (session: handles::In<Session>, buffer: Choice as descriptor, size: Value<c_int>) on session(session) { whole(buffer); }
}
procedure! {
    MPI_Session_attach_buffer_c mpi_session_attach_buffer_c_ (session: handles::In<Session>, buffer: Choice as descriptor, size: Value<i64>) on session(session) { whole(buffer); }
}
procedure! {
    alone MPI_Session_detach_buffer mpi_session_detach_buffer_ (session: handles::In<Session>, buffer_addr: Dropped, size: Place<c_int>)
}
procedure! {
    alone MPI_Session_detach_buffer mpi_session_detach_buffer_f08_ (session: handles::In<Session>, buffer_addr: Detached, size: Place<c_int>)
}
procedure! {
    alone MPI_Session_detach_buffer_c mpi_session_detach_buffer_c_ (session: handles::In<Session>, buffer_addr: Dropped, size: Place<i64>)
}
procedure! {
    alone MPI_Session_detach_buffer_c mpi_session_detach_buffer_c_f08_ (session: handles::In<Session>, buffer_addr: Detached, size: Place<i64>)
}
procedure! {
    MPI_Session_flush_buffer mpi_session_flush_buffer_ (session: handles::In<Session>)
}
procedure! {
    MPI_Session_iflush_buffer mpi_session_iflush_buffer_ (session: handles::In<Session>, request: handles::Out<Request>)
}
