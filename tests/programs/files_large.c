/* Counts and offsets beyond what an int has. Argument: a folder. */
#include "files.h"

enum { PART = 1 << 20, PARTS = 2050 };

int main(int argc, char **argv) {
    const MPI_Offset far = (MPI_Offset)5 << 30, last = (MPI_Offset)PART * PARTS;
    MPI_Offset bytes;
    MPI_Count counted, elements;
    MPI_Status status;
    MPI_Request request;
    MPI_Datatype again;
    int word = 0, count;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/large", argv[1]);
    MPI_File file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
    /* One piece of memory, written again and again. */
    unsigned char *part = need(PART), *got = need(PART);
    fill(part, PART, 7);
    MPI_Type_create_hvector_c(PARTS, PART, 0, MPI_BYTE, &again);
    MPI_Type_commit(&again);
    if (rank == 0) {
        OK(MPI_File_write_at_c(file, 0, part, 1, again, &status));
        MPI_Get_elements_c(&status, MPI_BYTE, &elements);
        MPI_Get_count(&status, MPI_BYTE, &count);
        MPI_Get_count_c(&status, MPI_BYTE, &counted);
        CHECK(elements == last && counted == last && count == MPI_UNDEFINED, "%lld elements", (long long)elements);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == last, "%lld bytes", (long long)bytes);
    for (int at = rank; at < PARTS; at += 500 + rank) {
        OK(MPI_File_iread_at_c(file, (MPI_Offset)at * PART, got, PART, MPI_BYTE, &request));
        OK(MPI_Wait(&request, &status));
        CHECK(differs(got, PART, 7) < 0, "part %d", at);
    }
    MPI_Type_free(&again);
    /* A sparse file: a view that begins beyond 4 GiB, and a collective access of pieces 1 GiB apart. */
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_set_size(file, 0));
    MPI_Datatype apart;
    MPI_Type_create_resized(MPI_INT, 0, 1 << 30, &apart);
    MPI_Type_commit(&apart);
    OK(MPI_File_set_view(file, far + 4 * rank, MPI_INT, apart, "native", MPI_INFO_NULL));
    int values[5];
    for (int i = 0; i < 5; i++) values[i] = rank * 100 + i;
    OK(MPI_File_write_at_all_c(file, 0, values, 5, MPI_INT, &status));
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_get_size(file, &bytes));
    CHECK(bytes == far + 4 * ((MPI_Offset)1 << 30) + 4 * size, "%lld bytes", (long long)bytes);
    OK(MPI_File_get_byte_offset(file, 3, &bytes));
    CHECK(bytes == far + 4 * rank + 3 * ((MPI_Offset)1 << 30), "%lld", (long long)bytes);
    OK(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    for (int who = 0; who < size; who++)
        for (int i = 0; i < 5; i++) {
            OK(MPI_File_read_at(file, far + i * ((MPI_Offset)1 << 30) + 4 * who, &word, 1, MPI_INT, &status));
            CHECK(word == who * 100 + i, "%d of %d: %d", i, who, word);
        }
    OK(MPI_File_read_at(file, far + (1 << 20), &word, 1, MPI_INT, &status));
    CHECK(word == 0, "a hole has %d", word);
    MPI_Type_free(&apart);
    free(part), free(got);
    OK(MPI_File_close(&file));
    return end();
}
