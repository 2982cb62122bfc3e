/* The default error handler ends the program and says function, argument and value. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    int x = 0;
    if (argc > 1 && strcmp(argv[1], "early") == 0) MPI_Comm_size(MPI_COMM_WORLD, &x);
    MPI_Init(&argc, &argv);
    if (argc > 1 && strcmp(argv[1], "late") == 0) {
        MPI_Finalize();
        MPI_Comm_size(MPI_COMM_WORLD, &x);
    }
    if (argc > 1 && strcmp(argv[1], "later") == 0) {
        MPI_Comm joined;
        MPI_Comm_join(0, &joined);
    }
    MPI_Send(&x, 1, MPI_INT, 7, 0, MPI_COMM_WORLD);
    printf("still here\n");
    return 0;
}
