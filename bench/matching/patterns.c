/*
 * Communication patterns of applications, for what matching costs them.
 *
 *     mpirun -n N ./patterns [-k ENGINES] [-i STEPS] [-e ELEMENTS] [-f FIELDS] [PATTERN...]
 *
 *   halo9    a periodic grid of ranks, messages to the 8 neighbours
 *   halo27   a periodic box of ranks, messages to the 26 neighbours
 *   allto1   every rank sends to rank 0, which has posted receives for all by source and tag
 *   sweep    wavefronts from the four corners of a grid of ranks, as in Kripke: a tag for each corner and plane
 *   levels   halos on ever coarser grids, as in algebraic multigrid, each set up by messages from
 *            MPI_ANY_SOURCE: on level l ranks that are multiples of 2^l take part
 *
 * Each step sends FIELDS messages of ELEMENTS doubles where the pattern says "a message". Every step's
 * data are computed from the step before's and checked against what the sender must have had.
 * Output: pattern, engine, microseconds of communication per step: the slowest rank's, and the mean; and the same of
 * matching, from as many steps more in which the library times it (watch.h), or '-' where it does not.
 */
#include "common.h"
#include "watch.h"
#include <unistd.h>

static int me, ranks, steps = 20, elements = 8, fields = 4;

/* Element i of field f that `from` sends to its k-th neighbour in a step. */
static double value(int from, int k, int f, int i, int step) {
    return from * 1e6 + k * 1e4 + f * 1e2 + i + step * 0.001;
}

/* Messages of one exchange; grows as needed and is used again. */
static struct {
    int n, room;
    MPI_Request *requests;
    double *data;
} box;

static double *message(MPI_Request **request) {
    if (box.n == box.room) fail("more messages than there is room for");
    *request = &box.requests[box.n];
    return box.data + (size_t)box.n++ * (size_t)elements;
}
static void room_for(int messages) {
    box.n = 0;
    if (messages <= box.room) return;
    free(box.requests);
    free(box.data);
    box.room = messages;
    box.requests = need(sizeof *box.requests * (size_t)messages);
    box.data = need(sizeof *box.data * (size_t)messages * (size_t)elements);
}

/* n in `dims` factors, none larger than it must be, largest first. */
static void factors(int n, int dims, int *d) {
    for (; dims > 1; dims--, d++) {
        int f = 1;
        /* The smallest divisor that is at least the root. */
        for (;; f++) {
            long power = 1;
            for (int i = 0; i < dims; i++) power *= f;
            if (n % f == 0 && power >= n) break;
        }
        *d = f;
        n /= f;
    }
    *d = n;
}

/* Neighbour k (0..3^dims-1) of a rank in a periodic grid. */
static int neighbour(const int *d, int dims, int rank, int k) {
    int at = 0, stride = 1;
    for (int i = 0; i < dims; i++) {
        int x = rank % d[i], step = k % 3 - 1;
        at += (x + step + d[i]) % d[i] * stride;
        stride *= d[i];
        rank /= d[i];
        k /= 3;
    }
    return at;
}

/* Communication time of one exchange with all neighbours of a grid; `scale` ranks lie between grid points. */
static double halo(MPI_Comm comm, const int *d, int dims, int scale, int step) {
    int all = dims == 2 ? 9 : 27, points = ranks / scale;
    if (me % scale != 0 || me / scale >= points) return 0;
    int mine = me / scale;
    room_for(2 * all * fields);
    double start = MPI_Wtime();
    MPI_Request *request;
    /* The neighbour that I am the k-th of sends me its k-th message. */
    for (int k = 0; k < all; k++)
        for (int f = 0; f < fields && k != all / 2; f++) {
            double *data = message(&request);
            int from = neighbour(d, dims, mine, all - 1 - k) * scale;
            MPI_Irecv(data, elements, MPI_DOUBLE, from, k * fields + f, comm, request);
        }
    int received = box.n;
    for (int k = 0; k < all; k++)
        for (int f = 0; f < fields && k != all / 2; f++) {
            double *data = message(&request);
            for (int i = 0; i < elements; i++) data[i] = value(me, k, f, i, step);
            MPI_Isend(data, elements, MPI_DOUBLE, neighbour(d, dims, mine, k) * scale, k * fields + f, comm, request);
        }
    MPI_Waitall(box.n, box.requests, MPI_STATUSES_IGNORE);
    double took = MPI_Wtime() - start;
    for (int m = 0, k = 0; m < received; k++)
        for (int f = 0; f < fields && k != all / 2; f++, m++) {
            int from = neighbour(d, dims, mine, all - 1 - k) * scale;
            for (int i = 0; i < elements; i++)
                if (box.data[(size_t)m * (size_t)elements + (size_t)i] != value(from, k, f, i, step))
                    fail("step %d: message %d of field %d from %d is wrong", step, k, f, from);
        }
    return took;
}

static double halo9(MPI_Comm comm, int step) {
    int d[2];
    factors(ranks, 2, d);
    return halo(comm, d, 2, 1, step);
}
static double halo27(MPI_Comm comm, int step) {
    int d[3];
    factors(ranks, 3, d);
    return halo(comm, d, 3, 1, step);
}

static double allto1(MPI_Comm comm, int step) {
    room_for(ranks * fields);
    MPI_Request *request;
    double start = MPI_Wtime();
    if (me != 0) {
        for (int f = 0; f < fields; f++) {
            double *data = message(&request);
            for (int i = 0; i < elements; i++) data[i] = value(me, 0, f, i, step);
            MPI_Isend(data, elements, MPI_DOUBLE, 0, f, comm, request);
        }
    } else {
        for (int r = 1; r < ranks; r++)
            for (int f = 0; f < fields; f++) {
                double *data = message(&request);
                MPI_Irecv(data, elements, MPI_DOUBLE, r, f, comm, request);
            }
    }
    MPI_Waitall(box.n, box.requests, MPI_STATUSES_IGNORE);
    double took = MPI_Wtime() - start;
    for (int m = 0; me == 0 && m < box.n; m++)
        for (int i = 0; i < elements; i++)
            if (box.data[m * elements + i] != value(1 + m / fields, 0, m % fields, i, step))
                fail("step %d: message %d from %d is wrong", step, m % fields, 1 + m / fields);
    return took;
}

/* A value enters at each corner and grows by 1 at every rank it passes, in both directions. */
static double sweep(MPI_Comm comm, int step) {
    enum { PLANES = 4 };
    int d[2];
    factors(ranks, 2, d);
    int x = me % d[0], y = me / d[0];
    room_for(8 * PLANES * fields);
    MPI_Request *request;
    double *in[4][PLANES][2] = { { { NULL } } }, took = 0, start = MPI_Wtime();
    int at[4][PLANES][2];
    /* All receives of all corners are posted first: that is the long queue. */
    for (int corner = 0; corner < 4; corner++) {
        int dx = corner & 1 ? -1 : 1, dy = corner & 2 ? -1 : 1;
        for (int plane = 0; plane < PLANES; plane++)
            for (int axis = 0; axis < 2; axis++) {
                int fx = axis ? x : x - dx, fy = axis ? y - dy : y;
                int there = fx >= 0 && fx < d[0] && fy >= 0 && fy < d[1];
                at[corner][plane][axis] = -1;
                if (!there) continue;
                at[corner][plane][axis] = box.n;
                in[corner][plane][axis] = message(&request);
                MPI_Irecv(in[corner][plane][axis], elements, MPI_DOUBLE, fy * d[0] + fx, (corner * PLANES + plane) * 2 + axis, comm, request);
            }
    }
    int received = box.n;
    for (int plane = 0; plane < PLANES; plane++)
        for (int corner = 0; corner < 4; corner++) {
            int dx = corner & 1 ? -1 : 1, dy = corner & 2 ? -1 : 1;
            /* Steps from the corner to here. */
            int passed = (dx > 0 ? x : d[0] - 1 - x) + (dy > 0 ? y : d[1] - 1 - y);
            for (int axis = 0; axis < 2; axis++) {
                if (at[corner][plane][axis] < 0) continue;
                MPI_Wait(&box.requests[at[corner][plane][axis]], MPI_STATUS_IGNORE);
                for (int i = 0; i < elements; i++)
                    if (in[corner][plane][axis][i] != value(0, corner, plane, i, step) + (passed - 1))
                        fail("step %d: plane %d of corner %d is wrong", step, plane, corner);
            }
            for (int axis = 0; axis < 2; axis++) {
                int tx = axis ? x : x + dx, ty = axis ? y + dy : y;
                if (tx < 0 || tx >= d[0] || ty < 0 || ty >= d[1]) continue;
                double *out = message(&request);
                for (int i = 0; i < elements; i++) out[i] = value(0, corner, plane, i, step) + passed;
                MPI_Isend(out, elements, MPI_DOUBLE, ty * d[0] + tx, (corner * PLANES + plane) * 2 + axis, comm, request);
            }
        }
    MPI_Waitall(box.n - received, box.requests + received, MPI_STATUSES_IGNORE);
    took = MPI_Wtime() - start;
    return took;
}

static double levels(MPI_Comm comm, int step) {
    enum { SETUP = 20000 };
    double took = 0;
    for (int scale = 1; ranks / scale >= 2; scale *= 2) {
        int points = ranks / scale, d[3];
        /* A rank that does not know whom it will hear from receives from MPI_ANY_SOURCE. */
        if (me % scale == 0 && me / scale < points) {
            int mine = me / scale, right = (mine + 1) % points * scale, heard = -1;
            MPI_Request request;
            MPI_Status status;
            double start = MPI_Wtime();
            MPI_Isend(&me, 1, MPI_INT, right, SETUP + scale, comm, &request);
            MPI_Recv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, SETUP + scale, comm, &status);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            took += MPI_Wtime() - start;
            int left = (mine + points - 1) % points * scale;
            if (heard != left || status.MPI_SOURCE != left) fail("level %d heard from %d", scale, status.MPI_SOURCE);
        }
        factors(points, 3, d);
        took += halo(comm, d, 3, scale, step);
    }
    return took;
}

static const struct {
    const char *name;
    double (*step)(MPI_Comm, int);
} patterns[] = { { "halo9", halo9 }, { "halo27", halo27 }, { "allto1", allto1 }, { "sweep", sweep }, { "levels", levels } };
enum { PATTERNS = sizeof patterns / sizeof *patterns };

/* One step after a barrier: what communicating took, in seconds, and matching meanwhile, in microseconds. */
static void timed_step(int p, MPI_Comm comm, int step, double took[2]) {
    MPI_Barrier(comm);
    double matched = watch_read();
    took[0] += patterns[p].step(comm, step);
    took[1] += watch_read() - matched;
}

static void run(int p, const char *engine) {
    MPI_Comm comm = engine_comm(engine);
    double warm[2] = { 0 }, took[2] = { 0 }, watched[2] = { 0 }, most[2], sum[2];
    int step = 0;
    while (step < 2) timed_step(p, comm, step++, warm);
    while (step < 2 + steps) timed_step(p, comm, step++, took);
    /* Looking at clocks takes time, too. */
    watch_start();
    while (step < 2 + 2 * steps) timed_step(p, comm, step++, watched);
    watch_stop();
    took[1] = watched[1];
    MPI_Reduce(took, most, 2, MPI_DOUBLE, MPI_MAX, 0, comm);
    MPI_Reduce(took, sum, 2, MPI_DOUBLE, MPI_SUM, 0, comm);
    if (me == 0) {
        printf("%s\t%s\t%.2f\t%.2f", patterns[p].name, engine, most[0] / steps * 1e6, sum[0] / ranks / steps * 1e6);
        if (watch_there()) printf("\t%.2f\t%.2f\n", most[1] / steps, sum[1] / ranks / steps);
        else printf("\t-\t-\n");
    }
    fflush(stdout);
    MPI_Comm_free(&comm);
}

static const char usage[] =
    "usage: patterns [-k ENGINES] [-i STEPS] [-e ELEMENTS] [-f FIELDS] [halo9|halo27|allto1|sweep|levels...]";

int main(int argc, char **argv) {
    char nothing[] = "-", *list = nothing, *names[MAX_ENGINES];
    int option;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    world_rank_ = me;
    watch_begin();
    while ((option = getopt(argc, argv, "k:i:e:f:")) != -1) {
        switch (option) {
        case 'k': list = optarg; break;
        case 'i': steps = atoi(optarg); break;
        case 'e': elements = atoi(optarg); break;
        case 'f': fields = atoi(optarg); break;
        default: fail("%s", usage);
        }
    }
    if (steps < 1 || elements < 1 || fields < 1 || fields > 700) fail("%s", usage);
    int engines = split(list, names);
    if (me == 0) printf("# %d ranks, %d steps, %d fields of %d doubles\npattern\tengine\tmost us\tmean us\tmatch most\tmatch mean\n", ranks, steps, fields, elements);
    for (int p = 0; p < PATTERNS; p++) {
        int wanted = optind == argc;
        for (int a = optind; a < argc; a++) wanted |= strcmp(argv[a], patterns[p].name) == 0;
        for (int e = 0; wanted && e < engines; e++) run(p, names[e]);
    }
    for (int a = optind; a < argc; a++) {
        int known = 0;
        for (int p = 0; p < PATTERNS; p++) known |= strcmp(argv[a], patterns[p].name) == 0;
        if (!known) fail("no pattern '%s'. %s", argv[a], usage);
    }
    watch_end();
    MPI_Finalize();
    return 0;
}
