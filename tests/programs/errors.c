/* The text of MPI_Error_string for a code that a function has just returned, and the handlers that errors of files ask.
 * Usage: errors [files] ; with "files" an error of a file is fatal. */
#include "check.h"

static void says(int code, int class_wanted, const char *const parts[]) {
    char text[MPI_MAX_ERROR_STRING];
    int length, class;
    MPI_Error_class(code, &class);
    CHECK(class == class_wanted, "class %d, not %d", class, class_wanted);
    CHECK(MPI_Error_string(code, text, &length) == MPI_SUCCESS, "no string");
    CHECK(length == (int)strlen(text), "%d", length);
    for (int i = 0; parts[i]; i++) CHECK(strstr(text, parts[i]), "\"%s\" is not in \"%s\"", parts[i], text);
}
#define SAYS(code, class, ...) says(code, class, (const char *const[]){__VA_ARGS__, NULL})

static void send_ten(int tag) {
    int ten[10] = {0};
    MPI_Send(ten, 10, MPI_INT, 1, tag, MPI_COMM_WORLD);
}

static void truncated(int rank, int size) {
    if (rank == 0) {
        for (int tag = 1; tag <= 6; tag++) send_ten(tag);
        static char big[3 << 20];
        MPI_Send(big, sizeof big, MPI_CHAR, 1, 7, MPI_COMM_WORLD);
    } else if (rank == 1) {
        int one[3], code, flag;
        MPI_Status status, statuses[2];
        MPI_Request requests[2];
        code = MPI_Recv(one, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &status);
        SAYS(code, MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE", "MPI_Recv", "rank 0", "tag 1", "40 bytes", "buffer 4");
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag, "a message that did not fit is not cancelled");
        MPI_Irecv(one, 2, MPI_INT, 0, 2, MPI_COMM_WORLD, requests);
        code = MPI_Wait(requests, &status);
        SAYS(code, MPI_ERR_TRUNCATE, "MPI_Wait", "tag 2", "40 bytes", "buffer 8");
        MPI_Test_cancelled(&status, &flag);
        CHECK(!flag, "a message that did not fit is not cancelled");
        MPI_Irecv(one, 3, MPI_INT, 0, 3, MPI_COMM_WORLD, requests);
        MPI_Irecv(one, 0, MPI_INT, 0, 4, MPI_COMM_WORLD, requests + 1);
        code = MPI_Waitall(2, requests, statuses);
        SAYS(code, MPI_ERR_IN_STATUS, "MPI_Waitall", "2 of 2 operations failed", "40 bytes", "buffer 12");
        SAYS(statuses[1].MPI_ERROR, MPI_ERR_TRUNCATE, "MPI_Waitall", "tag 4", "40 bytes", "buffer 0");
        code = MPI_Sendrecv(one, 0, MPI_INT, MPI_PROC_NULL, 0, one, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
        SAYS(code, MPI_ERR_TRUNCATE, "MPI_Sendrecv", "tag 5", "40 bytes", "buffer 8");
        MPI_Irecv(one, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, requests);
        do code = MPI_Test(requests, &flag, &status);
        while (code == MPI_SUCCESS && !flag);
        SAYS(code, MPI_ERR_TRUNCATE, "MPI_Test", "tag 6", "40 bytes", "buffer 4");
        static char room[1 << 20];
        code = MPI_Recv(room, sizeof room, MPI_CHAR, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        SAYS(code, MPI_ERR_TRUNCATE, "MPI_Recv", "tag 7", "3145728 bytes", "buffer 1048576");
    }
    int code = MPI_Send(NULL, 0, MPI_INT, size + 3, 0, MPI_COMM_WORLD);
    char wanted[20];
    snprintf(wanted, sizeof wanted, "%d", size + 3);
    SAYS(code, MPI_ERR_RANK, "MPI_Send", wanted);
    /* A class that no function has returned has its general sentence. */
    SAYS(MPI_ERR_QUOTA, MPI_ERR_QUOTA, "MPI_ERR_QUOTA", "quota");
}

/* A part of a collective that is longer than its place is told with both sizes, whichever form the collective has. */
static void truncated_collectives(int rank) {
    int ten[10] = {0}, one[4], code;
    MPI_Request request;
    MPI_Comm pair;
    MPI_Comm_split(MPI_COMM_WORLD, rank > 1, rank, &pair);
    MPI_Comm_set_errhandler(pair, MPI_ERRORS_RETURN);
    if (rank > 1) goto over;
    code = MPI_Bcast(rank ? one : ten, rank ? 1 : 10, MPI_INT, 0, pair);
    if (rank) SAYS(code, MPI_ERR_TRUNCATE, "MPI_Bcast", "MPI_ERR_TRUNCATE", "rank 0", "40 bytes", "place for it 4");
    code = MPI_Scatter(ten, 5, MPI_INT, rank ? (void *)one : MPI_IN_PLACE, 2, MPI_INT, 0, pair);
    if (rank) SAYS(code, MPI_ERR_TRUNCATE, "MPI_Scatter", "rank 0", "20 bytes", "place for it 8");
    code = MPI_Gather(rank ? (void *)ten : MPI_IN_PLACE, 6, MPI_INT, ten, 3, MPI_INT, 0, pair);
    if (!rank) SAYS(code, MPI_ERR_TRUNCATE, "MPI_Gather", "rank 1", "24 bytes", "place for it 12");
    MPI_Ibcast(rank ? one : ten, rank ? 3 : 10, MPI_INT, 0, pair, &request);
    code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank) SAYS(code, MPI_ERR_TRUNCATE, "MPI_Wait", "rank 0", "40 bytes", "place for it 12");
    MPI_Scatter_init(ten, 5, MPI_INT, rank ? (void *)one : MPI_IN_PLACE, 4, MPI_INT, 0, pair, MPI_INFO_NULL, &request);
    for (int turn = 0; turn < 2; turn++) {
        MPI_Start(&request);
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
        if (rank) SAYS(code, MPI_ERR_TRUNCATE, "MPI_Wait", "rank 0", "20 bytes", "place for it 16");
    }
    MPI_Request_free(&request);
    /* The sizes of one error are not told with the next. */
    code = MPI_Bcast(ten, 1, MPI_INT, 5, pair);
    SAYS(code, MPI_ERR_ROOT, "MPI_Bcast", "root is 5");
over:
    MPI_Comm_free(&pair);
}

/* The sentence for a code names the function once. */
static void says_once(int code, const char *name) {
    char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    const char *first = strstr(text, name);
    CHECK(first && !strstr(first + 1, name), "%s", text);
}

int main(int argc, char **argv) {
    int rank, size, code;
    MPI_File file = MPI_FILE_NULL;
    begin(&argc, &argv, &rank, &size);
    if (argc > 1) MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_ARE_FATAL);
    /* Communicators have their default handler, which ends the job; files do not. */
    code = MPI_File_open(MPI_COMM_WORLD, "/no/such/file", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    CHECK(argc == 1, "still here behind a fatal error");
    SAYS(code, MPI_ERR_NO_SUCH_FILE, "MPI_File_open", "/no/such/file");
    says_once(code, "MPI_File_open");
    SAYS(MPI_File_delete("/no/such/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "MPI_File_delete");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    truncated(rank, size);
    truncated_collectives(rank);
    return end();
}
