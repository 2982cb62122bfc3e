/* The tool information interface where something is wrong or at its limit: before its start and behind its end, null
 * pointers, indices and handles that are none, texts without room, whole sessions, things that cannot be done to a
 * variable. The answers of each function stand in MPI 5.0, §15.3. One rank. */
#include "check.h"

#define IS(code, call)                                                                            \
    do {                                                                                          \
        int got_ = (call);                                                                        \
        CHECK(got_ == (code), "%s gave %d, not " #code, #call, got_);                             \
    } while (0)
#define FINE(call) IS(MPI_SUCCESS, call)

enum { ROOM = 4096 };
static char text[ROOM];
static int n, m, len;
static MPI_T_source_order ordering;
static MPI_Count ticks;
static MPI_Datatype type;
static MPI_Aint place;
static MPI_T_enum kind;
static MPI_Info info;

static void event_callback(MPI_T_event_instance event, MPI_T_event_registration r, MPI_T_cb_safety s, void *data) {
    (void)event, (void)r, (void)s, (void)data;
}
static void drop_callback(MPI_Count count, MPI_T_event_registration r, int source, MPI_T_cb_safety s, void *data) {
    (void)count, (void)r, (void)source, (void)s, (void)data;
}

/* Nobody uses the interface: every function but its start says so. */
static void not_in_use(void) {
    MPI_T_cvar_handle cvar = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle pvar = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_event_registration events = 0;
    MPI_T_event_instance event = 0;
    unsigned long long value = 0;
#define NOT(call) IS(MPI_T_ERR_NOT_INITIALIZED, call)
    NOT(MPI_T_finalize());
    NOT(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, text, &len));
    NOT(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, text, &len));
    NOT(MPI_T_cvar_get_num(&n));
    NOT(MPI_T_cvar_get_info(0, text, &len, &n, &type, &kind, text, &len, &n, &n));
    NOT(MPI_T_cvar_get_index("a", &n));
    NOT(MPI_T_cvar_handle_alloc(0, NULL, &cvar, &n));
    NOT(MPI_T_cvar_handle_free(&cvar));
    NOT(MPI_T_cvar_read(cvar, &value));
    NOT(MPI_T_cvar_write(cvar, &value));
    NOT(MPI_T_pvar_get_num(&n));
    NOT(MPI_T_pvar_get_info(0, text, &len, &n, &n, &type, &kind, text, &len, &n, &n, &n, &n));
    NOT(MPI_T_pvar_get_index("a", 0, &n));
    NOT(MPI_T_pvar_session_create(&session));
    NOT(MPI_T_pvar_session_free(&session));
    NOT(MPI_T_pvar_handle_alloc(session, 0, NULL, &pvar, &n));
    NOT(MPI_T_pvar_handle_free(session, &pvar));
    NOT(MPI_T_pvar_start(session, pvar));
    NOT(MPI_T_pvar_stop(session, pvar));
    NOT(MPI_T_pvar_read(session, pvar, &value));
    NOT(MPI_T_pvar_write(session, pvar, &value));
    NOT(MPI_T_pvar_reset(session, pvar));
    NOT(MPI_T_pvar_readreset(session, pvar, &value));
    NOT(MPI_T_category_get_num(&n));
    NOT(MPI_T_category_get_info(0, text, &len, text, &len, &n, &n, &n));
    NOT(MPI_T_category_get_num_events(0, &n));
    NOT(MPI_T_category_get_index("a", &n));
    NOT(MPI_T_category_get_cvars(0, 1, &n));
    NOT(MPI_T_category_get_pvars(0, 1, &n));
    NOT(MPI_T_category_get_events(0, 1, &n));
    NOT(MPI_T_category_get_categories(0, 1, &n));
    NOT(MPI_T_category_changed(&n));
    NOT(MPI_T_source_get_num(&n));
    NOT(MPI_T_source_get_info(0, text, &len, text, &len, &ordering, &ticks, &ticks, NULL));
    NOT(MPI_T_source_get_timestamp(0, &ticks));
    NOT(MPI_T_event_get_num(&n));
    NOT(MPI_T_event_get_info(0, text, &len, &n, &type, &place, &n, &kind, NULL, text, &len, &n));
    NOT(MPI_T_event_get_index("a", &n));
    NOT(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &events));
    NOT(MPI_T_event_handle_set_info(events, MPI_INFO_NULL));
    NOT(MPI_T_event_handle_get_info(events, &info));
    NOT(MPI_T_event_register_callback(events, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, event_callback));
    NOT(MPI_T_event_callback_set_info(events, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    NOT(MPI_T_event_callback_get_info(events, MPI_T_CB_REQUIRE_NONE, &info));
    NOT(MPI_T_event_handle_free(events, NULL, NULL));
    NOT(MPI_T_event_set_dropped_handler(events, drop_callback));
    NOT(MPI_T_event_read(event, 0, &n));
    NOT(MPI_T_event_copy(event, &n));
    NOT(MPI_T_event_get_timestamp(event, &ticks));
    NOT(MPI_T_event_get_source(event, &n));
}

/* §15.3.3: a text that has no room, or less than it needs. */
static void texts(void) {
    char whole[ROOM], cut[8];
    int need = 0, room;
    /* No length, no text; no room, no place: only the length. */
    memset(whole, 'x', sizeof whole);
    FINE(MPI_T_cvar_get_info(0, whole, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(whole[0] == 'x', "a text without a length was stored");
    FINE(MPI_T_cvar_get_info(0, whole, &need, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(whole[0] == 'x' && need > 1, "%d", need);
    room = 1;
    FINE(MPI_T_cvar_get_info(0, NULL, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(room == need, "%d, not %d", room, need);
    room = need;
    FINE(MPI_T_cvar_get_info(0, whole, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(room == need && (int)strlen(whole) == need - 1 && whole[need] == 'x', "%s: %d", whole, need);
    memset(cut, 'x', sizeof cut);
    room = 4;
    FINE(MPI_T_cvar_get_info(0, cut, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(room == need && cut[3] == 0 && cut[4] == 'x' && strncmp(cut, whole, 3) == 0, "%.8s of %s", cut, whole);
    room = 1;
    FINE(MPI_T_cvar_get_info(0, cut, &room, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(cut[0] == 0 && cut[1] != 0 && room == need, "room for the end alone");
}

static void control_variables(void) {
    MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL, copy;
    int num, scope, once_each[2] = {0, 0};
    FINE(MPI_T_cvar_get_num(&num));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_get_num(NULL));
    for (int wrong = -1; wrong <= num; wrong += num + 1) {
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_cvar_handle_alloc(wrong, NULL, &handle, &n));
    }
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_cvar_get_index("", &n));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_get_index(NULL, &n));
    FINE(MPI_T_cvar_get_info(0, text, (len = ROOM, &len), NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_get_index(text, NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_handle_alloc(0, NULL, NULL, &n));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_handle_alloc(0, NULL, &handle, NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_cvar_handle_free(NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_handle_free(&handle));
    for (int i = 0; i < num; i++) {
        long long value[ROOM / 8];
        FINE(MPI_T_cvar_get_info(i, NULL, NULL, &n, &type, &kind, NULL, NULL, &m, &scope));
        CHECK(m == MPI_T_BIND_NO_OBJECT, "%d is bound", i);
        CHECK(type == MPI_INT || type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG ||
                  type == MPI_COUNT || type == MPI_CHAR || type == MPI_DOUBLE,
              "a type that a variable cannot have");
        CHECK(kind == MPI_T_ENUM_NULL || type == MPI_INT, "an enumeration of no MPI_INT");
        int writable = scope != MPI_T_SCOPE_CONSTANT && scope != MPI_T_SCOPE_READONLY;
        FINE(MPI_T_cvar_handle_alloc(i, NULL, &handle, &n));
        CHECK(n >= 1 && (type == MPI_CHAR || n == 1) && n <= ROOM, "%d elements", n);
        FINE(MPI_T_cvar_read(handle, value));
        if (kind != MPI_T_ENUM_NULL) {
            /* The value is one of those that the enumeration has. */
            int items, item, now, found = 0;
            memcpy(&now, value, sizeof now);
            FINE(MPI_T_enum_get_info(kind, &items, NULL, NULL));
            for (int k = 0; k < items; k++) {
                len = ROOM;
                FINE(MPI_T_enum_get_item(kind, k, &item, text, &len));
                found += item == now;
                CHECK(len == (int)strlen(text) + 1 && len > 1, "%s", text);
            }
            CHECK(found == 1, "the value %d is %d times among %d", now, found, items);
            IS(MPI_T_ERR_INVALID_INDEX, MPI_T_enum_get_item(kind, items, &item, NULL, NULL));
            IS(MPI_T_ERR_INVALID_INDEX, MPI_T_enum_get_item(kind, -1, &item, NULL, NULL));
            IS(MPI_T_ERR_INVALID, MPI_T_enum_get_item(kind, 0, NULL, NULL, NULL));
            IS(MPI_T_ERR_INVALID, MPI_T_enum_get_info(kind, NULL, NULL, NULL));
        }
        IS(MPI_T_ERR_INVALID, MPI_T_cvar_read(handle, NULL));
        IS(MPI_T_ERR_INVALID, MPI_T_cvar_write(handle, NULL));
        /* The value that it has may be written where any value may. */
        int answer = MPI_T_cvar_write(handle, value);
        if (!writable) CHECK(answer == MPI_T_ERR_CVAR_SET_NEVER, "%d: %d", i, answer);
        if (writable) CHECK(answer == MPI_SUCCESS || answer == MPI_T_ERR_CVAR_SET_NOT_NOW, "%d: %d", i, answer);
        once_each[writable] = 1;
        copy = handle;
        FINE(MPI_T_cvar_handle_free(&handle));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_read(copy, value));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_write(copy, value));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_cvar_handle_free(&copy));
    }
    CHECK(once_each[0] && once_each[1], "variables of both kinds");
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &n, NULL, NULL));
}

/* The types that a class permits (§15.3.7.1). */
static void type_of_class(int class, int i) {
    int state = class == MPI_T_PVAR_CLASS_STATE;
    CHECK(class >= MPI_T_PVAR_CLASS_STATE && class <= MPI_T_PVAR_CLASS_GENERIC, "%d: class %d", i, class);
    CHECK(state ? type == MPI_INT : type == MPI_UNSIGNED || type == MPI_UNSIGNED_LONG || type == MPI_UNSIGNED_LONG_LONG,
          "%d: a type that its class has not", i);
    CHECK(state || kind == MPI_T_ENUM_NULL, "%d", i);
}

static void performance_variables(void) {
    MPI_T_pvar_session session = MPI_T_PVAR_SESSION_NULL, other, gone;
    MPI_T_pvar_handle handle = MPI_T_PVAR_HANDLE_NULL, copy;
    MPI_Comm comm = MPI_COMM_WORLD, none = MPI_COMM_NULL;
    MPI_Win win, no_win = MPI_WIN_NULL;
    unsigned long long value[64];
    int num, class, bind, readonly, continuous, atomic, kinds[2][2] = {{0, 0}, {0, 0}};
    MPI_Win_create(value, sizeof value, 1, MPI_INFO_NULL, comm, &win);
    FINE(MPI_T_pvar_get_num(&num));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_get_num(NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_session_create(NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_session_free(NULL));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&session));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_handle_alloc(session, 0, NULL, &handle, &n));
    FINE(MPI_T_pvar_session_create(&session));
    FINE(MPI_T_pvar_session_create(&other));
    for (int wrong = -1; wrong <= num; wrong += num + 1) {
        IS(MPI_T_ERR_INVALID_INDEX,
           MPI_T_pvar_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_pvar_handle_alloc(session, wrong, NULL, &handle, &n));
    }
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index("none", MPI_T_PVAR_CLASS_COUNTER, &n));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_COUNTER, &n));
    /* All handles of a session without any. */
    FINE(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    FINE(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    FINE(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(session, MPI_T_PVAR_ALL_HANDLES, value));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_write(session, MPI_T_PVAR_ALL_HANDLES, value));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_readreset(session, MPI_T_PVAR_ALL_HANDLES, value));
    for (int i = 0; i < num; i++) {
        len = ROOM;
        FINE(MPI_T_pvar_get_info(i, text, &len, NULL, &class, &type, &kind, NULL, NULL, &bind, &readonly, &continuous, &atomic));
        type_of_class(class, i);
        IS(MPI_T_ERR_INVALID_NAME, MPI_T_pvar_get_index(text, class == MPI_T_PVAR_CLASS_SIZE ? class + 1 : MPI_T_PVAR_CLASS_SIZE, &n));
        IS(MPI_T_ERR_INVALID, MPI_T_pvar_get_index(text, class, NULL));
        void *object = bind == MPI_T_BIND_NO_OBJECT ? NULL : bind == MPI_T_BIND_MPI_WIN ? (void *)&win : &comm;
        if (bind != MPI_T_BIND_NO_OBJECT) {
            CHECK(bind == MPI_T_BIND_MPI_COMM || bind == MPI_T_BIND_MPI_WIN, "%s: bound to %d", text, bind);
            IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &n));
            IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_WIN ? (void *)&no_win : &none, &handle, &n));
        }
        IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, i, object, NULL, &n));
        IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_alloc(session, i, object, &handle, NULL));
        FINE(MPI_T_pvar_handle_alloc(session, i, object, &handle, &n));
        CHECK(n >= 1 && n <= 64, "%s: %d", text, n);
        int start = continuous ? MPI_T_ERR_PVAR_NO_STARTSTOP : MPI_SUCCESS, write = readonly ? MPI_T_ERR_PVAR_NO_WRITE : MPI_SUCCESS;
        for (int twice = 0; twice < 2; twice++) IS(start, MPI_T_pvar_start(session, handle));
        for (int twice = 0; twice < 2; twice++) IS(start, MPI_T_pvar_stop(session, handle));
        FINE(MPI_T_pvar_read(session, handle, value));
        IS(write, MPI_T_pvar_write(session, handle, value));
        IS(write, MPI_T_pvar_reset(session, handle));
        IS(atomic ? MPI_SUCCESS : MPI_T_ERR_PVAR_NO_ATOMIC, MPI_T_pvar_readreset(session, handle, value));
        IS(MPI_T_ERR_INVALID, MPI_T_pvar_read(session, handle, NULL));
        if (!readonly) IS(MPI_T_ERR_INVALID, MPI_T_pvar_write(session, handle, NULL));
        if (atomic) IS(MPI_T_ERR_INVALID, MPI_T_pvar_readreset(session, handle, NULL));
        /* A handle belongs to its session. */
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(other, handle, value));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_start(other, handle));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(other, &handle));
        kinds[continuous][readonly] = 1;
        if (i % 2) continue; /* Left to the session. */
        copy = handle;
        FINE(MPI_T_pvar_handle_free(session, &handle));
        CHECK(handle == MPI_T_PVAR_HANDLE_NULL, "%s", text);
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_handle_free(session, &handle));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_stop(session, copy));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_reset(session, copy));
        IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_readreset(session, copy, value));
    }
    CHECK(kinds[0][0] && kinds[1][0] && kinds[1][1], "variables of all kinds");
    /* With variables that cannot be started or reset among them, those that can are. */
    FINE(MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    FINE(MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES));
    FINE(MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES));
    IS(MPI_T_ERR_INVALID, MPI_T_pvar_handle_free(session, NULL));
    gone = session;
    FINE(MPI_T_pvar_session_free(&session));
    CHECK(session == MPI_T_PVAR_SESSION_NULL, "the session's handle");
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_session_free(&gone));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_read(gone, handle, value));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_start(gone, MPI_T_PVAR_ALL_HANDLES));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_pvar_read(other, handle, value));
    FINE(MPI_T_pvar_session_free(&other));
    MPI_Win_free(&win);
}

static void categories(void) {
    int num, cvars, pvars, below, events, indices[2] = {-7, -7}, before, after, all[5] = {0, 0, 0, 0, 0};
    FINE(MPI_T_category_get_num(&num));
    for (int wrong = -1; wrong <= num; wrong += num + 1) {
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_num_events(wrong, &n));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_cvars(wrong, 1, &n));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_pvars(wrong, 1, &n));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_events(wrong, 1, &n));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_category_get_categories(wrong, 1, &n));
    }
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_category_get_index("no such category", &n));
    IS(MPI_T_ERR_INVALID, MPI_T_category_get_index(NULL, &n));
    IS(MPI_T_ERR_INVALID, MPI_T_category_get_num(NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_category_changed(NULL));
    FINE(MPI_T_category_changed(&before));
    for (int i = 0; i < num; i++) {
        FINE(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &cvars, &pvars, &below));
        FINE(MPI_T_category_get_num_events(i, &events));
        all[0] += cvars, all[1] += pvars, all[2] += below, all[3] += events;
        /* No more than there is room for. */
        FINE(MPI_T_category_get_cvars(i, 0, NULL));
        IS(MPI_T_ERR_INVALID, MPI_T_category_get_cvars(i, -1, indices));
        FINE(MPI_T_category_get_cvars(i, 1, indices));
        CHECK(indices[1] == -7, "behind the end");
        if (cvars) IS(MPI_T_ERR_INVALID, MPI_T_category_get_cvars(i, cvars, NULL));
    }
    FINE(MPI_T_cvar_get_num(&cvars));
    FINE(MPI_T_pvar_get_num(&pvars));
    FINE(MPI_T_event_get_num(&events));
    CHECK(all[0] == cvars && all[1] == pvars && all[3] == events && all[2] < num, "each is in one category: %d %d %d %d", all[0],
          all[1], all[2], all[3]);
    FINE(MPI_T_category_changed(&after));
    CHECK(before == after, "looking has changed something");
}

static int called;
static void counts(MPI_T_event_instance event, MPI_T_event_registration r, MPI_T_cb_safety s, void *data) {
    (void)r, (void)s;
    CHECK(data == &called, "the program's word");
    IS(MPI_T_ERR_INVALID, MPI_T_event_read(event, 0, NULL));
    IS(MPI_T_ERR_INVALID_INDEX, MPI_T_event_read(event, -1, &n));
    IS(MPI_T_ERR_INVALID, MPI_T_event_copy(event, NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_event_get_timestamp(event, NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_event_get_source(event, NULL));
    called++;
}

static void events_and_sources(void) {
    MPI_T_event_registration r = 0, gone;
    MPI_T_event_instance never = 0;
    MPI_Comm twin;
    int num, sources, elements;
    FINE(MPI_T_source_get_num(&sources));
    IS(MPI_T_ERR_INVALID, MPI_T_source_get_num(NULL));
    for (int wrong = -1; wrong <= sources; wrong += sources + 1) {
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_source_get_timestamp(wrong, &ticks));
    }
    MPI_Count rate = 0, most = 0, later;
    FINE(MPI_T_source_get_info(0, text, (len = ROOM, &len), NULL, NULL, &ordering, &rate, &most, &info));
    CHECK((ordering == MPI_T_SOURCE_ORDERED || ordering == MPI_T_SOURCE_UNORDERED) && rate > 0 && most > 0, "source %d", ordering);
    FINE(MPI_Info_free(&info));
    FINE(MPI_T_source_get_timestamp(0, &ticks));
    FINE(MPI_T_source_get_timestamp(0, &later));
    CHECK(later >= ticks && later <= most, "time");
    IS(MPI_T_ERR_INVALID, MPI_T_source_get_timestamp(0, NULL));
    FINE(MPI_T_event_get_num(&num));
    IS(MPI_T_ERR_INVALID, MPI_T_event_get_num(NULL));
    for (int wrong = -1; wrong <= num; wrong += num + 1) {
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_event_get_info(wrong, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        IS(MPI_T_ERR_INVALID_INDEX, MPI_T_event_handle_alloc(wrong, NULL, MPI_INFO_NULL, &r));
    }
    IS(MPI_T_ERR_INVALID_NAME, MPI_T_event_get_index("nothing of the kind", &n));
    IS(MPI_T_ERR_INVALID, MPI_T_event_get_index(NULL, &n));
    for (int i = 0; i < num; i++) {
        MPI_Datatype types[16];
        MPI_Aint places[16];
        elements = 0;
        /* No room: only how many there are. */
        FINE(MPI_T_event_get_info(i, text, (len = ROOM, &len), NULL, NULL, NULL, &elements, NULL, NULL, NULL, NULL, NULL));
        CHECK(elements > 0 && elements <= 16, "%s: %d", text, elements);
        FINE(MPI_T_event_get_index(text, &n));
        CHECK(n == i, "%s: %d", text, n);
        n = 16;
        FINE(MPI_T_event_get_info(i, NULL, NULL, NULL, types, places, &n, NULL, &info, NULL, NULL, &m));
        CHECK(n == elements && m == MPI_T_BIND_NO_OBJECT && places[0] == 0, "%s", text);
        for (int k = 0; k < n; k++) CHECK(types[k] == MPI_INT && (k == 0 || places[k] > places[k - 1]), "%s: element %d", text, k);
        FINE(MPI_Info_free(&info));
    }
    IS(MPI_T_ERR_INVALID, MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL));
    FINE(MPI_T_event_get_index("mpi_comm_created", &n));
    FINE(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &r));
    IS(MPI_T_ERR_INVALID, MPI_T_event_register_callback(r, (MPI_T_cb_safety)99, MPI_INFO_NULL, NULL, event_callback));
    IS(MPI_T_ERR_INVALID, MPI_T_event_callback_set_info(r, (MPI_T_cb_safety)99, MPI_INFO_NULL));
    IS(MPI_T_ERR_INVALID, MPI_T_event_callback_get_info(r, (MPI_T_cb_safety)99, &info));
    IS(MPI_T_ERR_INVALID, MPI_T_event_handle_get_info(r, NULL));
    FINE(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
    FINE(MPI_T_event_handle_get_info(r, &info));
    FINE(MPI_Info_free(&info));
    FINE(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info));
    FINE(MPI_Info_free(&info));
    FINE(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &called, counts));
    FINE(MPI_Comm_dup(MPI_COMM_SELF, &twin));
    FINE(MPI_Comm_free(&twin));
    CHECK(called == 1, "%d", called);
    /* A null function takes the callback away. */
    FINE(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, NULL));
    FINE(MPI_Comm_dup(MPI_COMM_SELF, &twin));
    FINE(MPI_Comm_free(&twin));
    CHECK(called == 1, "%d", called);
    gone = r;
    FINE(MPI_T_event_handle_free(r, NULL, NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_free(gone, NULL, NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_register_callback(gone, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, counts));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_set_dropped_handler(gone, drop_callback));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_set_info(gone, MPI_INFO_NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_handle_get_info(gone, &info));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_callback_set_info(gone, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_callback_get_info(gone, MPI_T_CB_REQUIRE_NONE, &info));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_read(never, 0, &n));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_copy(never, &n));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_get_timestamp(never, &ticks));
    IS(MPI_T_ERR_INVALID_HANDLE, MPI_T_event_get_source(never, &n));
}

int main(int argc, char **argv) {
    int provided = -1, rank, size;
    MPI_T_pvar_session session;
    not_in_use();
    IS(MPI_T_ERR_INVALID, MPI_T_init_thread(-5, &provided));
    IS(MPI_T_ERR_INVALID, MPI_T_init_thread(MPI_THREAD_SINGLE, NULL));
    not_in_use();
    FINE(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE, "%d", provided);
    begin(&argc, &argv, &rank, &size);
    texts();
    control_variables();
    performance_variables();
    categories();
    events_and_sources();
    /* The end takes what is left with it, and a new beginning does not bring it back. */
    FINE(MPI_T_pvar_session_create(&session));
    FINE(MPI_T_finalize());
    not_in_use();
    FINE(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    IS(MPI_T_ERR_INVALID_SESSION, MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES));
    texts();
    FINE(MPI_T_finalize());
    return end();
}
