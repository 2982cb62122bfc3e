/* Matching inside one communicator by many threads: on rank 1 each of some threads receives what rank 0 sends with
   a tag of its own, while one more thread, in the same communicator, receives what rank 2 sends with many tags:
   by MPI_ANY_TAG in all the ways there are, for a while by tag, and again. The threads of rank 2 hand a token round,
   so its numbers have an order. Everything arrives in order, without wildcards, too. Three ranks. Usage: shards THREADS [COUNT] */
#include "check.h"
#include <pthread.h>
#include <sched.h>

enum { MOST = 64, LONG_BYTES = 70000, SHORT_BYTES = 200, OTHERS = 1000, WINDOW = 8 };

static int rank, size, threads, count, wildcards = 1;
static MPI_Comm comm;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int next;

static int tag_of(int n) { return OTHERS + (n * 5 + n / 3) % 97; }
static int bytes_of(int n) { return n % 61 == 60 ? LONG_BYTES : n % 7 == 6 ? SHORT_BYTES : (int)sizeof(int); }

static void check(const char *buffer, int n, int source, int tag, const MPI_Status *status) {
    int got = -1, bytes;
    memcpy(&got, buffer, sizeof got);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK(got == n, "%d came from rank %d with tag %d when %d was due", got, status->MPI_SOURCE, status->MPI_TAG, n);
    CHECK(status->MPI_SOURCE == source && status->MPI_TAG == tag && bytes == bytes_of(n), "number %d: source %d, tag %d, %d bytes",
          n, status->MPI_SOURCE, status->MPI_TAG, bytes);
    CHECK(differs(buffer + sizeof got, bytes - (int)sizeof got, n) < 0, "number %d: contents", n);
}

static void send_number(int n, int tag, char *buffer) {
    memcpy(buffer, &n, sizeof n);
    fill(buffer + sizeof n, bytes_of(n) - (int)sizeof n, n);
    if (n % 11 == 10)
        MPI_Ssend(buffer, bytes_of(n), MPI_BYTE, 1, tag, comm);
    else
        MPI_Send(buffer, bytes_of(n), MPI_BYTE, 1, tag, comm);
}

/* Rank 0: a tag for each thread. Rank 2: any tag, in the order of the token. */
static void *sender(void *argument) {
    int me = (int)(long)argument;
    char *buffer = need(LONG_BYTES);
    if (rank == 0) {
        for (int n = 0; n < count; n++) send_number(n, me, buffer);
    } else {
        for (int more = 1; more;) {
            pthread_mutex_lock(&lock);
            more = next < count;
            if (more) send_number(next, tag_of(next), buffer), next++;
            pthread_mutex_unlock(&lock);
            sched_yield();
        }
    }
    free(buffer);
    return NULL;
}

/* Receives what rank 0 sends with this thread's tag: by persistent requests and others, and some that match nothing. */
static void *by_tag(void *argument) {
    int me = (int)(long)argument, never;
    char *buffer = need(LONG_BYTES);
    MPI_Request again, unmatched;
    MPI_Status status;
    MPI_Recv_init(buffer, LONG_BYTES, MPI_BYTE, 0, me, comm, &again);
    for (int n = 0; n < count; n++) {
        if (n % 13 == 0) {
            MPI_Irecv(&never, 1, MPI_INT, rank, me, comm, &unmatched);
            MPI_Cancel(&unmatched);
            MPI_Wait(&unmatched, MPI_STATUS_IGNORE);
        }
        if (n % 3 == 0) {
            MPI_Start(&again);
            MPI_Wait(&again, &status);
        } else {
            MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, n % 3 == 1 || !wildcards ? 0 : MPI_ANY_SOURCE, me, comm, &status);
        }
        check(buffer, n, 0, me, &status);
    }
    MPI_Request_free(&again);
    free(buffer);
    return NULL;
}

/* Receives what rank 2 sends, one way for a while and then another. */
static void by_any_tag(void) {
    char *buffers[WINDOW];
    MPI_Request requests[WINDOW];
    MPI_Message message;
    MPI_Status status;
    for (int i = 0; i < WINDOW; i++) buffers[i] = need(LONG_BYTES);
    for (int n = 0; n < count;) {
        char *buffer = buffers[0];
        int flag = 0, used = 0;
        switch (wildcards ? n / 40 % 6 : 5) {
        case 0: MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, 2, MPI_ANY_TAG, comm, &status); break;
        case 1:
            MPI_Mprobe(2, MPI_ANY_TAG, comm, &message, &status);
            MPI_Mrecv(buffer, LONG_BYTES, MPI_BYTE, &message, &status);
            break;
        case 2:
            while (!flag) MPI_Improbe(2, MPI_ANY_TAG, comm, &flag, &message, &status);
            MPI_Mrecv(buffer, LONG_BYTES, MPI_BYTE, &message, &status);
            break;
        case 3:
            while (!flag) MPI_Iprobe(2, MPI_ANY_TAG, comm, &flag, &status);
            CHECK(status.MPI_TAG == tag_of(n), "a probe found tag %d instead of %d", status.MPI_TAG, tag_of(n));
            MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, 2, status.MPI_TAG, comm, &status);
            break;
        case 4:
            /* With and without tag in turn, all posted first. */
            for (; used < WINDOW && n + used < count; used++)
                MPI_Irecv(buffers[used], LONG_BYTES, MPI_BYTE, 2, used % 2 ? tag_of(n + used) : MPI_ANY_TAG, comm, &requests[used]);
            for (int i = 0; i < used; i++) {
                MPI_Wait(&requests[i], &status);
                check(buffers[i], n + i, 2, tag_of(n + i), &status);
            }
            n += used;
            continue;
        default: MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, 2, tag_of(n), comm, &status);
        }
        check(buffer, n, 2, tag_of(n), &status);
        n++;
    }
    for (int i = 0; i < WINDOW; i++) free(buffers[i]);
}

static void round_of(void) {
    pthread_t others[MOST];
    void *(*body)(void *) = rank == 1 ? by_tag : sender;
    next = 0;
    for (long i = 0; i < threads; i++) CHECK(!pthread_create(&others[i], NULL, body, (void *)i), "no thread");
    if (rank == 1) by_any_tag();
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Info info;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = argc > 1 ? atoi(argv[1]) : 4;
    count = argc > 2 ? atoi(argv[2]) : 1000;
    CHECK(provided == MPI_THREAD_MULTIPLE && threads > 0 && threads <= MOST && count > 0 && size == 3, "usage");
    comm = MPI_COMM_WORLD;
    round_of();
    /* The same without wildcards, which the program promises only now. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Info_set(info, "mpi_assert_no_any_source", "true");
    MPI_Comm_set_info(comm, info);
    MPI_Info_free(&info);
    wildcards = 0;
    round_of();
    MPI_Comm_free(&comm);
    return end();
}
