/* Accumulates over tcp, counted by the segments with data that the kernel has sent and received on this process's connections: one message and one answer,
 * whatever type, operation and layout. Over the loopback interface messages of some KiB go in a segment each. */
#include "check.h"

#include <complex.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

typedef struct { long out, in; } segments;

/* Of all connections of the process. */
static segments now(void) {
    segments all = {0, 0};
    for (int fd = 0; fd < 1024; fd++) {
        struct tcp_info info;
        int domain = 0;
        socklen_t domain_len = sizeof domain, len = sizeof info;
        memset(&info, 0, sizeof info);
        if (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &domain_len) || (domain != AF_INET && domain != AF_INET6)) continue;
        if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len)) continue;
        all.out += info.tcpi_data_segs_out;
        all.in += info.tcpi_data_segs_in;
    }
    return all;
}

enum { BYTES = 1 << 17, TRIES = 12, ROWS = 512 };

static MPI_Win win;
static char *given, *taken;

typedef struct { const char *name; MPI_Datatype basic, layout; int count, old; MPI_Op op; } kind;

static void issue(const kind *k) {
    if (k->op == MPI_OP_NULL) {
        MPI_Compare_and_swap(given, given, taken, k->basic, 1, 3, win);
    } else if (k->count == 1 && k->old) {
        MPI_Fetch_and_op(given, taken, k->basic, 1, 8, k->op, win);
    } else if (k->old) {
        MPI_Get_accumulate(given, k->count, k->basic, taken, k->count, k->basic, 1, 0, 1, k->layout, k->op, win);
    } else {
        MPI_Accumulate(given, k->count, k->basic, 1, 0, 1, k->layout, k->op, win);
    }
}

/* The fewest of some tries: a connection may have something of its own to say now and then, and some messages go around the end of a ring, by two calls. */
static segments fewest(const kind *k) {
    segments least = {1000, 1000};
    for (int i = 0; i < TRIES; i++) {
        segments before = now();
        issue(k);
        MPI_Win_flush(1, win);
        segments behind = now(), used = {behind.out - before.out, behind.in - before.in};
        if (used.out < least.out) least.out = used.out;
        if (used.in < least.in) least.in = used.in;
    }
    return least;
}

static MPI_Datatype strided(MPI_Datatype basic) {
    MPI_Datatype made;
    MPI_Type_vector(ROWS, 2, 4, basic, &made);
    MPI_Type_commit(&made);
    return made;
}

static MPI_Datatype irregular(MPI_Datatype basic) {
    int displacements[2 * ROWS], at = 0;
    for (int i = 0; i < 2 * ROWS; i++) displacements[i] = at, at += 2 + i % 7 + i % 5;
    MPI_Datatype made;
    MPI_Type_create_indexed_block(2 * ROWS, 1, displacements, basic, &made);
    MPI_Type_commit(&made);
    return made;
}

static MPI_Datatype whole(MPI_Datatype basic, int count) {
    MPI_Datatype made;
    MPI_Type_contiguous(count, basic, &made);
    MPI_Type_commit(&made);
    return made;
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    CHECK(size == 2, "%d ranks", size);
    char *memory;
    MPI_Win_allocate(BYTES, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
    memset(memory, 0, BYTES);
    given = need(BYTES);
    taken = need(BYTES);
    memset(given, 0, BYTES);
    kind kinds[] = {
        {"fetch and add of a word", MPI_INT64_T, MPI_DATATYPE_NULL, 1, 1, MPI_SUM},
        {"fetch and add of two bytes", MPI_INT16_T, MPI_DATATYPE_NULL, 1, 1, MPI_SUM},
        {"fetch and multiply", MPI_DOUBLE, MPI_DATATYPE_NULL, 1, 1, MPI_PROD},
        {"swap of a byte", MPI_INT8_T, MPI_DATATYPE_NULL, 1, 1, MPI_OP_NULL},
        {"strided doubles", MPI_DOUBLE, strided(MPI_DOUBLE), 2 * ROWS, 0, MPI_SUM},
        {"products of strided doubles", MPI_DOUBLE, strided(MPI_DOUBLE), 2 * ROWS, 0, MPI_PROD},
        {"strided doubles and their old values", MPI_DOUBLE, strided(MPI_DOUBLE), 2 * ROWS, 1, MPI_SUM},
        {"strided shorts", MPI_INT16_T, strided(MPI_INT16_T), 2 * ROWS, 0, MPI_SUM},
        {"strided complex numbers and their old values", MPI_C_DOUBLE_COMPLEX, strided(MPI_C_DOUBLE_COMPLEX), 2 * ROWS, 1, MPI_SUM},
        {"irregular integers", MPI_INT32_T, irregular(MPI_INT32_T), 2 * ROWS, 0, MPI_MAX},
        {"irregular bytes", MPI_BYTE, irregular(MPI_BYTE), 2 * ROWS, 1, MPI_BXOR},
        {"many doubles", MPI_DOUBLE, whole(MPI_DOUBLE, 2000), 2000, 1, MPI_SUM},
        {"many bytes", MPI_BYTE, whole(MPI_BYTE, 16000), 16000, 0, MPI_BXOR},
    };
    long count = sizeof kinds / sizeof *kinds;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        issue(&kinds[0]);
        MPI_Win_flush(1, win);
        for (long i = 0; i < count; i++) {
            segments used = fewest(&kinds[i]);
            CHECK(used.out == 1 && used.in == 1, "%s: %ld messages, %ld answers", kinds[i].name, used.out, used.in);
        }
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    for (long i = 0; i < count; i++)
        if (kinds[i].layout != MPI_DATATYPE_NULL) MPI_Type_free(&kinds[i].layout);
    MPI_Win_free(&win);
    return end();
}
