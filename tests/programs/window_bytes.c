/* The cost of a window: bytes of the heap, and of memory that is mapped to be shared, for each of some windows. */
#include "check.h"

#include <malloc.h>

enum { WINDOWS = 64 };

/* Bytes of all mappings that others see, too. */
static long shared_bytes(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    CHECK(file != NULL, "no maps");
    char line[4096], how[8];
    long sum = 0;
    while (fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx %7s", &from, &to, how) == 3 && how[3] == 's') sum += (long)(to - from);
    }
    fclose(file);
    return sum;
}

int main(int argc, char **argv) {
    static long memory[WINDOWS + 1][64];
    int rank, size;
    MPI_Win win[WINDOWS + 1];
    begin(&argc, &argv, &rank, &size);
    /* With the first one comes what all windows share. */
    MPI_Win_create(memory[WINDOWS], sizeof memory[0], 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win[WINDOWS]);
    MPI_Barrier(MPI_COMM_WORLD);
    long heap = (long)mallinfo2().uordblks, maps = shared_bytes();
    for (int i = 0; i < WINDOWS; i++)
        MPI_Win_create(memory[i], sizeof memory[0], 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    heap = (long)mallinfo2().uordblks - heap;
    maps = shared_bytes() - maps;
    printf("window %d %ld %ld\n", rank, heap / WINDOWS, maps / WINDOWS);
    fflush(stdout);
    for (int i = 0; i <= WINDOWS; i++) MPI_Win_free(&win[i]);
    return end();
}
