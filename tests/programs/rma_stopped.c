/* Operations on memory of a process that is stopped, so that neither its threads nor helpers can serve anybody: memory of a node that transports copy
 * from and to needs none of them, for accumulates of a few elements either. Says "no copies" where the kernel lets nobody copy. */
#define _GNU_SOURCE
#include "check.h"
#include "stopped.h"

#include <signal.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { ELEMENTS = 16 };
static int memory[ELEMENTS];

static int copies(int pid, void *there) {
    int word;
    struct iovec here = {&word, sizeof word}, remote = {there, sizeof word};
    return process_vm_readv(pid, &here, 1, &remote, 1, 0) == (ssize_t)sizeof word;
}

static void operate(MPI_Win win) {
    int one = 1, three = 3, zero = 0, old = -1, few[4] = {1, 2, 3, 4};
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, win);
    MPI_Fetch_and_op(&one, &old, MPI_INT, 1, 0, MPI_SUM, win);
    MPI_Win_flush(1, win);
    CHECK(old == 10, "%d", old);
    MPI_Compare_and_swap(&three, &zero, &old, MPI_INT, 1, 1, win);
    MPI_Win_flush(1, win);
    CHECK(old == 0, "%d", old);
    MPI_Accumulate(&three, 1, MPI_INT, 1, 1, 1, MPI_INT, MPI_PROD, win);
    MPI_Accumulate(few, 4, MPI_INT, 1, 2, 4, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(1, win);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < 100; i++) MPI_Accumulate(few, 4, MPI_INT, 1, 2, 4, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock_all(win);
}

int main(int argc, char **argv) {
    int rank, size, ten = 10, pid = getpid();
    void *there = memory;
    MPI_Win win;
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "%d ranks", size);
    MPI_Win_create(memory, sizeof memory, sizeof memory[0], MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (rank == 0) {
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        MPI_Accumulate(&ten, 1, MPI_INT, 1, 0, 1, MPI_INT, MPI_SUM, win);
        MPI_Win_unlock(1, win);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) {
        MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        MPI_Send(&there, sizeof there, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
        raise(SIGSTOP);
    } else {
        MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(&there, sizeof there, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wait_for_stop(pid);
        int can = copies(pid, there);
        if (can) operate(win);
        else puts("no copies");
        kill(pid, SIGCONT);
        MPI_Send(&can, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
    if (rank == 1) {
        int can = 0;
        MPI_Recv(&can, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
        for (int i = 0; can && i < 4; i++) CHECK(memory[2 + i] == 101 * (i + 1), "%d: %d", i, memory[2 + i]);
        CHECK(!can || (memory[0] == 11 && memory[1] == 9), "%d %d", memory[0], memory[1]);
        MPI_Win_unlock(1, win);
    }
    MPI_Win_free(&win);
    return end();
}
