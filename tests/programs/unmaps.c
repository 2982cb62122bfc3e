/* Messages and puts from memory that is unmapped, moved, emptied and mapped anew all the time, with every byte checked: memory that
   stays registered must not be taken for what lies at its address later.
   Arguments: seconds (0: a fixed number of turns), threads, and "kept" if registrations are expected to be found again. */
#define _GNU_SOURCE
#include "check.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PLACES = 4, MOST_THREADS = 16, LEAST = 32 << 10, MOST = 192 << 10, TURNS = 120, CHANGERS = 2 };

static int rank, size, peer, threads = 2;
static double until;
static MPI_Win win;
static unsigned char *window;
static atomic_int over;

static unsigned roll(uint64_t *dice, unsigned n) {
    *dice = *dice * 6364136223846793005ul + 1442695040888963407ul;
    return (unsigned)(*dice >> 33) % n;
}

/* A piece of memory of a thread, always MOST bytes. */
struct place {
    unsigned char *at;
    int of_malloc;
};

static unsigned char *map_at(void *at, int more) {
    void *p = mmap(at, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | more, -1, 0);
    CHECK(p != MAP_FAILED, "mmap");
    return p;
}

/* One of the ways in which what lies at an address becomes something else. */
static void change(struct place *p, uint64_t *dice) {
    if (p->of_malloc) {
        /* By brk: see main. */
        free(p->at);
        p->of_malloc = roll(dice, 2);
        p->at = p->of_malloc ? need(MOST) : map_at(NULL, 0);
        return;
    }
    switch (roll(dice, 8)) {
    case 0:
        CHECK(munmap(p->at, MOST) == 0, "munmap");
        p->at = map_at(NULL, 0);
        break;
    case 1:
        CHECK(map_at(p->at, MAP_FIXED) == p->at, "mmap over it");
        break;
    case 2: {
        unsigned char *to = map_at(NULL, 0);
        CHECK(mremap(p->at, MOST, MOST, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to, "mremap");
        p->at = to;
        break;
    }
    case 3:
        CHECK(madvise(p->at + LEAST / 2, MOST / 2, MADV_DONTNEED) == 0, "madvise");
        break;
    case 4:
        CHECK(madvise(p->at, MOST, MADV_DONTNEED) == 0, "madvise");
        break;
    case 5: {
        /* Away and back, with other pages. */
        unsigned char *other = map_at(NULL, 0);
        CHECK(mremap(p->at, MOST, MOST, MREMAP_MAYMOVE | MREMAP_FIXED, other) == other, "mremap");
        unsigned char *back = mmap(p->at, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (back == p->at) {
            munmap(other, MOST);
        } else {
            /* Another thread was faster. */
            if (back != MAP_FAILED) munmap(back, MOST);
            p->at = other;
        }
        break;
    }
    case 6:
        CHECK(munmap(p->at, MOST) == 0, "munmap");
        p->of_malloc = 1;
        p->at = need(MOST);
        break;
    default:
        /* The tail alone. */
        CHECK(mremap(p->at, MOST, LEAST, 0) == p->at, "mremap");
        CHECK(munmap(p->at, LEAST) == 0, "munmap");
        p->at = map_at(NULL, 0);
    }
}

/* Maps what others have just unmapped. */
static void *changer(void *argument) {
    uint64_t dice = 77 + (uintptr_t)argument;
    while (!atomic_load(&over)) {
        unsigned char *p = map_at(NULL, 0);
        memset(p, 0xEE, MOST);
        usleep(roll(&dice, 300));
        munmap(p, MOST);
    }
    return NULL;
}

static void same(const unsigned char *in, long bytes, long seed, const char *how) {
    long at = differs(in, bytes, seed);
    CHECK(at < 0, "byte %ld of %ld by %s: stale memory", at, bytes, how);
    atomic_fetch_add(&check_messages_, 1);
}

static void *work(void *argument) {
    int thread = (int)(intptr_t)argument;
    /* The same on both sides, and this rank's alone. */
    uint64_t common = 1000 + thread, own = 31 * rank + thread;
    struct place places[PLACES];
    for (int i = 0; i < PLACES; i++) places[i] = (struct place){map_at(NULL, 0), 0};
    for (long turn = 0;; turn++) {
        int go = until > 0 ? MPI_Wtime() < until : turn < TURNS, theirs = go;
        MPI_Status status;
        MPI_Sendrecv(&go, 1, MPI_INT, peer, thread, &theirs, 1, MPI_INT, peer, thread, MPI_COMM_WORLD, &status);
        if (!go || !theirs) break;
        int bytes = LEAST + (int)roll(&common, MOST - LEAST), kind = (int)roll(&common, 4);
        struct place *out = &places[roll(&own, PLACES)], *in = out;
        while (in == out) in = &places[roll(&own, PLACES)];
        /* Half of the time nothing has changed, so that there is something to find. */
        if (roll(&own, 2)) change(out, &own);
        if (roll(&own, 4) == 0) change(in, &own);
        long mine = turn * 1000 + thread * 10 + rank, yours = turn * 1000 + thread * 10 + peer;
        fill(out->at, bytes, mine);
        memset(in->at, 0xAA, bytes);
        if (kind < 2) {
            MPI_Request both[2];
            MPI_Irecv(in->at, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD, &both[0]);
            MPI_Isend(out->at, bytes, MPI_BYTE, peer, thread, MPI_COMM_WORLD, &both[1]);
            MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
            same(in->at, bytes, yours, "a message");
        } else {
            MPI_Put(out->at, bytes, MPI_BYTE, peer, (MPI_Aint)thread * MOST, bytes, MPI_BYTE, win);
            MPI_Win_flush(peer, win);
            if (kind == 3) {
                MPI_Get(in->at, bytes, MPI_BYTE, peer, (MPI_Aint)thread * MOST, bytes, MPI_BYTE, win);
                MPI_Win_flush(peer, win);
                same(in->at, bytes, mine, "a get");
            }
            MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, thread, NULL, 0, MPI_BYTE, peer, thread, MPI_COMM_WORLD, &status);
            MPI_Win_sync(win);
            same(window + (size_t)thread * MOST, bytes, yours, "a put");
            MPI_Sendrecv(NULL, 0, MPI_BYTE, peer, thread, NULL, 0, MPI_BYTE, peer, thread, MPI_COMM_WORLD, &status);
        }
    }
    for (int i = 0; i < PLACES; i++) {
        if (places[i].of_malloc) free(places[i].at);
        else munmap(places[i].at, MOST);
    }
    return NULL;
}

enum { HITS, MISSES, GONE, BYPASSES, COUNTERS };
static MPI_T_pvar_session session;
static MPI_T_pvar_handle counters[COUNTERS];

/* Counters count from here on; another library has none of these. */
static void count_from_now(void) {
    static const char *const names[] = {"rcache_base_hits", "rcache_base_misses", "rcache_base_invalidations",
                                        "rcache_base_bypasses"};
    int index, count;
    for (int i = 0; i < COUNTERS; i++) {
        CHECK(MPI_T_pvar_get_index(names[i], MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS, "%s", names[i]);
        CHECK(MPI_T_pvar_handle_alloc(session, index, NULL, &counters[i], &count) == MPI_SUCCESS, "%s", names[i]);
    }
}

static unsigned long long counted(int which) {
    unsigned long long value = 0;
    CHECK(MPI_T_pvar_read(session, counters[which], &value) == MPI_SUCCESS, "%d", which);
    return value;
}

int main(int argc, char **argv) {
    int provided;
    /* Long pieces come from the one heap, whose end moves with them. */
    mallopt(M_ARENA_MAX, 1);
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 4096);
    mallopt(M_TOP_PAD, 0);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(provided == MPI_THREAD_MULTIPLE && size % 2 == 0, "%d, %d", provided, size);
    peer = rank ^ 1;
    double seconds = argc > 1 ? atof(argv[1]) : 0;
    if (argc > 2) threads = atoi(argv[2]);
    CHECK(threads >= 1 && threads <= MOST_THREADS, "%d threads", threads);
    if (seconds > 0) until = MPI_Wtime() + seconds;
    int level, kept = argc > 3 && strcmp(argv[3], "kept") == 0;
    MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level);
    MPI_T_pvar_session_create(&session);
    if (kept) count_from_now();
    window = map_at(NULL, 0);
    munmap(window, MOST);
    window = mmap(NULL, (size_t)threads * MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(window != MAP_FAILED, "mmap");
    MPI_Win_create(window, (MPI_Aint)threads * MOST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_lock_all(0, win);
    pthread_t workers[MOST_THREADS], changers[CHANGERS];
    for (intptr_t i = 0; i < CHANGERS; i++) pthread_create(&changers[i], NULL, changer, (void *)i);
    for (intptr_t i = 0; i < threads; i++) pthread_create(&workers[i], NULL, work, (void *)i);
    for (int i = 0; i < threads; i++) pthread_join(workers[i], NULL);
    atomic_store(&over, 1);
    for (int i = 0; i < CHANGERS; i++) pthread_join(changers[i], NULL);
    MPI_Win_unlock_all(win);
    MPI_Win_free(&win);
    if (kept) {
        unsigned long long hits = counted(HITS), misses = counted(MISSES), gone = counted(GONE);
        fprintf(stderr, "rank %d: hits %llu, misses %llu, invalidations %llu, bypasses %llu, checked %ld\n", rank, hits, misses,
                gone, counted(BYPASSES), atomic_load(&check_messages_));
        CHECK(hits > 0 && misses > 0 && gone > 0, "hits %llu, misses %llu, invalidations %llu", hits, misses, gone);
    }
    MPI_T_pvar_session_free(&session);
    MPI_T_finalize();
    return end();
}
