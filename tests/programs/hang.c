/* Starts, leaves its process number in a file of the folder given, and waits for a message that
 * never comes. With "spin" it never calls MPI again; with "deaf" it ignores SIGTERM as well. With "window" all
 * operate on each other's memory for ever. */
#include "check.h"
#include <signal.h>
#include <unistd.h>

static MPI_Win win;

static void allocate(void) {
    long *mine;
    MPI_Win_allocate(1000 * sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
}

static void operate_on_all(int size) {
    long value = 1;
    for (int to = 0; to < size; to++) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        for (int i = 0; i < 10; i++) MPI_Accumulate(&value, 1, MPI_LONG, to, i, 1, MPI_LONG, MPI_SUM, win);
        MPI_Win_flush(to, win);
        MPI_Win_unlock(to, win);
    }
}

int main(int argc, char **argv) {
    int rank, size;
    if (argc > 2 && strcmp(argv[2], "deaf") == 0) signal(SIGTERM, SIG_IGN);
    begin(&argc, &argv, &rank, &size);
    int one_sided = argc > 2 && strcmp(argv[2], "window") == 0;
    if (one_sided) {
        allocate();
        operate_on_all(size);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    char name[4096], ready[4200];
    snprintf(name, sizeof name, "%s/rank%d", argv[1], rank);
    snprintf(ready, sizeof ready, "%s.new", name);
    FILE *file = fopen(ready, "w");
    CHECK(file != NULL, "cannot write %s", ready);
    fprintf(file, "%d\n", (int)getpid());
    fclose(file);
    CHECK(rename(ready, name) == 0, "cannot rename %s", ready);
    while (one_sided) operate_on_all(size);
    if (argc > 2 && strcmp(argv[2], "recv") != 0)
        for (;;) pause();
    int word;
    MPI_Recv(&word, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return 1;
}
