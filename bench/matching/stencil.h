/* Receives of a rank whose threads exchange the halo of a stencil, and random orders of them. */
#ifndef MATCHING_STENCIL_H
#define MATCHING_STENCIL_H

#include <stdint.h>

static uint64_t state;

/* xorshift64*. */
static uint64_t any(void) {
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return state * 0x2545F4914F6CDD1Dull;
}

static void shuffle(int *list, int n) {
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(any() % (uint64_t)(i + 1)), at = list[i];
        list[i] = list[j];
        list[j] = at;
    }
}

/* Fills `from` with the rank (0..3^dims-1, the middle is our own) that each receive is for. */
static int borders(int side, int dims, int *from) {
    int n = 0, points = dims == 2 ? 9 : 27, threads = dims == 2 ? side * side : side * side * side;
    for (int t = 0; t < threads; t++)
        for (int k = 0; k < points; k++) {
            int rank = 0, stride = 1, at = t, direction = k;
            for (int i = 0; i < dims; i++) {
                int x = at % side + direction % 3 - 1;
                rank += (x < 0 ? 0 : x >= side ? 2 : 1) * stride;
                stride *= 3;
                at /= side;
                direction /= 3;
            }
            if (rank != points / 2) from[n++] = rank;
        }
    return n;
}

#endif
