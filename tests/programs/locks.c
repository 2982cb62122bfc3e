/* Counts the atomic read-modify-write instructions (those with a lock prefix, and exchanges with memory) that one
 * rank executes while messages go to and fro: a child of it runs it step by step and looks at every
 * instruction. A lock cannot be taken without one.
 *
 *   locks [single|funneled|serialized|multiple|several] RANK
 *
 * prints for each kind of message: its name, messages, instructions, and how many of them were such. Exit status
 * 77: stepping is not permitted here.
 *
 * A rank that is stepped takes a thousand times as long, on a busy machine many more times, and the other one's patience ends: it goes to
 * sleep, and is woken by three such instructions (its bit, the word above that, its bell). The kernel counts how often a
 * process has slept; what was counted while the other one slept is counted again. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM = 40, COUNTED = 4, TRIES = 10 };

/* Between the rank and the child that steps it. */
static struct shared {
    volatile int ready, over, refused;
    volatile long steps, locked;
} *shared;

#if defined(__x86_64__)

/* Whether the instruction at `at` is an atomic read-modify-write. */
static int is_atomic(const unsigned char *at) {
    int lock = 0, i = 0;
    for (; i < 14; i++) {
        unsigned char b = at[i];
        if (b == 0xf0) lock = 1;
        else if (b != 0x66 && b != 0x67 && b != 0xf2 && b != 0xf3 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26 &&
                 b != 0x64 && b != 0x65)
            break;
    }
    if (lock) return 1;
    if ((at[i] & 0xf0) == 0x40) i++;
    return (at[i] == 0x86 || at[i] == 0x87) && at[i + 1] < 0xc0;
}

static void step_it(pid_t rank) {
    int status;
    if (ptrace(PTRACE_SEIZE, rank, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, rank, 0, 0) != 0) {
        shared->refused = shared->ready = 1;
        _exit(0);
    }
    waitpid(rank, &status, __WALL);
    shared->ready = 1;
    while (!shared->over) {
        struct user_regs_struct now;
        unsigned char code[16] = {0};
        if (ptrace(PTRACE_GETREGS, rank, 0, &now) != 0) break;
        struct iovec here = {code, 16}, there = {(void *)now.rip, 16};
        /* At the end of a page fewer are read. */
        if (process_vm_readv(rank, &here, 1, &there, 1, 0) < 0) {
            there.iov_len = 4096 - now.rip % 4096;
            if (process_vm_readv(rank, &here, 1, &there, 1, 0) < 0) memset(code, 0x90, 16);
        }
        shared->steps++;
        shared->locked += is_atomic(code);
        if (ptrace(PTRACE_SINGLESTEP, rank, 0, 0) != 0 || waitpid(rank, &status, __WALL) < 0) break;
        if (!WIFSTOPPED(status)) break;
    }
    ptrace(PTRACE_DETACH, rank, 0, 0);
    _exit(0);
}

#else
static int is_atomic(const unsigned char *at) { return at[0] == 0; }
static void step_it(pid_t rank) {
    (void)rank;
    shared->refused = shared->ready = 1;
    _exit(0);
}
#endif

static int rank, peer, stepped;
static char *out, *in;
static MPI_Datatype vector;
static MPI_Request lasting[2], parts[2];

static void blocking(int bytes) {
    if (rank == 0) {
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(in, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(out, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    }
}
static void eager(void) { blocking(8); }
static void kilobytes(void) { blocking(4096); }
static void rendezvous(void) { blocking(32768); }
static void immediate(void) {
    MPI_Request both[2];
    MPI_Irecv(in, 64, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(out, 64, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
}
static void pieces(void) {
    MPI_Sendrecv(out, 1, vector, peer, 3, in, 1, vector, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void persistent(void) {
    MPI_Startall(2, lasting);
    MPI_Waitall(2, lasting, MPI_STATUSES_IGNORE);
}
static void partitioned(void) {
    MPI_Startall(2, parts);
    for (int i = 0; i < 4; i++) MPI_Pready(i, parts[1]);
    MPI_Waitall(2, parts, MPI_STATUSES_IGNORE);
}

/* Messages that came before their receives: the first of them make room to lie in. On a busy machine any message may. */
static void early(void) {
    static const int sizes[] = {8, 64, 256, 1024, 4096};
    enum { SIZES = sizeof sizes / sizeof *sizes, EACH = 2 };
    MPI_Request sent[SIZES * EACH];
    MPI_Status status;
    for (int i = 0; i < SIZES * EACH; i++)
        MPI_Isend(out, sizes[i / EACH], MPI_BYTE, peer, 20 + i, MPI_COMM_WORLD, &sent[i]);
    for (int i = SIZES * EACH - 1; i >= 0; i--) {
        MPI_Probe(peer, 20 + i, MPI_COMM_WORLD, &status);
        MPI_Recv(in, sizes[i / EACH], MPI_BYTE, peer, 20 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Waitall(SIZES * EACH, sent, MPI_STATUSES_IGNORE);
}

/* How often this process has slept. */
static long sleeps(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_nvcsw;
}

/* Whether it was counted without a sleep. */
static int count_once(const char *name, void (*message)(void), int last) {
    pid_t child = -1;
    if (rank == stepped) {
        memset((void *)shared, 0, sizeof *shared);
        pid_t me = getpid();
        child = fork();
        CHECK(child >= 0, "fork: %s", strerror(errno));
        if (child == 0) step_it(me);
        /* Where the kernel asks: this child may. */
        prctl(PR_SET_PTRACER, (unsigned long)child, 0, 0, 0);
        while (!shared->ready) usleep(100);
    }
    long slept = sleeps(), others = 0;
    for (int i = 0; i < COUNTED; i++) message();
    slept = sleeps() - slept;
    if (rank == stepped) {
        shared->over = 1;
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
        if (shared->refused) {
            fprintf(stderr, "stepping through a process is not permitted here\n");
            fflush(stderr);
            MPI_Abort(MPI_COMM_WORLD, 77);
        }
    }
    if (rank != stepped) MPI_Send(&slept, 1, MPI_LONG, peer, 9, MPI_COMM_WORLD);
    else MPI_Recv(&others, 1, MPI_LONG, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int again = rank == stepped && others > 0 && shared->locked > 0 && !last;
    MPI_Bcast(&again, 1, MPI_INT, stepped, MPI_COMM_WORLD);
    if (rank == stepped && !again) {
        printf("%s: %d messages, %ld instructions, %ld atomic\n", name, COUNTED, shared->steps, shared->locked);
        fflush(stdout);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return !again;
}

static void count(const char *name, void (*message)(void)) {
    for (int i = 0; i < WARM; i++) message();
    for (int try = 1; !count_once(name, message, try == TRIES); try++) {}
}

static void *call_once(void *unused) {
    int initialized, flag;
    MPI_Initialized(&initialized);
    CHECK(initialized, "a call that any thread may make at any time");
    CHECK(MPI_Iprobe(0, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS && !flag, "a second thread");
    return unused;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "single";
    int size, provided, level = MPI_THREAD_MULTIPLE;
    if (strcmp(how, "single") == 0) level = MPI_THREAD_SINGLE;
    if (strcmp(how, "funneled") == 0) level = MPI_THREAD_FUNNELED;
    if (strcmp(how, "serialized") == 0) level = MPI_THREAD_SERIALIZED;
    const unsigned char locked[3][16] = {{0xf0, 0x0f, 0xb1, 0x0a}, {0x66, 0xf0, 0x48, 0x01, 0x07}, {0x48, 0x87, 0x07}};
    const unsigned char plain[3][16] = {{0x48, 0x89, 0x07}, {0x48, 0x87, 0xc7}, {0xf3, 0x90}};
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(size == 2, "two ranks, not %d", size);
    if (strcmp(how, "several") == 0) {
        pthread_t other;
        CHECK(pthread_create(&other, NULL, call_once, NULL) == 0 && pthread_join(other, NULL) == 0, "a thread");
    }
#if defined(__x86_64__)
    for (int i = 0; i < 3; i++) CHECK(is_atomic(locked[i]) && !is_atomic(plain[i]), "the reader of instructions, %d", i);
#else
    (void)locked, (void)plain, (void)is_atomic;
#endif
    peer = 1 - rank;
    stepped = argc > 2 ? atoi(argv[2]) : 0;
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED, "mmap: %s", strerror(errno));
    out = need(1 << 18);
    in = need(1 << 18);
    memset(out, 1, 1 << 18);
    MPI_Type_vector(64, 16, 32, MPI_BYTE, &vector);
    MPI_Type_commit(&vector);
    MPI_Recv_init(in, 64, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &lasting[0]);
    MPI_Send_init(out, 64, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &lasting[1]);
    MPI_Precv_init(in, 4, 256, MPI_BYTE, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[0]);
    MPI_Psend_init(out, 4, 256, MPI_BYTE, peer, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &parts[1]);
    early();
    count("eager", eager);
    count("4 KiB", kilobytes);
    count("immediate", immediate);
    count("rendezvous", rendezvous);
    count("not contiguous", pieces);
    count("persistent", persistent);
    count("partitioned", partitioned);
    for (int i = 0; i < 2; i++) {
        MPI_Request_free(&lasting[i]);
        MPI_Request_free(&parts[i]);
    }
    MPI_Type_free(&vector);
    return end();
}
