/* Five-point stencil by verbs: ranks of threads, each thread with a queue pair to the rank above and one to the rank below.
 *
 *   stencil [-r RANKS] [-t THREADS] [-c CATEGORY] [-y ROWS] [-x COLUMNS] [-k ITERATIONS]
 *
 * ROWS of a rank and COLUMNS in all; both directions close in themselves. A thread computes a part of the columns, and writes that part of its
 * rank's first and last row to the neighbours' halo, behind it the number of the iteration. Requests are posted one by one, each with a signal. The
 * field is compared with that of one process. Prints times, and the objects of a rank. */
#define _GNU_SOURCE
#include "../give_way.h"
#include "endpoints.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 32, UP, DOWN };

static struct setup s = {.threads = 4, .context = 1, .pd = 1, .mr = 1, .qp = 1, .cq = 1, .buffer = 1, .pairs = 2, .message = 8, .aligned = 1,
                         .depth = 8, .postlist = 1, .unsignaled = 1, .use_inline = 1, .blue_flame = 1};
static int ranks = 4, rank, rows = 8, columns = 64, iterations = 20;
static struct endpoint *ends;
static pthread_barrier_t together;
static double exchange[MOST_THREADS];

/* Of a rank: what others write. Halos by parity of the iteration and side, marks by side and thread. */
static struct landing {
    _Atomic uint64_t mark[2][MOST_THREADS];
    double halo[][2];
} *landing;
static double *field[2];

static struct meeting {
    pthread_barrier_t ranks;
    /* By rank, thread and pair: 0 to the rank above, 1 to that below. */
    struct place places[MOST_RANKS][MOST_THREADS * 2];
    double seconds[MOST_RANKS], exchange[MOST_RANKS];
    struct objects made[MOST_RANKS];
    long pages[MOST_RANKS], registers[MOST_RANKS];
    /* Of rank 0: what its messages took. */
    long before[COUNTERS], after[COUNTERS];
    double result[];
} *meeting;

static double start(int row, int column) { return (row * 131 + column * 17) % 29; }
static double *halo(int parity, int side) { return (double *)(void *)landing->halo + (size_t)(parity * 2 + side) * columns; }
static size_t landing_bytes(void) { return sizeof *landing + 4 * sizeof(double) * columns; }
static double mean(double up, double down, double left, double right) { return (up + down + left + right) * 0.25; }

/* Writes a part of a row to the halo of a neighbour, then the iteration's number. The neighbour above has us below, and the other way round. */
static void give(struct endpoint *e, int pair, int iteration, double *from, int first, int n, uint64_t *word) {
    int other = (rank + (pair == 0 ? ranks - 1 : 1)) % ranks, side = pair == 0 ? 1 : 0;
    const struct place *to = &meeting->places[other][e->number * 2 + side];
    size_t at = sizeof *landing + ((size_t)(iteration % 2 * 2 + side) * columns + first) * sizeof(double);
    struct ibv_sge data = {(uint64_t)(uintptr_t)from, (uint32_t)(n * sizeof(double)), e->mr->lkey};
    struct ibv_sge mark = {(uint64_t)(uintptr_t)word, sizeof *word, e->mr->lkey};
    struct ibv_send_wr list[2] = {{.opcode = IBV_WR_RDMA_WRITE, .sg_list = &data, .num_sge = 1},
                                  {.opcode = IBV_WR_RDMA_WRITE, .sg_list = &mark, .num_sge = 1}};
    list[0].wr.rdma.remote_addr = to->address + at;
    list[1].wr.rdma.remote_addr = to->address + (size_t)(side * MOST_THREADS + e->number) * sizeof *word;
    list[0].wr.rdma.rkey = list[1].wr.rdma.rkey = to->key;
    post(&s, e, pair, &list[0], 1, 1);
    post(&s, e, pair, &list[1], 1, 1);
}

static void *work(void *argument) {
    struct endpoint *e = argument;
    int me = e->number, first = columns * me / s.threads, end = columns * (me + 1) / s.threads;
    uint64_t *words = (uint64_t *)(void *)(field[1] + (size_t)rows * columns) + (size_t)me * 2;
    for (int k = 1; k <= iterations; k++) {
        double *old = field[(k - 1) % 2], *new = field[k % 2], began = now();
        words[0] = words[1] = (uint64_t)k;
        give(e, 0, k, old + first, first, end - first, &words[0]);
        give(e, 1, k, old + (size_t)(rows - 1) * columns + first, first, end - first, &words[1]);
        for (int side = 0; side < 2; side++)
            for (unsigned looks = 0; atomic_load_explicit(&landing->mark[side][me], memory_order_acquire) < (uint64_t)k;) give_way(&looks);
        finish(e);
        exchange[me] += now() - began;
        for (int y = 0; y < rows; y++)
            for (int x = first; x < end; x++) {
                double up = y > 0 ? old[(y - 1) * columns + x] : halo(k % 2, 0)[x];
                double down = y < rows - 1 ? old[(y + 1) * columns + x] : halo(k % 2, 1)[x];
                new[y * columns + x] = mean(up, down, old[y * columns + (x + columns - 1) % columns], old[y * columns + (x + 1) % columns]);
            }
        pthread_barrier_wait(&together);
    }
    return NULL;
}

static void run_rank(void) {
    struct objects *made = &meeting->made[rank];
    size_t of_field = sizeof(double) * rows * columns, all = landing_bytes() + 2 * of_field + sizeof(uint64_t) * 2 * MOST_THREADS;
    char *memory[MOST_THREADS], *base = aligned_alloc(4096, (all + 4095) / 4096 * 4096);
    memset(base, 0, all);
    landing = (struct landing *)(void *)base;
    field[0] = (double *)(void *)(base + landing_bytes());
    field[1] = field[0] + (size_t)rows * columns;
    for (int i = 0; i < rows * columns; i++) field[0][i] = start(rank * rows + i / columns, i % columns);
    for (int t = 0; t < s.threads; t++) memory[t] = base;
    long pages = counted("uar_pages"), registers = counted("uuars");
    ends = make_endpoints(&s, made, memory, all);
    meeting->pages[rank] = counted("uar_pages") - pages;
    meeting->registers[rank] = counted("uuars") - registers;
    places_of(&s, ends, meeting->places[rank]);
    pthread_barrier_wait(&meeting->ranks);
    /* The pair upwards talks with the downward one there. */
    for (int t = 0; t < s.threads; t += s.qp)
        for (int pair = 0; pair < 2; pair++) {
            int other = (rank + (pair == 0 ? ranks - 1 : 1)) % ranks;
            connect_to(ends[t].pairs[pair]->qp, &meeting->places[other][t * 2 + 1 - pair]);
        }
    pthread_barrier_wait(&meeting->ranks);
    pthread_barrier_init(&together, NULL, s.threads);
    pthread_t threads[MOST_THREADS];
    if (rank == 0) counters(meeting->before);
    double began = now();
    for (int t = 0; t < s.threads; t++)
        if (pthread_create(&threads[t], NULL, work, &ends[t])) fail("no thread");
    for (int t = 0; t < s.threads; t++) pthread_join(threads[t], NULL);
    meeting->seconds[rank] = now() - began;
    if (rank == 0) counters(meeting->after);
    for (int t = 0; t < s.threads; t++) meeting->exchange[rank] += exchange[t] / s.threads;
    memcpy(meeting->result + (size_t)rank * rows * columns, field[iterations % 2], of_field);
    /* Data that others write here has come, but their requests may not be over. */
    pthread_barrier_wait(&meeting->ranks);
    exit(0);
}

static void check(void) {
    int all = ranks * rows;
    double *old = malloc(sizeof *old * all * columns), *new = malloc(sizeof *new * all * columns);
    for (int i = 0; i < all * columns; i++) old[i] = start(i / columns, i % columns);
    for (int k = 0; k < iterations; k++) {
        for (int y = 0; y < all; y++)
            for (int x = 0; x < columns; x++)
                new[y * columns + x] = mean(old[(y + all - 1) % all * columns + x], old[(y + 1) % all * columns + x],
                                            old[y * columns + (x + columns - 1) % columns], old[y * columns + (x + 1) % columns]);
        double *swap = old;
        old = new;
        new = swap;
    }
    for (int i = 0; i < all * columns; i++)
        if (old[i] != meeting->result[i]) fail("row %d, column %d is %g, not %g", i / columns, i % columns, meeting->result[i], old[i]);
}

int main(int argc, char **argv) {
    const char *name = "dynamic";
    int option, status, bad = 0;
    while ((option = getopt(argc, argv, "r:t:c:y:x:k:")) != -1) {
        switch (option) {
        case 'r': ranks = atoi(optarg); break;
        case 't': s.threads = atoi(optarg); break;
        case 'c': name = optarg; break;
        case 'y': rows = atoi(optarg); break;
        case 'x': columns = atoi(optarg); break;
        case 'k': iterations = atoi(optarg); break;
        default: return 2;
        }
    }
    if (ranks < 1 || ranks > MOST_RANKS || s.threads < 1 || s.threads > MOST_THREADS) fail("1 to %d ranks, 1 to %d threads", MOST_RANKS, MOST_THREADS);
    if (columns < s.threads || rows < 2 || iterations < 1) fail("at least a column for each thread, two rows, one iteration");
    if (!category(&s, name)) fail("%s is no category", name);
    size_t bytes = sizeof *meeting + sizeof(double) * ranks * rows * columns;
    meeting = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (meeting == MAP_FAILED) fail("no shared memory");
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&meeting->ranks, &shared, ranks);
    for (rank = 0; rank < ranks; rank++) {
        pid_t child = start_child();
        if (child == 0) run_rank();
    }
    /* One that fails leaves the others waiting. */
    for (int n = 0; n < ranks; n++) {
        if (wait(&status) > 0 && status == 0) continue;
        bad = 1;
        kill(0, SIGTERM);
    }
    if (bad) fail("a rank failed");
    check();
    struct objects *o = &meeting->made[0];
    printf("%s %d.%d seconds=%.4f exchange=%.4f contexts=%d pds=%d mrs=%d qps=%d cqs=%d tds=%d", name, ranks, s.threads, meeting->seconds[0],
           meeting->exchange[0], o->contexts, o->pds, o->mrs, o->qps, o->cqs, o->tds);
    /* Two messages to each neighbour in each iteration: a part of a row, and the number behind it. */
    double messages = 4.0 * s.threads * iterations;
    printf(" rate=%.0f", messages * ranks / meeting->exchange[0]);
    if (meeting->before[0] >= 0) {
        printf(" uar_pages=%ld uuars=%ld", meeting->pages[0], meeting->registers[0]);
        print_counters(meeting->before, meeting->after, messages);
    }
    printf("\n");
    return 0;
}
