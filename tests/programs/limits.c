/* More communicators, and info objects, than there is room for: the error is MPI_ERR_NO_MEM, nothing is lost by failing, and
 * after some are freed new ones work. Second argument: how often a failing call is repeated. */
#include "check.h"
#include <unistd.h>

enum { MANY = 1 << 21, SOME = 100 };
static int copies, deletes;

static long resident(void) {
    long total = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%ld %ld", &total, &pages) != 2) pages = 0;
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static int copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)key, (void)extra;
    *(void **)out = in;
    *flag = 1;
    copies++;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    deletes++;
    return MPI_SUCCESS;
}

static int class_of(int code) {
    int class = code;
    MPI_Error_class(code, &class);
    return class;
}

/* Each way to make a communicator says so; the handle stays what it was, or is the null handle. */
static void refused(MPI_Comm parent, MPI_Group group) {
    MPI_Comm comm = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    int codes[] = {
        MPI_Comm_dup(parent, &comm),
        MPI_Comm_idup(parent, &comm, &request),
        MPI_Comm_split(parent, 0, 0, &comm),
        MPI_Comm_split_type(parent, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm),
        MPI_Comm_create(parent, group, &comm),
        MPI_Comm_create_group(parent, group, 5, &comm),
        MPI_Comm_create_from_group(group, "limit", MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm),
        MPI_Cart_create(parent, 1, (int[]){1}, (int[]){0}, 0, &comm),
    };
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        CHECK(class_of(codes[i]) == MPI_ERR_NO_MEM, "call %u: class %d", i, class_of(codes[i]));
    CHECK(comm == MPI_COMM_NULL && request == MPI_REQUEST_NULL, "nothing was made");
}

static void communicators(int repeats) {
    MPI_Comm *all = need(MANY * sizeof *all), parent;
    MPI_Group group;
    int key, made = 0, code = MPI_SUCCESS;
    MPI_Comm_create_keyval(copy, delete, &key, NULL);
    MPI_Comm_dup(MPI_COMM_SELF, &parent);
    MPI_Comm_group(parent, &group);
    MPI_Comm_set_attr(parent, key, &key);
    while (made < MANY && (code = MPI_Comm_dup(MPI_COMM_SELF, &all[made])) == MPI_SUCCESS) made++;
    CHECK(made > 10000 && made < MANY, "%d communicators", made);
    CHECK(class_of(code) == MPI_ERR_NO_MEM, "class %d", class_of(code));
    refused(parent, group);
    long before = resident();
    for (int i = 0; i < repeats; i++) refused(parent, group);
    CHECK(resident() - before < 1 << 20, "%ld bytes lost", resident() - before);
    CHECK(copies == deletes, "%d attributes copied, %d deleted", copies, deletes);
    for (int turn = 0; turn < 3; turn++) {
        for (int i = 0; i < SOME; i++) MPI_Comm_free(&all[turn + i * 64]);
        for (int i = 0; i < SOME; i++) {
            MPI_Comm *comm = &all[turn + i * 64];
            int value = i, got = -1;
            CHECK(MPI_Comm_dup(parent, comm) == MPI_SUCCESS, "there is room again");
            MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &got, 1, MPI_INT, 0, 0, *comm, MPI_STATUS_IGNORE);
            CHECK(got == i, "%d on communicator %d", got, i);
        }
        refused(parent, group);
    }
    for (int i = 0; i < made; i++) MPI_Comm_free(&all[i]);
    MPI_Group_free(&group);
    MPI_Comm_free(&parent);
    CHECK(copies + 1 == deletes, "%d attributes copied, %d deleted", copies, deletes);
    MPI_Comm_free_keyval(&key);
    free(all);
}

static void infos(void) {
    MPI_Info *all = need(MANY * sizeof *all);
    int made = 0, code = MPI_SUCCESS;
    while (made < MANY && (code = MPI_Info_create(&all[made])) == MPI_SUCCESS) made++;
    CHECK(made > 10000 && made < MANY && class_of(code) == MPI_ERR_NO_MEM, "%d: class %d", made, class_of(code));
    MPI_Info_free(&all[0]);
    CHECK(MPI_Info_create(&all[0]) == MPI_SUCCESS, "there is room again");
    for (int i = 0; i < made; i++) MPI_Info_free(&all[i]);
    free(all);
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    communicators(argc > 1 ? atoi(argv[1]) : 100);
    infos();
    return end();
}
