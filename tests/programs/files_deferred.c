/* With the hint romio_no_indep_rw a rank that transfers for nobody opens the file when it first needs it. Arguments: a folder, the number of ranks that transfer. */
#include "files.h"
#include <dirent.h>
#include <unistd.h>

enum { N = 500 };

/* Whether this process has the file open. */
static int has_it_open(void) {
    char link[4096], to[4096];
    DIR *folder = opendir("/proc/self/fd");
    int found = 0;
    CHECK(folder, "/proc/self/fd");
    for (struct dirent *one; (one = readdir(folder));) {
        snprintf(link, sizeof link, "/proc/self/fd/%.200s", one->d_name);
        long n = readlink(link, to, sizeof to - 1);
        if (n <= 0) continue;
        to[n] = 0;
        found |= !strncmp(to, path, strlen(path));
    }
    closedir(folder);
    return found;
}

/* Whether a rank transfers for others, as the library tells. */
static int transfers(MPI_File file) {
    MPI_Info info;
    char text[MPI_MAX_INFO_VAL];
    int there, found = rank == 0;
    OK(MPI_File_get_info(file, &info));
    MPI_Info_get(info, "romio_no_indep_rw", MPI_MAX_INFO_VAL - 1, text, &there);
    CHECK(there && !strcmp(text, "true"), "the hint is not in force");
    MPI_Info_get(info, "romio_aggregator_list", MPI_MAX_INFO_VAL - 1, text, &there);
    CHECK(there, "no list");
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) found |= atoi(word) == rank;
    MPI_Info_free(&info);
    return found;
}

int main(int argc, char **argv) {
    int mine[N], got[N];
    MPI_File file;
    MPI_Info hints;
    MPI_Datatype turns;
    MPI_Status status;
    MPI_Offset bytes;
    begin(&argc, &argv, &rank, &size);
    snprintf(path, sizeof path, "%s/deferred", argv[1]);
    MPI_Info_create(&hints);
    MPI_Info_set(hints, "romio_no_indep_rw", "true");
    MPI_Info_set(hints, "cb_nodes", argv[2]);
    MPI_Type_create_resized(MPI_INT, 0, (MPI_Aint)sizeof(int) * size, &turns);
    MPI_Type_commit(&turns);
    /* An open that fails does so in all ranks, also in those that would not open. */
    REFUSED(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDWR, hints, &file), MPI_ERR_NO_SUCH_FILE);
    for (int round = 0; round < 4; round++) {
        OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, hints, &file));
        int opens = transfers(file);
        OK(MPI_File_set_view(file, (MPI_Offset)sizeof(int) * rank, MPI_INT, turns, "native", MPI_INFO_NULL));
        for (int i = 0; i < N; i++) mine[i] = rank * 100000 + i + round, got[i] = -1;
        OK(MPI_File_write_at_all(file, 0, mine, N, MPI_INT, &status));
        CHECK(count_of(&status, MPI_INT) == N, "%d", count_of(&status, MPI_INT));
        OK(MPI_File_read_at_all(file, 0, got, N, MPI_INT, &status));
        CHECK(count_of(&status, MPI_INT) == N && !memcmp(mine, got, sizeof mine), "other data");
        OK(MPI_File_sync(file));
        CHECK(has_it_open() == opens, "rank %d: open %d instead of %d", rank, has_it_open(), opens);
        MPI_Barrier(MPI_COMM_WORLD);
        switch (round) {
        case 0:
            memset(got, 0, sizeof got);
            OK(MPI_File_read_at(file, 0, got, N, MPI_INT, &status));
            CHECK(!memcmp(mine, got, sizeof mine), "other data");
            break;
        case 1:
            OK(MPI_File_get_size(file, &bytes));
            CHECK(bytes == (MPI_Offset)sizeof(int) * N * size, "%lld bytes", (long long)bytes);
            break;
        case 2:
            OK(MPI_File_set_atomicity(file, 1));
            OK(MPI_File_write_at_all(file, 0, mine, N, MPI_INT, &status));
            break;
        default:
            /* The file is gone for those who come late; what others have is as it was. */
            if (rank == 0) unlink(path);
            MPI_Barrier(MPI_COMM_WORLD);
            REFUSED(MPI_File_read_at(file, 0, got, N, MPI_INT, &status), opens ? MPI_SUCCESS : MPI_ERR_NO_SUCH_FILE);
            OK(MPI_File_read_at_all(file, 0, got, N, MPI_INT, &status));
            CHECK(!memcmp(mine, got, sizeof mine), "other data");
            CHECK(has_it_open() == opens, "it is open now");
        }
        if (round < 3) CHECK(has_it_open(), "it is not open");
        OK(MPI_File_close(&file));
        CHECK(!has_it_open(), "it is not closed");
    }
    MPI_Info_free(&hints), MPI_Type_free(&turns);
    return end();
}
