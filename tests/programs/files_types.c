/* Types in files of other representations: elements that change their sizes in different ways, and every constructor.
   Argument: a folder that all ranks see. */
#include "files.h"
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int number;
    long far;
    double real;
} Record;

enum { RECORDS = 7 };

static MPI_Datatype record_at(MPI_Aint far, MPI_Aint real, MPI_Aint extent) {
    int lengths[3] = {1, 1, 1};
    MPI_Aint places[3] = {0, far, real};
    MPI_Datatype types[3] = {MPI_INT, MPI_LONG, MPI_DOUBLE}, record, sized;
    MPI_Type_create_struct(3, lengths, places, types, &record);
    MPI_Type_create_resized(record, 0, extent, &sized);
    MPI_Type_commit(&sized);
    MPI_Type_free(&record);
    return sized;
}

static Record record_of(int who, int i) {
    return (Record){who * 1000 + i, -(who * 77L + i), who + i / 8.0};
}

/* Records of all ranks in turn, written in a representation and read back; `bytes`: of a record in the file. */
static MPI_File records(const char *datarep, long bytes) {
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    MPI_Aint of_int, of_long, of_double;
    MPI_Status status;
    MPI_Request request;
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, datarep, MPI_INFO_NULL));
    OK(MPI_File_get_type_extent(file, MPI_INT, &of_int));
    OK(MPI_File_get_type_extent(file, MPI_LONG, &of_long));
    OK(MPI_File_get_type_extent(file, MPI_DOUBLE, &of_double));
    CHECK(of_int + of_long + of_double == bytes, "%ld %ld %ld", (long)of_int, (long)of_long, (long)of_double);
    MPI_Datatype etype = record_at(of_int, of_int + of_long, bytes), turns = record_at(of_int, of_int + of_long, bytes * size);
    MPI_Datatype here = record_at(offsetof(Record, far), offsetof(Record, real), sizeof(Record));
    Record mine[RECORDS], got[RECORDS];
    OK(MPI_File_set_view(file, rank * bytes, etype, turns, datarep, MPI_INFO_NULL));
    for (int i = 0; i < RECORDS; i++) mine[i] = record_of(rank, i);
    OK(MPI_File_write_all(file, mine, RECORDS, here, &status));
    CHECK(count_of(&status, here) == RECORDS, "%d", count_of(&status, here));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    for (int way = 0; way < 3; way++) {
        memset(got, 0, sizeof got);
        if (way == 0) OK(MPI_File_read_at_all(file, 0, got, RECORDS, here, &status));
        if (way == 1) OK(MPI_File_read_at(file, 0, got, RECORDS, here, &status));
        if (way == 2) {
            OK(MPI_File_iread_at(file, 0, got, RECORDS, here, &request));
            OK(MPI_Wait(&request, &status));
        }
        CHECK(count_of(&status, here) == RECORDS, "%d", count_of(&status, here));
        for (int i = 0; i < RECORDS; i++)
            CHECK(got[i].number == mine[i].number && got[i].far == mine[i].far && got[i].real == mine[i].real, "record %d", i);
    }
    OK(MPI_File_read_at(file, RECORDS - 2, got, RECORDS, here, &status));
    CHECK(count_of(&status, here) == 2 && got[1].far == mine[RECORDS - 1].far, "%d at the end", count_of(&status, here));
    MPI_Type_free(&etype), MPI_Type_free(&turns), MPI_Type_free(&here);
    MPI_Offset length;
    OK(MPI_File_get_size(file, &length));
    CHECK(length == bytes * RECORDS * size, "%lld bytes", (long long)length);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    return file;
}

static uint64_t big_endian(const unsigned char *at, int bytes) {
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
    return value;
}

/* An int and a double keep their sizes, a long is halved. */
static void external32(void) {
    MPI_File file = records("external32", 4 + 4 + 8);
    unsigned char raw[16];
    for (int i = 0; i < RECORDS; i++)
        for (int who = 0; who < size; who++) {
            Record due = record_of(who, i);
            uint64_t real;
            memcpy(&real, &due.real, 8);
            OK(MPI_File_read_at(file, 16L * (i * size + who), raw, 16, MPI_BYTE, MPI_STATUS_IGNORE));
            CHECK((int)big_endian(raw, 4) == due.number, "record %d of %d", i, who);
            CHECK((int)big_endian(raw + 4, 4) == (int)due.far, "record %d of %d", i, who);
            CHECK(big_endian(raw + 8, 8) == real, "record %d of %d", i, who);
        }
    OK(MPI_File_close(&file));
    gone();
}

/* A representation of the program's: an int is 2 bytes less than a long, which has 10; a double has 8. */
static int calls;
static int mixed_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    CHECK(extra == &calls, "other state");
    *extent = type == MPI_INT ? 6 : type == MPI_LONG ? 10 : type == MPI_DOUBLE ? 8 : type == MPI_BYTE ? 1 : 0;
    CHECK(*extent > 0, "another type");
    return MPI_SUCCESS;
}
static int to_mixed(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
    (void)type, (void)position, ++*(int *)extra;
    for (int i = 0; i < count; i++) {
        Record *record = (Record *)user + i;
        unsigned char *at = (unsigned char *)file + 24 * i;
        memcpy(at, &record->number, 4), memcpy(at + 4, "ii", 2);
        memcpy(at + 6, &record->far, 8), memcpy(at + 14, "ll", 2);
        memcpy(at + 16, &record->real, 8);
    }
    return MPI_SUCCESS;
}
static int from_mixed(void *user, MPI_Datatype type, int count, void *file, MPI_Offset position, void *extra) {
    (void)type, (void)position, ++*(int *)extra;
    for (int i = 0; i < count; i++) {
        Record *record = (Record *)user + i;
        unsigned char *at = (unsigned char *)file + 24 * i;
        if (memcmp(at + 4, "ii", 2) || memcmp(at + 14, "ll", 2)) return MPI_ERR_CONVERSION;
        memcpy(&record->number, at, 4), memcpy(&record->far, at + 6, 8), memcpy(&record->real, at + 16, 8);
    }
    return MPI_SUCCESS;
}

static void registered(void) {
    OK(MPI_Register_datarep("mixed", from_mixed, to_mixed, mixed_extent, &calls));
    MPI_File file = records("mixed", 24);
    CHECK(calls >= 4, "%d calls", calls);
    char raw[24];
    OK(MPI_File_read_at(file, 24L * (size + rank), raw, 24, MPI_BYTE, MPI_STATUS_IGNORE));
    Record due = record_of(rank, 1);
    CHECK(!memcmp(raw, &due.number, 4) && !memcmp(raw + 4, "ii", 2) && !memcmp(raw + 6, &due.far, 8), "another record");
    OK(MPI_File_close(&file));
    gone();
}

/* Each constructor makes of ints of 8 bytes what it would of any type of 8 bytes; byte displacements stay. */
static int wide_extent(MPI_Datatype type, MPI_Aint *extent, void *extra) {
    (void)extra;
    *extent = type == MPI_INT ? 8 : type == MPI_BYTE ? 1 : -1;
    return MPI_SUCCESS;
}

static MPI_File wide;
static void extent_is(MPI_Datatype type, MPI_Aint due, int line) {
    MPI_Aint extent;
    MPI_Count large;
    OK(MPI_File_get_type_extent(wide, type, &extent));
    OK(MPI_File_get_type_extent_c(wide, type, &large));
    CHECK(extent == due && large == due, "line %d: %ld instead of %ld", line, (long)extent, (long)due);
    MPI_Type_free(&type);
}
#define EXTENT(due, ...) (MPI_Type_##__VA_ARGS__, extent_is(type, due, __LINE__))

static void constructors(void) {
    MPI_Datatype type, pairs[2] = {MPI_INT, MPI_INT}, other;
    int lengths[2] = {1, 2}, places[2] = {0, 5}, one_four[2] = {1, 4}, sizes[2] = {4, 6}, parts[2] = {2, 3}, starts[2] = {1, 2};
    int distribs[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, 2}, grid[2] = {2, 1};
    MPI_Aint bytes[2] = {0, 50}, far[2] = {8, 40};
    MPI_Count many[2] = {1, 2}, at[2] = {0, 5}, all[2] = {4, 6}, some[2] = {2, 3}, from[2] = {1, 2}, far_c[2] = {0, 50};
    OK(MPI_Register_datarep("wide ints", MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, wide_extent, NULL));
    wide = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    OK(MPI_File_set_view(wide, 0, MPI_INT, MPI_INT, "wide ints", MPI_INFO_NULL));
    EXTENT(40, contiguous(5, MPI_INT, &type));
    EXTENT(40, contiguous_c(5, MPI_INT, &type));
    EXTENT(80, vector(3, 2, 4, MPI_INT, &type));
    EXTENT(80, vector_c(3, 2, 4, MPI_INT, &type));
    EXTENT(208, create_hvector(3, 1, 100, MPI_INT, &type));
    EXTENT(208, create_hvector_c(3, 1, 100, MPI_INT, &type));
    EXTENT(56, indexed(2, lengths, places, MPI_INT, &type));
    EXTENT(56, indexed_c(2, many, at, MPI_INT, &type));
    EXTENT(66, create_hindexed(2, lengths, bytes, MPI_INT, &type));
    EXTENT(66, create_hindexed_c(2, many, far_c, MPI_INT, &type));
    EXTENT(40, create_indexed_block(2, 2, one_four, MPI_INT, &type));
    EXTENT(48, create_hindexed_block(2, 2, far, MPI_INT, &type));
    EXTENT(66, create_struct(2, lengths, bytes, pairs, &type));
    EXTENT(66, create_struct_c(2, many, far_c, pairs, &type));
    EXTENT(192, create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type));
    EXTENT(192, create_subarray_c(2, all, some, from, MPI_ORDER_FORTRAN, MPI_INT, &type));
    EXTENT(192, create_darray(2, 1, 2, sizes, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &type));
    EXTENT(192, create_darray_c(2, 1, 2, all, distribs, dargs, grid, MPI_ORDER_C, MPI_INT, &type));
    EXTENT(100, create_resized(MPI_INT, 0, 100, &type));
    MPI_Type_vector(3, 2, 4, MPI_INT, &other);
    EXTENT(80, dup(other, &type));
    EXTENT(240, contiguous(3, other, &type));
    MPI_Type_free(&other);
    MPI_Aint extent;
    REFUSED(MPI_File_get_type_extent(wide, MPI_FLOAT, &extent), MPI_ERR_CONVERSION);
    OK(MPI_File_close(&wide));
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/types", argv[1]);
    external32();
    registered();
    constructors();
    return end();
}
