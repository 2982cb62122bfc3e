/* Rectangles of everybody's memory that are put, added to and read back, as programs do that keep global arrays in windows: an operation is complete at the
 * origin before the next one on the same place is issued, and what it wrote is there for that. Windows of three flavors, places of every form, completion
 * by local flushes and by requests, one target after the other and all at once.
 *
 * Forms, ways of completion and flavors meet each two and all three; a way for each patch, form, flavor and number of ranks.
 *
 * usage: rma_patches [MOST ROWS OF A PATCH] */
#include "check.h"

enum { ROWS = 40, COLS = 64, CELLS = ROWS * COLS, MOST_RANKS = 8, ROUNDS = 2 };
enum { CREATED, ALLOCATED, DYNAMIC, FLAVORS };
enum { CONTIGUOUS, VECTOR, SUBARRAY, LISTED, BY_ROWS, FORMS };
enum { FLUSH_ONE, FLUSH_ALL, REQUESTS, WAYS };
enum { PUT, ADD, GET, READ };

static int rank, size, flavor, form, way, most = 12;
static MPI_Win win;
/* Each rank has a panel of its own in each rank's memory. */
static MPI_Aint base[MOST_RANKS];
static double *give[MOST_RANKS], *take[MOST_RANKS], *model[MOST_RANKS];

typedef struct {
    int rows, cols, row, col;
} patch;

/* A patch of a panel as a type, and the cell where that begins. */
static MPI_Datatype type_of(const patch *p, int *from) {
    MPI_Datatype type;
    int sizes[2] = {ROWS, COLS}, parts[2] = {p->rows, p->cols}, starts[2] = {p->row, p->col}, places[ROWS];
    *from = form == SUBARRAY ? 0 : p->row * COLS + p->col;
    for (int i = 0; i < p->rows; i++) places[i] = (p->rows - 1 - i) * COLS;
    switch (form) {
        case CONTIGUOUS:
        case BY_ROWS: MPI_Type_contiguous(p->cols, MPI_DOUBLE, &type); break;
        case VECTOR: MPI_Type_vector(p->rows, p->cols, COLS, MPI_DOUBLE, &type); break;
        case SUBARRAY: MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_DOUBLE, &type); break;
        default: MPI_Type_create_indexed_block(p->rows, p->cols, places, MPI_DOUBLE, &type);
    }
    MPI_Type_commit(&type);
    return type;
}

/* One operation on a patch of a rank. */
static void issue(int what, const patch *p, int to, MPI_Request *request) {
    int from;
    MPI_Datatype type = type_of(p, &from);
    double *out = give[to] + from, *in = take[to] + from;
    MPI_Aint at = ((MPI_Aint)rank * CELLS + from) * (MPI_Aint)sizeof(double);
    MPI_Aint there = flavor == DYNAMIC ? MPI_Aint_add(base[to], at) : at;
    if (way == REQUESTS) switch (what) {
            case PUT: MPI_Rput(out, 1, type, to, there, 1, type, win, request); break;
            case ADD: MPI_Raccumulate(out, 1, type, to, there, 1, type, MPI_SUM, win, request); break;
            case GET: MPI_Rget(in, 1, type, to, there, 1, type, win, request); break;
            default: MPI_Rget_accumulate(NULL, 0, type, in, 1, type, to, there, 1, type, MPI_NO_OP, win, request);
        }
    else switch (what) {
            case PUT: MPI_Put(out, 1, type, to, there, 1, type, win); break;
            case ADD: MPI_Accumulate(out, 1, type, to, there, 1, type, MPI_SUM, win); break;
            case GET: MPI_Get(in, 1, type, to, there, 1, type, win); break;
            default: MPI_Get_accumulate(NULL, 0, type, in, 1, type, to, there, 1, type, MPI_NO_OP, win);
        }
    MPI_Type_free(&type);
}

/* The same on a patch of each of some ranks, row by row or at once, complete at the origin behind it. */
static void carry_out(int what, const patch *p, int first, int n) {
    MPI_Request requests[MOST_RANKS * ROWS];
    int parts = form == BY_ROWS ? p->rows : 1, all = 0;
    for (int i = 0; i < n; i++) {
        int to = (first + i) % size;
        for (int row = 0; row < parts; row++) {
            patch part = {p->rows / parts, p->cols, p->row + row, p->col};
            issue(what, &part, to, &requests[all++]);
        }
        if (way == FLUSH_ONE) MPI_Win_flush_local(to, win);
    }
    if (way == FLUSH_ALL) MPI_Win_flush_local_all(win);
    if (way == REQUESTS) MPI_Waitall(all, requests, MPI_STATUSES_IGNORE);
}

/* Cells of a patch: new ones are made, put or added in the model, or what has come is compared with it. */
static void look_at(int what, const patch *p, int first, int n, int round) {
    for (int i = 0; i < n; i++)
        for (int cell = 0; cell < p->rows * p->cols; cell++) {
            int to = (first + i) % size, at = (p->row + cell / p->cols) * COLS + p->col + cell % p->cols;
            double value = 1 + cell + 1000 * round + 10000 * to;
            if (what == PUT) model[to][at] = give[to][at] = value;
            else if (what == ADD) model[to][at] += give[to][at] = value / 2;
            else
                CHECK(take[to][at] == model[to][at], "window %d, form %d, way %d, %d ranks from %d on: cell %d of %d by %d on rank %d: %g, not %g", flavor, form,
                      way, n, first, cell, p->rows, p->cols, to, take[to][at], model[to][at]);
        }
}

static void one(int what, const patch *p, int first, int n, int round) {
    if (what == PUT || what == ADD) look_at(what, p, first, n, round);
    carry_out(what, p, first, n);
    if (what == GET || what == READ) look_at(what, p, first, n, round);
}

/* Kinds of operations behind each other: each before each, and a put before a put. */
static const int sequence[] = {PUT, ADD, GET, PUT, PUT, READ, ADD, READ, PUT, GET, ADD, PUT, GET};

static void all_patches(void) {
    static const patch patches[] = {{1, 1, 3, 5}, {1, 50, 7, 2}, {5, 7, 3, 4}, {12, 50, ROWS - 12, 3}};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 4; i++)
            for (form = 0; form < FORMS; form++) {
                if ((form == CONTIGUOUS && patches[i].rows > 1) || patches[i].rows > most) continue;
                way = (form + i + round + flavor) % WAYS;
                /* One rank, another for each setting, and all at once. */
                int n = round % 2 ? size : 1, first = rank + i + form + way;
                for (size_t k = 0; k < sizeof sequence / sizeof *sequence; k++) one(sequence[k], &patches[i], first, n, round);
            }
    /* Nothing else was written. */
    patch all = {ROWS, COLS, 0, 0};
    form = VECTOR, way = FLUSH_ALL;
    one(GET, &all, 0, size, 0);
}

static void run(void) {
    MPI_Aint bytes = (MPI_Aint)size * CELLS * (MPI_Aint)sizeof(double), address;
    double *mine, *users = need((size_t)bytes);
    if (flavor == CREATED) MPI_Win_create(mine = users, bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    else if (flavor == ALLOCATED) MPI_Win_allocate(bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    else MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_Win_attach(win, mine = users, bytes);
    MPI_Get_address(mine, &address);
    MPI_Allgather(&address, 1, MPI_AINT, base, 1, MPI_AINT, MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win);
    for (int i = 0; i < size * CELLS; i++) mine[i] = -1;
    MPI_Win_unlock(rank, win);
    for (int to = 0; to < size; to++)
        for (int i = 0; i < CELLS; i++) model[to][i] = -1, take[to][i] = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, win);
    all_patches();
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (flavor == DYNAMIC) MPI_Win_detach(win, users);
    MPI_Win_free(&win);
    free(users);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    if (argc > 1) most = atoi(argv[1]);
    CHECK(size <= MOST_RANKS, "%d ranks", size);
    for (int to = 0; to < size; to++)
        give[to] = need(CELLS * sizeof(double)), take[to] = need(CELLS * sizeof(double)), model[to] = need(CELLS * sizeof(double));
    for (flavor = 0; flavor < FLAVORS; flavor++) run();
    for (int to = 0; to < size; to++) free(give[to]), free(take[to]), free(model[to]);
    return end();
}
