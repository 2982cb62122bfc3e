/* Counters of the library, read through MPI's tool interface: those whose name has a certain part, of the process or bound to one
 * window, summed over their elements. A library without such variables has none, and everything here does nothing.
 *
 * counters_begin, counters_find for each part, counters_take before and after what is counted (0, 1), then counters_count variables:
 * counters[i].name, counters_difference(i); counters_end. The calls are one thread's at a time. */
#ifndef COUNTERS_H
#define COUNTERS_H

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNTERS_MOST = 64, COUNTERS_MOST_ELEMENTS = 4096 };

static struct counter {
    char name[128];
    MPI_T_pvar_handle handle;
    int elements;
    unsigned long long taken[2];
} counters[COUNTERS_MOST];

static int counters_count;
static MPI_T_pvar_session counters_session;

static void counters_fail(const char *why) {
    fprintf(stderr, "counters: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Whether a variable is one of the process's, or of `win`, and can be read; then it has a handle and counts. */
static int counters_add(int index, const char *part, MPI_Win *win) {
    struct counter *c = &counters[counters_count];
    char desc[512];
    int name_len = sizeof c->name, desc_len = sizeof desc, verbosity, class, bind, readonly, continuous, atomic, width;
    MPI_Datatype type;
    MPI_T_enum kind;
    if (MPI_T_pvar_get_info(index, c->name, &name_len, &verbosity, &class, &type, &kind, desc, &desc_len, &bind, &readonly,
                            &continuous, &atomic) != MPI_SUCCESS)
        return 0;
    if (class != MPI_T_PVAR_CLASS_COUNTER || !strstr(c->name, part)) return 0;
    if (MPI_Type_size(type, &width) != MPI_SUCCESS || width != sizeof(unsigned long long)) return 0;
    if (bind != MPI_T_BIND_NO_OBJECT && (bind != MPI_T_BIND_MPI_WIN || !win)) return 0;
    void *object = bind == MPI_T_BIND_MPI_WIN ? (void *)win : NULL;
    if (MPI_T_pvar_handle_alloc(counters_session, index, object, &c->handle, &c->elements) != MPI_SUCCESS) return 0;
    if (c->elements > COUNTERS_MOST_ELEMENTS) counters_fail("a variable has too many elements");
    if (!continuous && MPI_T_pvar_start(counters_session, c->handle) != MPI_SUCCESS)
        counters_fail("a variable cannot be started");
    return 1;
}

static void counters_begin(void) {
    int provided;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    MPI_T_pvar_session_create(&counters_session);
}

/* `win`: whose variables count, too; NULL: no window's. */
static void counters_find(const char *part, MPI_Win *win) {
    int n;
    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n && counters_count < COUNTERS_MOST; i++) counters_count += counters_add(i, part, win);
}

static void counters_take(int when) {
    static unsigned long long n[COUNTERS_MOST_ELEMENTS];
    for (int i = 0; i < counters_count; i++) {
        struct counter *c = &counters[i];
        if (MPI_T_pvar_read(counters_session, c->handle, n) != MPI_SUCCESS) counters_fail("a variable cannot be read");
        c->taken[when] = 0;
        for (int k = 0; k < c->elements; k++) c->taken[when] += n[k];
    }
}

static double counters_difference(int i) { return (double)(counters[i].taken[1] - counters[i].taken[0]); }

static void counters_end(void) {
    for (int i = 0; i < counters_count; i++) MPI_T_pvar_handle_free(counters_session, &counters[i].handle);
    MPI_T_pvar_session_free(&counters_session);
    MPI_T_finalize();
}

#endif
