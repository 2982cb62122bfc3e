/* Functions that no other program calls by name: large counts, integers for handles, deprecated attributes, and questions. */
#include "check.h"

static void handles(void) {
    CHECK(MPI_Errhandler_fromint(MPI_Errhandler_toint(MPI_ERRORS_RETURN)) == MPI_ERRORS_RETURN, "errhandler");
    CHECK(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "file");
    CHECK(MPI_Message_fromint(MPI_Message_toint(MPI_MESSAGE_NO_PROC)) == MPI_MESSAGE_NO_PROC, "message");
    CHECK(MPI_Session_fromint(MPI_Session_toint(MPI_SESSION_NULL)) == MPI_SESSION_NULL, "session");
    CHECK(MPI_Win_fromint(MPI_Win_toint(MPI_WIN_NULL)) == MPI_WIN_NULL, "window");
    CHECK(MPI_Op_fromint(MPI_Op_toint(MPI_SUM)) == MPI_SUM, "op");
    MPI_Group group;
    MPI_Comm_group(MPI_COMM_WORLD, &group);
    CHECK(MPI_Group_fromint(MPI_Group_toint(group)) == group, "group");
    int ranges[1][3] = {{0, 0, 1}}, size, left;
    MPI_Group but_first;
    MPI_Group_size(group, &size);
    MPI_Group_range_excl(group, 1, ranges, &but_first);
    MPI_Group_size(but_first, &left);
    CHECK(left == size - 1, "%d of %d", left, size);
    MPI_Group_free(&but_first);
    MPI_Group_free(&group);
    MPI_Info info;
    MPI_Info_create(&info);
    CHECK(MPI_Info_fromint(MPI_Info_toint(info)) == info, "info");
    MPI_Info_free(&info);
    MPI_Datatype type;
    MPI_Type_contiguous(3, MPI_INT, &type);
    CHECK(MPI_Type_fromint(MPI_Type_toint(type)) == type, "type");
    MPI_Type_free(&type);
    int word;
    MPI_Request request;
    MPI_Irecv(&word, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    CHECK(MPI_Request_fromint(MPI_Request_toint(request)) == request, "request");
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void questions(int argc, char **argv) {
    int flag;
    MPI_Comm parent;
    MPI_Info info;
    MPI_Is_thread_main(&flag);
    CHECK(flag, "the thread that called MPI_Init");
    MPI_Comm_get_parent(&parent);
    CHECK(parent == MPI_COMM_NULL, "nobody has spawned us");
    MPI_Get_hw_resource_info(&info);
    MPI_Info_get_nkeys(info, &flag);
    CHECK(flag > 0, "no kinds of hardware");
    MPI_Info_free(&info);
    MPI_Info_create_env(argc, argv, &info);
    char value[4096];
    int length = sizeof value;
    MPI_Info_get_string(info, "command", &length, value, &flag);
    CHECK(flag && strcmp(value, argv[0]) == 0, "%s", value);
    MPI_Info_free(&info);
}

static void attributes(void) {
    static int mine = 5;
    int key, flag, *found;
    MPI_Keyval_create(MPI_NULL_COPY_FN, MPI_NULL_DELETE_FN, &key, NULL);
    MPI_Attr_put(MPI_COMM_WORLD, key, &mine);
    MPI_Attr_get(MPI_COMM_WORLD, key, &found, &flag);
    CHECK(flag && found == &mine, "what was put");
    MPI_Attr_delete(MPI_COMM_WORLD, key);
    MPI_Attr_get(MPI_COMM_WORLD, key, &found, &flag);
    CHECK(!flag, "what was deleted");
    MPI_Keyval_free(&key);
    CHECK(key == MPI_KEYVAL_INVALID, "%d", key);
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
    MPI_Type_set_attr(MPI_INT, key, &mine);
    MPI_Type_get_attr(MPI_INT, key, &found, &flag);
    CHECK(flag && found == &mine, "what was set");
    MPI_Type_delete_attr(MPI_INT, key);
    MPI_Type_get_attr(MPI_INT, key, &found, &flag);
    CHECK(!flag, "what was deleted");
    MPI_Type_free_keyval(&key);
}

static void layouts(void) {
    MPI_Datatype type, small;
    MPI_Count lb, extent, size, n;
    MPI_Status status = {0};
    MPI_Type_vector(3, 1, 2, MPI_INT, &small);
    MPI_Type_create_resized(small, -4, 40, &type);
    MPI_Type_get_extent_c(type, &lb, &extent);
    CHECK(lb == -4 && extent == 40, "%ld %ld", (long)lb, (long)extent);
    MPI_Type_get_extent_x(type, &lb, &extent);
    CHECK(lb == -4 && extent == 40, "%ld %ld", (long)lb, (long)extent);
    MPI_Type_get_true_extent_c(type, &lb, &extent);
    CHECK(lb == 0 && extent == 20, "%ld %ld", (long)lb, (long)extent);
    MPI_Type_get_true_extent_x(type, &lb, &extent);
    CHECK(lb == 0 && extent == 20, "%ld %ld", (long)lb, (long)extent);
    MPI_Type_size_x(type, &size);
    CHECK(size == 12, "%ld", (long)size);
    MPI_Status_set_elements_x(&status, MPI_INT, 7);
    MPI_Get_elements_x(&status, MPI_INT, &n);
    CHECK(n == 7, "%ld", (long)n);
    MPI_Type_commit(&type);
    int from[6] = {1, 0, 2, 0, 3, 0}, to[6] = {0};
    char packed[64];
    MPI_Count room, at = 0;
    MPI_Pack_size_c(1, type, MPI_COMM_WORLD, &room);
    CHECK(room >= 12 && room <= 64, "%ld", (long)room);
    MPI_Pack_c(from, 1, type, packed, sizeof packed, &at, MPI_COMM_WORLD);
    CHECK(at == 12, "%ld", (long)at);
    at = 0;
    MPI_Unpack_c(packed, sizeof packed, &at, to, 1, type, MPI_COMM_WORLD);
    CHECK(memcmp(from, to, sizeof from) == 0, "what was packed");
    MPI_Pack_external_size_c("external32", 1, type, &room);
    CHECK(room == 12, "%ld", (long)room);
    memset(to, 0, sizeof to);
    at = 0;
    MPI_Pack_external_c("external32", from, 1, type, packed, sizeof packed, &at);
    CHECK(at == 12 && packed[3] == 1, "%ld", (long)at);
    at = 0;
    MPI_Unpack_external_c("external32", packed, sizeof packed, &at, to, 1, type);
    CHECK(memcmp(from, to, sizeof from) == 0, "what was packed");
    MPI_Type_free(&type);
    MPI_Type_free(&small);
}

static void came(int got, const MPI_Status *status, int source, int tag) {
    int is, was, error;
    MPI_Status_get_source((MPI_Status *)status, &is);
    MPI_Status_get_tag((MPI_Status *)status, &was);
    MPI_Status_get_error((MPI_Status *)status, &error);
    CHECK(is == source && was == tag && got == tag, "%d from %d with %d, not %d", got, is, was, tag);
}

static void messages(int rank, int size) {
    int right = (rank + 1) % size, left = (rank + size - 1) % size, out, in = -1;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Request requests[2];
    MPI_Status status;
    static char room[4096];
    MPI_Buffer_attach_c(room, sizeof room);
    for (int tag = 1; tag <= 12; tag++) {
        out = tag, in = -1;
        requests[1] = MPI_REQUEST_NULL;
        if (tag == 12) MPI_Recv_init_c(&in, 1, MPI_INT, left, tag, comm, requests), MPI_Start(requests);
        else MPI_Irecv(&in, 1, MPI_INT, left, tag, comm, requests);
        MPI_Barrier(comm);
        switch (tag) {
        case 1: MPI_Rsend_c(&out, 1, MPI_INT, right, tag, comm); break;
        case 2: MPI_Irsend_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 3: MPI_Rsend_init_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 4: MPI_Send_init_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 5: MPI_Ssend_c(&out, 1, MPI_INT, right, tag, comm); break;
        case 6: MPI_Issend_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 7: MPI_Ssend_init_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 8: MPI_Bsend_c(&out, 1, MPI_INT, right, tag, comm); break;
        case 9: MPI_Ibsend_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        case 10: MPI_Bsend_init_c(&out, 1, MPI_INT, right, tag, comm, requests + 1); break;
        default: MPI_Send_c(&out, 1, MPI_INT, right, tag, comm); break;
        }
        int starts = tag == 3 || tag == 4 || tag == 7 || tag == 10;
        if (starts) MPI_Start(requests + 1);
        MPI_Wait(requests, &status);
        MPI_Wait(requests + 1, MPI_STATUS_IGNORE);
        if (starts) MPI_Request_free(requests + 1);
        if (tag == 12) MPI_Request_free(requests);
        came(in, &status, left, tag);
    }
    MPI_Buffer_detach(&(void *){NULL}, &(int){0});
    out = 20, in = -1;
    MPI_Sendrecv_c(&out, 1, MPI_INT, right, 20, &in, 1, MPI_INT, left, 20, comm, &status);
    came(in, &status, left, 20);
    out = 21;
    MPI_Sendrecv_replace_c(&out, 1, MPI_INT, right, 21, left, 21, comm, &status);
    came(out, &status, left, 21);
    out = 22, in = -1;
    MPI_Isendrecv_c(&out, 1, MPI_INT, right, 22, &in, 1, MPI_INT, left, 22, comm, requests);
    MPI_Wait(requests, &status);
    came(in, &status, left, 22);
    MPI_Message message;
    for (int tag = 23; tag <= 24; tag++) {
        MPI_Isend(&tag, 1, MPI_INT, right, tag, comm, requests);
        MPI_Mprobe(left, tag, comm, &message, MPI_STATUS_IGNORE);
        if (tag == 23) MPI_Mrecv_c(&in, 1, MPI_INT, &message, &status);
        else MPI_Imrecv_c(&in, 1, MPI_INT, &message, requests + 1), MPI_Wait(requests + 1, &status);
        came(in, &status, left, tag);
        MPI_Wait(requests, MPI_STATUS_IGNORE);
    }
}

static void add(void *in, void *inout, MPI_Count *n, MPI_Datatype *type) {
    (void)type;
    for (MPI_Count i = 0; i < *n; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void collectives(int rank, int size) {
    MPI_Comm comm = MPI_COMM_WORLD;
    int *all = need(sizeof(int) * (size_t)size * 2), one = rank + 1, in = -1, sum = size * (size + 1) / 2;
    int *mine = need(sizeof(int) * (size_t)size * 2);
    MPI_Op op;
    MPI_Op_create_c(add, 1, &op);
    in = rank == 0 ? 42 : 0;
    MPI_Bcast_c(&in, 1, MPI_INT, 0, comm);
    CHECK(in == 42, "%d", in);
    MPI_Allgather_c(&one, 1, MPI_INT, all, 1, MPI_INT, comm);
    for (int i = 0; i < size; i++) CHECK(all[i] == i + 1, "%d", all[i]);
    MPI_Gather_c(&one, 1, MPI_INT, mine, 1, MPI_INT, 0, comm);
    if (rank == 0) CHECK(memcmp(all, mine, sizeof(int) * (size_t)size) == 0, "gathered");
    MPI_Scatter_c(all, 1, MPI_INT, &in, 1, MPI_INT, 0, comm);
    CHECK(in == rank + 1, "%d", in);
    MPI_Allreduce_c(&one, &in, 1, MPI_INT, op, comm);
    CHECK(in == sum, "%d", in);
    in = -1;
    MPI_Reduce_c(&one, &in, 1, MPI_INT, MPI_SUM, 0, comm);
    CHECK(in == (rank == 0 ? sum : -1), "%d", in);
    MPI_Scan_c(&one, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK(in == (rank + 1) * (rank + 2) / 2, "%d", in);
    in = 0;
    MPI_Exscan_c(&one, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK(in == rank * (rank + 1) / 2, "%d", in);
    MPI_Reduce_scatter_block_c(all, &in, 1, MPI_INT, MPI_SUM, comm);
    CHECK(in == size * (rank + 1), "%d", in);
    MPI_Count ones[16], at[16];
    MPI_Aint bytes[16];
    MPI_Datatype types[16];
    CHECK(size <= 16, "usage");
    for (int i = 0; i < size; i++) ones[i] = 1, at[i] = i, bytes[i] = (MPI_Aint)sizeof(int) * i, types[i] = MPI_INT;
    MPI_Reduce_scatter_c(all, &in, ones, MPI_INT, MPI_SUM, comm);
    CHECK(in == size * (rank + 1), "%d", in);
    for (int i = 0; i < size; i++) all[i] = rank * 100 + i;
    for (int form = 0; form < 3; form++) {
        memset(mine, 0, sizeof(int) * (size_t)size);
        if (form == 0) MPI_Alltoall_c(all, 1, MPI_INT, mine, 1, MPI_INT, comm);
        if (form == 1) MPI_Alltoallv_c(all, ones, (MPI_Aint *)at, MPI_INT, mine, ones, (MPI_Aint *)at, MPI_INT, comm);
        if (form == 2) MPI_Alltoallw_c(all, ones, bytes, types, mine, ones, bytes, types, comm);
        for (int i = 0; i < size; i++) CHECK(mine[i] == i * 100 + rank, "form %d: %d", form, mine[i]);
    }
    MPI_Op_free(&op);
    free(all);
    free(mine);
}

int main(int argc, char **argv) {
    int rank, size;
    begin(&argc, &argv, &rank, &size);
    handles();
    questions(argc, argv);
    attributes();
    layouts();
    messages(rank, size);
    collectives(rank, size);
    return end();
}
