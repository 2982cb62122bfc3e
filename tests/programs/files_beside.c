/* Several files of one base name in three folders at once, each with its own shared pointer and data. Argument: a folder with folders a, b and c. */
#include "files.h"

enum { FILES = 3, TURNS = 200 };

int main(int argc, char **argv) {
    MPI_File files[FILES];
    MPI_Offset position;
    begin(&argc, &argv, &rank, &size);
    for (int i = 0; i < FILES; i++) {
        snprintf(path, sizeof path, "%s/%c/name", argv[1], 'a' + i);
        files[i] = open_as(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
        OK(MPI_File_set_view(files[i], 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    }
    for (int turn = 0; turn < TURNS; turn++) {
        int i = (turn + rank) % FILES, word = i * 10000 + rank * TURNS + turn;
        OK(MPI_File_write_shared(files[i], &word, 1, MPI_INT, MPI_STATUS_IGNORE));
    }
    for (int i = 0; i < FILES; i++) {
        int due = 0, word;
        for (int who = 0; who < size; who++)
            for (int turn = 0; turn < TURNS; turn++) due += (turn + who) % FILES == i;
        OK(MPI_File_sync(files[i]));
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_sync(files[i]));
        OK(MPI_File_get_position_shared(files[i], &position));
        CHECK(position == due, "file %d is at %lld, not %d", i, (long long)position, due);
        OK(MPI_File_get_size(files[i], &position));
        CHECK(position == 4 * due, "file %d has %lld bytes", i, (long long)position);
        for (int at = 0; at < due; at++) {
            OK(MPI_File_read_at(files[i], at, &word, 1, MPI_INT, MPI_STATUS_IGNORE));
            CHECK(word / 10000 == i, "file %d has a word of file %d", i, word / 10000);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < FILES; i++) OK(MPI_File_close(&files[i]));
    return end();
}
