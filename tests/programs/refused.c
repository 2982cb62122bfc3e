/* Functions that endpoints by proxies do not have: each returns MPI_ERR_UNSUPPORTED_OPERATION and names itself on standard error; nothing
 * is done, and the endpoints are as good as before. Argument: endpoints of each process. Linked with liboxmpi_ep.so. */
#include "check.h"

#include <mpi-ext.h>

enum { MOST = 8 };

#define REFUSED(name, ...) \
    do { \
        int class_ = 0; \
        MPI_Error_class(MPI_##name(__VA_ARGS__), &class_); \
        CHECK(class_ == MPI_ERR_UNSUPPORTED_OPERATION, "MPI_" #name ": class %d", class_); \
        asked++; \
    } while (0)

static int asked;

static void files_and_processes(MPI_Comm ep) {
    MPI_File file;
    MPI_Comm other;
    int errors[1], one[1] = {1};
    char *commands[] = {"none"};
    MPI_Info infos[] = {MPI_INFO_NULL};
    REFUSED(File_open, ep, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    REFUSED(Comm_spawn, "none", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, ep, &other, errors);
    REFUSED(Comm_spawn_multiple, 1, commands, MPI_ARGVS_NULL, one, infos, 0, ep, &other, errors);
    REFUSED(Comm_accept, "none", MPI_INFO_NULL, 0, ep, &other);
    REFUSED(Comm_connect, "none", MPI_INFO_NULL, 0, ep, &other);
    MPI_Group group;
    MPI_Comm_group(ep, &group);
    REFUSED(Comm_create_from_group, group, "tag", MPI_INFO_NULL, MPI_ERRORS_RETURN, &other);
    MPI_Group_free(&group);
}

static void partitions(MPI_Comm ep) {
    int memory[4], flag, list[1] = {0};
    MPI_Request request;
    REFUSED(Psend_init, memory, 2, 2, MPI_INT, 0, 1, ep, MPI_INFO_NULL, &request);
    REFUSED(Precv_init, memory, 2, 2, MPI_INT, 0, 1, ep, MPI_INFO_NULL, &request);
    REFUSED(Psend_init_c, memory, 2, 2, MPI_INT, 0, 1, ep, MPI_INFO_NULL, &request);
    REFUSED(Precv_init_c, memory, 2, 2, MPI_INT, 0, 1, ep, MPI_INFO_NULL, &request);
    MPI_Recv_init(memory, 1, MPI_INT, 0, 1, ep, &request);
    REFUSED(Pready, 0, request);
    REFUSED(Pready_range, 0, 0, request);
    REFUSED(Pready_list, 1, list, request);
    REFUSED(Parrived, request, 0, &flag);
    REFUSED(Grequest_complete, request);
    MPI_Request_free(&request);
}

static void attached_buffers(MPI_Comm ep) {
    char memory[64];
    void *was;
    int length;
    MPI_Count length_c;
    MPI_Request request;
    REFUSED(Comm_attach_buffer, ep, memory, sizeof memory);
    REFUSED(Comm_attach_buffer_c, ep, memory, sizeof memory);
    REFUSED(Comm_detach_buffer, ep, &was, &length);
    REFUSED(Comm_detach_buffer_c, ep, &was, &length_c);
    REFUSED(Comm_flush_buffer, ep);
    REFUSED(Comm_iflush_buffer, ep, &request);
}

int main(int argc, char **argv) {
    int provided, rank, total, sum = 0;
    MPI_Comm ep[MOST];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
    int count = argc > 1 ? atoi(argv[1]) : 1;
    CHECK(PMPIX_Comm_create_endpoints(MPI_COMM_WORLD, count, MPI_INFO_NULL, ep) == MPI_SUCCESS, "endpoints");
    for (int i = 0; i < count; i++) {
        MPI_Comm_set_errhandler(ep[i], MPI_ERRORS_RETURN);
        files_and_processes(ep[i]);
        partitions(ep[i]);
        attached_buffers(ep[i]);
    }
    CHECK(asked == 21 * count, "%d functions were asked for", asked);
    MPI_Request requests[MOST];
    int ranks[MOST], sums[MOST];
    for (int i = 0; i < count; i++) {
        MPI_Comm_rank(ep[i], &ranks[i]), MPI_Comm_size(ep[i], &total);
        MPI_Iallreduce(&ranks[i], &sums[i], 1, MPI_INT, MPI_SUM, ep[i], &requests[i]);
    }
    MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < total; i++) sum += i;
    for (int i = 0; i < count; i++) {
        CHECK(sums[i] == sum, "%d is not %d", sums[i], sum);
        MPI_Comm_free(&ep[i]);
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    check_rank_ = rank;
    return end();
}
