/* Collectives of all kinds, by what the argument names:
 *   mixed N    N rounds of all kinds and sizes on several communicators in turn
 *   threads N  a communicator for each of four threads, N rounds each at the same time
 *   killed     rank 1 kills itself while the others wait for it in a collective
 *   zero       counts that differ from rank to rank, of which some are 0 */
#include "check.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

enum { MOST = 20000 };

static void sum(MPI_Comm comm, int rank, int size, int count, int round) {
    long *in = malloc((size_t)(count + 1) * sizeof *in), *out = malloc((size_t)(count + 1) * sizeof *out);
    for (int i = 0; i < count; i++) in[i] = (long)rank * 3 + i + round;
    MPI_Allreduce(in, out, count, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < count; i++) {
        long wanted = 3L * size * (size - 1) / 2 + (long)size * (i + round);
        CHECK(out[i] == wanted, "allreduce of %d, element %d: %ld, not %ld", count, i, out[i], wanted);
    }
    int root = round % size;
    MPI_Reduce(rank == root ? MPI_IN_PLACE : in, rank == root ? in : NULL, count, MPI_LONG, MPI_SUM, root, comm);
    for (int i = 0; rank == root && i < count; i++) CHECK(in[i] == out[i], "reduce of %d, element %d", count, i);
    free(in);
    free(out);
}

static void blocks(MPI_Comm comm, int rank, int size, int bytes, int round) {
    unsigned char *mine = malloc((size_t)size * bytes + 1), *all = malloc((size_t)size * bytes + 1);
    int root = (round + 1) % size;
    fill(mine, bytes, rank + round);
    MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    for (int from = 0; from < size; from++)
        CHECK(differs(all + (size_t)from * bytes, bytes, from + round) < 0, "allgather of %d from %d", bytes, from);
    memset(all, 0, (size_t)size * bytes);
    MPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, comm);
    for (int from = 0; rank == root && from < size; from++)
        CHECK(differs(all + (size_t)from * bytes, bytes, from + round) < 0, "gather of %d from %d", bytes, from);
    for (int to = 0; to < size; to++) fill(mine + (size_t)to * bytes, bytes, rank * 1000L + to + round);
    MPI_Alltoall(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, comm);
    for (int from = 0; from < size; from++)
        CHECK(differs(all + (size_t)from * bytes, bytes, from * 1000L + rank + round) < 0, "alltoall of %d from %d", bytes, from);
    MPI_Scatter(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, comm);
    CHECK(differs(all, bytes, root * 1000L + rank + round) < 0, "scatter of %d", bytes);
    if (rank == root) fill(all, bytes, 77L + round);
    MPI_Bcast(all, bytes, MPI_BYTE, root, comm);
    CHECK(differs(all, bytes, 77L + round) < 0, "bcast of %d", bytes);
    free(mine);
    free(all);
}

/* Bytes from one rank to another; some are 0, and with alone all but one rank's. */
static int share(int from, int to, int bytes, int alone) {
    if (alone >= 0 && from != alone) return 0;
    return (from + 2 * to) % 3 == 0 ? 0 : bytes * ((from + to) % 3 + 1) / 2;
}

/* Scatterv, alltoallv, alltoallw. */
static void uneven(MPI_Comm comm, int rank, int size, int bytes, int round, int alone) {
    int *sends = calloc(4 * (size_t)size, sizeof *sends), *sdispls = sends + size, *recvs = sends + 2 * size, *rdispls = sends + 3 * size;
    MPI_Datatype *types = malloc(sizeof *types * (size_t)size);
    int out = 0, in = 0, root = (round + 2) % size;
    for (int r = 0; r < size; r++) {
        sends[r] = share(rank, r, bytes, alone);
        recvs[r] = share(r, rank, bytes, alone);
        sdispls[r] = out;
        rdispls[r] = in;
        out += sends[r];
        in += recvs[r];
        types[r] = MPI_BYTE;
    }
    unsigned char *mine = malloc((size_t)out + 1), *all = malloc((size_t)in + 1), *own = all + (recvs[root] > 0 ? rdispls[root] : 0);
    for (int to = 0; to < size; to++) fill(mine + sdispls[to], sends[to], rank * 1000L + to + round);
    for (int typed = 0; typed < 2; typed++) {
        memset(all, 0, (size_t)in + 1);
        if (typed) MPI_Alltoallw(mine, sends, sdispls, types, all, recvs, rdispls, types, comm);
        else MPI_Alltoallv(mine, sends, sdispls, MPI_BYTE, all, recvs, rdispls, MPI_BYTE, comm);
        for (int from = 0; from < size; from++)
            CHECK(differs(all + rdispls[from], recvs[from], from * 1000L + rank + round) < 0, "alltoallv of %d from %d", recvs[from], from);
    }
    memset(all, 0, (size_t)in + 1);
    MPI_Scatterv(mine, sends, sdispls, MPI_BYTE, own, recvs[root], MPI_BYTE, root, comm);
    CHECK(differs(own, recvs[root], root * 1000L + rank + round) < 0, "scatterv of %d", recvs[root]);
    free(mine);
    free(all);
    free(types);
    free(sends);
}

static void mixed(MPI_Comm comm, int rounds) {
    static const int sizes[] = {1, 8, 48, 49, 1000, 4096, 4097, MOST};
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int round = 0; round < rounds; round++) {
        int bytes = sizes[round % (int)(sizeof sizes / sizeof *sizes)];
        MPI_Barrier(comm);
        sum(comm, rank, size, bytes / 8 + 1, round);
        blocks(comm, rank, size, bytes, round);
        uneven(comm, rank, size, bytes, round, -1);
    }
}

struct thread {
    MPI_Comm comm;
    int rounds;
};

static void *in_a_thread(void *argument) {
    struct thread *own = argument;
    mixed(own->comm, own->rounds);
    return NULL;
}

static void zero(MPI_Comm comm, int rank, int size) {
    int counts[64], displs[64], total = 0;
    for (int nobody = 0; nobody < size; nobody++) {
        total = 0;
        for (int r = 0; r < size; r++) {
            counts[r] = r == nobody ? 0 : 3000 * r + 1;
            displs[r] = total;
            total += counts[r];
        }
        int *mine = malloc(sizeof *mine * (size_t)(counts[rank] + 1)), *all = calloc((size_t)total + 1, sizeof *all);
        for (int i = 0; i < counts[rank]; i++) mine[i] = rank * 7 + i;
        for (int to_all = 0; to_all < 2; to_all++) {
            int root = (nobody + 1) % size;
            memset(all, 0, sizeof *all * (size_t)total);
            if (to_all) MPI_Allgatherv(mine, counts[rank], MPI_INT, all, counts, displs, MPI_INT, comm);
            else MPI_Gatherv(mine, counts[rank], MPI_INT, all, counts, displs, MPI_INT, root, comm);
            for (int r = 0; (to_all || rank == root) && r < size; r++)
                for (int i = 0; i < counts[r]; i++)
                    CHECK(all[displs[r] + i] == r * 7 + i, "block of %d, element %d", r, i);
        }
        free(mine);
        free(all);
        uneven(comm, rank, size, nobody % 2 ? 100 : MOST, nobody, nobody);
    }
}

int main(int argc, char **argv) {
    int rank, size, provided;
    if (argc < 2) return 2;
    MPI_Init_thread(&argc, &argv, strcmp(argv[1], "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    int rounds = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(argv[1], "mixed") == 0) {
        MPI_Comm dup, part;
        MPI_Comm_dup(MPI_COMM_WORLD, &dup);
        MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &part);
        mixed(MPI_COMM_WORLD, rounds);
        for (int i = 0; i < rounds; i++) {
            mixed(dup, 1);
            mixed(part, 2);
        }
        MPI_Comm_free(&dup);
        MPI_Comm_free(&part);
    } else if (strcmp(argv[1], "threads") == 0) {
        struct thread of[4];
        pthread_t threads[4];
        for (int t = 0; t < 4; t++) {
            of[t].rounds = rounds;
            MPI_Comm_dup(MPI_COMM_WORLD, &of[t].comm);
        }
        for (int t = 0; t < 4; t++) pthread_create(&threads[t], NULL, in_a_thread, &of[t]);
        for (int t = 0; t < 4; t++) pthread_join(threads[t], NULL);
        for (int t = 0; t < 4; t++) MPI_Comm_free(&of[t].comm);
    } else if (strcmp(argv[1], "zero") == 0) {
        zero(MPI_COMM_WORLD, rank, size);
    } else {
        mixed(MPI_COMM_WORLD, 2);
        if (rank == 1) kill(getpid(), SIGKILL);
        mixed(MPI_COMM_WORLD, 2);
    }
    return end();
}
