/* Operations that come again and again allocate nothing: nonblocking and blocking messages, persistent and partitioned operations, both
 * ways, contiguous, with gaps, and in long pieces.
 * The program counts calls of the allocator, its own and the library's. */
#include "check.h"

static volatile long calls;

#ifdef __GLIBC__
/* Names of the C library's own entry points behind those that a program may replace. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t), *__libc_memalign(size_t, size_t);
void *malloc(size_t n) { calls++; return __libc_malloc(n); }
void *calloc(size_t n, size_t size) { calls++; return __libc_calloc(n, size); }
void *realloc(void *old, size_t n) { calls++; return __libc_realloc(old, n); }
void *memalign(size_t align, size_t n) { calls++; return __libc_memalign(align, n); }
void *aligned_alloc(size_t align, size_t n) { calls++; return __libc_memalign(align, n); }
int posix_memalign(void **out, size_t align, size_t n) {
    calls++;
    *out = __libc_memalign(align, n);
    return *out ? 0 : 12;
}
#endif

enum { PARTS = 16, MOST = 1 << 20 };

static int rank, size, peer;
static char *out, *in;
static MPI_Request many[8];

static void look(const char *what, long bytes, MPI_Request *requests, int partitioned) {
    long before = 0;
    for (int round = 0; round < 60; round++) {
        /* The first rounds may make what is kept from then on. */
        if (round == 30) before = calls;
        /* Nobody sends before the other receives: a message that waits is kept in memory of its own. */
        MPI_Start(&requests[0]);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Start(&requests[1]);
        if (partitioned) {
            int flag;
            for (int i = 0; i < PARTS; i += 2) MPI_Pready(i, requests[1]);
            for (int i = 1; i < PARTS; i += 2) MPI_Pready_range(i, i, requests[1]);
            MPI_Parrived(requests[0], 3, &flag);
        }
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    /* Lists and pools grow to the most that was ever under way at once, which a late rank may raise once more. */
    long made = calls - before;
    CHECK(made < 10, "%s, %ld bytes: %ld allocations in 30 starts", what, bytes, made);
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}

/* The same without requests that stay. Pools may still grow when more comes at once than ever before, so one quiet stretch
 * is asked for: what allocates for each message has none. */
static void look_at_calls(const char *kind, long bytes, int count, MPI_Datatype type) {
    for (int way = 0; way < 4; way++) {
        long before = calls, least = -1;
        for (int round = 1; round <= 80; round++) {
            MPI_Request requests[2];
            MPI_Barrier(MPI_COMM_WORLD);
            switch (way) {
            case 0: /* Posted first. */
                MPI_Irecv(in, count, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Isend(out, count, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
                break;
            case 1: /* There and back. */
                if (rank % 2 == 0) MPI_Send(out, count, type, peer, 1, MPI_COMM_WORLD);
                MPI_Recv(in, count, type, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                if (rank % 2 == 1) MPI_Send(out, count, type, peer, 1, MPI_COMM_WORLD);
                break;
            case 2:
                MPI_Irecv(in, count, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
                MPI_Barrier(MPI_COMM_WORLD);
                MPI_Ssend(out, count, type, peer, 1, MPI_COMM_WORLD);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                break;
            default: /* Several at once, in a row. */
                for (int k = 0; k < 8; k++) {
                    if (rank % 2) MPI_Irecv(in, count, type, peer, k, MPI_COMM_WORLD, &many[k]);
                }
                MPI_Barrier(MPI_COMM_WORLD);
                for (int k = 0; k < 8; k++) {
                    if (rank % 2 == 0) MPI_Isend(out, count, type, peer, k, MPI_COMM_WORLD, &many[k]);
                }
                MPI_Waitall(8, many, MPI_STATUSES_IGNORE);
                break;
            }
            if (round % 20 == 0) {
                if (least < 0 || calls - before < least) least = calls - before;
                before = calls;
            }
        }
        CHECK(least == 0, "way %d, %s, %ld bytes: at least %ld allocations in 20 rounds", way, kind, bytes, least);
    }
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    peer = rank ^ 1;
    out = need(2 * MOST), in = need(2 * MOST);
    memset(out, 1, 2 * MOST);
    static const long lengths[] = {16, 256, 1024, 4096, 20480, 65536, 262144, MOST};
    for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        long bytes = lengths[l];
        for (int gaps = 0; gaps < 2; gaps++) {
            MPI_Datatype type;
            MPI_Request requests[2];
            MPI_Type_create_resized(MPI_BYTE, 0, 1 + gaps, &type);
            MPI_Type_commit(&type);
            look_at_calls(gaps ? "with gaps" : "contiguous", bytes, (int)bytes, type);
            MPI_Recv_init(in, (int)bytes, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Send_init(out, (int)bytes, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
            look("MPI_Send_init", bytes, requests, 0);
            MPI_Recv_init(in, (int)bytes, type, peer, 1, MPI_COMM_WORLD, &requests[0]);
            MPI_Ssend_init(out, (int)bytes, type, peer, 1, MPI_COMM_WORLD, &requests[1]);
            look("MPI_Ssend_init", bytes, requests, 0);
            MPI_Precv_init(in, PARTS, bytes / PARTS, type, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            MPI_Psend_init(out, PARTS, bytes / PARTS, type, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
            look("MPI_Psend_init", bytes, requests, 1);
            MPI_Precv_init(in, PARTS / 2, 2 * (bytes / PARTS), type, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
            MPI_Psend_init(out, PARTS, bytes / PARTS, type, peer, 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
            look("MPI_Psend_init, half as many received", bytes, requests, 1);
            MPI_Type_free(&type);
        }
    }
    for (int pieces = 4; pieces <= 64; pieces *= 4) {
        MPI_Datatype type;
        MPI_Type_vector(pieces, 8192, 16384, MPI_BYTE, &type);
        MPI_Type_commit(&type);
        look_at_calls("in long pieces", pieces * 8192L, 1, type);
        MPI_Type_free(&type);
    }
    free(out);
    free(in);
    return end();
}
