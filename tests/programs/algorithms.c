/* Counters of the algorithms of collectives: algorithms OPERATION COUNT CALLS PLANS VARIABLE
 * The operation is called so often with COUNT integers, and so often nonblocking; the variable has to say so, and not to count what comes
 * behind its stop. It is not there before MPI_Init, and the variables from before keep their indices. */
#include "check.h"

static int count, *from, *to;

static void call(const char *operation, MPI_Request *plan) {
    MPI_Comm c = MPI_COMM_WORLD;
    if (strcmp(operation, "bcast") == 0) {
        if (plan) MPI_Ibcast(to, count, MPI_INT, 0, c, plan);
        else MPI_Bcast(to, count, MPI_INT, 0, c);
    } else if (strcmp(operation, "allreduce") == 0) {
        if (plan) MPI_Iallreduce(from, to, count, MPI_INT, MPI_SUM, c, plan);
        else MPI_Allreduce(from, to, count, MPI_INT, MPI_SUM, c);
    } else if (strcmp(operation, "gather") == 0) {
        if (plan) MPI_Igather(from, count, MPI_INT, to, count, MPI_INT, 0, c, plan);
        else MPI_Gather(from, count, MPI_INT, to, count, MPI_INT, 0, c);
    } else {
        CHECK(strcmp(operation, "barrier") == 0, "no operation %s", operation);
        if (plan) MPI_Ibarrier(c, plan);
        else MPI_Barrier(c);
    }
}

int main(int argc, char **argv) {
    int rank, size, provided, before, now, index, elements;
    char first[256], last[256], name[256];
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    unsigned long long n = 99;
    if (argc < 6) return 2;
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    CHECK(MPI_T_pvar_get_num(&before) == MPI_SUCCESS && before > 0, "no variables");
    CHECK(MPI_T_pvar_get_index(argv[5], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_T_ERR_INVALID_NAME, "%s is there early", argv[5]);
    elements = sizeof last;
    MPI_T_pvar_get_info(before - 1, last, &elements, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    begin(&argc, &argv, &rank, &size);
    const char *operation = argv[1];
    int calls = atoi(argv[3]), plans = atoi(argv[4]);
    count = atoi(argv[2]);
    from = calloc((size_t)count * size + 1, sizeof *from);
    to = calloc((size_t)count * size + 1, sizeof *to);
    CHECK(MPI_T_pvar_get_num(&now) == MPI_SUCCESS && now > before, "%d variables, and %d before", now, before);
    elements = sizeof name;
    MPI_T_pvar_get_info(before - 1, name, &elements, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(strcmp(name, last) == 0, "%s was %s", name, last);
    CHECK(MPI_T_pvar_get_index(argv[5], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "no variable %s", argv[5]);
    elements = sizeof first;
    MPI_T_pvar_get_info(index, first, &elements, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
    CHECK(index >= before && strcmp(first, argv[5]) == 0, "variable %d is %s", index, first);
    MPI_T_pvar_session_create(&session);
    CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &handle, &elements) == MPI_SUCCESS && elements == 1, "a handle");
    /* Not counted, since nobody has asked. */
    call(operation, NULL);
    CHECK(MPI_T_pvar_start(session, handle) == MPI_SUCCESS, "start");
    for (int i = 0; i < calls; i++) call(operation, NULL);
    for (int i = 0; i < plans; i++) {
        MPI_Request request;
        call(operation, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    CHECK(MPI_T_pvar_stop(session, handle) == MPI_SUCCESS, "stop");
    call(operation, NULL);
    CHECK(MPI_T_pvar_read(session, handle, &n) == MPI_SUCCESS && n == (unsigned long long)(calls + plans), "%s is %llu", argv[5], n);
    MPI_T_pvar_handle_free(session, &handle);
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    free(from);
    free(to);
    return end();
}
