/* More than 2^31 bytes and elements in one message. Alone: a type that lays a mebibyte on itself many
   times, which takes no memory. With the argument "memory": a buffer of that length, too. */
#include "check.h"

#define LONG (((MPI_Count)1 << 31) + 17)
enum { BLOCK = 1 << 20, BLOCKS = 2049 };

static int rank, size;

static void counted(const MPI_Status *status, MPI_Count bytes) {
    MPI_Count count = 0;
    int small = 0;
    MPI_Get_count_c(status, MPI_BYTE, &count);
    CHECK(count == bytes, "%lld bytes came", (long long)count);
    MPI_Get_count(status, MPI_BYTE, &small);
    CHECK(small == MPI_UNDEFINED, "an int cannot say %lld, it said %d", (long long)count, small);
    MPI_Get_elements_c(status, MPI_BYTE, &count);
    CHECK(count == bytes, "%lld elements came", (long long)count);
}

static void folded(void) {
    MPI_Datatype block, type;
    MPI_Status status;
    char *data = need(BLOCK);
    MPI_Type_contiguous(BLOCK, MPI_BYTE, &block);
    MPI_Type_create_resized(block, 0, 0, &type);
    MPI_Type_commit(&type);
    if (rank == 0) {
        fill(data, BLOCK, 1);
        MPI_Send_c(data, BLOCKS, type, 1, 1, MPI_COMM_WORLD);
    } else {
        memset(data, 0, BLOCK);
        MPI_Recv_c(data, BLOCKS, type, 0, 1, MPI_COMM_WORLD, &status);
        CHECK(differs(data, BLOCK, 1) < 0, "the data is wrong");
        counted(&status, (MPI_Count)BLOCK * BLOCKS);
    }
    MPI_Type_free(&block);
    MPI_Type_free(&type);
    free(data);
}

static void flat(void) {
    char *data = calloc(LONG, 1);
    MPI_Request request;
    MPI_Status status;
    CHECK(data != NULL, "no memory");
    if (rank == 0) {
        for (MPI_Count at = 0; at < LONG; at += BLOCK) data[at] = (char)(at / BLOCK % 251 + 1);
        data[LONG - 1] = 'e';
        MPI_Isend_c(data, LONG, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    } else {
        MPI_Probe(0, 2, MPI_COMM_WORLD, &status);
        counted(&status, LONG);
        MPI_Irecv_c(data, LONG, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &request);
        MPI_Wait(&request, &status);
        counted(&status, LONG);
        for (MPI_Count at = 0; at < LONG - 1; at += BLOCK)
            CHECK(data[at] == (char)(at / BLOCK % 251 + 1) && data[at + 1] == 0, "byte %lld", (long long)at);
        CHECK(data[LONG - 1] == 'e', "the last byte is %d", data[LONG - 1]);
    }
    free(data);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "needs two ranks");
    if (argc > 1) flat(); else folded();
    return end();
}
