/* Random programs over endpoints, against a model. All ranks draw the same steps from a seed: messages among random ranks, received in
 * whatever order and by whatever wildcards, collectives, splits, new orders of ranks, endpoints of endpoints, windows. The messages due
 * follow from the seed and the ranks; messages of one rank and tag come in order. Arguments: as many endpoints of each process in turn as
 * a digit says; first seed; programs. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <stdint.h>

enum { MOST = 9, RANKS = 72, STEPS = 14, TAGS = 4, EACH = 3 };
static const int LENGTHS[] = {0, 8, 100, 5000, 90000};

/* The drawing of (program, step, what, i, j): the same in all ranks. */
static uint64_t draw(uint64_t program, int step, int what, int i, int j) {
    uint64_t x = program * 0x9E3779B97F4A7C15u + (uint64_t)step * 0xBF58476D1CE4E5B9u + (uint64_t)what * 0x94D049BB133111EBu + (uint64_t)i * 0xD6E8FEB86659FD93u + (uint64_t)j * 0xA0761D6478BD642Fu;
    x ^= x >> 31, x *= 0xBF58476D1CE4E5B9u, x ^= x >> 29, x *= 0x94D049BB133111EBu;
    return x ^ x >> 32;
}

struct rank {
    MPI_Comm comm;
    uint64_t program, own;
    int me, n, step;
};

static int any(struct rank *r, int below) {
    r->own = draw(r->own, 1, 2, 3, 4);
    return (int)(r->own % (uint64_t)below);
}

/* Messages from one to another, and what each is. */
static int how_many(const struct rank *r, int from, int to) { return (int)(draw(r->program, r->step, 10, from, to) % 7) % EACH; }
static int tag_of(const struct rank *r, int from, int to, int k) { return (int)(draw(r->program, r->step, 11 + k, from, to) % TAGS); }
static int length_of(const struct rank *r, int from, int to, int k) {
    uint64_t x = draw(r->program, r->step, 20 + k, from, to);
    return LENGTHS[x % 16 == 0 ? 4 : x % 4];
}

static void receive_one(struct rank *r, int *next) {
    unsigned char *in = need(LENGTHS[4]);
    MPI_Status status;
    MPI_Message message;
    int flag = 0, bytes, source = MPI_ANY_SOURCE, tag = MPI_ANY_TAG, from = any(r, r->n);
    /* Now and then by name, where something of that rank is still to come. */
    if (any(r, 2) && next[from] < how_many(r, from, r->me)) {
        source = from;
        if (any(r, 2)) tag = tag_of(r, from, r->me, next[from]);
    }
    switch (any(r, 4)) {
    case 0: MPI_Recv(in, LENGTHS[4], MPI_BYTE, source, tag, r->comm, &status); break;
    case 1:
        MPI_Probe(source, tag, r->comm, &status);
        MPI_Recv(in, LENGTHS[4], MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, r->comm, &status);
        break;
    case 2:
        MPI_Mprobe(source, tag, r->comm, &message, &status);
        MPI_Mrecv(in, LENGTHS[4], MPI_BYTE, &message, &status);
        break;
    default:
        while (!flag) MPI_Improbe(source, tag, r->comm, &flag, &message, &status);
        MPI_Mrecv(in, LENGTHS[4], MPI_BYTE, &message, &status);
    }
    from = status.MPI_SOURCE;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    /* The next of that rank: a receive that names no other tag gets them as they were sent. */
    int k = next[from];
    CHECK(k < how_many(r, from, r->me), "program %lu, step %d: one message too many from %d", (unsigned long)r->program, r->step, from);
    CHECK(status.MPI_TAG == tag_of(r, from, r->me, k) && bytes == length_of(r, from, r->me, k), "program %lu, step %d: tag %d, %d bytes from %d to %d, number %d",
          (unsigned long)r->program, r->step, status.MPI_TAG, bytes, from, r->me, k);
    CHECK(differs(in, bytes, (long)draw(r->program, r->step, 30 + k, from, r->me)) < 0, "contents of message %d from %d", k, from);
    next[from]++;
    free(in);
}

static void messages(struct rank *r) {
    MPI_Request requests[RANKS * EACH];
    unsigned char *out[RANKS * EACH];
    int next[RANKS] = {0}, sent = 0, due = 0;
    for (int k = 0; k < EACH; k++)
        for (int i = 0; i < r->n; i++) {
            int to = (i + r->me) % r->n, bytes = length_of(r, r->me, to, k);
            if (k >= how_many(r, r->me, to)) continue;
            out[sent] = need(bytes);
            fill(out[sent], bytes, (long)draw(r->program, r->step, 30 + k, r->me, to));
            MPI_Isend(out[sent], bytes, MPI_BYTE, to, tag_of(r, r->me, to, k), r->comm, &requests[sent]);
            sent++;
        }
    for (int from = 0; from < r->n; from++) due += how_many(r, from, r->me);
    while (due-- > 0) receive_one(r, next);
    MPI_Waitall(sent, requests, MPI_STATUSES_IGNORE);
    while (sent > 0) free(out[--sent]);
    /* Messages of the next step are not to be taken for these. */
    MPI_Barrier(r->comm);
}

static long value_of(const struct rank *r, int rank, int i) { return (long)(draw(r->program, r->step, 40, rank, i) % 1000); }

static void collective(struct rank *r) {
    int n = r->n, root = (int)(draw(r->program, r->step, 41, 0, 0) % (uint64_t)n), kind = (int)(draw(r->program, r->step, 42, 0, 0) % 8);
    int count = (int)(draw(r->program, r->step, 43, 0, 0) % 3 == 0 ? 3000 : draw(r->program, r->step, 44, 0, 0) % 5 + 1);
    long *in = need((size_t)n * count * sizeof *in), *out = need((size_t)n * count * sizeof *out);
    MPI_Request q;
    for (int i = 0; i < n * count; i++) out[i] = value_of(r, r->me, i), in[i] = -1;
#define SUM_TO(last, i) ({ long sum_ = 0; for (int r_ = 0; r_ <= (last); r_++) sum_ += value_of(r, r_, i); sum_; })
#define IS(i, wanted, name) CHECK(in[i] == (wanted), "program %lu, step %d: %s of %d longs, root %d, at %d: %ld", (unsigned long)r->program, r->step, name, count, root, i, in[i])
    switch (kind) {
    case 0:
        MPI_Allreduce(out, in, count, MPI_LONG, MPI_SUM, r->comm);
        for (int i = 0; i < count; i++) IS(i, SUM_TO(n - 1, i), "allreduce");
        break;
    case 1:
        MPI_Bcast(r->me == root ? out : in, count, MPI_LONG, root, r->comm);
        for (int i = 0; r->me != root && i < count; i++) IS(i, value_of(r, root, i), "bcast");
        break;
    case 2:
        MPI_Ireduce(out, in, count, MPI_LONG, MPI_SUM, root, r->comm, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; r->me == root && i < count; i++) IS(i, SUM_TO(n - 1, i), "ireduce");
        break;
    case 3:
        MPI_Alltoall(out, count, MPI_LONG, in, count, MPI_LONG, r->comm);
        for (int i = 0; i < n * count; i++) IS(i, value_of(r, i / count, r->me * count + i % count), "alltoall");
        break;
    case 4:
        MPI_Scan(out, in, count, MPI_LONG, MPI_SUM, r->comm);
        for (int i = 0; i < count; i++) IS(i, SUM_TO(r->me, i), "scan");
        break;
    case 5:
        MPI_Iallgather(out, count, MPI_LONG, in, count, MPI_LONG, r->comm, &q), MPI_Wait(&q, MPI_STATUS_IGNORE);
        for (int i = 0; i < n * count; i++) IS(i, value_of(r, i / count, i % count), "iallgather");
        break;
    case 6:
        MPI_Scatter(out, count, MPI_LONG, in, count, MPI_LONG, root, r->comm);
        for (int i = 0; i < count; i++) IS(i, value_of(r, root, r->me * count + i), "scatter");
        break;
    default:
        MPI_Reduce_scatter_block(out, in, count, MPI_LONG, MPI_SUM, r->comm);
        for (int i = 0; i < count; i++) IS(i, SUM_TO(n - 1, r->me * count + i), "reduce_scatter_block");
    }
    free(in), free(out);
}

/* The ranks of a split, by key and then by rank: where the caller is. */
static void split(struct rank *r, int colors, int what) {
    int color = (int)(draw(r->program, r->step, what, r->me, 0) % (uint64_t)colors), n = 0, me = 0;
    int key = (int)(draw(r->program, r->step, what + 1, r->me, 0) % 100);
    for (int other = 0; other < r->n; other++) {
        int its = (int)(draw(r->program, r->step, what + 1, other, 0) % 100);
        if ((int)(draw(r->program, r->step, what, other, 0) % (uint64_t)colors) != color) continue;
        n++, me += its < key || (its == key && other < r->me);
    }
    MPI_Comm new;
    int s, q;
    MPI_Comm_split(r->comm, color, key, &new), MPI_Comm_size(new, &s), MPI_Comm_rank(new, &q);
    CHECK(s == n && q == me, "program %lu, step %d: rank %d of %d, not %d of %d", (unsigned long)r->program, r->step, q, s, me, n);
    if (colors == 1) {
        /* From now on in this order. */
        MPI_Comm_free(&r->comm);
        r->comm = new, r->me = me;
        return;
    }
    /* A program of the part: it has a number of its own. */
    struct rank part = *r;
    part.comm = new, part.me = me, part.n = n, part.program = r->program * 31 + (uint64_t)color;
    messages(&part), collective(&part);
    MPI_Comm_free(&new);
}

/* One thread drives several: everything is started before anything is waited for. */
static void nested(struct rank *r) {
    MPI_Comm more[4];
    MPI_Request requests[12];
    int first = 0, all = 0, each = 0, in[4], out[4], most[4], used = 0;
    for (int other = 0; other < r->n; other++) {
        int its = (int)(draw(r->program, r->step, 60, other, 0) % 4);
        first += other < r->me ? its : 0, each = other == r->me ? its : each, all += its;
    }
    CHECK(MPIX_Comm_create_endpoints(r->comm, each, MPI_INFO_NULL, more) == MPI_SUCCESS, "%d endpoints", each);
    for (int i = 0; i < each; i++) {
        int q, s;
        MPI_Comm_rank(more[i], &q), MPI_Comm_size(more[i], &s);
        CHECK(q == first + i && s == all, "program %lu, step %d: rank %d of %d, not %d of %d", (unsigned long)r->program, r->step, q, s, first + i, all);
        out[i] = q, in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, MPI_ANY_SOURCE, 5, more[i], &requests[used++]);
        MPI_Isend(&out[i], 1, MPI_INT, (q + 2) % all, 5, more[i], &requests[used++]);
        MPI_Iallreduce(&out[i], &most[i], 1, MPI_INT, MPI_MAX, more[i], &requests[used++]);
    }
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < each; i++) CHECK((in[i] + 2) % all == out[i] && most[i] == all - 1, "%d, %d", in[i], most[i]);
    for (int i = 0; i < each; i++) MPI_Comm_free(&more[i]);
}

static void window(struct rank *r) {
    long *memory, sum = 0, values[RANKS];
    MPI_Win win;
    MPI_Win_allocate(sizeof(long) * 2, sizeof(long), MPI_INFO_NULL, r->comm, &memory, &win);
    memory[0] = memory[1] = 0;
    MPI_Win_fence(0, win);
    for (int to = 0; to < r->n; to++) {
        values[to] = value_of(r, r->me, to);
        if (draw(r->program, r->step, 70, r->me, to) % 2) MPI_Accumulate(&values[to], 1, MPI_LONG, to, 1, 1, MPI_LONG, MPI_SUM, win);
        sum += draw(r->program, r->step, 70, to, r->me) % 2 ? value_of(r, to, r->me) : 0;
    }
    MPI_Win_fence(0, win);
    CHECK(memory[1] == sum && memory[0] == 0, "program %lu, step %d: %ld, not %ld", (unsigned long)r->program, r->step, memory[1], sum);
    MPI_Win_free(&win);
}

static MPI_Comm each[MOST];
static uint64_t seed;
static int programs;

static void *work(void *which) {
    struct rank r = {.comm = each[(int)(long)which]};
    MPI_Comm_rank(r.comm, &r.me), MPI_Comm_size(r.comm, &r.n);
    CHECK(r.n <= RANKS, "%d ranks", r.n);
    r.own = draw(seed, 0, 0, r.me, 9);
    for (int program = 0; program < programs; program++) {
        r.program = seed + (uint64_t)program;
        for (r.step = 0; r.step < STEPS; r.step++) {
            switch (draw(r.program, r.step, 1, 0, 0) % 10) {
            case 0: split(&r, 3, 50); break;
            case 1: split(&r, 1, 52); break;
            case 2: nested(&r); break;
            case 3: window(&r); break;
            case 4: case 5: case 6: collective(&r); break;
            default: messages(&r);
            }
        }
    }
    MPI_Comm_free(&r.comm);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, rank;
    pthread_t threads[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank_ = rank;
    CHECK(argc == 4, "%d arguments", argc);
    int mine = argv[1][rank % (int)strlen(argv[1])] - '0';
    seed = strtoul(argv[2], NULL, 10), programs = atoi(argv[3]);
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, each);
    for (long i = 0; i < mine; i++) CHECK(pthread_create(&threads[i], NULL, work, (void *)i) == 0, "a thread");
    for (int i = 0; i < mine; i++) pthread_join(threads[i], NULL);
    return end();
}
