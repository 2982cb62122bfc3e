/*
 * Time in which a queue drains that the threads of a stencil's rank filled in any order.
 *
 *     mpirun -n 2 ./drain [-p 9pt|27pt|amr] [-t THREADS] [-k ENGINE] [-i ROUNDS] [-x SEED]
 *
 * Rank 1 has posted a receive for each thread of other ranks that one of its threads borders on (depth.c counts how many a search looks at), in a random
 * order; rank 0 sends as many messages in another. From the first message to the last receive that is complete is the time, of each round; `amr` is a queue of
 * 512. ENGINE is a matching engine by the info key oxmpi_matching ("-": none). Every message's contents are checked.
 * Output: threads, receives, the median in microseconds.
 */
#include "common.h"
#include "stencil.h"
#include <unistd.h>

static int me, rounds = 5;

/* Microseconds from the first message until all are received. */
static double drain(MPI_Comm comm, MPI_Comm control, int n, int *order, int *data, MPI_Request *requests) {
    for (int i = 0; i < n; i++) order[i] = i;
    shuffle(order, n);
    for (int i = 0; i < n; i++) {
        if (me == 0) continue;
        data[i] = -1;
        MPI_Irecv(&data[order[i]], 1, MPI_INT, 0, order[i], comm, &requests[i]);
    }
    MPI_Barrier(control);
    double start = MPI_Wtime();
    for (int i = 0; me == 0 && i < n; i++) {
        data[order[i]] = order[i];
        MPI_Isend(&data[order[i]], 1, MPI_INT, 1, order[i], comm, &requests[i]);
    }
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    double took = (MPI_Wtime() - start) * 1e6;
    for (int i = 0; me == 1 && i < n; i++)
        if (data[i] != i) fail("message %d has %d", i, data[i]);
    MPI_Barrier(control);
    return took;
}

static void report(const char *engine, MPI_Comm control, int threads, int n) {
    if (n <= 0) return;
    MPI_Comm comm = engine_comm(engine);
    int *order = need(sizeof(int) * (size_t)n), *data = need(sizeof(int) * (size_t)n);
    MPI_Request *requests = need(sizeof *requests * (size_t)n);
    double *values = need(sizeof *values * (size_t)rounds);
    drain(comm, control, n, order, data, requests);
    for (int round = 0; round < rounds; round++) values[round] = drain(comm, control, n, order, data, requests);
    if (me == 1) printf("%d\t%d\t%.3f\n", threads, n, median(values, rounds));
    fflush(stdout);
    free(order);
    free(data);
    free(requests);
    free(values);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    const char *pattern = "27pt", *engine = "-";
    int size, option, most = 512;
    uint64_t seed = 1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    world_rank_ = me;
    while ((option = getopt(argc, argv, "p:t:k:i:x:")) != -1) {
        switch (option) {
        case 'p': pattern = optarg; break;
        case 't': most = atoi(optarg); break;
        case 'k': engine = optarg; break;
        case 'i': rounds = atoi(optarg); break;
        case 'x': seed = strtoull(optarg, NULL, 0); break;
        default: most = 0;
        }
    }
    int dims = strcmp(pattern, "9pt") == 0 ? 2 : strcmp(pattern, "27pt") == 0 ? 3 : 0;
    if (size != 2 || most < 1 || most > 4096 || rounds < 1 || seed == 0 || (dims == 0 && strcmp(pattern, "amr") != 0))
        fail("usage: mpirun -n 2 drain [-p 9pt|27pt|amr] [-t THREADS] [-k ENGINE] [-i ROUNDS] [-x SEED, not 0]");
    /* Each rank has an order of its own. */
    state = seed * 2 + (uint64_t)me;
    MPI_Comm control;
    MPI_Comm_dup(MPI_COMM_WORLD, &control);
    int *from = need(sizeof(int) * 27 * (size_t)most);
    for (int side = 1; dims && (dims == 2 ? side * side : side * side * side) <= most; side *= 2)
        report(engine, control, dims == 2 ? side * side : side * side * side, borders(side, dims, from));
    if (dims == 0) report(engine, control, 1, 512);
    free(from);
    MPI_Comm_free(&control);
    MPI_Finalize();
    return 0;
}
