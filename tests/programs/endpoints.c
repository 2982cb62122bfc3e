/* Endpoints: several ranks of each process. Arguments: endpoints of each process, and what to test. Linked with liboxmpi_ep.so. */
#include "check.h"

#include <mpi-ext.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 8 };

static int rank, size, count;
static MPI_Comm ep[MOST];
static int er[MOST], total;

static void make(MPI_Comm parent, int n, MPI_Comm *to) {
    int error = MPIX_Comm_create_endpoints(parent, n, MPI_INFO_NULL, to);
    CHECK(error == MPI_SUCCESS, "class %d", error);
}

/* All endpoints of the process by one thread: each sends to its right neighbor, and receives from its left one. */
static void ring(long bytes, unsigned char *out[], unsigned char *in[]) {
    MPI_Request requests[2 * MOST];
    MPI_Status statuses[2 * MOST];
    for (int i = 0; i < count; i++) {
        fill(out[i], bytes, er[i] * 1000 + bytes);
        memset(in[i], 0xEE, bytes);
        MPI_Irecv(in[i], bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, ep[i], &requests[i]);
    }
    for (int i = 0; i < count; i++)
        MPI_Isend(out[i], bytes, MPI_BYTE, (er[i] + 1) % total, 5, ep[i], &requests[count + i]);
    MPI_Waitall(2 * count, requests, statuses);
    for (int i = 0; i < count; i++) {
        int left = (er[i] + total - 1) % total, got;
        MPI_Get_count(&statuses[i], MPI_BYTE, &got);
        CHECK(got == bytes && statuses[i].MPI_SOURCE == left && statuses[i].MPI_TAG == 5, "%d bytes from %d", got,
              statuses[i].MPI_SOURCE);
        CHECK(differs(in[i], bytes, left * 1000 + bytes) < 0, "%ld bytes of endpoint %d", bytes, i);
        CHECK(requests[i] == MPI_REQUEST_NULL && requests[count + i] == MPI_REQUEST_NULL, "handles");
    }
}

static unsigned char fixed_out[MOST][1 << 18], fixed_in[MOST][1 << 18];

/* Heap, stack, static memory, mappings and MPI_Alloc_mem, below and above every limit. */
static void buffers(void) {
    static const long lengths[] = {0, 1, 700, 768, 769, 5000, 16384, 100000, 1 << 18};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        long n = lengths[l];
        unsigned char *out[MOST], *in[MOST];
        for (int i = 0; i < count; i++) out[i] = fixed_out[i], in[i] = fixed_in[i];
        ring(n, out, in);
        for (int i = 0; i < count; i++) out[i] = need(n), in[i] = need(n);
        ring(n, out, in);
        for (int i = 0; i < count; i++) free(out[i]), free(in[i]);
        unsigned char stack[MOST][2][20000];
        for (int i = 0; i < count; i++) out[i] = stack[i][0], in[i] = stack[i][1];
        if (n <= 20000) ring(n, out, in);
        for (int i = 0; i < count; i++) {
            out[i] = mmap(NULL, n + 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            MPI_Alloc_mem(n + 1, MPI_INFO_NULL, &in[i]);
        }
        ring(n, out, in);
        for (int i = 0; i < count; i++) munmap(out[i], n + 1), MPI_Free_mem(in[i]);
    }
}

/* Requests of endpoints and conventional ones in one array, by all functions that complete. */
static void mixed(void) {
    enum { N = 2 * MOST + 2 };
    for (int how = 0; how < 6; how++) {
        MPI_Request r[N];
        MPI_Status s[N];
        int in[MOST + 1], out = 7 + how, n = count + 1, done = 0, left = (rank + size - 1) % size;
        for (int i = 0; i < count; i++) MPI_Irecv(&in[i], 1, MPI_INT, (er[i] + total - 1) % total, 20 + how, ep[i], &r[i]);
        MPI_Irecv(&in[count], 1, MPI_INT, left, 20 + how, MPI_COMM_WORLD, &r[count]);
        int flag, index, indices[N], some;
        MPI_Testany(n, r, &index, &flag, s);
        CHECK(flag == 0 && index == MPI_UNDEFINED, "nothing was sent: %d %d", flag, index);
        MPI_Testall(n, r, &flag, s);
        CHECK(flag == 0, "nothing was sent");
        MPI_Barrier(MPI_COMM_WORLD);
        for (int i = 0; i < count; i++) MPI_Send(&out, 1, MPI_INT, (er[i] + 1) % total, 20 + how, ep[i]);
        MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 20 + how, MPI_COMM_WORLD);
        switch (how) {
        case 0: MPI_Waitall(n, r, s), done = n; break;
        case 1:
            for (flag = 0; !flag;) MPI_Testall(n, r, &flag, s);
            done = n;
            break;
        case 2:
            for (; done < n; done++) {
                MPI_Waitany(n, r, &index, s);
                CHECK(index >= 0 && index < n && s->MPI_TAG == 22, "index %d tag %d", index, s->MPI_TAG);
            }
            break;
        case 3:
            for (; done < n; done += flag) MPI_Testany(n, r, &index, &flag, s);
            break;
        case 4:
            for (; done < n; done += some) {
                MPI_Waitsome(n, r, &some, indices, s);
                CHECK(some > 0, "%d", some);
            }
            break;
        default:
            for (; done < n; done += some) MPI_Testsome(n, r, &some, indices, s);
        }
        CHECK(done == n, "%d", done);
        for (int i = 0; i < n; i++) CHECK(in[i] == out && r[i] == MPI_REQUEST_NULL, "%d: %d", i, in[i]);
        MPI_Waitany(n, r, &index, s);
        CHECK(index == MPI_UNDEFINED, "%d", index);
    }
}

/* Endpoint communicators are ranks everywhere: collectives, split, and endpoints of endpoints. */
static void derived(void) {
    MPI_Comm half[MOST], again[MOST], none;
    int result;
    /* One at a time would wait for the others: each endpoint calls from its own thread (`threads`). Here the process has one. */
    if (count != 1) return;
    MPI_Comm_compare(ep[0], MPI_COMM_WORLD, &result);
    CHECK(result == MPI_CONGRUENT, "%d", result);
    MPI_Comm_split(ep[0], er[0] % 2, -er[0], &half[0]);
    int hr, hs, sum, one = er[0];
    MPI_Comm_rank(half[0], &hr), MPI_Comm_size(half[0], &hs);
    CHECK(hs == (total + 1 - er[0] % 2) / 2, "%d of %d", hs, total);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, half[0]);
    int want = 0;
    for (int i = er[0] % 2; i < total; i += 2) want += i;
    CHECK(sum == want, "%d", sum);
    MPI_Comm_split(ep[0], MPI_UNDEFINED, 0, &none);
    CHECK(none == MPI_COMM_NULL, "a communicator");
    make(half[0], 1, again);
    MPI_Comm_rank(again[0], &result);
    CHECK(result == hr, "%d", result);
    MPI_Barrier(again[0]);
    MPI_Comm_free(&again[0]), MPI_Comm_free(&half[0]);
}

/* Wrong arguments, and more endpoints than there are. Everybody hears it, nobody hangs. */
static void refused(void) {
    MPI_Comm many[MOST * MOST];
    char text[MPI_MAX_ERROR_STRING];
    int class, length;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, rank == 0 ? count + 1 : count, MPI_INFO_NULL, many);
    MPI_Error_class(error, &class);
    MPI_Error_string(error, text, &length);
    CHECK(class == MPIX_ERR_ENDPOINTS && strstr(text, "ENDPOINTS"), "class %d: %s", class, text);
    error = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, rank == size - 1 ? -1 : 1, MPI_INFO_NULL, many);
    CHECK(error == MPI_ERR_ARG, "class %d", error);
    CHECK(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 0, MPI_INFO_NULL, NULL) == MPI_SUCCESS, "none is allowed");
    MPI_Comm_set_errhandler(ep[0], MPI_ERRORS_RETURN);
    int x = 0;
    CHECK(MPI_Send(&x, 1, MPI_INT, total, 0, ep[0]) == MPI_ERR_RANK, "rank");
    CHECK(MPI_Send(&x, 1, MPI_INT, 0, -5, ep[0]) == MPI_ERR_TAG, "tag");
    CHECK(MPI_Send(&x, -1, MPI_INT, 0, 0, ep[0]) == MPI_ERR_COUNT, "count");
    CHECK(MPI_Send(&x, 1, MPI_DATATYPE_NULL, 0, 0, ep[0]) == MPI_ERR_TYPE, "type");
    CHECK(MPI_Bcast(&x, 1, MPI_INT, total, ep[0]) == MPI_ERR_ROOT, "root");
    MPI_Request partitioned;
    error = MPI_Psend_init(&x, 1, 1, MPI_INT, 0, 0, ep[0], MPI_INFO_NULL, &partitioned);
    CHECK(error == MPI_ERR_UNSUPPORTED_OPERATION, "partitioned: class %d", error);
    MPI_Status status;
    if (er[0] == 0) {
        MPI_Request r;
        int big[4] = {1, 2, 3, 4}, small = 0;
        MPI_Isend(big, 4, MPI_INT, 0, 3, ep[0], &r);
        error = MPI_Recv(&small, 1, MPI_INT, 0, 3, ep[0], &status);
        CHECK(error == MPI_ERR_TRUNCATE, "class %d", error);
        MPI_Wait(&r, MPI_STATUS_IGNORE);
        MPI_Irecv(&small, 1, MPI_INT, 0, 99, ep[0], &r);
        MPI_Cancel(&r);
        MPI_Wait(&r, &status);
        MPI_Test_cancelled(&status, &x);
        CHECK(x, "not cancelled");
    }
}

/* A proxy that is busy with something that does not end does not hold a creation back which it is no member of. */
static void busy(void) {
    if (count < 2) return;
    MPI_Request pending;
    int x, flag, error;
    MPI_Irecv(&x, 1, MPI_INT, er[count - 1], 77, ep[count - 1], &pending);
    MPI_Comm one;
    error = MPIX_Comm_create_endpoints(MPI_COMM_WORLD, 1, MPI_INFO_NULL, &one);
    CHECK(error == MPI_SUCCESS, "class %d", error);
    MPI_Barrier(one);
    MPI_Comm_free(&one);
    MPI_Test(&pending, &flag, MPI_STATUS_IGNORE);
    CHECK(!flag, "nobody sent");
    MPI_Send(&x, 1, MPI_INT, er[count - 1], 77, ep[count - 1]);
    MPI_Wait(&pending, MPI_STATUS_IGNORE);
}

/* One thread for each endpoint, and then two. */
static void *thread(void *which) {
    int i = (int)(long)which, s, seen, sum;
    MPI_Comm mine = ep[i], dup;
    for (int k = 0; k < 20; k++) {
        int value = er[i] + k, got = -1, want = total * (total - 1) / 2 + k * total;
        MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, mine);
        CHECK(sum == want, "%d is not %d", sum, want);
        MPI_Sendrecv(&value, 1, MPI_INT, (er[i] + 1) % total, k, &got, 1, MPI_INT, (er[i] + total - 1) % total, k, mine,
                     MPI_STATUS_IGNORE);
        CHECK(got == (er[i] + total - 1) % total + k, "%d", got);
        if (k % 5 == 0) {
            MPI_Comm_dup(mine, &dup);
            MPI_Comm_size(dup, &s);
            seen = er[i] == s - 1 ? 42 : 0;
            MPI_Bcast(&seen, 1, MPI_INT, s - 1, dup);
            CHECK(seen == 42, "%d", seen);
            MPI_Comm_free(&dup);
        }
    }
    return NULL;
}

/* Waits for a message on an endpoint that another thread uses. */
static void *waiter(void *which) {
    int i = (int)(long)which, x = 0;
    MPI_Recv(&x, 1, MPI_INT, er[i], 500, ep[i], MPI_STATUS_IGNORE);
    CHECK(x == 5, "%d", x);
    return NULL;
}

static void threads(void) {
    pthread_t t[2 * MOST];
    for (long i = 0; i < count; i++) {
        pthread_create(&t[2 * i], NULL, thread, (void *)i);
        pthread_create(&t[2 * i + 1], NULL, waiter, (void *)i);
    }
    for (int i = 0; i < count; i++) pthread_join(t[2 * i], NULL);
    int five = 5;
    for (int i = 0; i < count; i++) {
        MPI_Send(&five, 1, MPI_INT, er[i], 500, ep[i]);
        pthread_join(t[2 * i + 1], NULL);
    }
}

int main(int argc, char **argv) {
    int provided;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    count = argc > 1 ? atoi(argv[1]) : 2;
    const char *what = argc > 2 ? argv[2] : "all";
    if (argc > 3) CHECK(size == atoi(argv[3]), "MPI_COMM_WORLD has %d ranks", size);
    make(MPI_COMM_WORLD, count, ep);
    for (int i = 0; i < count; i++) {
        MPI_Comm_rank(ep[i], &er[i]);
        MPI_Comm_size(ep[i], &total);
        CHECK(er[i] == rank * count + i && total == size * count, "rank %d of %d", er[i], total);
    }
    if (!strcmp(what, "idle")) {
        puts("idle");
        fflush(stdout);
        /* Until somebody is killed: half of the processes wait in a receive. */
        int x;
        if (rank % 2) for (;;) sleep(1);
        MPI_Recv(&x, 1, MPI_INT, er[0], 1, ep[0], MPI_STATUS_IGNORE);
    }
    buffers();
    mixed();
    derived();
    refused();
    busy();
    if (provided == MPI_THREAD_MULTIPLE) threads();
    for (int i = 0; i < count; i++) MPI_Comm_free(&ep[i]);
    return end();
}
