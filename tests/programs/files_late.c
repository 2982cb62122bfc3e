/* Data that a server refuses when it is sent: MPI_File_sync says so in the rank that wrote it, MPI_File_close in all. Behind 64 KiB nothing is taken.
   Arguments: a folder of each rank's machine, the due class (io, space, quota). */
#include "files.h"

enum { ROOM = 1 << 16, BYTES = 1000 };

static void told(int code, int due) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    REFUSED(code, due);
    MPI_Error_string(code, text, &length);
    CHECK(strstr(text, path), "no path: %s", text);
}

int main(int argc, char **argv) {
    unsigned char mine[BYTES], got[BYTES];
    MPI_Status status;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/late", argv[1]);
    int due = !strcmp(argv[2], "io") ? MPI_ERR_IO : !strcmp(argv[2], "space") ? MPI_ERR_NO_SPACE : MPI_ERR_QUOTA;
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    fill(mine, BYTES, rank);
    /* Data for which there is room stays. */
    OK(MPI_File_write_at(file, (MPI_Offset)rank * BYTES, mine, BYTES, MPI_BYTE, &status));
    OK(MPI_File_sync(file));
    OK(MPI_File_write_at(file, ROOM + (MPI_Offset)rank * BYTES, mine, BYTES, MPI_BYTE, &status));
    told(MPI_File_sync(file), due);
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == size - 1) OK(MPI_File_write_at(file, ROOM, mine, BYTES, MPI_BYTE, &status));
    told(MPI_File_close(&file), due);
    CHECK(file == MPI_FILE_NULL, "it is not closed");
    file = open_as(MPI_MODE_RDONLY);
    for (int who = 0; who < size; who++) {
        OK(MPI_File_read_at(file, (MPI_Offset)who * BYTES, got, BYTES, MPI_BYTE, &status));
        CHECK(count_of(&status, MPI_BYTE) == BYTES && differs(got, BYTES, who) < 0, "other data");
    }
    OK(MPI_File_close(&file));
    gone();
    return end();
}
