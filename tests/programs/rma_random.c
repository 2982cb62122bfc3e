/* Random operations on windows against a model: every rank works out from a seed what all ranks do and what all memory must hold.
 *
 * usage: rma_random FIRST_SEED SEEDS SECONDS [THREADS]
 *
 * A seed gives a window (flavor, unit of displacement, basic type of each part) and a row of epochs (fence, post and start, lock, lock_all). A
 * rank's memory has a part for each origin and thread, where only that one operates, and a shared part for all.
 *
 *   own part    puts and gets on elements that no other operation of the same phase touches, or a chain of accumulates on the same
 *               elements, whose order and old values are checked; phases are apart by flushes (passive epochs) or by the epoch's end
 *   shared part accumulates of one operation that commutes, from everybody, on elements that overlap
 *   tickets     fetch and add by everybody: every old value comes once; an increment by compare and swap; under exclusive locks
 *               an increment by get and put
 *
 * Layouts at origin and target are blocks, vectors, and lists of blocks in any order, from one element to thousands. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>

enum { MOST_RANKS = 8, MOST_THREADS = 8, EPOCHS = 6, PHASES = 3, OPERATIONS = 8, TICKETS = 4 };
typedef uint64_t word;

static int rank, size, threads = 1;
static long seed;

/* ---- Numbers that are the same everywhere */

typedef struct { word state; } dice;

static dice dice_of(long a, long b, long c, long d) {
    word x = (word)a * 0x9E3779B97F4A7C15ul ^ (word)b * 0xBF58476D1CE4E5B9ul ^ (word)c * 0x94D049BB133111EBul ^ (word)d * 0xD6E8FEB86659FD93ul;
    return (dice){x ^ x >> 31};
}

static word roll(dice *d) {
    word x = d->state += 0x9E3779B97F4A7C15ul;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ul;
    x = (x ^ x >> 27) * 0x94D049BB133111EBul;
    return x ^ x >> 31;
}

static int below(dice *d, int n) { return n > 0 ? (int)(roll(d) % (word)n) : 0; }

/* ---- Basic types and what operations make of them */

enum { BYTES, SHORTS, INTS, LONGS, DOUBLES, KINDS };
static const int width[KINDS] = {1, 2, 4, 8, 8};

static MPI_Datatype type_of(int kind) {
    MPI_Datatype all[KINDS] = {MPI_UINT8_T, MPI_INT16_T, MPI_INT32_T, MPI_INT64_T, MPI_DOUBLE};
    return all[kind];
}

static int64_t load(int kind, const void *at) {
    switch (kind) {
        case BYTES: return *(const uint8_t *)at;
        case SHORTS: return *(const int16_t *)at;
        case INTS: return *(const int32_t *)at;
        case LONGS: return *(const int64_t *)at;
        default: return (int64_t) * (const double *)at;
    }
}

static void store(int kind, void *at, int64_t value) {
    switch (kind) {
        case BYTES: *(uint8_t *)at = (uint8_t)value; break;
        case SHORTS: *(int16_t *)at = (int16_t)value; break;
        case INTS: *(int32_t *)at = (int32_t)value; break;
        case LONGS: *(int64_t *)at = value; break;
        default: *(double *)at = (double)value;
    }
}

enum { ADD, LEAST, MOST, XOR, AND, OR, SET, NONE, OPS };

static MPI_Op op_of(int op) {
    MPI_Op all[OPS] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_BXOR, MPI_BAND, MPI_BOR, MPI_REPLACE, MPI_NO_OP};
    return all[op];
}

static int64_t apply(int op, int64_t old, int64_t with) {
    switch (op) {
        case ADD: return (int64_t)((word)old + (word)with);
        case LEAST: return with < old ? with : old;
        case MOST: return with > old ? with : old;
        case XOR: return old ^ with;
        case AND: return old & with;
        case OR: return old | with;
        case SET: return with;
        default: return old;
    }
}

/* An operation that commutes, for this type. */
static int commuting(dice *d, int kind) { return below(d, kind == DOUBLES ? 3 : 6); }

/* ---- The window's plan */

typedef struct { int kind, first, count; } part; /* elements of a kind, from a byte on */

static part own[MOST_RANKS][MOST_THREADS], shared_part;
static int ticket_byte, memory_bytes, unit, flavor;
static unsigned char *model[MOST_RANKS], *mine;
static MPI_Aint base[MOST_RANKS];
static MPI_Win win;

static void plan_window(void) {
    dice d = dice_of(seed, 1, 2, 3);
    int units[] = {1, 1, 8, 4}, at = 0, large = below(&d, 4) == 0;
    unit = units[below(&d, 4)];
    flavor = below(&d, 4);
    ticket_byte = at;
    at += 8 * TICKETS;
    for (int r = 0; r < size; r++)
        for (int t = 0; t < threads; t++) {
            part *p = &own[r][t];
            p->kind = below(&d, KINDS), p->first = at, p->count = 1 + below(&d, large ? 20000 : 200);
            at += (p->count * width[p->kind] + 7) / 8 * 8 + 8;
        }
    shared_part.kind = below(&d, KINDS), shared_part.first = at, shared_part.count = 1 + below(&d, large ? 5000 : 100);
    at += (shared_part.count * width[shared_part.kind] + 7) / 8 * 8;
    memory_bytes = at;
}

/* ---- One operation */

enum { PUT, GET, ACCUMULATE, GET_ACCUMULATE, FETCH, SWAP };

typedef struct {
    int what, op, with_request, target, count;
    int *there; /* elements of the part, in the order of the data */
    int layout_here;
} operation;

/* `count` different elements from a stretch, as a block, a vector, or in any order. */
static int pick(dice *d, int first, int stretch, int **list) {
    int how = below(d, 4), n;
    int *all = need((size_t)(stretch + 1) * sizeof *all);
    if (how == 0) {
        n = stretch;
        for (int i = 0; i < n; i++) all[i] = first + i;
    } else if (how == 1) {
        int step = 1 + below(d, 5);
        n = 0;
        for (int i = 0; i < stretch; i += step) all[n++] = first + i;
    } else if (how == 2) {
        /* Blocks and gaps of any length. */
        n = 0;
        for (int i = 0; i < stretch; i += below(d, 4))
            for (int k = 1 + below(d, 3); k > 0 && i < stretch; k--) all[n++] = first + i++;
    } else {
        /* The same backwards or shuffled, one element at a time. */
        int most = stretch > 300 ? 300 : stretch, stride = stretch / (most ? most : 1);
        n = most;
        for (int i = 0; i < n; i++) all[i] = first + i * (stride ? stride : 1);
        for (int i = n - 1; i > 0; i--) {
            int k = below(d, i + 1), x = all[i];
            all[i] = all[k], all[k] = x;
        }
    }
    *list = all;
    return n;
}

/* The type whose data is these elements; `*count` of it. */
static MPI_Datatype layout(dice *d, int kind, const int *list, int n, int *count) {
    MPI_Datatype made;
    int step = n > 1 ? list[1] - list[0] : 1, even = 1;
    for (int i = 1; i < n; i++) even = even && list[i] - list[i - 1] == step;
    if (even && step == 1 && (n == 0 || list[0] == 0) && below(d, 2)) {
        *count = n;
        MPI_Type_contiguous(1, type_of(kind), &made);
    } else if (even && n > 0 && below(d, 2)) {
        MPI_Datatype vector;
        int one = 1;
        MPI_Aint at = (MPI_Aint)list[0] * width[kind];
        MPI_Type_vector(n, 1, step, type_of(kind), &vector);
        MPI_Type_create_hindexed(1, &one, &at, vector, &made);
        MPI_Type_free(&vector);
        *count = 1;
    } else {
        /* Blocks as long as they go. */
        int *lengths = need((size_t)(n + 1) * sizeof *lengths), *starts = need((size_t)(n + 1) * sizeof *starts), blocks = 0;
        for (int i = 0; i < n; i++) {
            if (blocks && starts[blocks - 1] + lengths[blocks - 1] == list[i]) lengths[blocks - 1]++;
            else starts[blocks] = list[i], lengths[blocks++] = 1;
        }
        MPI_Type_indexed(blocks, lengths, starts, type_of(kind), &made);
        free(lengths), free(starts);
        *count = 1;
    }
    MPI_Type_commit(&made);
    return made;
}

static int64_t value_at(long epoch, long origin, long thread, long number, long i) {
    dice d = dice_of(seed * 1000 + epoch, origin * 100 + thread, number, i);
    return (int64_t)(roll(&d) % 100);
}

/* Where element i of the origin's data lies: one behind the other, or with gaps, or backwards. */
static int here(const operation *o, int i) {
    return o->layout_here == 0 ? i : o->layout_here == 1 ? 3 * i + 1 : 2 * (o->count - 1 - i);
}
static int room_here(const operation *o) { return 3 * o->count + 2; }

/* The phase's operations of one origin and thread on its own parts. A phase is of puts and gets, or a chain of accumulates. */
static int plan_phase(long epoch, int origin, int thread, int phase, operation *all) {
    dice d = dice_of(seed * 100 + epoch, origin * 100 + thread, phase, 7);
    const part *p = &own[origin][thread];
    int n = below(&d, OPERATIONS), chain = below(&d, 2), target = below(&d, size), kind = p->kind;
    int chain_op = kind == DOUBLES ? (below(&d, 2) ? ADD : SET) : below(&d, NONE);
    int swaps = chain && kind != DOUBLES && below(&d, 4) == 0;
    for (int i = 0; i < n; i++) {
        operation *o = &all[i];
        /* Puts and gets share the part out among them. */
        int first = chain ? 0 : (int)((long)p->count * i / n), last = chain ? p->count : (int)((long)p->count * (i + 1) / n);
        o->with_request = below(&d, 3) == 0;
        o->layout_here = below(&d, 3);
        o->target = chain ? target : below(&d, size);
        o->op = chain_op;
        if (!chain) o->what = below(&d, 2) ? PUT : GET;
        else if (swaps) o->what = SWAP;
        else o->what = ACCUMULATE + below(&d, 3);
        if (chain && !swaps && o->what != ACCUMULATE && below(&d, 3) == 0) o->op = NONE;
        o->count = pick(&d, first, last - first, &o->there);
        if ((o->what == FETCH || o->what == SWAP) && o->count > 1) o->count = 1;
        if ((o->what == FETCH || o->what == SWAP) && o->count == 0) o->what = PUT;
    }
    return n;
}

/* ---- Carrying it out, for real and on the model */

typedef struct { unsigned char *give, *take; } buffers; /* what is sent, and what came back */

static MPI_Aint place(int target, int byte) {
    if (flavor == 3) return MPI_Aint_add(base[target], byte);
    return byte / unit;
}

static MPI_Datatype here_type(const operation *o, int kind, int *count) {
    int *list = need((size_t)(o->count + 1) * sizeof *list);
    dice d = dice_of(seed, o->count, o->layout_here, 5);
    for (int i = 0; i < o->count; i++) list[i] = here(o, i);
    MPI_Datatype made = layout(&d, kind, list, o->count, count);
    free(list);
    return made;
}

static void issue(const operation *o, const part *p, long epoch, int thread, int number, buffers *b, int may_request, MPI_Request *request) {
    int kind = p->kind, n = room_here(o), count_here, count_there;
    dice d = dice_of(seed, epoch, number, thread);
    MPI_Aint at = place(o->target, p->first);
    b->give = need((size_t)n * width[kind]), b->take = need((size_t)n * width[kind]);
    memset(b->give, 0x55, (size_t)n * width[kind]), memset(b->take, 0x55, (size_t)n * width[kind]);
    for (int i = 0; i < o->count; i++)
        store(kind, b->give + (size_t)here(o, i) * width[kind], value_at(epoch, rank, thread, number, i));
    MPI_Datatype one = type_of(kind), there = layout(&d, kind, o->there, o->count, &count_there), mem = here_type(o, kind, &count_here);
    *request = MPI_REQUEST_NULL;
    int with = o->with_request && may_request;
    if (o->what == FETCH || o->what == SWAP) {
        void *give = b->give + (size_t)here(o, 0) * width[kind], *take = b->take + (size_t)here(o, 0) * width[kind];
        at = place(o->target, p->first + o->there[0] * width[kind]);
        if (o->what == FETCH) MPI_Fetch_and_op(give, take, one, o->target, at, op_of(o->op), win);
        else {
            unsigned char compare[8];
            store(kind, compare, value_at(epoch, rank, thread, number, -1) % 3);
            MPI_Compare_and_swap(give, compare, take, one, o->target, at, win);
        }
    } else if (o->what == PUT) {
        if (with) MPI_Rput(b->give, count_here, mem, o->target, at, count_there, there, win, request);
        else MPI_Put(b->give, count_here, mem, o->target, at, count_there, there, win);
    } else if (o->what == GET) {
        if (with) MPI_Rget(b->take, count_here, mem, o->target, at, count_there, there, win, request);
        else MPI_Get(b->take, count_here, mem, o->target, at, count_there, there, win);
    } else if (o->what == ACCUMULATE) {
        if (with) MPI_Raccumulate(b->give, count_here, mem, o->target, at, count_there, there, op_of(o->op), win, request);
        else MPI_Accumulate(b->give, count_here, mem, o->target, at, count_there, there, op_of(o->op), win);
    } else {
        if (with) MPI_Rget_accumulate(b->give, count_here, mem, b->take, count_here, mem, o->target, at, count_there, there, op_of(o->op), win, request);
        else MPI_Get_accumulate(b->give, count_here, mem, b->take, count_here, mem, o->target, at, count_there, there, op_of(o->op), win);
    }
    /* A type may go while operations that use it are on their way. */
    MPI_Type_free(&there), MPI_Type_free(&mem);
}

/* On the model; `took`: what must have come back, where this rank's operation is asked for. */
static void model_one(const operation *o, const part *p, long epoch, int origin, int thread, int number, int64_t *took) {
    unsigned char *memory = model[o->target] + p->first;
    for (int i = 0; i < o->count; i++) {
        void *at = memory + (size_t)o->there[i] * width[p->kind];
        int64_t old = load(p->kind, at), with = value_at(epoch, origin, thread, number, i);
        if (took) took[i] = old;
        if (o->what == PUT) store(p->kind, at, with);
        else if (o->what == SWAP) {
            if (old == value_at(epoch, origin, thread, number, -1) % 3) store(p->kind, at, with);
        } else if (o->what != GET) store(p->kind, at, apply(o->op, old, with));
    }
}

static int gives_back(const operation *o) { return o->what != PUT && o->what != ACCUMULATE; }

static void compare_taken(const operation *o, const part *p, const buffers *b, const int64_t *took, long epoch, int phase, int number) {
    for (int i = 0; i < o->count; i++) {
        int64_t got = load(p->kind, b->take + (size_t)here(o, i) * width[p->kind]);
        CHECK(got == took[i], "seed %ld, epoch %ld, phase %d, operation %d (kind %d, op %d) on rank %d, element %d of %d: %ld instead of %ld", seed,
              epoch, phase, number, o->what, o->op, o->target, i, o->count, (long)got, (long)took[i]);
    }
}

/* ---- Epochs */

enum { FENCE, GROUPS, LOCKS, ALL_LOCKED, EXCLUSIVE, SYNCS };

static int is_passive(int sync) { return sync == LOCKS || sync == ALL_LOCKED; }

/* Fetch and op, compare and swap want their element at a multiple of the unit; others of the chain take their places elsewhere. */
static void put_in_place(operation *o, const part *p) {
    if (flavor == 3 || (o->what != FETCH && o->what != SWAP) || o->there[0] * width[p->kind] % unit == 0) return;
    if (o->what == SWAP) o->op = NONE;
    o->what = GET_ACCUMULATE;
}

static int shared_op(long epoch) {
    dice d = dice_of(seed, epoch, 77, 1);
    return commuting(&d, shared_part.kind);
}

/* The shared part's operation of this number; the same thread's go to different ranks. */
static int plan_shared(long epoch, int origin, int thread, int number, operation *o) {
    dice d = dice_of(seed, epoch * 100 + thread, origin, 1000 + number);
    o->what = below(&d, 2) ? ACCUMULATE : GET_ACCUMULATE;
    o->op = shared_op(epoch);
    o->with_request = below(&d, 3) == 0;
    o->target = below(&d, size);
    o->layout_here = below(&d, 3);
    o->count = pick(&d, 0, shared_part.count, &o->there);
    return below(&d, 3) > 0;
}

typedef struct {
    long epoch;
    int thread, sync;
    long tickets[MOST_RANKS][3];
} work;

/* Waits for the phase's requests and operations. */
static void end_phase(const work *w, int phase, int n, MPI_Request *requests, int may_flush) {
    MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
    dice d = dice_of(seed, w->epoch, phase, w->thread);
    if (may_flush) {
        if (below(&d, 2)) MPI_Win_flush_all(win);
        else
            for (int r = 0; r < size; r++) MPI_Win_flush(r, win);
    }
}

static operation plans[MOST_THREADS][PHASES][OPERATIONS + 2];
static buffers bufs[MOST_THREADS][PHASES][OPERATIONS + 2];
static int counts[MOST_THREADS][PHASES];

static void *operate(void *argument) {
    work *w = argument;
    int passive = is_passive(w->sync), phases = passive ? PHASES : 1;
    for (int phase = 0; phase < phases; phase++) {
        operation *all = plans[w->thread][phase];
        MPI_Request requests[OPERATIONS + 2];
        const part *parts[OPERATIONS + 2];
        int n = plan_phase(w->epoch, rank, w->thread, phase, all), own_ones = n;
        for (int i = 0; i < 2; i++) n += plan_shared(w->epoch, rank, w->thread, phase * 2 + i, &all[n]) ? 1 : (free(all[n].there), 0);
        for (int i = 0; i < n; i++) {
            parts[i] = i < own_ones ? &own[rank][w->thread] : &shared_part;
            requests[i] = MPI_REQUEST_NULL;
            put_in_place(&all[i], parts[i]);
            issue(&all[i], parts[i], w->epoch, w->thread, phase * 100 + i, &bufs[w->thread][phase][i], passive, &requests[i]);
        }
        counts[w->thread][phase] = n;
        end_phase(w, phase, n, requests, passive);
    }
    /* Tickets: one by fetch and add, one by compare and swap until it succeeds. */
    for (int to = 0; to < size && passive; to++) {
        int64_t one = 1, old, seen = 0, next, back;
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, to, place(to, ticket_byte), MPI_SUM, win);
        MPI_Win_flush_local(to, win);
        w->tickets[to][0] = old;
        for (;;) {
            next = seen + 1;
            MPI_Compare_and_swap(&next, &seen, &back, MPI_INT64_T, to, place(to, ticket_byte + 8), win);
            MPI_Win_flush(to, win);
            if (back == seen) break;
            seen = back;
        }
        w->tickets[to][1] = seen;
    }
    return NULL;
}

/* Everybody's operations of the epoch on the model; ours are compared with what came back. */
static void model_epoch(long epoch, int sync) {
    int phases = is_passive(sync) ? PHASES : 1;
    for (int origin = 0; origin < size; origin++)
        for (int t = 0; t < threads; t++)
            for (int phase = 0; phase < phases; phase++) {
                operation all[OPERATIONS + 2];
                int n = plan_phase(epoch, origin, t, phase, all), own_ones = n;
                for (int i = 0; i < 2; i++) n += plan_shared(epoch, origin, t, phase * 2 + i, &all[n]) ? 1 : (free(all[n].there), 0);
                for (int i = 0; i < n; i++) {
                    const part *p = i < own_ones ? &own[origin][t] : &shared_part;
                    operation *o = &all[i];
                    int64_t *took = need((size_t)(o->count + 1) * sizeof *took);
                    put_in_place(o, p);
                    model_one(o, p, epoch, origin, t, phase * 100 + i, took);
                    if (origin == rank && i < own_ones && gives_back(o)) compare_taken(o, p, &bufs[t][phase][i], took, epoch, phase, i);
                    free(took), free(o->there);
                }
            }
    for (int t = 0; t < threads; t++)
        for (int phase = 0; phase < phases; phase++)
            for (int i = 0; i < counts[t][phase]; i++) {
                free(plans[t][phase][i].there);
                free(bufs[t][phase][i].give), free(bufs[t][phase][i].take);
            }
}

/* Every ticket was drawn once. */
static void check_tickets(work *all, int sync) {
    if (!is_passive(sync)) return;
    int n = size * threads;
    long *drawn = need((size_t)n * sizeof *drawn), mine_drawn[MOST_THREADS];
    char *seen = need((size_t)n);
    for (int to = 0; to < size; to++)
        for (int which = 0; which < 2; which++) {
            int64_t first = load(LONGS, model[to] + ticket_byte + 8 * which);
            for (int t = 0; t < threads; t++) mine_drawn[t] = all[t].tickets[to][which];
            MPI_Allgather(mine_drawn, threads, MPI_LONG, drawn, threads, MPI_LONG, MPI_COMM_WORLD);
            memset(seen, 0, (size_t)n);
            for (int i = 0; i < n; i++) {
                long number = drawn[i] - (long)first;
                CHECK(number >= 0 && number < n && !seen[number], "seed %ld: ticket %ld of rank %d (kind %d) is drawn wrongly", seed, drawn[i], to, which);
                seen[number] = 1;
            }
            store(LONGS, model[to] + ticket_byte + 8 * which, first + n);
        }
    free(drawn), free(seen);
}

/* Under exclusive locks an increment may be a get and a put. */
static void count_exclusively(void) {
    for (int i = 0; i < size; i++) {
        int to = (rank + i) % size;
        int64_t value;
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, to, 0, win);
        MPI_Get(&value, 1, MPI_INT64_T, to, place(to, ticket_byte + 16), 1, MPI_INT64_T, win);
        MPI_Win_flush(to, win);
        value++;
        MPI_Put(&value, 1, MPI_INT64_T, to, place(to, ticket_byte + 16), 1, MPI_INT64_T, win);
        MPI_Win_unlock(to, win);
    }
    for (int to = 0; to < size; to++) store(LONGS, model[to] + ticket_byte + 16, load(LONGS, model[to] + ticket_byte + 16) + size);
}

static void open_epoch(int sync, MPI_Group group) {
    if (sync == FENCE) MPI_Win_fence(0, win);
    if (sync == GROUPS) MPI_Win_post(group, 0, win), MPI_Win_start(group, 0, win);
    if (sync == LOCKS)
        for (int r = 0; r < size; r++) MPI_Win_lock(MPI_LOCK_SHARED, r, 0, win);
    if (sync == ALL_LOCKED) MPI_Win_lock_all(0, win);
}

static void close_epoch(int sync) {
    if (sync == FENCE) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    if (sync == GROUPS) MPI_Win_complete(win), MPI_Win_wait(win);
    if (sync == LOCKS)
        for (int r = size - 1; r >= 0; r--) MPI_Win_unlock(r, win);
    if (sync == ALL_LOCKED) MPI_Win_unlock_all(win);
}

static void compare_memory(long epoch, int sync) {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    int right = memcmp(mine, model[rank], (size_t)memory_bytes) == 0;
    for (int i = 0; !right && i < memory_bytes; i++)
        CHECK(mine[i] == model[rank][i], "seed %ld, epoch %ld (kind %d): byte %d of %d is %d instead of %d", seed, epoch, sync, i, memory_bytes, mine[i], model[rank][i]);
    MPI_Win_unlock(rank, win);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run_epoch(long epoch, MPI_Group group) {
    dice d = dice_of(seed, epoch, 11, 13);
    int sync = below(&d, SYNCS);
    if (sync == EXCLUSIVE) {
        count_exclusively();
    } else {
        work all[MOST_THREADS];
        pthread_t others[MOST_THREADS];
        open_epoch(sync, group);
        for (int t = 0; t < threads; t++) all[t] = (work){.epoch = epoch, .thread = t, .sync = sync};
        for (int t = 1; t < threads; t++) CHECK(pthread_create(&others[t], NULL, operate, &all[t]) == 0, "a thread");
        operate(&all[0]);
        for (int t = 1; t < threads; t++) pthread_join(others[t], NULL);
        close_epoch(sync);
        model_epoch(epoch, sync);
        check_tickets(all, sync);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    compare_memory(epoch, sync);
}

static void run_seed(MPI_Group group) {
    unsigned char *users = NULL;
    plan_window();
    for (int r = 0; r < size; r++) model[r] = need((size_t)memory_bytes), memset(model[r], 0, (size_t)memory_bytes);
    if (flavor == 1) {
        MPI_Comm node;
        int on_node;
        MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
        MPI_Comm_size(node, &on_node);
        MPI_Comm_free(&node);
        MPI_Allreduce(MPI_IN_PLACE, &on_node, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
        if (on_node < size) flavor = 2;
    }
    if (flavor == 0 || flavor == 3) users = need((size_t)memory_bytes);
    if (flavor == 0) MPI_Win_create(mine = users, memory_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else if (flavor == 1) MPI_Win_allocate_shared(memory_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    else if (flavor == 2) MPI_Win_allocate(memory_bytes, unit, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    else {
        MPI_Aint address;
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
        MPI_Win_attach(win, mine = users, memory_bytes);
        MPI_Get_address(users, &address);
        MPI_Allgather(&address, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD);
    }
    memset(mine, 0, (size_t)memory_bytes);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    for (long epoch = 0; epoch < EPOCHS; epoch++) run_epoch(epoch, group);
    if (flavor == 3) MPI_Win_detach(win, users);
    MPI_Win_free(&win);
    free(users);
    for (int r = 0; r < size; r++) free(model[r]);
}

int main(int argc, char **argv) {
    int provided, go = 1;
    long first = argc > 1 ? atol(argv[1]) : 1, seeds = argc > 2 ? atol(argv[2]) : 20, ran = 0;
    double seconds = argc > 3 ? atof(argv[3]) : 60;
    threads = argc > 4 ? atoi(argv[4]) : 1;
    MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(size <= MOST_RANKS && threads <= MOST_THREADS, "%d ranks, %d threads", size, threads);
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    double began = MPI_Wtime();
    for (seed = first; seed < first + seeds; seed++, ran++) {
        go = MPI_Wtime() - began < seconds;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!go) break;
        run_seed(group);
    }
    MPI_Group_free(&group);
    if (rank == 0) printf("%ld seeds from %ld\n", ran, first);
    return end();
}
