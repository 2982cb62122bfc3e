/* Reductions of MPI_CHAR, and functions that MPI 3.0 removed, as old programs use them. */
#include "check.h"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int called;
static void handler(MPI_Comm *comm, int *code, ...) {
    (void)comm;
    called = *code;
}

static void characters(int rank, int size) {
    char mine[3] = {(char)(rank + 1), (char)-rank, 'a'}, all[3];
    signed char signed_all[3];
    MPI_Allreduce(mine, all, 3, MPI_CHAR, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(mine, signed_all, 3, (char)-1 < 0 ? MPI_SIGNED_CHAR : MPI_UNSIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
    CHECK(memcmp(all, signed_all, 3) == 0, "%d %d %d", all[0], all[1], all[2]);
    MPI_Allreduce(mine, all, 3, MPI_CHAR, MPI_MAX, MPI_COMM_WORLD);
    CHECK(all[0] == (char)size && all[2] == 'a', "%d %d %d", all[0], all[1], all[2]);
    CHECK((char)-1 > 0 || all[1] == 0, "%d", all[1]);
    MPI_Allreduce(mine, all, 3, MPI_CHAR, MPI_BOR, MPI_COMM_WORLD);
    MPI_Reduce_scatter_block(MPI_IN_PLACE, mine, 1, MPI_CHAR, MPI_SUM, MPI_COMM_SELF);
    /* Fortran's characters have no arithmetic, and wide ones none either. */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int code = MPI_Allreduce(mine, all, 3, MPI_CHARACTER, MPI_SUM, MPI_COMM_WORLD), class;
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_OP, "class %d", class);
}

int main(int argc, char **argv) {
    int rank, size, lengths[2] = {1, 3};
    struct { char c; double d[3]; } one = {'x', {1, 2, 3}}, two = {0};
    MPI_Aint places[2], base, extent, lb, ub;
    MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE}, type, other;
    MPI_Errhandler errhandler, same;
    begin(&argc, &argv, &rank, &size);
    characters(rank, size);
    MPI_Address(&one, &base);
    MPI_Address(&one.c, places);
    MPI_Address(&one.d, places + 1);
    for (int i = 0; i < 2; i++) places[i] -= base;
    MPI_Type_struct(2, lengths, places, types, &type);
    MPI_Type_extent(type, &extent);
    MPI_Type_lb(type, &lb);
    MPI_Type_ub(type, &ub);
    CHECK(extent == sizeof one && lb == 0 && ub == sizeof one, "%ld %ld %ld", (long)extent, (long)lb, (long)ub);
    MPI_Type_commit(&type);
    MPI_Sendrecv(&one, 1, type, rank, 0, &two, 1, type, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(two.c == 'x' && two.d[2] == 3, "%c %f", two.c, two.d[2]);
    MPI_Type_hvector(2, 1, 8, MPI_INT, &other);
    MPI_Type_extent(other, &extent);
    CHECK(extent == 12, "%ld", (long)extent);
    MPI_Type_free(&other);
    places[0] = 0, places[1] = 20;
    MPI_Type_hindexed(2, lengths, places, MPI_INT, &other);
    MPI_Type_ub(other, &ub);
    CHECK(ub == 32, "%ld", (long)ub);
    MPI_Type_free(&other);
    MPI_Type_free(&type);
    MPI_Errhandler_create(handler, &errhandler);
    MPI_Errhandler_set(MPI_COMM_WORLD, errhandler);
    MPI_Errhandler_get(MPI_COMM_WORLD, &same);
    CHECK(same == errhandler, "another handler");
    MPI_Send(NULL, 0, MPI_INT, size, 0, MPI_COMM_WORLD);
    MPI_Error_class(called, &called);
    CHECK(called == MPI_ERR_RANK, "%d", called);
    MPI_Errhandler_free(&same);
    MPI_Errhandler_free(&errhandler);
    return end();
}
