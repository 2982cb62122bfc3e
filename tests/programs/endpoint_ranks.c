/* Endpoints of the library's own: several ranks of each process, each driven by a thread, in functions that take a communicator. Arguments: what
 * to try; how many endpoints processes have, one digit for each process in turn. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>

enum { MOST = 8, LONG = 1 << 21 };

static int rank, size, mine, total, first, on_node;
static MPI_Comm ep[MOST];
static const char *digits;

static int asks(int process) { return digits[process % (int)strlen(digits)] - '0'; }

static int process_of(int of) {
    int process = 0;
    for (int before = asks(0); of >= before; before += asks(++process)) continue;
    return process;
}

/* ---- what is made, and errors at all ranks */

static void made(void) {
    int result, flag, process, endpoint;
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int i = 0; i < mine; i++) {
        int r, n, to[2], from[2] = {0, 0};
        MPI_Comm_rank(ep[i], &r), MPI_Comm_size(ep[i], &n);
        CHECK(r == first + i && n == total, "rank %d of %d", r, n);
        for (int other = 0; other < total; other++) {
            MPIX_Comm_get_endpoint(ep[i], other, &process, &endpoint);
            CHECK(process == process_of(other), "process %d of rank %d", process, other);
            if (other >= first && other < first + mine) CHECK(endpoint == other - first, "endpoint %d", endpoint);
            MPIX_Comm_shares_memory(ep[i], other, &flag);
            CHECK(flag == (process == rank), "rank %d: %d", other, flag);
        }
        /* Endpoint 0 is the process; others are in no group without endpoints. */
        MPI_Comm_group(ep[i], &group);
        from[0] = first, from[1] = first + mine - 1;
        MPI_Group_translate_ranks(group, 2, from, world, to);
        CHECK(to[0] == rank && to[1] == (mine == 1 ? rank : MPI_UNDEFINED), "%d %d", to[0], to[1]);
        MPI_Group_rank(group, &r);
        CHECK(r == first + i, "%d", r);
        MPI_Group_free(&group);
        MPI_Comm_compare(ep[i], MPI_COMM_WORLD, &result);
        CHECK(result == (!strcmp(digits, "1") ? MPI_CONGRUENT : MPI_UNEQUAL), "%d", result);
    }
    MPI_Group_free(&world);
}

static void refused(void) {
    MPI_Comm none[1];
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, rank == size - 1 ? -1 : 1, MPI_INFO_NULL, none) == MPI_ERR_ARG, "negative");
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, rank == 0 ? NULL : none) == MPI_ERR_ARG, "null");
    int error = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, rank == 0 ? 65536 : 0, MPI_INFO_NULL, none);
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    CHECK(class == MPIX_ERR_ENDPOINTS && strstr(text, "ENDPOINTS"), "class %d: %s", class, text);
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 0, MPI_INFO_NULL, NULL) == MPI_SUCCESS, "none is allowed");
    if (mine) {
        int x = 0;
        MPI_Comm_set_errhandler(ep[0], MPI_ERRORS_RETURN);
        CHECK(MPI_Send(&x, 1, MPI_INT, total, 0, ep[0]) == MPI_ERR_RANK, "rank");
        CHECK(MPIX_Comm_get_endpoint(ep[0], total, &x, &x) == MPI_ERR_RANK, "rank");
        CHECK(MPIX_Comm_shares_memory(ep[0], -1, &x) == MPI_ERR_RANK, "rank");
    }
}

/* ---- messages */

static void messages(MPI_Comm comm, int me) {
    int right = (me + 1) % total, left = (me + total - 1) % total, got, flag;
    MPI_Status status;
    MPI_Message message;
    MPI_Request requests[4];
    static const int lengths[] = {0, 1, 100, 4000, 70000, LONG};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        int n = lengths[l];
        unsigned char *out = need(n), *in = need(n);
        for (int how = 0; how < 6; how++) {
            fill(out, n, me * 100 + how);
            memset(in, 0xEE, n);
            switch (how) {
            case 0:
                MPI_Irecv(in, n, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
                MPI_Send(out, n, MPI_BYTE, right, how, comm);
                MPI_Wait(&requests[0], &status);
                break;
            case 1:
                MPI_Isend(out, n, MPI_BYTE, right, how, comm, &requests[0]);
                MPI_Probe(MPI_ANY_SOURCE, how, comm, &status);
                CHECK(status.MPI_SOURCE == left, "%d", status.MPI_SOURCE);
                MPI_Recv(in, n, MPI_BYTE, left, how, comm, &status);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                break;
            case 2:
                MPI_Issend(out, n, MPI_BYTE, right, how, comm, &requests[0]);
                do MPI_Improbe(left, MPI_ANY_TAG, comm, &flag, &message, &status);
                while (!flag);
                MPI_Mrecv(in, n, MPI_BYTE, &message, &status);
                MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
                break;
            case 3:
                MPI_Send_init(out, n, MPI_BYTE, right, how, comm, &requests[0]);
                MPI_Recv_init(in, n, MPI_BYTE, left, how, comm, &requests[1]);
                for (int turn = 0; turn < 3; turn++) {
                    MPI_Status both[2];
                    MPI_Startall(2, requests);
                    MPI_Waitall(2, requests, both);
                    status = both[1];
                }
                MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
                break;
            case 4:
                MPI_Psend_init(out, 1, n, MPI_BYTE, right, how, comm, MPI_INFO_NULL, &requests[0]);
                MPI_Precv_init(in, 1, n, MPI_BYTE, left, how, comm, MPI_INFO_NULL, &requests[1]);
                MPI_Startall(2, requests);
                MPI_Pready(0, requests[0]);
                MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
                MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
                break;
            default: MPI_Sendrecv(out, n, MPI_BYTE, right, how, in, n, MPI_BYTE, left, how, comm, &status);
            }
            if (how != 4) {
                MPI_Get_count(&status, MPI_BYTE, &got);
                CHECK(got == n && status.MPI_SOURCE == left && status.MPI_TAG == how, "%d of %d bytes from %d", got, n, status.MPI_SOURCE);
            }
            CHECK(differs(in, n, left * 100 + how) < 0, "%d bytes, way %d, from %d to %d", n, how, left, me);
        }
        free(out), free(in);
    }
    MPI_Irecv(&got, 1, MPI_INT, me, 99, comm, &requests[0]);
    MPI_Cancel(&requests[0]);
    MPI_Wait(&requests[0], &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "not cancelled");
}

/* ---- collectives: each result is computed from the ranks */

static void collectives(MPI_Comm comm, int me) {
    int n = total, sum = n * (n - 1) / 2, x = me, y = -1, root = n - 1;
    int *all = need(n * sizeof(int) * 2), *out = need(n * sizeof(int) * 2), *counts = need(n * sizeof(int)), *places = need(n * sizeof(int));
    MPI_Request request;
    for (int i = 0; i < n; i++) counts[i] = 1, places[i] = i;
    for (int turn = 0; turn < 3; turn++) {
        MPI_Barrier(comm);
        x = me == root ? 77 + turn : 0;
        MPI_Bcast(&x, 1, MPI_INT, root, comm);
        CHECK(x == 77 + turn, "bcast %d", x);
        x = me;
        MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, root, comm);
        if (me == root) CHECK(y == sum, "reduce %d", y);
        MPI_Allreduce(&x, &y, 1, MPI_INT, MPI_MAX, comm);
        CHECK(y == n - 1, "allreduce %d", y);
        MPI_Gather(&x, 1, MPI_INT, all, 1, MPI_INT, 0, comm);
        for (int i = 0; me == 0 && i < n; i++) CHECK(all[i] == i, "gather %d", all[i]);
        MPI_Gatherv(&x, 1, MPI_INT, all, counts, places, MPI_INT, root, comm);
        for (int i = 0; me == root && i < n; i++) CHECK(all[i] == i, "gatherv %d", all[i]);
        MPI_Allgather(&x, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < n; i++) CHECK(all[i] == i, "allgather %d", all[i]);
        memset(all, 0, n * sizeof(int));
        MPI_Allgatherv(&x, 1, MPI_INT, all, counts, places, MPI_INT, comm);
        for (int i = 0; i < n; i++) CHECK(all[i] == i, "allgatherv %d", all[i]);
        for (int i = 0; i < n; i++) out[i] = me * 1000 + i;
        MPI_Scatter(out, 1, MPI_INT, &y, 1, MPI_INT, root, comm);
        CHECK(y == root * 1000 + me, "scatter %d", y);
        MPI_Alltoall(out, 1, MPI_INT, all, 1, MPI_INT, comm);
        for (int i = 0; i < n; i++) CHECK(all[i] == i * 1000 + me, "alltoall %d", all[i]);
        memset(all, 0, n * sizeof(int));
        MPI_Alltoallv(out, counts, places, MPI_INT, all, counts, places, MPI_INT, comm);
        for (int i = 0; i < n; i++) CHECK(all[i] == i * 1000 + me, "alltoallv %d", all[i]);
        MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm);
        CHECK(y == me * (me + 1) / 2, "scan %d", y);
        y = 0;
        MPI_Exscan(&x, &y, 1, MPI_INT, MPI_SUM, comm);
        CHECK(me == 0 || y == me * (me - 1) / 2, "exscan %d", y);
        for (int i = 0; i < n; i++) out[i] = me + i;
        MPI_Reduce_scatter_block(out, &y, 1, MPI_INT, MPI_SUM, comm);
        CHECK(y == sum + n * me, "reduce_scatter_block %d", y);
        MPI_Reduce_scatter(out, &y, counts, MPI_INT, MPI_SUM, comm);
        CHECK(y == sum + n * me, "reduce_scatter %d", y);
        MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, comm, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK(y == sum, "iallreduce %d", y);
        MPI_Allreduce_init(&x, &y, 1, MPI_INT, MPI_MIN, comm, MPI_INFO_NULL, &request);
        MPI_Start(&request), MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_Request_free(&request);
        CHECK(y == 0, "allreduce_init %d", y);
    }
    enum { MUCH = 30000 };
    long *from = need(MUCH * sizeof *from), *to = need(MUCH * sizeof *to);
    for (int i = 0; i < MUCH; i++) from[i] = (long)i * (me + 1);
    MPI_Allreduce(from, to, MUCH, MPI_LONG, MPI_SUM, comm);
    for (int i = 0; i < MUCH; i++) CHECK(to[i] == (long)i * (sum + n), "%d: %ld", i, to[i]);
    free(from), free(to), free(all), free(out), free(counts), free(places);
}

/* ---- communicators of endpoints */

static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    ++*(int *)value;
    return MPI_SUCCESS;
}

static void expect(MPI_Comm comm, int n, int r, const char *name) {
    int s, q, sum, one = 1;
    MPI_Comm_size(comm, &s), MPI_Comm_rank(comm, &q);
    CHECK(s == n && (r < 0 || q == r), "%s: rank %d of %d, not %d of %d", name, q, s, r, n);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == n, "%s: %d", name, sum);
}

static void communicators(MPI_Comm comm, int me, int keyval) {
    MPI_Comm new, half, inter, merged;
    MPI_Group group, some;
    int n = total, result, freed = 0, flag, *value;
    MPI_Comm_set_attr(comm, keyval, &freed);
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    CHECK(flag && value == &freed, "the attribute of another endpoint");
    MPI_Comm_delete_attr(comm, keyval);
    CHECK(freed == 1, "%d", freed);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    CHECK(MPI_Send(&n, 1, MPI_INT, n, 0, comm) == MPI_ERR_RANK, "rank");
    MPI_Comm_dup(comm, &new);
    MPI_Comm_compare(comm, new, &result);
    CHECK(result == MPI_CONGRUENT, "%d", result);
    expect(new, n, me, "dup"), MPI_Comm_free(&new);
    MPI_Comm_split(comm, me % 2, -me, &half);
    int in_half = (n + 1 - me % 2) / 2;
    expect(half, in_half, in_half - 1 - me / 2, "split");
    MPI_Comm_split_type(comm, MPIX_COMM_TYPE_PROCESS, me, MPI_INFO_NULL, &new);
    expect(new, asks(rank), me - first, "split by process"), MPI_Comm_free(&new);
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, &new);
    expect(new, on_node, -1, "split by node"), MPI_Comm_free(&new);
    /* The group of one handle serves all. */
    MPI_Comm_group(ep[0], &group);
    int range[1][3] = {{0, n - 1, 2}};
    MPI_Group_range_incl(group, 1, range, &some);
    MPI_Comm_create(comm, some, &new);
    CHECK((new != MPI_COMM_NULL) == (me % 2 == 0), "rank %d", me);
    if (new != MPI_COMM_NULL) expect(new, (n + 1) / 2, me / 2, "create"), MPI_Comm_free(&new);
    if (me % 2 == 0) MPI_Comm_create_group(comm, some, 5, &new), expect(new, (n + 1) / 2, me / 2, "create_group"), MPI_Comm_free(&new);
    MPI_Group_free(&some), MPI_Group_free(&group);
    if (n > 1) {
        MPI_Intercomm_create(half, 0, comm, me % 2 ? (n - 1) / 2 * 2 : (n - 2) / 2 * 2 + 1, 7, &inter);
        int remote, x = me, got = -1, peer;
        MPI_Comm_remote_size(inter, &remote);
        CHECK(remote == n - in_half, "%d", remote);
        MPI_Comm_rank(half, &peer);
        if (peer < remote) MPI_Sendrecv(&x, 1, MPI_INT, peer, 1, &got, 1, MPI_INT, peer, 1, inter, MPI_STATUS_IGNORE);
        MPI_Allreduce(&x, &got, 1, MPI_INT, MPI_MAX, inter);
        CHECK(got == (me % 2 ? (n - 1) / 2 * 2 : (n - 2) / 2 * 2 + 1), "%d", got);
        MPI_Intercomm_merge(inter, me % 2, &merged);
        expect(merged, n, -1, "merge");
        MPI_Comm_free(&merged), MPI_Comm_free(&inter);
    }
    MPI_Comm_free(&half);
    int dims[1] = {n}, periods[1] = {1}, weights[1] = {1}, left, right, out[2] = {me, me}, in[2] = {-1, -1};
    MPI_Cart_create(comm, 1, dims, periods, 0, &new);
    MPI_Cart_shift(new, 0, 1, &left, &right);
    CHECK(left == (me + n - 1) % n && right == (me + 1) % n, "%d %d", left, right);
    MPI_Neighbor_allgather(out, 1, MPI_INT, in, 1, MPI_INT, new);
    CHECK(in[0] == left && in[1] == right, "%d %d", in[0], in[1]);
    MPI_Comm_free(&new);
    MPI_Dist_graph_create_adjacent(comm, 1, &left, weights, 1, &right, weights, MPI_INFO_NULL, 0, &new);
    MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, new);
    CHECK(in[0] == left, "%d", in[0]);
    MPI_Comm_free(&new);
    /* Endpoints of endpoints. */
    MPI_Comm more[3];
    int each = me % 3, before = 0, all = 0, r;
    for (int i = 0; i < n; i++) all += i % 3, before += i < me ? i % 3 : 0;
    CHECK(MPIX_Comm_create_endpoints(comm, each, MPI_INFO_NULL, more) == MPI_SUCCESS, "endpoints of endpoints");
    MPI_Request requests[6];
    int to[3], from[3];
    for (int i = 0; i < each; i++) {
        MPI_Comm_rank(more[i], &r);
        CHECK(r == before + i, "%d", r);
        to[i] = r;
        MPI_Irecv(&from[i], 1, MPI_INT, MPI_ANY_SOURCE, 1, more[i], &requests[2 * i]);
        MPI_Isend(&to[i], 1, MPI_INT, (r + 1) % all, 1, more[i], &requests[2 * i + 1]);
    }
    MPI_Waitall(2 * each, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < each; i++) CHECK(from[i] == (to[i] + all - 1) % all, "%d", from[i]);
    for (int i = 0; i < each; i++) MPI_Comm_free(&more[i]);
}

/* ---- windows: each endpoint is a rank */

static void use_window(MPI_Win win, int me, long *memory) {
    int n = total, right = (me + 1) % n, left = (me + n - 1) % n;
    long value = me + 1, got = -1, one = 1;
    MPI_Win_fence(0, win);
    MPI_Put(&value, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(memory[0] == left + 1, "put: %ld", memory[0]);
    MPI_Win_fence(0, win);
    MPI_Get(&got, 1, MPI_LONG, right, 0, 1, MPI_LONG, win);
    MPI_Win_fence(0, win);
    CHECK(got == me + 1, "get: %ld", got);
    MPI_Win_lock_all(0, win);
    for (int i = 0; i < n; i++) MPI_Accumulate(&one, 1, MPI_LONG, i, 1, 1, MPI_LONG, MPI_SUM, win);
    MPI_Fetch_and_op(&one, &got, MPI_LONG, 0, 2, MPI_SUM, win);
    MPI_Win_flush(0, win);
    CHECK(got >= 0 && got < n, "fetch_and_op: %ld", got);
    MPI_Win_unlock_all(win);
    MPI_Win_fence(0, win);
    CHECK(memory[1] == n && memory[2] == (me == 0 ? n : 0), "accumulate: %ld, %ld", memory[1], memory[2]);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&got, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    MPI_Win_flush(0, win);
    got++;
    MPI_Put(&got, 1, MPI_LONG, 0, 3, 1, MPI_LONG, win);
    MPI_Win_unlock(0, win);
    MPI_Win_fence(0, win);
    CHECK(me || memory[3] == n, "exclusive: %ld", memory[3]);
    MPI_Group group, to, from;
    MPI_Win_get_group(win, &group);
    MPI_Group_incl(group, 1, &right, &to), MPI_Group_incl(group, 1, &left, &from);
    if (n > 2) {
        MPI_Win_post(from, 0, win), MPI_Win_start(to, 0, win);
        MPI_Put(&value, 1, MPI_LONG, right, 4, 1, MPI_LONG, win);
        MPI_Win_complete(win), MPI_Win_wait(win);
        CHECK(memory[4] == left + 1, "post: %ld", memory[4]);
    }
    MPI_Group_free(&group), MPI_Group_free(&to), MPI_Group_free(&from);
}

static void windows(MPI_Comm comm, int me) {
    enum { WORDS = 8 };
    MPI_Win win;
    long *memory, own[WORDS] = {0};
    MPI_Win_create(own, sizeof own, sizeof(long), MPI_INFO_NULL, comm, &win);
    use_window(win, me, own), MPI_Win_free(&win);
    MPI_Win_allocate(sizeof own, sizeof(long), MPI_INFO_NULL, comm, &memory, &win);
    memset(memory, 0, sizeof own);
    use_window(win, me, memory), MPI_Win_free(&win);
}

/* ---- threads */

static pthread_barrier_t together;
static const char *what;
static int keyval;

static void *thread(void *which) {
    int i = (int)(long)which, me = first + i;
    pthread_barrier_wait(&together);
    if (!strcmp(what, "messages")) messages(ep[i], me);
    if (!strcmp(what, "collectives")) collectives(ep[i], me);
    if (!strcmp(what, "communicators")) communicators(ep[i], me, keyval);
    if (!strcmp(what, "windows")) windows(ep[i], me);
    return NULL;
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(argc == 3, "%d arguments", argc);
    what = argv[1], digits = argv[2];
    mine = asks(rank);
    for (int i = 0; i < size; i++) total += asks(i), first += i < rank ? asks(i) : 0;
    MPI_Comm node;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Allreduce(&mine, &on_node, 1, MPI_INT, MPI_SUM, node);
    MPI_Comm_free(&node);
    int error = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, ep);
    CHECK(error == MPI_SUCCESS, "class %d", error);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
    if (!strcmp(what, "made")) made(), refused();
    pthread_t threads[MOST];
    if (mine) pthread_barrier_init(&together, NULL, mine);
    for (long i = 0; i < mine; i++) pthread_create(&threads[i], NULL, thread, (void *)i);
    for (int i = 0; i < mine; i++) pthread_join(threads[i], NULL);
    MPI_Comm_free_keyval(&keyval);
    /* Handles that are still there at the end are freed like other communicators. */
    for (int i = 0; i < mine; i += 2) MPI_Comm_free(&ep[i]);
    return end();
}
