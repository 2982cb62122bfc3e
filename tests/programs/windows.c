/* Windows as objects: made in all flavors, what they tell of themselves, attributes, names, hints, error handlers, memory that
 * ranks share. Communication through windows is looked at in rma.c. "strict": what is only ours; "served": the
 * same, with a one-sided component. */
#include "check.h"

static int rank, size, strict, served;

static int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
#define REFUSED(call, wanted)                                                   \
    do {                                                                        \
        int got_ = class_of(call);                                              \
        CHECK(got_ == (wanted), "class %d instead of %d", got_, (int)(wanted)); \
    } while (0)

static void tells(MPI_Win win, void *base, MPI_Aint bytes, int unit, int flavor) {
    void *value;
    int flag, compared;
    MPI_Win_get_attr(win, MPI_WIN_BASE, &value, &flag);
    CHECK(flag && (bytes == 0 || value == base), "base %p", value);
    MPI_Win_get_attr(win, MPI_WIN_SIZE, &value, &flag);
    CHECK(flag && *(MPI_Aint *)value == bytes, "size %ld", (long)*(MPI_Aint *)value);
    MPI_Win_get_attr(win, MPI_WIN_DISP_UNIT, &value, &flag);
    CHECK(flag && *(int *)value == unit, "unit %d", *(int *)value);
    MPI_Win_get_attr(win, MPI_WIN_CREATE_FLAVOR, &value, &flag);
    CHECK(flag && *(int *)value == flavor, "flavor %d", *(int *)value);
    MPI_Win_get_attr(win, MPI_WIN_MODEL, &value, &flag);
    CHECK(flag && (*(int *)value == MPI_WIN_UNIFIED || *(int *)value == MPI_WIN_SEPARATE), "model %d", *(int *)value);
    MPI_Group group, world;
    MPI_Win_get_group(win, &group);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_compare(group, world, &compared);
    CHECK(compared == MPI_IDENT, "%d", compared);
    MPI_Group_free(&group);
    MPI_Group_free(&world);
}

static int deleted[4], calls;

static int forget(MPI_Win win, int key, void *value, void *extra) {
    (void)win, (void)key;
    CHECK(extra == deleted, "extra state");
    deleted[calls++] = *(int *)value;
    return MPI_SUCCESS;
}
static int refuse(MPI_Win win, int key, void *value, void *extra) {
    (void)win, (void)key, (void)extra;
    return *(int *)value ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void attributes(MPI_Win *win) {
    int keys[3], values[3] = {10, 20, 30}, no = 1, flag;
    void *value;
    MPI_Win_set_errhandler(*win, MPI_ERRORS_RETURN);
    for (int i = 0; i < 3; i++) MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, i < 2 ? forget : refuse, &keys[i], deleted);
    MPI_Win_get_attr(*win, keys[0], &value, &flag);
    CHECK(!flag, "nothing was set");
    MPI_Win_set_attr(*win, keys[0], &values[0]);
    MPI_Win_set_attr(*win, keys[0], &values[2]);
    CHECK(calls == 1 && deleted[0] == 10, "the old value is deleted");
    MPI_Win_set_attr(*win, keys[1], &values[1]);
    MPI_Win_get_attr(*win, keys[0], &value, &flag);
    CHECK(flag && value == &values[2], "%p", value);
    MPI_Win_delete_attr(*win, keys[0]);
    CHECK(calls == 2 && deleted[1] == 30, "deleted");
    MPI_Win_set_attr(*win, keys[0], &values[0]);
    MPI_Win_set_attr(*win, keys[2], &no);
    if (strict) {
        REFUSED(MPI_Win_free(win), MPI_ERR_OTHER);
        REFUSED(MPI_Win_set_attr(*win, MPI_WIN_SIZE, &no), MPI_ERR_KEYVAL);
    }
    CHECK(*win != MPI_WIN_NULL, "a callback said no");
    no = 0;
    calls = 0;
    MPI_Win_free(win);
    CHECK(*win == MPI_WIN_NULL, "freed");
    CHECK(calls == 2 && deleted[0] + deleted[1] == 30, "%d: %d %d", calls, deleted[0], deleted[1]);
    CHECK(!strict || (deleted[0] == 10 && deleted[1] == 20), "the youngest first");
    for (int i = 0; i < 3; i++) MPI_Win_free_keyval(&keys[i]);
}

static int heard, heard_class;
static void hear(MPI_Win *win, int *code, ...) {
    (void)win;
    heard++;
    heard_class = class_of(*code);
}

static void handlers(MPI_Win win) {
    MPI_Errhandler handler, got;
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == MPI_ERRORS_ARE_FATAL, "at first");
    MPI_Errhandler_free(&got);
    MPI_Win_create_errhandler(hear, &handler);
    MPI_Win_set_errhandler(win, handler);
    MPI_Win_get_errhandler(win, &got);
    CHECK(got == handler, "the one that was set");
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    MPI_Win_call_errhandler(win, MPI_ERR_RMA_SYNC);
    CHECK(heard == 1 && heard_class == MPI_ERR_RMA_SYNC, "%d: %d", heard, heard_class);
    if (strict && !served) {
        /* Without a one-sided component operations are refused, and the window's own handler hears of it. */
        int x = 0;
        REFUSED(MPI_Put(&x, 1, MPI_INT, 0, 0, 1, MPI_INT, win), MPI_ERR_UNSUPPORTED_OPERATION);
        REFUSED(MPI_Win_fence(0, win), MPI_ERR_UNSUPPORTED_OPERATION);
        CHECK(heard == 3 && heard_class == MPI_ERR_UNSUPPORTED_OPERATION, "%d: %d", heard, heard_class);
    }
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
}

static void hints(void) {
    char value[64];
    int flag, x[4];
    MPI_Info info, got;
    MPI_Win win;
    MPI_Info_create(&info);
    MPI_Info_set(info, "no_locks", "true");
    MPI_Info_set(info, "accumulate_ordering", "rar,waw");
    MPI_Win_create(x, sizeof x, 1, info, MPI_COMM_WORLD, &win);
    MPI_Win_get_info(win, &got);
    MPI_Info_get(got, "no_locks", 63, value, &flag);
    CHECK(flag && !strcmp(value, "true"), "no_locks is %s", flag ? value : "not told");
    MPI_Info_get(got, "accumulate_ops", 63, value, &flag);
    CHECK(!strict || (flag && !strcmp(value, "same_op_no_op")), "accumulate_ops");
    MPI_Info_get(got, "accumulate_ordering", 63, value, &flag);
    CHECK(!strict || (flag && !strcmp(value, "rar,waw")), "accumulate_ordering");
    MPI_Info_free(&got);
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Win_set_info(win, info);
    MPI_Win_get_info(win, &got);
    MPI_Info_get(got, "accumulate_ordering", 63, value, &flag);
    CHECK(!strict || (flag && !strcmp(value, "none")), "accumulate_ordering");
    MPI_Info_free(&got);
    MPI_Info_free(&info);
    int length;
    MPI_Win_set_name(win, "a window");
    MPI_Win_get_name(win, value, &length);
    CHECK(length == 8 && !strcmp(value, "a window"), "%s", value);
    MPI_Win_free(&win);
}

/* Every rank writes its part; everybody sees everybody's. */
static void shared(int apart) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Win win;
    /* Some have nothing. */
    MPI_Aint bytes = rank % 3 == 1 ? 0 : 4000 + 8 * rank, seen;
    int unit = 1 + rank % 4, flag, seen_unit;
    unsigned char *mine, *base, *end = NULL;
    void *first;
    if (apart) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "alloc_shared_noncontig", "true");
    }
    MPI_Win_allocate_shared(bytes, unit, info, MPI_COMM_WORLD, &mine, &win);
    if (apart) MPI_Info_free(&info);
    tells(win, mine, bytes, unit, MPI_WIN_FLAVOR_SHARED);
    for (int turn = 0; turn < 3; turn++) {
        fill(mine, bytes, rank + 100 * turn);
        MPI_Barrier(MPI_COMM_WORLD);
        end = NULL;
        for (int r = 0; r < size; r++) {
            MPI_Win_shared_query(win, r, &seen, &seen_unit, &base);
            /* Some libraries tell of the gaps, too. */
            MPI_Aint wanted = r % 3 == 1 ? 0 : 4000 + 8 * r;
            CHECK((seen == wanted || (!strict && apart && seen > wanted)) && seen_unit == 1 + r % 4, "rank %d: %ld", r, (long)seen);
            CHECK(differs(base, wanted, r + 100 * turn) < 0, "what rank %d wrote", r);
            CHECK(apart || !end || seen == 0 || base == end, "one behind the other");
            if (seen) end = base + seen;
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &seen, &seen_unit, &first);
    CHECK(seen == 4000 || (!strict && seen > 4000), "the first that has any: %ld", (long)seen);
    MPI_Win_get_attr(win, MPI_WIN_BASE, &first, &flag);
    CHECK(bytes == 0 || first == mine, "%p", first);
    MPI_Win_free(&win);
}

/* Each has memory of its own but rank 0: the lowest that has any is rank 1, which others cannot see. */
static void first(MPI_Win win, void *own) {
    MPI_Aint bytes;
    int unit;
    void *base;
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
    CHECK(rank == 1 ? bytes > 0 && base == own : bytes == 0, "%ld bytes", (long)bytes);
}

/* MPI_Win_allocate gives memory that the ranks of a node share; here all are on one. */
static void allocated(MPI_Win win, void *own) {
    MPI_Aint bytes;
    int unit;
    unsigned char *base;
    for (int r = 0; r < size; r++) {
        MPI_Win_shared_query(win, r, &bytes, &unit, &base);
        CHECK(bytes == 1000 * r && unit == 1 + r && (r != rank || r == 0 || base == own), "rank %d: %ld bytes", r, (long)bytes);
        CHECK(differs(base, bytes, r) < 0, "what rank %d wrote", r);
    }
    MPI_Win_shared_query(win, MPI_PROC_NULL, &bytes, &unit, &base);
    CHECK(bytes == (size > 1 ? 1000 : 0), "the first that has any: %ld", (long)bytes);
}

/* Loads and stores of shared memory are ordered by MPI_Win_fence and MPI_Win_sync, with a component and without. */
static void ordered(void) {
    int *mine, *theirs, unit, right = (rank + 1) % size;
    MPI_Aint bytes;
    MPI_Win win;
    MPI_Win_allocate_shared(sizeof *mine, sizeof *mine, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, right, &bytes, &unit, &theirs);
    for (int turn = 0; turn < 10; turn++) {
        MPI_Win_fence(0, win);
        *theirs = 100 * rank + turn;
        MPI_Win_fence(0, win);
        CHECK(*mine == 100 * ((rank + size - 1) % size) + turn, "turn %d: %d", turn, *mine);
        MPI_Win_sync(win);
    }
    MPI_Win_free(&win);
}

static void refused(void) {
    MPI_Win win = MPI_WIN_NULL;
    void *base;
    int x[4], unit;
    MPI_Aint bytes;
    REFUSED(MPI_Win_create(x, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
    REFUSED(MPI_Win_create(x, -1, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_SIZE);
    REFUSED(MPI_Win_create(x, 4, 0, MPI_INFO_NULL, MPI_COMM_WORLD, &win), MPI_ERR_DISP);
    REFUSED(MPI_Win_free(&win), MPI_ERR_WIN);
    if (!strict) return;
    REFUSED(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
    REFUSED(MPI_Win_allocate((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
    REFUSED(MPI_Win_allocate_shared((MPI_Aint)1 << 60, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_NO_MEM);
    MPI_Win_create(x, sizeof x, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    REFUSED(MPI_Win_shared_query(win, size, &bytes, &unit, &base), MPI_ERR_RANK);
    REFUSED(MPI_Win_attach(win, x, sizeof x), MPI_ERR_RMA_FLAVOR);
    MPI_Win stale = win;
    MPI_Win_free(&win);
    REFUSED(MPI_Win_set_name(stale, "gone"), MPI_ERR_WIN);
}

int main(int argc, char **argv) {
    begin(&argc, &argv, &rank, &size);
    served = argc > 1 && !strcmp(argv[1], "served");
    strict = served || (argc > 1 && !strcmp(argv[1], "strict"));
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    double x[8];
    void *base;
    MPI_Win win;
    MPI_Win_create(x, rank ? sizeof x : 0, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    tells(win, x, rank ? sizeof x : 0, 8, MPI_WIN_FLAVOR_CREATE);
    if (strict) first(win, x);
    handlers(win);
    attributes(&win);
    MPI_Win_allocate(1000 * rank, 1 + rank, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    fill(base, 1000 * rank, rank);
    tells(win, base, 1000 * rank, 1 + rank, MPI_WIN_FLAVOR_ALLOCATE);
    CHECK(differs(base, 1000 * rank, rank) < 0, "memory of one's own");
    MPI_Barrier(MPI_COMM_WORLD);
    if (strict) allocated(win, base);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_free(&win);
    MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    tells(win, MPI_BOTTOM, 0, 1, MPI_WIN_FLAVOR_DYNAMIC);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    CHECK(MPI_Win_attach(win, x, sizeof x) == MPI_SUCCESS, "attached");
    if (strict) REFUSED(MPI_Win_attach(win, x + 1, sizeof *x), MPI_ERR_RMA_ATTACH);
    CHECK(MPI_Win_detach(win, x) == MPI_SUCCESS, "detached");
    if (strict) REFUSED(MPI_Win_detach(win, x), MPI_ERR_RMA_ATTACH);
    MPI_Win_free(&win);
    hints();
    shared(0);
    shared(1);
    ordered();
    refused();
    return end();
}
