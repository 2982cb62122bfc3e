/* Communicators made and freed many times (first argument: how often): ids do not run out, memory does not grow, messages do
 * not stray; groups made with tags that have everything but the highest bits in common, by two
 * threads at once; a communicator that is freed while messages on it are under way; parts by hardware; hints. */
#include "check.h"
#include <pthread.h>
#include <unistd.h>

static int rank, size;

static long resident(void) {
    long total = 0, pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%ld %ld", &total, &pages) != 2) pages = 0;
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Some are used; some live longer than the next ones. */
static void many(long rounds) {
    enum { KEPT = 10 };
    MPI_Comm kept[KEPT];
    for (int i = 0; i < KEPT; i++) kept[i] = MPI_COMM_NULL;
    long before = 0;
    for (long i = 0; i < rounds; i++) {
        MPI_Comm comm;
        if (i == rounds / 4) before = resident();
        MPI_Comm_dup(i % 3 ? MPI_COMM_WORLD : MPI_COMM_SELF, &comm);
        if (i % 64 == 1 && i % 3) {
            long value = i, from = -1;
            MPI_Sendrecv(&value, 1, MPI_LONG, (rank + 1) % size, 3, &from, 1, MPI_LONG, (rank + size - 1) % size, 3,
                         comm, MPI_STATUS_IGNORE);
            CHECK(from == i, "round %ld: %ld", i, from);
        }
        if (i % 16) {
            MPI_Comm_free(&comm);
            continue;
        }
        MPI_Comm *old = &kept[i / 16 % KEPT];
        if (*old != MPI_COMM_NULL) MPI_Comm_free(old);
        *old = comm;
    }
    long after = resident();
    for (int i = 0; i < KEPT; i++)
        if (kept[i] != MPI_COMM_NULL) MPI_Comm_free(&kept[i]);
    if (rounds > 500000) fprintf(stderr, "rank %d: %ld bytes at a quarter, %ld at the end\n", rank, before, after);
    CHECK(after - before < 4 << 20, "memory grew from %ld to %ld bytes", before, after);
}

struct pair {
    int tag;
    MPI_Comm home;
};

static void *make_groups(void *arg) {
    struct pair *pair = arg;
    MPI_Group group;
    MPI_Comm_group(pair->home, &group);
    for (int i = 0; i < 100; i++) {
        MPI_Comm comm;
        int tag = pair->tag, got = -1;
        MPI_Comm_create_group(pair->home, group, tag, &comm);
        MPI_Sendrecv(&tag, 1, MPI_INT, (rank + 1) % size, 0, &got, 1, MPI_INT, (rank + size - 1) % size, 0, comm,
                     MPI_STATUS_IGNORE);
        CHECK(got == tag, "round %d: a message of the group with tag %d in that with %d", i, got, tag);
        MPI_Comm_free(&comm);
    }
    MPI_Group_free(&group);
    return NULL;
}

static void tags(int provided) {
    int *bound, flag;
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
    if (provided < MPI_THREAD_MULTIPLE || *bound < 1 << 30) return;
    struct pair a = { 5, MPI_COMM_WORLD }, b = { 5 + (1 << 30), MPI_COMM_WORLD };
    pthread_t other;
    pthread_create(&other, NULL, make_groups, &a);
    make_groups(&b);
    pthread_join(other, NULL);
}

static void freed_while_used(void) {
    for (int i = 0; i < 50; i++) {
        MPI_Comm comm;
        MPI_Request reqs[2];
        enum { LONG = 300000 };
        static unsigned char in[LONG], out[LONG];
        fill(out, LONG, rank + i);
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Irecv(in, LONG, MPI_BYTE, (rank + size - 1) % size, 1, comm, &reqs[0]);
        MPI_Isend(out, LONG, MPI_BYTE, (rank + 1) % size, 1, comm, &reqs[1]);
        if (i % 2) {
            MPI_Comm_free(&comm);
            MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
        } else {
            MPI_Waitall(2, reqs, MPI_STATUSES_IGNORE);
            MPI_Comm_disconnect(&comm);
        }
        CHECK(comm == MPI_COMM_NULL, "freed");
        CHECK(differs(in, LONG, (rank + size - 1) % size + i) < 0, "round %d", i);
    }
}

/* More than one at once, completed in another order. */
static void idup(void) {
    MPI_Comm comms[8];
    MPI_Request reqs[8];
    for (int i = 0; i < 8; i++) MPI_Comm_idup(MPI_COMM_WORLD, &comms[i], &reqs[i]);
    for (int i = 7; i >= 0; i--) MPI_Wait(&reqs[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < 8; i++) {
        int value = rank == 0 ? i : -1;
        MPI_Bcast(&value, 1, MPI_INT, 0, comms[i]);
        CHECK(value == i, "%d", value);
        MPI_Comm_free(&comms[i]);
    }
    /* Nobody waits for anybody: rank 0 has its copy before the others have asked for theirs. */
    MPI_Comm comm;
    MPI_Request req;
    int token = 0;
    if (rank > 0) MPI_Recv(&token, 1, MPI_INT, rank - 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Comm_idup(MPI_COMM_WORLD, &comm, &req);
    if (rank + 1 < size) MPI_Send(&token, 1, MPI_INT, rank + 1, 9, MPI_COMM_WORLD);
    MPI_Wait(&req, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    MPI_Comm_free(&comm);
}

static MPI_Comm guided(int type, const char *key, const char *value) {
    MPI_Comm comm;
    MPI_Info info;
    MPI_Info_create(&info);
    if (key) MPI_Info_set(info, key, value);
    MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &comm);
    MPI_Info_free(&info);
    return comm;
}

/* One node is all there is: shared memory reaches everybody, finer hardware as far as the machine has it. */
static void by_hardware(void) {
    MPI_Comm comm, finer;
    MPI_Info info;
    int n, m, r;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &n);
    CHECK(n == size, "%d share memory", n);
    MPI_Comm_free(&comm);
    MPI_Comm_split_type(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    CHECK((comm == MPI_COMM_NULL) == (rank == 0), "who took part");
    if (comm != MPI_COMM_NULL) MPI_Comm_free(&comm);
#if MPI_VERSION >= 4
    comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "mpi_shared_memory");
    CHECK(comm != MPI_COMM_NULL, "shared memory as a resource");
    MPI_Comm_size(comm, &n);
    MPI_Comm_rank(comm, &r);
    CHECK(n == size && r == size - 1 - rank, "rank %d of %d", r, n);
    MPI_Comm_free(&comm);
    comm = guided(MPI_COMM_TYPE_HW_GUIDED, "mpi_hw_resource_type", "no such thing");
    CHECK(comm == MPI_COMM_NULL, "a resource nobody knows");
    comm = guided(MPI_COMM_TYPE_HW_GUIDED, NULL, NULL);
    CHECK(comm == MPI_COMM_NULL, "no resource at all");
    /* Downwards until it goes no further; every step is a smaller group. */
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    for (int level = 0;; level++) {
        MPI_Info_create(&info);
        MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, level % 2 ? MPI_INFO_NULL : info, &finer);
        MPI_Info_get_nkeys(info, &m);
        CHECK(m == (finer != MPI_COMM_NULL && level % 2 == 0), "the info object has %d keys", m);
        MPI_Info_free(&info);
        MPI_Comm_size(comm, &n);
        MPI_Comm_free(&comm);
        if (finer == MPI_COMM_NULL) break;
        MPI_Comm_size(finer, &m);
        CHECK(m < n && level < 64, "level %d: %d of %d", level, m, n);
        comm = finer;
    }
#endif
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
    comm = guided(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF");
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_size(comm, &n);
        CHECK(n == 1, "%d", n);
        MPI_Comm_free(&comm);
    }
#endif
}

/* The hints a communicator is made with are there when they are asked for, in a library that keeps all (`echo`). */
static void hints(int echo) {
    MPI_Comm comm;
    MPI_Info info, used;
    char value[32];
    int flag, len = sizeof value;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_assert_no_any_tag", "true");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
    MPI_Comm_get_info(comm, &used);
    MPI_Info_get_string(used, "mpi_assert_no_any_tag", &len, value, &flag);
    CHECK(flag || !echo, "the hint is gone");
    CHECK(!flag || !strcmp(value, "true"), "%s", value);
    MPI_Info_free(&used);
    MPI_Comm_free(&comm);
    MPI_Info_free(&info);
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    many(argc > 1 ? atol(argv[1]) : 20000);
    tags(provided);
    freed_while_used();
    idup();
    /* Endpoints by proxies use no hints. */
    if (argc < 3 || strcmp(argv[2], "unhinted")) {
        by_hardware();
        hints(argc > 2 && !strcmp(argv[2], "echo"));
    }
    return end();
}
