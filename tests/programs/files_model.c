/* Random operations on two files at a time against arrays of bytes: views of every kind, near and behind 4 GiB, in three representations; memory of every layout; explicit, individual and
   shared pointers; blocking, nonblocking, split, collective, ordered; resized, given space, atomic, closed and opened with other hints. All ranks draw the same numbers, so each knows what
   every other one does. Arguments: a folder, the first seed, the number of seeds, seconds at most, then perhaps `threads` or `endpoints` and how many of each process. Threads have files of
   their own at the same time, endpoints are ranks of common ones. */
#include "check.h"

#include <fcntl.h>
#include <mpi-ext.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW = 1 << 18, FILES = 2, STEPS = 36, MOST = 16, BLOCKS = 12 };
#define FAR ((MPI_Offset)5 << 30)

/* A view: of each rank blocks of ints in a tile that repeats, in ints. */
typedef struct {
    MPI_Offset disp;
    int blocks[MOST];
    long at[MOST][BLOCKS], len[MOST][BLOCKS], per[MOST], tile;
    /* All ranks have the same; bytes of an etype are 1; ints are the other way round in the file. */
    int common, bytes, swapped;
} View;

typedef struct {
    MPI_File file;
    char path[4096];
    View view;
    /* The shared pointer, in ints of the view. */
    long shared;
    int atomic;
    MPI_Offset length;
    unsigned char data[2][WINDOW];
} Model;

static _Thread_local MPI_Comm comm;
static _Thread_local int rank, size, step_, ragged;
static _Thread_local long seed_;
static _Thread_local uint64_t state;

static uint64_t draw(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545F4914F6CDD1Dul;
}
static long below(long n) { return n > 0 ? (long)((draw() >> 11) % (uint64_t)n) : 0; }
static int one_in(long n) { return below(n) == 0; }

#define SAYS(condition, text, ...) CHECK(condition, "seed %ld, step %d, rank %d: " text, seed_, step_, rank, __VA_ARGS__)
#define OK(call)                                                                      \
    do {                                                                              \
        int code_ = (call), length_;                                                  \
        char text_[MPI_MAX_ERROR_STRING] = "";                                        \
        if (code_ != MPI_SUCCESS) MPI_Error_string(code_, text_, &length_);           \
        SAYS(code_ == MPI_SUCCESS, "code %d: %s", code_, text_);                      \
    } while (0)

/* The model. */

static unsigned char *cell(Model *m, MPI_Offset at) {
    int far = at >= FAR;
    MPI_Offset in = far ? at - FAR : at;
    SAYS(in >= 0 && in < WINDOW, "the test reaches offset %lld", (long long)at);
    return &m->data[far][in];
}

static MPI_Offset offset_of(const View *v, int who, long i) {
    long tile = i / v->per[who], rest = i % v->per[who];
    int b = 0;
    while (rest >= v->len[who][b]) rest -= v->len[who][b++];
    return v->disp + 4 * (tile * v->tile + v->at[who][b] + rest);
}

/* A byte of an int as it is in the file. */
static unsigned char in_file(const View *v, int value, int byte) {
    return ((unsigned char *)&value)[v->swapped ? 3 - byte : byte];
}

static void model_write(Model *m, MPI_Offset at, int value) {
    for (int i = 0; i < 4; i++) *cell(m, at + i) = in_file(&m->view, value, i);
    if (at + 4 > m->length) m->length = at + 4;
}

static void model_cut(Model *m, MPI_Offset now) {
    for (int far = 0; far < 2; far++) {
        MPI_Offset keep = now - (far ? FAR : 0);
        keep = keep < 0 ? 0 : keep > WINDOW ? WINDOW : keep;
        memset(m->data[far] + keep, 0, (size_t)(WINDOW - keep));
    }
    m->length = now;
}

/* Ints in memory: contiguous, with gaps, with a large extent, or from the last to the first. */
typedef struct {
    int *cells, count, layout;
    long ints;
    MPI_Datatype type;
} Memory;

static long place(const Memory *m, long i) {
    return m->layout == 0 ? i : m->layout == 1 ? 2 * i : m->layout == 2 ? 3 * i : m->ints - 1 - i;
}

static Memory memory(long ints, int layout) {
    Memory m = {need((size_t)(3 * ints + 4) * 4), (int)ints, ints ? layout : 0, ints, MPI_INT};
    memset(m.cells, 0x5a, (size_t)(3 * ints + 4) * 4);
    if (m.layout == 1) MPI_Type_vector((int)ints, 1, 2, MPI_INT, &m.type);
    if (m.layout == 2) MPI_Type_create_resized(MPI_INT, 0, 12, &m.type);
    if (m.layout == 3) {
        int *places = need((size_t)ints * sizeof *places);
        for (long i = 0; i < ints; i++) places[i] = (int)(ints - 1 - i);
        MPI_Type_create_indexed_block((int)ints, 1, places, MPI_INT, &m.type);
        free(places);
    }
    if (m.layout == 1 || m.layout == 3) m.count = 1;
    if (m.layout) MPI_Type_commit(&m.type);
    return m;
}

static void forget(Memory *m) {
    if (m->layout) MPI_Type_free(&m->type);
    free(m->cells);
}

/* Views. */

/* Blocks one behind the other, each of a rank, of all or of nobody. */
static void draw_blocks(View *v) {
    long at = 0;
    int slots = 1 + (int)below(BLOCKS);
    for (int slot = 0; slot < slots; slot++) {
        long len = 1 + below(6), owner = below(size + 1);
        for (int who = 0; who < size; who++)
            if (v->common ? owner < size || slot == 0 : owner == who) {
                int b = v->blocks[who]++;
                v->at[who][b] = at, v->len[who][b] = len, v->per[who] += len;
            }
        at += len + below(3);
    }
    v->tile = at;
}

/* Rows of an array, of which each rank has some columns. */
static void draw_array(View *v, int rows, long width, long columns) {
    for (int who = 0; who < size; who++) {
        v->blocks[who] = rows, v->per[who] = rows * width;
        for (int row = 0; row < rows; row++) v->at[who][row] = row * columns + who * width, v->len[who][row] = width;
    }
    v->tile = rows * columns;
}

static MPI_Datatype type_of_blocks(const View *v, int how) {
    int n = v->blocks[rank], lens[BLOCKS], places[BLOCKS];
    MPI_Aint displacements[BLOCKS];
    MPI_Datatype types[BLOCKS], old = v->bytes ? MPI_BYTE : MPI_INT, made, type;
    int unit = v->bytes ? 4 : 1;
    for (int b = 0; b < n; b++) {
        lens[b] = unit * (int)v->len[rank][b], places[b] = unit * (int)v->at[rank][b];
        displacements[b] = 4 * v->at[rank][b], types[b] = old;
    }
    if (how == 0) MPI_Type_indexed(n, lens, places, old, &made);
    else if (how == 1 || v->swapped) MPI_Type_create_hindexed(n, lens, displacements, old, &made);
    else MPI_Type_create_struct(n, lens, displacements, types, &made);
    MPI_Type_create_resized(made, 0, 4 * v->tile, &type);
    MPI_Type_free(&made);
    return type;
}

static void set_view(Model *m) {
    View *v = &m->view;
    MPI_Datatype type;
    memset(v, 0, sizeof *v);
    int kind = (int)below(4), rows = 1 + (int)below(4), how = (int)below(3);
    long width = 1 + below(5), columns = size * width + below(3);
    v->disp = ragged ? below(19) : 4 * below(5);
    if (one_in(5)) v->disp += FAR;
    v->bytes = one_in(3);
    v->swapped = !ragged && !v->bytes && one_in(3);
    v->common = kind == 3;
    if (kind == 2) {
        int sizes[2] = {rows, (int)columns}, parts[2] = {rows, (int)width}, starts[2] = {0, rank * (int)width};
        draw_array(v, rows, width, columns);
        v->bytes = 0;
        MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, MPI_INT, &type);
    } else {
        if (kind == 0) draw_array(v, 1, width, columns);
        else draw_blocks(v);
        type = type_of_blocks(v, how);
    }
    MPI_Type_commit(&type);
    const char *representation = v->swapped ? (how ? "external32" : "internal") : "native";
    OK(MPI_File_set_view(m->file, v->disp, v->bytes ? MPI_BYTE : MPI_INT, type, representation, MPI_INFO_NULL));
    MPI_Type_free(&type);
    m->shared = 0;
}

/* The access of one rank in a step. */
typedef struct {
    long at, count;
} Part;

/* Parts of all ranks that do not overlap; with a shared pointer one behind the other, of one rank alone or of all. */
static void draw_parts(Model *m, Part *parts, int shared, int alone) {
    View *v = &m->view;
    long next = shared ? m->shared : below(60);
    int who_alone = (int)below(size);
    for (int who = 0; who < size; who++) {
        Part p = {below(100), below(40)};
        if (v->per[who] == 0 || (alone && who != who_alone)) p.count = 0;
        if (v->common || shared) p.at = next, next += p.count;
        parts[who] = p;
    }
    if (shared) m->shared = next;
}

static void meet(Model *m) {
    OK(MPI_File_sync(m->file));
    MPI_Barrier(comm);
    OK(MPI_File_sync(m->file));
}

enum { AT, POINTER, I_AT, I_POINTER, AT_ALL, ALL, I_AT_ALL, I_ALL, SPLIT_AT, SPLIT, BURST, OWN_FORMS, SHARED = OWN_FORMS, I_SHARED, ORDERED, SPLIT_ORDERED, FORMS };

/* A form for the view: those with shared pointers need one that all ranks have. */
static int draw_form(const Model *m) { return (int)below(m->view.common ? FORMS : OWN_FORMS); }

#define EITHER(writes, write, read, ...) OK((writes) ? MPI_File_##write(__VA_ARGS__) : MPI_File_##read(__VA_ARGS__))

/* One access of this rank; `at` in etypes. */
static void access_file(MPI_File f, int w, int form, long at, Memory *mem, MPI_Status *status) {
    MPI_Request request = MPI_REQUEST_NULL;
    int *b = mem->cells, n = mem->count;
    MPI_Datatype t = mem->type;
    if (form == POINTER || form == I_POINTER || form == ALL || form == I_ALL || form == SPLIT) OK(MPI_File_seek(f, at, MPI_SEEK_SET));
    switch (form) {
    case AT: EITHER(w, write_at, read_at, f, at, b, n, t, status); break;
    case POINTER: EITHER(w, write, read, f, b, n, t, status); break;
    case BURST:
    case I_AT: EITHER(w, iwrite_at, iread_at, f, at, b, n, t, &request); break;
    case I_POINTER: EITHER(w, iwrite, iread, f, b, n, t, &request); break;
    case AT_ALL: EITHER(w, write_at_all, read_at_all, f, at, b, n, t, status); break;
    case ALL: EITHER(w, write_all, read_all, f, b, n, t, status); break;
    case I_AT_ALL: EITHER(w, iwrite_at_all, iread_at_all, f, at, b, n, t, &request); break;
    case I_ALL: EITHER(w, iwrite_all, iread_all, f, b, n, t, &request); break;
    case SPLIT_AT:
        EITHER(w, write_at_all_begin, read_at_all_begin, f, at, b, n, t);
        EITHER(w, write_at_all_end, read_at_all_end, f, b, status);
        break;
    case SPLIT:
        EITHER(w, write_all_begin, read_all_begin, f, b, n, t);
        EITHER(w, write_all_end, read_all_end, f, b, status);
        break;
    case SHARED: EITHER(w, write_shared, read_shared, f, b, n, t, status); break;
    case I_SHARED: EITHER(w, iwrite_shared, iread_shared, f, b, n, t, &request); break;
    case ORDERED: EITHER(w, write_ordered, read_ordered, f, b, n, t, status); break;
    default:
        EITHER(w, write_ordered_begin, read_ordered_begin, f, b, n, t);
        EITHER(w, write_ordered_end, read_ordered_end, f, b, status);
        break;
    }
    if (form == BURST || form == I_AT || form == I_POINTER || form == I_AT_ALL || form == I_ALL || form == I_SHARED) OK(MPI_Wait(&request, status));
}

static int value_of(long stamp, int who, long i) { return (int)(stamp * 64 + who + i * 4096); }

/* Several nonblocking writes of one rank under way at a time. */
static void burst(Model *m, const Part *part, long stamp) {
    enum { PARTS = 3 };
    MPI_Request requests[PARTS];
    MPI_Status statuses[PARTS];
    Memory memories[PARTS];
    long done = 0, unit = m->view.bytes ? 4 : 1;
    for (int p = 0; p < PARTS; p++) {
        long n = p + 1 < PARTS ? part->count / PARTS : part->count - done;
        memories[p] = memory(n, p);
        for (long i = 0; i < n; i++) memories[p].cells[place(&memories[p], i)] = value_of(stamp, rank, done + i);
        OK(MPI_File_iwrite_at(m->file, (part->at + done) * unit, memories[p].cells, memories[p].count, memories[p].type, &requests[p]));
        done += n;
    }
    OK(MPI_Waitall(PARTS, requests, statuses));
    for (int p = 0; p < PARTS; p++) forget(&memories[p]);
}

static MPI_Count bytes_of(MPI_Status *status) {
    MPI_Count bytes;
    MPI_Get_elements_x(status, MPI_BYTE, &bytes);
    return bytes;
}

/* Compares pointers with the model after an access. */
static void pointers(Model *m, int form, const Part *part) {
    MPI_Offset at;
    long unit = m->view.bytes ? 4 : 1;
    if (form == POINTER || form == I_POINTER || form == ALL || form == I_ALL || form == SPLIT) {
        OK(MPI_File_get_position(m->file, &at));
        SAYS(at == (part->at + part->count) * unit, "the pointer is %lld", (long long)at);
    }
    if (form >= OWN_FORMS) {
        MPI_Barrier(comm);
        OK(MPI_File_get_position_shared(m->file, &at));
        SAYS(at == m->shared * unit, "the shared pointer is %lld instead of %ld", (long long)at, m->shared * unit);
        MPI_Barrier(comm);
    }
}

static void write_step(Model *m) {
    Part parts[MOST];
    MPI_Status status;
    int form = draw_form(m), alone = form == SHARED || form == I_SHARED, layout = (int)below(4);
    long stamp = below(1 << 20), unit = m->view.bytes ? 4 : 1;
    draw_parts(m, parts, form >= OWN_FORMS, alone);
    const Part *mine = &parts[rank];
    if (form == BURST) {
        burst(m, mine, stamp);
    } else if (!alone || mine->count > 0) {
        Memory mem = memory(mine->count, layout);
        for (long i = 0; i < mine->count; i++) mem.cells[place(&mem, i)] = value_of(stamp, rank, i);
        access_file(m->file, 1, form, mine->at * unit, &mem, &status);
        SAYS(bytes_of(&status) == 4 * mine->count, "form %d: %lld bytes of %ld ints", form, (long long)bytes_of(&status), mine->count);
        forget(&mem);
    }
    for (int who = 0; who < size; who++)
        for (long i = 0; i < parts[who].count; i++) model_write(m, offset_of(&m->view, who, parts[who].at + i), value_of(stamp, who, i));
    pointers(m, form, mine);
    meet(m);
}

/* Compares what was read with the model: whole ints, the rest of one at the end of the file, and memory behind that, which stays. */
static void compare(Model *m, const Memory *mem, const Part *part, MPI_Count bytes, int form) {
    long due = 0;
    while (due < part->count && offset_of(&m->view, rank, part->at + due) + 4 <= m->length) due++;
    MPI_Offset rest = due < part->count ? m->length - offset_of(&m->view, rank, part->at + due) : 0;
    long all = 4 * due + (rest > 0 ? (long)rest : 0);
    SAYS(bytes == all, "form %d, layout %d: %lld bytes instead of %ld of %ld ints", form, mem->layout, (long long)bytes, all, part->count);
    unsigned char *seen = need((size_t)(3 * mem->ints + 4) * 4);
    memset(seen, 0x5a, (size_t)(3 * mem->ints + 4) * 4);
    for (long i = 0; i < all; i++) {
        int byte = (int)(i % 4);
        seen[4 * place(mem, i / 4) + byte] = *cell(m, offset_of(&m->view, rank, part->at + i / 4) + (m->view.swapped ? 3 - byte : byte));
    }
    for (long i = 0; i < (3 * mem->ints + 4) * 4; i++)
        SAYS(((unsigned char *)mem->cells)[i] == seen[i], "form %d, layout %d: byte %ld of memory is %d instead of %d", form, mem->layout, i,
             ((unsigned char *)mem->cells)[i], seen[i]);
    free(seen);
}

static void read_step(Model *m) {
    Part parts[MOST];
    MPI_Status status;
    int form = draw_form(m), alone = form == SHARED || form == I_SHARED, layout = (int)below(4);
    long unit = m->view.bytes ? 4 : 1;
    draw_parts(m, parts, form >= OWN_FORMS, alone);
    const Part *mine = &parts[rank];
    if (!alone || mine->count > 0) {
        Memory mem = memory(mine->count, layout);
        access_file(m->file, 0, form, mine->at * unit, &mem, &status);
        compare(m, &mem, mine, bytes_of(&status), form);
        forget(&mem);
    }
    pointers(m, form, mine);
    MPI_Barrier(comm);
}

/* All ranks write the same part at once in atomic mode: it is one rank's, whole. */
static void duel(Model *m) {
    long at = below(100), n = 1 + below(40), unit = m->view.bytes ? 4 : 1;
    int form = (int)below(3) == 0 ? I_AT : one_in(2) ? AT : AT_ALL, found, least, most;
    MPI_Status status;
    Memory mem = memory(n, 0);
    for (long i = 0; i < n; i++) mem.cells[i] = rank + 1;
    access_file(m->file, 1, form, at * unit, &mem, &status);
    MPI_Barrier(comm);
    access_file(m->file, 0, AT, at * unit, &mem, &status);
    found = mem.cells[0];
    for (long i = 0; i < n; i++) SAYS(mem.cells[i] == found, "form %d: int %ld is of rank %d, others of %d", form, i, mem.cells[i] - 1, found - 1);
    MPI_Allreduce(&found, &least, 1, MPI_INT, MPI_MIN, comm), MPI_Allreduce(&found, &most, 1, MPI_INT, MPI_MAX, comm);
    SAYS(least == most && found >= 1 && found <= size, "ranks read %d and %d", least, most);
    for (long i = 0; i < n; i++) model_write(m, offset_of(&m->view, rank, at + i), found);
    forget(&mem);
    meet(m);
}

/* Atomic mode is set or left; where locks do not exclude all ranks it is refused. */
static void set_atomic(Model *m) {
    int wanted = (int)below(2), code = MPI_File_set_atomicity(m->file, wanted), class;
    MPI_Error_class(code, &class);
    if (class != MPI_ERR_UNSUPPORTED_OPERATION) {
        OK(code);
        m->atomic = wanted;
    }
}

/* Sizes. */

static void resize(Model *m) {
    MPI_Offset now = (ragged ? below(4000) : 4 * below(1000)) + (one_in(6) ? FAR : 0);
    if (one_in(3) && m->length <= WINDOW && now <= WINDOW) {
        OK(MPI_File_preallocate(m->file, now));
        if (now > m->length) m->length = now;
    } else {
        OK(MPI_File_set_size(m->file, now));
        model_cut(m, now);
    }
    MPI_Barrier(comm);
}

static void seek_shared(Model *m) {
    m->shared = below(80);
    OK(MPI_File_seek_shared(m->file, m->shared * (m->view.bytes ? 4 : 1), MPI_SEEK_SET));
    MPI_Barrier(comm);
}

/* Opening and closing. */

static void hint(MPI_Info info, const char *key, const char *text, long number) {
    char value[32];
    snprintf(value, sizeof value, "%ld", number);
    MPI_Info_set(info, key, text ? text : value);
}

static void open_file(Model *m, int creates) {
    static const char *const wishes[] = {"enable", "disable", "automatic"};
    MPI_Info info;
    MPI_Info_create(&info);
    hint(info, "cb_nodes", NULL, 1 + below(size));
    if (one_in(2)) hint(info, "cb_buffer_size", NULL, 1l << (12 + below(6)));
    if (one_in(2)) hint(info, "romio_cb_write", wishes[below(3)], 0);
    if (one_in(2)) hint(info, "romio_cb_read", wishes[below(3)], 0);
    if (one_in(2)) hint(info, "romio_ds_read", wishes[below(3)], 0);
    if (one_in(6)) hint(info, "romio_no_indep_rw", "true", 0);
    if (one_in(8)) hint(info, "direct_read", "true", 0);
    if (one_in(8)) hint(info, "direct_write", "true", 0);
    OK(MPI_File_open(comm, m->path, MPI_MODE_RDWR | (creates ? MPI_MODE_CREATE | MPI_MODE_EXCL : 0), info, &m->file));
    MPI_Info_free(&info);
    m->atomic = 0;
    set_view(m);
}

/* Rank 0 compares the closed file, without MPI. */
static void look(Model *m) {
    if (rank == 0) {
        unsigned char *got = need(WINDOW);
        struct stat about;
        int fd = open(m->path, O_RDONLY);
        SAYS(fd >= 0 && fstat(fd, &about) == 0, "no file %s", m->path);
        SAYS(about.st_size == m->length, "%lld bytes instead of %lld", (long long)about.st_size, (long long)m->length);
        for (int far = 0; far < 2; far++) {
            memset(got, 0, WINDOW);
            SAYS(pread(fd, got, WINDOW, far ? FAR : 0) >= 0, "%s cannot be read", m->path);
            for (long i = 0; i < WINDOW; i++)
                SAYS(got[i] == m->data[far][i], "byte %ld of window %d is %d instead of %d", i, far, got[i], m->data[far][i]);
        }
        close(fd);
        free(got);
    }
    MPI_Barrier(comm);
}

static void one_step(Model *m) {
    MPI_Offset bytes;
    if (m->shared > 150) seek_shared(m);
    switch (below(12)) {
    case 0: set_view(m); break;
    case 1: resize(m); break;
    case 2: set_atomic(m); break;
    case 3:
        if (m->view.common && m->atomic) duel(m);
        else if (m->view.common) seek_shared(m);
        break;
    case 4:
        if (one_in(3)) {
            OK(MPI_File_close(&m->file));
            look(m);
            open_file(m, 0);
        }
        break;
    case 5:
    case 6:
    case 7:
    case 8: write_step(m); break;
    default: read_step(m); break;
    }
    OK(MPI_File_get_size(m->file, &bytes));
    SAYS(bytes == m->length, "%lld bytes instead of %lld", (long long)bytes, (long long)m->length);
    MPI_Barrier(comm);
}

static void run(Model *models, const char *folder, int number, long seed) {
    seed_ = seed, step_ = -1, state = (uint64_t)seed * 0x9E3779B97F4A7C15ul + 1;
    ragged = one_in(3);
    for (int i = 0; i < FILES; i++) {
        Model *m = &models[i];
        memset(m->data, 0, sizeof m->data), m->length = 0;
        snprintf(m->path, sizeof m->path, "%s/model.%d.%d", folder, number, i);
        open_file(m, 1);
    }
    for (step_ = 0; step_ < STEPS; step_++) one_step(&models[below(FILES)]);
    for (int i = 0; i < FILES; i++) {
        OK(MPI_File_close(&models[i].file));
        look(&models[i]);
        if (rank == 0) OK(MPI_File_delete(models[i].path, MPI_INFO_NULL));
    }
    MPI_Barrier(comm);
}

static char **arguments;
static MPI_Comm comms[MOST];
static int each = 1, endpoints;

/* Seeds of one rank; threads take them in turns, endpoints all of them. */
static void *seeds(void *which) {
    int number = (int)(long)which, ways = endpoints ? 1 : each;
    long first = atol(arguments[2]), all = atol(arguments[3]), seconds = atol(arguments[4]);
    time_t until = time(NULL) + seconds;
    Model *models = need(FILES * sizeof *models);
    comm = comms[number];
    MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &size);
    CHECK(size <= MOST, "%d ranks, at most %d", size, MOST);
    if (endpoints) number = 0;
    for (long done = number; done < all; done += ways) {
        int go = rank != 0 || done < ways || time(NULL) < until;
        MPI_Bcast(&go, 1, MPI_INT, 0, comm);
        if (!go) break;
        run(models, arguments[1], number, first + done);
    }
    free(models);
    return NULL;
}

int main(int argc, char **argv) {
    int provided, me;
    pthread_t threads[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    check_rank_ = me, arguments = argv;
    if (argc > 6) {
        each = atoi(argv[6]), endpoints = !strcmp(argv[5], "endpoints");
        CHECK(each >= 1 && each <= MOST, "%d of each process", each);
    }
    if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, each, MPI_INFO_NULL, comms);
    else
        for (int i = 0; i < each; i++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    for (long i = 0; i < each; i++) CHECK(pthread_create(&threads[i], NULL, seeds, (void *)i) == 0, "a thread");
    for (int i = 0; i < each; i++) pthread_join(threads[i], NULL);
    if (!endpoints)
        for (int i = 0; i < each; i++) MPI_Comm_free(&comms[i]);
    return end();
}
