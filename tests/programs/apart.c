/* Looks whether threads with a communicator and a context each share a lock, or threads that are endpoints, or have a stream each: one thread of rank 0 after the other is run step by
 * step by a child of the rank while it exchanges messages, and every word of memory that an atomic read-modify-write (an instruction
 * with a lock prefix, or an exchange with memory) changes is noted. A lock cannot be taken without one. Meanwhile the other threads
 * exchange messages, too, so that locks have the owners that they have at work.
 *
 *   apart [THREADS] [endpoints|streams]
 *
 * Of what a library named by OXMPI_TEST_DEVICE does nothing is noted (a device in software, which is one for all threads): each call
 * of it is run at once, up to a breakpoint of the processor at its return.
 *
 * prints for each thread its instructions and atomic ones, and then how many words two threads changed for their messages. Exit
 * status 77: stepping is not permitted here. */
#define _GNU_SOURCE
#include "check.h"
#include <errno.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST = 16, WARM = 200, COUNTED = 16, WORDS = 256 };

/* Between rank 0 and the children that step its threads. */
static struct shared {
    volatile int ready, over, refused;
    struct noted {
        long steps, atomic;
        int words;
        struct { uint64_t address; long times; } word[WORDS];
    } noted[MOST];
} *shared;

static int rank, threads = 8;
static MPI_Comm comms[MOST];
static MPIX_Stream streams[MOST];
/* Endpoints are ranks of one communicator and use one tag. */
static int endpoints;
static int peer_of(int me) { return !endpoints ? 1 - rank : rank == 0 ? threads + me : me; }
static int tag_of(int me) { return endpoints ? 3 : me; }
/* Whose turn it is to be stepped; and at the end nobody's. */
static volatile int turn = -1;

#if defined(__x86_64__)

static uint64_t register_of(const struct user_regs_struct *r, int number) {
    const unsigned long long all[16] = {r->rax, r->rcx, r->rdx, r->rbx, r->rsp, r->rbp, r->rsi, r->rdi,
                                        r->r8, r->r9, r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
    return all[number];
}

/* The address that the instruction at `at` changes by an atomic read-modify-write; 0: it is none. */
static uint64_t changed(const unsigned char *at, const struct user_regs_struct *r) {
    int lock = 0, half = 0, i = 0, rex = 0;
    uint64_t base = 0;
    for (; i < 10; i++) {
        unsigned char b = at[i];
        if (b == 0xf0) lock = 1;
        else if (b == 0x66) half = 1;
        else if (b == 0x64) base = r->fs_base;
        else if (b == 0x65) base = r->gs_base;
        else if (b != 0x67 && b != 0xf2 && b != 0xf3 && b != 0x2e && b != 0x36 && b != 0x3e && b != 0x26) break;
    }
    if ((at[i] & 0xf0) == 0x40) rex = at[i++];
    int opcode = at[i++], after = 0;
    if (opcode == 0x0f) {
        after = at[i] == 0xba;
        i++;
    } else if (opcode == 0x80 || opcode == 0x83 || opcode == 0xc0 || opcode == 0xc1) {
        after = 1;
    } else if (opcode == 0x81) {
        after = half ? 2 : 4;
    } else if (!lock && opcode != 0x86 && opcode != 0x87) {
        return 0;
    }
    if (!lock && (opcode == 0x0f || (opcode != 0x86 && opcode != 0x87))) return 0;
    int mod = at[i] >> 6, rm = at[i] & 7;
    i++;
    if (mod == 3) return 0;
    uint64_t address = base;
    int wide = mod == 2;
    if (rm == 4) {
        int sib = at[i++], index = (sib >> 3 & 7) | (rex & 2) << 2, low = sib & 7;
        if (index != 4) address += register_of(r, index) << (sib >> 6);
        if (low == 5 && mod == 0) wide = 1;
        else address += register_of(r, low | (rex & 1) << 3);
    } else if (rm == 5 && mod == 0) {
        int32_t away;
        memcpy(&away, at + i, 4);
        return base + r->rip + (uint64_t)(i + 4 + after) + (uint64_t)(int64_t)away;
    } else {
        address += register_of(r, rm | (rex & 1) << 3);
    }
    if (wide) {
        int32_t away;
        memcpy(&away, at + i, 4);
        address += (uint64_t)(int64_t)away;
    } else if (mod == 1) {
        address += (uint64_t)(int64_t)(int8_t)at[i];
    }
    return address;
}

static void note(struct noted *noted, uint64_t address) {
    address &= ~(uint64_t)7;
    noted->atomic++;
    int i = 0;
    while (i < noted->words && noted->word[i].address != address) i++;
    if (i == WORDS) return;
    if (i == noted->words) noted->words++;
    noted->word[i].address = address;
    noted->word[i].times++;
}

/* Where the code of the device lies, if one is named. */
static uint64_t device_from, device_to;

static void find_device(void) {
    const char *name = getenv("OXMPI_TEST_DEVICE");
    FILE *maps = name ? fopen("/proc/self/maps", "r") : NULL;
    char line[4096];
    while (maps && fgets(line, sizeof line, maps)) {
        unsigned long from, to;
        char rights[8];
        if (!strstr(line, name) || sscanf(line, "%lx-%lx %7s", &from, &to, rights) != 3 || rights[2] != 'x') continue;
        if (device_to == 0) device_from = from;
        device_to = to;
    }
    if (maps) fclose(maps);
    CHECK(!name || device_to != 0, "%s is not there", name);
}

/* Runs a call that has just been made up to its return. 0: the thread is gone. */
static int run_call(pid_t thread, const struct user_regs_struct *now) {
    uint64_t back = 0;
    int status;
    struct iovec here = {&back, 8}, there = {(void *)now->rsp, 8};
    if (process_vm_readv(thread, &here, 1, &there, 1, 0) != 8) return 0;
    if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, u_debugreg[0]), back) != 0) return 0;
    if (ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, u_debugreg[7]), 1) != 0) return 0;
    if (ptrace(PTRACE_CONT, thread, 0, 0) != 0 || waitpid(thread, &status, __WALL) < 0 || !WIFSTOPPED(status)) return 0;
    return ptrace(PTRACE_POKEUSER, thread, offsetof(struct user, u_debugreg[7]), 0) == 0;
}

static void step_it(pid_t thread, struct noted *noted) {
    int status;
    if (ptrace(PTRACE_SEIZE, thread, 0, 0) != 0 || ptrace(PTRACE_INTERRUPT, thread, 0, 0) != 0) {
        shared->refused = shared->ready = 1;
        _exit(0);
    }
    waitpid(thread, &status, __WALL);
    shared->ready = 1;
    while (!shared->over) {
        struct user_regs_struct now;
        unsigned char code[32] = {0};
        if (ptrace(PTRACE_GETREGS, thread, 0, &now) != 0) break;
        if (now.rip >= device_from && now.rip < device_to) {
            if (!run_call(thread, &now)) break;
            continue;
        }
        struct iovec here = {code, 16}, there = {(void *)now.rip, 16};
        /* At the end of a page fewer are read. */
        if (process_vm_readv(thread, &here, 1, &there, 1, 0) < 0) {
            there.iov_len = 4096 - now.rip % 4096;
            if (process_vm_readv(thread, &here, 1, &there, 1, 0) < 0) memset(code, 0x90, 16);
        }
        noted->steps++;
        uint64_t address = changed(code, &now);
        if (address != 0) note(noted, address);
        if (ptrace(PTRACE_SINGLESTEP, thread, 0, 0) != 0 || waitpid(thread, &status, __WALL) < 0) break;
        if (!WIFSTOPPED(status)) break;
    }
    ptrace(PTRACE_DETACH, thread, 0, 0);
    _exit(0);
}

/* The reader of instructions finds what it is to find. */
static void check_reader(void) {
    struct user_regs_struct r = {.rax = 0x1000, .rdi = 0x2000, .r9 = 0x3000, .rip = 0x4000, .fs_base = 0x50000};
    const struct { unsigned char code[16]; uint64_t address; } all[] = {
        {{0xf0, 0x0f, 0xb1, 0x0f}, 0x2000},                                      /* lock cmpxchg %ecx,(%rdi) */
        {{0xf0, 0x48, 0x0f, 0xc1, 0x47, 0xf8}, 0x1ff8},                          /* lock xadd %rax,-8(%rdi) */
        {{0x49, 0x87, 0x01}, 0x3000},                                            /* xchg %rax,(%r9) */
        {{0xf0, 0x48, 0xff, 0x84, 0xc7, 0x00, 0x01, 0x00, 0x00}, 0xa100},        /* lock incq 0x100(%rdi,%rax,8) */
        {{0xf0, 0x83, 0x05, 0x10, 0x00, 0x00, 0x00, 0x01}, 0x4018},              /* lock addl $1,0x10(%rip) */
        {{0x64, 0xf0, 0x83, 0x0c, 0x25, 0x08, 0x00, 0x00, 0x00, 0x00}, 0x50008}, /* lock orl $0,%fs:8 */
        {{0x48, 0x89, 0x07}, 0},                                                 /* mov %rax,(%rdi) */
        {{0x48, 0x87, 0xc7}, 0},                                                 /* xchg %rax,%rdi */
        {{0xf3, 0x90}, 0},                                                       /* pause */
        {{0x0f, 0xc1, 0x07}, 0},                                                 /* xadd %eax,(%rdi), not locked */
    };
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        uint64_t found = changed(all[i].code, &r);
        CHECK(found == all[i].address, "the reader of instructions: %u is at %#lx, not %#lx", i, (unsigned long)all[i].address,
              (unsigned long)found);
    }
}

#else
static void step_it(pid_t thread, struct noted *noted) {
    (void)thread, (void)noted;
    shared->refused = shared->ready = 1;
    _exit(0);
}
static void check_reader(void) {}
static void find_device(void) {}
#endif

/* One message each way; the answer is the word itself. */
static void exchange(int me, long word) {
    long got = -1;
    MPI_Send(&word, 1, MPI_LONG, peer_of(me), tag_of(me), comms[me]);
    MPI_Recv(&got, 1, MPI_LONG, peer_of(me), tag_of(me), comms[me], MPI_STATUS_IGNORE);
    CHECK(got == word, "thread %d: %ld came back as %ld", me, word, got);
}

static void be_stepped(int me) {
    shared->ready = shared->over = 0;
    pid_t own = (pid_t)syscall(SYS_gettid);
    pid_t child = fork();
    CHECK(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) step_it(own, &shared->noted[me]);
    /* Where the kernel asks: this child may. */
    prctl(PR_SET_PTRACER, (unsigned long)child, 0, 0, 0);
    while (!shared->ready) usleep(100);
    for (int i = 0; i < COUNTED; i++) exchange(me, i);
    shared->over = 1;
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {}
    if (shared->refused) {
        fprintf(stderr, "stepping through a thread is not permitted here\n");
        fflush(stderr);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
}

static void *work(void *argument) {
    int me = (int)(long)argument;
    if (rank == 1) {
        for (long word = 0; word >= 0;) {
            MPI_Recv(&word, 1, MPI_LONG, peer_of(me), tag_of(me), comms[me], MPI_STATUS_IGNORE);
            MPI_Send(&word, 1, MPI_LONG, peer_of(me), tag_of(me), comms[me]);
        }
        return NULL;
    }
    for (int i = 0; i < WARM; i++) exchange(me, i);
    for (int stepped = 0; turn < threads;) {
        if (turn == me && !stepped) {
            stepped = 1;
            be_stepped(me);
            turn++;
        }
        exchange(me, 1);
        usleep(2000);
    }
    exchange(me, -2);
    return NULL;
}

/* Words that two threads changed, each at least once in two of its messages or answers. */
static int count_shared(void) {
    int count = 0;
    for (int a = 0; a < threads; a++) {
        struct noted *one = &shared->noted[a];
        for (int i = 0; i < one->words; i++) {
            int found = 0;
            for (int b = 0; b < threads && one->word[i].times >= COUNTED; b++) {
                struct noted *two = &shared->noted[b];
                for (int j = 0; b != a && j < two->words; j++)
                    found |= two->word[j].address == one->word[i].address && two->word[j].times >= COUNTED;
            }
            count += found;
            if (found) printf("thread %d shares %#lx: %ld times\n", a, (unsigned long)one->word[i].address, one->word[i].times);
        }
    }
    return count;
}

int main(int argc, char **argv) {
    pthread_t others[MOST];
    int size, provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    if (argc > 1) threads = atoi(argv[1]);
    CHECK(size == 2 && provided == MPI_THREAD_MULTIPLE && threads >= 1 && threads <= MOST, "two ranks, 1 to %d threads", MOST);
    check_reader();
    find_device();
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(shared != MAP_FAILED, "mmap: %s", strerror(errno));
    endpoints = argc > 2 && strcmp(argv[2], "endpoints") == 0;
    int streamed = argc > 2 && strcmp(argv[2], "streams") == 0;
    if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, comms);
    for (int i = 0; i < threads && !endpoints; i++) {
        if (streamed) MPIX_Stream_create(MPI_INFO_NULL, &streams[i]), MPIX_Stream_comm_create(MPI_COMM_WORLD, streams[i], &comms[i]);
        else MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    }
    for (long i = 0; i < threads; i++) CHECK(pthread_create(&others[i], NULL, work, (void *)i) == 0, "a thread");
    turn = 0;
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
    for (int i = 0; i < threads && rank == 0; i++) {
        struct noted *noted = &shared->noted[i];
        printf("thread %d: %d messages, %ld instructions, %ld atomic\n", i, 2 * COUNTED, noted->steps, noted->atomic);
    }
    if (rank == 0) printf("shared: %d\n", count_shared());
    fflush(stdout);
    for (int i = 0; i < threads; i++) {
        if (streamed) MPIX_Stream_free(&streams[i]);
        MPI_Comm_free(&comms[i]);
    }
    return end();
}
