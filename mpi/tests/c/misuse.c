/* Each wrong argument of each function on communicators, groups, info, attributes, error handlers, codes, datatypes, operations and
 * statuses has its class; and what those objects owe each other when they are freed, nested or removed. */
#include "check.h"

static int x, n, flag;
static MPI_Comm c;
static MPI_Group g, world;
static MPI_Request r;
static MPI_Datatype t;
static MPI_Info info;
static char text[4096];

static void communicators(void) {
    const MPI_Comm none = MPI_COMM_NULL;
    FAILS(MPI_ERR_COMM, MPI_Comm_size(none, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_rank(none, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_compare(none, MPI_COMM_SELF, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_compare(MPI_COMM_SELF, none, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_group(none, &g));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup(none, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_idup(none, &c, &r));
    FAILS(MPI_ERR_COMM, MPI_Comm_dup_with_info(none, MPI_INFO_NULL, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_split(none, 0, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_split_type(none, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_create(none, world, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_create_group(none, world, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Comm_test_inter(none, &flag));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(none, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_name(none, "x"));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_info(none, MPI_INFO_NULL));
    FAILS(MPI_ERR_COMM, MPI_Comm_get_info(none, &info));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_errhandler(none, MPI_ERRORS_RETURN));
    FAILS(MPI_ERR_COMM, MPI_Comm_call_errhandler(none, MPI_ERR_OTHER));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_create(none, 0, MPI_COMM_SELF, 0, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(none, 0, &c));
    FAILS(MPI_ERR_COMM, MPI_Intercomm_merge(MPI_COMM_SELF, 0, &c)); /* not an inter-communicator */
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_size(MPI_COMM_SELF, &x));
    FAILS(MPI_ERR_COMM, MPI_Comm_remote_group(MPI_COMM_SELF, &g));
    FAILS(MPI_ERR_COMM, MPI_Comm_free(&(MPI_Comm){MPI_COMM_SELF}));
    FAILS(MPI_ERR_COMM, MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_WORLD}));
    FAILS(MPI_ERR_COMM, MPI_Comm_disconnect(&(MPI_Comm){MPI_COMM_NULL}));
    FAILS(MPI_ERR_ARG, MPI_Comm_rank(MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_dup(MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_idup(MPI_COMM_SELF, &c, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_SELF, 0, 0, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_split(MPI_COMM_SELF, -5, 0, &c));
    FAILS(MPI_ERR_ARG, MPI_Comm_split_type(MPI_COMM_SELF, 12345, 0, MPI_INFO_NULL, &c));
    FAILS(MPI_ERR_ARG, MPI_Comm_set_name(MPI_COMM_SELF, NULL));
    FAILS(MPI_ERR_ARG, MPI_Comm_get_name(MPI_COMM_SELF, NULL, &n));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create(MPI_COMM_SELF, MPI_GROUP_NULL, &c));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_group(MPI_COMM_SELF, MPI_GROUP_NULL, 0, &c));
    FAILS(MPI_ERR_TAG, MPI_Comm_create_group(MPI_COMM_SELF, world, -1, &c));
    FAILS(MPI_ERR_TAG, MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 0, -1, &c));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_SELF, 1, MPI_COMM_WORLD, 0, 0, &c));
    FAILS(MPI_ERR_RANK, MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 7, 0, &c));
    FAILS(MPI_ERR_INFO, MPI_Comm_dup_with_info(MPI_COMM_SELF, (MPI_Info)9, &c));
    FAILS(MPI_ERR_INFO, MPI_Comm_set_info(MPI_COMM_SELF, (MPI_Info)9));
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRHANDLER_NULL));
    FAILS(MPI_ERR_GROUP, MPI_Comm_create_from_group(MPI_GROUP_NULL, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    memset(text, 'x', sizeof text - 1);
    FAILS(MPI_ERR_ARG, MPI_Comm_create_from_group(world, text, MPI_INFO_NULL, MPI_ERRORS_RETURN, &c));
    CHECK(c == MPI_COMM_NULL && r == MPI_REQUEST_NULL);
}

static void groups(void) {
    const MPI_Group none = MPI_GROUP_NULL;
    int zero = 0, two[] = {0, 0}, out[2], ranges[1][3] = {{0, 3, 1}}, still[1][3] = {{0, 0, 0}};
    FAILS(MPI_ERR_GROUP, MPI_Group_size(none, &x));
    FAILS(MPI_ERR_GROUP, MPI_Group_rank(none, &x));
    FAILS(MPI_ERR_GROUP, MPI_Group_compare(none, world, &x));
    FAILS(MPI_ERR_GROUP, MPI_Group_union(world, none, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_intersection(none, world, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_difference(world, none, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_incl(none, 1, &zero, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_excl(none, 1, &zero, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_range_incl(none, 1, ranges, &g));
    FAILS(MPI_ERR_GROUP, MPI_Group_translate_ranks(world, 1, &zero, none, out));
    FAILS(MPI_ERR_GROUP, MPI_Group_free(&(MPI_Group){MPI_GROUP_NULL}));
    FAILS(MPI_ERR_ARG, MPI_Group_size(world, NULL));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, -1, &zero, &g));
    FAILS(MPI_ERR_ARG, MPI_Group_excl(world, -1, &zero, &g));
    FAILS(MPI_ERR_ARG, MPI_Group_translate_ranks(world, -1, &zero, world, out));
    FAILS(MPI_ERR_ARG, MPI_Group_incl(world, 1, NULL, &g));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, (int[]){9}, &g));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 2, two, &g)); /* twice the same */
    FAILS(MPI_ERR_RANK, MPI_Group_excl(world, 1, (int[]){-3}, &g));
    FAILS(MPI_ERR_RANK, MPI_Group_range_incl(world, 1, ranges, &g));
    FAILS(MPI_ERR_ARG, MPI_Group_range_incl(world, 1, still, &g));
    FAILS(MPI_ERR_RANK, MPI_Group_translate_ranks(world, 1, (int[]){9}, world, out));
    CHECK(g == MPI_GROUP_NULL);
}

static void infos(void) {
    MPI_Info made, copy = MPI_INFO_NULL;
    char key[MPI_MAX_INFO_KEY + 9], value[MPI_MAX_INFO_VAL + 9];
    memset(key, 'k', sizeof key - 1), key[sizeof key - 1] = 0;
    memset(value, 'v', sizeof value - 1), value[sizeof value - 1] = 0;
    MPI_Info_create(&made);
    FAILS(MPI_ERR_INFO, MPI_Info_set(MPI_INFO_NULL, "k", "v"));
    FAILS(MPI_ERR_INFO, MPI_Info_dup(MPI_INFO_NULL, &copy));
    FAILS(MPI_ERR_INFO, MPI_Info_free(&copy));
    FAILS(MPI_ERR_INFO, MPI_Info_delete(MPI_INFO_NULL, "k"));
    FAILS(MPI_ERR_INFO, MPI_Info_get_nkeys(MPI_INFO_NULL, &n));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(made, key, "v"));
    FAILS(MPI_ERR_ARG, MPI_Info_set(made, NULL, "v"));
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_get_string(made, key, &n, value, &flag));
    FAILS(MPI_ERR_INFO_VALUE, MPI_Info_set(made, "k", value));
    FAILS(MPI_ERR_ARG, MPI_Info_set(made, "k", NULL));
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(made, "absent"));
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(made, 0, key));
    FAILS(MPI_ERR_ARG, MPI_Info_get_nthkey(made, -1, key));
    FAILS(MPI_ERR_ARG, MPI_Info_create(NULL));
    /* In the order in which keys came; the longest that are allowed. */
    for (int i = 0; i < 300; i++) {
        char name[16];
        sprintf(name, "key%d", i * 7 % 300);
        MPI_Info_set(made, name, name);
    }
    MPI_Info_delete(made, "key7");
    MPI_Info_set(made, "key14", "again");
    MPI_Info_dup(made, &copy);
    for (int i = 0; i < 299; i++) {
        char name[16], got[MPI_MAX_INFO_KEY];
        int place = i < 1 ? i : i + 1;
        sprintf(name, "key%d", place * 7 % 300);
        MPI_Info_get_nthkey(copy, i, got);
        CHECK(strcmp(got, name) == 0);
    }
    key[MPI_MAX_INFO_KEY - 1] = value[MPI_MAX_INFO_VAL - 1] = 0;
    CHECK(MPI_Info_set(made, key, value) == MPI_SUCCESS);
    MPI_Info_get(made, key, MPI_MAX_INFO_VAL - 1, text, &flag);
    CHECK(flag && strcmp(text, value) == 0);
    MPI_Info_free(&made);
    MPI_Info_free(&copy);
}

static int order[16], set;
static int deleted(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)extra;
    order[set++] = *(int *)value;
    if (set == 3) CHECK(order[0] == 12 && order[1] == 11 && order[2] == 10);
    return MPI_SUCCESS;
}
static int ended(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value, (void)extra;
    CHECK(set == 3); /* set first, so deleted last */
    return MPI_SUCCESS;
}
static int refuses(MPI_Comm comm, int key, void *value, void *extra) {
    (void)comm, (void)key, (void)value;
    return *(int *)extra;
}
static int refuses_copy(MPI_Comm comm, int key, void *extra, void *in, void *out, int *yes) {
    (void)comm, (void)key, (void)in, (void)out;
    *yes = 0;
    return *(int *)extra;
}

static void attributes(void) {
    int key, comm_key, type_key, code = MPI_SUCCESS, values[4] = {0, 1, 2, 3}, keys[3];
    void *value;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &comm_key, NULL);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &type_key, NULL);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, values));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_get_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID, &value, &flag));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_delete_attr(MPI_COMM_SELF, MPI_KEYVAL_INVALID));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_SELF, type_key, values));
    FAILS(MPI_ERR_KEYVAL, MPI_Type_set_attr(MPI_INT, comm_key, values));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&type_key));
    FAILS(MPI_ERR_KEYVAL, MPI_Type_free_keyval(&comm_key));
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_free_keyval(&(int){MPI_TAG_UB}));
    FAILS(MPI_ERR_COMM, MPI_Comm_set_attr(MPI_COMM_NULL, comm_key, values));
    FAILS(MPI_ERR_TYPE, MPI_Type_set_attr(MPI_DATATYPE_NULL, type_key, values));
    FAILS(MPI_ERR_ARG, MPI_Comm_get_attr(MPI_COMM_SELF, comm_key, NULL, &flag));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, NULL, NULL));
    /* A callback that says no: what it was called for does not happen, and its code comes back. */
    MPI_Comm_create_keyval(refuses_copy, refuses, &key, &code);
    MPI_Comm parent, child = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_SELF, &parent);
    MPI_Comm_set_attr(parent, key, values);
    code = MPI_ERR_OTHER;
    FAILS(MPI_ERR_OTHER, MPI_Comm_dup(parent, &child));
    CHECK(child == MPI_COMM_NULL);
    FAILS(MPI_ERR_OTHER, MPI_Comm_delete_attr(parent, key));
    FAILS(MPI_ERR_OTHER, MPI_Comm_set_attr(parent, key, values + 1));
    MPI_Comm_get_attr(parent, key, &value, &flag);
    CHECK(flag && value == values);
    FAILS(MPI_ERR_OTHER, MPI_Comm_free(&parent));
    CHECK(parent != MPI_COMM_NULL);
    code = MPI_SUCCESS;
    CHECK(MPI_Comm_free(&parent) == MPI_SUCCESS);
    MPI_Comm_free_keyval(&key);
    MPI_Comm_free_keyval(&comm_key);
    MPI_Type_free_keyval(&type_key);
    CHECK(comm_key == MPI_KEYVAL_INVALID);
    /* For the end: those of MPI_COMM_SELF go in reverse order of setting, before anything else (§11.2.4). */
    static int last[] = {10, 11, 12};
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, ended, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, last);
    MPI_Comm_free_keyval(&key);
    for (int i = 0; i < 3; i++) MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keys[i], NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[1], &last[0]);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[2], &last[1]);
    MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], &last[2]);
    for (int i = 0; i < 3; i++) MPI_Comm_free_keyval(&keys[i]);
}

static MPI_Comm heard_on;
static int depth, heard[4];
static void outer(MPI_Comm *comm, int *code, ...) {
    heard_on = *comm;
    MPI_Error_class(*code, &heard[0]);
    depth++;
    if (depth < 3) {
        /* An error inside of a handler, on the same communicator. */
        MPI_Send(&x, 1, MPI_INT, 99, 0, *comm);
    }
}
static void inner(MPI_Comm *comm, int *code, ...) {
    MPI_Errhandler mine;
    MPI_Comm_get_errhandler(*comm, &mine);
    /* Replaced, and freed, while it runs. */
    MPI_Comm_set_errhandler(*comm, MPI_ERRORS_RETURN);
    MPI_Errhandler_free(&mine);
    MPI_Error_class(*code, &heard[1]);
}

static void handlers(void) {
    MPI_Errhandler one, got = MPI_ERRHANDLER_NULL, session;
    MPI_Comm_create_errhandler(outer, &one);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Errhandler_free(&got));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_errhandler(NULL, &got));
    FAILS(MPI_ERR_ARG, MPI_Comm_create_errhandler(outer, NULL));
    MPI_Session_create_errhandler((MPI_Session_errhandler_function *)outer, &session);
    FAILS(MPI_ERR_ERRHANDLER, MPI_Comm_set_errhandler(MPI_COMM_SELF, session)); /* of another kind of object */
    MPI_Errhandler_free(&session);
    MPI_Comm_dup(MPI_COMM_SELF, &c);
    MPI_Comm_set_errhandler(c, one);
    MPI_Errhandler_free(&one);
    FAILS(MPI_ERR_RANK, MPI_Send(&x, 1, MPI_INT, 42, 0, c));
    CHECK(depth == 3 && heard[0] == MPI_ERR_RANK && heard_on == c);
    MPI_Comm_create_errhandler(inner, &one);
    MPI_Comm_set_errhandler(c, one);
    MPI_Errhandler_free(&one);
    FAILS(MPI_ERR_TAG, MPI_Send(&x, 1, MPI_INT, 0, -42, c));
    CHECK(heard[1] == MPI_ERR_TAG);
    MPI_Comm_get_errhandler(c, &got);
    CHECK(got == MPI_ERRORS_RETURN);
    FAILS(MPI_ERR_TAG, MPI_Send(&x, 1, MPI_INT, 0, -42, c));
    MPI_Comm_free(&c);
}

static void codes(void) {
    int class, other, code, back, length, last, *used;
    MPI_Add_error_class(&class);
    MPI_Add_error_class(&other);
    MPI_Add_error_code(class, &code);
    MPI_Add_error_string(class, "a class");
    MPI_Add_error_string(code, "a code");
    MPI_Error_string(code, text, &length);
    CHECK(strcmp(text, "a code") == 0 && length == 6);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &used, &flag);
    last = *used;
    CHECK(flag && last >= code && last >= other);
    FAILS(MPI_ERR_ARG, MPI_Add_error_string(MPI_ERR_RANK, "not yours"));
    FAILS(MPI_ERR_ARG, MPI_Add_error_string(last + 1000, "nobody's"));
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(last + 1000, &back));
    FAILS(MPI_ERR_ARG, MPI_Error_class(last + 1000, &back));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_class(MPI_ERR_RANK));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(MPI_ERR_RANK));
    FAILS(MPI_ERR_ARG, MPI_Remove_error_string(MPI_ERR_RANK));
    CHECK(MPI_Remove_error_string(code) == MPI_SUCCESS);
    MPI_Error_string(code, text, &length);
    CHECK(length == 0 && text[0] == 0);
    CHECK(MPI_Remove_error_class(class) != MPI_SUCCESS); /* a code is in it */
    CHECK(MPI_Remove_error_code(code) == MPI_SUCCESS && MPI_Remove_error_string(class) == MPI_SUCCESS);
    FAILS(MPI_ERR_ARG, MPI_Remove_error_code(code));
    CHECK(MPI_Remove_error_class(class) == MPI_SUCCESS && MPI_Remove_error_class(other) == MPI_SUCCESS);
    FAILS(MPI_ERR_ARG, MPI_Add_error_code(class, &back));
    FAILS(MPI_ERR_ARG, MPI_Add_error_class(NULL));
    /* A handler's user may raise any code, and MPI_ERRORS_RETURN gives it back. */
    CHECK(MPI_Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_IO) == MPI_SUCCESS);
}

static void datatypes(void) {
    const MPI_Datatype none = MPI_DATATYPE_NULL;
    MPI_Aint far[] = {0, 8};
    int ones[] = {1, 1}, minus[] = {1, -1}, position = 0;
    MPI_Datatype two[] = {MPI_INT, MPI_DATATYPE_NULL};
    FAILS(MPI_ERR_TYPE, MPI_Type_size(none, &x));
    FAILS(MPI_ERR_TYPE, MPI_Type_dup(none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_commit(&(MPI_Datatype){MPI_DATATYPE_NULL}));
    FAILS(MPI_ERR_TYPE, MPI_Type_vector(1, 1, 1, none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_hvector(1, 1, 1, none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_indexed(2, ones, ones, none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_hindexed(2, ones, far, none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_indexed_block(2, 1, ones, none, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_struct(2, ones, far, two, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_create_resized(none, 0, 1, &t));
    FAILS(MPI_ERR_TYPE, MPI_Type_set_name(none, "x"));
    FAILS(MPI_ERR_COUNT, MPI_Type_vector(-1, 1, 1, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_vector(1, -1, 1, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_indexed(-1, ones, ones, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_indexed(2, minus, ones, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_indexed(2, ones, NULL, MPI_INT, &t));
    FAILS(MPI_ERR_COUNT, MPI_Type_create_hindexed_block(1, -1, far, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_contiguous(1, MPI_INT, NULL));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(0, ones, ones, ones, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, ones, (int[]){2}, (int[]){0}, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, ones, ones, (int[]){1}, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_create_subarray(1, ones, ones, (int[]){0}, 77, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_create_darray(1, 5, 1, ones, (int[]){MPI_DISTRIBUTE_BLOCK}, (int[]){MPI_DISTRIBUTE_DFLT_DARG}, ones, MPI_ORDER_C, MPI_INT, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_match_size(77, 4, &t));
    FAILS(MPI_ERR_ARG, MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t));
    FAILS(MPI_ERR_COUNT, MPI_Pack(&x, -1, MPI_INT, text, 10, &position, MPI_COMM_SELF));
    FAILS(MPI_ERR_TYPE, MPI_Pack(&x, 1, none, text, 10, &position, MPI_COMM_SELF));
    FAILS(MPI_ERR_COMM, MPI_Pack(&x, 1, MPI_INT, text, 10, &position, MPI_COMM_NULL));
    FAILS(MPI_ERR_TRUNCATE, MPI_Pack(&x, 1, MPI_INT, text, 3, &position, MPI_COMM_SELF));
    FAILS(MPI_ERR_TRUNCATE, MPI_Unpack(text, 3, &position, &x, 1, MPI_INT, MPI_COMM_SELF));
    FAILS(MPI_ERR_ARG, MPI_Pack(&x, 1, MPI_INT, text, 10, NULL, MPI_COMM_SELF));
    FAILS(MPI_ERR_COUNT, MPI_Pack_size(-1, MPI_INT, MPI_COMM_SELF, &x));
    CHECK(t == MPI_DATATYPE_NULL && position == 0);
}

static void add(void *in, void *inout, int *count, MPI_Datatype *type) { (void)in, (void)inout, (void)count, (void)type; }

static void operations(void) {
    MPI_Op op = MPI_OP_NULL;
    FAILS(MPI_ERR_ARG, MPI_Op_create(NULL, 1, &op));
    FAILS(MPI_ERR_ARG, MPI_Op_create(add, 1, NULL));
    FAILS(MPI_ERR_OP, MPI_Op_free(&op));
    FAILS(MPI_ERR_OP, MPI_Op_commutative(op, &flag));
    FAILS(MPI_ERR_ARG, MPI_Op_commutative(MPI_SUM, NULL));
    FAILS(MPI_ERR_OP, MPI_Op_free(&(MPI_Op){MPI_MAXLOC}));
}

/* Handles as Fortran has them, and back; a number that is no handle is one that every function refuses. */
static void numbers(void) {
    MPI_Comm comm;
    MPI_Errhandler e;
    MPI_Op op;
    MPI_Status s, u;
    MPI_Fint f[sizeof(MPI_Status) / sizeof(MPI_Fint)];
    MPI_Comm_dup(MPI_COMM_SELF, &comm);
    MPI_Comm_create_errhandler(outer, &e);
    MPI_Op_create(add, 0, &op);
    MPI_Type_contiguous(2, MPI_INT, &t);
    MPI_Info_create(&info);
    MPI_Irecv(&x, 1, MPI_INT, 0, 1, comm, &r);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(comm)) == comm && MPI_Group_f2c(MPI_Group_c2f(world)) == world);
    CHECK(MPI_Errhandler_f2c(MPI_Errhandler_c2f(e)) == e && MPI_Op_f2c(MPI_Op_c2f(op)) == op);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(t)) == t && MPI_Info_f2c(MPI_Info_c2f(info)) == info);
    CHECK(MPI_Request_f2c(MPI_Request_c2f(r)) == r && MPI_Win_f2c(MPI_Win_c2f(MPI_WIN_NULL)) == MPI_WIN_NULL);
    CHECK(MPI_Message_f2c(MPI_Message_c2f(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC);
    CHECK(MPI_Session_f2c(MPI_Session_c2f(MPI_SESSION_NULL)) == MPI_SESSION_NULL);
    CHECK(MPI_File_f2c(MPI_File_c2f(MPI_FILE_NULL)) == MPI_FILE_NULL);
    CHECK(MPI_Comm_f2c(MPI_Comm_c2f(MPI_COMM_NULL)) == MPI_COMM_NULL && MPI_Op_f2c(MPI_Op_c2f(MPI_SUM)) == MPI_SUM);
    FAILS(MPI_ERR_COMM, MPI_Comm_size(MPI_Comm_f2c(123456789), &x));
    MPI_Cancel(&r);
    MPI_Wait(&r, &s);
    MPI_Status_set_source(&s, 5), MPI_Status_set_tag(&s, 6), MPI_Status_set_error(&s, 7);
    CHECK(MPI_Status_c2f(&s, f) == MPI_SUCCESS && MPI_Status_f2c(f, &u) == MPI_SUCCESS);
    MPI_Test_cancelled(&u, &flag);
    CHECK(flag && u.MPI_SOURCE == 5 && u.MPI_TAG == 6 && u.MPI_ERROR == 7);
    MPI_Comm_free(&comm), MPI_Errhandler_free(&e), MPI_Op_free(&op), MPI_Type_free(&t), MPI_Info_free(&info);
}

int main(void) {
    MPI_Init(NULL, NULL);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    c = MPI_COMM_NULL, g = MPI_GROUP_NULL, r = MPI_REQUEST_NULL, t = MPI_DATATYPE_NULL, info = MPI_INFO_NULL;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    communicators();
    groups();
    infos();
    attributes();
    handlers();
    codes();
    datatypes();
    operations();
    numbers();
    MPI_Group_free(&world);
    return finish();
}
