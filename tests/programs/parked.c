/* Threads of rank 0 wait in every kind of call for what rank 1 sends when they are told to wait: none of them is parked with
   racing waiters, some are otherwise. Usage: parked sync|race */
#include "check.h"
#include <pthread.h>
#include <sched.h>

enum { THREADS = 4, WAITERS = THREADS - 1, GO = 99 };
static int rank, racing;
static MPI_Comm comms[THREADS];
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handle;
static atomic_int entered;

static unsigned long long parked(void) {
    unsigned long long n = 0;
    CHECK(MPI_T_pvar_read(session, handle, &n) == MPI_SUCCESS, "no count");
    return n;
}

static void look_for_the_count(void) {
    int provided, index, count;
    CHECK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_SUCCESS, "no tools");
    CHECK(MPI_T_pvar_get_index("runtime_waits_parked", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "no variable");
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &count) == MPI_SUCCESS && count == 1, "no handle");
}

/* The kinds of waiting; both ranks are in it, each thread beside its own partner. */
static void by_wait(int me) {
    int word = rank + 1;
    MPI_Request request;
    if (rank == 1) {
        MPI_Send(&word, 1, MPI_INT, 0, me, MPI_COMM_WORLD);
        return;
    }
    MPI_Irecv(&word, 1, MPI_INT, 1, me, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(word == 2, "%d", word);
}

static void by_several(int me, int kind) {
    int words[3] = {7, 8, 9}, at, some, indices[3];
    MPI_Request requests[3];
    if (rank == 1) {
        for (int i = 0; i < 3; i++) MPI_Send(&words[i], 1, MPI_INT, 0, 10 * me + i, MPI_COMM_WORLD);
        return;
    }
    memset(words, 0, sizeof words);
    for (int i = 0; i < 3; i++) MPI_Irecv(&words[i], 1, MPI_INT, 1, 10 * me + i, MPI_COMM_WORLD, &requests[i]);
    for (int left = 3; left;) {
        if (kind == 0) {
            MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
            left = 0;
        } else if (kind == 1) {
            MPI_Waitany(3, requests, &at, MPI_STATUS_IGNORE);
            left--;
        } else {
            MPI_Waitsome(3, requests, &some, indices, MPI_STATUSES_IGNORE);
            left -= some;
        }
    }
    CHECK(words[0] == 7 && words[1] == 8 && words[2] == 9, "%d %d %d", words[0], words[1], words[2]);
}

static void by_waitall(int me) { by_several(me, 0); }
static void by_waitany(int me) { by_several(me, 1); }
static void by_waitsome(int me) { by_several(me, 2); }

static void by_probe(int me) {
    int word = 40 + me;
    MPI_Status status;
    MPI_Message message;
    if (rank == 1) {
        for (int i = 0; i < 2; i++) MPI_Send(&word, 1, MPI_INT, 0, me, MPI_COMM_WORLD);
        return;
    }
    MPI_Probe(1, me, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_TAG == me, "tag %d", status.MPI_TAG);
    MPI_Recv(&word, 1, MPI_INT, 1, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, me, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    CHECK(word == 40 + me, "%d", word);
}

static void by_collectives(int me) {
    int value = rank + me, sum = 0;
    MPI_Barrier(comms[me]);
    MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
    CHECK(sum == 1 + 2 * me, "%d", sum);
}

static void by_windows(int me) {
    int *memory, value = 100 + me;
    MPI_Win win;
    MPI_Group all, other;
    int one = 1 - rank;
    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, comms[me], &memory, &win);
    MPI_Comm_group(comms[me], &all);
    MPI_Group_incl(all, 1, &one, &other);
    if (rank == 1) {
        MPI_Win_start(other, 0, win);
        MPI_Put(&value, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
        MPI_Win_complete(win);
    } else {
        MPI_Win_post(other, 0, win);
        MPI_Win_wait(win);
        CHECK(*memory == value, "%d", *memory);
    }
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_INT, one, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(*memory == value, "%d", *memory);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, one, 0, win);
    MPI_Put(&value, 1, MPI_INT, one, 0, 1, MPI_INT, win);
    MPI_Win_unlock(one, win);
    MPI_Group_free(&all);
    MPI_Group_free(&other);
    MPI_Win_free(&win);
}

static void (*const kinds[])(int) = {by_wait, by_waitall, by_waitany, by_waitsome, by_probe, by_collectives, by_windows};
static void (*kind)(int);

static void *wait_so(void *me) {
    atomic_fetch_add(&entered, 1);
    kind((int)(long)me);
    return NULL;
}

/* Rank 1 begins when the threads of rank 0 wait; where waiting requests park threads, when one is parked. */
static void all_wait(int number) {
    pthread_t others[WAITERS];
    unsigned long long before = rank == 0 ? parked() : 0;
    atomic_store(&entered, 0);
    kind = kinds[number];
    if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, GO, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (long i = 0; i < WAITERS; i++) CHECK(!pthread_create(&others[i], NULL, wait_so, (void *)(i + 1)), "no thread");
    if (rank == 0) {
        while (atomic_load(&entered) < WAITERS) sched_yield();
        while (!racing && number < 4 && parked() == before) sched_yield();
        MPI_Send(NULL, 0, MPI_INT, 1, GO, MPI_COMM_WORLD);
    }
    for (int i = 0; i < WAITERS; i++) pthread_join(others[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE && size == 2 && argc == 2, "usage");
    racing = strcmp(argv[1], "race") == 0;
    look_for_the_count();
    for (int i = 0; i < THREADS; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (int i = 0; i < (int)(sizeof kinds / sizeof kinds[0]); i++) all_wait(i);
    if (racing)
        CHECK(parked() == 0, "%llu were parked", parked());
    else
        CHECK(rank == 1 || parked() > 0, "nobody was parked");
    for (int i = 0; i < THREADS; i++) MPI_Comm_free(&comms[i]);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}
