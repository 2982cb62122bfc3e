/* A small dataflow task runtime: tasks that are ready, worker threads that run them, and messages whose completion makes others ready.
 *
 * The program names itself (`program`), gives `run` for a task and `arrived` for a message, and counts in `left` what is not over. It enqueues
 * tasks under `lock`; `run_all` returns when nothing is left.
 *
 * How workers ask for completed messages is what programs compare (-m):
 *   sync      all threads ask one MPIX_Sync object at the same time
 *   testsome  one thread at a time calls MPI_Testsome on the array of all requests
 * The second is all that the standard has for threads, since two threads may not test one request at once. */
#ifndef RUNTIME_H
#define RUNTIME_H

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(__has_include)
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

static const char *program;
/* Tiles per side, side of a tile, workers; ranks, this rank. */
static int T = 8, B = 32, W = 2, use_sync, P, me;

/* Work to be done: what `kind`, `i`, `j` and `k` mean is the program's. */
typedef struct Task {
    int kind, i, j, k;
    struct Task *next;
} Task;

static Task *ready_head, *ready_tail;
static long left; /* tasks and messages of this rank that are not over */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* A task of this rank, without any lock; the program frees it. */
static void run(Task *t);
/* A message is over: what the program gave `started` with it. */
static void arrived(void *data);

static void die(const char *what) {
    fprintf(stderr, "%s: rank %d: %s\n", program, me, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static void *need(size_t bytes) {
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p) die("no memory");
    return p;
}

/* ---- communication: start, and ask what is over ---- */

enum { MOST = 16 };
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;
static MPI_Request *requests; /* testsome: active ones are dense in 0 .. active */
static void **datas;
static int active, capacity;
static pthread_mutex_t fresh_lock = PTHREAD_MUTEX_INITIALIZER;
static MPI_Request *fresh; /* started and not yet in the array above */
static void **fresh_datas;
static int freshes, fresh_capacity;
#ifdef MPIX_HAVE_SYNC
static MPIX_Sync sync_;
#endif

static void grow(MPI_Request **r, void ***d, int *room, int wanted) {
    if (wanted <= *room) return;
    *room = wanted * 2 + 16;
    *r = realloc(*r, *room * sizeof **r);
    *d = realloc(*d, *room * sizeof **d);
    if (!*r || !*d) die("no memory");
}

static void started(MPI_Request *r, void *data) {
#ifdef MPIX_HAVE_SYNC
    if (use_sync) {
        if (MPIX_Sync_attach(sync_, r, data) != MPI_SUCCESS) die("attach");
        return;
    }
#endif
    pthread_mutex_lock(&fresh_lock);
    grow(&fresh, &fresh_datas, &fresh_capacity, freshes + 1);
    fresh[freshes] = *r;
    fresh_datas[freshes++] = data;
    pthread_mutex_unlock(&fresh_lock);
}

/* Up to MOST of what is over. */
static int completed(void **over) {
    int n = 0;
#ifdef MPIX_HAVE_SYNC
    if (use_sync) {
        MPIX_Sync_query_bulk(MOST, sync_, &n, over, MPI_STATUSES_IGNORE);
        return n;
    }
#endif
    static int *which, room;
    if (pthread_mutex_trylock(&asking) != 0) return 0;
    pthread_mutex_lock(&fresh_lock);
    grow(&requests, &datas, &capacity, active + freshes);
    memcpy(requests + active, fresh, freshes * sizeof *fresh);
    memcpy(datas + active, fresh_datas, freshes * sizeof *fresh_datas);
    active += freshes;
    freshes = 0;
    pthread_mutex_unlock(&fresh_lock);
    if (room < capacity) {
        room = capacity;
        which = realloc(which, room * sizeof *which);
        if (!which) die("no memory");
    }
    /* All that Testsome finds are over; those beyond MOST wait in a row of their own. */
    static void **row;
    static int rows, row_room;
    if (active > 0 && rows == 0) {
        int found;
        MPI_Testsome(active, requests, &found, which, MPI_STATUSES_IGNORE);
        if (found != MPI_UNDEFINED) {
            if (row_room < found) {
                row_room = found;
                row = realloc(row, row_room * sizeof *row);
                if (!row) die("no memory");
            }
            for (int i = 0; i < found; i++) row[rows++] = datas[which[i]];
            int kept = 0;
            for (int i = 0; i < active; i++)
                if (requests[i] != MPI_REQUEST_NULL) {
                    requests[kept] = requests[i];
                    datas[kept++] = datas[i];
                }
            active = kept;
        }
    }
    while (rows > 0 && n < MOST) over[n++] = row[--rows];
    pthread_mutex_unlock(&asking);
    return n;
}

/* ---- tasks and workers ---- */

/* Under `lock`. */
static void enqueue(int kind, int i, int j, int k) {
    Task *t = need(sizeof *t);
    *t = (Task){kind, i, j, k, NULL};
    if (ready_tail) ready_tail->next = t;
    else ready_head = t;
    ready_tail = t;
}

static void *work(void *unused) {
    while (__atomic_load_n(&left, __ATOMIC_ACQUIRE) > 0) {
        pthread_mutex_lock(&lock);
        Task *t = ready_head;
        if (t && !(ready_head = t->next)) ready_tail = NULL;
        pthread_mutex_unlock(&lock);
        if (t) {
            run(t);
            continue;
        }
        void *over[MOST];
        int n = completed(over);
        for (int i = 0; i < n; i++) arrived(over[i]);
        if (n == 0) sched_yield();
    }
    return unused;
}

/* All that is left, by W threads. Returns the seconds that the slowest rank took. */
static double run_all(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    double begin = MPI_Wtime();
    pthread_t *workers = need(W * sizeof *workers);
    for (int i = 1; i < W; i++)
        if (pthread_create(&workers[i], NULL, work, NULL) != 0) die("no thread");
    work(NULL);
    for (int i = 1; i < W; i++) pthread_join(workers[i], NULL);
    free(workers);
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime() - begin;
}

/* ---- begin and end ---- */

static void options(int argc, char **argv) {
    const char *mode = "testsome";
#ifdef MPIX_HAVE_SYNC
    mode = "sync";
#endif
    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "-t")) T = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-b")) B = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-w")) W = atoi(argv[i + 1]);
        else if (!strcmp(argv[i], "-m")) mode = argv[i + 1];
        else die("usage: [-t tiles] [-b side of a tile] [-w workers] [-m sync|testsome]");
    }
    if (T < 1 || B < 1 || W < 1) die("-t, -b and -w are at least 1");
    use_sync = !strcmp(mode, "sync");
    if (!use_sync && strcmp(mode, "testsome")) die("-m is sync or testsome");
#ifndef MPIX_HAVE_SYNC
    if (use_sync) die("this MPI library has no MPIX_Sync");
#endif
}

static void begin(const char *name, int *argc, char ***argv) {
    int provided;
    program = name;
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &P);
    options(*argc, *argv);
    if (provided < MPI_THREAD_MULTIPLE) die("needs MPI_THREAD_MULTIPLE");
#ifdef MPIX_HAVE_SYNC
    if (use_sync) MPIX_Sync_init(&sync_);
#endif
}

/* No message is under way any more. */
static void end_messages(void) {
#ifdef MPIX_HAVE_SYNC
    if (use_sync) MPIX_Sync_free(&sync_);
#endif
}

/* The line of results, of rank 0; a residual of 10 or more is a failure. */
static void report(double operations, double time, double residual) {
    if (me != 0) return;
    printf("%s %s ranks %d workers %d n %d tile %d seconds %.6f gflops %.3f residual %.3g\n", program,
           use_sync ? "sync" : "testsome", P, W, T * B, B, time, operations / 1e9 / time, residual);
    if (!(residual < 10)) die("the residual is too large");
}

#endif
