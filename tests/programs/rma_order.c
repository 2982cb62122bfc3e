/* Operations of one origin on the same place of one target take effect in the order of their calls, where MPI_Win_flush_local, or the completion of
 * a request, stands between.
 *
 * usage: rma_order [SEED [STEPS [THREADS [LONGEST]]]]
 *
 * Every rank has a part of each rank's memory of its own, and knows what it must hold. First all rows of three operations on one place, from an element to
 * thousands; then STEPS random ones on places that overlap, by threads that take turns. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

enum { WORDS = 4096, BYTES = 8 * WORDS, MOST_RANKS = 8, MOST_THREADS = 4, BURST = 4 };
enum { CREATED, ALLOCATED, SHARED, DYNAMIC, FLAVORS };
enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP, KINDS };
static const char *const names[KINDS] = {"put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"};

static int rank, size, threads = 1, longest = 3000, flavor;
static uint64_t state;
static MPI_Win win;
static MPI_Aint base[MOST_RANKS];
static unsigned char *mine, *model[MOST_RANKS];

static int below(int n) {
    state = state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((state >> 33) % (uint64_t)n);
}

static MPI_Aint place(int target, int byte) {
    MPI_Aint at = (MPI_Aint)rank * BYTES + byte;
    return flavor == DYNAMIC ? MPI_Aint_add(base[target], at) : at;
}

/* An operation: what it gives, what it brings back, what must come back. */
typedef struct {
    int what, op, width, target, first, count, step, with_request; /* elements of `width` bytes, `step` elements apart, from a byte on */
    unsigned char *give, *take, *must, compare[8];
    MPI_Request request;
    long number;
} operation;

static MPI_Datatype type_of(int width) { return width == 1 ? MPI_UINT8_T : width == 4 ? MPI_UINT32_T : MPI_UINT64_T; }

static uint64_t load(int width, const unsigned char *at) {
    uint64_t value = 0;
    memcpy(&value, at, (size_t)width);
    return value;
}

enum { ADD, SET, XOR, NONE, OPS };

static void apply(operation *o) {
    for (int i = 0; i < o->count; i++) {
        unsigned char *there = model[o->target] + o->first + i * o->step * o->width;
        uint64_t old = load(o->width, there), with = load(o->width, o->give + i * o->width), now = old;
        memcpy(o->must + i * o->width, there, (size_t)o->width);
        if (o->what == PUT) now = with;
        else if (o->what == SWAP) now = old == load(o->width, o->compare) ? with : old;
        else if (o->what != GET) now = o->op == ADD ? old + with : o->op == SET ? with : o->op == XOR ? old ^ with : old;
        memcpy(there, &now, (size_t)o->width);
    }
}

static void prepare(operation *o) {
    size_t bytes = (size_t)(o->count * o->width);
    o->give = need(bytes), o->take = need(bytes), o->must = need(bytes);
    for (size_t i = 0; i < bytes; i++) o->give[i] = (unsigned char)below(256), o->take[i] = 0x5A;
    memcpy(o->compare, model[o->target] + o->first, (size_t)o->width);
    if (below(3) == 0) o->compare[0] ^= 1;
    if ((o->what == FETCH || o->what == SWAP) && o->count != 1) o->what = GET_ACCUMULATE;
    if (o->what == SWAP) o->op = SET;
    if (o->what == ACCUMULATE && o->op == NONE) o->op = SET;
    o->request = MPI_REQUEST_NULL;
}

static void issue(operation *o) {
    static MPI_Op const ops[OPS] = {MPI_SUM, MPI_REPLACE, MPI_BXOR, MPI_NO_OP};
    MPI_Datatype one = type_of(o->width), there = one;
    MPI_Aint at = place(o->target, o->first);
    MPI_Op op = ops[o->op];
    int n = o->count, m = n, to = o->target, with = o->with_request;
    if (o->step > 1) {
        MPI_Type_vector(n, 1, o->step, one, &there);
        MPI_Type_commit(&there);
        m = 1;
    }
    switch (o->what) {
        case PUT:
            if (with) MPI_Rput(o->give, n, one, to, at, m, there, win, &o->request);
            else MPI_Put(o->give, n, one, to, at, m, there, win);
            break;
        case GET:
            if (with) MPI_Rget(o->take, n, one, to, at, m, there, win, &o->request);
            else MPI_Get(o->take, n, one, to, at, m, there, win);
            break;
        case ACCUMULATE:
            if (with) MPI_Raccumulate(o->give, n, one, to, at, m, there, op, win, &o->request);
            else MPI_Accumulate(o->give, n, one, to, at, m, there, op, win);
            break;
        case GET_ACCUMULATE:
            if (with) MPI_Rget_accumulate(o->give, n, one, o->take, n, one, to, at, m, there, op, win, &o->request);
            else MPI_Get_accumulate(o->give, n, one, o->take, n, one, to, at, m, there, op, win);
            break;
        case FETCH: MPI_Fetch_and_op(o->give, o->take, one, to, at, op, win); break;
        default: MPI_Compare_and_swap(o->give, o->compare, o->take, one, to, at, win);
    }
    if (o->step > 1) MPI_Type_free(&there);
}

static void over(operation *o, const char *row) {
    for (int i = 0; o->what != PUT && o->what != ACCUMULATE && i < o->count * o->width; i++)
        CHECK(o->take[i] == o->must[i], "window %d, operation %ld (%s) of %s: byte %d of %d from %d on rank %d is %d instead of %d", flavor, o->number,
              names[o->what], row, i, o->count * o->width, o->first, o->target, o->take[i], o->must[i]);
    free(o->give), free(o->take), free(o->must);
}

/* Completes some operations at the origin. */
static void complete(operation *all, int n, int way) {
    int alone = 0;
    for (int i = 0; i < n; i++) {
        alone += all[i].request == MPI_REQUEST_NULL;
        int flag = all[i].request == MPI_REQUEST_NULL;
        while (!flag && below(2)) MPI_Test(&all[i].request, &flag, MPI_STATUS_IGNORE);
        MPI_Wait(&all[i].request, MPI_STATUS_IGNORE);
    }
    if (alone && way == 0) MPI_Win_flush_local_all(win);
    else if (alone && way == 1) MPI_Win_flush_all(win);
    else if (alone)
        for (int i = 0; i < n; i++) MPI_Win_flush_local(all[i].target, win);
}

static void compare_all(const char *row) {
    unsigned char *seen = need(BYTES);
    for (int to = 0; to < size; to++) {
        MPI_Get(seen, BYTES, MPI_BYTE, to, place(to, 0), BYTES, MPI_BYTE, win);
        MPI_Win_flush_local(to, win);
        for (int i = 0; i < BYTES; i++)
            CHECK(seen[i] == model[to][i], "window %d, after %s: byte %d on rank %d is %d instead of %d", flavor, row, i, to, seen[i], model[to][i]);
    }
    free(seen);
}

/* Three operations on one place, and what is there then; as ranks of a program on top of windows do. */
static void rows(void) {
    static const int counts[] = {1, 10, 200, 3000}, widths[] = {8, 1};
    char row[80];
    for (int w = 0; w < 2; w++)
        for (int c = 0; c < 4 && counts[c] <= longest; c++)
            for (int number = 0; number < KINDS * KINDS * KINDS; number++) {
                int what[3] = {number / (KINDS * KINDS), number / KINDS % KINDS, number % KINDS}, to = (rank + 1 + number % size) % size;
                if (counts[c] > 1 && (what[0] > GET_ACCUMULATE || what[1] > GET_ACCUMULATE || what[2] > GET_ACCUMULATE)) continue;
                if (counts[c] > 10 && number % 3 != c % 3) continue;
                snprintf(row, sizeof row, "%s, %s, %s of %d times %d bytes", names[what[0]], names[what[1]], names[what[2]], counts[c], widths[w]);
                for (int i = 0; i < 4; i++) {
                    operation o = {.what = i < 3 ? what[i] : GET, .op = i % 2, .width = widths[w], .target = to, .first = 64, .count = counts[c], .step = 1,
                                   .with_request = number % 5 == i, .number = i};
                    prepare(&o);
                    issue(&o);
                    apply(&o);
                    complete(&o, 1, 2);
                    over(&o, row);
                }
            }
    compare_all("all rows");
}

/* ---- Threads that take turns */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static long steps;

/* Operations that do not touch each other, completed together. */
static void step(long number) {
    operation all[BURST];
    int n = 1 + below(BURST), part = BYTES / n / 8 * 8, target = below(size), way = below(24);
    for (int i = 0; i < n; i++) {
        static const int widths[] = {1, 4, 8};
        int width = widths[below(3)], kind = below(10), most = part / width - 8, near = below(2);
        operation o = {.what = below(KINDS), .op = below(OPS), .width = width, .target = below(4) ? target : below(size), .number = number};
        o.with_request = below(3) == 0;
        o.count = kind < 5 ? 1 : kind < 8 ? 1 + below(30) : 1 + below(most < longest ? most : longest);
        o.step = below(4) == 0 && 2 * o.count < most ? 2 : 1;
        /* Nearly always where others are; elements in their natural places, but bytes. */
        int room = part - (o.count - 1) * o.step * width - width;
        o.first = i * part + below((near && room > 64 ? 64 : room) / width + 1) * width;
        prepare(&o);
        all[i] = o;
    }
    for (int i = 0; i < n; i++) issue(&all[i]), apply(&all[i]);
    complete(all, n, way);
    for (int i = 0; i < n; i++) over(&all[i], "random ones");
}

static void *take_turns(void *own) {
    int me = *(int *)own;
    for (long number = me; number < steps; number += threads) {
        pthread_mutex_lock(&mutex);
        while (turn != me) pthread_cond_wait(&changed, &mutex);
        pthread_mutex_unlock(&mutex);
        step(number);
        pthread_mutex_lock(&mutex);
        turn = (turn + 1) % threads;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

static void at_random(void) {
    pthread_t others[MOST_THREADS];
    int numbers[MOST_THREADS] = {0, 1, 2, 3};
    turn = 0;
    steps -= steps % threads;
    for (int t = 1; t < threads; t++) CHECK(pthread_create(&others[t], NULL, take_turns, &numbers[t]) == 0, "a thread");
    take_turns(&numbers[0]);
    for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
    compare_all("random operations");
}

static int one_node(void) {
    MPI_Comm node;
    int here;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    MPI_Allreduce(MPI_IN_PLACE, &here, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return here == size;
}

static void run(void) {
    MPI_Aint bytes = (MPI_Aint)size * BYTES;
    unsigned char *users = need((size_t)bytes);
    if (flavor == CREATED) MPI_Win_create(mine = users, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else if (flavor == ALLOCATED) MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    else if (flavor == SHARED) MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    else {
        MPI_Aint address;
        /* Two pieces side by side: some operations lie in both. */
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, mine = users, bytes / 2);
        MPI_Win_attach(win, users + bytes / 2, bytes - bytes / 2);
        MPI_Get_address(users, &address);
        MPI_Allgather(&address, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    memset(mine, 0, (size_t)bytes);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    MPI_Win_unlock(rank, win);
    for (int to = 0; to < size; to++) model[to] = need(BYTES), memset(model[to], 0, BYTES);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    rows();
    at_random();
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (flavor == DYNAMIC) MPI_Win_detach(win, users), MPI_Win_detach(win, users + bytes / 2);
    MPI_Win_free(&win);
    free(users);
    for (int to = 0; to < size; to++) free(model[to]);
}

int main(int argc, char **argv) {
    int provided;
    long seed = argc > 1 ? atol(argv[1]) : 1, asked = argc > 2 ? atol(argv[2]) : 300;
    threads = argc > 3 ? atoi(argv[3]) : 1;
    if (argc > 4) longest = atoi(argv[4]);
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(size <= MOST_RANKS && threads >= 1 && threads <= MOST_THREADS, "%d ranks, %d threads", size, threads);
    int shared = one_node();
    for (flavor = 0; flavor < FLAVORS; flavor++) {
        if (flavor == SHARED && !shared) continue;
        state = (uint64_t)seed * 0x9E3779B97F4A7C15ul + (uint64_t)(rank * FLAVORS + flavor);
        steps = asked;
        run();
    }
    return end();
}
