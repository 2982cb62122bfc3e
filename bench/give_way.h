/* Waits between two looks at a word that another process changes: by some yields at first, then asleep, twice as long each time up to 1.6 milliseconds.
 *
 * A look by one-sided communication is a wait in the library, which yields, too. Yields starve others for many seconds on kernels whose scheduler (EEVDF)
 * counts a yield as a whole slice used: threads that yield a million times a second are ahead of all others by so much that whoever comes to run with
 * them is behind for as long, and one that has yielded little has the core for all that time. A short sleep does not end that debt: looks have to be rare. */
#ifndef GIVE_WAY_H
#define GIVE_WAY_H

#include <sched.h>
#include <time.h>

enum { YIELDS = 16, FIRST_NAP = 50 * 1000, DOUBLINGS = 5 };

/* The next wait of a row, which begins with *looks at 0. */
static inline void give_way(unsigned *looks) {
    unsigned row = (*looks)++;
    if (row < YIELDS) {
        sched_yield();
        return;
    }
    unsigned naps = row - YIELDS;
    const struct timespec nap = {0, (long)FIRST_NAP << (naps < DOUBLINGS ? naps : DOUBLINGS)};
    nanosleep(&nap, NULL);
}

#endif
