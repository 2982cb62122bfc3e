/* One access that fails, with a handler that ends the job: its report names the path. Arguments: a folder, "blocking", "later" or "all". */
#include "files.h"

int main(int argc, char **argv) {
    MPI_Request request;
    char data[100] = "";
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/a file that fails", argv[1]);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL);
    if (!strcmp(argv[2], "blocking")) MPI_File_write_at(file, 0, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!strcmp(argv[2], "all")) MPI_File_write_at_all(file, 100 * rank, data, 100, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!strcmp(argv[2], "later")) {
        MPI_File_iwrite_at(file, 0, data, 100, MPI_BYTE, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    return end();
}
