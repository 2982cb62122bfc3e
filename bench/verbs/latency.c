/* Half a round trip between two processes that have one thread each, by size: a library's transport with nothing around it.
 *
 *   mpirun -n 2 latency [-k ROUNDS] [-b BYTES,BYTES,...]
 *
 * Ten rounds of warm-up; the first and the last byte of each message are looked at. A line for each size. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WARM_UP = 10 };

static int rank, rounds = 1000;

static void fail(const char *why) {
    fprintf(stderr, "latency: rank %d: %s\n", rank, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* A message there and one back, each with a number that the other end knows. */
static void turn(unsigned char *buffer, int bytes, int number) {
    unsigned char mark = (unsigned char)(number * 2 + 1), answer = (unsigned char)(mark + 1);
    MPI_Status status;
    int count;
    if (rank == 0) {
        buffer[0] = buffer[bytes - 1] = mark;
        MPI_Send(buffer, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    }
    MPI_Recv(buffer, bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    unsigned char due = rank == 0 ? answer : mark;
    if (count != bytes || buffer[0] != due || buffer[bytes - 1] != due) fail("wrong data");
    if (rank == 1) {
        buffer[0] = buffer[bytes - 1] = answer;
        MPI_Send(buffer, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    char *sizes = "8";
    int size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int option; (option = getopt(argc, argv, "k:b:")) != -1;) {
        switch (option) {
        case 'k': rounds = atoi(optarg); break;
        case 'b': sizes = optarg; break;
        default: fail("latency [-k ROUNDS] [-b BYTES,BYTES,...]");
        }
    }
    if (size != 2 || rounds < 1) fail("two ranks, at least one round");
    for (char *next = sizes; next && *next; next = strchr(next, ',') ? strchr(next, ',') + 1 : NULL) {
        int bytes = atoi(next);
        if (bytes < 1) fail("at least one byte");
        unsigned char *buffer = calloc((size_t)bytes, 1);
        if (!buffer) fail("no memory");
        double began = 0;
        for (int i = -WARM_UP; i < rounds; i++) {
            if (i == 0) began = MPI_Wtime();
            turn(buffer, bytes, i + WARM_UP);
        }
        double seconds = MPI_Wtime() - began;
        if (rank == 0) printf("bytes=%d value=%.3f unit=us seconds=%.4f verified=1\n", bytes, seconds / rounds / 2 * 1e6, seconds);
        free(buffer);
    }
    fflush(stdout);
    MPI_Finalize();
    return 0;
}
