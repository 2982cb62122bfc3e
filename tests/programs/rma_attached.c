/* Memory that comes and goes in a dynamic window while others operate on it: what is attached before an operation is found, whatever was
 * attached or detached meanwhile, and small puts that follow each other are at the target behind a flush. */
#include "check.h"

#include <stdint.h>

enum { ROUNDS = 300, KEPT = 7, ELEMENTS = 5 };

static int rank, size;

/* Everybody's list grows and shrinks; the right neighbour uses the newest piece and the oldest that is left. */
static void pieces_come_and_go(void) {
    MPI_Win win;
    int64_t *kept[KEPT] = {0};
    MPI_Aint theirs[KEPT] = {0};
    int right = (rank + 1) % size, left = (rank + size - 1) % size;
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    for (int round = 0; round < ROUNDS; round++) {
        int place = round % KEPT, oldest = round < KEPT ? 0 : (round + 1) % KEPT;
        if (kept[place]) {
            CHECK(MPI_Win_detach(win, kept[place]) == MPI_SUCCESS, "detach in round %d", round);
            free(kept[place]);
        }
        kept[place] = need(ELEMENTS * sizeof(int64_t));
        for (int i = 0; i < ELEMENTS; i++) kept[place][i] = round;
        CHECK(MPI_Win_attach(win, kept[place], ELEMENTS * sizeof(int64_t)) == MPI_SUCCESS, "attach in round %d", round);
        MPI_Aint mine;
        MPI_Get_address(kept[place], &mine);
        MPI_Sendrecv(&mine, 1, MPI_AINT, left, 0, &theirs[place], 1, MPI_AINT, right, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);

        int64_t one = 1, old = -1, value = 1000 + round, back[2] = {-1, -1};
        MPI_Fetch_and_op(&one, &old, MPI_INT64_T, right, theirs[place], MPI_SUM, win);
        MPI_Put(&value, 1, MPI_INT64_T, right, theirs[place] + 8, 1, MPI_INT64_T, win);
        MPI_Win_flush(right, win);
        CHECK(old == round, "round %d: %ld was there", round, (long)old);
        MPI_Get(back, 2, MPI_INT64_T, right, theirs[place], 2, MPI_INT64_T, win);
        int64_t oldest_value = -1;
        MPI_Get(&oldest_value, 1, MPI_INT64_T, right, theirs[oldest] + 32, 1, MPI_INT64_T, win);
        MPI_Win_flush(right, win);
        CHECK(back[0] == round + 1 && back[1] == value, "round %d: %ld and %ld", round, (long)back[0], (long)back[1]);
        CHECK(oldest_value == (round < KEPT ? 0 : round + 1 - KEPT), "round %d: the oldest has %ld", round, (long)oldest_value);
        /* Nobody detaches what its neighbour still uses. */
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < KEPT; i++) MPI_Win_detach(win, kept[i]), free(kept[i]);
    MPI_Win_free(&win);
}

/* Many small puts to a created window, more than one request takes, of which the origin's memory is used again at once. */
static void puts_in_a_row(void) {
    enum { N = 1000 };
    MPI_Win win;
    int32_t *memory = need((size_t)size * N * sizeof *memory);
    MPI_Request request;
    memset(memory, 0, (size_t)size * N * sizeof *memory);
    MPI_Win_create(memory, (MPI_Aint)size * N * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    for (int round = 1; round < 4; round++) {
        MPI_Win_lock_all(0, win);
        for (int i = 0; i < N; i++) {
            int32_t value = round * 10000 + i;
            for (int to = 0; to < size; to++) {
                if (i % 50 == 0) {
                    MPI_Rput(&value, 1, MPI_INT32_T, to, (MPI_Aint)rank * N + i, 1, MPI_INT32_T, win, &request);
                    MPI_Wait(&request, MPI_STATUS_IGNORE);
                } else {
                    MPI_Put(&value, 1, MPI_INT32_T, to, (MPI_Aint)rank * N + i, 1, MPI_INT32_T, win);
                }
            }
            value = -1;
        }
        if (round % 2) MPI_Win_flush_all(win);
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Win_lock_all(0, win);
        MPI_Win_sync(win);
        for (int from = 0; from < size; from++)
            for (int i = 0; i < N; i++) {
                int32_t got = memory[(size_t)from * N + i];
                CHECK(got == round * 10000 + i, "round %d: element %d of rank %d is %d", round, i, from, (int)got);
            }
        MPI_Win_unlock_all(win);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_free(&win);
    free(memory);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    pieces_come_and_go();
    puts_in_a_row();
    return end();
}
