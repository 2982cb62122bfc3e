/*
 * Writes down which ranks and tags a program's messages have, and how many receives are pending.
 *
 * A tool at the profiling interface, for any MPI library:
 *
 *     mpicc -O2 -shared -fPIC -pthread trace.c -o libtrace.so
 *     TRACE=out/run LD_PRELOAD=$PWD/libtrace.so mpirun … ./program       (or link it before the library)
 *     python3 report.py out/run.*
 *
 * Every rank writes TRACE.RANK ("trace" if the variable is not set) in MPI_Finalize, in lines:
 *
 *     ranks R N                       rank R of N wrote this
 *     send COMM DEST TAG COUNT        DEST is the rank in the communicator, and COMM its number here
 *     comm COMM SIZE NAME             NAME as MPI_Comm_get_name gives it, to the end of the line
 *     world COMM RANK WORLD           rank RANK of COMM is WORLD in the world (peers that were sent to)
 *     wild KIND COUNT                 receives with any_source, any_tag, both, or exact
 *     depth N COUNT                   so often N receives were pending when one more was posted
 *
 * Calls that count as a message: the point-to-point calls of the program, once per start of a persistent
 * request. Collectives have no tags of the program's. "Pending" are nonblocking receives that have been
 * started and not yet been completed by a wait or test; a matched one stays pending until then, so the
 * depth is an upper bound of the library's queue of posted receives. The tool takes one lock per call.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *need(void *memory) {
    if (!memory) {
        fputs("trace: no memory\n", stderr);
        abort();
    }
    return memory;
}

/* --- a table from three numbers to a count ------------------------------------------------------ */

struct entry {
    long a, b, c, count;
};
struct table {
    struct entry *entries;
    size_t used, room;
};

static struct table sends, depths, requests;
static long kinds[4], pending;
enum { EXACT, SOURCE, TAG, BOTH };

/* The entry; new ones have count 0. Room doubles; an entry in use has a count. */
static struct entry *find(struct table *t, long a, long b, long c) {
    if ((t->used + 1) * 2 > t->room) {
        struct table old = *t;
        t->room = old.room ? old.room * 2 : 256;
        t->used = 0;
        t->entries = need(calloc(t->room, sizeof *t->entries));
        for (size_t i = 0; i < old.room; i++) {
            struct entry *e = &old.entries[i];
            if (e->count) find(t, e->a, e->b, e->c)->count = e->count;
        }
        free(old.entries);
    }
    uint64_t hash = ((uint64_t)a * 0x9E3779B97F4A7C15u ^ (uint64_t)b) * 0xBF58476D1CE4E5B9u ^ (uint64_t)c;
    hash *= 0x94D049BB133111EBu;
    size_t at = (size_t)(hash >> 20) & (t->room - 1);
    for (;; at = (at + 1) & (t->room - 1)) {
        struct entry *e = &t->entries[at];
        if (e->count == 0) {
            *e = (struct entry){ a, b, c, 0 };
            t->used++;
            return e;
        }
        if (e->a == a && e->b == b && e->c == c) return e;
    }
}

/* --- communicators: numbered as they are first seen; an attribute tells when one is gone --------- */

struct comm {
    MPI_Comm handle;
    int size, live;
    char name[MPI_MAX_OBJECT_NAME + 1];
    int *world; /* by rank; -1: not asked yet */
};
static struct comm *comms;
static int num_comms, key = MPI_KEYVAL_INVALID;

static int comm_gone(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)extra;
    pthread_mutex_lock(&lock);
    comms[(intptr_t)value - 1].live = 0;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* The number of a communicator. Called without the lock, because MPI calls us back. */
static int number_of(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    for (int i = num_comms - 1; i >= 0; i--)
        if (comms[i].live && comms[i].handle == comm) {
            pthread_mutex_unlock(&lock);
            return i;
        }
    int number = num_comms++;
    comms = need(realloc(comms, sizeof *comms * (size_t)num_comms));
    struct comm *new = &comms[number];
    memset(new, 0, sizeof *new);
    new->handle = comm;
    new->live = 1;
    pthread_mutex_unlock(&lock);

    int size, inter, length = 0;
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) PMPI_Comm_remote_size(comm, &size);
    else PMPI_Comm_size(comm, &size);
    PMPI_Comm_get_name(comm, name, &length);
    int *world = need(malloc(sizeof *world * (size_t)(size ? size : 1)));
    for (int i = 0; i < size; i++) world[i] = -1;
    pthread_mutex_lock(&lock);
    if (key == MPI_KEYVAL_INVALID) PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, comm_gone, &key, NULL);
    new = &comms[number];
    new->size = size;
    new->world = world;
    memcpy(new->name, name, sizeof name);
    pthread_mutex_unlock(&lock);
    PMPI_Comm_set_attr(comm, key, (void *)(intptr_t)(number + 1));
    return number;
}

static void learn_world(int number, MPI_Comm comm, int rank) {
    MPI_Group theirs, all;
    int world = MPI_UNDEFINED, inter;
    PMPI_Comm_test_inter(comm, &inter);
    if (inter) PMPI_Comm_remote_group(comm, &theirs);
    else PMPI_Comm_group(comm, &theirs);
    PMPI_Comm_group(MPI_COMM_WORLD, &all);
    PMPI_Group_translate_ranks(theirs, 1, &rank, all, &world);
    PMPI_Group_free(&theirs);
    PMPI_Group_free(&all);
    pthread_mutex_lock(&lock);
    comms[number].world[rank] = world == MPI_UNDEFINED ? -2 : world;
    pthread_mutex_unlock(&lock);
}

/* --- what is counted ---------------------------------------------------------------------------- */

static void sent(MPI_Comm comm, int dest, int tag) {
    if (dest < 0) return; /* MPI_PROC_NULL, or wrong: the library will say */
    int number = number_of(comm);
    pthread_mutex_lock(&lock);
    find(&sends, number, dest, tag)->count++;
    int unknown = dest < comms[number].size && comms[number].world[dest] == -1;
    pthread_mutex_unlock(&lock);
    if (unknown) learn_world(number, comm, dest);
}

static void posted(int source, int tag) {
    if (source == MPI_PROC_NULL) return;
    pthread_mutex_lock(&lock);
    kinds[(source == MPI_ANY_SOURCE ? SOURCE : 0) | (tag == MPI_ANY_TAG ? TAG : 0)]++;
    find(&depths, pending, 0, 0)->count++;
    pthread_mutex_unlock(&lock);
}

static long bits_of(MPI_Request request) {
    long bits = 0;
    memcpy(&bits, &request, sizeof request < sizeof bits ? sizeof request : sizeof bits);
    return bits;
}

/* States of a request in `requests`; 0 would mean that it was never seen. */
enum { GONE = 1, RECEIVING, IDLE_RECV, ACTIVE_RECV, IDLE_SEND };

static void becomes(MPI_Request request, long state) {
    if (request == MPI_REQUEST_NULL) return;
    pthread_mutex_lock(&lock);
    struct entry *e = find(&requests, bits_of(request), 0, 0);
    pending += (state == RECEIVING || state == ACTIVE_RECV) - (e->count == RECEIVING || e->count == ACTIVE_RECV);
    e->count = state;
    pthread_mutex_unlock(&lock);
}

/* A wait or test has completed what this handle was before. */
static void completed(MPI_Request request) {
    if (request == MPI_REQUEST_NULL) return;
    pthread_mutex_lock(&lock);
    struct entry *e = find(&requests, bits_of(request), 0, 0);
    if (e->count == RECEIVING || e->count == ACTIVE_RECV) pending--;
    if (e->count == RECEIVING || e->count == 0) e->count = GONE;
    if (e->count == ACTIVE_RECV) e->count = IDLE_RECV;
    pthread_mutex_unlock(&lock);
}

/* Persistent requests: what a start will count. */
struct persistent {
    MPI_Request request;
    MPI_Comm comm;
    int peer, tag, receive;
};
static struct persistent *persistents;
static int num_persistents;

static void made(MPI_Request request, MPI_Comm comm, int peer, int tag, int receive) {
    becomes(request, receive ? IDLE_RECV : IDLE_SEND);
    pthread_mutex_lock(&lock);
    int at = 0;
    while (at < num_persistents && persistents[at].request != request) at++;
    if (at == num_persistents) persistents = need(realloc(persistents, sizeof *persistents * (size_t)++num_persistents));
    persistents[at] = (struct persistent){ request, comm, peer, tag, receive };
    pthread_mutex_unlock(&lock);
}

static void started(MPI_Request request) {
    struct persistent p = { .request = MPI_REQUEST_NULL };
    pthread_mutex_lock(&lock);
    for (int i = 0; i < num_persistents; i++)
        if (persistents[i].request == request) p = persistents[i];
    pthread_mutex_unlock(&lock);
    if (p.request == MPI_REQUEST_NULL) return;
    if (!p.receive) {
        sent(p.comm, p.peer, p.tag);
    } else {
        posted(p.peer, p.tag);
        if (p.peer != MPI_PROC_NULL) becomes(request, ACTIVE_RECV);
    }
}

/* --- the calls ---------------------------------------------------------------------------------- */

#define SEND(NAME)                                                                                       \
    int MPI_##NAME(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {    \
        sent(comm, dest, tag);                                                                           \
        return PMPI_##NAME(buf, count, type, dest, tag, comm);                                           \
    }
#define ISEND(NAME)                                                                                      \
    int MPI_##NAME(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,      \
                   MPI_Request *request) {                                                               \
        sent(comm, dest, tag);                                                                           \
        int status = PMPI_##NAME(buf, count, type, dest, tag, comm, request);                            \
        if (status == MPI_SUCCESS) becomes(*request, GONE);                                              \
        return status;                                                                                   \
    }
#define SEND_INIT(NAME)                                                                                  \
    int MPI_##NAME(const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,      \
                   MPI_Request *request) {                                                               \
        int status = PMPI_##NAME(buf, count, type, dest, tag, comm, request);                            \
        if (status == MPI_SUCCESS) made(*request, comm, dest, tag, 0);                                   \
        return status;                                                                                   \
    }
SEND(Send)
SEND(Bsend)
SEND(Ssend)
SEND(Rsend)
ISEND(Isend)
ISEND(Ibsend)
ISEND(Issend)
ISEND(Irsend)
SEND_INIT(Send_init)
SEND_INIT(Bsend_init)
SEND_INIT(Ssend_init)
SEND_INIT(Rsend_init)

int MPI_Recv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status) {
    posted(source, tag);
    return PMPI_Recv(buf, count, type, source, tag, comm, status);
}
int MPI_Irecv(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    posted(source, tag);
    int status = PMPI_Irecv(buf, count, type, source, tag, comm, request);
    if (status == MPI_SUCCESS) becomes(*request, source == MPI_PROC_NULL ? GONE : RECEIVING);
    return status;
}
int MPI_Recv_init(void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request) {
    int status = PMPI_Recv_init(buf, count, type, source, tag, comm, request);
    if (status == MPI_SUCCESS) made(*request, comm, source, tag, 1);
    return status;
}
int MPI_Sendrecv(const void *sbuf, int scount, MPI_Datatype stype, int dest, int stag, void *rbuf, int rcount,
                 MPI_Datatype rtype, int source, int rtag, MPI_Comm comm, MPI_Status *status) {
    sent(comm, dest, stag);
    posted(source, rtag);
    return PMPI_Sendrecv(sbuf, scount, stype, dest, stag, rbuf, rcount, rtype, source, rtag, comm, status);
}
int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype type, int dest, int stag, int source, int rtag, MPI_Comm comm,
                         MPI_Status *status) {
    sent(comm, dest, stag);
    posted(source, rtag);
    return PMPI_Sendrecv_replace(buf, count, type, dest, stag, source, rtag, comm, status);
}
int MPI_Start(MPI_Request *request) {
    started(*request);
    return PMPI_Start(request);
}
int MPI_Startall(int count, MPI_Request requests[]) {
    for (int i = 0; i < count; i++) started(requests[i]);
    return PMPI_Startall(count, requests);
}
int MPI_Request_free(MPI_Request *request) {
    completed(*request);
    becomes(*request, GONE);
    return PMPI_Request_free(request);
}

/* Handles as they were before a call that may change them. */
static MPI_Request *copy_of(int count, const MPI_Request *list) {
    MPI_Request *copy = need(malloc(sizeof *copy * (size_t)(count > 0 ? count : 1)));
    if (count > 0) memcpy(copy, list, sizeof *copy * (size_t)count);
    return copy;
}

int MPI_Wait(MPI_Request *request, MPI_Status *status) {
    MPI_Request before = *request;
    int result = PMPI_Wait(request, status);
    completed(before);
    return result;
}
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status) {
    MPI_Request before = *request;
    int result = PMPI_Test(request, flag, status);
    if (result != MPI_SUCCESS || *flag) completed(before);
    return result;
}
int MPI_Waitall(int count, MPI_Request list[], MPI_Status statuses[]) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Waitall(count, list, statuses);
    for (int i = 0; i < count; i++) completed(before[i]);
    free(before);
    return result;
}
int MPI_Testall(int count, MPI_Request list[], int *flag, MPI_Status statuses[]) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Testall(count, list, flag, statuses);
    for (int i = 0; result == MPI_SUCCESS && *flag && i < count; i++) completed(before[i]);
    free(before);
    return result;
}
int MPI_Waitany(int count, MPI_Request list[], int *index, MPI_Status *status) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Waitany(count, list, index, status);
    if (*index != MPI_UNDEFINED) completed(before[*index]);
    free(before);
    return result;
}
int MPI_Testany(int count, MPI_Request list[], int *index, int *flag, MPI_Status *status) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Testany(count, list, index, flag, status);
    if (*flag && *index != MPI_UNDEFINED) completed(before[*index]);
    free(before);
    return result;
}
int MPI_Waitsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Waitsome(count, list, done, indices, statuses);
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++) completed(before[indices[i]]);
    free(before);
    return result;
}
int MPI_Testsome(int count, MPI_Request list[], int *done, int indices[], MPI_Status statuses[]) {
    MPI_Request *before = copy_of(count, list);
    int result = PMPI_Testsome(count, list, done, indices, statuses);
    for (int i = 0; *done != MPI_UNDEFINED && i < *done; i++) completed(before[indices[i]]);
    free(before);
    return result;
}

/* --- the end ------------------------------------------------------------------------------------ */

static void write_down(void) {
    static const char *const names[] = { "exact", "any_source", "any_tag", "both" };
    const char *prefix = getenv("TRACE");
    char path[4096];
    int rank, size;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof path, "%s.%d", prefix && *prefix ? prefix : "trace", rank);
    FILE *out = fopen(path, "w");
    if (!out) {
        perror(path);
        return;
    }
    fprintf(out, "ranks %d %d\n", rank, size);
    for (int i = 0; i < num_comms; i++) {
        fprintf(out, "comm %d %d %s\n", i, comms[i].size, comms[i].name);
        for (int r = 0; r < comms[i].size; r++)
            if (comms[i].world[r] >= 0) fprintf(out, "world %d %d %d\n", i, r, comms[i].world[r]);
    }
    for (size_t i = 0; i < sends.room; i++) {
        const struct entry *e = &sends.entries[i];
        if (e->count) fprintf(out, "send %ld %ld %ld %ld\n", e->a, e->b, e->c, e->count);
    }
    for (int k = 0; k < 4; k++)
        if (kinds[k]) fprintf(out, "wild %s %ld\n", names[k], kinds[k]);
    for (size_t i = 0; i < depths.room; i++)
        if (depths.entries[i].count) fprintf(out, "depth %ld %ld\n", depths.entries[i].a, depths.entries[i].count);
    if (fclose(out) != 0) perror(path);
}

int MPI_Finalize(void) {
    write_down();
    return PMPI_Finalize();
}
