/* Hints of a file, set and told: "set KEY VALUE" and "told KEY VALUE" in turn, behind a folder; the value "-" of a key that is told means that it is not there. */
#include "files.h"

int main(int argc, char **argv) {
    MPI_Info info, told;
    MPI_File file;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/hints", argv[1]);
    MPI_Info_create(&info);
    for (int i = 2; i + 2 < argc; i += 3)
        if (!strcmp(argv[i], "set")) MPI_Info_set(info, argv[i + 1], argv[i + 2]);
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    OK(MPI_File_get_info(file, &told));
    for (int i = 2; i + 2 < argc; i += 3) {
        char value[MPI_MAX_INFO_VAL] = "-";
        int there;
        if (strcmp(argv[i], "told")) continue;
        MPI_Info_get(told, argv[i + 1], MPI_MAX_INFO_VAL - 1, value, &there);
        CHECK(there == !!strcmp(argv[i + 2], "-") && !strcmp(value, argv[i + 2]), "%s is %s", argv[i + 1], value);
    }
    int word = rank, got = -1;
    OK(MPI_File_write_at_all(file, 4 * rank, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at_all(file, 4 * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == rank, "%d", got);
    MPI_Info_free(&info), MPI_Info_free(&told);
    OK(MPI_File_close(&file));
    return end();
}
