/* The library's watch of its matching, read through MPI's tool interface: microseconds of all threads of the process since the
 * watch was started. A library without such a watch has none, and all of its readings are 0. */
#ifndef MATCHING_WATCH_H
#define MATCHING_WATCH_H

#include "common.h"

static MPI_T_pvar_session watch_session_;
static MPI_T_pvar_handle watch_handle_ = MPI_T_PVAR_HANDLE_NULL;

/* Whether there is one. */
static inline int watch_there(void) { return watch_handle_ != MPI_T_PVAR_HANDLE_NULL; }

static inline void watch_begin(void) {
    int provided, index, elements;
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) fail("the tool interface does not begin");
    if (MPI_T_pvar_session_create(&watch_session_) != MPI_SUCCESS) fail("no session for the watch");
    if (MPI_T_pvar_get_index("runtime_spc_OMPI_SPC_MATCH_TIME", MPI_T_PVAR_CLASS_TIMER, &index) != MPI_SUCCESS) return;
    if (MPI_T_pvar_handle_alloc(watch_session_, index, NULL, &watch_handle_, &elements) != MPI_SUCCESS || elements != 1)
        fail("the watch has no handle");
}

/* The library looks at a clock at each message while it runs. */
static inline void watch_start(void) {
    if (watch_there() && MPI_T_pvar_start(watch_session_, watch_handle_) != MPI_SUCCESS) fail("the watch does not start");
}
static inline void watch_stop(void) {
    if (watch_there() && MPI_T_pvar_stop(watch_session_, watch_handle_) != MPI_SUCCESS) fail("the watch does not stop");
}

static inline double watch_read(void) {
    unsigned long long microseconds = 0;
    if (watch_there() && MPI_T_pvar_read(watch_session_, watch_handle_, &microseconds) != MPI_SUCCESS)
        fail("the watch cannot be read");
    return (double)microseconds;
}

static inline void watch_end(void) {
    if (watch_there()) MPI_T_pvar_handle_free(watch_session_, &watch_handle_);
    MPI_T_pvar_session_free(&watch_session_);
    MPI_T_finalize();
}

#endif
