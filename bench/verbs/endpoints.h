/* Verbs endpoints of threads: the categories of Scalable Communication Endpoints (ICPADS 2018), and every object shared by so many threads. */
#ifndef ENDPOINTS_H
#define ENDPOINTS_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { MOST_THREADS = 64, LINE = 64 };

/* Domains of threads: none; each with a page of registers; two on a page. */
enum domains { NO_DOMAINS, OWN_PAGE, SHARED_PAGE };

/* How many threads share each object (1: each has its own), and how messages are posted. */
struct setup {
    int threads;
    int context, pd, mr, qp, cq, buffer;
    /* Queue pairs of a thread, by which it talks with different peers. */
    int pairs;
    enum domains domains;
    /* Twice as many domains, queue pairs and completion queues, of which every second one is used. */
    int twice;
    int message, aligned;
    int depth, postlist, unsignaled, use_inline, blue_flame;
};

/* A queue pair that threads may share: the room in it is counted together. */
struct pair {
    struct ibv_qp *qp;
    /* Another thread may count, too: one that shares the pair, or the completion queue. */
    int others;
    atomic_int room;
};

/* A completion queue; completions of other threads that share it are credited to them. */
struct queue {
    struct ibv_cq *cq;
    int is_shared;
};

struct endpoint {
    struct pair *pairs[2];
    struct queue *queue;
    struct ibv_pd *pd;
    struct ibv_mr *mr;
    char *buffer;
    /* The endpoint of thread 0, and this thread's number. */
    struct endpoint *all;
    int number;
    /* Requests since the last one with a signal, by pair; all requests so far. */
    int silent[2];
    long posted;
    /* Requests that are over; counted by the thread that finds it out. */
    _Alignas(LINE) atomic_long over;
};

struct objects {
    int contexts, pds, mrs, qps, cqs, tds;
};

/* Where a queue pair and its memory are. */
struct place {
    uint32_t qpn, key, lid;
    uint64_t address;
    union ibv_gid gid;
};

/* Sets the categories' sharing. Returns 0 if there is none of that name. */
int category(struct setup *s, const char *name);
extern const char *const categories[];

/* Ends the program with a message. */
void fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Makes the endpoints. `memory` of `bytes` for each thread is registered where it is not NULL; else buffers of one message are made. */
struct endpoint *make_endpoints(const struct setup *s, struct objects *made, char *const memory[], size_t bytes);
/* The places of all queue pairs that are used, thread by thread. */
void places_of(const struct setup *s, struct endpoint *ends, struct place *out);
/* Connects pair `n` of each thread; `theirs` as of `places_of`. */
void connect_pairs(const struct setup *s, struct endpoint *ends, const struct place *theirs);
void connect_to(struct ibv_qp *qp, const struct place *to);

/* Posts a list of `n` requests; the last one gets a signal where it is due or `must` be. Waits for room first. */
void post(const struct setup *s, struct endpoint *e, int pair, struct ibv_send_wr *list, int n, int must);
/* Waits until all requests of the endpoint are over. */
void finish(struct endpoint *e);

/* fork, with a child that ends with us. */
pid_t start_child(void);
/* A counter of a device that counts (`doorbells`, `uuar_locks`, …); -1: this device does not. */
long counted(const char *name);
/* The counters of messages of a device that counts. Reads all; 0: this one does not. */
enum { COUNTERS = 10 };
int counters(long now[COUNTERS]);
/* Prints what each of `messages` took between two readings, as NAME=NUMBER with a blank before each. */
void print_counters(const long before[COUNTERS], const long after[COUNTERS], double messages);
double now(void);

#endif
