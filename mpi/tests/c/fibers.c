/* User-level threads: a cooperative scheduler of ucontexts in one kernel thread, whose threads wait for one
 * another in MPI. Without the hooks the first that waits would keep the core for ever. */
#include "check.h"
#include <mpi-ext.h>
#include <ucontext.h>

enum { FIBERS = 24, ROUNDS = 40, STACK = 256 << 10 };

typedef struct Fiber {
    ucontext_t context;
    long me;
    int stopped, permit, over, parks, yields;
} Fiber;

static Fiber fibers[FIBERS];
static ucontext_t scheduler;
static Fiber *now;

static void give_way(void *state) {
    CHECK(state == &scheduler);
    now->yields++;
    swapcontext(&now->context, &scheduler);
}
static void *current(void *state) {
    (void)state;
    return now;
}
static void park(void *state, void *thread) {
    (void)state;
    Fiber *me = thread;
    CHECK(me == now);
    me->parks++;
    while (!me->permit) {
        me->stopped = 1;
        swapcontext(&me->context, &scheduler);
    }
    me->permit = 0;
}
static void unpark(void *state, void *thread) {
    (void)state;
    Fiber *other = thread;
    CHECK(!other->permit && !other->over);
    other->permit = 1;
    other->stopped = 0;
}

/* Around the ring of threads: each receives from the one before and sends to the next. */
static void body(int number) {
    Fiber *me = &fibers[number];
    int next = (number + 1) % FIBERS;
    for (int round = 0; round < ROUNDS; round++) {
        int token = -1, give;
        MPI_Request r[2];
        if (number == 0) {
            give = round;
            MPI_Send(&give, 1, MPI_INT, 0, next, MPI_COMM_SELF);
        }
        switch (round % 4) {
        case 0: MPI_Recv(&token, 1, MPI_INT, 0, number, MPI_COMM_SELF, MPI_STATUS_IGNORE); break;
        case 1: {
            MPI_Status s;
            MPI_Probe(0, number, MPI_COMM_SELF, &s);
            MPI_Recv(&token, 1, MPI_INT, 0, number, MPI_COMM_SELF, MPI_STATUS_IGNORE);
            break;
        }
        case 2: {
            int which;
            r[1] = MPI_REQUEST_NULL;
            MPI_Irecv(&token, 1, MPI_INT, 0, number, MPI_COMM_SELF, &r[0]);
            MPI_Waitany(2, r, &which, MPI_STATUS_IGNORE);
            break;
        }
        default: {
            MPIX_Sync sync;
            MPIX_Sync_init(&sync);
            MPI_Irecv(&token, 1, MPI_INT, 0, number, MPI_COMM_SELF, &r[0]);
            MPIX_Sync_attach(sync, &r[0], NULL);
            MPIX_Sync_waitall(sync);
            CHECK(MPIX_Sync_query(sync, MPI_STATUS_IGNORE) == NULL);
            MPIX_Sync_free(&sync);
        }
        }
        CHECK(token == round * 1000 + (number == 0 ? FIBERS - 1 : number - 1) || (number == 1 && token == round));
        if (number != 0) {
            give = round * 1000 + number;
            MPI_Send(&give, 1, MPI_INT, 0, next, MPI_COMM_SELF);
        }
    }
    me->over = 1;
}

int main(int argc, char **argv) {
    int provided;
    MPIX_Thread_hooks hooks = {give_way, current, park, unpark}, half = {give_way, NULL, park, unpark};
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    CHECK(MPIX_Thread_set_hooks(&half, &scheduler) == MPI_ERR_ARG);
    CHECK(MPIX_Thread_set_hooks(&hooks, &scheduler) == MPI_SUCCESS);
    for (int i = 0; i < FIBERS; i++) {
        getcontext(&fibers[i].context);
        fibers[i].context.uc_stack.ss_sp = malloc(STACK);
        fibers[i].context.uc_stack.ss_size = STACK;
        fibers[i].context.uc_link = &scheduler;
        makecontext(&fibers[i].context, (void (*)(void))body, 1, i);
    }
    for (int running = FIBERS; running > 0;) {
        running = 0;
        int ran = 0;
        for (int i = 0; i < FIBERS; i++) {
            if (fibers[i].over) continue;
            running++;
            if (fibers[i].stopped) continue;
            ran++;
            now = &fibers[i];
            swapcontext(&scheduler, &now->context);
        }
        if (running > 0 && ran == 0) {
            printf("all threads are stopped and nobody makes progress\n");
            return 1;
        }
    }
    int parks = 0;
    for (int i = 0; i < FIBERS; i++) {
        parks += fibers[i].parks;
        free(fibers[i].context.uc_stack.ss_sp);
    }
    CHECK(parks > 0);
    CHECK(MPIX_Thread_set_hooks(NULL, NULL) == MPI_SUCCESS);
    return finish();
}
