/* One rank has wrong arguments in a collective access: it gets its error, takes part without data, and the others' accesses end and are right.
   Arguments: a folder, "nonatomic" or "atomic". */
#include "files.h"
#include <fcntl.h>
#include <unistd.h>

enum { N = 300, MOST = 8 };
enum { WRITE_AT, READ_AT, WRITE, READ, ORDERED_WRITE, ORDERED_READ };
enum { COUNT, NO_TYPE, UNCOMMITTED, NO_BUFFER, ODD, OFFSET, NO_REQUEST, FAULTS };
/* Manners; ordered accesses are not nonblocking. */
enum { NOW, LATER, SPLIT };

static int fd = -1, mine[N], got[N], all[N * MOST], round_of;
static MPI_File file;
static MPI_Datatype uncommitted, turns;

static int value(int at) { return at * 7 + round_of; }
static int own(int at) { return 1000000 + rank * 1000 + at + round_of; }

struct memory {
    void *buf;
    int count;
    MPI_Datatype type;
    MPI_Offset offset;
    int no_request;
};

static int later(int code, MPI_Request *request) { return code ? code : MPI_Wait(request, MPI_STATUS_IGNORE); }

static int access_by(int kind, int manner, struct memory m) {
    MPI_Request one = MPI_REQUEST_NULL, *request = m.no_request ? NULL : &one;
    MPI_Status *none = MPI_STATUS_IGNORE;
    int code;
#define SPLIT_OF(begin, end) ((code = (begin)) ? code : (end))
    switch (kind * 3 + manner) {
    case WRITE_AT * 3 + NOW: return MPI_File_write_at_all(file, m.offset, m.buf, m.count, m.type, none);
    case WRITE_AT * 3 + LATER: return later(MPI_File_iwrite_at_all(file, m.offset, m.buf, m.count, m.type, request), &one);
    case WRITE_AT * 3 + SPLIT: return SPLIT_OF(MPI_File_write_at_all_begin(file, m.offset, m.buf, m.count, m.type), MPI_File_write_at_all_end(file, m.buf, none));
    case READ_AT * 3 + NOW: return MPI_File_read_at_all(file, m.offset, m.buf, m.count, m.type, none);
    case READ_AT * 3 + LATER: return later(MPI_File_iread_at_all(file, m.offset, m.buf, m.count, m.type, request), &one);
    case READ_AT * 3 + SPLIT: return SPLIT_OF(MPI_File_read_at_all_begin(file, m.offset, m.buf, m.count, m.type), MPI_File_read_at_all_end(file, m.buf, none));
    case WRITE * 3 + NOW: return MPI_File_write_all(file, m.buf, m.count, m.type, none);
    case WRITE * 3 + LATER: return later(MPI_File_iwrite_all(file, m.buf, m.count, m.type, request), &one);
    case WRITE * 3 + SPLIT: return SPLIT_OF(MPI_File_write_all_begin(file, m.buf, m.count, m.type), MPI_File_write_all_end(file, m.buf, none));
    case READ * 3 + NOW: return MPI_File_read_all(file, m.buf, m.count, m.type, none);
    case READ * 3 + LATER: return later(MPI_File_iread_all(file, m.buf, m.count, m.type, request), &one);
    case READ * 3 + SPLIT: return SPLIT_OF(MPI_File_read_all_begin(file, m.buf, m.count, m.type), MPI_File_read_all_end(file, m.buf, none));
    case ORDERED_WRITE * 3 + NOW: return MPI_File_write_ordered(file, m.buf, m.count, m.type, none);
    case ORDERED_WRITE * 3 + SPLIT: return SPLIT_OF(MPI_File_write_ordered_begin(file, m.buf, m.count, m.type), MPI_File_write_ordered_end(file, m.buf, none));
    case ORDERED_READ * 3 + NOW: return MPI_File_read_ordered(file, m.buf, m.count, m.type, none);
    default: return SPLIT_OF(MPI_File_read_ordered_begin(file, m.buf, m.count, m.type), MPI_File_read_ordered_end(file, m.buf, none));
    }
}

/* Arguments with a fault, and the class of their error. */
static int spoil(struct memory *m, int fault) {
    switch (fault) {
    case COUNT: m->count = -1; return MPI_ERR_COUNT;
    case NO_TYPE: m->type = MPI_DATATYPE_NULL; return MPI_ERR_TYPE;
    case UNCOMMITTED: m->type = uncommitted; return MPI_ERR_TYPE;
    case NO_BUFFER: m->buf = NULL; return MPI_ERR_BUFFER;
    case ODD: m->count = 3, m->type = MPI_BYTE; return MPI_ERR_IO;
    case OFFSET: m->offset = -1; return MPI_ERR_ARG;
    default: m->no_request = 1; return MPI_ERR_ARG;
    }
}

/* The file's int of a rank's, where `wrong` has none. */
static int place(int ordered, int who, int at, int wrong) {
    return ordered ? (who - (who > wrong)) * N + at : at * size + who;
}

static void one(int kind, int manner, int fault, int wrong) {
    int writes = kind % 2 == 0, ordered = kind >= ORDERED_WRITE, code;
    struct memory m = {writes ? mine : got, N, MPI_INT, 0, 0};
    round_of++;
    if (rank == 0) {
        for (int at = 0; at < N * size; at++) all[at] = value(at);
        CHECK(pwrite(fd, all, sizeof(int) * N * size, 0) > 0, "the file");
    }
    for (int at = 0; at < N; at++) mine[at] = own(at), got[at] = -5;
    if (ordered) OK(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    if (kind == WRITE || kind == READ) OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    MPI_Barrier(MPI_COMM_WORLD);
    int due = rank == wrong ? spoil(&m, fault) : MPI_SUCCESS;
    code = access_by(kind, manner, m);
    CHECK(class_of(code) == due, "kind %d, manner %d, fault %d: class %d instead of %d", kind, manner, fault, class_of(code), due);
    if (kind == WRITE || kind == READ) {
        MPI_Offset position;
        OK(MPI_File_get_position(file, &position));
        CHECK(position == (rank == wrong ? 0 : N), "the pointer is at %lld", (long long)position);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK(pread(fd, all, sizeof(int) * N * size, 0) == (ssize_t)sizeof(int) * N * size, "the file");
    for (int at = 0; at < N; at++) {
        int where = place(ordered, rank, at, wrong);
        if (rank == wrong) CHECK(got[at] == -5, "data came to the rank with wrong arguments");
        if (rank == wrong || !writes) CHECK(rank == wrong && ordered ? 1 : all[where] == value(where), "%d at %d", all[where], where);
        if (rank != wrong && writes) CHECK(all[where] == own(at), "%d at %d", all[where], where);
        if (rank != wrong && !writes) CHECK(got[at] == value(where), "%d of %d", got[at], where);
    }
    /* Behind what is written in order is what was there. */
    if (ordered && rank == wrong && writes)
        for (int at = N * (size - 1); at < N * size; at++) CHECK(all[at] == value(at), "%d at %d", all[at], at);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Functions in which ranks fail together. */
static void together(int wrong) {
    MPI_Offset size_is = rank == wrong ? -3 : 5000, offset;
    REFUSED(MPI_File_set_size(file, size_is), MPI_ERR_ARG);
    REFUSED(MPI_File_preallocate(file, size_is), MPI_ERR_ARG);
    OK(MPI_File_seek_shared(file, 3, MPI_SEEK_SET));
    REFUSED(MPI_File_seek_shared(file, 1, rank == wrong ? -77 : MPI_SEEK_SET), MPI_ERR_ARG);
    REFUSED(MPI_File_seek_shared(file, rank == wrong ? 1 : 2, MPI_SEEK_SET), size > 1 ? MPI_ERR_NOT_SAME : MPI_SUCCESS);
    OK(MPI_File_get_position_shared(file, &offset));
    CHECK(offset == (size > 1 ? 3 : 1), "the shared pointer is at %lld", (long long)offset);
    int code = MPI_File_set_info(file, rank == wrong ? (MPI_Info)MPI_COMM_NULL : MPI_INFO_NULL);
    CHECK(class_of(code) == (rank == wrong ? MPI_ERR_INFO : MPI_SUCCESS), "class %d", class_of(code));
    MPI_File other;
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, MPI_INFO_NULL, rank == wrong ? NULL : &other), MPI_ERR_ARG);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/wrong", argv[1]);
    CHECK(size <= MOST, "%d ranks", size);
    MPI_Datatype plain;
    MPI_Type_contiguous(2, MPI_INT, &uncommitted);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * size, &plain);
    MPI_Type_dup(plain, &turns);
    MPI_Type_commit(&turns);
    file = open_as(MPI_MODE_CREATE | MPI_MODE_RDWR);
    fd = open(path, O_RDWR);
    CHECK(fd >= 0, "the file");
    if (!strcmp(argv[2], "atomic")) OK(MPI_File_set_atomicity(file, 1));
    for (int ordered = 0; ordered < 2; ordered++) {
        MPI_Offset from = ordered ? 0 : (MPI_Offset)sizeof(int) * rank;
        OK(MPI_File_set_view(file, from, MPI_INT, ordered ? MPI_INT : turns, "native", MPI_INFO_NULL));
        for (int kind = ordered ? ORDERED_WRITE : 0; kind < (ordered ? ORDERED_READ + 1 : ORDERED_WRITE); kind++)
            for (int manner = NOW; manner <= SPLIT; manner++)
                for (int fault = 0; fault < FAULTS; fault++)
                    for (int wrong = 0; wrong < size; wrong += size > 1 ? size - 1 : 1) {
                        if (ordered && manner == LATER) continue;
                        if (fault == NO_REQUEST && manner != LATER) continue;
                        if (fault == OFFSET && kind > READ_AT) continue;
                        one(kind, manner, fault, wrong);
                    }
    }
    for (int wrong = 0; wrong < size; wrong++) together(wrong);
    /* A rank whose access was not begun closes at once. */
    struct memory m = {mine, rank == 0 ? -1 : N, MPI_INT, 0, 0};
    int code = access_by(WRITE_AT, LATER, m);
    CHECK(class_of(code) == (rank == 0 ? MPI_ERR_COUNT : MPI_SUCCESS), "class %d", class_of(code));
    OK(MPI_File_close(&file));
    close(fd);
    MPI_Type_free(&uncommitted), MPI_Type_free(&plain), MPI_Type_free(&turns);
    gone();
    return end();
}
