/* The cost of non-contiguous data: packing, unpacking and sending of the layouts that programs have,
 * beside memcpy of as many bytes.
 *
 * Usage: mpirun -n 1 datatype [-b BYTES] [-s SECONDS] [-o NAME] [-v]     packing only
 *        mpirun -n 2 datatype ...                                        and sending, rank 0 to rank 1 and back
 *
 * One line per layout, separated by tabs: name, bytes of data, then in units of 10^6 bytes per second:
 * memcpy, MPI_Pack, MPI_Unpack, and with two ranks a message of contiguous data and one of the layout, to
 * a receiver with the same layout (half of a round trip counts). -v checks what arrived.
 *
 * A figure is the best of several rounds, each long enough for the clock: the best is what the code
 * costs, the others what else the machine did. -o measures only the layouts with NAME in their names.
 */

#define _POSIX_C_SOURCE 200809L
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 7 };

static long target = 1 << 20; /* bytes of data in a layout, about */
static double seconds = 0.02; /* per round */
static int verify, rank, ranks;
static const char *only = "";

struct layout {
    const char *name;
    MPI_Datatype type;
    int count;
};

/* One element: an int, a double behind a hole, three floats; eight bytes of something else. */
struct record {
    int id;
    double weight;
    float place[3];
    char other[8];
};

static long cube_edge(void) {
    long n = 8;
    while ((n + 8) * (n + 8) * 8 <= target) n += 8;
    return n; /* a face of n x n doubles has about the target's bytes */
}

static MPI_Datatype face(int fixed, int thick) {
    int n = (int)cube_edge(), sizes[3] = {n, n, n}, part[3] = {n, n, n}, start[3] = {0, 0, 0};
    MPI_Datatype type;
    part[fixed] = thick;
    start[fixed] = 1;
    MPI_Type_create_subarray(3, sizes, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
    return type;
}

static MPI_Datatype blocks(int bytes, int distance) {
    MPI_Datatype type;
    MPI_Type_create_hvector((int)(target / bytes), bytes, distance, MPI_BYTE, &type);
    return type;
}

/* The same as blocks(8, 24), told one by one; and blocks at irregular places. */
static MPI_Datatype listed(int irregular) {
    int n = (int)(target / 8), *at = malloc(n * sizeof *at);
    unsigned x = 12345;
    MPI_Datatype type;
    for (int i = 0, place = 0; i < n; i++) {
        at[i] = place;
        x = x * 1103515245 + 12345;
        place += irregular ? 2 + (int)(x >> 28) % 3 : 3;
    }
    MPI_Type_create_indexed_block(n, 1, at, MPI_DOUBLE, &type);
    free(at);
    return type;
}

static MPI_Datatype record_type(void) {
    int lengths[3] = {1, 1, 3};
    MPI_Aint places[3] = {offsetof(struct record, id), offsetof(struct record, weight), offsetof(struct record, place)};
    MPI_Datatype types[3] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT}, plain, type;
    MPI_Type_create_struct(3, lengths, places, types, &plain);
    MPI_Type_create_resized(plain, 0, sizeof(struct record), &type);
    MPI_Type_free(&plain);
    return type;
}

/* Four arrays of doubles, of each a part. */
static MPI_Datatype arrays_type(void) {
    int n = (int)(target / 32), lengths[4] = {n, n, n, n};
    MPI_Aint places[4];
    MPI_Datatype types[4] = {MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE, MPI_DOUBLE}, type;
    for (int i = 0; i < 4; i++) places[i] = (MPI_Aint)i * (n + 1000) * 8;
    MPI_Type_create_struct(4, lengths, places, types, &type);
    return type;
}

/* The layout that is measured, and its buffers. */
struct job {
    struct layout *layout;
    char *user, *packed;
    long bytes;
};

static void by_memcpy(struct job *j) {
    memcpy(j->packed, j->user, j->bytes);
    /* Seen by nobody, and yet not left out. */
    __asm__ volatile("" : : "r"(j->packed) : "memory");
}
static void by_pack(struct job *j) {
    int at = 0;
    MPI_Pack(j->user, j->layout->count, j->layout->type, j->packed, (int)j->bytes, &at, MPI_COMM_SELF);
}
static void by_unpack(struct job *j) {
    int at = 0;
    MPI_Unpack(j->packed, (int)j->bytes, &at, j->user, j->layout->count, j->layout->type, MPI_COMM_SELF);
}
static void exchange(void *buffer, int count, MPI_Datatype type) {
    if (rank == 0) {
        MPI_Send(buffer, count, type, 1, 0, MPI_COMM_WORLD);
        MPI_Recv(buffer, count, type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(buffer, count, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(buffer, count, type, 0, 0, MPI_COMM_WORLD);
    }
}
static void by_contiguous(struct job *j) { exchange(j->packed, (int)j->bytes, MPI_BYTE); }
static void by_message(struct job *j) { exchange(j->user, j->layout->count, j->layout->type); }

/* 10^6 bytes per second; `both`: all ranks take part, and rank 0 says how often. */
static double rate(void (*what)(struct job *), struct job *j, int both, int times_moved) {
    double best = 0;
    long n = 1;
    what(j);
    for (int round = 0; round < ROUNDS;) {
        double start, took;
        if (both) MPI_Bcast(&n, 1, MPI_LONG, 0, MPI_COMM_WORLD);
        start = MPI_Wtime();
        for (long i = 0; i < n; i++) what(j);
        took = MPI_Wtime() - start;
        if (both) MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        if (took < seconds) {
            n *= 2; /* too short for the clock: not a round */
            continue;
        }
        if (best == 0 || took / n < best) best = took / n;
        round++;
    }
    return (double)j->bytes * times_moved / best / 1e6;
}

static void check(struct job *j, const char *when) {
    int at = 0;
    char *again = malloc(j->bytes);
    MPI_Pack(j->user, j->layout->count, j->layout->type, again, (int)j->bytes, &at, MPI_COMM_SELF);
    for (long i = 0; i < j->bytes; i++)
        if (again[i] != (char)(i * 31 + i / 256)) {
            fprintf(stderr, "%s: byte %ld is wrong after %s\n", j->layout->name, i, when);
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    free(again);
}

static void measure(struct layout *layout) {
    struct job j = {.layout = layout};
    MPI_Aint lb, extent, true_lb, true_extent;
    int size, at = 0;
    MPI_Type_commit(&layout->type);
    MPI_Type_size(layout->type, &size);
    MPI_Type_get_extent(layout->type, &lb, &extent);
    MPI_Type_get_true_extent(layout->type, &true_lb, &true_extent);
    j.bytes = (long)size * layout->count;
    /* All layouts here lie at and above their address. */
    size_t span = true_lb + true_extent + (size_t)(layout->count - 1) * extent;
    j.user = malloc(span);
    j.packed = malloc(j.bytes);
    memset(j.user, 0, span);
    for (long i = 0; i < j.bytes; i++) j.packed[i] = (char)(i * 31 + i / 256);
    MPI_Unpack(j.packed, (int)j.bytes, &at, j.user, layout->count, layout->type, MPI_COMM_SELF);
    if (verify) check(&j, "unpacking");
    double pack = rate(by_pack, &j, 0, 1), unpack = rate(by_unpack, &j, 0, 1);
    double flat = 0, message = 0;
    if (ranks == 2) {
        message = rate(by_message, &j, 1, 2);
        if (verify) check(&j, "a message");
        flat = rate(by_contiguous, &j, 1, 2);
    }
    char *copy = j.user;
    if (span < (size_t)j.bytes) copy = malloc(j.bytes);
    struct job plain = {.layout = layout, .user = copy, .packed = j.packed, .bytes = j.bytes};
    double memory = rate(by_memcpy, &plain, 0, 1);
    if (rank == 0) {
        printf("%-22s\t%8ld\t%8.0f\t%8.0f\t%8.0f", layout->name, j.bytes, memory, pack, unpack);
        if (ranks == 2) printf("\t%8.0f\t%8.0f", flat, message);
        printf("\n");
        fflush(stdout);
    }
    if (copy != j.user) free(copy);
    free(j.user);
    free(j.packed);
    MPI_Type_free(&layout->type);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-v")) verify = 1;
        else if (!strcmp(argv[i], "-b") && i + 1 < argc) target = atol(argv[++i]);
        else if (!strcmp(argv[i], "-s") && i + 1 < argc) seconds = atof(argv[++i]);
        else if (!strcmp(argv[i], "-o") && i + 1 < argc) only = argv[++i];
        else target = 0;
    }
    if (target < 4096 || target > 1 << 28 || seconds <= 0 || ranks > 2) {
        if (rank == 0) fprintf(stderr, "usage: datatype [-b BYTES (4096 to 2^28)] [-s SECONDS] [-o NAME] [-v], on 1 or 2 ranks\n");
        MPI_Finalize();
        return 2;
    }
    struct layout layouts[] = {
        {"contiguous", blocks(64, 64), 1},
        {"4 of 8 bytes", blocks(4, 8), 1},
        {"4 of 64 bytes", blocks(4, 64), 1},
        {"8 of 16 bytes", blocks(8, 16), 1},
        {"8 of 24 bytes", blocks(8, 24), 1},
        {"8 of 24 bytes, listed", listed(0), 1},
        {"8 bytes, irregular", listed(1), 1},
        {"16 of 64 bytes", blocks(16, 64), 1},
        {"100 of 128 bytes", blocks(100, 128), 1},
        {"4096 of 8192 bytes", blocks(4096, 8192), 1},
        {"array of structures", record_type(), (int)(target / 24)},
        {"structure of arrays", arrays_type(), 1},
        {"face, slow index", face(0, 1), 1},
        {"face, middle index", face(1, 1), 1},
        {"face, fast index", face(2, 1), 1},
        {"face, 2 of fast index", face(2, 2), 1},
    };
    if (rank == 0)
        printf("# layout\tbytes\tmemcpy\tpack\tunpack%s\n", ranks == 2 ? "\tcontiguous message\tmessage" : "");
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
        if (strstr(layouts[i].name, only)) measure(&layouts[i]);
        else MPI_Type_free(&layouts[i].type);
    }
    MPI_Finalize();
    return 0;
}
