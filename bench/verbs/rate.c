/* Message rate of threads that write to another process by verbs: RDMA writes of a few bytes, with each object shared by so many threads.
 *
 *   rate [-t THREADS] [-c CATEGORY] [-S OBJECT=WAYS]... [-n MESSAGES] [-s BYTES] [-d DEPTH] [-p POSTLIST] [-q UNSIGNALED]
 *        [-w FEATURES] [-u] [-l PORT | -H HOST:PORT]
 *
 * -c: mpi_everywhere, td_per_context (the paper's baseline, default), 2xdynamic, dynamic, shared_dynamic, static, mpi_threads. -S: context, pd,
 * mr, qp, cq, buffer; WAYS threads share one. -w: without features, a list of inline, blueflame, postlist, unsignaled, domains. -u: buffers are not
 * aligned to cache lines. The target is another process of this machine, or one that listens (-l) on another (-H).
 *
 * Prints the messages in a second, the objects of the sender, and, where the device counts, what each message took. */
#define _GNU_SOURCE
#include "endpoints.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static struct setup s = {.threads = 16, .context = 1, .pd = 1, .mr = 1, .qp = 1, .cq = 1, .buffer = 1, .pairs = 1, .message = 2, .aligned = 1,
                         .depth = 128, .postlist = 32, .unsignaled = 64, .use_inline = 1, .blue_flame = 1};
static long messages = 10000;
static struct endpoint *ends;
static struct place theirs[MOST_THREADS];
static pthread_barrier_t together;

static void give(int fd, const void *data, size_t n) {
    if (send(fd, data, n, MSG_NOSIGNAL) != (ssize_t)n) fail("the other process is gone");
}
static void take(int fd, void *data, size_t n) {
    if (recv(fd, data, n, MSG_WAITALL) != (ssize_t)n) fail("the other process is gone");
}

/* The target: queue pairs that nothing is posted on, and memory that is looked at in the end. */
static void be_target(int fd) {
    struct setup t;
    struct objects made = {0};
    take(fd, &t, sizeof t);
    struct setup plain = t;
    plain.context = plain.pd = plain.mr = plain.cq = t.threads;
    plain.qp = t.qp;
    plain.buffer = 1;
    plain.domains = NO_DOMAINS;
    plain.twice = 0;
    char *memory[MOST_THREADS], *all = calloc(t.threads, 4096);
    for (int n = 0; n < t.threads; n++) memory[n] = all + n * 4096;
    struct endpoint *mine = make_endpoints(&plain, &made, memory, 4096);
    struct place places[MOST_THREADS];
    places_of(&plain, mine, places);
    for (int n = 0; n < t.threads; n++) places[n].address = (uint64_t)(uintptr_t)memory[n];
    give(fd, places, sizeof *places * t.threads);
    take(fd, theirs, sizeof *theirs * t.threads);
    connect_pairs(&plain, mine, theirs);
    char word = 1;
    give(fd, &word, 1);
    take(fd, &word, 1);
    /* All were written: the last bytes are those of the last message. */
    int right = 1;
    for (int n = 0; n < t.threads; n++)
        for (int i = 0; i < t.message; i++) right &= memory[n][i] == (char)(n / t.buffer * t.buffer + 1);
    word = (char)right;
    give(fd, &word, 1);
    exit(0);
}

static void *send_all(void *argument) {
    struct endpoint *e = argument;
    struct ibv_sge piece = {(uint64_t)(uintptr_t)e->buffer, s.message, e->mr->lkey};
    struct ibv_send_wr list[64];
    memset(list, 0, sizeof list);
    for (int i = 0; i < 64; i++) {
        list[i].opcode = IBV_WR_RDMA_WRITE;
        list[i].sg_list = &piece;
        list[i].num_sge = 1;
        list[i].wr.rdma.remote_addr = theirs[e->number].address;
        list[i].wr.rdma.rkey = theirs[e->number].key;
    }
    pthread_barrier_wait(&together);
    for (long left = messages; left > 0;) {
        int n = left < s.postlist ? (int)left : s.postlist;
        left -= n;
        post(&s, e, 0, list, n, left == 0);
    }
    finish(e);
    pthread_barrier_wait(&together);
    return NULL;
}

/* Lines of memory that the threads' buffers lie on. */
static int lines(void) {
    int found = 0;
    for (int t = 0; t < s.threads; t++) {
        int seen = 0;
        for (int u = 0; u < t; u++) seen |= (uintptr_t)ends[t].buffer / LINE == (uintptr_t)ends[u].buffer / LINE;
        found += !seen;
    }
    return found;
}

static void send_and_report(int fd, const char *what) {
    long before[COUNTERS], after[COUNTERS], pages = counted("uar_pages"), registers = counted("uuars"), bytes = counted("bytes");
    struct objects made = {0};
    struct place mine[MOST_THREADS];
    pthread_t threads[MOST_THREADS];
    char word = 0;
    give(fd, &s, sizeof s);
    ends = make_endpoints(&s, &made, NULL, 0);
    pages = counted("uar_pages") - pages;
    registers = counted("uuars") - registers;
    bytes = counted("bytes") - bytes;
    /* Each thread writes a number of its own, or that of the first that shares its buffer. */
    for (int t = 0; t < s.threads; t++)
        if (t % s.buffer == 0) memset(ends[t].buffer, t + 1, s.message);
    places_of(&s, ends, mine);
    take(fd, theirs, sizeof *theirs * s.threads);
    give(fd, mine, sizeof *mine * s.threads);
    connect_pairs(&s, ends, theirs);
    take(fd, &word, 1);
    int counts = counters(before);
    pthread_barrier_init(&together, NULL, s.threads + 1);
    for (int t = 0; t < s.threads; t++)
        if (pthread_create(&threads[t], NULL, send_all, &ends[t])) fail("no thread");
    pthread_barrier_wait(&together);
    double began = now();
    pthread_barrier_wait(&together);
    double took = now() - began;
    for (int t = 0; t < s.threads; t++) pthread_join(threads[t], NULL);
    double all = (double)messages * s.threads;
    counters(after);
    printf("%s threads=%d rate=%.0f contexts=%d pds=%d mrs=%d qps=%d cqs=%d tds=%d", what, s.threads, all / took, made.contexts, made.pds,
           made.mrs, made.qps, made.cqs, made.tds);
    printf(" lines=%d", lines());
    if (counts) {
        printf(" uar_pages=%ld uuars=%ld kilobytes=%ld", pages, registers, bytes / 1024);
        print_counters(before, after, all);
    }
    printf("\n");
    fflush(stdout);
    give(fd, &word, 1);
    take(fd, &word, 1);
    if (!word) fail("the target has not what was written");
}

/* A connection to another machine. */
static int connection(const char *host, const char *port) {
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = host ? 0 : AI_PASSIVE}, *found;
    if (getaddrinfo(host, port, &hints, &found)) fail("no address %s:%s", host ? host : "", port);
    int fd = socket(found->ai_family, found->ai_socktype, 0), one = 1;
    if (host) {
        if (connect(fd, found->ai_addr, found->ai_addrlen)) fail("nobody listens at %s:%s", host, port);
        return fd;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, found->ai_addr, found->ai_addrlen) || listen(fd, 1)) fail("cannot listen at %s", port);
    int other = accept(fd, NULL, NULL);
    if (other < 0) fail("nobody came");
    return other;
}

static void share(char *text) {
    char *value = strchr(text, '=');
    if (!value) fail("-S %s: OBJECT=WAYS", text);
    *value++ = 0;
    int ways = atoi(value);
    if (ways < 1 || ways > s.threads) fail("%d threads cannot share", ways);
    struct { const char *name; int *ways; } all[] = {{"context", &s.context}, {"pd", &s.pd}, {"mr", &s.mr},
                                                     {"qp", &s.qp}, {"cq", &s.cq}, {"buffer", &s.buffer}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, text) == 0) {
            *all[i].ways = ways;
            return;
        }
    fail("%s is no object that is shared", text);
}

/* A domain of protection is in one context, a registration in one domain, queue pairs and queues in one context. */
static void nest(void) {
    if (s.qp > s.cq) s.cq = s.qp;
    if (s.mr > s.pd) s.pd = s.mr;
    if (s.qp > s.pd) s.pd = s.qp;
    if (s.pd > s.context) s.context = s.pd;
    if (s.cq > s.context) s.context = s.cq;
    /* A pair that threads share is in no thread's domain. */
    if (s.qp > 1) s.domains = NO_DOMAINS;
}

static void without(char *list) {
    for (char *word = strtok(list, ","); word; word = strtok(NULL, ",")) {
        if (strcmp(word, "inline") == 0) s.use_inline = 0;
        else if (strcmp(word, "blueflame") == 0) s.blue_flame = 0;
        else if (strcmp(word, "postlist") == 0) s.postlist = 1;
        else if (strcmp(word, "unsignaled") == 0) s.unsignaled = 1;
        else if (strcmp(word, "domains") == 0) s.domains = NO_DOMAINS;
        else fail("%s is no feature", word);
    }
}

int main(int argc, char **argv) {
    const char *name = "td_per_context", *port = NULL;
    char *shares[8], *features = NULL, *host = NULL, what[256];
    int option, num = 0;
    while ((option = getopt(argc, argv, "t:c:S:n:s:d:p:q:w:ul:H:")) != -1) {
        switch (option) {
        case 't': s.threads = atoi(optarg); break;
        case 'c': name = optarg; break;
        case 'S': if (num < 8) shares[num++] = optarg; break;
        case 'n': messages = atol(optarg); break;
        case 's': s.message = atoi(optarg); break;
        case 'd': s.depth = atoi(optarg); break;
        case 'p': s.postlist = atoi(optarg); break;
        case 'q': s.unsignaled = atoi(optarg); break;
        case 'w': features = optarg; break;
        case 'u': s.aligned = 0; break;
        case 'l': port = optarg; break;
        case 'H': host = optarg; break;
        default: return 2;
        }
    }
    if (port) be_target(connection(NULL, port));
    if (s.threads < 1 || s.threads > MOST_THREADS) fail("1 to %d threads", MOST_THREADS);
    if (s.message < 1 || s.message > 4096 || messages < 1) fail("1 to 4096 bytes, at least one message");
    if (s.postlist < 1 || s.postlist > 64 || s.unsignaled < 1 || s.depth < s.postlist || s.depth < s.unsignaled + s.postlist)
        fail("a list of at most 64, and a depth of at least a list and the requests without a signal");
    if (!category(&s, name)) fail("%s is no category", name);
    snprintf(what, sizeof what, "%s", name);
    for (int i = 0; i < num; i++) {
        snprintf(what + strlen(what), sizeof what - strlen(what), " %s", shares[i]);
        share(shares[i]);
    }
    if (features) {
        snprintf(what + strlen(what), sizeof what - strlen(what), " without=%s", features);
        without(features);
    }
    nest();
    if (host) {
        char *colon = strrchr(host, ':');
        if (!colon) fail("-H HOST:PORT");
        *colon = 0;
        send_and_report(connection(host, colon + 1), what);
        return 0;
    }
    int both[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, both)) fail("no socket");
    pid_t child = start_child();
    if (child == 0) be_target(both[1]);
    close(both[1]);
    send_and_report(both[0], what);
    int status;
    waitpid(child, &status, 0);
    return status != 0;
}
