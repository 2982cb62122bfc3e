/* Random operations on a file against an array of bytes: views with holes, explicit, individual and shared pointers, ordered, split, nonblocking, collective, resized.
   Every rank knows what every other one does, since all draw the same numbers. Arguments: a folder, the first seed, the number of seeds, seconds at most. */
#include "check.h"
#include <stdint.h>
#include <time.h>

enum { FILE_BYTES = 1 << 16, STEPS = 40 };

static int rank, size;
static char path[4096];
static uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Dul;
}
static long below(long n) { return n > 0 ? (long)(draw() % (uint64_t)n) : 0; }

#define OK(call)                                                                      \
    do {                                                                              \
        int code_ = (call), length_;                                                  \
        char text_[MPI_MAX_ERROR_STRING] = "";                                        \
        if (code_ != MPI_SUCCESS) MPI_Error_string(code_, text_, &length_);           \
        CHECK(code_ == MPI_SUCCESS, "seed %ld, step %d: code %d: %s", seed_, step_, code_, text_); \
    } while (0)

static long seed_;
static int step_;

/* A view: blocks of `len` ints, `stride` ints apart, from `disp` on. Ranks' views interleave: rank r begins r * len ints later. */
typedef struct {
    long disp, len, stride;
} View;

static long offset_of(const View *v, int who, long at) {
    return v->disp + 4 * (who * v->len + at / v->len * v->stride + at % v->len);
}

static unsigned char model[4 * FILE_BYTES];
static long model_bytes;

static void model_write(long at, const int *value) {
    memcpy(model + at, value, 4);
    if (at + 4 > model_bytes) model_bytes = at + 4;
}

/* Ints of a view of `who` from `at` on that lie before the end of the file. */
static long readable(const View *v, int who, long at, long count) {
    long n = 0;
    while (n < count && offset_of(v, who, at + n) + 4 <= model_bytes) n++;
    return n;
}

static void set_view(MPI_File file, View *v) {
    MPI_Datatype block, tile;
    v->disp = 4 * below(5), v->len = 1 + below(6), v->stride = v->len * size + below(3);
    MPI_Type_contiguous((int)v->len, MPI_INT, &block);
    MPI_Type_create_resized(block, 0, 4 * v->stride, &tile);
    MPI_Type_commit(&tile);
    OK(MPI_File_set_view(file, v->disp + 4 * rank * v->len, MPI_INT, tile, "native", MPI_INFO_NULL));
    MPI_Type_free(&block), MPI_Type_free(&tile);
}

static void meet(MPI_File file) {
    OK(MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    OK(MPI_File_sync(file));
}

/* The part of one rank in a step. */
typedef struct {
    long at, count;
} Part;

static void write_step(MPI_File file, const View *v, long *position, int form) {
    Part part[64];
    long all = 0;
    for (int who = 0; who < size; who++) {
        part[who].at = below(200), part[who].count = below(40);
        all += part[who].count;
    }
    int *mine = need((size_t)(part[rank].count + 1) * 8), values[64];
    long stamp = below(1 << 20);
    MPI_Status status;
    MPI_Request request;
    long shared = 0;
    if (form >= 6) {
        /* At the shared pointer, from 0 on: in the order of ranks, in a view of bytes that all share. */
        OK(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
        for (int who = 0; who < rank; who++) shared += part[who].count;
    }
    for (long i = 0; i < part[rank].count; i++) mine[i] = (int)(stamp * 64 + rank + i * 4096);
    int n = (int)part[rank].count;
    long at = part[rank].at;
    switch (form) {
    case 0: OK(MPI_File_write_at(file, at, mine, n, MPI_INT, &status)); break;
    case 1: OK(MPI_File_write_at_all(file, at, mine, n, MPI_INT, &status)); break;
    case 2:
        OK(MPI_File_iwrite_at(file, at, mine, n, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        break;
    case 3:
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_iwrite_all(file, mine, n, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        break;
    case 4:
        OK(MPI_File_write_at_all_begin(file, at, mine, n, MPI_INT));
        OK(MPI_File_write_at_all_end(file, mine, &status));
        break;
    case 5:
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_write(file, mine, n, MPI_INT, &status));
        break;
    case 6: OK(MPI_File_write_ordered(file, mine, n, MPI_INT, &status)); break;
    default:
        OK(MPI_File_write_ordered_begin(file, mine, n, MPI_INT));
        OK(MPI_File_write_ordered_end(file, mine, &status));
        break;
    }
    int count;
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == n, "seed %ld, step %d, form %d: %d of %d", seed_, step_, form, count, n);
    (void)values, (void)all, (void)position, (void)shared;
    long before = 0;
    for (int who = 0; who < size; who++) {
        for (long i = 0; i < part[who].count; i++) {
            int value = (int)(stamp * 64 + who + i * 4096);
            model_write(form >= 6 ? 4 * (before + i) : offset_of(v, who, part[who].at + i), &value);
        }
        before += part[who].count;
    }
    free(mine);
    meet(file);
}

static void read_step(MPI_File file, const View *v, int form) {
    long at = 0, count = 0;
    for (int who = 0; who < size; who++) {
        long a = below(250), n = below(60);
        if (who == rank) at = a, count = n;
    }
    int *got = need((size_t)(count + 1) * 4), n = (int)count, have;
    memset(got, 0x5a, (size_t)(count + 1) * 4);
    MPI_Status status;
    MPI_Request request;
    switch (form) {
    case 0: OK(MPI_File_read_at(file, at, got, n, MPI_INT, &status)); break;
    case 1: OK(MPI_File_read_at_all(file, at, got, n, MPI_INT, &status)); break;
    case 2:
        OK(MPI_File_iread_at(file, at, got, n, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        break;
    case 3:
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_iread_all(file, got, n, MPI_INT, &request));
        OK(MPI_Wait(&request, &status));
        break;
    case 4:
        OK(MPI_File_read_at_all_begin(file, at, got, n, MPI_INT));
        OK(MPI_File_read_at_all_end(file, got, &status));
        break;
    default:
        OK(MPI_File_seek(file, at, MPI_SEEK_SET));
        OK(MPI_File_read_all(file, got, n, MPI_INT, &status));
        break;
    }
    MPI_Get_count(&status, MPI_INT, &have);
    long due = readable(v, rank, at, count);
    CHECK(have == due, "seed %ld, step %d, form %d: %d ints instead of %ld", seed_, step_, form, have, due);
    for (long i = 0; i < due; i++)
        CHECK(!memcmp(got + i, model + offset_of(v, rank, at + i), 4), "seed %ld, step %d, form %d: int %ld", seed_, step_, form, i);
    /* The rest of the buffer is not looked at where ranks read for each other. */
    if (form == 0 || form == 2) CHECK(got[due] == 0x5a5a5a5a, "seed %ld, step %d, form %d: more than was read", seed_, step_, form);
    free(got);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void run(long seed) {
    MPI_File file;
    MPI_Offset bytes;
    View v = {0, 1, 1};
    long position = 0;
    seed_ = seed, step_ = 0, state = (uint64_t)seed * 0x9E3779B97F4A7C15ul + 1;
    memset(model, 0, sizeof model), model_bytes = 0;
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &file));
    set_view(file, &v);
    for (step_ = 0; step_ < STEPS; step_++) {
        switch (below(8)) {
        case 0: set_view(file, &v); break;
        case 1: {
            long now = 4 * below(1000);
            OK(MPI_File_set_size(file, now));
            if (now < model_bytes) memset(model + now, 0, (size_t)(model_bytes - now));
            model_bytes = now;
            MPI_Barrier(MPI_COMM_WORLD);
            break;
        }
        case 2:
        case 3:
        case 4: {
            int form = (int)below(8);
            write_step(file, &v, &position, form);
            if (form >= 6) set_view(file, &v);
            break;
        }
        default: read_step(file, &v, (int)below(6)); break;
        }
        OK(MPI_File_get_size(file, &bytes));
        CHECK(bytes == model_bytes, "seed %ld, step %d: %lld bytes instead of %ld", seed_, step_, (long long)bytes, model_bytes);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    OK(MPI_File_close(&file));
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/random", argv[1]);
    long first = atol(argv[2]), seeds = atol(argv[3]), seconds = atol(argv[4]), done = 0;
    time_t until = time(NULL) + seconds;
    for (int go = 1; done < seeds; done++) {
        if (rank == 0 && done > 0) go = time(NULL) < until;
        MPI_Bcast(&go, 1, MPI_INT, 0, MPI_COMM_WORLD);
        if (!go) break;
        run(first + done);
    }
    return end();
}
