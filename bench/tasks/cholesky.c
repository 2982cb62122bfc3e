/* Tiled Cholesky factorisation by a small dataflow task runtime.
 *
 * The lower triangle of a symmetric matrix of T x T tiles lies dealt over the ranks, tile (i,j) at rank
 * (i + j*(j+1)/2) mod P. A task (factor, solve, update) runs at the rank that has the tile it writes, when
 * the tiles it reads are there. A tile that is final is sent to every rank with a task that reads it; that rank
 * has a receive posted for it from the start, with the tile's number as tag. Every rank runs W worker
 * threads, which take ready tasks, and ask for completed communication when there are none (runtime.h; -m).
 *
 * In the end the factor is collected on rank 0 and |A - L L^T| / (|A| n eps) printed; above 10 the program
 * fails. */
#include "runtime.h"

#include <math.h>

typedef struct {
    double *data;   /* null: not here */
    int missing;    /* updates that are not done yet, at the owner */
    int final;      /* factored or solved, and here */
    int wanted;     /* some task here reads it */
} Tile;

/* A task's kind: 0 factor (k,k), 1 solve (i,k), 2 update (i,j) by column k. */
static Tile *tiles;

static int number(int i, int j) { return i * (i + 1) / 2 + j; }
static Tile *tile(int i, int j) { return &tiles[number(i, j)]; }
static int owner(int i, int j) { return (i + j * (j + 1) / 2) % P; }

/* ---- the dataflow, under `lock` ---- */

static int here(int i, int j) { return owner(i, j) == me; }

/* All updates of a tile of ours are done. */
static void updated(int i, int j) {
    if (i == j) enqueue(0, i, i, i);
    else if (tile(j, j)->final) enqueue(1, i, j, j);
}

/* A tile became final: what waits for it and for nothing else? */
static void became_final(int i, int k) {
    tile(i, k)->final = 1;
    if (i == k) {
        for (int r = k + 1; r < T; r++)
            if (here(r, k) && tile(r, k)->missing == 0) enqueue(1, r, k, k);
        return;
    }
    /* Updates (a,b) -= L(a,k) L(b,k)^T with one of both being this tile. */
    for (int b = k + 1; b <= i; b++)
        if (here(i, b) && tile(b, k)->final) enqueue(2, i, b, k);
    for (int a = i + 1; a < T; a++)
        if (here(a, i) && tile(a, k)->final) enqueue(2, a, i, k);
}

/* Which ranks read tile (i,k) once it is final. */
static void readers(int i, int k, char *reads) {
    memset(reads, 0, P);
    if (i == k)
        for (int r = k + 1; r < T; r++) reads[owner(r, k)] = 1;
    else {
        for (int b = k + 1; b <= i; b++) reads[owner(i, b)] = 1;
        for (int a = i + 1; a < T; a++) reads[owner(a, i)] = 1;
    }
}

/* ---- the work on tiles, row-major B x B ---- */

static void factor(double *a) {
    for (int j = 0; j < B; j++) {
        double d = a[j * B + j];
        for (int k = 0; k < j; k++) d -= a[j * B + k] * a[j * B + k];
        if (d <= 0) die("the matrix is not positive definite");
        d = a[j * B + j] = sqrt(d);
        for (int i = j + 1; i < B; i++) {
            double s = a[i * B + j];
            for (int k = 0; k < j; k++) s -= a[i * B + k] * a[j * B + k];
            a[i * B + j] = s / d;
        }
        for (int i = 0; i < j; i++) a[i * B + j] = 0;
    }
}

static void solve(double *a, const double *l) {
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
            double s = a[i * B + j];
            for (int k = 0; k < j; k++) s -= a[i * B + k] * l[j * B + k];
            a[i * B + j] = s / l[j * B + j];
        }
}

static void update(double *c, const double *a, const double *b) {
    for (int i = 0; i < B; i++)
        for (int j = 0; j < B; j++) {
            double s = 0;
            for (int k = 0; k < B; k++) s += a[i * B + k] * b[j * B + k];
            c[i * B + j] -= s;
        }
}

/* ---- workers ---- */

static char sent; /* its address: the data of a send */

static void send_to_readers(int i, int k) {
    char *reads = need(P);
    readers(i, k, reads);
    for (int r = 0; r < P; r++) {
        if (!reads[r] || r == me) continue;
        MPI_Request request;
        __atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
        MPI_Isend(tile(i, k)->data, B * B, MPI_DOUBLE, r, number(i, k), MPI_COMM_WORLD, &request);
        started(&request, &sent);
    }
    free(reads);
}

/* One update of a tile at a time: those that come meanwhile are put behind. */
static pthread_mutex_t *tile_locks;

static void run(Task *t) {
    double *c = tile(t->i, t->j)->data;
    if (t->kind == 0) factor(c);
    if (t->kind == 1) solve(c, tile(t->k, t->k)->data);
    if (t->kind == 2) {
        pthread_mutex_lock(&tile_locks[number(t->i, t->j)]);
        update(c, tile(t->i, t->k)->data, tile(t->j, t->k)->data);
        pthread_mutex_unlock(&tile_locks[number(t->i, t->j)]);
    } else {
        send_to_readers(t->i, t->k);
    }
    pthread_mutex_lock(&lock);
    if (t->kind == 2) {
        if (--tile(t->i, t->j)->missing == 0) updated(t->i, t->j);
    } else {
        became_final(t->i, t->k);
    }
    pthread_mutex_unlock(&lock);
    __atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL);
    free(t);
}

static void arrived(void *data) {
    if (data != &sent) {
        int n = (int)((Tile *)data - tiles), i = 0;
        while (number(i + 1, 0) <= n) i++;
        pthread_mutex_lock(&lock);
        became_final(i, n - number(i, 0));
        pthread_mutex_unlock(&lock);
    }
    __atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL);
}

/* ---- the matrix ---- */

static double entry(long r, long c) {
    long n = (long)T * B;
    if (r == c) return (double)n;
    unsigned long x = (unsigned long)(r < c ? r * n + c : c * n + r) * 0x9E3779B97F4A7C15ul;
    return (double)(x >> 40) / (double)(1 << 24) - 0.5;
}

/* Tiles of ours with their values; receives for those that tasks of ours read. */
static void set_up(void) {
    tiles = need(number(T, 0) * sizeof *tiles);
    tile_locks = need(number(T, 0) * sizeof *tile_locks);
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            pthread_mutex_init(&tile_locks[number(i, j)], NULL);
            if (!here(i, j)) continue;
            Tile *t = tile(i, j);
            t->data = need(sizeof(double) * B * B);
            t->missing = j;
            left += 1 + j; /* its own task and its updates */
            for (int r = 0; r < B; r++)
                for (int c = 0; c < B; c++) t->data[r * B + c] = entry((long)i * B + r, (long)j * B + c);
        }
    char *reads = need(P);
    for (int i = 0; i < T; i++)
        for (int k = 0; k <= i; k++) {
            readers(i, k, reads);
            if (here(i, k) || !reads[me]) continue;
            Tile *t = tile(i, k);
            MPI_Request request;
            t->data = need(sizeof(double) * B * B);
            t->wanted = 1;
            left++;
            MPI_Irecv(t->data, B * B, MPI_DOUBLE, owner(i, k), number(i, k), MPI_COMM_WORLD, &request);
            started(&request, t);
        }
    free(reads);
    if (here(0, 0)) updated(0, 0);
    for (int i = 1; i < T; i++)
        if (here(i, 0)) updated(i, 0);
}

/* On rank 0: |A - L L^T| / (|A| n eps), in the maximum norm of entries. */
static double residual(void) {
    int n = T * B;
    double *l = me == 0 ? need(sizeof(double) * n * n) : NULL, worst = 0, largest = 0;
    double *from = need(sizeof(double) * B * B);
    for (int i = 0; i < T; i++)
        for (int j = 0; j <= i; j++) {
            int o = owner(i, j);
            if (me == o && me != 0) MPI_Send(tile(i, j)->data, B * B, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
            if (me != 0) continue;
            if (o != 0) MPI_Recv(from, B * B, MPI_DOUBLE, o, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            const double *t = o == 0 ? tile(i, j)->data : from;
            for (int r = 0; r < B; r++) memcpy(l + (size_t)(i * B + r) * n + j * B, t + r * B, B * sizeof *t);
        }
    free(from);
    if (me != 0) return 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
            double s = entry(i, j);
            if (fabs(s) > largest) largest = fabs(s);
            for (int k = 0; k <= j; k++) s -= l[(size_t)i * n + k] * l[(size_t)j * n + k];
            if (!(fabs(s) <= worst)) worst = fabs(s);
        }
    free(l);
    return worst / (largest * n * 2.220446049250313e-16);
}

int main(int argc, char **argv) {
    begin("cholesky", &argc, &argv);
    set_up();
    double time = run_all(), n = (double)T * B;
    end_messages();
    report(n * n * n / 3, time, residual());
    MPI_Finalize();
    return 0;
}
