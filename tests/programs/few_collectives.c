/* Usage: few_collectives OPERATION…: of barrier, bcast, reduce, allreduce and allgather those that are named are served, blocking,
 * nonblocking and persistent, and the others are not. */
#include "check.h"

enum { LENGTH = 5000, FORMS = 3 };

static int rank, size;
static long in[LENGTH], out[LENGTH], all[LENGTH * 8];

/* A form of an operation: started, and done when this returns. */
static int finish(int answer, MPI_Request *request, int form) {
    if (answer != MPI_SUCCESS) return answer;
    if (form == 2) MPI_Start(request);
    answer = MPI_Wait(request, MPI_STATUS_IGNORE);
    if (form == 2) MPI_Request_free(request);
    return answer;
}

#define IN_FORM(name, NAME, ...)                                                                            \
    static int name(int form) {                                                                             \
        MPI_Request request;                                                                                \
        if (form == 0) return MPI_##NAME(__VA_ARGS__ MPI_COMM_WORLD);                                       \
        if (form == 1) return finish(MPI_I##name(__VA_ARGS__ MPI_COMM_WORLD, &request), &request, form);    \
        return finish(MPI_##NAME##_init(__VA_ARGS__ MPI_COMM_WORLD, MPI_INFO_NULL, &request), &request, form); \
    }

IN_FORM(barrier, Barrier, )
IN_FORM(bcast, Bcast, in, LENGTH, MPI_LONG, 1, )
IN_FORM(reduce, Reduce, in, out, LENGTH, MPI_LONG, MPI_SUM, 1, )
IN_FORM(allreduce, Allreduce, in, out, LENGTH, MPI_LONG, MPI_SUM, )
IN_FORM(allgather, Allgather, in, LENGTH, MPI_LONG, all, LENGTH, MPI_LONG, )

static void look_at_bcast(void) {
    for (int i = 0; i < LENGTH; i++) CHECK(in[i] == 1000L + i, "element %d: %ld", i, in[i]);
}

static void look_at_sum(void) {
    for (int i = 0; i < LENGTH; i++) {
        long sum = 1000L * size * (size - 1) / 2 + (long)i * size;
        CHECK(out[i] == sum, "element %d: %ld instead of %ld", i, out[i], sum);
    }
}

static void look_at_reduce(void) {
    if (rank == 1) look_at_sum();
}

static void look_at_allgather(void) {
    for (long i = 0; i < (long)LENGTH * size; i++)
        CHECK(all[i] == 1000 * (i / LENGTH) + i % LENGTH, "element %ld: %ld", i, all[i]);
}

static void look_at_nothing(void) {}

static const struct {
    const char *name;
    int (*run)(int form);
    void (*look)(void);
} operations[] = {
    { "barrier", barrier, look_at_nothing },       { "bcast", bcast, look_at_bcast },
    { "reduce", reduce, look_at_reduce },          { "allreduce", allreduce, look_at_sum },
    { "allgather", allgather, look_at_allgather },
};
enum { OPERATIONS = sizeof operations / sizeof *operations };

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    CHECK(size >= 2 && size <= 8, "usage");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int named = 0;
    for (int o = 0; o < OPERATIONS; o++) {
        int is_named = 0;
        for (int a = 1; a < argc; a++) is_named |= !strcmp(argv[a], operations[o].name);
        named += is_named;
        for (int form = 0; form < FORMS; form++) {
            for (int i = 0; i < LENGTH; i++) { in[i] = 1000L * rank + i; out[i] = -1; }
            for (int i = 0; i < LENGTH * 8; i++) all[i] = -1;
            int answer = operations[o].run(form), class = MPI_SUCCESS;
            if (answer != MPI_SUCCESS) MPI_Error_class(answer, &class);
            int due = is_named ? MPI_SUCCESS : MPI_ERR_UNSUPPORTED_OPERATION;
            CHECK(class == due, "%s in form %d: class %d instead of %d", operations[o].name, form, class, due);
            if (is_named) operations[o].look();
        }
    }
    CHECK(named == argc - 1, "usage: %d of %d operations are known", named, argc - 1);
    return end();
}
