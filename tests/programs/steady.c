/* What is set up once allocates nothing per start: persistent and partitioned operations, both ways, contiguous or not.
 * The program counts calls of the allocator, its own and the library's. */
#include "check.h"

static volatile long calls;

#ifdef __GLIBC__
/* What the C library's own entry points are called behind those that a program may replace. */
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

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    peer = rank ^ 1;
    out = need(2 * MOST), in = need(2 * MOST);
    memset(out, 1, 2 * MOST);
    static const long lengths[] = {16, 4096, 65536, MOST};
    for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        long bytes = lengths[l];
        for (int gaps = 0; gaps < 2; gaps++) {
            MPI_Datatype type;
            MPI_Request requests[2];
            MPI_Type_create_resized(MPI_BYTE, 0, 1 + gaps, &type);
            MPI_Type_commit(&type);
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
    free(out);
    free(in);
    return end();
}
