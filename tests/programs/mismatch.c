/* Ranks that do not agree on how much the root broadcasts. The program is wrong and MPI need not notice; here the ranks
   that asked for another length are told, nobody waits for ever, and the next broadcast is right. */
#include "check.h"

static void broadcast(int rank, int root, int sent, int asked) {
    int data[100] = {0}, code, class;
    if (rank == root) data[0] = 17;
    code = MPI_Bcast(data, rank == root ? sent : asked, MPI_INT, root, MPI_COMM_WORLD);
    MPI_Error_class(code, &class);
    CHECK(rank != root || code == MPI_SUCCESS, "class %d", class);
    CHECK(data[0] == 17, "what came is %d", data[0]);
    if (rank != root && sent != asked) CHECK(code != MPI_SUCCESS, "%d sent, %d asked for", sent, asked);
    if (sent == asked) CHECK(code == MPI_SUCCESS, "class %d", class);
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int root = 0; root < size; root++) {
        broadcast(rank, root, 1, 10);
        broadcast(rank, root, 10, 1);
        broadcast(rank, root, 10, 10);
    }
    return end();
}
