/* State that one thread uses alone for a while is another's when that needs it: messages of one tag, for a run to one thread of
   rank 1, and then, while that thread is outside MPI for as long as it takes, to another; sent in the same manner by two
   threads of rank 0. Runs are of lengths from 1 to thousands. Also while the first thread waits for a message that
   comes only at the end, and with MPI_ANY_TAG. Two ranks. Usage: owners [ROUNDS] */
#include "check.h"
#include <pthread.h>

enum { WINDOW = 32, TAG = 5, LAST = 6, LONG_BYTES = 50000 };

static int rank, rounds = 40;
static pthread_barrier_t turn;
static int number;

static int run_of(int round) {
    static const int runs[] = {300, 1, 70, 5000, 2, 130, 33, 1000};
    return runs[round % (int)(sizeof runs / sizeof *runs)];
}

/* A run of numbered messages; some are long. */
static void pass(int round) {
    int left = run_of(round);
    while (left > 0) {
        int window = left < WINDOW ? left : WINDOW, numbers[WINDOW];
        MPI_Request requests[WINDOW];
        for (int i = 0; i < window; i++) {
            if (rank == 0) {
                numbers[i] = number + i;
                MPI_Isend(&numbers[i], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &requests[i]);
            } else {
                numbers[i] = -1;
                int tag = round % 5 == 4 ? MPI_ANY_TAG : TAG;
                MPI_Irecv(&numbers[i], 1, MPI_INT, 0, tag, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < window; i++, number++)
            CHECK(numbers[i] == number, "round %d: %d came when %d was due", round, numbers[i], number);
        left -= window;
    }
    char *buffer = need(LONG_BYTES);
    if (rank == 0) {
        fill(buffer, LONG_BYTES, round);
        MPI_Ssend(buffer, LONG_BYTES, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
    } else {
        MPI_Recv(buffer, LONG_BYTES, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(differs(buffer, LONG_BYTES, round) < 0, "round %d: contents", round);
    }
    free(buffer);
}

/* Threads take turns; who has none is in a barrier, where it makes no progress. */
static void *in_turns(void *argument) {
    long me = (long)argument;
    for (int round = 0; round < rounds; round++) {
        if (round % 2 == me) pass(round);
        pthread_barrier_wait(&turn);
    }
    return NULL;
}

/* The first thread waits in MPI while the second passes all the rest. */
static void *beside(void *argument) {
    int word = 17;
    if (argument == NULL) {
        if (rank == 0)
            MPI_Recv(&word, 1, MPI_INT, 1, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        else
            MPI_Recv(&word, 1, MPI_INT, 0, LAST, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(word == 17, "the last word is %d", word);
    } else {
        for (int round = 0; round < rounds; round++) if (round % 5 != 4) pass(round);
        MPI_Send(&word, 1, MPI_INT, 1 - rank, LAST, MPI_COMM_WORLD);
    }
    return NULL;
}

static void together(void *(*body)(void *)) {
    pthread_t second;
    pthread_create(&second, NULL, body, (void *)1L);
    body(NULL);
    pthread_join(second, NULL);
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE, "level %d", provided);
    CHECK(size == 2, "%d ranks", size);
    if (argc > 1) rounds = atoi(argv[1]);
    pthread_barrier_init(&turn, NULL, 2);
    together(in_turns);
    together(beside);
    together(in_turns);
    return end();
}
