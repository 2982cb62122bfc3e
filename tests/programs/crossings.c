/* crossings THREADS: every thread of every rank exchanges messages with every other rank, with a tag of its own; then rank 0 says
   how much memory the files without a name that it has open take, in KiB: that is where the ranks of a node meet. */
#include "check.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MESSAGES = 4, MAX_THREADS = 64, MAX_FILES = 64, LONGEST = 3000 };

static int rank, size;

static void *work(void *argument) {
    int tag = *(int *)argument;
    static const int lengths[MESSAGES] = {0, 100, LONGEST, 8};
    unsigned char out[LONGEST], in[LONGEST];
    for (int away = 1; away < size; away++) {
        int to = (rank + away) % size, from = (rank + size - away) % size;
        for (int i = 0; i < MESSAGES; i++) {
            MPI_Request request;
            MPI_Irecv(in, LONGEST, MPI_BYTE, from, tag, MPI_COMM_WORLD, &request);
            fill(out, lengths[i], rank * 1000 + tag * 10 + i);
            MPI_Send(out, lengths[i], MPI_BYTE, to, tag, MPI_COMM_WORLD);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            CHECK(differs(in, lengths[i], from * 1000 + tag * 10 + i) < 0, "message %d of tag %d", i, tag);
            atomic_fetch_add(&check_messages_, 1);
        }
    }
    return NULL;
}

/* A file may be open more than once. */
static long nameless_files(void) {
    ino_t seen[MAX_FILES];
    int count = 0;
    long long bytes = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL, "no /proc/self/fd");
    for (struct dirent *entry; (entry = readdir(folder));) {
        char path[300], target[16] = "";
        struct stat facts;
        snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
        if (readlink(path, target, sizeof target - 1) < 0 || strncmp(target, "/memfd:", 7) || stat(path, &facts))
            continue;
        int known = 0;
        for (int i = 0; i < count; i++) known |= seen[i] == facts.st_ino;
        if (known) continue;
        CHECK(count < MAX_FILES, "more files than expected");
        seen[count++] = facts.st_ino;
        bytes += facts.st_blocks * 512LL;
    }
    closedir(folder);
    return (long)(bytes / 1024);
}

int main(int argc, char **argv) {
    int level, threads = argc > 1 ? atoi(argv[1]) : 4, tags[MAX_THREADS];
    pthread_t others[MAX_THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
    CHECK(threads >= 1 && threads <= MAX_THREADS, "%d threads", threads);
    for (int i = 0; i < threads; i++) {
        tags[i] = i;
        CHECK(!pthread_create(&others[i], NULL, work, &tags[i]), "no thread");
    }
    for (int i = 0; i < threads; i++) pthread_join(others[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) printf("memory %ld\n", nameless_files());
    fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    return end();
}
