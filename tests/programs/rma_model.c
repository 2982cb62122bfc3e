/* Random operations against a model: types, displacements, epochs, flavours, threads' turn left out. Every rank draws the same numbers, so it
 * knows what all do, and computes what its own memory has to be.
 *
 * In each epoch a word belongs to one origin, which may put it, replace it or get it, or to all, which add to it. Usage: rma_model [seeds] */
#include "check.h"

#include <stdint.h>

enum { WORDS = 240, MOST = 8, ROUNDS = 12 };
static int rank, size;
static uint64_t state;

static uint32_t draw(uint32_t below) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state * 0x2545F4914F6CDD1Dull) >> 33) % below;
}

/* Words of eight bytes of one target, as all ranks draw them. */
typedef struct {
    int target, origin, kind, first, count, stride;
    long value;
} Draw;
enum { PUT, GET, REPLACE, ADD, FETCH_ADD, ADD_SHORT, SWAP, KINDS };

static long model[64][WORDS];
static long before[64][WORDS];

static long *mine;
static MPI_Aint bases[64];
static MPI_Win win;
static int dynamic;

static MPI_Aint at(int target, int word) {
    return dynamic ? bases[target] + (MPI_Aint)sizeof(long) * word : word;
}

static MPI_Datatype shape(const Draw *d) {
    MPI_Datatype type;
    MPI_Type_vector(d->count, 1, d->stride, MPI_LONG, &type);
    MPI_Type_commit(&type);
    return type;
}

/* The value that the origin sends for the i-th word. */
static long sent(const Draw *d, int i) { return d->value + 7 * i; }

static long buffers[64][WORDS], results[64][WORDS];

static void operate(const Draw *d, int number) {
    long *data = buffers[number], *back = results[number];
    for (int i = 0; i < d->count; i++) data[i] = sent(d, i), back[i] = -1;
    MPI_Datatype type = shape(d);
    const MPI_Aint where = at(d->target, d->first);
    switch (d->kind) {
    case PUT: MPI_Put(data, d->count, MPI_LONG, d->target, where, 1, type, win); break;
    case GET: MPI_Get(back, d->count, MPI_LONG, d->target, where, 1, type, win); break;
    case REPLACE: MPI_Accumulate(data, d->count, MPI_LONG, d->target, where, 1, type, MPI_REPLACE, win); break;
    case ADD: MPI_Accumulate(data, d->count, MPI_LONG, d->target, where, 1, type, MPI_SUM, win); break;
    case FETCH_ADD:
        MPI_Get_accumulate(data, d->count, MPI_LONG, back, d->count, MPI_LONG, d->target, where, 1, type, MPI_SUM, win);
        break;
    case ADD_SHORT: {
        /* Four shorts in each word, which go under the lock. */
        MPI_Datatype four, shorts;
        MPI_Type_contiguous(4, MPI_SHORT, &four);
        MPI_Type_create_hvector(d->count, 1, (MPI_Aint)sizeof(long) * d->stride, four, &shorts);
        MPI_Type_commit(&shorts);
        short *ones = (short *)data;
        for (int i = 0; i < 4 * d->count; i++) ones[i] = 1;
        MPI_Accumulate(ones, 4 * d->count, MPI_SHORT, d->target, where, 1, shorts, MPI_SUM, win);
        MPI_Type_free(&shorts);
        MPI_Type_free(&four);
        break;
    }
    default: MPI_Fetch_and_op(data, back, MPI_LONG, d->target, where, MPI_REPLACE, win);
    }
    MPI_Type_free(&type);
}

static void apply(const Draw *d) {
    for (int i = 0; i < d->count; i++) {
        long *word = &model[d->target][d->first + i * d->stride];
        switch (d->kind) {
        case PUT: case REPLACE: case SWAP: *word = sent(d, i); break;
        case ADD: case FETCH_ADD: *word = (long)((unsigned long)*word + (unsigned long)sent(d, i)); break;
        case ADD_SHORT: {
            short parts[4];
            memcpy(parts, word, sizeof parts);
            for (int j = 0; j < 4; j++) parts[j] = (short)(parts[j] + 1);
            memcpy(word, parts, sizeof parts);
            break;
        }
        default: break;
        }
    }
}

/* Words of one target that do not overlap with those of other draws of the epoch but where all add. */
static int draws(Draw *all) {
    static char taken[64][WORDS];
    memset(taken, 0, sizeof taken);
    int count = 0;
    for (int tries = 0; tries < 6 * size && count < 60; tries++) {
        Draw d = {.target = (int)draw(size), .origin = (int)draw(size), .kind = (int)draw(KINDS)};
        d.count = d.kind == SWAP ? 1 : 1 + (int)draw(MOST);
        d.stride = 1 + (int)draw(3);
        d.first = (int)draw(WORDS - MOST * 3);
        d.value = (long)draw(1 << 30) * 3 + d.origin;
        /* Marks above 1: operations that may share a word with others of their kind. */
        const char mark = d.kind == ADD ? 2 : d.kind == ADD_SHORT ? 3 : d.kind == GET ? 4 : 1;
        int fits = 1;
        for (int i = 0; i < d.count; i++) {
            const char there = taken[d.target][d.first + i * d.stride];
            fits = fits && (there == 0 || (there == mark && mark > 1));
        }
        if (!fits) continue;
        for (int i = 0; i < d.count; i++) taken[d.target][d.first + i * d.stride] = mark;
        all[count++] = d;
    }
    return count;
}

static void check_results(const Draw *all, int count, int round) {
    for (int n = 0; n < count; n++) {
        const Draw *d = &all[n];
        if (d->origin != rank || (d->kind != GET && d->kind != FETCH_ADD && d->kind != SWAP)) continue;
        for (int i = 0; i < d->count; i++) {
            const long due = before[d->target][d->first + i * d->stride];
            CHECK(results[n][i] == due, "round %d: operation %d of kind %d on rank %d, word %d: %ld, not %ld", round, n,
                  d->kind, d->target, d->first + i * d->stride, results[n][i], due);
        }
    }
}

static void epoch(const Draw *all, int count, int sync) {
    MPI_Group world, all_ranks;
    switch (sync) {
    case 0: MPI_Win_fence(0, win); break;
    case 1: MPI_Win_lock_all(0, win); break;
    case 2:
        MPI_Comm_group(MPI_COMM_WORLD, &world);
        all_ranks = world;
        MPI_Win_post(all_ranks, 0, win);
        MPI_Win_start(all_ranks, 0, win);
        MPI_Group_free(&world);
        break;
    default: break;
    }
    for (int n = 0; n < count; n++) {
        if (all[n].origin != rank) continue;
        if (sync >= 3) MPI_Win_lock(sync == 3 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, all[n].target, 0, win);
        operate(&all[n], n);
        if (sync == 1 && n % 3 == 0) MPI_Win_flush(all[n].target, win);
        if (sync >= 3) MPI_Win_unlock(all[n].target, win);
    }
    switch (sync) {
    case 0: MPI_Win_fence(0, win); break;
    case 1: MPI_Win_unlock_all(win); break;
    case 2:
        MPI_Win_complete(win);
        MPI_Win_wait(win);
        break;
    default: break;
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

static void play(int flavour, uint64_t seed) {
    static long own[WORDS];
    state = seed * 0x9E3779B97F4A7C15ull + 1;
    for (int i = 0; i < 8; i++) draw(2);
    mine = own;
    dynamic = flavour == 2;
    const MPI_Aint bytes = sizeof own;
    if (flavour == 0) MPI_Win_create(own, bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    if (flavour == 1) MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    if (flavour == 2) {
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, own, bytes);
        MPI_Aint base;
        MPI_Get_address(own, &base);
        MPI_Allgather(&base, 1, MPI_AINT, bases, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    memset(mine, 0, bytes);
    MPI_Win_unlock(rank, win);
    memset(model, 0, sizeof model);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int round = 0; round < ROUNDS; round++) {
        Draw all[64];
        const int count = draws(all), sync = (int)draw(5);
        memcpy(before, model, sizeof before);
        for (int n = 0; n < count; n++) apply(&all[n]);
        epoch(all, count, sync);
        check_results(all, count, round);
        MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win);
        for (int i = 0; i < WORDS; i++)
            CHECK(mine[i] == model[rank][i], "flavour %d, seed %lu, round %d, sync %d, word %d: %ld, not %ld", flavour,
                  (unsigned long)seed, round, sync, i, mine[i], model[rank][i]);
        MPI_Win_unlock(rank, win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    if (dynamic) MPI_Win_detach(win, own);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    const int seeds = argc > 1 ? atoi(argv[1]) : 4;
    for (int seed = 1; seed <= seeds; seed++)
        for (int flavour = 0; flavour < 3; flavour++) play(flavour, (uint64_t)seed);
    return end();
}
