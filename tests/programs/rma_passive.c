/* A target that makes no MPI call before the others have done all they have to do with its memory, for every flavour: it computes until a word
 * says that they have. Windows of shared memory are those of a node's ranks.
 *
 * usage: rma_passive [open]: with "open" all ranks are locked before, so that no lock is asked for meanwhile. */
#include "check.h"

#include <sched.h>
#include <string.h>
#include <time.h>

enum { WORDS = 4096 };
/* Whose window it is, and this rank there. */
static MPI_Comm comm;
static int rank, size;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

#define TIMED(call) do { double t_ = now(); call; t_ = now() - t_; if (t_ > most) most = t_; } while (0)
static double most;
/* All ranks are locked. */
static int is_open;

static void lock(int kind, MPI_Win win) {
    if (!is_open) TIMED(MPI_Win_lock(kind, 0, 0, win));
}

static void unlock(MPI_Win win) {
    if (is_open) TIMED(MPI_Win_flush(0, win));
    else TIMED(MPI_Win_unlock(0, win));
}

/* The target computes; nobody needs it, or this does not end well. */
static void compute(const volatile long *word, long due) {
    double end = now() + 60;
    while (*word != due && now() < end) sched_yield();
    CHECK(*word == due, "%ld of %ld have been served while the target computes", *word, due);
}

static void operate(MPI_Win win, MPI_Aint base) {
    static long data[WORDS], back[WORDS];
    long one = 1, old = -1, zero = 0, swapped = -1;
    for (int i = 0; i < WORDS; i++) data[i] = 1000 * rank + i;
    /* Of a dynamic window displacements are addresses, of the others units of a long. */
    MPI_Aint unit = base ? (MPI_Aint)sizeof(long) : 1, third = WORDS / 4;
    lock(MPI_LOCK_EXCLUSIVE, win);
    TIMED(MPI_Put(data, third, MPI_LONG, 0, base + 2 * third * unit, third, MPI_LONG, win));
    TIMED(MPI_Win_flush(0, win));
    TIMED(MPI_Get(back, third, MPI_LONG, 0, base + 2 * third * unit, third, MPI_LONG, win));
    TIMED(MPI_Win_flush(0, win));
    CHECK(memcmp(back, data, third * sizeof(long)) == 0, "what was put");
    TIMED(MPI_Fetch_and_op(&one, &old, MPI_LONG, 0, base, MPI_SUM, win));
    TIMED(MPI_Win_flush(0, win));
    CHECK(old >= 0 && old < size, "old value %ld", old);
    TIMED(MPI_Compare_and_swap(&one, &zero, &swapped, MPI_LONG, 0, base + unit, win));
    TIMED(MPI_Accumulate(data, third, MPI_LONG, 0, base + third * unit, third, MPI_LONG, MPI_SUM, win));
    TIMED(MPI_Get_accumulate(data, third, MPI_LONG, back, third, MPI_LONG, 0, base + third * unit, third, MPI_LONG,
                              MPI_SUM, win));
    short little[5] = {1, 2, 3, 4, 5};
    TIMED(MPI_Accumulate(little, 5, MPI_SHORT, 0, base + 3 * third * unit, 5, MPI_SHORT, MPI_SUM, win));
    unlock(win);
    if (!is_open) TIMED(MPI_Win_lock_all(0, win));
    MPI_Request request;
    TIMED(MPI_Rget(back, third, MPI_LONG, 0, base + third * unit, third, MPI_LONG, win, &request));
    TIMED(MPI_Wait(&request, MPI_STATUS_IGNORE));
    TIMED(MPI_Win_flush_all(win));
    if (!is_open) TIMED(MPI_Win_unlock_all(win));
    lock(MPI_LOCK_SHARED, win);
    TIMED(MPI_Accumulate(&one, 1, MPI_LONG, 0, base + 2 * unit, 1, MPI_LONG, MPI_SUM, win));
    unlock(win);
}

static void try_out(MPI_Win win, long *mine, MPI_Aint base) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mine, 0, WORDS * sizeof(long));
    MPI_Win_unlock(rank, win);
    if (is_open) {
        /* A rank that has locked all would keep one that asks for itself alone from the barrier. */
        MPI_Barrier(comm);
        MPI_Win_lock_all(0, win);
    }
    MPI_Barrier(comm);
    if (rank == 0) compute(mine + 2, size - 1);
    else operate(win, base);
    MPI_Barrier(comm);
    if (is_open) MPI_Win_unlock_all(win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
        CHECK(mine[0] == size - 1, "%ld of %d have counted", mine[0], size - 1);
        CHECK(mine[1] == (size > 1), "%ld", mine[1]);
        for (int i = 0, third = WORDS / 4; i < third; i++) {
            long due = 0;
            for (int r = 1; r < size; r++) due += 2 * (1000 * r + i);
            CHECK(mine[third + i] == due, "sum %d: %ld, not %ld", i, mine[third + i], due);
        }
        short *little = (short *)(mine + 3 * (WORDS / 4));
        for (int i = 0; i < 5; i++) CHECK(little[i] == (i + 1) * (size - 1), "short %d: %d", i, little[i]);
        MPI_Win_unlock(0, win);
    }
    MPI_Barrier(comm);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    is_open = argc > 1 && !strcmp(argv[1], "open");
    comm = MPI_COMM_WORLD;
    static long own[WORDS];
    const MPI_Aint bytes = sizeof own;
    long *mine;
    MPI_Win win;
    MPI_Win_create(own, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    try_out(win, own, 0);
    MPI_Win_free(&win);
    MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    try_out(win, mine, 0);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_attach(win, own, bytes);
    MPI_Aint base;
    MPI_Get_address(own, &base);
    MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD);
    try_out(win, own, base);
    MPI_Win_detach(win, own);
    MPI_Win_free(&win);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Win_allocate_shared(bytes, sizeof(long), MPI_INFO_NULL, comm, &mine, &win);
    try_out(win, mine, 0);
    MPI_Win_free(&win);
    MPI_Comm_free(&comm);
    if (getenv("OXMPI_TEST_TIMES")) printf("rank %d: %.3f s at most\n", check_rank_, most);
    return end();
}
