/* Generalized requests: which callback is called by whom and when, completion from another thread,
   and errors that callbacks return. */
#include <pthread.h>
#include <unistd.h>
#include "check.h"

struct state {
    int queries, frees, cancels, cancelled_complete;
    int query_code, free_code;
    MPI_Request request;
};

static int query_fn(void *extra, MPI_Status *status) {
    struct state *s = extra;
    s->queries++;
    MPI_Status_set_elements(status, MPI_INT, 7);
    MPI_Status_set_cancelled(status, s->cancels > 0);
    status->MPI_SOURCE = 3;
    status->MPI_TAG = 4;
    return s->query_code;
}
static int free_fn(void *extra) {
    struct state *s = extra;
    s->frees++;
    return s->free_code;
}
static int cancel_fn(void *extra, int complete) {
    struct state *s = extra;
    s->cancels++;
    s->cancelled_complete = complete;
    return MPI_SUCCESS;
}

static struct state fresh(void) {
    struct state s = { 0, 0, 0, -1, MPI_SUCCESS, MPI_SUCCESS, MPI_REQUEST_NULL };
    return s;
}
static void start(struct state *s) { MPI_Grequest_start(query_fn, free_fn, cancel_fn, s, &s->request); }

static void *complete_later(void *arg) {
    usleep(50000);
    MPI_Grequest_complete(((struct state *)arg)->request);
    return NULL;
}

static void one_by_one(void) {
    struct state s = fresh();
    MPI_Status status;
    int flag = 1, count = 0, indx;
    start(&s);
    CHECK(s.request != MPI_REQUEST_NULL);
    MPI_Test(&s.request, &flag, &status);
    CHECK(!flag && s.queries == 0);
    MPI_Request_get_status(s.request, &flag, &status);
    CHECK(!flag && s.queries == 0);
    MPI_Grequest_complete(s.request);
    CHECK(s.queries == 0 && s.frees == 0);
    MPI_Request_get_status(s.request, &flag, MPI_STATUS_IGNORE);
    CHECK(flag && s.queries == 1 && s.frees == 0);
    MPI_Request_get_status_any(1, &s.request, &indx, &flag, &status);
    CHECK(flag && indx == 0 && s.queries == 2 && s.frees == 0);
    MPI_Wait(&s.request, &status);
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(s.queries == 3 && s.frees == 1 && s.request == MPI_REQUEST_NULL);
    CHECK(count == 7 && status.MPI_SOURCE == 3 && status.MPI_TAG == 4);

    /* Freed before and after it is complete. */
    s = fresh();
    start(&s);
    MPI_Request copy = s.request;
    MPI_Request_free(&s.request);
    CHECK(s.frees == 0 && s.request == MPI_REQUEST_NULL);
    MPI_Grequest_complete(copy);
    CHECK(s.frees == 1 && s.queries == 0);
    s = fresh();
    start(&s);
    MPI_Grequest_complete(s.request);
    MPI_Request_free(&s.request);
    CHECK(s.frees == 1 && s.queries == 0);

    /* Cancelled before and after. */
    s = fresh();
    start(&s);
    MPI_Cancel(&s.request);
    CHECK(s.cancels == 1 && s.cancelled_complete == 0);
    MPI_Grequest_complete(s.request);
    MPI_Cancel(&s.request);
    CHECK(s.cancels == 2 && s.cancelled_complete == 1);
    MPI_Wait(&s.request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag);
}

/* Each of the functions on many requests, with one generalized request among others. */
static void among_others(int way) {
    struct state s = fresh();
    MPI_Request all[3];
    MPI_Status statuses[3];
    int in = 0, out = 5, indx = -1, flag = 0, count = 0, indices[3], done = 0;
    MPI_Irecv(&in, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &all[0]);
    start(&s);
    all[1] = s.request;
    all[2] = MPI_REQUEST_NULL;
    MPI_Grequest_complete(all[1]);
    if (way == 0) {
        MPI_Waitany(3, all, &indx, statuses);
        CHECK(indx == 1);
    } else if (way == 1) {
        MPI_Testany(3, all, &indx, &flag, statuses);
        CHECK(indx == 1 && flag);
    } else if (way == 2) {
        MPI_Waitsome(3, all, &done, indices, statuses);
        CHECK(done == 1 && indices[0] == 1);
    } else if (way == 3) {
        MPI_Testsome(3, all, &done, indices, statuses);
        CHECK(done == 1 && indices[0] == 1);
    } else if (way == 4) {
        MPI_Testall(3, all, &flag, statuses);
        CHECK(!flag && s.queries == 0);
        MPI_Request_get_status_some(3, all, &done, indices, statuses);
        CHECK(done == 1 && indices[0] == 1 && s.queries == 1 && s.frees == 0);
    }
    MPI_Send(&out, 1, MPI_INT, 0, 1, MPI_COMM_SELF);
    if (way < 4) {
        MPI_Wait(&all[0], MPI_STATUS_IGNORE);
        CHECK(s.queries == 1);
    } else if (way == 4) {
        MPI_Testall(3, all, &flag, statuses);
        CHECK(flag && s.queries == 2);
        statuses[0] = statuses[1];
    } else {
        MPI_Waitall(3, all, statuses);
        CHECK(s.queries == 1);
        statuses[0] = statuses[1];
    }
    MPI_Get_count(&statuses[0], MPI_INT, &count);
    CHECK(count == 7 && s.frees == 1 && in == 5);
    CHECK(all[0] == MPI_REQUEST_NULL && all[1] == MPI_REQUEST_NULL);
}

static void errors(void) {
    struct state s = fresh();
    MPI_Request two[2];
    MPI_Status statuses[2];
    int class, code, flag;
    MPI_Add_error_class(&class);
    MPI_Add_error_code(class, &code);
    s.query_code = code;
    start(&s);
    MPI_Grequest_complete(s.request);
    CHECK(MPI_Request_get_status(s.request, &flag, MPI_STATUS_IGNORE) == code && flag);
    CHECK(MPI_Wait(&s.request, MPI_STATUS_IGNORE) == code);
    CHECK(s.frees == 1 && s.request == MPI_REQUEST_NULL);
    s = fresh();
    s.free_code = code;
    start(&s);
    MPI_Grequest_complete(s.request);
    two[0] = MPI_REQUEST_NULL;
    two[1] = s.request;
    FAILS(MPI_ERR_IN_STATUS, MPI_Waitall(2, two, statuses));
    CHECK(statuses[0].MPI_ERROR == MPI_SUCCESS && statuses[1].MPI_ERROR == code);
    s = fresh();
    s.free_code = code;
    start(&s);
    MPI_Grequest_complete(s.request);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(s.request));
    CHECK(MPI_Request_free(&s.request) == code && s.request == MPI_REQUEST_NULL);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(MPI_REQUEST_NULL));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(NULL, free_fn, cancel_fn, &s, &s.request));
    FAILS(MPI_ERR_ARG, MPI_Grequest_start(query_fn, free_fn, cancel_fn, &s, NULL));
    MPI_Irecv(&flag, 1, MPI_INT, 0, 1, MPI_COMM_SELF, &two[0]);
    FAILS(MPI_ERR_REQUEST, MPI_Grequest_complete(two[0]));
    FAILS(MPI_ERR_REQUEST, MPI_Pready(0, two[0]));
    FAILS(MPI_ERR_REQUEST, MPI_Parrived(two[0], 0, &flag));
    MPI_Cancel(&two[0]);
    MPI_Wait(&two[0], MPI_STATUS_IGNORE);
}

static void other_thread(void) {
    struct state s = fresh(), t = fresh();
    MPI_Request both[2];
    pthread_t thread;
    int indx, done, indices[2];
    start(&s);
    pthread_create(&thread, NULL, complete_later, &s);
    MPI_Wait(&s.request, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    CHECK(s.queries == 1 && s.frees == 1);
    s = fresh();
    start(&s);
    start(&t);
    both[0] = s.request;
    both[1] = t.request;
    pthread_create(&thread, NULL, complete_later, &t);
    MPI_Waitany(2, both, &indx, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
    CHECK(indx == 1 && t.frees == 1 && s.queries == 0);
    pthread_create(&thread, NULL, complete_later, &s);
    MPI_Waitsome(2, both, &done, indices, MPI_STATUSES_IGNORE);
    pthread_join(thread, NULL);
    CHECK(done == 1 && indices[0] == 0 && s.frees == 1);
}

int main(void) {
    int provided;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    one_by_one();
    for (int way = 0; way < 6; way++) among_others(way);
    errors();
    if (provided == MPI_THREAD_MULTIPLE) other_thread();
    return finish();
}
