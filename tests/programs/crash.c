/* Ends by a signal, or survives one, in a way of the caller's choosing, on rank 1 or on all.
 * Usage: crash segv | abort | fpe | overflow | raise | all | later | before | child | thread */
#include "check.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static sigjmp_buf back;
static volatile int zero;
static volatile int sink;

/* Values that the compiler does not see through: it would warn of what is done here. */
static volatile long nowhere = 8;
static volatile int deep = 1;

__attribute__((noinline)) static void store_through_null(void) { *(volatile int *)nowhere = 42; }

__attribute__((noinline)) static void divide_by_zero(int number) { sink = number / zero; }

/* Deep enough for any stack, and not a loop. */
__attribute__((noinline)) static int fall(volatile char *above) {
    volatile char room[4096];
    room[0] = above[0];
    return deep ? fall(room) + room[1] : 0;
}

static void leave_with_7(int signal) {
    (void)signal;
    _exit(7);
}

static void jump_back(int signal) {
    (void)signal;
    siglongjmp(back, 1);
}

static void *in_a_thread(void *nothing) {
    (void)nothing;
    store_through_null();
    return NULL;
}

int main(int argc, char **argv) {
    int rank, size;
    char start = 0;
    CHECK(argc == 2, "usage");
    const char *how = argv[1];
    if (strcmp(how, "before") == 0) signal(SIGSEGV, jump_back);
    begin(&argc, &argv, &rank, &size);
    if (strcmp(how, "later") == 0) signal(SIGSEGV, leave_with_7);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(how, "all") == 0) store_through_null();
    if (strcmp(how, "child") == 0) {
        pid_t child = fork();
        if (child == 0) store_through_null();
        int status = 0;
        CHECK(waitpid(child, &status, 0) == child, "wait");
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the child's end: %x", status);
    } else if (strcmp(how, "before") == 0) {
        /* Twice: what is survived once is survived again. */
        for (volatile int i = 0; i < 2; i++)
            if (sigsetjmp(back, 1) == 0) store_through_null();
    } else if (rank == size - 1) {
        if (strcmp(how, "segv") == 0 || strcmp(how, "later") == 0) store_through_null();
        if (strcmp(how, "abort") == 0) abort();
        if (strcmp(how, "fpe") == 0) divide_by_zero(7);
        if (strcmp(how, "overflow") == 0) sink = fall(&start);
        if (strcmp(how, "raise") == 0) raise(SIGSEGV);
        if (strcmp(how, "thread") == 0) {
            pthread_t thread;
            pthread_create(&thread, NULL, in_a_thread, NULL);
            pthread_join(thread, NULL);
        }
        fprintf(stderr, "crash: still here after %s\n", how);
        return 98;
    } else {
        int word;
        MPI_Recv(&word, 1, MPI_INT, size - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    puts("ok");
    return 0;
}
