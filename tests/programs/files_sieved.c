/* Sieved writes (hint romio_ds_write): ranks write between each other's pieces at the same time, and lose nothing. Arguments: a folder, and what the hint says. */
#include "files.h"

enum { PIECES = 64, ROUNDS = 40, BLOCK = 3 };

static MPI_Info hints;

static int value(int round, int owner, int piece, int at) { return ((round * 31 + owner) * PIECES + piece) * BLOCK + at; }

/* Writes this rank's blocks, every one between those of the others, by a view or block by block. */
static void write_between(MPI_File file, int round, int by_view) {
    int data[PIECES * BLOCK];
    MPI_Request requests[PIECES];
    for (int piece = 0; piece < PIECES; piece++)
        for (int at = 0; at < BLOCK; at++) data[piece * BLOCK + at] = value(round, rank, piece, at);
    if (by_view) {
        MPI_Status status;
        if (round % 2) {
            OK(MPI_File_write_at(file, 0, data, PIECES * BLOCK, MPI_INT, &status));
        } else {
            OK(MPI_File_iwrite_at(file, 0, data, PIECES * BLOCK, MPI_INT, &requests[0]));
            OK(MPI_Wait(&requests[0], &status));
        }
        CHECK(count_of(&status, MPI_INT) == PIECES * BLOCK, "%d", count_of(&status, MPI_INT));
        return;
    }
    for (int piece = 0; piece < PIECES; piece++)
        OK(MPI_File_iwrite_at(file, (MPI_Offset)(piece * size + rank) * BLOCK, data + piece * BLOCK, BLOCK, MPI_INT, &requests[piece]));
    OK(MPI_Waitall(PIECES, requests, MPI_STATUSES_IGNORE));
}

/* Rank 0 reads the whole file through another one, and finds what every rank has written. */
static void check_all(int round, MPI_Offset bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_File file;
        MPI_Offset there;
        int *all = malloc(bytes);
        OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
        OK(MPI_File_get_size(file, &there));
        CHECK(there == bytes, "%lld bytes", (long long)there);
        OK(MPI_File_read_at(file, 0, all, bytes / sizeof(int), MPI_INT, MPI_STATUS_IGNORE));
        for (int piece = 0; piece < PIECES; piece++)
            for (int owner = 0; owner < size; owner++)
                for (int at = 0; at < BLOCK; at++) {
                    int got = all[(piece * size + owner) * BLOCK + at];
                    CHECK(got == value(round, owner, piece, at), "round %d: %d of rank %d is %d", round, piece, owner, got);
                }
        OK(MPI_File_close(&file));
        free(all);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void everyone_writes(int amode, const char *told) {
    MPI_File file;
    MPI_Info in_force;
    MPI_Datatype blocks, between;
    char text[MPI_MAX_INFO_VAL] = "";
    int there;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | amode, hints, &file));
    OK(MPI_File_get_info(file, &in_force));
    MPI_Info_get(in_force, "romio_ds_write", MPI_MAX_INFO_VAL - 1, text, &there);
    CHECK(there && !strcmp(text, told), "romio_ds_write is %s", text);
    MPI_Info_free(&in_force);
    MPI_Type_contiguous(BLOCK, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)sizeof(int) * BLOCK * size, &between);
    MPI_Type_commit(&between);
    /* Half of the ranks write by views, whose holes are the blocks of the others, the other half block by block. */
    int by_view = rank % 2 == 0;
    MPI_Datatype filetype = by_view ? between : MPI_INT;
    MPI_Offset from = by_view ? (MPI_Offset)sizeof(int) * BLOCK * rank : 0;
    OK(MPI_File_set_view(file, from, MPI_INT, filetype, "native", MPI_INFO_NULL));
    for (int round = 0; round < ROUNDS; round++) {
        write_between(file, round, by_view);
        if (round % 8 == 7) check_all(round, (MPI_Offset)sizeof(int) * BLOCK * PIECES * size);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
    MPI_Type_free(&blocks), MPI_Type_free(&between);
    gone();
}

/* A collective write goes on in one rank's transfers while another rank writes between its pieces by itself. */
static void collective_beside(void) {
    MPI_File file;
    MPI_Datatype blocks, between;
    MPI_Request request;
    int data[2][PIECES];
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
    MPI_Type_contiguous(1, MPI_INT, &blocks);
    MPI_Type_create_resized(blocks, 0, (MPI_Aint)sizeof(int) * 2 * size, &between);
    MPI_Type_commit(&between);
    OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, between, "native", MPI_INFO_NULL));
    for (int piece = 0; piece < PIECES; piece++) data[0][piece] = piece * 2 * size + rank, data[1][piece] = -1;
    OK(MPI_File_iwrite_at_all(file, 0, data[0], PIECES, MPI_INT, &request));
    MPI_File alone;
    OK(MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_RDWR, hints, &alone));
    OK(MPI_File_set_view(alone, (MPI_Offset)sizeof(int) * (size + rank), MPI_INT, between, "native", MPI_INFO_NULL));
    OK(MPI_File_write_at(alone, 0, data[1], PIECES, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
    OK(MPI_File_close(&alone));
    MPI_Barrier(MPI_COMM_WORLD);
    int *all = malloc(sizeof(int) * PIECES * 2 * size);
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, all, PIECES * 2 * size, MPI_INT, MPI_STATUS_IGNORE));
    for (int at = 0; at < PIECES * 2 * size; at++) {
        int due = at % (2 * size) < size ? at : -1;
        CHECK(all[at] == due, "word %d is %d", at, all[at]);
    }
    free(all);
    OK(MPI_File_close(&file));
    MPI_Type_free(&blocks), MPI_Type_free(&between);
    gone();
}

/* Rank 0's hint at MPI_File_set_view is everybody's, and holes keep what was in them, and are zeros behind the end. */
static void holes(void) {
    MPI_File file;
    MPI_Datatype blocks, sparse;
    enum { OLD = 10, NEW = 9, STEP = 4 };
    signed char old[OLD], fresh[NEW], got[NEW * STEP], due[NEW * STEP] = {0};
    MPI_Status status;
    MPI_Offset bytes;
    file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    memset(old, 7, sizeof old), memset(fresh, 1 + rank, sizeof fresh);
    if (rank == 0) OK(MPI_File_write_at(file, 0, old, OLD, MPI_BYTE, MPI_STATUS_IGNORE));
    MPI_Type_contiguous(1, MPI_BYTE, &blocks);
    MPI_Type_create_resized(blocks, 0, STEP, &sparse);
    MPI_Type_commit(&sparse);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, sparse, "native", rank == 0 ? hints : MPI_INFO_NULL));
    if (rank == size - 1) {
        OK(MPI_File_write(file, fresh, NEW, MPI_BYTE, &status));
        CHECK(count_of(&status, MPI_BYTE) == NEW, "%d", count_of(&status, MPI_BYTE));
    }
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == (NEW - 1) * STEP + 1, "%lld bytes", (long long)bytes);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, got, bytes, MPI_BYTE, &status));
    memset(due, 7, OLD);
    for (int at = 0; at < NEW; at++) due[at * STEP] = size;
    CHECK(!memcmp(got, due, bytes), "holes");
    OK(MPI_File_close(&file));
    MPI_Type_free(&blocks), MPI_Type_free(&sparse);
    gone();
}

/* Whether MPI_File_get_info tells that a hint says this. */
static int tells(MPI_File file, const char *key, const char *due) {
    MPI_Info in_force;
    char text[MPI_MAX_INFO_VAL] = "";
    int there;
    OK(MPI_File_get_info(file, &in_force));
    MPI_Info_get(in_force, key, MPI_MAX_INFO_VAL - 1, text, &there);
    MPI_Info_free(&in_force);
    return there && !strcmp(text, due);
}

/* A sieved file is not written past the system's cache, and one that is open past it is not sieved later, whichever of the ranks has it so. */
static void sieved_or_direct(const char *asked) {
    int sieves = !strcmp(asked, "enable"), direct, any;
    MPI_File file;
    MPI_Info both, past;
    MPI_Info_dup(hints, &both);
    MPI_Info_set(both, "direct_write", "true");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, both, &file));
    if (sieves) CHECK(tells(file, "direct_write", "false"), "a sieved file has direct access");
    OK(MPI_File_close(&file));
    MPI_Info_create(&past);
    MPI_Info_set(past, "direct_write", rank == size - 1 ? "true" : "false");
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, past, &file));
    direct = tells(file, "direct_write", "true");
    CHECK(!direct || rank == size - 1, "direct access that this rank has not asked for");
    MPI_Allreduce(&direct, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    OK(MPI_File_set_info(file, hints));
    if (sieves) CHECK(tells(file, "romio_ds_write", any ? "disable" : "enable"), "direct access: %d", any);
    OK(MPI_File_close(&file));
    MPI_Info_free(&both), MPI_Info_free(&past);
    gone();
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/sieved", argv[1]);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_ds_write", argv[2]);
    MPI_Info_set(hints, "ind_wr_buffer_size", "300");
    everyone_writes(MPI_MODE_RDWR, argv[2]);
    everyone_writes(MPI_MODE_WRONLY, argv[2]);
    collective_beside();
    holes();
    sieved_or_direct(argv[2]);
    MPI_Info_free(&hints);
    return end();
}
