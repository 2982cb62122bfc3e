/*
 * Search depth of a stencil's halo exchange when the threads of a rank post and send on their own.
 *
 *     ./depth [-r REPEATS] [-t THREADS] [-x SEED] [-p 9pt|27pt|amr]
 *
 * A model, not a measurement: no MPI, no clock, the same figures everywhere. A rank is a square (9
 * points) or a cube (27 points) of threads; every thread at the surface posts a receive for each
 * thread of other ranks that it borders on, and as many messages come. Threads run in any order: the
 * receives are posted in a random order, and the messages come in another. For each message the depth
 * is the number of receives that a search looks at up to the one it fits,
 *   list      in one list of the communicator,
 *   perpeer   in the list of the sending rank,
 * and the lines are the cache lines of keys and masks that fuzzy8 looks at for the same search. `amr` is
 * 512 receives from one rank, whatever the threads. -p prints that pattern alone. Output: means over all messages and repeats.
 */
#include "stencil.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The pattern that is asked for; NULL: all. */
static const char *only;

static void *need(size_t bytes) {
    void *memory = malloc(bytes ? bytes : 1);
    if (!memory) {
        fputs("depth: no memory\n", stderr);
        exit(1);
    }
    return memory;
}

static void model(const char *name, int threads, const int *from, int n, int repeats) {
    if (n <= 0 || (only && strcmp(only, name))) return;
    int *posted = need(sizeof(int) * (size_t)n), *coming = need(sizeof(int) * (size_t)n);
    char *gone = need((size_t)n);
    double list = 0, peer = 0, lines = 0;
    for (int r = 0; r < repeats; r++) {
        for (int i = 0; i < n; i++) posted[i] = coming[i] = i;
        shuffle(posted, n);
        shuffle(coming, n);
        memset(gone, 0, (size_t)n);
        for (int m = 0; m < n; m++) {
            int walked = 0, of_peer = 0, at = 0;
            for (;; at++) {
                if (gone[at]) continue;
                walked++;
                of_peer += from[posted[at]] == from[coming[m]];
                if (posted[at] == coming[m]) break;
            }
            gone[at] = 1;
            list += walked;
            peer += of_peer;
            /* 64 keys and 64 masks to a block. */
            lines += 2 * ((walked + 63) / 64);
        }
    }
    double messages = (double)n * repeats;
    printf("%s\t%d\t%d\t%.1f\t%.1f\t%.1f\n", name, threads, n, list / messages, peer / messages, lines / messages);
    free(posted);
    free(coming);
    free(gone);
}

int main(int argc, char **argv) {
    int repeats = 10, most = 512, option;
    state = 1;
    while ((option = getopt(argc, argv, "r:t:x:p:")) != -1) {
        switch (option) {
        case 'r': repeats = atoi(optarg); break;
        case 't': most = atoi(optarg); break;
        case 'x': state = strtoull(optarg, NULL, 0); break;
        case 'p': only = optarg; break;
        default: repeats = 0;
        }
    }
    if (repeats < 1 || most < 1 || most > 100000 || state == 0 || optind != argc) {
        fputs("usage: depth [-r REPEATS] [-t THREADS] [-x SEED, not 0] [-p 9pt|27pt|amr]\n", stderr);
        return 2;
    }
    puts("stencil\tthreads\treceives\tlist\tperpeer\tfuzzy8 lines");
    int *from = need(sizeof(int) * 27 * (size_t)(most < 512 ? 512 : most));
    for (int side = 1; side * side <= most; side *= 2) model("9pt", side * side, from, borders(side, 2, from), repeats);
    for (int side = 1; side * side * side <= most; side *= 2)
        model("27pt", side * side * side, from, borders(side, 3, from), repeats);
    for (int i = 0; i < 512; i++) from[i] = 0;
    model("amr", 1, from, 512, repeats);
    free(from);
    return 0;
}
