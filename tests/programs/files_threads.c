/* Threads of a process on one file, and endpoints as ranks of one. Arguments: a folder, the number of threads, "threads" or "endpoints". */
#include "files.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { MOST = 8, PART = 3000, TURNS = 25 };

static int threads, endpoints;
static MPI_File file, shared;
static MPI_Comm ep[MOST];

/* Each thread has parts of its own, one after the other, by calls of all kinds that one rank makes alone. */
static void *alone(void *which) {
    int me = rank * threads + (int)(long)which, all = size * threads;
    unsigned char mine[PART], got[PART];
    MPI_Request request;
    MPI_Status status;
    for (int turn = 0; turn < TURNS; turn++) {
        MPI_Offset at = ((MPI_Offset)turn * all + me) * PART;
        fill(mine, PART, me * 100 + turn);
        if (turn % 2) {
            OK(MPI_File_write_at(file, at, mine, PART, MPI_BYTE, &status));
        } else {
            OK(MPI_File_iwrite_at(file, at, mine, PART, MPI_BYTE, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK(count_of(&status, MPI_BYTE) == PART, "%d bytes", count_of(&status, MPI_BYTE));
        memset(got, 0, PART);
        if (turn % 3) {
            OK(MPI_File_read_at(file, at, got, PART, MPI_BYTE, &status));
        } else {
            OK(MPI_File_iread_at(file, at, got, PART, MPI_BYTE, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK(differs(got, PART, me * 100 + turn) < 0, "thread %d, turn %d", me, turn);
        /* A word that nobody else gets: the shared pointer moves by one for each. */
        long word = (long)me * TURNS + turn + 1;
        OK(MPI_File_write_shared(shared, &word, 1, MPI_LONG, &status));
    }
    return NULL;
}

/* Every word is there once. */
static void words(long all) {
    char *seen = need((size_t)all + 1);
    memset(seen, 0, (size_t)all + 1);
    for (long i = 0; i < all; i++) {
        long word = 0;
        OK(MPI_File_read_at(shared, i, &word, 1, MPI_LONG, MPI_STATUS_IGNORE));
        CHECK(word >= 1 && word <= all && !seen[word]++, "word %ld: %ld", i, word);
    }
    free(seen);
}

/* An endpoint with a file of its communicator: views that interleave, collective calls, the shared pointer. */
static void *endpoint(void *which) {
    MPI_Comm comm = ep[(long)which];
    int me, all, size_of_type;
    MPI_File of_all;
    MPI_Datatype turns;
    MPI_Status status;
    MPI_Request request;
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &all);
    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &of_all));
    MPI_Type_create_resized(MPI_INT, 0, 4 * all, &turns);
    MPI_Type_commit(&turns);
    MPI_Type_size(turns, &size_of_type);
    OK(MPI_File_set_view(of_all, 4 * me, MPI_INT, turns, "native", MPI_INFO_NULL));
    int mine[500], got[500];
    for (int i = 0; i < 500; i++) mine[i] = me * 1000 + i;
    OK(MPI_File_write_all(of_all, mine, 250, MPI_INT, &status));
    OK(MPI_File_iwrite_all(of_all, mine + 250, 250, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 250, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_sync(of_all));
    MPI_Barrier(comm);
    OK(MPI_File_read_at_all(of_all, 0, got, 500, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 500 && !memcmp(got, mine, sizeof mine), "endpoint %d", me);
    OK(MPI_File_set_view(of_all, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = me; i < 500 * all; i += 97) {
        OK(MPI_File_read_at(of_all, i, got, 1, MPI_INT, &status));
        CHECK(got[0] == i % all * 1000 + i / all, "int %d: %d", i, got[0]);
    }
    /* In the order of ranks, and in any. */
    MPI_Offset position;
    OK(MPI_File_write_ordered(of_all, &me, 1, MPI_INT, &status));
    MPI_Barrier(comm);
    OK(MPI_File_read_at(of_all, me, got, 1, MPI_INT, &status));
    CHECK(got[0] == me, "%d instead of %d", got[0], me);
    MPI_Barrier(comm);
    OK(MPI_File_write_shared(of_all, &me, 1, MPI_INT, &status));
    MPI_Barrier(comm);
    OK(MPI_File_get_position_shared(of_all, &position));
    CHECK(position == 2 * all, "%lld", (long long)position);
    /* Atomic mode: what overlaps is one rank's. */
    OK(MPI_File_set_atomicity(of_all, 1));
    for (int i = 0; i < 500; i++) mine[i] = me;
    OK(MPI_File_write_at_all(of_all, 0, mine, 500, MPI_INT, &status));
    MPI_Barrier(comm);
    OK(MPI_File_read_at(of_all, 0, got, 500, MPI_INT, &status));
    for (int i = 1; i < 500; i++) CHECK(got[i] == got[0], "int %d: %d, not %d", i, got[i], got[0]);
    MPI_Barrier(comm);
    MPI_Type_free(&turns);
    OK(MPI_File_close(&of_all));
    return NULL;
}

static void run(void *(*what)(void *)) {
    pthread_t ids[MOST];
    for (long i = 0; i < threads; i++) CHECK(pthread_create(&ids[i], NULL, what, (void *)i) == 0, "a thread");
    for (int i = 0; i < threads; i++) pthread_join(ids[i], NULL);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = atoi(argv[2]), endpoints = !strcmp(argv[3], "endpoints");
    CHECK(threads <= MOST && provided == MPI_THREAD_MULTIPLE, "threads");
    snprintf(path, sizeof path, "%s/threads", argv[1]);
    if (endpoints) {
        CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, ep) == MPI_SUCCESS, "endpoints");
        run(endpoint);
        for (int i = 0; i < threads; i++) MPI_Comm_free(&ep[i]);
    } else {
        char other[4096 + 8];
        snprintf(other, sizeof other, "%s.words", path);
        file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        OK(MPI_File_open(MPI_COMM_WORLD, other, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &shared));
        OK(MPI_File_set_view(shared, 0, MPI_LONG, MPI_LONG, "native", MPI_INFO_NULL));
        run(alone);
        OK(MPI_File_sync(shared));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_sync(shared));
        words((long)size * threads * TURNS);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_close(&file));
        OK(MPI_File_close(&shared));
    }
    return end();
}
