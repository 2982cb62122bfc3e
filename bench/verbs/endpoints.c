/* Making, connecting and posting on endpoints: see endpoints.h. */
#define _GNU_SOURCE
#include "endpoints.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

const char *const categories[] = {"mpi_everywhere", "td_per_context", "2xdynamic", "dynamic",
                                  "shared_dynamic", "static",         "mpi_threads", NULL};

void fail(const char *format, ...) {
    va_list list;
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

pid_t start_child(void) {
    pid_t parent = getpid(), child = fork();
    if (child < 0) fail("no process");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
    }
    return child;
}

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

long counted(const char *name) {
    uint64_t (*counter)(const char *) = (uint64_t (*)(const char *))dlsym(RTLD_DEFAULT, "oxmpi_fake_verbs_counter");
    return counter ? (long)counter(name) : -1;
}

static const char *const names[COUNTERS] = {"doorbells",     "blue_flames", "shared_doorbells", "shared_pages", "wqe_reads",
                                            "payload_reads", "cqe_writes",  "qp_locks",         "uuar_locks",   "cq_locks"};

int counters(long now[COUNTERS]) {
    for (int i = 0; i < COUNTERS; i++) now[i] = counted(names[i]);
    return now[0] >= 0;
}

void print_counters(const long before[COUNTERS], const long after[COUNTERS], double messages) {
    for (int i = 0; i < COUNTERS; i++) printf(" %s=%.6f", names[i], (double)(after[i] - before[i]) / messages);
}

int category(struct setup *s, const char *name) {
    int n = 0, t = s->threads;
    while (categories[n] && strcmp(categories[n], name) != 0) n++;
    if (!categories[n]) return 0;
    s->context = s->pd = s->mr = n < 2 ? 1 : t;
    s->qp = s->cq = n == 6 ? t : 1;
    s->domains = n == 4 ? SHARED_PAGE : n >= 1 && n <= 3 ? OWN_PAGE : NO_DOMAINS;
    s->twice = n == 2;
    return 1;
}

/* The extension of 2018: how many domains share a page of registers. */
struct td_attributes {
    uint32_t comp_mask, sharing;
};

/* A domain of threads for one queue pair, and a protection domain in it. Without the extension the domain that would get the second register
   of a page is made and left idle. */
static struct ibv_pd *domain(struct ibv_context *context, struct ibv_pd *pd, enum domains domains, struct objects *made) {
    struct td_attributes extended = {1, domains == OWN_PAGE ? 1 : 2};
    struct ibv_td_init_attr plain = {0};
    struct ibv_td *td = ibv_alloc_td(context, (struct ibv_td_init_attr *)(void *)&extended);
    if (td) made->tds++;
    else {
        td = ibv_alloc_td(context, &plain);
        if (!td) fail("this device has no thread domains");
        made->tds++;
        if (domains == OWN_PAGE) {
            if (!ibv_alloc_td(context, &plain)) fail("no second thread domain");
            made->tds++;
        }
    }
    struct ibv_parent_domain_init_attr attributes = {.pd = pd, .td = td};
    struct ibv_pd *parent = ibv_alloc_parent_domain(context, &attributes);
    if (!parent) fail("no parent domain");
    return parent;
}

static struct ibv_context *open_device(struct objects *made) {
    struct ibv_device **list = ibv_get_device_list(NULL);
    if (!list || !list[0]) fail("there is no verbs device");
    struct ibv_context *context = ibv_open_device(list[0]);
    if (!context) fail("the device cannot be opened");
    ibv_free_device_list(list);
    made->contexts++;
    return context;
}

static struct ibv_cq *completions(struct ibv_context *context, int entries, int one_thread, struct objects *made) {
    struct ibv_cq_init_attr_ex extended = {.cqe = entries, .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS};
    extended.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
    struct ibv_cq_ex *ex = one_thread ? ibv_create_cq_ex(context, &extended) : NULL;
    struct ibv_cq *cq = ex ? ibv_cq_ex_to_cq(ex) : ibv_create_cq(context, entries, NULL, NULL, 0);
    if (!cq) fail("no completion queue of %d entries", entries);
    made->cqs++;
    return cq;
}

static struct ibv_qp *queue_pair(const struct setup *s, struct ibv_pd *pd, struct ibv_cq *cq, struct objects *made) {
    struct ibv_qp_init_attr attributes = {.send_cq = cq, .recv_cq = cq, .qp_type = IBV_QPT_RC};
    attributes.cap.max_send_wr = s->depth * s->qp;
    attributes.cap.max_recv_wr = 1;
    attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
    attributes.cap.max_inline_data = s->use_inline ? 60 : 0;
    struct ibv_qp *qp = ibv_create_qp(pd, &attributes);
    if (!qp) fail("no queue pair of depth %d", s->depth * s->qp);
    made->qps++;
    struct ibv_qp_attr init = {.qp_state = IBV_QPS_INIT, .port_num = 1};
    init.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    if (ibv_modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS))
        fail("a queue pair does not go to INIT");
    return qp;
}

/* Is thread `t` the first of a group of `share`? */
static int first(int t, int share) { return t % share == 0; }

/* A pair of a thread, which has the objects of its groups already. */
static struct pair *make_pair(const struct setup *s, struct ibv_context *context, struct endpoint *e, struct ibv_cq **idle,
                              struct objects *made) {
    struct pair *pair = calloc(1, sizeof *pair);
    int entries = s->depth * s->cq * s->pairs;
    for (int n = 0; n <= s->twice; n++) {
        struct ibv_pd *pd = s->domains == NO_DOMAINS ? e->pd : domain(context, e->pd, s->domains, made);
        /* Idle ones of a thread have a completion queue, too. */
        if (n > 0 && !*idle) *idle = completions(context, entries, 1, made);
        struct ibv_cq *cq = n == 0 ? e->queue->cq : *idle;
        struct ibv_qp *qp = queue_pair(s, pd, cq, made);
        if (n == 0) pair->qp = qp;
    }
    pair->others = s->qp > 1 || s->cq > 1;
    atomic_init(&pair->room, s->depth * s->qp);
    return pair;
}

struct endpoint *make_endpoints(const struct setup *s, struct objects *made, char *const memory[], size_t bytes) {
    /* Read when a device is opened. */
    setenv("MLX5_SHUT_UP_BF", s->blue_flame ? "0" : "1", 1);
    struct endpoint *ends = aligned_alloc(LINE, sizeof *ends * s->threads);
    struct ibv_context *context = NULL;
    size_t apart = s->aligned ? LINE : (size_t)s->message;
    char *buffers = aligned_alloc(LINE, (apart * s->threads + s->message + LINE) / LINE * LINE);
    if (!ends || !buffers) fail("no memory");
    memset(ends, 0, sizeof *ends * s->threads);
    memset(buffers, 1, apart * s->threads + s->message);
    for (int t = 0; t < s->threads; t++) {
        struct endpoint *e = &ends[t], *before = e - 1;
        e->all = ends;
        e->number = t;
        if (first(t, s->context)) context = open_device(made);
        if (first(t, s->pd)) {
            if (!(e->pd = ibv_alloc_pd(context))) fail("no protection domain");
            made->pds++;
        } else e->pd = before->pd;
        if (first(t, s->cq)) {
            e->queue = calloc(1, sizeof *e->queue);
            e->queue->is_shared = s->cq > 1;
            e->queue->cq = completions(context, s->depth * s->cq * s->pairs, s->cq == 1, made);
        } else e->queue = before->queue;
        struct ibv_cq *idle = NULL;
        for (int n = 0; n < s->pairs; n++)
            e->pairs[n] = first(t, s->qp) ? make_pair(s, context, e, &idle, made) : before->pairs[n];
        e->buffer = memory ? memory[t] : first(t, s->buffer) ? buffers + apart * t : before->buffer;
        if (first(t, s->mr)) {
            /* One for all threads of the group. */
            int last = t + s->mr < s->threads ? t + s->mr - 1 : s->threads - 1;
            char *end = memory ? memory[last] + bytes : buffers + apart * last + s->message;
            int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
            if (!(e->mr = ibv_reg_mr(e->pd, e->buffer, (size_t)(end - e->buffer), access))) fail("no registration");
            made->mrs++;
        } else e->mr = before->mr;
    }
    return ends;
}

void places_of(const struct setup *s, struct endpoint *ends, struct place *out) {
    for (int t = 0; t < s->threads; t++)
        for (int n = 0; n < s->pairs; n++) {
            struct ibv_qp *qp = ends[t].pairs[n]->qp;
            struct place *p = &out[t * s->pairs + n];
            struct ibv_port_attr port;
            if (ibv_query_port(qp->context, 1, &port)) fail("no port");
            *p = (struct place){qp->qp_num, ends[t].mr->rkey, port.lid, (uint64_t)(uintptr_t)ends[t].buffer, {{0}}};
            if (port.link_layer == IBV_LINK_LAYER_ETHERNET && ibv_query_gid(qp->context, 1, 1, &p->gid)) fail("no GID");
        }
}

void connect_to(struct ibv_qp *qp, const struct place *to) {
    struct ibv_qp_attr a = {.qp_state = IBV_QPS_RTR, .path_mtu = IBV_MTU_1024, .dest_qp_num = to->qpn};
    a.max_dest_rd_atomic = a.max_rd_atomic = 16;
    a.min_rnr_timer = 12;
    a.ah_attr.port_num = 1;
    a.ah_attr.dlid = to->lid;
    if (to->lid == 0) {
        a.ah_attr.is_global = 1;
        a.ah_attr.grh.dgid = to->gid;
        a.ah_attr.grh.sgid_index = 1;
        a.ah_attr.grh.hop_limit = 1;
    }
    int rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
              IBV_QP_MIN_RNR_TIMER;
    if (ibv_modify_qp(qp, &a, rtr)) fail("a queue pair does not go to RTR");
    a.qp_state = IBV_QPS_RTS;
    /* Seconds: the other side may be a process that waits for a core. */
    a.timeout = 20;
    a.retry_cnt = a.rnr_retry = 7;
    int rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
    if (ibv_modify_qp(qp, &a, rts)) fail("a queue pair does not go to RTS");
}

void connect_pairs(const struct setup *s, struct endpoint *ends, const struct place *theirs) {
    for (int t = 0; t < s->threads; t++)
        for (int n = 0; n < s->pairs; n++)
            if (first(t, s->qp)) connect_to(ends[t].pairs[n]->qp, &theirs[t * s->pairs + n]);
}

static void add_room(struct pair *pair, int n) {
    if (pair->others) atomic_fetch_add_explicit(&pair->room, n, memory_order_relaxed);
    else atomic_store_explicit(&pair->room, atomic_load_explicit(&pair->room, memory_order_relaxed) + n, memory_order_relaxed);
}

static int take_room(struct pair *pair, int n) {
    int room = atomic_load_explicit(&pair->room, memory_order_relaxed);
    if (!pair->others) {
        if (room >= n) atomic_store_explicit(&pair->room, room - n, memory_order_relaxed);
        return room >= n;
    }
    while (room >= n)
        if (atomic_compare_exchange_weak_explicit(&pair->room, &room, room - n, memory_order_relaxed, memory_order_relaxed)) return 1;
    return 0;
}

/* A completion is that of the thread, pair and number of requests in its id, whoever finds it. */
static uint64_t id_of(const struct endpoint *e, int pair, int requests) {
    return (uint64_t)e->number << 32 | (uint64_t)pair << 24 | (uint64_t)requests;
}

static void poll_once(struct endpoint *e) {
    struct ibv_wc done[16];
    int n = ibv_poll_cq(e->queue->cq, 16, done);
    if (n < 0) fail("a completion queue cannot be polled");
    for (int i = 0; i < n; i++) {
        if (done[i].status != IBV_WC_SUCCESS) fail("a request failed: %s", ibv_wc_status_str(done[i].status));
        struct endpoint *owner = &e->all[done[i].wr_id >> 32];
        int requests = done[i].wr_id & 0xffffff;
        add_room(owner->pairs[done[i].wr_id >> 24 & 1], requests);
        if (e->queue->is_shared) atomic_fetch_add_explicit(&owner->over, requests, memory_order_release);
        else atomic_store_explicit(&owner->over, atomic_load_explicit(&owner->over, memory_order_relaxed) + requests, memory_order_release);
    }
}

void post(const struct setup *s, struct endpoint *e, int pair, struct ibv_send_wr *list, int n, int must) {
    struct pair *p = e->pairs[pair];
    struct ibv_send_wr *bad;
    while (!take_room(p, n)) poll_once(e);
    for (int i = 0; i < n; i++) {
        int signal = ++e->silent[pair] >= s->unsignaled || (must && i == n - 1);
        list[i].next = i < n - 1 ? &list[i + 1] : NULL;
        list[i].send_flags = (signal ? IBV_SEND_SIGNALED : 0) | (s->use_inline && list[i].sg_list->length <= 60 &&
                              list[i].opcode == IBV_WR_RDMA_WRITE ? IBV_SEND_INLINE : 0);
        list[i].wr_id = id_of(e, pair, e->silent[pair]);
        if (signal) e->silent[pair] = 0;
    }
    e->posted += n;
    int error = ibv_post_send(p->qp, list, &bad);
    if (error) fail("a request cannot be posted: %s", strerror(error));
}

void finish(struct endpoint *e) {
    while (atomic_load_explicit(&e->over, memory_order_acquire) < e->posted) poll_once(e);
}
