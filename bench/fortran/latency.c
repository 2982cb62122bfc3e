/* Half a round trip of 8 bytes between two ranks by MPI_Send and MPI_Recv, in nanoseconds: the best of some blocks. latency.f90 is the same
   in Fortran. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { BLOCKS = 20, WARM = 2000 };

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: latency TURNS\n");
        return 2;
    }
    const int turns = atoi(argv[1]);
    MPI_Init(&argc, &argv);
    int me;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const int other = 1 - me;
    double message = me, best = 1e9;
    for (int block = 0; block <= BLOCKS; ++block) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = MPI_Wtime();
        const int n = block == 0 ? WARM : turns;
        for (int i = 0; i < n; ++i) {
            if (me == 0) {
                MPI_Send(&message, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
                MPI_Recv(&message, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else {
                MPI_Recv(&message, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(&message, 1, MPI_DOUBLE, other, 1, MPI_COMM_WORLD);
            }
        }
        const double each = (MPI_Wtime() - begin) / turns / 2;
        if (block > 0 && each < best)
            best = each;
    }
    if (me == 0)
        printf("%.2f\n", best * 1e9);
    MPI_Finalize();
    return 0;
}
