/* Files: opened, written and read in every way, by ranks whose views interleave; what each call leaves in the file is looked at byte by byte.
   Argument: a folder that all ranks see. */
#include "files.h"
#include <unistd.h>

static void opening(void) {
    MPI_File file = MPI_FILE_NULL;
    MPI_Offset bytes;
    int amode;
    MPI_Group group, world;
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    CHECK(file == MPI_FILE_NULL, "a file");
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &file), MPI_ERR_AMODE);
    REFUSED(MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_BAD_FILE);
    REFUSED(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    MPI_Barrier(MPI_COMM_WORLD);
    file = open_as(MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR);
    OK(MPI_File_get_amode(file, &amode));
    CHECK(amode == (MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR), "mode %d", amode);
    OK(MPI_File_get_group(file, &group));
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &amode);
    CHECK(amode == MPI_IDENT, "another group");
    MPI_Group_free(&group), MPI_Group_free(&world);
    OK(MPI_File_set_size(file, 1000));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 1000, "%lld bytes", (long long)bytes);
    OK(MPI_File_preallocate(file, 100));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 1000, "%lld bytes", (long long)bytes);
    OK(MPI_File_preallocate(file, 5000));
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 5000, "%lld bytes", (long long)bytes);
    if (size > 1) REFUSED(MPI_File_set_size(file, rank), MPI_ERR_NOT_SAME);
    OK(MPI_File_close(&file));
    CHECK(file == MPI_FILE_NULL, "a file");
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
            MPI_ERR_FILE_EXISTS);
    if (size > 1)
        REFUSED(MPI_File_open(MPI_COMM_WORLD, path, rank ? MPI_MODE_RDONLY : MPI_MODE_RDWR, MPI_INFO_NULL, &file),
                MPI_ERR_NOT_SAME);
    file = open_as(MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE);
    int x = 0;
    REFUSED(MPI_File_write_at(file, 0, &x, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&file));
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file), MPI_ERR_NO_SUCH_FILE);
    REFUSED(MPI_File_open(MPI_COMM_WORLD, "/no/such/folder/f", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
            MPI_ERR_NO_SUCH_FILE);
    REFUSED(MPI_File_close(&file), MPI_ERR_FILE);
}

enum { MANY = 5000 };

/* At explicit offsets: each rank its own part; what lies behind the end is short. */
static void explicit_offsets(void) {
    unsigned char *mine = need(MANY), *got = need(2 * MANY);
    MPI_Status status;
    MPI_Request request;
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset from = (MPI_Offset)rank * MANY;
    fill(mine, MANY, rank);
    OK(MPI_File_write_at(file, from, mine, MANY, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == MANY, "%d bytes", count_of(&status, MPI_BYTE));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int who = 0; who < size; who++) {
        OK(MPI_File_read_at(file, (MPI_Offset)who * MANY, got, MANY, MPI_BYTE, &status));
        CHECK(count_of(&status, MPI_BYTE) == MANY && differs(got, MANY, who) < 0, "part of %d", who);
    }
    OK(MPI_File_read_at(file, (MPI_Offset)size * MANY - 7, got, 100, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == 7, "%d bytes at the end", count_of(&status, MPI_BYTE));
    OK(MPI_File_read_at(file, (MPI_Offset)size * MANY + 7, got, 100, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == 0, "%d bytes behind the end", count_of(&status, MPI_BYTE));
    OK(MPI_File_iread_at(file, (MPI_Offset)((rank + 1) % size) * MANY, got, MANY, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_BYTE) == MANY && differs(got, MANY, (rank + 1) % size) < 0, "later");
    OK(MPI_File_iread_at(file, (MPI_Offset)size * MANY - 9, got, 100, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_BYTE) == 9, "%d bytes at the end", count_of(&status, MPI_BYTE));
    /* By all, with other parts, when nobody reads any more. */
    MPI_Barrier(MPI_COMM_WORLD);
    fill(mine, MANY, 100 + rank);
    OK(MPI_File_write_at_all(file, (MPI_Offset)(size - 1 - rank) * MANY, mine, MANY, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == MANY, "%d bytes", count_of(&status, MPI_BYTE));
    OK(MPI_File_read_at_all(file, from, got, MANY, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == MANY && differs(got, MANY, 100 + size - 1 - rank) < 0, "by all");
    OK(MPI_File_read_at_all(file, (MPI_Offset)size * MANY - 5 - rank, got, 50, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == 5 + rank, "%d bytes at the end", count_of(&status, MPI_BYTE));
    OK(MPI_File_iwrite_at_all(file, from, mine, MANY, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    OK(MPI_File_iread_at_all(file, from, got, MANY, MPI_BYTE, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_BYTE) == MANY && differs(got, MANY, 100 + rank) < 0, "by all, later");
    REFUSED(MPI_File_read_at(file, -1, got, 1, MPI_BYTE, &status), MPI_ERR_ARG);
    REFUSED(MPI_File_read_at(file, 0, got, -1, MPI_BYTE, &status), MPI_ERR_COUNT);
    REFUSED(MPI_File_read_at(file, 0, got, 1, MPI_DATATYPE_NULL, &status), MPI_ERR_TYPE);
    REFUSED(MPI_File_read_at(MPI_FILE_NULL, 0, got, 1, MPI_BYTE, &status), MPI_ERR_FILE);
    OK(MPI_File_close(&file));
    gone();
    free(mine), free(got);
}

/* Views of which each rank has every size-th group of ints. */
static void views(void) {
    enum { GROUP = 3, GROUPS = 400, INTS = GROUP * GROUPS };
    int *mine = need(sizeof(int) * INTS), *got = need(sizeof(int) * INTS * 2);
    MPI_Datatype group, tile, back;
    MPI_Offset at, position;
    MPI_Status status;
    MPI_Request request;
    char name[MPI_MAX_DATAREP_STRING];
    MPI_Type_contiguous(GROUP, MPI_INT, &group);
    MPI_Type_create_resized(group, 0, (MPI_Aint)sizeof(int) * GROUP * size, &tile);
    MPI_Type_commit(&tile);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Offset disp = 11 + (MPI_Offset)sizeof(int) * GROUP * rank;
    OK(MPI_File_set_view(file, disp, MPI_INT, tile, "native", MPI_INFO_NULL));
    OK(MPI_File_get_view(file, &at, &back, &group, name));
    CHECK(at == disp && back == MPI_INT && !strcmp(name, "native"), "another view");
    OK(MPI_File_get_byte_offset(file, GROUP + 1, &at));
    CHECK(at == disp + (MPI_Offset)sizeof(int) * (GROUP * size + 1), "%lld", (long long)at);
    for (int i = 0; i < INTS; i++) mine[i] = rank * 1000000 + i;
    OK(MPI_File_write(file, mine, INTS / 2, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == INTS / 2, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_get_position(file, &position));
    CHECK(position == INTS / 2, "%lld", (long long)position);
    OK(MPI_File_write_all(file, mine + INTS / 2, INTS / 2, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == INTS / 2, "%d", count_of(&status, MPI_INT));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read_all(file, got, INTS, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == INTS && !memcmp(got, mine, sizeof(int) * INTS), "read by all");
    OK(MPI_File_seek(file, -INTS, MPI_SEEK_CUR));
    memset(got, 0, sizeof(int) * INTS);
    OK(MPI_File_iread(file, got, INTS, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == INTS && !memcmp(got, mine, sizeof(int) * INTS), "read later");
    OK(MPI_File_seek(file, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(file, &position));
    CHECK(position == INTS, "the end is at %lld", (long long)position);
    OK(MPI_File_read(file, got, 10, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 0, "%d behind the end", count_of(&status, MPI_INT));
    OK(MPI_File_seek(file, 1, MPI_SEEK_SET));
    OK(MPI_File_read_all_begin(file, got, INTS, MPI_INT));
    REFUSED(MPI_File_read_all_begin(file, got, INTS, MPI_INT), MPI_ERR_IO);
    OK(MPI_File_read_all_end(file, got, &status));
    CHECK(count_of(&status, MPI_INT) == INTS - 1 && !memcmp(got, mine + 1, sizeof(int) * (INTS - 1)), "split");
    REFUSED(MPI_File_read_all_end(file, got, &status), MPI_ERR_IO);
    /* The file as bytes: every int at its place, nothing before. */
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_get_size(file, &at));
    CHECK(at == 11 + (MPI_Offset)sizeof(int) * INTS * size, "%lld bytes", (long long)at);
    for (int group = 0; group < GROUPS; group += 37)
        for (int who = 0; who < size; who++) {
            int three[GROUP];
            OK(MPI_File_read_at(file, 11 + (MPI_Offset)sizeof(int) * GROUP * ((MPI_Offset)group * size + who), three,
                                GROUP, MPI_INT, &status));
            for (int i = 0; i < GROUP; i++)
                CHECK(three[i] == who * 1000000 + group * GROUP + i, "group %d of %d: %d", group, who, three[i]);
        }
    if (size > 1)
        REFUSED(MPI_File_set_view(file, 0, rank ? MPI_INT : MPI_BYTE, rank ? MPI_INT : MPI_BYTE, "native", MPI_INFO_NULL),
                MPI_ERR_NOT_SAME);
    REFUSED(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "of nobody", MPI_INFO_NULL), MPI_ERR_UNSUPPORTED_DATAREP);
    REFUSED(MPI_File_set_view(file, -2, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    OK(MPI_File_close(&file));
    gone();
    MPI_Type_free(&tile);
    free(mine), free(got);
}

/* The shared pointer: alone each piece goes somewhere, once; ordered ones in the order of ranks. */
static void shared(void) {
    enum { TIMES = 50 };
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Request request;
    MPI_Offset position;
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    for (int i = 0; i < TIMES; i++) {
        int pair[2] = {rank + 1, i};
        if (i % 2) {
            OK(MPI_File_write_shared(file, pair, 2, MPI_INT, &status));
        } else {
            OK(MPI_File_iwrite_shared(file, pair, 2, MPI_INT, &request));
            OK(MPI_Wait(&request, &status));
        }
    }
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_position_shared(file, &position));
    CHECK(position == 2 * TIMES * size, "%lld", (long long)position);
    char *seen = calloc((size_t)size, TIMES);
    for (int i = 0; i < TIMES * size; i++) {
        int pair[2] = {0, 0};
        OK(MPI_File_read_at(file, 2 * i, pair, 2, MPI_INT, &status));
        CHECK(pair[0] >= 1 && pair[0] <= size && pair[1] >= 0 && pair[1] < TIMES, "%d %d", pair[0], pair[1]);
        CHECK(!seen[(pair[0] - 1) * TIMES + pair[1]]++, "twice %d %d", pair[0], pair[1]);
    }
    free(seen);
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int part[8];
    for (int i = 0; i <= rank % 8; i++) part[i] = rank * 100 + i;
    OK(MPI_File_write_ordered(file, part, rank % 8 + 1, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == rank % 8 + 1, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_write_ordered_begin(file, part, rank % 8 + 1, MPI_INT));
    OK(MPI_File_write_ordered_end(file, part, &status));
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    for (int turn = 0; turn < 2; turn++) {
        int got[8] = {0};
        OK(MPI_File_read_ordered(file, got, rank % 8 + 1, MPI_INT, &status));
        CHECK(!memcmp(got, part, sizeof(int) * (size_t)(rank % 8 + 1)), "turn %d: %d", turn, got[0]);
    }
    OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    int one;
    OK(MPI_File_read_shared(file, &one, 1, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 1, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_close(&file));
    gone();
}

/* Two files of one name at once, and one after the other: pointers do not meet. */
static void several(void) {
    char other[5000];
    MPI_File a = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR), b;
    MPI_Offset position;
    snprintf(other, sizeof other, "%s.b", path);
    OK(MPI_File_open(MPI_COMM_WORLD, other, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &b));
    OK(MPI_File_write_shared(a, "12345", 5, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_get_position_shared(b, &position));
    CHECK(position == 0, "%lld", (long long)position);
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_close(&a));
    for (int i = 0; i < 100; i++) {
        a = open_as(MPI_MODE_RDWR);
        OK(MPI_File_get_position_shared(a, &position));
        CHECK(position == 0, "open %d: %lld", i, (long long)position);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_write_shared(a, "1", 1, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&a));
    }
    a = open_as(MPI_MODE_RDWR | MPI_MODE_APPEND);
    OK(MPI_File_get_position(a, &position));
    CHECK(position >= 5, "append at %lld", (long long)position);
    OK(MPI_File_close(&a));
    OK(MPI_File_close(&b));
    gone();
}

static void atomic(void) {
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    int flag = 7, code = MPI_File_set_atomicity(file, 1);
    if (class_of(code) != MPI_ERR_UNSUPPORTED_OPERATION) {
        OK(code);
        OK(MPI_File_get_atomicity(file, &flag));
        CHECK(flag == 1, "%d", flag);
        /* Whole values are read, whatever is written. */
        unsigned char *all = need(100000);
        for (int turn = 0; turn < 10; turn++) {
            memset(all, rank + 1, 100000);
            OK(MPI_File_write_at(file, 0, all, 100000, MPI_BYTE, &status));
            OK(MPI_File_read_at(file, 0, all, 100000, MPI_BYTE, &status));
            for (int i = 1; i < 100000; i++) CHECK(all[i] == all[0], "byte %d: %d, not %d", i, all[i], all[0]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_write_at_all(file, rank, "x", 1, MPI_BYTE, &status));
        free(all);
    }
    OK(MPI_File_close(&file));
    gone();
}

/* external32 turns bytes round; longs are shorter. */
static void representations(void) {
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Aint extent;
    unsigned char bytes[8];
    int values[4] = {0x01020304 + rank, 2, 3, 4}, got[4];
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_LONG, &extent));
    CHECK(extent == 4, "%ld", (long)extent);
    OK(MPI_File_write_at_all(file, 4 * rank, values, 4, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 4, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_read_at(file, 4 * rank, got, 4, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 4 && !memcmp(got, values, sizeof got), "%x", got[0]);
    MPI_Request request;
    memset(got, 0, sizeof got);
    OK(MPI_File_iread_at(file, 4 * rank + 2, got, 2, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 2 && got[0] == 3 && got[1] == 4, "%d %d", got[0], got[1]);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 0, bytes, 8, MPI_BYTE, &status));
    CHECK(bytes[0] == 1 && bytes[3] == 4 && bytes[7] == 2, "%d %d %d", bytes[0], bytes[3], bytes[7]);
    OK(MPI_File_close(&file));
    gone();
}

/* A representation of the program's own: an int has 8 bytes in the file, its value with the last bit turned round in front. */
static int calls;
static int wide_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    CHECK(extra == &calls && type == MPI_INT, "another type");
    *extent = 8;
    return MPI_SUCCESS;
}
static int to_wide(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
    (void)type, (void)position;
    ++*(int *)extra;
    for (int i = 0; i < count; i++) ((int *)file)[2 * i] = ((int *)user)[i] ^ 1, ((int *)file)[2 * i + 1] = 77;
    return MPI_SUCCESS;
}
static int from_wide(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
    (void)type, (void)position;
    ++*(int *)extra;
    for (int i = 0; i < count; i++) ((int *)user)[i] = ((int *)file)[2 * i] ^ 1;
    return MPI_SUCCESS;
}

static void registered(void) {
    OK(MPI_Register_datarep("wide", from_wide, to_wide, wide_extent, &calls));
    REFUSED(MPI_Register_datarep("wide", from_wide, to_wide, wide_extent, &calls), MPI_ERR_DUP_DATAREP);
    REFUSED(MPI_Register_datarep("native", from_wide, to_wide, wide_extent, &calls), MPI_ERR_DUP_DATAREP);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Status status;
    MPI_Request request;
    MPI_Aint extent;
    MPI_Offset bytes;
    int values[4] = {rank, 10, 20, 30}, got[5] = {0}, raw[2];
    OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "wide", MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_INT, &extent));
    CHECK(extent == 8, "%ld", (long)extent);
    OK(MPI_File_write_at_all(file, 4 * rank, values, 4, MPI_INT, &status));
    CHECK(count_of(&status, MPI_INT) == 4, "%d", count_of(&status, MPI_INT));
    OK(MPI_File_iread_at(file, 4 * rank, got, 4, MPI_INT, &request));
    OK(MPI_Wait(&request, &status));
    CHECK(count_of(&status, MPI_INT) == 4 && !memcmp(got, values, sizeof values), "%d %d", got[0], got[1]);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == 32 * size && calls >= 2, "%lld bytes, %d calls", (long long)bytes, calls);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(file, 32 * rank + 8, raw, 8, MPI_BYTE, &status));
    CHECK(raw[0] == (10 ^ 1) && raw[1] == 77, "%d %d", raw[0], raw[1]);
    OK(MPI_File_close(&file));
    gone();
}

static int heard;
static void hear(MPI_File *file, int *code, ...) {
    (void)file, (void)code;
    heard++;
}

static void handlers(void) {
    MPI_Errhandler handler, back;
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    MPI_File_create_errhandler(hear, &handler);
    MPI_File_get_errhandler(file, &back);
    CHECK(back == MPI_ERRORS_RETURN, "another handler");
    OK(MPI_File_set_errhandler(file, handler));
    REFUSED(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    CHECK(heard == 1, "heard %d times", heard);
    MPI_Errhandler_free(&handler);
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL];
    int there;
    OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "cb_buffer_size", MPI_MAX_INFO_VAL - 1, text, &there);
    CHECK(there && atol(text) > 0, "no cb_buffer_size");
    MPI_Info_free(&info);
    CHECK(MPI_File_f2c(MPI_File_c2f(file)) == file, "another handle");
    OK(MPI_File_close(&file));
}

/* A structure of a block and a subarray behind it has the subarray's bounds: its extent is less than where its data ends. Libraries access one element of such filetypes. */
static void small_extents(void) {
    enum { HEAD = 8, TAIL = 4, ALL = HEAD + TAIL, BEHIND = 1000 };
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    int sizes = size * TAIL, sub = TAIL, start = rank * TAIL, lens[] = {HEAD, 1};
    MPI_Aint lb, extent, disps[] = {(MPI_Aint)rank * HEAD, BEHIND};
    MPI_Datatype types[] = {MPI_BYTE, MPI_DATATYPE_NULL}, filetype;
    MPI_Offset where;
    MPI_Status status;
    unsigned char mine[ALL + 1], got[ALL + 1] = {0};
    MPI_Type_create_subarray(1, &sizes, &sub, &start, MPI_ORDER_C, MPI_BYTE, &types[1]);
    MPI_Type_create_struct(2, lens, disps, types, &filetype);
    MPI_Type_commit(&filetype);
    MPI_Type_get_extent(filetype, &lb, &extent);
    CHECK(lb == BEHIND && extent == sizes, "bound %ld, extent %ld", (long)lb, (long)extent);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    fill(mine, sizeof mine, rank);
    OK(MPI_File_write_at_all(file, 0, mine, ALL, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == ALL, "%d bytes", count_of(&status, MPI_BYTE));
    OK(MPI_File_get_byte_offset(file, HEAD, &where));
    CHECK(where == BEHIND + start, "byte %lld", (long long)where);
    OK(MPI_File_read_at(file, 0, got, ALL, MPI_BYTE, &status));
    CHECK(count_of(&status, MPI_BYTE) == ALL && !memcmp(got, mine, ALL), "other data");
    /* Behind that element there is nothing. */
    REFUSED(MPI_File_read_at(file, 0, got, ALL + 1, MPI_BYTE, &status), MPI_ERR_IO);
    REFUSED(MPI_File_write_at_all(file, ALL, mine, 1, MPI_BYTE, &status), MPI_ERR_IO);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    memset(got, 0, sizeof got);
    OK(MPI_File_read_at_all(file, (MPI_Offset)rank * HEAD, got, HEAD, MPI_BYTE, &status));
    OK(MPI_File_read_at_all(file, BEHIND + start, got + HEAD, TAIL, MPI_BYTE, &status));
    CHECK(!memcmp(got, mine, ALL), "other data");
    OK(MPI_File_close(&file));
    MPI_Type_free(&types[1]), MPI_Type_free(&filetype);
    gone();
}

/* Each rank removes the file before it opens it, and some are late: no rank makes it before all have come. */
static void removed_before(void) {
    for (int i = 0; i < 5; i++) {
        MPI_Offset bytes;
        MPI_File file;
        if (rank > 0) usleep(3000);
        unlink(path);
        file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
        OK(MPI_File_get_size(file, &bytes));
        CHECK(bytes == 0, "%lld bytes of a new file", (long long)bytes);
        MPI_Barrier(MPI_COMM_WORLD);
        OK(MPI_File_write_at(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE));
        OK(MPI_File_close(&file));
    }
    gone();
    /* Arguments that cannot be in one rank leave no file. */
    MPI_File file;
    if (size > 1) {
        int amode = MPI_MODE_CREATE | (rank ? MPI_MODE_WRONLY : MPI_MODE_RDWR);
        REFUSED(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file), MPI_ERR_NOT_SAME);
        CHECK(access(path, F_OK) != 0, "a file");
        MPI_Barrier(MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/files", argv[1]);
    opening();
    explicit_offsets();
    views();
    small_extents();
    removed_before();
    shared();
    several();
    atomic();
    representations();
    registered();
    handlers();
    return end();
}
