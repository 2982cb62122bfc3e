/* A file whose locks exclude nobody: accesses go on, atomic mode is refused. Argument: a folder. */
#include "files.h"

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/lockless", argv[1]);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    int word = rank, got = -1;
    OK(MPI_File_write_at_all(file, 4 * rank, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(file, 4 * rank, &got, 1, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(got == rank, "%d", got);
    OK(MPI_File_set_atomicity(file, 0));
    REFUSED(MPI_File_set_atomicity(file, 1), MPI_ERR_UNSUPPORTED_OPERATION);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    MPI_File_set_atomicity(file, 1);
    return end();
}
