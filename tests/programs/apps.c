/* One of several programs of a job: which, and what MPI knows of how it was started.
 * Usage: apps APPNUM UNIVERSE (0: whatever it is) */
#include "check.h"

int main(int argc, char **argv) {
    int rank, size, flag, length, *number;
    CHECK(argc >= 3, "usage");
    begin(&argc, &argv, &rank, &size);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &number, &flag);
    CHECK(flag, "MPI_APPNUM is not set");
    CHECK(*number == atoi(argv[1]), "MPI_APPNUM is %d", *number);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &number, &flag);
    if (atoi(argv[2]) > 0) CHECK(flag && *number == atoi(argv[2]), "MPI_UNIVERSE_SIZE is %d", flag ? *number : -1);
    CHECK(!flag || *number >= 1, "MPI_UNIVERSE_SIZE is %d", *number);

    /* Every key that there is (MPI 5.0, 11.2.1). */
    const char *keys[] = {"command", "argv", "maxprocs", "soft", "host", "arch", "wdir", "file", "thread_level"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        char value[MPI_MAX_INFO_VAL + 1];
        length = MPI_MAX_INFO_VAL;
        MPI_Info_get_string(MPI_INFO_ENV, keys[i], &length, value, &flag);
        if (flag) printf("%d %s=%s\n", rank, keys[i], value);
    }

    /* The programs are one world: each rank tells rank 0 its number. */
    int mine = atoi(argv[1]), all[64];
    CHECK(size <= 64, "too many ranks");
    MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++)
        CHECK(all[i] >= all[i - 1], "programs are numbered in their order: %d behind %d", all[i], all[i - 1]);
    return end();
}
