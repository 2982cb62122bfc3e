/* Space that is had ahead: what was written stays, the file is at least that long and reads as zeros behind its data, holes get their space, and where it does not fit nothing is changed.
   Arguments: a folder that all ranks see; `fits`, `holes`, where space can be had without writing, too, or `full`, where there is no room for 1 MiB. */
#include "files.h"
#include <sys/stat.h>

enum { DATA = 1000, BYTES = (9 << 20) + 13 };

static MPI_Offset length_of(MPI_File file) {
    MPI_Offset bytes;
    OK(MPI_File_get_size(file, &bytes));
    return bytes;
}

/* The data of all ranks, and zeros from there to the end. */
static void content(MPI_File file, MPI_Offset bytes) {
    enum { AT_ONCE = 1 << 16 };
    unsigned char *got = need(AT_ONCE);
    MPI_Status status;
    for (int who = 0; who < size; who++) {
        OK(MPI_File_read_at(file, (MPI_Offset)who * DATA, got, DATA, MPI_BYTE, &status));
        CHECK(count_of(&status, MPI_BYTE) == DATA && differs(got, DATA, who) < 0, "other data of rank %d", who);
    }
    for (MPI_Offset at = (MPI_Offset)size * DATA; at < bytes;) {
        OK(MPI_File_read_at(file, at, got, AT_ONCE, MPI_BYTE, &status));
        int n = count_of(&status, MPI_BYTE), due = bytes - at < AT_ONCE ? (int)(bytes - at) : AT_ONCE;
        CHECK(n == due, "%d bytes at %lld, and not %d", n, (long long)at, due);
        for (int i = 0; i < n; i++) CHECK(got[i] == 0, "byte %lld is %d", (long long)at + i, got[i]);
        at += n;
    }
    free(got);
}

static void fits(MPI_File file) {
    OK(MPI_File_preallocate(file, 0));
    OK(MPI_File_preallocate(file, 10));
    CHECK(length_of(file) == (MPI_Offset)size * DATA, "%lld bytes", (long long)length_of(file));
    OK(MPI_File_preallocate(file, BYTES));
    CHECK(length_of(file) == BYTES, "%lld bytes", (long long)length_of(file));
    content(file, BYTES);
    OK(MPI_File_set_atomicity(file, 1));
    OK(MPI_File_preallocate(file, BYTES + 1000));
    OK(MPI_File_set_atomicity(file, 0));
    CHECK(length_of(file) == BYTES + 1000, "%lld bytes", (long long)length_of(file));
    content(file, BYTES + 1000);
}

/* A file that is long and has no space gets it. Only file systems that can be asked for space ahead tell what they have of it. */
static void holes(MPI_File file) {
    struct stat about;
    OK(MPI_File_set_size(file, 0));
    OK(MPI_File_set_size(file, BYTES));
    OK(MPI_File_preallocate(file, BYTES));
    CHECK(length_of(file) == BYTES, "%lld bytes", (long long)length_of(file));
    CHECK(stat(path, &about) == 0, "no file %s", path);
    CHECK(about.st_blocks * 512ll >= BYTES, "%lld blocks for %d bytes", (long long)about.st_blocks, BYTES);
}

static void full(MPI_File file) {
    char text[MPI_MAX_ERROR_STRING];
    int length, code = MPI_File_preallocate(file, BYTES);
    REFUSED(code, MPI_ERR_NO_SPACE);
    MPI_Error_string(code, text, &length);
    if (rank == 0) CHECK(strstr(text, path), "no path: %s", text);
    CHECK(length_of(file) == (MPI_Offset)size * DATA, "%lld bytes", (long long)length_of(file));
    content(file, (MPI_Offset)size * DATA);
}

int main(int argc, char **argv) {
    unsigned char mine[DATA];
    MPI_Status status;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/space", argv[1]);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    fill(mine, DATA, rank);
    OK(MPI_File_write_at_all(file, (MPI_Offset)rank * DATA, mine, DATA, MPI_BYTE, &status));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(file));
    if (!strcmp(argv[2], "full")) full(file);
    else fits(file);
    if (!strcmp(argv[2], "holes")) holes(file);
    OK(MPI_File_close(&file));
    gone();
    return end();
}
