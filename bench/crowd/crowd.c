/* Many ranks on few cores: crowd [BARRIERS] [ALLTOALLS] [BYTES]
 * Times BARRIERS barriers (10000) and ALLTOALLS all-to-alls (1000) of BYTES bytes per pair (1024); checks the data of
 * the last all-to-all. Rank 0 prints two numbers, seconds each. Any MPI library. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    long barriers = argc > 1 ? atol(argv[1]) : 10000, exchanges = argc > 2 ? atol(argv[2]) : 1000;
    int bytes = argc > 3 ? atoi(argv[3]) : 1024, me, n;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &n);
    unsigned char *out = malloc((size_t)n * bytes + 1), *in = calloc((size_t)n * bytes + 1, 1);
    for (int r = 0; r < n; r++) memset(out + (size_t)r * bytes, (me * 7 + r * 3 + 1) & 255, bytes);

    MPI_Barrier(MPI_COMM_WORLD);
    double t0 = MPI_Wtime();
    for (long i = 0; i < barriers; i++) MPI_Barrier(MPI_COMM_WORLD);
    double t1 = MPI_Wtime();
    for (long i = 0; i < exchanges; i++) MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
    double t2 = MPI_Wtime();

    int wrong = 0;
    for (int r = 0; r < n; r++)
        for (int k = 0; k < bytes; k++) wrong += in[(size_t)r * bytes + k] != ((r * 7 + me * 3 + 1) & 255);
    int all = 0;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%.4f %.4f\n", t1 - t0, t2 - t1);
    MPI_Finalize();
    if (all) fprintf(stderr, "crowd: %d wrong bytes\n", all);
    return all != 0;
}
