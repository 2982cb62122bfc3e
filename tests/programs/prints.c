/* Prints without flushing, and ends as it is told, on rank 0, while the others wait in MPI. Also compiled as C++.
 * Usage: prints wait FILE | abort | crash | error | hang | own | many N | blocks N */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef __cplusplus
#include <iostream>
#define SAY(text) (std::cout << text)
#else
#define SAY(text) fputs(text, stdout)
#endif

/* The program's own end, which writes its buffer itself. */
static void leave(int number) {
    (void)number;
    fflush(stdout);
    _exit(5);
}

int main(int argc, char **argv) {
    int rank = 0, size = 0, word = 0;
    const char *how = argc > 1 ? argv[1] : "";
    SAY("before MPI_Init\n");
    if (strcmp(how, "early") == 0) {
        SAY("rest");
        _exit(3);
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(how, "many") == 0 || strcmp(how, "blocks") == 0) {
        long n = argc > 2 ? atol(argv[2]) : 0;
        static char block[1 << 16];
        memset(block, 'x', sizeof block);
        block[sizeof block - 1] = '\n';
        for (long i = 0; i < n; i++) {
            if (how[0] == 'm') printf("line %ld of many\n", i);
            else fwrite(block, 1, sizeof block, stdout);
        }
        MPI_Finalize();
        return 0;
    }
    if (strcmp(how, "own") == 0) signal(SIGTERM, leave);
    SAY("a line\nthe beginning of one");
    if (rank != 0) MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (strcmp(how, "wait") == 0) {
        while (access(argv[2], F_OK) != 0) usleep(10000);
        for (int r = 1; r < size; r++) MPI_Send(&word, 1, MPI_INT, r, 1, MPI_COMM_WORLD);
    }
    if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
    if (strcmp(how, "crash") == 0) *(volatile int *)8 = 1;
    if (strcmp(how, "error") == 0) MPI_Send(&word, 1, MPI_INT, size + 7, 0, MPI_COMM_WORLD);
    if (strcmp(how, "hang") == 0 || strcmp(how, "own") == 0) MPI_Recv(&word, 1, MPI_INT, 0, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    SAY(" and its end\n");
    MPI_Finalize();
    return 0;
}
