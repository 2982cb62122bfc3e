/* Accesses of which the file's component fails some: every failure has the due class, is everybody's in a collective call, and damages nothing; what does not fail is right.
   Arguments: a folder, the due class (io, space, quota), "nonatomic" or "atomic". */
#include "files.h"
#include <fcntl.h>
#include <unistd.h>

enum { BLOCK = 48, BLOCKS = 40, ROUNDS = 60, GUARD = 5000 };

static long bytes;
static int due, failures, successes;
static unsigned char mine[BLOCK * BLOCKS], got[BLOCK * BLOCKS];

static long offset_of(int who, long at) { return GUARD + who * BLOCK + at / BLOCK * (BLOCK * size) + at % BLOCK; }

/* Reads or writes the whole file by the system, whose calls may fail as well. */
static void raw(int fd, unsigned char *all, int writes) {
    int tries = 0;
    for (long at = 0; at < bytes;) {
        long n = writes ? pwrite(fd, all + at, (size_t)(bytes - at), at) : pread(fd, all + at, (size_t)(bytes - at), at);
        if (n > 0) at += n, tries = 0;
        CHECK(n != 0 && tries++ < 10000, "the file ends at %ld", at);
    }
}

/* The file as the system has it. */
static unsigned char *whole(void) {
    unsigned char *all = need((size_t)bytes);
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0, "the file");
    raw(fd, all, 0);
    close(fd);
    return all;
}

static void is_due(int code, int everybody) {
    int class = code == MPI_SUCCESS ? MPI_SUCCESS : class_of(code), least, most;
    CHECK(class == MPI_SUCCESS || class == due, "class %d instead of %d", class, due);
    if (class == MPI_SUCCESS) {
        successes++;
    } else {
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        CHECK(strstr(text, path), "no path: %s", text);
        failures++;
    }
    if (!everybody) return;
    MPI_Allreduce(&class, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&class, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    CHECK(least == most, "classes %d and %d", least, most);
}

static int access_by(MPI_File file, int form) {
    MPI_Request request = MPI_REQUEST_NULL;
    int n = sizeof mine, code = MPI_SUCCESS;
    switch (form) {
    case 0: return MPI_File_write_at_all(file, 0, mine, n, MPI_BYTE, MPI_STATUS_IGNORE);
    case 1: return MPI_File_read_at_all(file, 0, got, n, MPI_BYTE, MPI_STATUS_IGNORE);
    case 2: code = MPI_File_iwrite_at_all(file, 0, mine, n, MPI_BYTE, &request); break;
    case 3: code = MPI_File_iread_at_all(file, 0, got, n, MPI_BYTE, &request); break;
    case 4:
        code = MPI_File_write_at_all_begin(file, 0, mine, n, MPI_BYTE);
        return code == MPI_SUCCESS ? MPI_File_write_at_all_end(file, mine, MPI_STATUS_IGNORE) : code;
    case 5: return MPI_File_write_at(file, 0, mine, n, MPI_BYTE, MPI_STATUS_IGNORE);
    case 6: return MPI_File_read_at(file, 0, got, n, MPI_BYTE, MPI_STATUS_IGNORE);
    case 7: code = MPI_File_iwrite_at(file, 0, mine, n, MPI_BYTE, &request); break;
    default: code = MPI_File_iread_at(file, 0, got, n, MPI_BYTE, &request); break;
    }
    return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

int main(int argc, char **argv) {
    MPI_File file;
    MPI_Datatype block, turns;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/faults", argv[1]);
    due = !strcmp(argv[2], "io") ? MPI_ERR_IO : !strcmp(argv[2], "space") ? MPI_ERR_NO_SPACE : MPI_ERR_QUOTA;
    bytes = 2L * GUARD + (long)BLOCK * BLOCKS * size;
    fill(mine, sizeof mine, rank);
    if (rank == 0) {
        unsigned char *all = need((size_t)bytes);
        memset(all, 0xa5, (size_t)bytes);
        int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0666);
        CHECK(fd >= 0, "the file");
        raw(fd, all, 1);
        close(fd), free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    file = open_as(MPI_MODE_RDWR);
    MPI_File_set_errhandler(file, MPI_ERRORS_RETURN);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, BLOCK * size, &turns);
    MPI_Type_commit(&turns);
    OK(MPI_File_set_view(file, offset_of(rank, 0), MPI_BYTE, turns, "native", MPI_INFO_NULL));
    if (!strcmp(argv[3], "atomic")) OK(MPI_File_set_atomicity(file, 1));
    for (int round = 0; round < ROUNDS; round++) is_due(access_by(file, round % 9), round % 9 < 5);
    int sums[2], own[2] = {failures, successes};
    MPI_Allreduce(own, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(sums[0] > 0 && sums[1] > 0, "%d failures, %d successes", sums[0], sums[1]);
    /* An access that goes well is whole. */
    for (int form = 0; form < 2; form++) {
        int tries = 0;
        while (access_by(file, form) != MPI_SUCCESS) CHECK(++tries < 1000, "nothing goes well");
    }
    CHECK(!memcmp(got, mine, sizeof mine), "other data");
    OK(MPI_File_close(&file));
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *all = whole();
    for (long at = 0; at < (long)sizeof mine; at++) {
        CHECK(all[offset_of(rank, at)] == mine[at], "byte %ld", at);
        all[offset_of(rank, at)] = 0xa5;
    }
    for (long at = 0; at < bytes; at++)
        CHECK(all[at] == 0xa5 || (at >= GUARD && at < bytes - GUARD), "byte %ld was touched", at);
    free(all);
    MPI_Type_free(&block), MPI_Type_free(&turns);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    return end();
}
