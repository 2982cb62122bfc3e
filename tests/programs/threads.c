/* MPI_THREAD_MULTIPLE: several threads per rank in every call that may block. Usage: threads N */
#include "check.h"
#include <pthread.h>

enum { MOST = 16, ROUNDS = 300 };
static int rank, size, threads;
static MPI_Comm comms[MOST];

/* Each thread with its counterpart in the next rank: own tags, one communicator, sizes mixed. */
static void neighbours(int me) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    char *out = need(1 << 19), *in = need(1 << 19);
    for (int i = 0; i < ROUNDS; i++) {
        long bytes = i % 50 == 49 ? 1 << 19 : i % 10 == 9 ? 9000 : i % 64;
        MPI_Request requests[2];
        MPI_Status statuses[2];
        int count;
        fill(out, bytes, rank * 1000 + me + i);
        MPI_Irecv(in, 1 << 19, MPI_BYTE, left, 100 + me, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, (int)bytes, MPI_BYTE, right, 100 + me, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, statuses);
        MPI_Get_count(&statuses[0], MPI_BYTE, &count);
        CHECK(count == bytes, "thread %d round %d: %d bytes instead of %ld", me, i, count, bytes);
        CHECK(differs(in, bytes, left * 1000 + me + i) < 0, "thread %d round %d: contents", me, i);
    }
    free(out);
    free(in);
}

/* Collectives of different threads on their own communicators, at once. */
static void collectives(int me) {
    for (int i = 0; i < ROUNDS / 3; i++) {
        int value = rank + me + i, sum = -1;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comms[me]);
        CHECK(sum == size * (size - 1) / 2 + size * (me + i), "thread %d round %d: sum %d", me, i, sum);
        MPI_Barrier(comms[me]);
    }
}

/* All threads of all ranks send to rank 0 with one tag; all its threads receive from anyone. */
static pthread_mutex_t count_lock = PTHREAD_MUTEX_INITIALIZER;
static long received_sum, received_count;

static void many_to_many(int me) {
    if (rank != 0) {
        for (int i = 0; i < ROUNDS; i++) {
            long word = (long)rank * 1000000 + me * 10000 + i;
            MPI_Send(&word, 1, MPI_LONG, 0, 5, MPI_COMM_WORLD);
        }
    } else {
        for (int i = 0; i < ROUNDS * (size - 1); i++) {
            long word = -1;
            MPI_Status status;
            MPI_Recv(&word, 1, MPI_LONG, MPI_ANY_SOURCE, i % 2 ? 5 : MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == 5 && word / 1000000 == status.MPI_SOURCE, "word %ld from %d", word, status.MPI_SOURCE);
            pthread_mutex_lock(&count_lock);
            received_sum += word;
            received_count++;
            pthread_mutex_unlock(&count_lock);
        }
    }
}

/* Sends that a lock puts in order arrive in that order, whichever threads made them. */
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int next_number;

static void ordered(int me) {
    (void)me;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_mutex_lock(&turn);
        if (rank == 0) {
            MPI_Send(&next_number, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
            next_number++;
        } else if (rank == 1) {
            int got = -1;
            MPI_Recv(&got, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            CHECK(got == next_number, "%d came when %d was due", got, next_number);
            next_number++;
        }
        pthread_mutex_unlock(&turn);
    }
}

static void (*part)(int);

static void *run(void *argument) {
    part((int)(long)argument);
    return NULL;
}

static void with_threads(void (*what)(int)) {
    pthread_t others[MOST];
    part = what;
    for (long i = 1; i < threads; i++) CHECK(!pthread_create(&others[i], NULL, run, (void *)i), "no thread");
    what(0);
    for (int i = 1; i < threads; i++) pthread_join(others[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE, "provided %d", provided);
    threads = argc > 1 ? atoi(argv[1]) : 4;
    CHECK(threads > 0 && threads <= MOST && size >= 2, "usage");
    for (int i = 0; i < threads; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    with_threads(neighbours);
    with_threads(collectives);
    with_threads(many_to_many);
    with_threads(ordered);
    if (rank == 0) {
        long want = 0;
        for (int r = 1; r < size; r++)
            for (int t = 0; t < threads; t++)
                for (int i = 0; i < ROUNDS; i++) want += (long)r * 1000000 + t * 10000 + i;
        CHECK(received_count == (long)ROUNDS * (size - 1) * threads && received_sum == want, "%ld messages, sum %ld", received_count, received_sum);
    }
    for (int i = 0; i < threads; i++) MPI_Comm_free(&comms[i]);
    return end();
}
