/* Halos of a box of cells with one layer of ghosts: which cells go in each of 26 directions, and where they come from.
 *
 * A box has n[0] x n[1] x n[2] cells of double, x fastest, and a ghost cell on every side. Direction d of 0 to 26 is (dx, dy, dz) with
 * d = (dx + 1) + 3 (dy + 1) + 9 (dz + 1); 13 is the box itself and no direction. A block sent in direction d comes from direction 26 - d
 * at the other end. */
#ifndef HALO_H
#define HALO_H

#include <stddef.h>

enum { WAYS = 27, MIDDLE = 13 };

struct box {
    int n[3];
};

static inline int step_of(int way, int axis) {
    static const int unit[3] = {1, 3, 9};
    return way / unit[axis] % 3 - 1;
}

static inline int opposite(int way) { return WAYS - 1 - way; }

static inline size_t cell(const struct box *b, int x, int y, int z) {
    return (size_t)x + (size_t)(b->n[0] + 2) * ((size_t)y + (size_t)(b->n[1] + 2) * (size_t)z);
}

static inline size_t cells(const struct box *b) { return cell(b, 0, 0, b->n[2] + 2); }

/* Cells that go in a direction. */
static inline size_t halo_cells(const struct box *b, int way) {
    size_t count = 1;
    for (int axis = 0; axis < 3; axis++) count *= step_of(way, axis) ? 1 : (size_t)b->n[axis];
    return count;
}

/* The first and the last of them along an axis; the ghosts of that direction instead. */
static inline void halo_span(const struct box *b, int way, int axis, int ghosts, int *from, int *to) {
    int step = step_of(way, axis), n = b->n[axis];
    *from = step > 0 ? n + ghosts : 1 - ghosts * (step < 0);
    *to = step < 0 ? 1 - ghosts : n + ghosts * (step > 0);
}

/* Copies the cells that go in a direction to `to`. */
static void halo_pack(const struct box *b, int way, const double *from, double *to) {
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) halo_span(b, way, axis, 0, &lo[axis], &hi[axis]);
    for (int z = lo[2]; z <= hi[2]; z++)
        for (int y = lo[1]; y <= hi[1]; y++)
            for (int x = lo[0]; x <= hi[0]; x++) *to++ = from[cell(b, x, y, z)];
}

/* Copies what came from a direction to the ghosts on that side. */
static void halo_unpack(const struct box *b, int way, double *to, const double *from) {
    int lo[3], hi[3];
    for (int axis = 0; axis < 3; axis++) halo_span(b, way, axis, 1, &lo[axis], &hi[axis]);
    for (int z = lo[2]; z <= hi[2]; z++)
        for (int y = lo[1]; y <= hi[1]; y++)
            for (int x = lo[0]; x <= hi[0]; x++) to[cell(b, x, y, z)] = *from++;
}

#endif
