/* mpi-ext.h: what oxmpi offers beyond MPI 5.0. Written by hand; a test compares it with what the library
 * exports. Every function is there under the profiling name PMPIX_ as well. Programs that shall run with
 * other libraries ask with #ifdef MPIX_HAVE_SYNC. */
#ifndef OXMPI_MPI_EXT_H
#define OXMPI_MPI_EXT_H

#include <mpi.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* One turn of progress: what MPI_Test does beside looking at its request. */
void MPIX_Progress(void);
void PMPIX_Progress(void);

/* Sync objects: requests are attached as they are started, and any number of threads may ask the object
 * at the same time which have completed. Asking costs the same however many are pending. At any thread
 * level; threads may share an object at MPI_THREAD_MULTIPLE. docs/sync-objects.md says more. */
#define MPIX_HAVE_SYNC 1
typedef struct MPIX_Sync_object *MPIX_Sync;
#define MPIX_SYNC_NULL ((MPIX_Sync)0)

/* Returned by MPIX_Sync_query when no event is there. No address of the user's, and not NULL. */
extern void *const MPIX_SYNC_EMPTY;
/* Given to MPIX_Sync_attach: completion makes no event. */
extern void *const MPIX_SYNC_NO_COMPLETION_DATA;

int MPIX_Sync_init(MPIX_Sync *sync);

/* Requests that are still attached are let go as by MPI_Request_free, events are dropped. Before
 * MPI_Finalize, and not while another thread uses the object. */
void MPIX_Sync_free(MPIX_Sync *sync);

/* Gives an active request to the object. When it is complete it is taken off, and an event with
 * completion_data is made. Until then the handle is good for MPI_Cancel, MPIX_Sync_detach, MPI_Grequest_complete,
 * MPI_Pready and MPI_Parrived only; a persistent one may be started again once its event was taken. Without
 * completion data a request ends by itself, and a persistent one is inactive when it is complete. A request that was
 * cancelled makes no event: it is to be waited for, tested or freed as any other that was cancelled. For an
 * operation with MPI_PROC_NULL, or a send that is complete already, *request is replaced. */
int MPIX_Sync_attach(MPIX_Sync sync, MPI_Request *request, void *completion_data);

/* Takes a request off again, complete or not; it is to be waited for as usual. MPI_ERR_REQUEST: it
 * is not attached here, or its event was taken. */
int MPIX_Sync_detach(MPIX_Sync sync, MPI_Request *request);

/* Waits until no attached request is pending. The events are still there. */
int MPIX_Sync_waitall(MPIX_Sync sync);

/* How many attached requests are pending, and how many events there are to take: one load each, without
 * progress. */
int MPIX_Sync_size(MPIX_Sync sync);
int MPIX_Sync_probe(MPIX_Sync sync);

/* The data of the oldest event, which is taken, or MPIX_SYNC_EMPTY after one turn of progress that
 * brought none. The status is filled with its MPI_ERROR; it may be MPI_STATUS_IGNORE. */
void *MPIX_Sync_query(MPIX_Sync sync, MPI_Status *status);

/* The same for up to incount events, oldest first; statuses as above, or MPI_STATUSES_IGNORE.
 * MPI_ERR_IN_STATUS: at least one operation failed. */
int MPIX_Sync_query_bulk(int incount, MPIX_Sync sync, int *outcount, void **cbdata, MPI_Status *status);

int PMPIX_Sync_init(MPIX_Sync *sync);
void PMPIX_Sync_free(MPIX_Sync *sync);
int PMPIX_Sync_attach(MPIX_Sync sync, MPI_Request *request, void *completion_data);
int PMPIX_Sync_detach(MPIX_Sync sync, MPI_Request *request);
int PMPIX_Sync_waitall(MPIX_Sync sync);
int PMPIX_Sync_size(MPIX_Sync sync);
int PMPIX_Sync_probe(MPIX_Sync sync);
void *PMPIX_Sync_query(MPIX_Sync sync, MPI_Status *status);
int PMPIX_Sync_query_bulk(int incount, MPIX_Sync sync, int *outcount, void **cbdata, MPI_Status *status);

/* User-level threads: how one that waits in MPI gives its core to the others. With hooks set no thread spins
 * or sleeps in the kernel while it waits. The functions are called with the state given to
 * MPIX_Thread_set_hooks, never while the library holds a lock. A thread that called MPI must go on in
 * the kernel thread in which it did. */
#define MPIX_HAVE_THREAD_HOOKS 1
typedef struct {
    /* Lets other user-level threads run, and returns when it is the caller's turn again. */
    void (*yield)(void *state);
    /* Names the calling user-level thread. */
    void *(*current)(void *state);
    /* Stops the calling thread, which is named, until unpark was called for it; returns at once if
     * that came first. Every park has exactly one unpark. */
    void (*park)(void *state, void *thread);
    /* Called from any thread. */
    void (*unpark)(void *state, void *thread);
} MPIX_Thread_hooks;

/* At MPI_THREAD_MULTIPLE, while no other thread is in a call. NULL: none any more. */
int MPIX_Thread_set_hooks(const MPIX_Thread_hooks *hooks, void *state);
int PMPIX_Thread_set_hooks(const MPIX_Thread_hooks *hooks, void *state);

/* Endpoints: more ranks for a process (docs/endpoints.md). liboxmpi_ep.so has the first two functions for other MPI libraries, by processes
 * that work for it (docs/endpoints-by-proxies.md); a program that is linked with -loxmpi_ep before MPI uses those.
 *
 * The new communicator has as many ranks of the calling process as it asks for, one for each handle, in the order of the
 * parent's ranks. Collective over the parent (an inter-communicator: over its local group), which may be of endpoints itself. Each handle is
 * freed by itself. Threads may use different handles at the same time at MPI_THREAD_MULTIPLE. MPI_ERR_ARG: a count is negative, or
 * out_comm_hdls is a null pointer where it is not 0. MPIX_ERR_ENDPOINTS: a process would have more than 65535. All ranks get an
 * error if one does. */
#define MPIX_HAVE_ENDPOINTS 1
#define MPIX_ERR_ENDPOINTS 16001
int MPIX_Comm_create_endpoints(MPI_Comm parent_comm, int my_num_ep, MPI_Info info, MPI_Comm out_comm_hdls[]);
int PMPIX_Comm_create_endpoints(MPI_Comm parent_comm, int my_num_ep, MPI_Info info, MPI_Comm out_comm_hdls[]);

/* The process of a rank, by its rank in MPI_COMM_WORLD, and its number among that process's endpoints: 0 is the process itself. Of an
 * inter-communicator's remote group. Local. */
int MPIX_Comm_get_endpoint(MPI_Comm comm, int rank, int *process, int *endpoint);
int PMPIX_Comm_get_endpoint(MPI_Comm comm, int rank, int *process, int *endpoint);

/* Whether a rank is the calling process's own, so that they share an address space. Local. */
int MPIX_Comm_shares_memory(MPI_Comm comm, int rank, int *flag);
int PMPIX_Comm_shares_memory(MPI_Comm comm, int rank, int *flag);

/* For MPI_Comm_split_type: ranks that share an address space. */
#define MPIX_COMM_TYPE_PROCESS 16001

/* Thread communicators: endpoints behind one handle. Init is collective over comm, outside of what threads do together, and makes num_threads ranks
 * of the calling process. Between start and finish, which wait for all num_threads threads of the process, the handle means the calling thread's own
 * rank in every function that takes a communicator; attributes, error handler and what is made of it are that rank's. Threads get their ranks as they
 * come, or, where the info object of comm has thread_order = omp, by their number in the OpenMP team. Otherwise a thread may set an integer key by
 * MPI_Comm_set_info on the handle, thread_order again, before it starts: ranks are by key and then as threads come. thread_order = an integer in the info object of
 * comm is the key of threads that set none. A thread may have started several.
 * With more than one thread init raises the thread level to MPI_THREAD_MULTIPLE, if it is below.
 * Free is called outside, by one thread. MPI_ERR_COMM: the thread has not started it, or it is no thread communicator. */
#define MPIX_HAVE_THREADCOMM 1
int MPIX_Threadcomm_init(MPI_Comm comm, int num_threads, MPI_Comm *newthreadcomm);
int MPIX_Threadcomm_start(MPI_Comm threadcomm);
int MPIX_Threadcomm_finish(MPI_Comm threadcomm);
int MPIX_Threadcomm_free(MPI_Comm *threadcomm);
int PMPIX_Threadcomm_init(MPI_Comm comm, int num_threads, MPI_Comm *newthreadcomm);
int PMPIX_Threadcomm_start(MPI_Comm threadcomm);
int PMPIX_Threadcomm_finish(MPI_Comm threadcomm);
int PMPIX_Threadcomm_free(MPI_Comm *threadcomm);

/* Whether a communicator is a thread communicator or one of endpoints. In any thread. */
int MPIX_Comm_test_threadcomm(MPI_Comm comm, int *flag);
int PMPIX_Comm_test_threadcomm(MPI_Comm comm, int *flag);

/* Streams (names and arguments are MPICH's): what a program does one after the other, by a thread mostly. A stream names one of the process's communication
 * resource instances, so that messages of different streams share no lock; two threads on one stream share it, and may do so at the same time. A
 * communicator made with a stream is a duplicate of comm without attributes, as are duplicates of it; each rank gives a stream of its own, or
 * MPIX_STREAM_NULL for none. Every function takes it. Those named after streams send and receive as the others; each rank has one stream, so both indices are 0 (in
 * receives the source's may be -1, any), or it is MPI_ERR_ARG; MPI_ERR_COMM if comm was not made so. MPIX_Stream_progress is a turn of progress of the
 * stream's messages, and of others where none has come; MPIX_STREAM_NULL: of all. A stream may be freed before its communicators. The info key type (streams
 * of graphics processors): MPI_ERR_UNSUPPORTED_OPERATION. */
#define MPIX_HAVE_STREAM 1
typedef struct MPIX_Stream_object *MPIX_Stream;
#define MPIX_STREAM_NULL ((MPIX_Stream)0)
int MPIX_Stream_create(MPI_Info info, MPIX_Stream *stream);
int MPIX_Stream_free(MPIX_Stream *stream);
int MPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *newcomm);
int MPIX_Comm_get_stream(MPI_Comm comm, int idx, MPIX_Stream *stream);
int MPIX_Stream_progress(MPIX_Stream stream);
int MPIX_Stream_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index);
int MPIX_Stream_isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int MPIX_Stream_recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Status *status);
int MPIX_Stream_irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int MPIX_Stream_send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index);
int MPIX_Stream_isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int MPIX_Stream_recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Status *status);
int MPIX_Stream_irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int PMPIX_Stream_create(MPI_Info info, MPIX_Stream *stream);
int PMPIX_Stream_free(MPIX_Stream *stream);
int PMPIX_Stream_comm_create(MPI_Comm comm, MPIX_Stream stream, MPI_Comm *newcomm);
int PMPIX_Comm_get_stream(MPI_Comm comm, int idx, MPIX_Stream *stream);
int PMPIX_Stream_progress(MPIX_Stream stream);
int PMPIX_Stream_send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index);
int PMPIX_Stream_isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int PMPIX_Stream_recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Status *status);
int PMPIX_Stream_irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int PMPIX_Stream_send_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index);
int PMPIX_Stream_isend_c(const void *buf, MPI_Count count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);
int PMPIX_Stream_recv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Status *status);
int PMPIX_Stream_irecv_c(void *buf, MPI_Count count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, int source_stream_index, int dest_stream_index, MPI_Request *request);

/* One-sided communication: notifications, windows on the same memory, one flush of several windows. docs/one-sided-extensions.md
 * has examples. MPI_ERR_UNSUPPORTED_OPERATION: the window's one-sided component has nothing of the kind.
 *
 * A window has counters of notifications at each rank, which begin at 0: as many as its info key mpi_num_notify says, 1 where there is
 * none, the most that any rank asks for. */
#define MPIX_HAVE_RMA_NOTIFY 1

/* MPI_Put and MPI_Get which, once the data is visible at the target (of a get: was read there), add 1 to counter notification_idx of the
 * target: whoever sees the counter sees the data. In epochs of MPI_Win_lock and MPI_Win_lock_all. They complete as MPI_Put and MPI_Get. */
int MPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int MPIX_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int MPIX_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int MPIX_Get_notify_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);

/* How many counters a rank of the window has. */
int MPIX_Win_get_num_notify(MPI_Win win, int rank, int *num_notify);

/* A counter of the calling process: its value; its value, and it is 0 afterwards; its value once that is at least threshold, which
 * waits. In any epoch or none, by any thread. */
int MPIX_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count *value);
int MPIX_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count *value);
int MPIX_Win_wait_notify_value(MPI_Win win, int notification_idx, MPI_Count threshold, MPI_Count *value);

int PMPIX_Put_notify(const void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int PMPIX_Get_notify(void *origin_addr, int origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, int target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int PMPIX_Put_notify_c(const void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int PMPIX_Get_notify_c(void *origin_addr, MPI_Count origin_count, MPI_Datatype origin_datatype, int target_rank, MPI_Aint target_disp, MPI_Count target_count, MPI_Datatype target_datatype, int notification_idx, MPI_Win win);
int PMPIX_Win_get_num_notify(MPI_Win win, int rank, int *num_notify);
int PMPIX_Win_get_notify_value(MPI_Win win, int notification_idx, MPI_Count *value);
int PMPIX_Win_reset_notify_value(MPI_Win win, int notification_idx, MPI_Count *value);
int PMPIX_Win_wait_notify_value(MPI_Win win, int notification_idx, MPI_Count threshold, MPI_Count *value);

/* Another window on the memory of win, collective over its ranks. It has win's flavor, memory, attributes of the memory, error handler and hints
 * (but for those that info gives), what is attached to win now or later, and epochs, locks, counters and flushes of its own; no epoch
 * goes over. Accumulates through both are atomic to each other. Either may be freed first: memory that MPI allocated stays as long as one of them. */
#define MPIX_HAVE_WIN_DUP 1
int MPIX_Win_dup_with_info(MPI_Win win, MPI_Info info, MPI_Win *newwin);
int PMPIX_Win_dup_with_info(MPI_Win win, MPI_Info info, MPI_Win *newwin);

/* MPI_Win_flush_all of several windows: those of all are started, then all are waited for. Each is in an epoch of MPI_Win_lock or
 * MPI_Win_lock_all. Local. After a failure the others are flushed all the same; the first is told to its window's error handler. */
#define MPIX_HAVE_WIN_FLUSH_MANY 1
int MPIX_Win_flush_many(int count, const MPI_Win wins[]);
int PMPIX_Win_flush_many(int count, const MPI_Win wins[]);

/* For libraries of Fortran's procedures: the language of attributes (MPI 5.0 19.3.7). Such a library makes a keyval, or sets an attribute, by the C function,
 * with the integer in the place of the address, and then says the language. Callbacks of the keyval get integers in the place of addresses from then on, and what
 * the copy function gives is an integer. C reads an attribute of Fortran's as the address of an MPI_Aint, or of an int where INTEGER is its language; the library asks for the
 * language and reads the integer there. A keyval's language is said once. MPI_ERR_ARG: the object has no such attribute. */
#define MPIX_HAVE_ATTR_LANGUAGE 1
#define MPIX_LANGUAGE_C 0
/* With integers of MPI_ADDRESS_KIND, and with INTEGER (MPI_ATTR_PUT, MPI_KEYVAL_CREATE). */
#define MPIX_LANGUAGE_FORTRAN 1
#define MPIX_LANGUAGE_FORTRAN_INTEGER 2
int MPIX_Keyval_set_language(int keyval, int language);
int MPIX_Comm_attr_get_language(MPI_Comm comm, int comm_keyval, int *language);
int MPIX_Comm_attr_set_language(MPI_Comm comm, int comm_keyval, int language);
int MPIX_Type_attr_get_language(MPI_Datatype datatype, int type_keyval, int *language);
int MPIX_Type_attr_set_language(MPI_Datatype datatype, int type_keyval, int language);
int MPIX_Win_attr_get_language(MPI_Win win, int win_keyval, int *language);
int MPIX_Win_attr_set_language(MPI_Win win, int win_keyval, int language);
int PMPIX_Keyval_set_language(int keyval, int language);
int PMPIX_Comm_attr_get_language(MPI_Comm comm, int comm_keyval, int *language);
int PMPIX_Comm_attr_set_language(MPI_Comm comm, int comm_keyval, int language);
int PMPIX_Type_attr_get_language(MPI_Datatype datatype, int type_keyval, int *language);
int PMPIX_Type_attr_set_language(MPI_Datatype datatype, int type_keyval, int language);
int PMPIX_Win_attr_get_language(MPI_Win win, int win_keyval, int *language);
int PMPIX_Win_attr_set_language(MPI_Win win, int win_keyval, int language);

#if defined(__cplusplus)
}
#endif
#endif
