/* Mistakes with MPI itself. Usage: mistake early | late | twice | short | count | tag */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size, words[4] = {0};
    CHECK(argc == 2, "usage");
    const char *how = argv[1];
    if (strcmp(how, "early") == 0) MPI_Send(words, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    begin(&argc, &argv, &rank, &size);
    int left = (rank + size - 1) % size, right = (rank + 1) % size;
    if (strcmp(how, "twice") == 0) MPI_Init(NULL, NULL);
    if (strcmp(how, "count") == 0) MPI_Send(words, -3, MPI_INT, right, 0, MPI_COMM_WORLD);
    if (strcmp(how, "tag") == 0) MPI_Send(words, 1, MPI_INT, right, -7, MPI_COMM_WORLD);
    if (strcmp(how, "short") == 0)
        MPI_Sendrecv(words, 4, MPI_INT, right, 0, words, 1, MPI_INT, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    if (strcmp(how, "late") == 0) MPI_Send(words, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    puts("ok");
    return 0;
}
