/* Waits between two looks at a word that another process changes: by yields at first, then asleep.
 *
 * Yields alone starve others for many seconds on kernels whose scheduler (EEVDF) counts a yield as a whole slice used: threads that yield a million times a
 * second are ahead of all others by so much that whoever comes to run with them is behind for as long, and one that has yielded little has the core for all that time. */
#ifndef GIVE_WAY_H
#define GIVE_WAY_H

#include <sched.h>
#include <time.h>

enum { YIELDS = 200 };

/* The next wait of a row, which begins with *looks at 0. */
static inline void give_way(unsigned *looks) {
    static const struct timespec nap = {0, 50 * 1000};
    if (++*looks <= YIELDS)
        sched_yield();
    else
        nanosleep(&nap, NULL);
}

#endif
