/* An allreduce, and then what each rank takes of memory: its proportional share, in KiB. */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size, one = 1, sum = 0;
    begin(&argc, &argv, &rank, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sum == size, "%d", sum);
    /* All are looked at while all are there. */
    MPI_Barrier(MPI_COMM_WORLD);
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    CHECK(file != NULL, "no smaps_rollup");
    char line[256];
    long share = -1;
    while (fgets(line, sizeof line, file))
        if (sscanf(line, "Pss: %ld", &share) == 1) break;
    fclose(file);
    printf("share %ld\n", share);
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
