/* Cost of one command to a proxy: MPI_Iprobe on a communicator of one endpoint, there and back, against that of the library.
 *
 *   command [ROUNDS]         one process and one proxy
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

static double probes(MPI_Comm comm, int rounds) {
    int flag, all = 0;
    double began = MPI_Wtime();
    for (int i = 0; i < rounds; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
        all += flag;
    }
    if (all) MPI_Abort(MPI_COMM_WORLD, 1);
    return (MPI_Wtime() - began) / rounds * 1e9;
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 100000;
    MPI_Init(&argc, &argv);
    MPI_Comm ep = MPI_COMM_NULL;
#ifdef MPIX_HAVE_ENDPOINTS
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &ep);
#endif
    if (ep == MPI_COMM_NULL) MPI_Abort(MPI_COMM_WORLD, 1);
    probes(ep, rounds / 10);
    double with = probes(ep, rounds), without = probes(MPI_COMM_WORLD, rounds);
    printf("command: %.0f ns by a proxy, %.0f ns by the library itself\n", with, without);
    MPI_Comm_free(&ep);
    MPI_Finalize();
    return 0;
}
