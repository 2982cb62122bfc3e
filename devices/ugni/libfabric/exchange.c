/* Two processes that exchange messages, puts, gets and atomic sums by libfabric's gni provider, and check each byte.
 *
 *     exchange [NODES]
 *
 * NODES is 1 or 2: whether both are on one node of the emulation. Prints a line and ends with 0, or names what was wrong. */
#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST 300000
#define SUMS 100

static int me, peer_socket;
static struct fid_cq *cq;
static struct fid_ep *ep;
static fi_addr_t peer;
static char out[LONGEST], in[LONGEST];

static void fail(const char *what, long code) {
    fprintf(stderr, "process %d: %s: %ld (%s)\n", me, what, code, fi_strerror((int)-code));
    exit(1);
}

static void must(const char *what, long code) {
    if (code) fail(what, code);
}

/* Both send `bytes` and get as many of the other. */
static void swap(const void *mine, void *theirs, size_t bytes) {
    if (write(peer_socket, mine, bytes) != (ssize_t)bytes) fail("write to the socket", 0);
    for (size_t got = 0; got < bytes;) {
        ssize_t n = read(peer_socket, (char *)theirs + got, bytes - got);
        if (n <= 0) fail("the other process is gone", 0);
        got += n;
    }
}

static void both_here(void) {
    char mine = 0, theirs;
    swap(&mine, &theirs, 1);
}

/* Waits until `count` operations are complete. */
static void complete(int count) {
    struct fi_cq_msg_entry entry;
    while (count > 0) {
        long n = fi_cq_read(cq, &entry, 1);
        if (n == 1) count--;
        else if (n != -FI_EAGAIN) {
            struct fi_cq_err_entry error = {0};
            fi_cq_readerr(cq, &error, 0);
            fail("a completion", -error.err);
        }
    }
}

#define ISSUE(what, call)                                                                     \
    do {                                                                                      \
        long code;                                                                            \
        while ((code = (call)) == -FI_EAGAIN) {                                               \
            struct fi_cq_msg_entry none;                                                      \
            fi_cq_read(cq, &none, 0);                                                         \
        }                                                                                     \
        must(what, code);                                                                     \
    } while (0)

static void fill(char *to, size_t bytes, int from) {
    for (size_t i = 0; i < bytes; i++) to[i] = (char)(i * 7 + bytes + from);
}

static void check(const char *what, const char *at, size_t bytes, int from) {
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != (char)(i * 7 + bytes + from)) fail(what, 0);
}

static void messages(void *out_key, void *in_key) {
    static const size_t sizes[] = {8, 200, 4000, 16384, 65536, LONGEST};
    for (int round = 0; round < 20; round++)
        for (unsigned k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            fill(out, sizes[k], me + round);
            memset(in, 0, sizes[k]);
            ISSUE("fi_recv", fi_recv(ep, in, sizes[k], in_key, peer, NULL));
            ISSUE("fi_send", fi_send(ep, out, sizes[k], out_key, peer, NULL));
            complete(2);
            check("a message", in, sizes[k], 1 - me + round);
        }
}

struct window {
    uint64_t at, key;
};

static void one_sided(struct fid_domain *domain, void *out_key, void *in_key) {
    static char exposed[LONGEST];
    static uint64_t sum __attribute__((aligned(64)));
    struct fid_mr *whole, *word;
    must("fi_mr_reg", fi_mr_reg(domain, exposed, LONGEST, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &whole, NULL));
    must("fi_mr_reg", fi_mr_reg(domain, &sum, sizeof sum, FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &word, NULL));
    struct window mine[2] = {{(uint64_t)(uintptr_t)exposed, fi_mr_key(whole)}, {(uint64_t)(uintptr_t)&sum, fi_mr_key(word)}}, theirs[2];
    swap(mine, theirs, sizeof mine);
    fill(out, LONGEST, me);
    ISSUE("fi_write", fi_write(ep, out, LONGEST, out_key, peer, theirs[0].at, theirs[0].key, NULL));
    complete(1);
    both_here();
    check("what was put here", exposed, LONGEST, 1 - me);
    memset(in, 0, LONGEST);
    ISSUE("fi_read", fi_read(ep, in, LONGEST, in_key, peer, theirs[0].at, theirs[0].key, NULL));
    complete(1);
    check("what was got", in, LONGEST, me);
    uint64_t *operand = (uint64_t *)out;
    *operand = 3;
    for (int i = 0; i < SUMS; i++) {
        ISSUE("fi_atomic", fi_atomic(ep, operand, 1, out_key, peer, theirs[1].at, theirs[1].key, FI_UINT64, FI_SUM, NULL));
        complete(1);
    }
    both_here();
    if (__atomic_load_n(&sum, __ATOMIC_ACQUIRE) != 3 * SUMS) fail("the sum", (long)sum);
    both_here();
    must("fi_close", fi_close(&whole->fid));
    must("fi_close", fi_close(&word->fid));
}

static int process(void) {
    struct fi_info *hints = fi_allocinfo(), *info;
    hints->fabric_attr->prov_name = strdup("gni");
    hints->ep_attr->type = FI_EP_RDM;
    hints->caps = FI_MSG | FI_RMA | FI_ATOMIC;
    hints->mode = ~0ULL;
    hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_LOCAL;
    must("fi_getinfo", fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    struct fi_cq_attr cq_attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_NONE};
    struct fi_av_attr av_attr = {.type = FI_AV_MAP};
    must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
    must("fi_domain", fi_domain(fabric, info, &domain, NULL));
    must("fi_endpoint", fi_endpoint(domain, info, &ep, NULL));
    must("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
    must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
    must("fi_ep_bind", fi_ep_bind(ep, &cq->fid, FI_TRANSMIT | FI_RECV));
    must("fi_ep_bind", fi_ep_bind(ep, &av->fid, 0));
    must("fi_enable", fi_enable(ep));
    char mine[256] = {0}, theirs[256];
    size_t bytes = sizeof mine;
    must("fi_getname", fi_getname(&ep->fid, mine, &bytes));
    swap(mine, theirs, sizeof mine);
    if (fi_av_insert(av, theirs, 1, &peer, 0, NULL) != 1) fail("fi_av_insert", 0);
    struct fid_mr *sent, *received;
    must("fi_mr_reg", fi_mr_reg(domain, out, LONGEST, FI_SEND | FI_WRITE, 0, 0, 0, &sent, NULL));
    must("fi_mr_reg", fi_mr_reg(domain, in, LONGEST, FI_RECV | FI_READ, 0, 0, 0, &received, NULL));
    messages(fi_mr_desc(sent), fi_mr_desc(received));
    one_sided(domain, fi_mr_desc(sent), fi_mr_desc(received));
    both_here();
    must("fi_close", fi_close(&ep->fid));
    both_here();
    must("fi_close", fi_close(&sent->fid));
    must("fi_close", fi_close(&received->fid));
    must("fi_close", fi_close(&av->fid));
    must("fi_close", fi_close(&cq->fid));
    must("fi_close", fi_close(&domain->fid));
    must("fi_close", fi_close(&fabric->fid));
    return 0;
}

int main(int argc, char **argv) {
    int nodes = argc > 1 ? atoi(argv[1]) : 1, ends[2], status;
    const char *more = getenv("OXMPI_UGNI");
    char setup[1024];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair", 0);
    pid_t child = fork();
    me = child == 0;
    /* It ends with the first one, however that ends. */
    if (me && (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() == 1)) return 1;
    peer_socket = ends[me];
    close(ends[1 - me]);
    snprintf(setup, sizeof setup, "node=%d%s%s", nodes == 2 ? 1 + me : 1, more && *more ? "," : "", more ? more : "");
    setenv("OXMPI_UGNI", setup, 1);
    int code = process();
    if (me) return code;
    if (waitpid(child, &status, 0) != child || status) fail("the other process ended badly", 0);
    printf("whole on %d node(s)\n", nodes);
    return code;
}
