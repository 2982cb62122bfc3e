/*
 * Messages whose instructions are counted (tests/bench/main.rs says how).
 *
 *     messages FILE LEVEL MESSAGES      on two ranks; LEVEL: single, multiple, or several (MULTIPLE, and a second
 *                                       thread of each rank has made a call)
 *
 * Every phase runs three times: once to warm up, once with MESSAGES messages and once with twice as
 * many, the latter two between count_begin and count_end. The ranks meet through words in FILE and
 * not through MPI, so that a receive finds its message in the ring and no call ever polls in vain:
 * what is counted is then the same on every run and on every machine.
 */
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { WINDOW = 64, BYTES = 8 };

static _Atomic unsigned *words;
static unsigned meetings;
static int me, other;

/* Both ranks are here. */
static void meet(void) {
    meetings++;
    atomic_store(&words[64 * me], meetings);
    while (atomic_load(&words[64 * other]) < meetings) {
        sched_yield();
    }
}

static void fail(const char *what, long value) {
    fprintf(stderr, "rank %d: %s: %ld\n", me, what, value);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

static unsigned long long content(int from, int i) {
    return 0x9e3779b97f4a7c15ull * (unsigned)(from * 1000003 + i + 1);
}

static void expect(unsigned long long got, int from, int i) {
    if (got != content(from, i)) {
        fail("a message with the wrong content", i);
    }
}

/* All that these functions call is counted. */
#define COUNTED __attribute__((noinline)) static

COUNTED void counted_send(const void *data, int to) {
    MPI_Send(data, BYTES, MPI_BYTE, to, 7, MPI_COMM_WORLD);
}
COUNTED void counted_recv(void *data, int from) {
    MPI_Recv(data, BYTES, MPI_BYTE, from, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
COUNTED void counted_isend(const void *data, int to, int tag, MPI_Request *request) {
    MPI_Isend(data, BYTES, MPI_BYTE, to, tag, MPI_COMM_WORLD, request);
}
COUNTED void counted_irecv(void *data, int from, int tag, MPI_Request *request) {
    MPI_Irecv(data, BYTES, MPI_BYTE, from, tag, MPI_COMM_WORLD, request);
}
COUNTED void counted_waitall(int count, MPI_Request *requests) {
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

COUNTED void counted_wait(MPI_Request *request) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
}

static void send(int to, int i) {
    unsigned long long data = content(me, i);
    counted_send(&data, to);
}

static void receive(int from, int i) {
    unsigned long long data = 0;
    counted_recv(&data, from);
    expect(data, from, i);
}

/* From rank 0 to rank 1; the message is in the ring when it is received. */
static void ring(int messages) {
    for (int i = 0; i < messages; i++) {
        if (me == 0) {
            send(1, i);
        }
        meet();
        if (me == 1) {
            receive(0, i);
        }
        meet();
    }
}

/* The same, but a probe has taken the message out of the ring before: it waits for its receive. */
static void waiting(int messages) {
    for (int i = 0; i < messages; i++) {
        if (me == 0) {
            send(1, i);
        }
        meet();
        if (me == 1) {
            int there = 0;
            MPI_Iprobe(0, 7, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
            if (!there) {
                fail("no message is waiting", i);
            }
            receive(0, i);
        }
        meet();
    }
}

/* To oneself; the sends are counted, or the receives. */
static void self_send(int messages) {
    for (int i = 0; i < messages; i++) {
        unsigned long long data = 0;
        send(me, i);
        MPI_Recv(&data, BYTES, MPI_BYTE, me, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(data, me, i);
    }
}
static void self_recv(int messages) {
    for (int i = 0; i < messages; i++) {
        unsigned long long data = content(me, i);
        MPI_Send(&data, BYTES, MPI_BYTE, me, 7, MPI_COMM_WORLD);
        receive(me, i);
    }
}

/*
 * Windows of nonblocking messages from rank 0 to rank 1; the receives are posted first, and all
 * messages are in the ring when they are waited for. The starts are counted, or the waits for all or for
 * each.
 */
enum what { STARTS, WAITS, EACH };
static void window(int messages, enum what counted) {
    int count_starts = counted == STARTS;
    static unsigned long long data[WINDOW];
    MPI_Request requests[WINDOW];
    for (int first = 0; first < messages; first += WINDOW) {
        memset(data, 0, sizeof data);
        for (int i = 0; me == 1 && i < WINDOW; i++) {
            if (count_starts) {
                counted_irecv(&data[i], 0, i, &requests[i]);
            } else {
                MPI_Irecv(&data[i], BYTES, MPI_BYTE, 0, i, MPI_COMM_WORLD, &requests[i]);
            }
        }
        meet();
        for (int i = 0; me == 0 && i < WINDOW; i++) {
            data[i] = content(0, first + i);
            if (count_starts) {
                counted_isend(&data[i], 1, i, &requests[i]);
            } else {
                MPI_Isend(&data[i], BYTES, MPI_BYTE, 1, i, MPI_COMM_WORLD, &requests[i]);
            }
        }
        meet();
        if (count_starts) {
            MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
        } else if (counted == WAITS) {
            counted_waitall(WINDOW, requests);
        } else {
            for (int i = 0; i < WINDOW; i++) {
                counted_wait(&requests[i]);
            }
        }
        for (int i = 0; i < WINDOW; i++) {
            expect(data[i], 0, first + i);
        }
        meet();
    }
}
static void starts(int messages) {
    window(messages, STARTS);
}
static void waits(int messages) {
    window(messages, WAITS);
}
static void each(int messages) {
    window(messages, EACH);
}

/* From now on there are several threads. */
static void *come(void *argument) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
    return argument;
}
static void second_thread(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, come, NULL) != 0 || pthread_join(thread, NULL) != 0) {
        fail("no second thread", 0);
    }
}

/* The tool starts from zero here, and writes down its counts there. */
__attribute__((noinline)) void count_begin(int messages) {
    __asm__ volatile("" : : "r"(messages) : "memory");
}
__attribute__((noinline)) void count_end(int messages) {
    __asm__ volatile("" : : "r"(messages) : "memory");
}

static void phase(void (*run)(int), int messages) {
    run(messages);
    for (int times = 1; times <= 2; times++) {
        count_begin(messages * times);
        run(messages * times);
        count_end(messages * times);
    }
}

int main(int argc, char **argv) {
    int several = argc > 2 && strcmp(argv[2], "several") == 0;
    int level = several || (argc > 2 && strcmp(argv[2], "multiple") == 0) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
    int messages = argc > 3 ? atoi(argv[3]) : 0;
    int provided, size;
    MPI_Init_thread(&argc, &argv, level, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size != 2 || messages < WINDOW || messages % WINDOW != 0 || provided != level) {
        fail("usage: messages FILE single|multiple|several MESSAGES on 2 ranks; thread level", provided);
    }
    other = 1 - me;
    int file = open(argv[1], O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, 4096) != 0) {
        fail("cannot make the file to meet in", file);
    }
    words = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (words == MAP_FAILED) {
        fail("cannot map the file to meet in", file);
    }
    if (several) {
        /* The first call is that of the thread that goes on. */
        MPI_Barrier(MPI_COMM_SELF);
        second_thread();
    }
    meet();
    phase(ring, messages);
    phase(waiting, messages);
    phase(self_send, messages);
    phase(self_recv, messages);
    phase(starts, messages);
    phase(waits, messages);
    phase(each, messages);
    meet();
    MPI_Finalize();
    puts("ok");
    return 0;
}
