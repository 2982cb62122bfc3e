/* A thread that looks in vain gives its core away where there are more threads than cores, and not before.
 * looks CORES: how many cores each rank has; 0: waiting threads are to give theirs away at once. Two ranks. Counts the
 * library's calls of sched_yield, which it finds here. Ours only: the number of looks is ours. */
#define _GNU_SOURCE
#include "check.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

static _Thread_local long yields;

int sched_yield(void) {
    yields++;
    return (int)syscall(SYS_sched_yield);
}

enum { LOOKS = 160, EVERY = 16, FORMS = 6 };
static int peer;
static pthread_barrier_t met;

/* Looks once in each way; nothing is there. */
static void look(int form, MPI_Request *request) {
    MPI_Request copy[2] = {*request, MPI_REQUEST_NULL};
    int flag = 1, at = 0, indices[2];
    switch (form) {
    case 0: MPI_Test(request, &flag, MPI_STATUS_IGNORE); break;
    case 1: MPI_Testall(2, copy, &flag, MPI_STATUSES_IGNORE); break;
    case 2: MPI_Testany(2, copy, &at, &flag, MPI_STATUS_IGNORE); break;
    case 3: MPI_Testsome(2, copy, &flag, indices, MPI_STATUSES_IGNORE); break;
    case 4: MPI_Iprobe(peer, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE); break;
    case 5: MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE); break;
    }
    CHECK(!flag, "form %d found something", form);
}

/* Checks the yields of looks in vain: turns that brought something (the other rank's "ready", its part of a barrier) may be
 * among the looks, and each begins the count anew. */
static void looks(MPI_Request *request, int gives_away, const char *when) {
    for (int form = 0; form < FORMS; form++) {
        yields = 0;
        for (int i = 0; i < LOOKS; i++) look(form, request);
        long least = gives_away ? LOOKS / EVERY - 4 : 0, most = gives_away ? LOOKS / EVERY : 0;
        CHECK(yields >= least && yields <= most, "%s: form %d gave the core away %ld times", when, form, yields);
    }
}

/* Makes its thread known to the library, and stays. */
static void *company(void *unused) {
    int flag;
    MPI_Iprobe(peer, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    pthread_barrier_wait(&met);
    pthread_barrier_wait(&met);
    return unused;
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE && size == 2 && argc == 2, "see the top of this file");
    peer = 1 - check_rank_;
    int cores = atoi(argv[1]), word = 0;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, peer, 1, MPI_COMM_WORLD, &request);
    looks(&request, cores == 0, "alone");
    /* As many threads as cores, this one among them; then one more. */
    pthread_t *threads = need((size_t)cores * sizeof *threads);
    for (int n = 1; cores > 0 && n <= cores + 1; n++) {
        int others = n - 1;
        pthread_barrier_init(&met, NULL, (unsigned)n);
        for (int i = 0; i < others; i++) pthread_create(&threads[i], NULL, company, NULL);
        pthread_barrier_wait(&met);
        if (n >= cores) looks(&request, n > cores, n > cores ? "too many" : "as many as cores");
        pthread_barrier_wait(&met);
        for (int i = 0; i < others; i++) pthread_join(threads[i], NULL);
        pthread_barrier_destroy(&met);
    }
    looks(&request, cores == 0, "alone again");
    /* Not before the other rank has looked its last time either: it must find nothing. */
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Send(&word, 1, MPI_INT, peer, 1, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    free(threads);
    return end();
}
