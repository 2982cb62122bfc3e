/* Thread communicators: one handle, of which each thread means its own rank. Arguments: threads of each process; "omp" for ranks by the OpenMP team, "keys"
 * for ranks by the keys that threads set, else as they come. */
#include "check.h"

#include <mpi-ext.h>
#include <omp.h>
#include <pthread.h>

static int rank, size, threads, keyval;
static MPI_Comm comm;

static int deleted(MPI_Comm of, int key, void *value, void *extra) {
    (void)of, (void)key, (void)extra;
    ++*(int *)value;
    return MPI_SUCCESS;
}

/* Between start and finish: what other libraries of this kind leave out is among it. */
static void inside(int number) {
    int me, n, left, right, in = -1, out, sum, flag, freed = 0, *value;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    MPI_Comm other, half;
    CHECK(MPIX_Threadcomm_start(comm) == MPI_SUCCESS, "start");
    MPI_Comm_rank(comm, &me), MPI_Comm_size(comm, &n);
    CHECK(n == size * threads && me / threads == rank, "rank %d of %d", me, n);
    if (number >= 0) CHECK(me % threads == number, "rank %d of thread %d", me, number);
    MPIX_Comm_test_threadcomm(comm, &flag);
    CHECK(flag, "a thread communicator");
    left = (me + n - 1) % n, right = (me + 1) % n, out = me;
    MPI_Isend(&out, 1, MPI_INT, right, 3, comm, &request);
    MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == left && status.MPI_SOURCE == left && status.MPI_TAG == 3, "%d from %d", in, status.MPI_SOURCE);
    MPI_Isend(&out, 1, MPI_INT, right, 4, comm, &request);
    MPI_Mprobe(MPI_ANY_SOURCE, 4, comm, &message, &status);
    MPI_Mrecv(&in, 1, MPI_INT, &message, &status);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(in == left, "%d", in);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
    CHECK(sum == n * (n - 1) / 2, "%d", sum);
    MPI_Iallreduce(&me, &sum, 1, MPI_INT, MPI_MAX, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(sum == n - 1, "%d", sum);
    MPI_Comm_set_attr(comm, keyval, &freed);
    MPI_Barrier(comm);
    MPI_Comm_get_attr(comm, keyval, &value, &flag);
    CHECK(flag && value == &freed, "the attribute of another thread");
    MPI_Comm_dup(comm, &other);
    MPIX_Comm_test_threadcomm(other, &flag);
    CHECK(flag == (n > 1 && threads > 1), "a duplicate: %d", flag);
    MPI_Bcast(&sum, 1, MPI_INT, n - 1, other);
    MPI_Comm_free(&other);
    MPI_Comm_split(comm, me % 2, me, &half);
    MPI_Comm_size(half, &sum);
    CHECK(sum == (n + 1 - me % 2) / 2, "%d", sum);
    MPI_Comm_free(&half);
    MPI_Win win;
    long *memory, one = 1;
    MPI_Win_allocate(sizeof(long), sizeof(long), MPI_INFO_NULL, comm, &memory, &win);
    *memory = 0;
    MPI_Win_fence(0, win);
    for (int i = 0; i < n; i++) MPI_Accumulate(&one, 1, MPI_LONG, i, 0, 1, MPI_LONG, MPI_SUM, win);
    MPI_Win_fence(0, win);
    CHECK(*memory == n, "%ld", *memory);
    MPI_Win_free(&win);
    MPI_Comm_delete_attr(comm, keyval);
    CHECK(freed == 1, "%d", freed);
    CHECK(MPIX_Threadcomm_finish(comm) == MPI_SUCCESS, "finish");
}

/* With keys a thread says which it wants to be: the last one the first. It says it once; it is so at each start. */
static void *thread(void *number) {
    inside((int)(long)number);
    return NULL;
}

static void set_key(int key) {
    char text[16];
    MPI_Info info;
    snprintf(text, sizeof text, "%d", key);
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_order", text);
    CHECK(MPI_Comm_set_info(comm, info) == MPI_SUCCESS, "the key of a thread");
    MPI_Info_free(&info);
}

static void *thread_with_key(void *number) {
    int nth = (int)(long)number;
    set_key(-nth);
    for (int turn = 0; turn < 3; turn++) inside(threads - 1 - nth);
    set_key(nth);
    inside(nth);
    return NULL;
}

/* Outside: nothing but free, and errors that say why. */
static void outside(void) {
    int flag, class;
    MPI_Comm wrong = MPI_COMM_WORLD;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Comm_rank(comm, &flag), &class);
    CHECK(class == MPI_ERR_COMM, "%d", class);
    CHECK(MPIX_Threadcomm_finish(comm) == MPI_ERR_COMM, "finish without start");
    CHECK(MPIX_Threadcomm_start(MPI_COMM_WORLD) == MPI_ERR_COMM, "start of the world");
    CHECK(MPIX_Threadcomm_free(&wrong) == MPI_ERR_COMM, "free of the world");
    CHECK(MPIX_Threadcomm_init(MPI_COMM_WORLD, rank ? 1 : 0, &wrong) == MPI_ERR_ARG, "no threads");
    MPI_Info info;
    MPI_Info_create(&info), MPI_Info_set(info, "thread_order", "omp");
    CHECK(MPI_Comm_set_info(comm, info) == MPI_ERR_INFO_VALUE, "a thread's key is a number");
    MPI_Info_free(&info);
    MPIX_Comm_test_threadcomm(MPI_COMM_WORLD, &flag);
    CHECK(!flag, "the world");
    MPIX_Comm_test_threadcomm(comm, &flag);
    CHECK(flag, "a thread communicator");
}

int main(int argc, char **argv) {
    int provided, omp = argc > 2 && !strcmp(argv[2], "omp"), keys = argc > 2 && !strcmp(argv[2], "keys");
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = atoi(argv[1]);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL);
    MPI_Info info;
    MPI_Comm parent;
    MPI_Info_create(&info);
    MPI_Info_set(info, "thread_order", omp ? "omp" : keys ? "7" : "arrival");
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &parent);
    MPI_Info_free(&info);
    CHECK(MPIX_Threadcomm_init(parent, threads, &comm) == MPI_SUCCESS, "init");
    outside();
    /* Started again and again. */
    for (int turn = 0; turn < (keys ? 2 : 4); turn++) {
        if (omp) {
#pragma omp parallel num_threads(threads)
            inside(omp_get_thread_num());
            continue;
        }
        pthread_t all[threads];
        for (int i = 0; i < threads; i++) pthread_create(&all[i], NULL, keys ? thread_with_key : thread, (void *)(long)(keys ? i : -1));
        for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    }
    CHECK(MPIX_Threadcomm_free(&comm) == MPI_SUCCESS && comm == MPI_COMM_NULL, "free");
    MPI_Comm_free(&parent);
    MPI_Comm_free_keyval(&keyval);
    return end();
}
