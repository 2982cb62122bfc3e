/* Tiled QR factorisation by a small dataflow task runtime (runtime.h), as PLASMA and DPLASMA have it (dgeqrf).
 *
 * A matrix of T x T tiles lies dealt over the ranks by columns, column j at rank j mod P. In step k the tile (k,k) is factored, and then each
 * tile (i,k) below together with the triangle that has come out so far; the reflectors of each, with the triangle that goes with them
 * in compact form (I - V S V^T), are sent to every rank with a column behind k. There they are applied in the same order to the tiles (k,j) and (i,j).
 * So a step of a column is a chain of tasks, each of which needs the one before it, the same tile's task of the step before, and
 * the reflectors.
 *
 * In the end R and all reflectors are collected on rank 0, and |A - Q R| / (|A| n eps) printed; above 10 the program fails. */
#include "runtime.h"

#include <math.h>

/* The tiles of a column; null: not ours. */
static double **columns;
/* Reflectors V of tile (i,k), B x B, and their triangle S behind them; null: not here. */
static double **reflectors;
static char *there; /* reflectors that are final, and here */
/* By column and step: how many tasks of the chain are done, and whether one is ready or runs. */
static int *done;
static char *busy;

static double *tile(int i, int j) { return columns[j] + (size_t)i * B * B; }
static int owner(int j) { return j % P; }
static int number(int i, int k) { return i * T + k; }
static int chain(int j, int k) { return j * T + k; }

/* ---- the work on tiles, row-major B x B; V and S as above ---- */

/* The reflector that takes (alpha, a vector of this norm) to (beta, 0): beta and tau; the vector is divided by alpha - beta. */
static double reflect(double alpha, double norm, double *beta) {
    if (norm == 0) {
        *beta = alpha;
        return 0;
    }
    double length = sqrt(alpha * alpha + norm * norm);
    *beta = alpha > 0 ? -length : length;
    return (*beta - alpha) / *beta;
}

/* Column c of S, from the products of V's columns before c with the one of c, and tau. */
static void triangle(double *s, int c, double tau, const double *products) {
    for (int a = 0; a < c; a++) {
        double sum = 0;
        for (int b = a; b < c; b++) sum += s[a * B + b] * products[b];
        s[a * B + c] = -tau * sum;
    }
    s[c * B + c] = tau;
}

/* Tile (k,k): R above and on the diagonal; V, with ones on its diagonal, and S. */
static void factor(double *a, double *v, double *s, double *row) {
    for (int c = 0; c < B; c++) {
        double norm = 0, beta;
        for (int r = c + 1; r < B; r++) norm += a[r * B + c] * a[r * B + c];
        double alpha = a[c * B + c], tau = reflect(alpha, sqrt(norm), &beta);
        v[c * B + c] = 1;
        for (int r = c + 1; r < B; r++) v[r * B + c] = tau == 0 ? 0 : a[r * B + c] / (alpha - beta);
        for (int x = 0; x < B; x++) row[x] = 0;
        for (int r = c; r < B; r++) {
            double one = v[r * B + c];
            for (int x = c + 1; x < B; x++) row[x] += one * a[r * B + x];
            for (int x = 0; x < c; x++) row[x] += one * v[r * B + x];
        }
        a[c * B + c] = beta;
        for (int r = c + 1; r < B; r++) a[r * B + c] = 0;
        for (int r = c; r < B; r++)
            for (int x = c + 1; x < B; x++) a[r * B + x] -= tau * v[r * B + c] * row[x];
        triangle(s, c, tau, row);
    }
}

/* The triangle R of tile (k,k) on top of tile (i,k): R anew, zeros below it; V, of the lower tile alone, and S. */
static void factor_below(double *r, double *a, double *v, double *s, double *row) {
    for (int c = 0; c < B; c++) {
        double norm = 0, beta;
        for (int x = 0; x < B; x++) norm += a[x * B + c] * a[x * B + c];
        double alpha = r[c * B + c], tau = reflect(alpha, sqrt(norm), &beta);
        for (int x = 0; x < B; x++) v[x * B + c] = tau == 0 ? 0 : a[x * B + c] / (alpha - beta);
        for (int x = 0; x < B; x++) row[x] = x > c ? r[c * B + x] : 0;
        for (int y = 0; y < B; y++) {
            double one = v[y * B + c];
            for (int x = c + 1; x < B; x++) row[x] += one * a[y * B + x];
            for (int x = 0; x < c; x++) row[x] += one * v[y * B + x];
        }
        r[c * B + c] = beta;
        for (int x = c + 1; x < B; x++) r[c * B + x] -= tau * row[x];
        for (int y = 0; y < B; y++) {
            a[y * B + c] = 0;
            for (int x = c + 1; x < B; x++) a[y * B + x] -= tau * v[y * B + c] * row[x];
        }
        triangle(s, c, tau, row);
    }
}

/* (I - V S V^T) or, transposed, (I - V S^T V^T), times `low`; with `top`, V has a unit matrix on top, and so many rows are there. */
static void apply(const double *v, const double *s, int transposed, double *top, double *low, double *w, double *sw) {
    size_t bytes = sizeof(double) * (size_t)B * B;
    if (top) memcpy(w, top, bytes);
    else memset(w, 0, bytes);
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++) {
            double one = v[r * B + c];
            for (int x = 0; x < B; x++) w[c * B + x] += one * low[r * B + x];
        }
    memset(sw, 0, bytes);
    for (int a = 0; a < B; a++)
        for (int b = a; b < B; b++) {
            double one = s[a * B + b];
            int from = transposed ? a : b, to = transposed ? b : a;
            for (int x = 0; x < B; x++) sw[to * B + x] += one * w[from * B + x];
        }
    if (top)
        for (int x = 0; x < B * B; x++) top[x] -= sw[x];
    for (int r = 0; r < B; r++)
        for (int c = 0; c < B; c++) {
            double one = v[r * B + c];
            for (int x = 0; x < B; x++) low[r * B + x] -= one * sw[c * B + x];
        }
}

/* ---- the dataflow ---- */

/* Under `lock`: makes the next task of a chain ready, if it is. */
static void look_at(int j, int k) {
    int at = chain(j, k), i = k + done[at];
    if (busy[at] || i >= T) return;
    if (k > 0 && k - 1 + done[chain(j, k - 1)] <= i) return;
    if (j > k && !there[number(i, k)]) return;
    busy[at] = 1;
    enqueue(0, i, j, k);
}

/* Under `lock`: the reflectors of (i,k) are here. */
static void became_final(int i, int k) {
    there[number(i, k)] = 1;
    for (int j = k + 1; j < T; j++)
        if (owner(j) == me) look_at(j, k);
}

static char sent; /* its address: the data of a send */

/* Whether a rank has a column behind k. */
static int reads(int r, int k) {
    for (int j = k + 1; j < T && j <= k + P; j++)
        if (owner(j) == r) return 1;
    return 0;
}

static void send_reflectors(int i, int k) {
    for (int r = 0; r < P; r++) {
        if (r == me || !reads(r, k)) continue;
        MPI_Request request;
        __atomic_add_fetch(&left, 1, __ATOMIC_RELAXED);
        MPI_Isend(reflectors[number(i, k)], 2 * B * B, MPI_DOUBLE, r, number(i, k), MPI_COMM_WORLD, &request);
        started(&request, &sent);
    }
}

static void run(Task *t) {
    int i = t->i, j = t->j, k = t->k, at = chain(j, k);
    size_t size = (size_t)B * B;
    double *v = reflectors[number(i, k)], *s = v + size, *room = need(sizeof(double) * 2 * size);
    double *above = tile(k, j), *own = tile(i, j);
    if (j == k && i == k) factor(own, v, s, room);
    else if (j == k) factor_below(above, own, v, s, room);
    else apply(v, s, 1, i == k ? NULL : above, own, room, room + size);
    free(room);
    if (j == k) send_reflectors(i, k);
    pthread_mutex_lock(&lock);
    done[at]++;
    busy[at] = 0;
    look_at(j, k);
    if (k + 1 <= j && k + 1 < T) look_at(j, k + 1);
    if (j == k) became_final(i, k);
    pthread_mutex_unlock(&lock);
    __atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL);
    free(t);
}

static void arrived(void *data) {
    if (data != &sent) {
        int n = (int)((double **)data - reflectors);
        pthread_mutex_lock(&lock);
        became_final(n / T, n % T);
        pthread_mutex_unlock(&lock);
    }
    __atomic_sub_fetch(&left, 1, __ATOMIC_ACQ_REL);
}

/* ---- the matrix ---- */

static double entry(long r, long c) {
    unsigned long x = (unsigned long)(r * (long)T * B + c + 1) * 0x9E3779B97F4A7C15ul;
    x ^= x >> 29;
    x *= 0xBF58476D1CE4E5B9ul;
    return (double)(x >> 40) / (double)(1 << 24) - 0.5;
}

/* Columns of ours with their values; receives for the reflectors that they need. */
static void set_up(void) {
    size_t size = (size_t)B * B, tiles = (size_t)T * T;
    columns = need(T * sizeof *columns);
    reflectors = need(tiles * sizeof *reflectors);
    there = need(tiles);
    done = need(tiles * sizeof *done);
    busy = need(tiles);
    for (int j = 0; j < T; j++) {
        if (owner(j) != me) continue;
        columns[j] = need(sizeof(double) * size * T);
        for (int i = 0; i < T; i++)
            for (int r = 0; r < B; r++)
                for (int c = 0; c < B; c++) tile(i, j)[r * B + c] = entry((long)i * B + r, (long)j * B + c);
        for (int k = 0; k <= j; k++) left += T - k;
    }
    for (int k = 0; k < T; k++)
        for (int i = k; i < T; i++) {
            if (owner(k) != me && !reads(me, k)) continue;
            double **here = &reflectors[number(i, k)];
            *here = need(sizeof(double) * 2 * size);
            if (owner(k) == me) continue;
            MPI_Request request;
            left++;
            MPI_Irecv(*here, (int)(2 * size), MPI_DOUBLE, owner(k), number(i, k), MPI_COMM_WORLD, &request);
            started(&request, here);
        }
    for (int j = 0; j < T; j++)
        if (owner(j) == me) look_at(j, 0);
}

/* On rank 0, once per item: what `from` has of it at its owner; freed by the caller. */
static double *collected(double *from, int at, size_t count) {
    if (at == 0 && me == 0) return from;
    if (me == at) MPI_Send(from, (int)count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (me != 0) return NULL;
    double *copy = need(sizeof(double) * count);
    MPI_Recv(copy, (int)count, MPI_DOUBLE, at, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return copy;
}

/* On rank 0: |A - Q R| / (|A| n eps), in the maximum norm of entries. Q is applied to R, from the last reflectors to the first. */
static double residual(void) {
    size_t size = (size_t)B * B;
    double worst = 0, largest = 0, *room = need(sizeof(double) * 2 * size);
    for (int j = 0; j < T; j++) {
        double *column = collected(columns[j], owner(j), size * T);
        if (me == 0) columns[j] = column;
    }
    for (int k = T - 1; k >= 0; k--)
        for (int i = T - 1; i >= k; i--) {
            double *v = collected(reflectors[number(i, k)], owner(k), 2 * size);
            if (me != 0) continue;
            for (int j = 0; j < T; j++) apply(v, v + size, 0, i == k ? NULL : tile(k, j), tile(i, j), room, room + size);
            if (owner(k) != 0) free(v);
        }
    free(room);
    if (me != 0) return 0;
    for (long r = 0; r < (long)T * B; r++)
        for (long c = 0; c < (long)T * B; c++) {
            double a = entry(r, c), apart = fabs(a - tile((int)(r / B), (int)(c / B))[r % B * B + c % B]);
            if (fabs(a) > largest) largest = fabs(a);
            if (!(apart <= worst)) worst = apart;
        }
    return worst / (largest * T * B * 2.220446049250313e-16);
}

int main(int argc, char **argv) {
    begin("qr", &argc, &argv);
    set_up();
    double time = run_all(), n = (double)T * B;
    end_messages();
    report(4 * n * n * n / 3, time, residual());
    MPI_Finalize();
    return 0;
}
