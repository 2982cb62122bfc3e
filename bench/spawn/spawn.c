/* How long it takes to start processes from a program, and to meet by a port. Any MPI library.
 *
 *   spawn start              two ranks or more: MPI_Init and MPI_Finalize, for whoever measures the start of a job
 *   spawn spawn N COUNT      one rank: starts N processes COUNT times, one time after the other
 *   spawn connect COUNT      two ranks: meet by a port COUNT times
 *
 * Each line of the output is a name and milliseconds: those of every turn but the first, which loads what later ones have. `call`: MPI_Comm_spawn or MPI_Comm_connect
 * alone; `whole`: until both sides have met in a barrier and disconnected. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void turn(MPI_Comm inter, double begun, double called, int number) {
    MPI_Barrier(inter);
    MPI_Comm_disconnect(&inter);
    if (number > 0) printf("call %.3f\nwhole %.3f\n", 1e3 * (called - begun), 1e3 * (MPI_Wtime() - begun));
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm parent, inter;
    MPI_Comm_get_parent(&parent);
    const char *what = argc > 1 ? argv[1] : "";
    if (parent != MPI_COMM_NULL) {
        MPI_Barrier(parent);
        MPI_Comm_disconnect(&parent);
    } else if (strcmp(what, "spawn") == 0 && argc == 4) {
        /* Processes of Open MPI would each want a core. */
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "bind_to", "none");
        for (int i = 0; i <= atoi(argv[3]); i++) {
            double begun = MPI_Wtime();
            MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, atoi(argv[2]), info, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
            turn(inter, begun, MPI_Wtime(), i);
        }
        MPI_Info_free(&info);
    } else if (strcmp(what, "connect") == 0 && argc == 3) {
        char port[MPI_MAX_PORT_NAME] = "";
        if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
        MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        for (int i = 0; i <= atoi(argv[2]); i++) {
            MPI_Barrier(MPI_COMM_WORLD);
            double begun = MPI_Wtime();
            if (rank == 0) {
                MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
                MPI_Barrier(inter);
                MPI_Comm_disconnect(&inter);
            } else {
                MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
                turn(inter, begun, MPI_Wtime(), i);
            }
        }
        if (rank == 0) MPI_Close_port(port);
    } else if (strcmp(what, "start") != 0) {
        fprintf(stderr, "usage: spawn start | spawn N COUNT | connect COUNT\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    MPI_Finalize();
    return 0;
}
