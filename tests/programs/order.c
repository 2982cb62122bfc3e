/* Order across threads: the threads of a rank hand a token round, and each in turn sends the next number
   to the same peer. Whatever the tags and whoever receives, the numbers arrive in order, because the
   program orders the sends, and the receives likewise. Ranks work in pairs; a single one has threads that send
   and as many that receive. With "endpoints" the ranks are the middle ones of three endpoints of each process, between whose others messages go
   to and fro meanwhile. Usage: order THREADS [COUNT [endpoints]] */
#include "check.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

enum { MOST = 128, LONG_BYTES = 70000, SHORT_BYTES = 200 };
enum token { MUTEX, BARRIER, ATOMIC, TOKENS };
static const char *const token_name[] = {"mutex", "barrier", "atomic"};
/* One tag; many, received by MPI_ANY_TAG; many, received by their tag and by MPI_ANY_TAG in turn. */
enum tags { ONE, MANY, MIXED, TAGS };
static const char *const tags_name[] = {"one tag", "any tag", "mixed tags"};
/* Blocking; all posted first; probed and then received; sends and receives that find a silent peer. */
enum manner { BLOCKING, POSTED, PROBED, FLOOD, MANNERS };
static const char *const manner_name[] = {"blocking", "posted", "probed", "flood"};

static int rank, size, peer, threads, count;
static MPI_Comm comm;
/* The middle one stands for the process. */
enum { LEFT, MIDDLE, RIGHT, ENDPOINTS };
static MPI_Comm each[ENDPOINTS], dups[ENDPOINTS];
static int on_endpoints;
static enum token token;
static enum tags tags;
static enum manner manner;
static int lone_receiver;

/* Those who send and those who receive; each has a token of its own. */
struct side {
    int sending, here, next;
    pthread_mutex_t lock;
    pthread_barrier_t barrier;
    atomic_int turn;
};
static struct side sides[2];

static int tag_of(int n) { return tags == ONE ? 7 : (n * 5 + n / 3) % 97; }

/* Long ones are rare; they go another way and still keep their place. */
static int bytes_of(int n) { return n % 61 == 60 ? LONG_BYTES : n % 7 == 6 ? SHORT_BYTES : (int)sizeof(int); }

struct mine {
    struct side *side;
    int me;
    pthread_t thread;
    MPI_Request *requests;
    int *numbers;
    char **buffers;
    int used;
};

static void check(const char *buffer, int n, const MPI_Status *status) {
    int got = -1, bytes;
    memcpy(&got, buffer, sizeof got);
    MPI_Get_count(status, MPI_BYTE, &bytes);
    CHECK(got == n, "%d came when %d was due (%s, %s, %s)", got, n, token_name[token], tags_name[tags], manner_name[manner]);
    CHECK(status->MPI_TAG == tag_of(n) && bytes == bytes_of(n), "number %d: tag %d, %d bytes", n, status->MPI_TAG, bytes);
    CHECK(differs(buffer + sizeof got, bytes - (int)sizeof got, n) < 0, "number %d: contents", n);
    atomic_fetch_add_explicit(&check_messages_, 1, memory_order_relaxed);
}

static void send_number(struct mine *mine, int n) {
    int bytes = bytes_of(n);
    char *buffer = need(bytes);
    memcpy(buffer, &n, sizeof n);
    fill(buffer + sizeof n, bytes - (int)sizeof n, n);
    if (manner == BLOCKING || manner == PROBED) {
        MPI_Send(buffer, bytes, MPI_BYTE, peer, tag_of(n), comm);
        free(buffer);
        return;
    }
    MPI_Isend(buffer, bytes, MPI_BYTE, peer, tag_of(n), comm, &mine->requests[mine->used]);
    mine->buffers[mine->used++] = buffer;
}

static void receive_number(struct mine *mine, int n) {
    int tag = tags == ONE || (tags == MIXED && n % 2) ? tag_of(n) : MPI_ANY_TAG;
    int source = n % 3 ? peer : MPI_ANY_SOURCE;
    char *buffer = need(bytes_of(n));
    if (manner == POSTED) {
        MPI_Irecv(buffer, bytes_of(n), MPI_BYTE, source, tag, comm, &mine->requests[mine->used]);
        mine->numbers[mine->used] = n;
        mine->buffers[mine->used++] = buffer;
        return;
    }
    MPI_Status status;
    if (manner == PROBED) {
        MPI_Message message;
        MPI_Mprobe(source, tag, comm, &message, &status);
        CHECK(status.MPI_TAG == tag_of(n), "a probe for %d found tag %d instead of %d", n, status.MPI_TAG, tag_of(n));
        MPI_Mrecv(buffer, bytes_of(n), MPI_BYTE, &message, &status);
    } else {
        MPI_Recv(buffer, bytes_of(n), MPI_BYTE, source, tag, comm, &status);
    }
    check(buffer, n, &status);
    free(buffer);
}

static void step(struct mine *mine, int n) {
    if (mine->side->sending)
        send_number(mine, n);
    else
        receive_number(mine, n);
}

static void finish(struct mine *mine) {
    for (int i = 0; i < mine->used; i++) {
        MPI_Status status;
        MPI_Wait(&mine->requests[i], &status);
        if (!mine->side->sending) check(mine->buffers[i], mine->numbers[i], &status);
        free(mine->buffers[i]);
    }
    free(mine->requests);
    free(mine->numbers);
    free(mine->buffers);
}

static void *run(void *argument) {
    struct mine *mine = argument;
    struct side *side = mine->side;
    int me = mine->me;
    mine->requests = need(count * sizeof(MPI_Request));
    mine->numbers = need(count * sizeof(int));
    mine->buffers = need(count * sizeof(char *));
    mine->used = 0;
    if (lone_receiver && !side->sending) {
        for (int n = 0; n < count && me == 0; n++) step(mine, n);
    } else if (token == MUTEX) {
        for (int more = 1; more;) {
            pthread_mutex_lock(&side->lock);
            more = side->next < count;
            if (more) step(mine, side->next++);
            pthread_mutex_unlock(&side->lock);
            sched_yield();
        }
    } else if (token == BARRIER) {
        for (int n = 0; n < count; n++) {
            if (n % threads == me) step(mine, n);
            pthread_barrier_wait(&side->barrier);
        }
    } else {
        for (int n = me; n < count; n += threads) {
            while (atomic_load(&side->turn) != n) sched_yield();
            step(mine, n);
            atomic_store(&side->turn, n + 1);
        }
    }
    finish(mine);
    return NULL;
}

static void round_of(void) {
    static struct mine all[2 * MOST];
    int n = 0;
    for (int s = 0; s < 2; s++) {
        sides[s].next = 0;
        atomic_store(&sides[s].turn, 0);
        for (int i = 0; sides[s].here && i < threads; i++) all[n++] = (struct mine){.side = &sides[s], .me = i};
    }
    /* Nobody receives while this rank sleeps: rings fill, and what follows waits behind. */
    if (manner == FLOOD && !sides[0].here) usleep(20000);
    for (int i = 1; i < n; i++) CHECK(!pthread_create(&all[i].thread, NULL, run, &all[i]), "no thread");
    run(&all[0]);
    for (int i = 1; i < n; i++) pthread_join(all[i].thread, NULL);
}

/* Messages of another endpoint, with a tag that the others use, too: to the one of the other kind in the next process, and from that in the one
   before. */
static void *noise(void *which) {
    MPI_Comm mine = each[(int)(long)which];
    int me, all, bytes;
    MPI_Comm_rank(mine, &me), MPI_Comm_size(mine, &all);
    int other = me + (me % ENDPOINTS == LEFT ? RIGHT : -RIGHT), to = (other + ENDPOINTS) % all, from = (other + all - ENDPOINTS) % all;
    for (int turn = 0; turn < 300; turn++) {
        char out[SHORT_BYTES] = {(char)turn}, in[SHORT_BYTES] = {-1};
        MPI_Status status;
        MPI_Sendrecv(out, SHORT_BYTES, MPI_BYTE, to, 7, in, SHORT_BYTES, MPI_BYTE, turn % 2 ? from : MPI_ANY_SOURCE, turn % 3 ? 7 : MPI_ANY_TAG, mine, &status);
        MPI_Get_count(&status, MPI_BYTE, &bytes);
        CHECK(bytes == SHORT_BYTES && status.MPI_SOURCE == from && in[0] == (char)turn, "turn %d: %d from %d", turn, in[0], status.MPI_SOURCE);
    }
    return NULL;
}

static void make_endpoints(void) {
#ifdef MPIX_HAVE_ENDPOINTS
    MPIX_Comm_create_endpoints(MPI_COMM_WORLD, ENDPOINTS, MPI_INFO_NULL, each);
#else
    CHECK(0, "there are no endpoints");
#endif
}

/* The same ranks again. */
static MPI_Comm another(void) {
    MPI_Comm new;
    if (!on_endpoints) {
        MPI_Comm_dup(MPI_COMM_WORLD, &new);
        return new;
    }
    for (int i = 0; i < ENDPOINTS; i++) MPI_Comm_dup(each[i], &dups[i]);
    return dups[MIDDLE];
}

static void give_back(void) {
    if (!on_endpoints) MPI_Comm_free(&comm);
    for (int i = 0; i < ENDPOINTS && on_endpoints; i++) MPI_Comm_free(&dups[i]);
}

int main(int argc, char **argv) {
    pthread_t noises[ENDPOINTS];
    int provided, few;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    threads = argc > 1 ? atoi(argv[1]) : 4;
    few = argc > 2 ? atoi(argv[2]) : 300;
    CHECK(provided == MPI_THREAD_MULTIPLE && threads > 0 && threads <= MOST && few > 0, "usage");
    CHECK(size == 1 || size % 2 == 0, "ranks work in pairs");
    peer = size == 1 ? 0 : rank ^ 1;
    for (int s = 0; s < 2; s++) {
        sides[s].sending = s == 0;
        sides[s].here = size == 1 || rank % 2 == s;
        pthread_mutex_init(&sides[s].lock, NULL);
        pthread_barrier_init(&sides[s].barrier, NULL, threads);
    }
    /* The first round is the first contact of the two, the next ones that on new communicators. */
    on_endpoints = argc > 3;
    if (on_endpoints) make_endpoints(), peer = peer * ENDPOINTS + MIDDLE;
    for (long i = LEFT; on_endpoints && i <= RIGHT; i += RIGHT) CHECK(!pthread_create(&noises[i], NULL, noise, (void *)i), "no thread");
    MPI_Comm base = on_endpoints ? each[MIDDLE] : MPI_COMM_WORLD;
    comm = base;
    for (int i = 0; i < TOKENS * TAGS * MANNERS; i++) {
        token = i % TOKENS;
        tags = (i / TOKENS + 1) % TAGS;
        manner = i / TOKENS / TAGS;
        lone_receiver = i % 2;
        count = manner == FLOOD ? few * 10 : few;
        if (token == BARRIER) count = few / 2;
        if (i % 5 == 1) comm = another();
        round_of();
        if (i % 5 == 4 && comm != base) give_back(), comm = base;
    }
    if (comm != base) give_back();
    for (int i = LEFT; on_endpoints && i <= RIGHT; i += RIGHT) pthread_join(noises[i], NULL);
    for (int i = 0; i < ENDPOINTS && on_endpoints; i++) MPI_Comm_free(&each[i]);
    for (int s = 0; s < 2; s++) pthread_barrier_destroy(&sides[s].barrier);
    return end();
}
