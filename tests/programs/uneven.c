/* Where a library of this kind has gone wrong before: processes that ask for different numbers of endpoints, and for none; thousands of
 * operations under way on one endpoint; long reductions of any type; memory of MPI_Alloc_mem, with and without proxies. Argument: proxies
 * of each process, 0 if there are none. Linked with liboxmpi_ep.so. */
#include "check.h"

#include <mpi-ext.h>

enum { MOST = 8, MANY = 3000, LONG = 5000 };

static int rank, size, most;

static int asks(int process) { return (process + 1) % (most + 1); }

/* Ranks follow those of the parent, whatever each process asks for; and endpoints of such endpoints. */
static void uneven(void) {
    MPI_Comm ep[MOST], again[MOST];
    MPI_Request requests[3 * MOST];
    int mine = asks(rank), before = 0, all = 0, r, n, in[MOST], out[MOST], sum[MOST];
    for (int i = 0; i < size; i++) all += asks(i), before += i < rank ? asks(i) : 0;
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, ep) == MPI_SUCCESS, "%d endpoints", mine);
    for (int i = 0; i < mine; i++) {
        MPI_Comm_rank(ep[i], &r), MPI_Comm_size(ep[i], &n);
        CHECK(r == before + i && n == all, "rank %d of %d, not %d of %d", r, n, before + i, all);
        out[i] = r;
        MPI_Irecv(&in[i], 1, MPI_INT, (r + n - 1) % n, 1, ep[i], &requests[3 * i]);
        MPI_Isend(&out[i], 1, MPI_INT, (r + 1) % n, 1, ep[i], &requests[3 * i + 1]);
        MPI_Iallreduce(&out[i], &sum[i], 1, MPI_INT, MPI_SUM, ep[i], &requests[3 * i + 2]);
    }
    MPI_Waitall(3 * mine, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < mine; i++) CHECK(in[i] == (out[i] + all - 1) % all && sum[i] == all * (all - 1) / 2, "%d %d", in[i], sum[i]);
    /* Only a process with one endpoint can call for all its ranks at once. */
    if (most == 1 && mine) {
        CHECK(MPIX_Comm_create_endpoints(ep[0], 1, MPI_INFO_NULL, again) == MPI_SUCCESS, "endpoints of endpoints");
        MPI_Comm_rank(again[0], &r);
        CHECK(r == out[0], "rank %d", r);
        MPI_Comm_free(&again[0]);
    }
    for (int i = 0; i < mine; i++) MPI_Comm_free(&ep[i]);
}

/* More than any queue holds, answered from the last to the first. */
static void many(MPI_Comm comm) {
    static MPI_Request requests[2 * MANY];
    static int in[MANY], out[MANY];
    int r, n;
    MPI_Comm_rank(comm, &r), MPI_Comm_size(comm, &n);
    for (int i = 0; i < MANY; i++) MPI_Irecv(&in[i], 1, MPI_INT, (r + n - 1) % n, i, comm, &requests[i]);
    for (int i = MANY - 1; i >= 0; i--) out[i] = i * 7 + r, MPI_Isend(&out[i], 1, MPI_INT, (r + 1) % n, i, comm, &requests[MANY + i]);
    MPI_Waitall(2 * MANY, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MANY; i++) CHECK(in[i] == i * 7 + (r + n - 1) % n, "%d: %d", i, in[i]);
}

#define REDUCE(type, name, of, operation, want) \
    do { \
        type *from = malloc(LONG * sizeof *from), *to = malloc(LONG * sizeof *to); \
        for (int i = 0; i < LONG; i++) from[i] = (type)(of); \
        MPI_Allreduce(from, to, LONG, name, operation, comm); \
        for (int i = 0; i < LONG; i++) CHECK(to[i] == (type)(want), #name " " #operation " at %d", i); \
        free(from), free(to); \
    } while (0)

struct place {
    double value;
    int at;
};

static void reductions(MPI_Comm comm) {
    int r, n;
    MPI_Comm_rank(comm, &r), MPI_Comm_size(comm, &n);
    int sum = n * (n - 1) / 2;
    REDUCE(double, MPI_DOUBLE, r + i / 4.0, MPI_SUM, sum + n * (i / 4.0));
    REDUCE(float, MPI_FLOAT, r + i, MPI_MAX, n - 1 + i);
    REDUCE(int, MPI_INT, r - i, MPI_MIN, -i);
    REDUCE(long long, MPI_LONG_LONG, 1ll << 40, MPI_SUM, (1ll << 40) * n);
    REDUCE(unsigned char, MPI_UNSIGNED_CHAR, 1 << r, MPI_BOR, (1 << n) - 1);
    REDUCE(short, MPI_SHORT, r + 1, MPI_LAND, 1);
    REDUCE(uint64_t, MPI_UINT64_T, i + 1, MPI_BAND, i + 1);
    REDUCE(int8_t, MPI_INT8_T, r == 0, MPI_LXOR, 1);
    struct place mine = {-r, r}, found;
    MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
    CHECK(found.value == 0 && found.at == 0, "%g at %d", found.value, found.at);
    MPI_Allreduce(&mine, &found, 1, MPI_DOUBLE_INT, MPI_MINLOC, comm);
    CHECK(found.value == 1 - n && found.at == n - 1, "%g at %d", found.value, found.at);
}

static void allocated(void) {
    static const MPI_Aint lengths[] = {0, 1, 4096, 3 << 20};
    for (int i = 0; i < 4; i++) {
        char *at;
        MPI_Alloc_mem(lengths[i], MPI_INFO_NULL, &at);
        if (lengths[i]) memset(at, 1, lengths[i]);
        MPI_Free_mem(at);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    most = argc > 1 ? atoi(argv[1]) : 0;
    allocated();
    many(MPI_COMM_WORLD);
    reductions(MPI_COMM_WORLD);
    if (most) {
        MPI_Comm ep;
        uneven();
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &ep);
        many(ep);
        reductions(ep);
        MPI_Comm_free(&ep);
        allocated();
    } else {
        MPI_Comm none;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        int class = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &none);
        CHECK(class == MPIX_ERR_ENDPOINTS, "class %d", class);
    }
    return end();
}
