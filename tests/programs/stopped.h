/* The wait for a process that stops itself. */
#ifndef STOPPED_H
#define STOPPED_H

#include "check.h"
#include <time.h>

/* Waits until the process is stopped, for half a minute at most. */
static void wait_for_stop(int pid) {
    char name[64], state = 0;
    snprintf(name, sizeof name, "/proc/%d/stat", pid);
    for (int i = 0; i < 3000 && state != 'T'; i++) {
        FILE *file = fopen(name, "r");
        CHECK(file != NULL, "no %s", name);
        CHECK(fscanf(file, "%*d (%*[^)]) %c", &state) == 1, "no state in %s", name);
        fclose(file);
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    CHECK(state == 'T', "process %d is in state %c", pid, state);
}

#endif
