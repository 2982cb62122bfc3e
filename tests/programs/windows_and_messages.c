/* Operations on a window that is open all the time, while long messages are under way between the same ranks: in a ring each rank sends to the next one and works on that one's memory.
 *
 * usage: windows_and_messages [SECONDS [LARGEST]]: LARGEST bytes of a message, 2 MiB unless told. */
#include "check.h"

#include <stddef.h>

enum { WORDS = 512, TICKETS = 32, ROWS = 64 };

/* The memory of a rank: a counter, a row that the rank in front writes, and columns that it adds to. */
typedef struct {
    long tickets;
    long row[WORDS];
    long columns[ROWS][4];
} memory;

static int rank, size;
static memory *mine;
static MPI_Win win;
static MPI_Datatype column;

#define AT(field) ((MPI_Aint)offsetof(memory, field))

/* One round of a rank with the next one; `round` counts from 0. */
static void operate(long round, int to) {
    long old[TICKETS], one = 1, row[WORDS], back[WORDS], ones[ROWS];
    for (int i = 0; i < TICKETS; i++) MPI_Fetch_and_op(&one, &old[i], MPI_LONG, to, AT(tickets), MPI_SUM, win);
    for (int i = 0; i < WORDS; i++) row[i] = round * WORDS + i + rank;
    for (int i = 0; i < ROWS; i++) ones[i] = 1;
    MPI_Put(row, WORDS, MPI_LONG, to, AT(row), WORDS, MPI_LONG, win);
    for (int i = 0; i < 4; i++)
        MPI_Accumulate(ones, ROWS, MPI_LONG, to, AT(columns) + i * (MPI_Aint)sizeof(long), 1, column, MPI_SUM, win);
    MPI_Win_flush(to, win);
    for (int i = 0; i < TICKETS; i++)
        CHECK(old[i] == round * TICKETS + i, "ticket %d of round %ld: %ld", i, round, old[i]);
    MPI_Get(back, WORDS, MPI_LONG, to, AT(row), WORDS, MPI_LONG, win);
    MPI_Win_flush(to, win);
    for (int i = 0; i < WORDS; i++) CHECK(back[i] == row[i], "word %d of round %ld: %ld", i, round, back[i]);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    double seconds = argc > 1 ? atof(argv[1]) : 1;
    const long largest = argc > 2 ? atol(argv[2]) : 2 << 20;
    MPI_Win_create(mine = calloc(1, sizeof(memory)), sizeof(memory), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Type_vector(ROWS, 1, 4, MPI_LONG, &column);
    MPI_Type_commit(&column);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    unsigned char *out = need(largest), *in = need(largest);
    const int to = (rank + 1) % size, from = (rank + size - 1) % size;
    const double begun = MPI_Wtime();
    long round = 0;
    for (int goes_on = 1; goes_on; round++) {
        const long bytes = 1 + (long)((unsigned long)round * 2654435761ul % (unsigned long)largest);
        MPI_Request requests[2];
        fill(out, bytes, round * size + rank);
        MPI_Irecv(in, (int)bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(out, (int)bytes, MPI_BYTE, to, 1, MPI_COMM_WORLD, &requests[1]);
        operate(round, to);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        long at = differs(in, bytes, round * size + from);
        CHECK(at < 0, "byte %ld of %ld in round %ld", at, bytes, round);
        goes_on = MPI_Wtime() - begun < seconds;
        MPI_Bcast(&goes_on, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(mine->tickets == round * TICKETS, "%ld tickets of %ld rounds", mine->tickets, round);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < 4; j++) CHECK(mine->columns[i][j] == round, "column %d, row %d: %ld", j, i, mine->columns[i][j]);
    MPI_Type_free(&column);
    MPI_Win_free(&win);
    free(mine);
    free(out);
    free(in);
    if (getenv("OXMPI_TEST_TIMES") && rank == 0) fprintf(stderr, "%ld rounds\n", round);
    return end();
}
