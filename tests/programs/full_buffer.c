/* Buffered sends with exactly as much room as is needed: full_buffer THREADS ROUNDS BYTES. Two ranks. Each thread of rank
 * 0 sends a message with MPI_Bsend, waits until the same thread of rank 1 answers that it has received it, and sends the
 * next, while the other threads progress. Room is for one message of each thread, so that every send needs the room of the one
 * before: it is there, since that message was received before the answer was sent. */
#include "check.h"

#include <pthread.h>

static int threads, rounds, bytes;

static void *sends(void *number) {
    int me = (int)(long)number, answer;
    char *data = need((size_t)bytes);
    for (int round = 0; round < rounds; round++) {
        fill(data, bytes, me * 100000L + round);
        int code = MPI_Bsend(data, bytes, MPI_BYTE, 1, me, MPI_COMM_WORLD);
        CHECK(code == MPI_SUCCESS, "thread %d, round %d: MPI_Bsend gave %d", me, round, code);
        MPI_Recv(&answer, 1, MPI_INT, 1, 1000 + me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK(answer == round, "thread %d, round %d: the answer to %d", me, round, answer);
    }
    free(data);
    return NULL;
}

static void *receives(void *number) {
    int me = (int)(long)number;
    char *data = need((size_t)bytes);
    for (int round = 0; round < rounds; round++) {
        MPI_Recv(data, bytes, MPI_BYTE, 0, me, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&round, 1, MPI_INT, 0, 1000 + me, MPI_COMM_WORLD);
        long at = differs(data, bytes, me * 100000L + round);
        CHECK(at < 0, "thread %d, round %d: byte %ld", me, round, at);
        atomic_fetch_add(&check_messages_, 1);
    }
    free(data);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, size;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &check_rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(provided == MPI_THREAD_MULTIPLE && size == 2 && argc == 4, "see the top of this file");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    threads = atoi(argv[1]);
    rounds = atoi(argv[2]);
    bytes = atoi(argv[3]);
    int packed;
    MPI_Pack_size(bytes, MPI_BYTE, MPI_COMM_WORLD, &packed);
    int room = threads * (packed + MPI_BSEND_OVERHEAD);
    void *buffer = need((size_t)room);
    if (check_rank_ == 0) MPI_Buffer_attach(buffer, room);
    pthread_t *all = need((size_t)threads * sizeof *all);
    for (long i = 0; i < threads; i++) pthread_create(&all[i], NULL, check_rank_ == 0 ? sends : receives, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    if (check_rank_ == 0) MPI_Buffer_detach(&buffer, &room);
    free(buffer);
    free(all);
    return end();
}
