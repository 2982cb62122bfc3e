/* Communicators made of endpoints by several threads at once. Arguments: endpoints of each process, rounds. Linked with liboxmpi_ep.so.
 *
 * `late`: an endpoint makes a communicator with one that comes only when it has got a message from another thread of the first.
 * `crossing`: two threads of each endpoint make communicators of two communicators with the same members, in whatever order it comes;
 * by all functions that make one. Each has the ranks it should have, and a message goes around in it. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <time.h>

enum { MOST = 8 };

static int rank, size, count, rounds;

struct one {
    MPI_Comm comm;
    int tag;
};

/* All ranks are there: the sum says so. */
static void use(MPI_Comm comm, int ranks, const char *made) {
    int n, r, sum = 0, inter;
    MPI_Comm_size(comm, &n), MPI_Comm_rank(comm, &r), MPI_Comm_test_inter(comm, &inter);
    CHECK(n == ranks, "%s: %d ranks, not %d", made, n, ranks);
    MPI_Allreduce(&r, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (!inter) CHECK(sum == n * (n - 1) / 2, "%s: sum %d", made, sum);
    MPI_Comm_free(&comm);
}

static void make_all(struct one *one) {
    MPI_Comm comm = one->comm, new, half, inter, idup;
    MPI_Group group;
    MPI_Request request;
    int r, n;
    MPI_Comm_rank(comm, &r), MPI_Comm_size(comm, &n);
    MPI_Comm_group(comm, &group);
    int odd = r % 2, mine = odd ? n / 2 : (n + 1) / 2, theirs = n - mine;
    MPI_Comm_idup(comm, &idup, &request);
    MPI_Comm_split(comm, odd, -r, &half);
    MPI_Comm_create(comm, group, &new), use(new, n, "MPI_Comm_create");
    MPI_Comm_create_group(comm, group, one->tag, &new), use(new, n, "MPI_Comm_create_group");
    MPI_Wait(&request, MPI_STATUS_IGNORE), use(idup, n, "MPI_Comm_idup");
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &new), use(new, n, "MPI_Comm_split_type");
    /* The leaders are the last ranks of the halves, since keys run backwards: their last is rank 0 or 1. */
    MPI_Intercomm_create(half, mine - 1, comm, 1 - odd, one->tag, &inter);
    MPI_Intercomm_merge(inter, odd, &new), use(new, n, "MPI_Intercomm_merge");
    /* With keys that reorder, MPICH 5.0.2 does not end in the next collective (without endpoints, too). */
    MPI_Comm_split(inter, 0, 0, &new), use(new, mine, "MPI_Comm_split of an inter-communicator");
    CHECK(theirs > 0, "%d", theirs);
    use(inter, mine, "MPI_Intercomm_create");
    use(half, mine, "MPI_Comm_split");
    int dims[2] = {n, 1}, periods[2] = {1, 0}, keep[2] = {1, 0};
    MPI_Comm_dup(comm, &half);
    MPI_Cart_create(half, 2, dims, periods, 0, &inter);
    MPI_Cart_sub(inter, keep, &new), use(new, n, "MPI_Cart_sub");
    use(inter, n, "MPI_Cart_create");
    int index[64], edges[128], next[2] = {(r + 1) % n, (r + n - 1) % n}, weights[2] = {1, 2};
    for (int i = 0; i < n; i++) index[i] = 2 * i + 2, edges[2 * i] = (i + 1) % n, edges[2 * i + 1] = (i + n - 1) % n;
    MPI_Graph_create(half, n, index, edges, 0, &new), use(new, n, "MPI_Graph_create");
    MPI_Dist_graph_create_adjacent(half, 2, next, weights, 2, next, weights, MPI_INFO_NULL, 0, &new);
    use(new, n, "MPI_Dist_graph_create_adjacent");
    int two = 2;
    MPI_Dist_graph_create(half, 1, &r, &two, next, weights, MPI_INFO_NULL, 0, &new), use(new, n, "MPI_Dist_graph_create");
    /* An endpoint of each endpoint; its proxy may be that of another one. */
    MPI_Comm again;
    CHECK(MPIX_Comm_create_endpoints(half, 1, MPI_INFO_NULL, &again) == MPI_SUCCESS, "endpoints of endpoints");
    use(again, n, "MPIX_Comm_create_endpoints");
    MPI_Comm_free(&half);
    MPI_Group_free(&group);
}

static void *maker(void *argument) {
    for (int i = 0; i < rounds; i++) make_all(argument);
    return NULL;
}

static void *split(void *argument) {
    MPI_Comm new;
    int n;
    MPI_Comm_size(*(MPI_Comm *)argument, &n);
    MPI_Comm_split(*(MPI_Comm *)argument, 0, 0, &new), use(new, n, "MPI_Comm_split");
    return NULL;
}

/* Every endpoint but the first is late; all are of threads of their own. */
struct late {
    MPI_Comm comm, talk;
    int rank;
};

static void *comes_late(void *argument) {
    struct late *late = argument;
    int x = 0;
    if (late->rank) MPI_Recv(&x, 1, MPI_INT, 0, 9, late->talk, MPI_STATUS_IGNORE);
    return split(&late->comm);
}

int main(int argc, char **argv) {
    int provided, total;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    count = argc > 1 ? atoi(argv[1]) : 2;
    rounds = argc > 2 ? atoi(argv[2]) : 3;
    CHECK(provided == MPI_THREAD_MULTIPLE, "this MPI has no MPI_THREAD_MULTIPLE");
    MPI_Comm a[MOST], b[MOST];
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, MPI_INFO_NULL, a);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, MPI_INFO_NULL, b);
    pthread_t threads[2 * MOST];
    struct late late[MOST];
    for (int i = 0; i < count; i++) {
        late[i].comm = a[i], late[i].talk = b[i];
        MPI_Comm_rank(a[i], &late[i].rank);
        pthread_create(&threads[i], NULL, comes_late, &late[i]);
    }
    MPI_Comm_size(a[0], &total);
    if (rank == 0)
        /* The first endpoint is in the creation, or will be; its proxy has other work to do. */
        for (int to = 1, x = 1; to < total; to++) {
            struct timespec moment = {0, 20000000};
            nanosleep(&moment, NULL);
            MPI_Send(&x, 1, MPI_INT, to, 9, b[0]);
        }
    for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
    struct one ones[2 * MOST];
    for (int i = 0; i < count; i++) {
        ones[2 * i] = (struct one){a[i], 3}, ones[2 * i + 1] = (struct one){b[i], 3};
        for (int k = 0; k < 2; k++) pthread_create(&threads[2 * i + k], NULL, maker, &ones[2 * i + k]);
    }
    for (int i = 0; i < 2 * count; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < count; i++) MPI_Comm_free(&a[i]), MPI_Comm_free(&b[i]);
    return end();
}
