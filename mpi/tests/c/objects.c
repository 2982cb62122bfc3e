/* Communicators, groups, info, attributes, datatypes, operations, in one process. */
#include "check.h"
#include <stddef.h>

static void info(void) {
    MPI_Info info, copy;
    char value[64], key[MPI_MAX_INFO_KEY];
    int flag, length, n;
    MPI_Info_create(&info);
    MPI_Info_set(info, "one", "1");
    MPI_Info_set(info, "two", "zwei");
    MPI_Info_set(info, "one", "uno");
    MPI_Info_get_nkeys(info, &n);
    CHECK(n == 2);
    MPI_Info_get_nthkey(info, 1, key);
    CHECK(strcmp(key, "two") == 0);
    length = 3;
    MPI_Info_get_string(info, "two", &length, value, &flag);
    CHECK(flag && length == 5 && strcmp(value, "zw") == 0);
    length = 0;
    MPI_Info_get_string(info, "two", &length, NULL, &flag);
    CHECK(flag && length == 5);
    MPI_Info_get(info, "one", 63, value, &flag);
    CHECK(flag && strcmp(value, "uno") == 0);
    MPI_Info_dup(info, &copy);
    MPI_Info_delete(info, "one");
    FAILS(MPI_ERR_INFO_NOKEY, MPI_Info_delete(info, "one"));
    MPI_Info_get_valuelen(copy, "one", &length, &flag);
    CHECK(flag && length == 3);
    MPI_Info_get(info, "one", 63, value, &flag);
    CHECK(!flag);
    FAILS(MPI_ERR_INFO_KEY, MPI_Info_set(info, "", "x"));
    MPI_Info_free(&info);
    MPI_Info_free(&copy);
    CHECK(info == MPI_INFO_NULL);
    MPI_Info_get(MPI_INFO_ENV, "maxprocs", 63, value, &flag);
    CHECK(flag && strcmp(value, "1") == 0);
}

static int copies, deletes;
static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag) {
    (void)comm, (void)keyval, (void)extra;
    copies++;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}
static int delete(MPI_Comm comm, int keyval, void *value, void *extra) {
    (void)comm, (void)keyval, (void)value;
    deletes++;
    ++*(int *)extra;
    return MPI_SUCCESS;
}

static void attributes(void) {
    int keyval, other, flag, extra = 0, *number;
    char here[4], *value;
    MPI_Comm a, b;
    MPI_Comm_create_keyval(copy, delete, &keyval, &extra);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &other, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &a);
    MPI_Comm_set_attr(a, keyval, here);
    MPI_Comm_set_attr(a, other, here);
    MPI_Comm_dup(a, &b);
    MPI_Comm_get_attr(b, keyval, &value, &flag);
    CHECK(flag && value == here + 1 && copies == 1);
    MPI_Comm_get_attr(b, other, &value, &flag);
    CHECK(!flag);
    MPI_Comm_set_attr(b, keyval, here);
    CHECK(deletes == 1);
    MPI_Comm_delete_attr(b, keyval);
    CHECK(deletes == 2 && extra == 2);
    MPI_Comm_free_keyval(&keyval);
    CHECK(keyval == MPI_KEYVAL_INVALID);
    MPI_Comm_free(&a);
    CHECK(deletes == 3); /* though the keyval is freed */
    MPI_Comm_free(&b);
    CHECK(deletes == 3);
    MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &number, &flag);
    CHECK(flag && *number >= 32767);
    FAILS(MPI_ERR_KEYVAL, MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, here));
}

static void groups(void) {
    MPI_Group world, none, again;
    int n, r, in[2] = {0, MPI_PROC_NULL}, out[2], ranges[1][3] = {{0, 0, 1}};
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_size(world, &n);
    MPI_Group_rank(world, &r);
    CHECK(n == 1 && r == 0);
    MPI_Group_difference(world, world, &none);
    CHECK(none == MPI_GROUP_EMPTY);
    MPI_Group_rank(none, &r);
    CHECK(r == MPI_UNDEFINED);
    MPI_Group_range_incl(world, 1, ranges, &again);
    MPI_Group_compare(world, again, &r);
    CHECK(r == MPI_IDENT);
    MPI_Group_translate_ranks(world, 2, in, again, out);
    CHECK(out[0] == 0 && out[1] == MPI_PROC_NULL);
    FAILS(MPI_ERR_RANK, MPI_Group_incl(world, 1, (int[]){1}, &none));
    MPI_Comm comm;
    MPI_Comm_create_group(MPI_COMM_WORLD, again, 3, &comm);
    MPI_Comm_compare(MPI_COMM_WORLD, comm, &r);
    CHECK(r == MPI_CONGRUENT);
    MPI_Comm_compare(comm, comm, &r);
    CHECK(r == MPI_IDENT);
    MPI_Comm_free(&comm);
    MPI_Comm_split(MPI_COMM_WORLD, MPI_UNDEFINED, 0, &comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
    MPI_Comm_size(comm, &n);
    CHECK(n == 1);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Comm_set_name(comm, "a name");
    MPI_Comm_get_name(comm, name, &n);
    CHECK(strcmp(name, "a name") == 0 && n == 6);
    MPI_Comm_get_name(MPI_COMM_WORLD, name, &n);
    CHECK(strcmp(name, "MPI_COMM_WORLD") == 0);
    MPI_Request request;
    MPI_Comm twin;
    MPI_Comm_idup(comm, &twin, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Comm_free(&twin);
    MPI_Comm_disconnect(&comm);
    CHECK(comm == MPI_COMM_NULL);
    MPI_Group_free(&world);
    MPI_Group_free(&again);
}

static void types(void) {
    MPI_Datatype column, block, pair, got[1];
    MPI_Aint lb, extent;
    int size, matrix[4][4], flat[4] = {0}, n, ni, na, nd, how, ints[3];
    MPI_Type_vector(4, 1, 4, MPI_INT, &column);
    MPI_Type_commit(&column);
    MPI_Type_size(column, &size);
    MPI_Type_get_extent(column, &lb, &extent);
    CHECK(size == 16 && lb == 0 && extent == 13 * 4);
    for (int i = 0; i < 16; i++) matrix[i / 4][i % 4] = i;
    MPI_Status s;
    MPI_Sendrecv(&matrix[0][1], 1, column, 0, 0, flat, 4, MPI_INT, 0, 0, MPI_COMM_SELF, &s);
    CHECK(flat[0] == 1 && flat[3] == 13);
    MPI_Get_count(&s, column, &n);
    CHECK(n == 1);
    MPI_Get_count(&s, MPI_DOUBLE_INT, &n);
    CHECK(n == MPI_UNDEFINED);
    MPI_Get_elements(&s, MPI_DOUBLE_INT, &n);
    CHECK(n == MPI_UNDEFINED); /* 12 bytes are two elements, 4 are half a double */
    MPI_Type_get_envelope(column, &ni, &na, &nd, &how);
    CHECK(ni == 3 && na == 0 && nd == 1 && how == MPI_COMBINER_VECTOR);
    MPI_Type_get_contents(column, 3, 0, 1, ints, NULL, got);
    CHECK(ints[0] == 4 && ints[1] == 1 && ints[2] == 4 && got[0] == MPI_INT);
    MPI_Type_create_hvector(2, 1, 64, column, &block);
    MPI_Type_free(&column);
    MPI_Type_get_contents(block, 2, 1, 1, ints, &extent, got);
    CHECK(ints[0] == 2 && extent == 64);
    MPI_Type_size(got[0], &size); /* lives on in what was made of it */
    CHECK(size == 16);
    MPI_Type_free(&got[0]);
    MPI_Type_dup(block, &pair);
    MPI_Type_get_envelope(pair, &ni, &na, &nd, &how);
    CHECK(how == MPI_COMBINER_DUP);
    MPI_Type_free(&pair);
    MPI_Type_free(&block);
    MPI_Type_indexed(2, (int[]){2, 1}, (int[]){3, 0}, MPI_INT, &block);
    MPI_Type_commit(&block);
    char buffer[64];
    int position = 0, back[4] = {0};
    MPI_Pack_size(1, block, MPI_COMM_SELF, &size);
    CHECK(size == 12);
    MPI_Pack(matrix[1], 1, block, buffer, sizeof buffer, &position, MPI_COMM_SELF);
    CHECK(position == 12);
    position = 0;
    MPI_Unpack(buffer, 12, &position, back, 3, MPI_INT, MPI_COMM_SELF);
    CHECK(back[0] == 7 && back[1] == 8 && back[2] == 4);
    MPI_Type_free(&block);
    char name[MPI_MAX_OBJECT_NAME];
    MPI_Type_get_name(MPI_DOUBLE, name, &n);
    CHECK(strcmp(name, "MPI_DOUBLE") == 0);
    struct { double value; int index; } di = {1, 2};
    MPI_Count large;
    MPI_Type_size_c(MPI_DOUBLE_INT, &large);
    MPI_Type_get_extent(MPI_DOUBLE_INT, &lb, &extent);
    CHECK(large == 12 && extent == (MPI_Aint)sizeof di);
}

static int user_calls;
static void user(void *in, void *inout, int *n, MPI_Datatype *type) {
    CHECK(*type == MPI_INT);
    for (int i = 0; i < *n; i++) ((int *)inout)[i] = 10 * ((int *)in)[i] + ((int *)inout)[i];
    user_calls++;
}

static void operations(void) {
    MPI_Op op;
    int a[2] = {1, 2}, b[2] = {3, 4}, flag;
    MPI_Op_create(user, 0, &op);
    MPI_Op_commutative(op, &flag);
    CHECK(!flag);
    MPI_Reduce_local(a, b, 2, MPI_INT, op);
    CHECK(b[0] == 13 && b[1] == 24 && user_calls == 1);
    MPI_Reduce_local(a, b, 2, MPI_INT, MPI_MAX);
    CHECK(b[0] == 13);
    MPI_Op_free(&op);
    CHECK(op == MPI_OP_NULL);
    FAILS(MPI_ERR_OP, MPI_Op_free(&(MPI_Op){MPI_SUM}));
    MPI_Allreduce(a, b, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    CHECK(b[0] == 1 && b[1] == 2);
    MPI_Allreduce(MPI_IN_PLACE, b, 2, MPI_INT, MPI_PROD, MPI_COMM_WORLD);
    CHECK(b[1] == 2);
    MPI_Reduce(MPI_IN_PLACE, b, 2, MPI_INT, MPI_PROD, 0, MPI_COMM_WORLD);
    MPI_Gather(MPI_IN_PLACE, 0, MPI_INT, b, 2, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Scatter(b, 2, MPI_INT, MPI_IN_PLACE, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, b, 2, MPI_INT, MPI_COMM_WORLD);
    MPI_Allgather(a, 1, MPI_INT, b, 1, MPI_INT, MPI_COMM_WORLD);
    MPI_Bcast(b, 2, MPI_INT, 0, MPI_COMM_WORLD);
    CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
    CHECK(b[0] == 1 && b[1] == 2);
}

static void others(void) {
    void *memory;
    MPI_Alloc_mem(100, MPI_INFO_NULL, &memory);
    CHECK(memory && (size_t)memory % 64 == 0);
    MPI_Free_mem(memory);
    double t = MPI_Wtime();
    CHECK(MPI_Wtime() >= t && MPI_Wtick() > 0 && MPI_Wtick() < 1e-3);
    int major, minor, length, provided;
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&major, &minor);
    CHECK(major == 5 && minor == 0);
    MPI_Abi_get_version(&major, &minor);
    CHECK(major == 1 && minor == 0);
    MPI_Get_library_version(text, &length);
    CHECK((int)strlen(text) == length && strstr(text, "oxmpi"));
    MPI_Query_thread(&provided);
    CHECK(provided >= MPI_THREAD_SINGLE);
    CHECK(MPI_Comm_fromint(MPI_Comm_toint(MPI_COMM_WORLD)) == MPI_COMM_WORLD);
    CHECK(MPI_Type_f2c(MPI_Type_c2f(MPI_INT)) == MPI_INT);
    int array[2];
    MPI_Aint a, b;
    MPI_Get_address(&array[0], &a);
    MPI_Get_address(&array[1], &b);
    CHECK(MPI_Aint_diff(b, a) == sizeof(int) && MPI_Aint_add(a, sizeof(int)) == b);
}

/* Functions that the other programs call with wrong arguments only. */
static void right_arguments(void) {
    char name[MPI_MAX_OBJECT_NAME], room[MPI_BSEND_OVERHEAD + 64];
    int length, size, flag, x = 7, bytes = 0, numbers[2] = {1, 2};
    void *back = NULL;
    MPI_Datatype type, real;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Session session;
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_set_name(type, "three") == MPI_SUCCESS);
    MPI_Type_get_name(type, name, &length);
    CHECK(length == 5 && strcmp(name, "three") == 0);
    MPI_Type_free(&type);
    CHECK(MPI_Type_match_size(MPI_TYPECLASS_REAL, 8, &real) == MPI_SUCCESS);
    MPI_Type_size(real, &size);
    CHECK(size == 8);
    CHECK(MPI_Isendrecv_replace_c(&x, 1, MPI_INT, 0, 5, 0, 5, MPI_COMM_SELF, &requests[0]) == MPI_SUCCESS);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    CHECK(x == 7);
    for (int i = 0; i < 2; i++) MPI_Irecv(&numbers[i], 1, MPI_INT, 0, 10 + i, MPI_COMM_SELF, &requests[i]);
    CHECK(MPI_Request_get_status_all(2, requests, &flag, statuses) == MPI_SUCCESS && !flag);
    for (int i = 0; i < 2; i++) MPI_Send(&(int){20 + i}, 1, MPI_INT, 0, 10 + i, MPI_COMM_SELF);
    do {
        CHECK(MPI_Request_get_status_all(2, requests, &flag, statuses) == MPI_SUCCESS);
    } while (!flag);
    CHECK(requests[0] != MPI_REQUEST_NULL && statuses[0].MPI_TAG == 10 && statuses[1].MPI_TAG == 11);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK(numbers[0] == 20 && numbers[1] == 21);
    MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session);
    CHECK(MPI_Session_attach_buffer(session, room, sizeof room) == MPI_SUCCESS);
    CHECK(MPI_Session_detach_buffer(session, &back, &bytes) == MPI_SUCCESS);
    CHECK(back == room && bytes == (int)sizeof room);
    MPI_Session_finalize(&session);
}

int main(int argc, char **argv) {
    int flag;
    MPI_Initialized(&flag);
    CHECK(!flag);
    MPI_Init(&argc, &argv);
    MPI_Initialized(&flag);
    CHECK(flag);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    info();
    right_arguments();
    attributes();
    groups();
    types();
    operations();
    others();
    return finish();
}
