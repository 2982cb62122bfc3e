/* Accumulates of every way on the same elements at the same time: of the target itself, of ranks that have its memory mapped, and of those that ask it by
 * messages. Each is atomic for each element, whatever its width, place and operation, and those of one origin on one element take effect in their order.
 *
 * usage: rma_one_element [ROUNDS] */
#include "check.h"

#include <complex.h>
#include <stddef.h>
#include <stdint.h>

enum { ROUNDS = 200, BURST = 5, ROWS = 40, MOST_RANKS = 8 };
enum { ALLOCATED, DYNAMIC, COARSE, WINDOWS };

/* The memory of rank 0; the byte in front puts the counter behind it in no natural place. */
typedef struct __attribute__((packed)) {
    int64_t added, power;
    uint16_t narrow;
    char aside;
    int64_t odd;
    char filler[5];
    double complex both;
    uint16_t swapped;
    char more[6];
    int64_t own[MOST_RANKS];
    uint16_t own_narrow[MOST_RANKS];
    struct __attribute__((packed)) { uint16_t narrow; int32_t wide; } rows[ROWS];
} elements;

static int rank, size, rounds = ROUNDS;
static MPI_Win win;
static MPI_Aint base;

#define AT(field) (base + (MPI_Aint)offsetof(elements, field))

static MPI_Win make(int kind, elements **memory) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win made;
    if (kind == DYNAMIC) {
        *memory = need(sizeof(elements));
        MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &made);
        MPI_Win_attach(made, *memory, sizeof(elements));
        MPI_Get_address(*memory, &base);
        MPI_Bcast(&base, 1, MPI_AINT, 0, MPI_COMM_WORLD);
        return made;
    }
    if (kind == COARSE) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "mpi_accumulate_granularity", "64");
    }
    MPI_Win_allocate(sizeof(elements), 1, info, MPI_COMM_WORLD, memory, &made);
    if (info != MPI_INFO_NULL) MPI_Info_free(&info);
    base = 0;
    return made;
}

/* Adds one until nobody has changed the element meanwhile. */
static void swap_in(void) {
    uint16_t old = 0;
    for (;;) {
        uint16_t compare = old, new = (uint16_t)(old + 1);
        MPI_Compare_and_swap(&new, &compare, &old, MPI_UINT16_T, 0, AT(swapped), win);
        MPI_Win_flush(0, win);
        if (old == compare) return;
    }
}

/* Operations of every way on the shared elements; the sum of what was found in the first. */
static int64_t share(MPI_Datatype rows) {
    int64_t one = 1, three = 3, found[BURST], power[BURST], sum = 0;
    uint16_t narrow = 1, narrows[ROWS];
    double complex both = 1 + 1 * I, was[BURST];
    for (int i = 0; i < ROWS; i++) narrows[i] = 1;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < BURST; i++) {
            MPI_Fetch_and_op(&one, &found[i], MPI_INT64_T, 0, AT(added), MPI_SUM, win);
            MPI_Get_accumulate(&three, 1, MPI_INT64_T, &power[i], 1, MPI_INT64_T, 0, AT(power), 1, MPI_INT64_T, MPI_PROD, win);
            MPI_Accumulate(&narrow, 1, MPI_UINT16_T, 0, AT(narrow), 1, MPI_UINT16_T, MPI_SUM, win);
            MPI_Accumulate(&one, 1, MPI_INT64_T, 0, AT(odd), 1, MPI_INT64_T, MPI_SUM, win);
            MPI_Get_accumulate(&both, 1, MPI_C_DOUBLE_COMPLEX, &was[i], 1, MPI_C_DOUBLE_COMPLEX, 0, AT(both), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win);
        }
        MPI_Accumulate(narrows, ROWS, MPI_UINT16_T, 0, AT(rows), 1, rows, MPI_SUM, win);
        swap_in();
        MPI_Win_flush(0, win);
        for (int i = 0; i < BURST; i++) {
            sum += found[i];
            CHECK(i == 0 || found[i] > found[i - 1], "%ld behind %ld", (long)found[i], (long)found[i - 1]);
            CHECK(i == 0 || power[i] != power[i - 1], "%ld twice", (long)power[i]);
            CHECK(creal(was[i]) == cimag(was[i]), "half an element: %g %g", creal(was[i]), cimag(was[i]));
        }
    }
    return sum;
}

/* Unlike operations on an element of its own, without a flush in between. */
static void in_order(void) {
    MPI_Aint at = AT(own) + rank * 8, narrow_at = AT(own_narrow) + rank * 2;
    for (int round = 0; round < rounds; round++) {
        int64_t set = 100 * round, two = 2, old = -1, last = -1, compare = set + 2, new = set + 50, seven = 7, swapped = -1;
        uint16_t narrow_set = (uint16_t)round, narrow_three = 3, narrow_old = 0;
        MPI_Accumulate(&set, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_REPLACE, win);
        MPI_Fetch_and_op(&two, &old, MPI_INT64_T, 0, at, MPI_SUM, win);
        MPI_Compare_and_swap(&new, &compare, &swapped, MPI_INT64_T, 0, at, win);
        MPI_Accumulate(&seven, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_PROD, win);
        MPI_Get_accumulate(NULL, 0, MPI_INT64_T, &last, 1, MPI_INT64_T, 0, at, 1, MPI_INT64_T, MPI_NO_OP, win);
        MPI_Accumulate(&narrow_set, 1, MPI_UINT16_T, 0, narrow_at, 1, MPI_UINT16_T, MPI_REPLACE, win);
        MPI_Fetch_and_op(&narrow_three, &narrow_old, MPI_UINT16_T, 0, narrow_at, MPI_SUM, win);
        if (round % 2) MPI_Win_flush_local(0, win);
        else MPI_Win_flush(0, win);
        CHECK(old == set && swapped == set + 2, "set to %ld: %ld %ld", (long)set, (long)old, (long)swapped);
        CHECK(last == 7 * (set + 50), "%ld", (long)last);
        CHECK(narrow_old == narrow_set, "%u for %u", narrow_old, narrow_set);
    }
    MPI_Win_flush(0, win);
}

static void run(int kind) {
    elements *memory;
    win = make(kind, &memory);
    memset(memory, 0, sizeof(elements));
    memory->power = 1;
    int lengths[ROWS], i;
    MPI_Aint places[ROWS];
    for (i = 0; i < ROWS; i++) lengths[i] = 1, places[i] = i * (MPI_Aint)sizeof(memory->rows[0]);
    MPI_Datatype rows;
    MPI_Type_create_hindexed(ROWS, lengths, places, MPI_UINT16_T, &rows);
    MPI_Type_commit(&rows);
    MPI_Win_lock_all(0, win);
    MPI_Barrier(MPI_COMM_WORLD);
    int64_t sum = share(rows), all;
    in_order();
    MPI_Win_flush_all(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(win);
    MPI_Reduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        int64_t n = (int64_t)rounds * size, bursts = n * BURST, power = 1;
        for (int64_t k = 0; k < bursts; k++) power = (int64_t)((uint64_t)power * 3);
        CHECK(memory->added == bursts && all == bursts * (bursts - 1) / 2, "%ld of %ld", (long)memory->added, (long)bursts);
        CHECK(memory->power == power, "%ld for %ld", (long)memory->power, (long)power);
        CHECK(memory->narrow == (uint16_t)bursts, "%u of %ld", memory->narrow, (long)bursts);
        CHECK(memory->odd == bursts, "%ld of %ld", (long)memory->odd, (long)bursts);
        CHECK(memory->both == bursts + bursts * I, "%g %g of %ld", creal(memory->both), cimag(memory->both), (long)bursts);
        CHECK(memory->swapped == (uint16_t)n, "%u of %ld", memory->swapped, (long)n);
        for (i = 0; i < ROWS; i++)
            CHECK(memory->rows[i].narrow == (uint16_t)n && memory->rows[i].wide == 0, "row %d: %u %d", i, memory->rows[i].narrow, (int)memory->rows[i].wide);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (kind == DYNAMIC) {
        MPI_Win_detach(win, memory);
        free(memory);
    }
    MPI_Type_free(&rows);
    MPI_Win_free(&win);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    if (argc > 1) rounds = atoi(argv[1]);
    CHECK(size <= MOST_RANKS, "%d ranks", size);
    for (int kind = 0; kind < WINDOWS; kind++) run(kind);
    return end();
}
