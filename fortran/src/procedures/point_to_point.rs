//! Messages between two processes, blocking, nonblocking and persistent (§3).
//!
//! Made from `mpi/abi/fortran.tsv` by `cargo xtask generate`.

use super::prelude::*;

procedure! {
    MPI_Send mpi_send_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Send_c mpi_send_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Recv mpi_recv_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Recv_c mpi_recv_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Isend mpi_isend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Isend_c mpi_isend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Irecv mpi_irecv_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Irecv_c mpi_irecv_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Recv_init mpi_recv_init_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Recv_init_c mpi_recv_init_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, source: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Rsend mpi_rsend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Rsend_c mpi_rsend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Irsend mpi_irsend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Irsend_c mpi_irsend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Rsend_init mpi_rsend_init_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Rsend_init_c mpi_rsend_init_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Send_init mpi_send_init_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Send_init_c mpi_send_init_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Sendrecv mpi_sendrecv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(sendbuf, sendcount, sendtype); data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Sendrecv_c mpi_sendrecv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(sendbuf, sendcount, sendtype); data(recvbuf, recvcount, recvtype); }
}
procedure! {
    MPI_Isendrecv mpi_isendrecv_ (sendbuf: Choice as descriptor, sendcount: Value<c_int>, sendtype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, recvbuf: Choice as descriptor, recvcount: Value<c_int>, recvtype: handles::In<Datatype>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Isendrecv_c mpi_isendrecv_c_ (sendbuf: Choice as descriptor, sendcount: Value<i64>, sendtype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, recvbuf: Choice as descriptor, recvcount: Value<i64>, recvtype: handles::In<Datatype>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(sendbuf, sendcount, sendtype); data(recvbuf, recvcount, recvtype); later(request); }
}
procedure! {
    MPI_Sendrecv_replace mpi_sendrecv_replace_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Sendrecv_replace_c mpi_sendrecv_replace_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, status: Statuses) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Isendrecv_replace mpi_isendrecv_replace_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Isendrecv_replace_c mpi_isendrecv_replace_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, sendtag: Value<c_int>, source: Value<c_int>, recvtag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Ssend mpi_ssend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Ssend_c mpi_ssend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>) on comm(comm) { data(buf, count, datatype); }
}
procedure! {
    MPI_Issend mpi_issend_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Issend_c mpi_issend_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); later(request); }
}
procedure! {
    MPI_Ssend_init mpi_ssend_init_ (buf: Choice as descriptor, count: Value<c_int>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
procedure! {
    MPI_Ssend_init_c mpi_ssend_init_c_ (buf: Choice as descriptor, count: Value<i64>, datatype: handles::In<Datatype>, dest: Value<c_int>, tag: Value<c_int>, comm: handles::In<Comm>, request: handles::Out<Request>) on comm(comm) { data(buf, count, datatype); started_later(request); }
}
