/* A file whose locks exclude nobody: accesses go on, atomic mode and sieved writes are refused. Argument: a folder. */
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
    MPI_Info sieved;
    MPI_Datatype sparse;
    int words[2] = {1, 2}, apart[3];
    MPI_Info_create(&sieved);
    MPI_Info_set(sieved, "romio_ds_write", "enable");
    MPI_Type_vector(2, 1, 2, MPI_INT, &sparse);
    MPI_Type_commit(&sparse);
    OK(MPI_File_set_view(file, 4096 * (rank + 1), MPI_INT, sparse, "native", sieved));
    OK(MPI_File_write_at(file, 0, words, 1, MPI_INT, MPI_STATUS_IGNORE));
    REFUSED(MPI_File_write_at(file, 0, words, 2, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_write_at_all(file, 0, words, 2, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_set_view(file, 4096 * (rank + 1), MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, apart, 3, MPI_INT, MPI_STATUS_IGNORE));
    CHECK(apart[0] == 1 && apart[2] == 2, "%d %d", apart[0], apart[2]);
    MPI_Info_free(&sieved), MPI_Type_free(&sparse);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    MPI_File_set_atomicity(file, 1);
    return end();
}
