/* Processes that are started by MPI_Comm_spawn, and what they do with those who started them. The first argument says what; a process that was
 * started does what its own first argument says. */
#include "check.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

static int rank, size;
static const char *self;

static int attribute(int key) {
    int *value, found;
    MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &found);
    CHECK(found, "attribute %d", key);
    return *value;
}

/* Everything that two groups can do with each other. */
static void talk(MPI_Comm inter, int parent) {
    int n, m, me, flag;
    MPI_Comm_test_inter(inter, &flag);
    CHECK(flag, "an inter-communicator");
    MPI_Comm_size(inter, &n);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &m);
    /* Everybody sends a short and a long message to everybody. */
    long lengths[] = {1, 3000, 300000};
    for (int l = 0; l < 3; l++) {
        MPI_Request *reqs = need(sizeof *reqs * (size_t)m);
        unsigned char *out = need((size_t)lengths[l]), *in = need((size_t)lengths[l]);
        fill(out, lengths[l], 100 * parent + me);
        for (int r = 0; r < m; r++) MPI_Isend(out, (int)lengths[l], MPI_BYTE, r, l, inter, &reqs[r]);
        for (int r = 0; r < m; r++) {
            MPI_Status status;
            MPI_Recv(in, (int)lengths[l], MPI_BYTE, MPI_ANY_SOURCE, l, inter, &status);
            int from = status.MPI_SOURCE;
            CHECK(differs(in, lengths[l], 100 * !parent + from) < 0, "%ld bytes from %d", lengths[l], from);
        }
        MPI_Waitall(m, reqs, MPI_STATUSES_IGNORE);
        free(reqs);
        free(out);
        free(in);
    }
    int word = parent && me == 0 ? 4711 : 0, sum = 0;
    MPI_Bcast(&word, 1, MPI_INT, parent ? (me == 0 ? MPI_ROOT : MPI_PROC_NULL) : 0, inter);
    CHECK(word == 4711 || parent, "a broadcast: %d", word);
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == m * (m - 1) / 2, "a sum of the other side: %d", sum);
    /* One communicator of both. */
    MPI_Comm merged, part, copy, again;
    MPI_Intercomm_merge(inter, !parent, &merged);
    int all, place;
    MPI_Comm_size(merged, &all);
    MPI_Comm_rank(merged, &place);
    CHECK(all == n + m && place == (parent ? me : m + me), "rank %d of %d", place, all);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, merged);
    CHECK(sum == all * (all - 1) / 2, "a sum of all: %d", sum);
    MPI_Comm_split(merged, place % 2, 0, &part);
    MPI_Comm_dup(merged, &copy);
    int lowest;
    MPI_Allreduce(&place, &lowest, 1, MPI_INT, MPI_MIN, part);
    CHECK(lowest == place % 2, "the lowest of a part: %d", lowest);
    MPI_Barrier(copy);
    MPI_Group whole, some;
    int first[1][3] = {{0, all - 1, 1}};
    MPI_Comm_group(merged, &whole);
    MPI_Group_range_incl(whole, 1, first, &some);
    MPI_Comm_create_group(merged, some, 3, &again);
    MPI_Allreduce(&place, &sum, 1, MPI_INT, MPI_SUM, again);
    CHECK(sum == all * (all - 1) / 2, "a sum of a group: %d", sum);
    MPI_Group_free(&whole);
    MPI_Group_free(&some);
    MPI_Comm_free(&again);
    /* Shared memory and windows between jobs. */
    MPI_Win win;
    int *memory;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, merged, &memory, &win);
    *memory = -1;
    MPI_Win_fence(0, win);
    MPI_Put(&place, 1, MPI_INT, (place + 1) % all, 0, 1, MPI_INT, win);
    MPI_Win_fence(0, win);
    CHECK(*memory == (place + all - 1) % all, "put by %d", *memory);
    MPI_Win_free(&win);
    MPI_Comm near;
    MPI_Comm_split_type(merged, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, near, &memory, &win);
    int here, how_many;
    MPI_Comm_rank(near, &here);
    MPI_Comm_size(near, &how_many);
    MPI_Win_fence(0, win);
    *memory = 77 + here;
    MPI_Win_fence(0, win);
    int *theirs, unit;
    MPI_Aint bytes;
    MPI_Win_shared_query(win, (here + 1) % how_many, &bytes, &unit, &theirs);
    CHECK(*theirs == 77 + (here + 1) % how_many, "shared memory: %d", *theirs);
    MPI_Win_free(&win);
    MPI_Comm_free(&near);
    MPI_Comm_free(&part);
    MPI_Comm_disconnect(&copy);
    MPI_Comm_disconnect(&merged);
}

static MPI_Comm start(int n, char **argv, MPI_Info info) {
    MPI_Comm inter;
    int *codes = need(sizeof *codes * (size_t)n);
    memset(codes, 0xff, sizeof *codes * (size_t)n);
    int code = MPI_Comm_spawn(self, argv, n, info, 0, MPI_COMM_WORLD, &inter, codes);
    CHECK(code == MPI_SUCCESS, "spawn: %d", code);
    for (int i = 0; i < n; i++) CHECK(codes[i] == MPI_SUCCESS, "code %d: %d", i, codes[i]);
    free(codes);
    return inter;
}

/* Leaves a file in a folder, and waits for one. */
static void note(const char *folder, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file != NULL, "cannot write %s", path);
    fclose(file);
}

static int is_there(const char *folder, const char *name) {
    char path[4200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return access(path, F_OK) == 0;
}

static void await(const char *folder, const char *name) {
    while (!is_there(folder, name)) usleep(2000);
}

/* A process that was started. */
static void child(MPI_Comm parent, int argc, char **argv) {
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    MPI_Comm_get_name(parent, name, &length);
    CHECK(strcmp(name, "MPI_COMM_PARENT") == 0, "%s", name);
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "talk") == 0) {
        CHECK(argc == 5 && strcmp(argv[2], "two words") == 0 && argv[3][0] == 0 && strcmp(argv[4], ":") == 0,
              "%d arguments", argc);
        char where[MPI_MAX_PROCESSOR_NAME];
        MPI_Get_processor_name(where, &length);
        printf("on %s\n", where);
        talk(parent, 0);
    } else if (strcmp(what, "stay") == 0) {
        int apart = strcmp(argv[2], "apart") == 0;
        if (apart) MPI_Comm_disconnect(&parent);
        note(argv[3], "up");
        await(argv[3], apart ? "over" : "never");
    } else if (strcmp(what, "numbered") == 0) {
        int number = attribute(MPI_APPNUM), m;
        CHECK(number == atoi(argv[2]), "program %d, not %s", number, argv[2]);
        MPI_Comm_remote_size(parent, &m);
        CHECK(m >= 1, "%d", m);
    } else if (strcmp(what, "nested") == 0) {
        int depth = atoi(argv[2]);
        if (depth > 0) {
            char deeper[16];
            snprintf(deeper, sizeof deeper, "%d", depth - 1);
            char *arguments[] = {"nested", deeper, NULL};
            MPI_Comm inter = start(1, arguments, MPI_INFO_NULL);
            MPI_Barrier(inter);
            MPI_Comm_disconnect(&inter);
        }
        MPI_Barrier(parent);
    } else if (strcmp(what, "where") == 0) {
        char folder[4096], mine[64];
        CHECK(getcwd(folder, sizeof folder) != NULL, "a folder");
        CHECK(strcmp(folder, argv[2]) == 0, "in %s, not %s", folder, argv[2]);
        const char *value = getenv("SPAWN_TEST");
        CHECK(value && strcmp(value, "a=b") == 0, "%s", value ? value : "(none)");
        snprintf(mine, sizeof mine, "%d", size);
        CHECK(argc == 3, "%d", argc);
    } else if (strcmp(what, "abort") == 0) {
        MPI_Abort(MPI_COMM_WORLD, 5);
    } else if (strcmp(what, "apart") == 0) {
        MPI_Comm_disconnect(&parent);
        MPI_Comm_get_parent(&parent);
        CHECK(parent == MPI_COMM_NULL, "no parent any more");
        MPI_Abort(MPI_COMM_WORLD, 6);
    } else if (strcmp(what, "exit") == 0) {
        MPI_Barrier(parent);
        exit(9);
    } else if (strcmp(what, "wait") == 0) {
        MPI_Barrier(parent);
    } else if (strcmp(what, "print") == 0) {
        printf("child %d of %d\n", rank, size);
    }
    if (parent != MPI_COMM_NULL) MPI_Comm_disconnect(&parent);
}

static void refused(const char *command, char **argv, int n, MPI_Info info, int class) {
    MPI_Comm inter = MPI_COMM_WORLD;
    int *codes = need(sizeof *codes * (size_t)n), code, found;
    code = MPI_Comm_spawn(command, argv, n, info, 0, MPI_COMM_WORLD, &inter, codes);
    MPI_Error_class(code, &found);
    CHECK(found == class, "class %d, not %d", found, class);
    CHECK(inter == MPI_COMM_NULL, "no communicator");
    if (rank == 0)
        for (int i = 0; i < n; i++) CHECK(codes[i] != MPI_SUCCESS, "code %d", i);
    free(codes);
}

/* Hints from the command line: keys and values. */
static MPI_Info hints(char **words) {
    MPI_Info info;
    MPI_Info_create(&info);
    for (; *words && words[1]; words += 2) MPI_Info_set(info, words[0], words[1]);
    return info;
}

static int descriptors(void) {
    int n = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (readdir(folder)) n++;
    closedir(folder);
    return n;
}

static long resident(void) {
    long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    CHECK(file && fscanf(file, "%ld %ld", &pages, &resident) == 2, "statm");
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE) / 1024;
}

/* Bytes of the heap that are in use, where the C library counts them. */
static long heap(void) {
#if defined __GLIBC__ && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    struct mallinfo2 all = mallinfo2();
    return (long)(all.uordblks + all.hblkhd);
#else
    return 0;
#endif
}

static void *in_thread(void *number) {
    char *arguments[] = {"wait", NULL};
    MPI_Comm inter;
    int rounds = *(int *)number;
    for (int i = 0; i < rounds; i++) {
        int code = MPI_Comm_spawn(self, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE);
        CHECK(code == MPI_SUCCESS, "spawn in a thread: %d", code);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    }
    return NULL;
}

#ifdef MPIX_HAVE_ENDPOINTS
/* Endpoints of each process that are parents. */
enum { ENDPOINTS = 2 };
static int children;

/* An endpoint among others, the last of which is the root: all start processes, and talk to them. */
static void *endpoint(void *of) {
    MPI_Comm comm = *(MPI_Comm *)of, inter;
    char *arguments[] = {"talk", "two words", "", ":", NULL};
    int all;
    MPI_Comm_size(comm, &all);
    CHECK(all == ENDPOINTS * size, "%d endpoints", all);
    for (int round = 0; round < 2; round++) {
        int code = MPI_Comm_spawn(self, arguments, children, MPI_INFO_NULL, all - 1, comm, &inter, MPI_ERRCODES_IGNORE);
        CHECK(code == MPI_SUCCESS, "spawn by endpoints: %d", code);
        talk(inter, 1);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_free(&comm);
    return NULL;
}
#endif

int main(int argc, char **argv) {
    int level;
    self = argv[0];
    int threaded = argc > 1 && (strcmp(argv[1], "threads") == 0 || strcmp(argv[1], "endpoints") == 0);
    MPI_Init_thread(&argc, &argv, threaded ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
        child(parent, argc, argv);
        return end();
    }
    const char *what = argc > 1 ? argv[1] : "";
    int n = argc > 2 ? atoi(argv[2]) : 1;
    if (strcmp(what, "talk") == 0) {
        char *arguments[] = {"talk", "two words", "", ":", NULL};
        MPI_Info info = hints(argv + 3);
        MPI_Comm inter = start(n, arguments, info);
        talk(inter, 1);
        MPI_Comm_disconnect(&inter);
        /* And another one, when the first is gone. */
        inter = start(n, arguments, info);
        talk(inter, 1);
        MPI_Comm_disconnect(&inter);
        MPI_Info_free(&info);
    } else if (strcmp(what, "stay") == 0) {
        /* A child that stays until it is killed. */
        char *arguments[] = {"stay", argv[2], argv[3], NULL};
        MPI_Info info = hints(argv + 4);
        MPI_Comm inter = start(1, arguments, info);
        if (strcmp(argv[2], "apart") == 0) {
            MPI_Comm_disconnect(&inter);
            await(argv[3], "killed");
        } else {
            MPI_Recv(&n, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        }
        MPI_Info_free(&info);
    } else if (strcmp(what, "nowhere") == 0) {
        /* No process can be started where the hints say; several ask at once, and each can go on. */
        MPI_Comm self_comm = MPI_COMM_SELF;
        MPI_Comm_set_errhandler(self_comm, MPI_ERRORS_RETURN);
        MPI_Info info = hints(argv + 3);
        MPI_Comm inter;
        int code = MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, info, 0, self_comm, &inter, MPI_ERRCODES_IGNORE), class;
        MPI_Error_class(code, &class);
        CHECK(class == MPI_ERR_SPAWN, "class %d", class);
        char text[MPI_MAX_ERROR_STRING];
        int length;
        MPI_Error_string(code, text, &length);
        printf("%s\n", text);
        MPI_Info_free(&info);
        char *arguments[] = {"wait", NULL};
        inter = start(n, arguments, MPI_INFO_NULL);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "late") == 0) {
        /* A program that is no MPI program, and then one that is. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        char *long_time[] = {"1000", NULL}, *arguments[] = {"wait", NULL};
        refused("/bin/sleep", long_time, 1, MPI_INFO_NULL, MPI_ERR_SPAWN);
        MPI_Comm inter = start(n, arguments, MPI_INFO_NULL);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
        sleep(4);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "multiple") == 0) {
        char *commands[] = {(char *)self, (char *)self, (char *)self};
        char *one[] = {"numbered", "0", NULL}, *two[] = {"numbered", "1", NULL}, *three[] = {"numbered", "2", NULL};
        char **all[] = {one, two, three};
        int most[] = {2, 1, 1}, codes[4] = {1, 1, 1, 1}, m;
        MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL, MPI_INFO_NULL};
        MPI_Comm inter;
        MPI_Comm_spawn_multiple(3, commands, all, most, infos, size - 1, MPI_COMM_WORLD, &inter, codes);
        MPI_Comm_remote_size(inter, &m);
        CHECK(m == 4, "%d processes", m);
        for (int i = 0; i < 4; i++) CHECK(codes[i] == MPI_SUCCESS, "code %d: %d", i, codes[i]);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "nested") == 0) {
        char *arguments[] = {"nested", argv[2], NULL};
        MPI_Comm inter = start(1, arguments, MPI_INFO_NULL);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "hints") == 0) {
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "wdir", argv[2]);
        MPI_Info_set(info, "env", "SPAWN_TEST=a=b");
        MPI_Info_set(info, "host", "localhost");
        MPI_Info_set(info, "unknown", "key");
        char *arguments[] = {"where", argv[2], NULL};
        MPI_Comm inter = start(2, arguments, info);
        MPI_Comm_disconnect(&inter);
        MPI_Info_free(&info);
    } else if (strcmp(what, "slots") == 0) {
        /* Of so many slots so many are left. */
        char *arguments[] = {"wait", NULL};
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        CHECK(attribute(MPI_UNIVERSE_SIZE) == size + n, "universe %d", attribute(MPI_UNIVERSE_SIZE));
        refused(self, arguments, n + 1, MPI_INFO_NULL, MPI_ERR_SPAWN);
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "soft", "1:100");
        MPI_Comm inter;
        int *codes = need(sizeof *codes * (size_t)(n + 2)), m;
        CHECK(MPI_Comm_spawn(self, arguments, n + 2, info, 0, MPI_COMM_WORLD, &inter, codes) == MPI_SUCCESS, "soft");
        MPI_Comm_remote_size(inter, &m);
        CHECK(m == n, "%d of %d", m, n);
        for (int i = 0; i < n + 2; i++) CHECK((codes[i] == MPI_SUCCESS) == (i < n), "code %d: %d", i, codes[i]);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
        MPI_Info_free(&info);
    } else if (strcmp(what, "refused") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        refused("./no-such-program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, MPI_ERR_SPAWN);
        refused("/bin/true", MPI_ARGV_NULL, 1, MPI_INFO_NULL, MPI_ERR_SPAWN);
        refused("/bin/false", MPI_ARGV_NULL, 2, MPI_INFO_NULL, MPI_ERR_SPAWN);
        MPI_Info info;
        MPI_Info_create(&info);
        MPI_Info_set(info, "arch", "vax");
        refused(self, MPI_ARGV_NULL, 1, info, MPI_ERR_SPAWN);
        MPI_Info_free(&info);
        MPI_Comm inter;
        int code = MPI_Comm_spawn(self, MPI_ARGV_NULL, 1, MPI_INFO_NULL, size, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE);
        MPI_Error_class(code, &code);
        CHECK(code == MPI_ERR_ROOT, "root: %d", code);
        /* And then it goes well. */
        char *arguments[] = {"wait", NULL};
        inter = start(2, arguments, MPI_INFO_NULL);
        MPI_Barrier(inter);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "loop") == 0) {
        char *arguments[] = {"wait", NULL};
        int open = 0;
        long kept = 0, used = 0;
        for (int i = 0; i < n; i++) {
            MPI_Comm inter = start(1, arguments, MPI_INFO_NULL);
            MPI_Barrier(inter);
            MPI_Comm_disconnect(&inter);
            if (i == n / 5) open = descriptors(), kept = resident(), used = heap();
        }
        /* Connections end when the other side has said good-bye, and some descriptors are made at the first long wait, whenever that is. */
        open += 4;
        for (int i = 0; descriptors() > open && i < 10000; i++) {
            int flag;
            MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
            usleep(1000);
        }
        CHECK(descriptors() <= open, "%d descriptors, at most %d", descriptors(), open);
        /* So many bytes may stay of each, and what tables and pools grow by once. */
        long more = heap() - used;
        if (argc > 3)
            CHECK(more < 16384 + atol(argv[3]) * n, "%ld bytes more of the heap after %d of %d jobs", more, n - n / 5, n);
        printf("kept %ld KiB, %ld bytes of the heap\n", resident() - kept, more);
    } else if (strcmp(what, "pace") == 0) {
        /* So many after an eighth of them, with a look from outside between and behind. */
        char *arguments[] = {"wait", NULL};
        for (int i = 0; i < n; i++) {
            MPI_Comm inter = start(1, arguments, MPI_INFO_NULL);
            MPI_Barrier(inter);
            MPI_Comm_disconnect(&inter);
            if (i + 1 == n / 8 || i + 1 == n) {
                char mark[32];
                snprintf(mark, sizeof mark, "after%d", i + 1);
                note(argv[3], mark);
                strcat(mark, ".seen");
                /* Connections end when the other side has said good-bye. */
                while (!is_there(argv[3], mark)) {
                    int flag;
                    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
                    usleep(1000);
                }
            }
        }
#ifdef MPIX_HAVE_ENDPOINTS
    } else if (strcmp(what, "endpoints") == 0) {
        CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
        MPI_Comm each[ENDPOINTS];
        pthread_t threads[ENDPOINTS];
        children = n;
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, ENDPOINTS, MPI_INFO_NULL, each);
        for (int i = 0; i < ENDPOINTS; i++) pthread_create(&threads[i], NULL, endpoint, &each[i]);
        for (int i = 0; i < ENDPOINTS; i++) pthread_join(threads[i], NULL);
#endif
    } else if (strcmp(what, "threads") == 0) {
        CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, in_thread, &n);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    } else if (strcmp(what, "abort") == 0 || strcmp(what, "exit") == 0) {
        char *arguments[] = {(char *)what, NULL};
        MPI_Comm inter = start(2, arguments, MPI_INFO_NULL);
        MPI_Barrier(inter);
        MPI_Barrier(inter);
        CHECK(0, "the end of the others is ours");
    } else if (strcmp(what, "apart") == 0) {
        char *arguments[] = {"apart", NULL};
        MPI_Comm inter = start(2, arguments, MPI_INFO_NULL);
        MPI_Comm_disconnect(&inter);
        sleep(1);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "print") == 0) {
        char *arguments[] = {"print", NULL};
        MPI_Comm inter = start(n, arguments, MPI_INFO_NULL);
        MPI_Comm_disconnect(&inter);
    }
    return end();
}
