/* Global arrays by verbs: C = A B, all three in another process. Threads read tiles of A and B and write tiles of C; the result is compared
 * with the product that one process computes.
 *
 *   dgemm [-t THREADS] [-c CATEGORY] [-T TILE] [-g TILES]
 *
 * Arrays have TILES by TILES tiles of TILE by TILE numbers. Requests are posted one by one, each with a signal. Prints the times of a tile's
 * transfers and of the whole, and what transfers took where the device counts. */
#define _GNU_SOURCE
#include "endpoints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static struct setup s = {.threads = 4, .context = 1, .pd = 1, .mr = 1, .qp = 1, .cq = 1, .buffer = 1, .pairs = 1, .message = 8, .aligned = 1,
                         .depth = 8, .postlist = 1, .unsignaled = 1, .use_inline = 0, .blue_flame = 1};
static int tile = 16, tiles = 6;
static struct endpoint *ends;
static atomic_int next;
static double transfer[MOST_THREADS];
enum { A, B, C };

/* The two processes share this page alone: places, and where they are in their course. */
static struct meeting {
    struct place target[MOST_THREADS], client[MOST_THREADS];
    atomic_int step;
} *meeting;

static void wait_for(int step) {
    while (atomic_load(&meeting->step) < step) usleep(200);
}
static size_t tile_bytes(void) { return sizeof(double) * tile * tile; }
static size_t array_bytes(void) { return tile_bytes() * tiles * tiles; }
static double number(int array, int i) { return (array * 31 + i * 7) % 13 - 6; }

/* One request on a tile, and its end. */
static void move(struct endpoint *e, enum ibv_wr_opcode opcode, double *mine, int array, int row, int column) {
    double began = now();
    struct ibv_sge piece = {(uint64_t)(uintptr_t)mine, (uint32_t)tile_bytes(), e->mr->lkey};
    struct ibv_send_wr request = {.opcode = opcode, .sg_list = &piece, .num_sge = 1};
    const struct place *to = &meeting->target[e->number];
    request.wr.rdma.remote_addr = to->address + array * array_bytes() + (row * tiles + column) * tile_bytes();
    request.wr.rdma.rkey = to->key;
    post(&s, e, 0, &request, 1, 1);
    finish(e);
    transfer[e->number] += now() - began;
}

static void *work(void *argument) {
    struct endpoint *e = argument;
    double *a = (double *)(void *)e->buffer, *b = a + tile * tile, *c = b + tile * tile;
    for (int task; (task = atomic_fetch_add(&next, 1)) < tiles * tiles;) {
        int row = task / tiles, column = task % tiles;
        memset(c, 0, tile_bytes());
        for (int k = 0; k < tiles; k++) {
            move(e, IBV_WR_RDMA_READ, a, A, row, k);
            move(e, IBV_WR_RDMA_READ, b, B, k, column);
            for (int i = 0; i < tile; i++)
                for (int j = 0; j < tile; j++)
                    for (int l = 0; l < tile; l++) c[i * tile + j] += a[i * tile + l] * b[l * tile + j];
        }
        move(e, IBV_WR_RDMA_WRITE, c, C, row, column);
    }
    return NULL;
}

/* Element of an array whose tiles lie one behind the other. */
static double *element(double *array, int row, int column) {
    return array + (row / tile * tiles + column / tile) * tile * tile + row % tile * tile + column % tile;
}

static void be_target(void) {
    struct setup t = s;
    struct objects made = {0};
    t.context = t.pd = t.mr = t.cq = t.threads;
    t.domains = NO_DOMAINS;
    t.twice = 0;
    double *all = aligned_alloc(4096, (3 * array_bytes() + 4095) / 4096 * 4096);
    char *memory[MOST_THREADS];
    int side = tile * tiles;
    for (int i = 0; i < side * side; i++)
        for (int array = A; array <= C; array++) all[array * side * side + i] = array == C ? 1e300 : number(array, i);
    for (int n = 0; n < t.threads; n++) memory[n] = (char *)all;
    struct endpoint *mine = make_endpoints(&t, &made, memory, 3 * array_bytes());
    places_of(&t, mine, meeting->target);
    atomic_store(&meeting->step, 1);
    wait_for(2);
    connect_pairs(&t, mine, meeting->client);
    atomic_store(&meeting->step, 3);
    wait_for(4);
    double *a = all, *b = a + side * side, *c = b + side * side;
    for (int i = 0; i < side; i++)
        for (int j = 0; j < side; j++) {
            double sum = 0;
            for (int k = 0; k < side; k++) sum += *element(a, i, k) * *element(b, k, j);
            if (sum != *element(c, i, j)) fail("element %d, %d is %g, not %g", i, j, *element(c, i, j), sum);
        }
    exit(0);
}

int main(int argc, char **argv) {
    const char *name = "dynamic";
    int option, status;
    while ((option = getopt(argc, argv, "t:c:T:g:")) != -1) {
        switch (option) {
        case 't': s.threads = atoi(optarg); break;
        case 'c': name = optarg; break;
        case 'T': tile = atoi(optarg); break;
        case 'g': tiles = atoi(optarg); break;
        default: return 2;
        }
    }
    if (s.threads < 1 || s.threads > MOST_THREADS || tile < 1 || tiles < 1) fail("1 to %d threads, at least one tile", MOST_THREADS);
    if (!category(&s, name)) fail("%s is no category", name);
    meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (meeting == MAP_FAILED) fail("no shared memory");
    pid_t child = start_child();
    if (child == 0) be_target();
    struct objects made = {0};
    char *memory[MOST_THREADS], *all = aligned_alloc(4096, (3 * tile_bytes() * s.threads + 4095) / 4096 * 4096);
    for (int t = 0; t < s.threads; t++) memory[t] = all + 3 * tile_bytes() * t;
    long pages = counted("uar_pages"), registers = counted("uuars");
    ends = make_endpoints(&s, &made, memory, 3 * tile_bytes());
    pages = counted("uar_pages") - pages;
    registers = counted("uuars") - registers;
    wait_for(1);
    places_of(&s, ends, meeting->client);
    connect_pairs(&s, ends, meeting->target);
    atomic_store(&meeting->step, 2);
    wait_for(3);
    long before[COUNTERS], after[COUNTERS];
    int counts = counters(before);
    double began = now(), sum = 0;
    pthread_t threads[MOST_THREADS];
    for (int t = 0; t < s.threads; t++)
        if (pthread_create(&threads[t], NULL, work, &ends[t])) fail("no thread");
    for (int t = 0; t < s.threads; t++) pthread_join(threads[t], NULL);
    double took = now() - began;
    for (int t = 0; t < s.threads; t++) sum += transfer[t];
    counters(after);
    double moves = (double)tiles * tiles * (2 * tiles + 1);
    printf("%s threads=%d seconds=%.4f microseconds_a_transfer=%.2f rate=%.0f writes=%.6f", name, s.threads, took, sum / moves * 1e6, moves / took,
           1.0 / (2 * tiles + 1));
    printf(" contexts=%d qps=%d cqs=%d", made.contexts, made.qps, made.cqs);
    if (counts) {
        printf(" uar_pages=%ld uuars=%ld", pages, registers);
        print_counters(before, after, moves);
    }
    printf("\n");
    fflush(stdout);
    atomic_store(&meeting->step, 4);
    if (waitpid(child, &status, 0) != child || status != 0) fail("the product is wrong");
    return 0;
}
