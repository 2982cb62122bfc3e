/* Bandwidth of MPI_Pack of a vector of blocks, with threads of the same process that wait in MPI meanwhile.
 *
 * Usage: mpirun -n 1 pack [-b BYTES] [-t WAITERS] [-i ROUNDS]
 *
 * -b bytes of data, in blocks of 64 with gaps as large. -t threads wait in MPI_Recv while the main thread
 * packs; a library may have them help. Prints one line of name=value; what was packed is checked. */
#define _DEFAULT_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 64, STRIDE = 128, MOST = 64 };

static void fail(const char *why) {
    fprintf(stderr, "pack: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void *waiter(void *argument) {
    int tag = (int)(long)argument, word;
    MPI_Recv(&word, 1, MPI_INT, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (word != tag) fail("a waiter got another's word");
    return NULL;
}

static char byte_of(long i) { return (char)(i * 7 + i / 251); }

int main(int argc, char **argv) {
    long bytes = 1 << 20, rounds = 10;
    int waiters = 0, provided, c, position;
    pthread_t threads[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    while ((c = getopt(argc, argv, "b:t:i:")) != -1) {
        if (c == 'b') bytes = atol(optarg);
        else if (c == 't') waiters = atoi(optarg);
        else if (c == 'i') rounds = atol(optarg);
        else fail("usage: pack [-b BYTES] [-t WAITERS] [-i ROUNDS]");
    }
    long blocks = bytes / BLOCK;
    if (blocks < 1 || bytes > 1l << 30 || waiters < 0 || waiters > MOST || rounds < 1)
        fail("64 bytes to 1 GiB, at most 64 waiters, at least one round");
    if (waiters && provided < MPI_THREAD_MULTIPLE) fail("this MPI does not provide MPI_THREAD_MULTIPLE");
    bytes = blocks * BLOCK;
    char *from = malloc((size_t)(blocks * STRIDE)), *to = malloc((size_t)bytes);
    if (!from || !to) fail("no memory");
    for (long i = 0; i < blocks * STRIDE; i++) from[i] = byte_of(i);
    MPI_Datatype vector;
    MPI_Type_vector((int)blocks, BLOCK, STRIDE, MPI_CHAR, &vector);
    MPI_Type_commit(&vector);
    for (long i = 0; i < waiters; i++)
        if (pthread_create(&threads[i], NULL, waiter, (void *)(i + 1))) fail("no thread");
    if (waiters) usleep(20000); /* they wait by now */
    double spent = 0;
    for (long round = -1; round < rounds; round++) {
        memset(to, 0, (size_t)bytes);
        position = 0;
        double began = MPI_Wtime();
        MPI_Pack(from, 1, vector, to, (int)bytes, &position, MPI_COMM_WORLD);
        if (round >= 0) spent += MPI_Wtime() - began;
        if (position != bytes) fail("the wrong number of bytes was packed");
        for (long i = 0; i < bytes; i++)
            if (to[i] != byte_of(i / BLOCK * STRIDE + i % BLOCK)) fail("wrong data");
    }
    for (int i = 0; i < waiters; i++) {
        int word = i + 1;
        MPI_Send(&word, 1, MPI_INT, 0, word, MPI_COMM_WORLD);
        pthread_join(threads[i], NULL);
    }
    printf("value=%.3f unit=MB/s rounds=%ld seconds=%.6f verified=1\n", (double)bytes * (double)rounds / spent / 1e6, rounds, spent);
    MPI_Type_free(&vector);
    free(from);
    free(to);
    MPI_Finalize();
    return 0;
}
