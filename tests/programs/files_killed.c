/* Ranks that write collectively into the middle of a file until one of them, or its node, is killed. Arguments: a folder, the rank that dies, "rank" or "node". */
#include "files.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

enum { BLOCK = 4096, BLOCKS = 64, GUARD = 1 << 18 };

static int of_node;

static void die(int signal) {
    (void)signal;
    if (of_node) kill(getppid(), SIGKILL);
    raise(SIGKILL);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/killed", argv[1]);
    of_node = !strcmp(argv[3], "node");
    long bytes = 2L * GUARD + (long)BLOCK * BLOCKS * size;
    if (rank == 0) {
        unsigned char *all = need((size_t)bytes);
        memset(all, 0xa5, (size_t)bytes);
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
        CHECK(fd >= 0 && write(fd, all, (size_t)bytes) == bytes, "the file");
        close(fd), free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File file = open_as(MPI_MODE_RDWR);
    MPI_Datatype block, turns;
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, BLOCK * size, &turns);
    MPI_Type_commit(&turns);
    OK(MPI_File_set_view(file, GUARD + (MPI_Offset)rank * BLOCK, MPI_BYTE, turns, "native", MPI_INFO_NULL));
    unsigned char *mine = need(BLOCK * BLOCKS);
    memset(mine, 1 + rank, BLOCK * BLOCKS);
    OK(MPI_File_write_at_all(file, 0, mine, BLOCK * BLOCKS, MPI_BYTE, MPI_STATUS_IGNORE));
    if (rank == atoi(argv[2])) {
        struct itimerval soon = {{0, 0}, {0, 20000}};
        signal(SIGALRM, die);
        setitimer(ITIMER_REAL, &soon, NULL);
    }
    for (;;) MPI_File_write_at_all(file, 0, mine, BLOCK * BLOCKS, MPI_BYTE, MPI_STATUS_IGNORE);
}
