/* Cost of taking one lock with a growing number of threads: the time from asking to having it, which is what an
 * MPI library pays where all threads meet at one.
 *
 * Usage: locks [-t THREADS] [-i ROUNDS]
 *
 * Every thread takes and gives the lock back -i times and counts under it; the sum is checked. Prints one line of
 * name=value: nanoseconds per acquisition, as each thread sees them. Uses no MPI beyond the clock. */
#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t all;
static long rounds = 100000, sum;
static int threads = 1;
static double took[MOST];

static void *work(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&all);
    double began = MPI_Wtime();
    for (long i = 0; i < rounds; i++) {
        pthread_mutex_lock(&lock);
        sum++;
        pthread_mutex_unlock(&lock);
    }
    took[me] = MPI_Wtime() - began;
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t others[MOST];
    int c, provided;
    double spent = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    while ((c = getopt(argc, argv, "t:i:")) != -1) {
        if (c == 't') threads = atoi(optarg);
        if (c == 'i') rounds = atol(optarg);
    }
    if (threads < 1 || threads > MOST || rounds < 1) {
        fprintf(stderr, "usage: locks [-t THREADS] [-i ROUNDS]\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    pthread_barrier_init(&all, NULL, (unsigned)threads);
    for (long i = 1; i < threads; i++)
        if (pthread_create(&others[i], NULL, work, (void *)i)) MPI_Abort(MPI_COMM_WORLD, 1);
    work((void *)0L);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    for (int i = 0; i < threads; i++) spent += took[i];
    if (sum != rounds * threads) MPI_Abort(MPI_COMM_WORLD, 2);
    printf("value=%.3f unit=ns rounds=%ld seconds=%.6f verified=1\n", spent / threads / (double)rounds * 1e9, rounds, spent / threads);
    MPI_Finalize();
    return 0;
}
