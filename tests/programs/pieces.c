/* Large messages between layouts of all kinds, from the even ranks to the odd ones: blocks of one or of many
 * lengths, planes of an array, contiguous ones. Every byte of both buffers is looked at. */
#include "check.h"
#include <stdint.h>

#define MOST 60000

static uint64_t state;
static long below(long n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (long)((state >> 33) % (uint64_t)n);
}

/* Where the data of one side lies, in order, written down twice: as a list and as a datatype. */
struct layout {
    int blocks;
    MPI_Aint *at, *length, extent;
    MPI_Datatype type;
};

static void block(struct layout *l, MPI_Aint at, MPI_Aint length) {
    if (length == 0) return;
    l->at[l->blocks] = at;
    l->length[l->blocks++] = length;
    if (at + length > l->extent) l->extent = at + length;
}

static long some_length(int kind) { return kind == 0 ? 1 + below(300) : kind == 1 ? 1000 + below(7000) : 1 + below(20000); }

static void by_list(struct layout *l) {
    int *lengths = need(sizeof(int) * (size_t)(l->blocks + 1));
    for (int i = 0; i < l->blocks; i++) lengths[i] = (int)l->length[i];
    MPI_Type_create_hindexed(l->blocks, lengths, l->at, MPI_BYTE, &l->type);
    free(lengths);
}

/* A layout of `total` bytes. */
static void make(struct layout *l, long total) {
    int kind = (int)below(3), shape = (int)below(4);
    long length = some_length(kind), gap = below(4000), left = total;
    if (shape != 3 && total / length >= MOST / 2) length = total / (MOST / 2) + 1;
    l->blocks = 0;
    l->extent = 0;
    l->at = need(MOST * sizeof(MPI_Aint));
    l->length = need(MOST * sizeof(MPI_Aint));
    if (shape == 0) { /* contiguous, somewhere in the buffer */
        block(l, below(2) * gap, total);
        by_list(l);
    } else if (shape == 1) { /* a vector and a rest */
        MPI_Aint at = 0;
        for (; left >= length; left -= length, at += length + gap) block(l, at, length);
        int whole = l->blocks;
        block(l, at, left);
        MPI_Datatype vector;
        MPI_Type_create_hvector(whole, (int)length, length + gap, MPI_BYTE, &vector);
        int counts[2] = {1, (int)left};
        MPI_Aint places[2] = {0, at};
        MPI_Datatype types[2] = {vector, MPI_BYTE};
        MPI_Type_create_struct(2, counts, places, types, &l->type);
        MPI_Type_free(&vector);
    } else if (shape == 2) { /* planes of rows and a rest */
        long rows = 1 + below(9), plane = rows * (length + gap) + below(3000), planes = 0;
        MPI_Aint at = 0;
        for (; left >= rows * length; planes++, at += plane)
            for (long r = 0; r < rows; r++, left -= length) block(l, at + r * (length + gap), length);
        while (left > 0) {
            long n = left < length ? left : length;
            block(l, at, n);
            left -= n;
            at += n + gap;
        }
        by_list(l);
    } else { /* every block another */
        MPI_Aint at = below(100);
        while (left > 0) {
            long n = l->blocks > MOST / 2 ? left : some_length(kind);
            if (n > left) n = left;
            block(l, at, n);
            left -= n;
            at += n + below(3) * below(3000);
        }
        by_list(l);
    }
    MPI_Type_commit(&l->type);
}

static void drop(struct layout *l) {
    MPI_Type_free(&l->type);
    free(l->at);
    free(l->length);
}

int main(int argc, char **argv) {
    int rank, size, rounds = argc > 1 ? atoi(argv[1]) : 60;
    begin(&argc, &argv, &rank, &size);
    for (int round = 0; round < rounds; round++) {
        /* Both sides draw both layouts. */
        state = (uint64_t)round * 977 + 13;
        long total = 1 + below(round % 3 == 0 ? 3000000 : 200000), room = round % 5 == 4 ? total + below(5000) : total;
        int late = (int)below(2), peer = rank ^ 1;
        struct layout from, to;
        make(&from, total);
        make(&to, room);
        if (peer < size) {
            struct layout *mine = rank % 2 == 0 ? &from : &to;
            unsigned char *buffer = need((size_t)mine->extent + 1);
            memset(buffer, 0xA5, (size_t)mine->extent + 1);
            long place = 0;
            if (rank % 2 == 0) {
                for (int b = 0; b < from.blocks; b++)
                    for (MPI_Aint i = 0; i < from.length[b]; i++) buffer[from.at[b] + i] = byte_of(round, place++);
                if (late) MPI_Recv(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(buffer, 1, from.type, peer, 7, MPI_COMM_WORLD);
            } else {
                MPI_Request request;
                MPI_Status status;
                int got;
                if (late) {
                    MPI_Irecv(buffer, 1, to.type, peer, 7, MPI_COMM_WORLD, &request);
                    MPI_Send(NULL, 0, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
                    MPI_Wait(&request, &status);
                } else {
                    MPI_Recv(buffer, 1, to.type, peer, 7, MPI_COMM_WORLD, &status);
                }
                MPI_Get_elements(&status, to.type, &got);
                CHECK(got == total, "round %d: %d bytes instead of %ld", round, got, total);
                unsigned char *expected = need((size_t)to.extent + 1);
                memset(expected, 0xA5, (size_t)to.extent + 1);
                for (int b = 0; b < to.blocks; b++)
                    for (MPI_Aint i = 0; i < to.length[b] && place < total; i++)
                        expected[to.at[b] + i] = byte_of(round, place++);
                CHECK(memcmp(buffer, expected, (size_t)to.extent + 1) == 0, "round %d: bytes are wrong", round);
                free(expected);
            }
            free(buffer);
        }
        drop(&from);
        drop(&to);
    }
    return end();
}
