! Procedures whose arguments differ between C and Fortran, by mpif.h:
! handles, truth values, texts, indices, callbacks, attributes and the
! constants that have an address. Every rank says ok, or what is wrong.
      program included
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      wrong = 0
      call mpi_init(ierr)
      call mpi_comm_rank(MPI_COMM_WORLD, me, ierr)
      call mpi_comm_size(MPI_COMM_WORLD, n, ierr)
      call messages
      call some
      call texts
      call callbacks
      call attributes
      call topologies
      call types
      call windows
      call requests
      call mpi_allreduce(MPI_IN_PLACE, wrong, 1, MPI_INTEGER, MPI_SUM,
     &   MPI_COMM_WORLD, ierr)
      if (wrong .eq. 0) print '(a)', 'ok'
      call mpi_finalize(ierr)
      end

! Says that something does not hold.
      subroutine check(holds, what)
      logical holds
      character*(*) what
      integer wrong, me, n
      common /state/ wrong, me, n
      if (.not. holds) then
         wrong = wrong + 1
         print '(a,i3,2a)', 'rank', me, ': ', what
      end if
      end

      subroutine messages
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer from, to, out, in, req(2), st(MPI_STATUS_SIZE), c, index
      logical flag
      from = mod(me + n - 1, n)
      to = mod(me + 1, n)
      out = 100 + me
      call mpi_irecv(in, 1, MPI_INTEGER, from, 5, MPI_COMM_WORLD,
     &   req(1), ierr)
      call mpi_isend(out, 1, MPI_INTEGER, to, 5, MPI_COMM_WORLD,
     &   req(2), ierr)
      call mpi_waitall(2, req, MPI_STATUSES_IGNORE, ierr)
      call check(in .eq. 100 + from, 'the message')
      call check(req(1) .eq. MPI_REQUEST_NULL, 'a request stays')
      call mpi_sendrecv(out, 1, MPI_INTEGER, to, 6, in, 1, MPI_INTEGER,
     &   MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, st, ierr)
      call check(st(MPI_SOURCE) .eq. from, 'the source')
      call check(st(MPI_TAG) .eq. 6, 'the tag')
      call mpi_get_count(st, MPI_INTEGER, c, ierr)
      call check(c .eq. 1, 'the count')
      call mpi_test_cancelled(st, flag, ierr)
      call check(.not. flag, 'cancelled')
      call mpi_iprobe(MPI_PROC_NULL, 1, MPI_COMM_WORLD, flag, st, ierr)
      call check(flag, 'a probe of nobody')
      req(1) = MPI_REQUEST_NULL
      call mpi_irecv(in, 1, MPI_INTEGER, from, 7, MPI_COMM_WORLD,
     &   req(2), ierr)
      call mpi_send(out, 1, MPI_INTEGER, to, 7, MPI_COMM_WORLD, ierr)
      call mpi_waitany(2, req, index, MPI_STATUS_IGNORE, ierr)
      call check(index .eq. 2, 'indices begin at 1')
      call mpi_waitany(2, req, index, st, ierr)
      call check(index .eq. MPI_UNDEFINED, 'no request is active')
      end

      subroutine some
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer req(3), done, where(3), all, in(3), i
      integer sts(MPI_STATUS_SIZE, 3)
      logical flag
      do 10 i = 1, 3
         call mpi_irecv(in(i), 1, MPI_INTEGER, me, i, MPI_COMM_WORLD,
     &      req(i), ierr)
   10 continue
      call mpi_testall(3, req, flag, MPI_STATUSES_IGNORE, ierr)
      call check(.not. flag, 'nothing was sent')
      do 20 i = 1, 3
         call mpi_send(i, 1, MPI_INTEGER, me, i, MPI_COMM_WORLD, ierr)
   20 continue
      all = 0
   30 call mpi_waitsome(3, req, done, where, sts, ierr)
      do 40 i = 1, done
         all = all + where(i)
         call check(sts(MPI_TAG, i) .eq. where(i), 'which request')
         call check(in(where(i)) .eq. where(i), 'its data')
   40 continue
      if (all .lt. 6) goto 30
      call check(all .eq. 6, 'three requests')
      end

      subroutine texts
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer info, l, nkeys
      character*(MPI_MAX_OBJECT_NAME) name
      character*(MPI_MAX_ERROR_STRING) words
      character*8 value
      character*(MPI_MAX_INFO_KEY) key
      logical flag
      call mpi_comm_set_name(MPI_COMM_SELF, 'my own   ', ierr)
      call mpi_comm_get_name(MPI_COMM_SELF, name, l, ierr)
      call check(l .eq. 6 .and. name .eq. 'my own', 'a name')
      call mpi_error_string(MPI_ERR_TAG, words, l, ierr)
      call check(l .gt. 0 .and. words(l:l) .ne. ' ', 'an error''s text')
      call mpi_info_create(info, ierr)
      call mpi_info_set(info, '  colour ', '  light green  ', ierr)
      call mpi_info_get(info, 'colour', 8, value, flag, ierr)
      call check(flag .and. value .eq. 'light gr', 'a cut value')
      call mpi_info_get(info, 'weight', 8, value, flag, ierr)
      call check(.not. flag, 'a key that is not there')
      l = 8
      call mpi_info_get_string(info, 'colour', l, value, flag, ierr)
      call check(flag .and. l .eq. 11, 'the length of a value')
      call mpi_info_get_nkeys(info, nkeys, ierr)
      call mpi_info_get_nthkey(info, 0, key, ierr)
      call check(nkeys .eq. 1 .and. key .eq. 'colour', 'a key')
      call mpi_info_free(info, ierr)
      call check(info .eq. MPI_INFO_NULL, 'a freed info')
      end

      subroutine callbacks
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      external add, handler
      integer op, total(2), own(2), eh, calls, class, other
      common /handled/ calls
      logical commutes
      own(1) = me
      own(2) = 1
      call mpi_op_create(add, .true., op, ierr)
      call mpi_op_commutative(op, commutes, ierr)
      call check(commutes, 'the operation commutes')
      call mpi_allreduce(own, total, 2, MPI_INTEGER, op,
     &   MPI_COMM_WORLD, ierr)
      call check(total(1) .eq. n*(n-1)/2 .and. total(2) .eq. n, 'a sum')
      call mpi_op_free(op, ierr)
      call check(op .eq. MPI_OP_NULL, 'a freed operation')
      calls = 0
      call mpi_comm_create_errhandler(handler, eh, ierr)
      call mpi_comm_set_errhandler(MPI_COMM_SELF, eh, ierr)
      call mpi_send(own, 1, MPI_INTEGER, 99, 1, MPI_COMM_SELF, ierr)
      call mpi_error_class(ierr, class, other)
      call check(class .eq. MPI_ERR_RANK, 'the class of an error')
      call check(calls .eq. 1, 'the error handler')
      call mpi_comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN,
     &   ierr)
      call mpi_errhandler_free(eh, ierr)
      end

      subroutine add(in, inout, length, datatype)
      include 'mpif.h'
      integer length, datatype, in(length), inout(length), i
      call check(datatype .eq. MPI_INTEGER, 'the operation''s type')
      do 10 i = 1, length
         inout(i) = inout(i) + in(i)
   10 continue
      end

      subroutine handler(comm, code)
      include 'mpif.h'
      integer comm, code, calls
      common /handled/ calls
      call check(comm .eq. MPI_COMM_SELF, 'the handler''s communicator')
      calls = calls + 1
      end

      subroutine attributes
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      external copied, deleted
      integer keyval, dup, dups, copies, deletions, plain
      common /attrs/ copies, deletions
      integer(kind=MPI_ADDRESS_KIND) extra, val
      logical flag
      copies = 0
      deletions = 0
      extra = 77
      call mpi_comm_create_keyval(copied, deleted, keyval, extra, ierr)
      call mpi_comm_dup(MPI_COMM_SELF, dup, ierr)
      call mpi_comm_get_attr(dup, keyval, val, flag, ierr)
      call check(.not. flag, 'no attribute yet')
      val = -5
      call mpi_comm_set_attr(dup, keyval, val, ierr)
      call mpi_comm_dup(dup, dups, ierr)
      call mpi_comm_get_attr(dups, keyval, val, flag, ierr)
      call check(flag .and. val .eq. -4, 'a copied attribute')
      call mpi_comm_free(dups, ierr)
      call mpi_comm_free(dup, ierr)
      call check(copies .eq. 1 .and. deletions .eq. 2, 'the callbacks')
      call mpi_comm_free_keyval(keyval, ierr)
      call mpi_comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, val, flag,
     &   ierr)
      call check(flag .and. val .ge. 32767, 'the greatest tag')
      call mpi_keyval_create(MPI_DUP_FN, MPI_NULL_DELETE_FN, keyval, 0,
     &   ierr)
      call mpi_comm_dup(MPI_COMM_SELF, dup, ierr)
      call mpi_attr_put(dup, keyval, -9, ierr)
      call mpi_comm_dup(dup, dups, ierr)
      call mpi_attr_get(dups, keyval, plain, flag, ierr)
      call check(flag .and. plain .eq. -9, 'an attribute of MPI-1')
      call mpi_comm_free(dups, ierr)
      call mpi_comm_free(dup, ierr)
      end

      subroutine copied(comm, keyval, extra, in, out, flag, ierror)
      include 'mpif.h'
      integer comm, keyval, ierror, copies, deletions
      common /attrs/ copies, deletions
      integer(kind=MPI_ADDRESS_KIND) extra, in, out
      logical flag
      call check(extra .eq. 77, 'the extra state')
      copies = copies + 1
      out = in + 1
      flag = .true.
      ierror = MPI_SUCCESS
      end

      subroutine deleted(comm, keyval, val, extra, ierror)
      include 'mpif.h'
      integer comm, keyval, ierror, copies, deletions
      common /attrs/ copies, deletions
      integer(kind=MPI_ADDRESS_KIND) extra, val
      call check(val .eq. -5 .or. val .eq. -4, 'the value that goes')
      deletions = deletions + 1
      ierror = MPI_SUCCESS
      end

      subroutine topologies
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer dims(3), coords(3), comm, row, size, w(2), s(2), d(2)
      logical periods(3), remain(2), weighted
      integer in, out
      dims(1) = n
      dims(2) = 1
      periods(1) = .true.
      periods(2) = .false.
      call mpi_cart_create(MPI_COMM_WORLD, 2, dims, periods, .false.,
     &   comm, ierr)
      periods(1) = .false.
      periods(2) = .true.
      periods(3) = .true.
      call mpi_cart_get(comm, 2, dims, periods, coords, ierr)
      call check(periods(1) .and. .not. periods(2), 'the periods')
      call check(periods(3), 'what lies behind')
      remain(1) = .false.
      remain(2) = .true.
      call mpi_cart_sub(comm, remain, row, ierr)
      call mpi_comm_size(row, size, ierr)
      call check(size .eq. 1, 'the kept dimension')
      call mpi_comm_free(row, ierr)
      call mpi_comm_free(comm, ierr)
      s(1) = mod(me + n - 1, n)
      d(1) = mod(me + 1, n)
      call mpi_dist_graph_create_adjacent(MPI_COMM_WORLD, 1, s,
     &   MPI_UNWEIGHTED, 1, d, MPI_UNWEIGHTED, MPI_INFO_NULL, .false.,
     &   comm, ierr)
      call mpi_dist_graph_neighbors_count(comm, in, out, weighted, ierr)
      call check(in .eq. 1 .and. out .eq. 1 .and. .not. weighted,
     &   'a graph without weights')
      call mpi_comm_free(comm, ierr)
      w(1) = 3
      call mpi_dist_graph_create_adjacent(MPI_COMM_WORLD, 1, s, w, 1,
     &   d, w, MPI_INFO_NULL, .false., comm, ierr)
      call mpi_dist_graph_neighbors_count(comm, in, out, weighted, ierr)
      call check(weighted, 'a graph with weights')
      call mpi_comm_free(comm, ierr)
      end

      subroutine types
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer old(2), lens(2), t, ni, na, nd, combiner, i
      integer ints(3), back(3)
      integer(kind=MPI_ADDRESS_KIND) displs(2), addrs(2), a, b
      integer x(4), counts(16), at(16), kinds(16), y(16)
      double precision z
      lens(1) = 1
      lens(2) = 2
      displs(1) = 0
      displs(2) = 8
      old(1) = MPI_INTEGER
      old(2) = MPI_REAL
      call mpi_type_create_struct(2, lens, displs, old, t, ierr)
      call mpi_type_get_envelope(t, ni, na, nd, combiner, ierr)
      call check(combiner .eq. MPI_COMBINER_STRUCT .and. ni .eq. 3
     &   .and. na .eq. 2 .and. nd .eq. 2, 'the envelope')
      back(3) = 4711
      call mpi_type_get_contents(t, 3, 2, 2, ints, addrs, back, ierr)
      call check(back(1) .eq. MPI_INTEGER .and. back(2) .eq. MPI_REAL,
     &   'the contents')
      call check(back(3) .eq. 4711 .and. addrs(2) .eq. 8, 'no more')
      call mpi_type_free(t, ierr)
      call mpi_get_address(x(1), a, ierr)
      call mpi_get_address(x(3), b, ierr)
      call check(mpi_aint_diff(b, a) .eq. 8, 'addresses')
      lens(1) = 1
      displs(1) = a
      call mpi_type_create_hindexed(1, lens, displs, MPI_INTEGER, t,
     &   ierr)
      call mpi_type_commit(t, ierr)
      x(1) = 0
      if (me .eq. 0) x(1) = 31
      call mpi_bcast(MPI_BOTTOM, 1, t, 0, MPI_COMM_WORLD, ierr)
      call mpi_f_sync_reg(x)
      call check(x(1) .eq. 31, 'MPI_BOTTOM')
      call mpi_type_free(t, ierr)
      do 10 i = 1, n
         counts(i) = 1
         at(i) = 4 * (i - 1)
         kinds(i) = MPI_INTEGER
   10 continue
      do 20 i = 1, n
         back(1) = 0
         y(i) = -1
   20 continue
      call exchange(counts, at, kinds, y)
      z = mpi_wtime()
      call check(mpi_wtick() .gt. 0 .and. mpi_wtime() .ge. z, 'clocks')
      end

      subroutine exchange(counts, at, kinds, y)
      include 'mpif.h'
      integer counts(16), at(16), kinds(16), y(16), x(16), i, ierr, req
      integer wrong, me, n
      common /state/ wrong, me, n
      do 10 i = 1, n
         x(i) = 10 * me + i - 1
   10 continue
      call mpi_ialltoallw(x, counts, at, kinds, y, counts, at, kinds,
     &   MPI_COMM_WORLD, req, ierr)
      call mpi_wait(req, MPI_STATUS_IGNORE, ierr)
      do 20 i = 1, n
         call check(y(i) .eq. 10 * (i - 1) + me, 'an exchange')
   20 continue
      call mpi_alltoallw(MPI_IN_PLACE, 0, 0, 0, y, counts, at, kinds,
     &   MPI_COMM_WORLD, ierr)
      do 30 i = 1, n
         call check(y(i) .eq. 10 * me + i - 1, 'an exchange in place')
   30 continue
      end

      subroutine windows
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      integer cells(4), win, in, model
      integer(kind=MPI_ADDRESS_KIND) size, disp, val
      logical flag
      size = 16
      cells(2) = -1
      call mpi_win_create(cells, size, 4, MPI_INFO_NULL,
     &   MPI_COMM_WORLD, win, ierr)
      call mpi_win_fence(0, win, ierr)
      disp = 1
      call mpi_put(me, 1, MPI_INTEGER, mod(me + 1, n), disp, 1,
     &   MPI_INTEGER, win, ierr)
      call mpi_win_fence(0, win, ierr)
      call mpi_f_sync_reg(cells)
      call check(cells(2) .eq. mod(me + n - 1, n), 'a put')
      call mpi_win_get_attr(win, MPI_WIN_SIZE, val, flag, ierr)
      call check(flag .and. val .eq. 16, 'the size of a window')
      call mpi_win_get_attr(win, MPI_WIN_DISP_UNIT, val, flag, ierr)
      call check(flag .and. val .eq. 4, 'the unit of a window')
      call mpi_win_free(win, ierr)
      call check(win .eq. MPI_WIN_NULL, 'a freed window')
      end

      subroutine requests
      include 'mpif.h'
      integer wrong, me, n, ierr
      common /state/ wrong, me, n
      external asked, freed, cancelled
      integer req, st(MPI_STATUS_SIZE), count, frees, cancels
      common /greq/ frees, cancels
      integer(kind=MPI_ADDRESS_KIND) extra
      logical flag
      frees = 0
      cancels = 0
      extra = 12
      call mpi_grequest_start(asked, freed, cancelled, extra, req,
     &   ierr)
      call mpi_test(req, flag, st, ierr)
      call check(.not. flag, 'nobody has completed it')
      call mpi_cancel(req, ierr)
      call mpi_grequest_complete(req, ierr)
      call mpi_wait(req, st, ierr)
      call mpi_get_count(st, MPI_BYTE, count, ierr)
      call check(count .eq. 12, 'a generalized request')
      call mpi_test_cancelled(st, flag, ierr)
      call check(flag .and. frees .eq. 1 .and. cancels .eq. 1,
     &   'its callbacks')
      end

      subroutine asked(extra, status, ierror)
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      integer status(MPI_STATUS_SIZE), ierror, length
      length = extra
      call mpi_status_set_elements(status, MPI_BYTE, length, ierror)
      call mpi_status_set_cancelled(status, .true., ierror)
      ierror = MPI_SUCCESS
      end

      subroutine freed(extra, ierror)
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      integer ierror, frees, cancels
      common /greq/ frees, cancels
      frees = frees + 1
      ierror = MPI_SUCCESS
      end

      subroutine cancelled(extra, complete, ierror)
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) extra
      logical complete
      integer ierror, frees, cancels
      common /greq/ frees, cancels
      call check(.not. complete, 'it is not complete')
      cancels = cancels + 1
      ierror = MPI_SUCCESS
      end
