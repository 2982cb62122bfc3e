/* Rank 0 writes numbered lines and notes in a file how many are written; rank 1 crashes when there are
 * some. Usage: loud FILE */
#include "check.h"
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* The compiler does not see through it, and does not warn. */
static volatile long nowhere = 8;

__attribute__((noinline)) static void store_through_null(void) { *(volatile int *)nowhere = 42; }

int main(int argc, char **argv) {
    int rank, size, word = 0;
    CHECK(argc == 2, "usage");
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "usage");
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    CHECK(file >= 0 && ftruncate(file, 4096) == 0, "cannot write %s", argv[1]);
    volatile long *written = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(written != MAP_FAILED, "no memory");
    if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        store_through_null();
    }
    for (long n = 1;; n++) {
        char line[64];
        int length = snprintf(line, sizeof line, "line %ld\n", n);
        if (write(1, line, (size_t)length) != length) return 3;
        *written = n;
        if (n == 1000) MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    }
}
