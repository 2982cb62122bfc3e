/* Jobs that meet by a port: one opens it and writes its name into a file, or publishes it; others read that and call. */
#include "check.h"
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <dirent.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, size;

/* The port's name goes through a file: written whole, or not there. */
static void write_name(const char *file, const char *name) {
    char part[4096];
    snprintf(part, sizeof part, "%s.part", file);
    FILE *f = fopen(part, "w");
    CHECK(f && fputs(name, f) >= 0, "cannot write %s", part);
    fclose(f);
    CHECK(rename(part, file) == 0, "cannot name %s", file);
}

static void read_name(const char *file, char *name) {
    FILE *f = NULL;
    for (int i = 0; i < 60000 && !(f = fopen(file, "r")); i++) usleep(1000);
    CHECK(f && fgets(name, MPI_MAX_PORT_NAME, f), "no name in %s", file);
    fclose(f);
}

static void talk(MPI_Comm inter, int accepts) {
    int n, m, me, sum = 0;
    MPI_Comm_size(inter, &n);
    MPI_Comm_rank(inter, &me);
    MPI_Comm_remote_size(inter, &m);
    long lengths[] = {1, 5000, 400000};
    for (int l = 0; l < 3; l++) {
        unsigned char *out = need((size_t)lengths[l]), *in = need((size_t)lengths[l]);
        fill(out, lengths[l], 10 * accepts + me);
        for (int r = 0; r < (n > m ? n : m); r++) {
            MPI_Request req = MPI_REQUEST_NULL;
            int to = r < m ? r : MPI_PROC_NULL, from = to;
            MPI_Isend(out, (int)lengths[l], MPI_BYTE, to, l, inter, &req);
            MPI_Recv(in, (int)lengths[l], MPI_BYTE, from, l, inter, MPI_STATUS_IGNORE);
            MPI_Wait(&req, MPI_STATUS_IGNORE);
            if (from != MPI_PROC_NULL)
                CHECK(differs(in, lengths[l], 10 * !accepts + from) < 0, "%ld bytes from %d", lengths[l], from);
        }
        free(out);
        free(in);
    }
    MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, inter);
    CHECK(sum == m * (m - 1) / 2, "a sum of the other side: %d", sum);
    MPI_Comm merged;
    int all;
    MPI_Intercomm_merge(inter, !accepts, &merged);
    MPI_Comm_size(merged, &all);
    CHECK(all == n + m, "%d", all);
    MPI_Barrier(merged);
    MPI_Comm_disconnect(&merged);
}

/* Open descriptors behind so many meetings; with some more rounds there are no more of them. Connections end a moment after both sides have parted. */
static void count_descriptors(int round, int rounds) {
    static int open = 0;
    int n = 0, flag;
    if (rounds <= 5 || (round != 4 && round != rounds - 1)) return;
    for (int i = 0; i < 10000; i++) {
        DIR *folder = opendir("/proc/self/fd");
        for (n = 0; readdir(folder); n++) continue;
        closedir(folder);
        if (round == 4 || n <= open + 8) break;
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        usleep(1000);
    }
    if (round == 4) open = n;
    CHECK(n <= open + 8, "%d descriptors after %d meetings, %d after 5", n, rounds, open);
}

#ifdef MPIX_HAVE_ENDPOINTS
/* Endpoints of each process, the last of which is the root, as one side of a meeting. */
enum { ENDPOINTS = 2 };
static char endpoints_port[MPI_MAX_PORT_NAME];
static int endpoints_accept;

static void *endpoint(void *of) {
    MPI_Comm comm = *(MPI_Comm *)of, inter;
    int all;
    MPI_Comm_size(comm, &all);
    for (int round = 0; round < 2; round++) {
        if (endpoints_accept)
            MPI_Comm_accept(endpoints_port, MPI_INFO_NULL, all - 1, comm, &inter);
        else
            MPI_Comm_connect(endpoints_port, MPI_INFO_NULL, all - 1, comm, &inter);
        talk(inter, endpoints_accept);
        MPI_Comm_disconnect(&inter);
    }
    MPI_Comm_free(&comm);
    return NULL;
}
#endif

static MPI_Info timeout_of(const char *seconds) {
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "timeout", seconds);
    return info;
}

int main(int argc, char **argv) {
    int level;
    MPI_Init_thread(&argc, &argv, argc > 1 && strcmp(argv[1], "endpoints") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    check_rank_ = rank;
    const char *what = argc > 1 ? argv[1] : "", *file = argc > 2 ? argv[2] : "";
    int rounds = argc > 3 ? atoi(argv[3]) : 1;
    char name[MPI_MAX_PORT_NAME] = "";
    MPI_Comm inter;
    if (strcmp(what, "accept") == 0 || strcmp(what, "open") == 0) {
        if (rank == 0) {
            MPI_Info info = MPI_INFO_NULL;
            if (strcmp(what, "open") == 0) {
                MPI_Info_create(&info);
                MPI_Info_set(info, "oxmpi_port_secret", "name");
            }
            MPI_Open_port(info, name);
            for (char *c = name; *c; c++)
                CHECK(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-", *c), "%s", name);
            CHECK(strlen(name) <= 255, "%zu bytes", strlen(name));
            write_name(file, name);
        }
        for (int i = 0; i < rounds; i++) {
            MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
            talk(inter, 1);
            MPI_Comm_disconnect(&inter);
            count_descriptors(i, rounds);
        }
        if (rank == 0) MPI_Close_port(name);
    } else if (strcmp(what, "connect") == 0) {
        if (rank == size - 1) read_name(file, name);
        for (int i = 0; i < rounds; i++) {
            MPI_Comm_connect(name, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
            talk(inter, 0);
            MPI_Comm_disconnect(&inter);
            count_descriptors(i, rounds);
        }
    } else if (strcmp(what, "publish") == 0) {
        if (rank == 0) {
            MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
            MPI_Open_port(MPI_INFO_NULL, name);
            CHECK(MPI_Publish_name(file, MPI_INFO_NULL, name) == MPI_SUCCESS, "publish");
            int code = MPI_Publish_name(file, MPI_INFO_NULL, name);
            MPI_Error_class(code, &code);
            CHECK(code == MPI_ERR_SERVICE, "twice: %d", code);
        }
        MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 1);
        MPI_Comm_disconnect(&inter);
        if (rank == 0) {
            CHECK(MPI_Unpublish_name(file, MPI_INFO_NULL, name) == MPI_SUCCESS, "unpublish");
            int code = MPI_Unpublish_name(file, MPI_INFO_NULL, name);
            MPI_Error_class(code, &code);
            CHECK(code == MPI_ERR_SERVICE, "unpublished twice: %d", code);
            code = MPI_Lookup_name(file, MPI_INFO_NULL, name);
            MPI_Error_class(code, &code);
            CHECK(code == MPI_ERR_NAME, "looked up: %d", code);
            MPI_Close_port(name);
        }
    } else if (strcmp(what, "lookup") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int code = MPI_ERR_NAME;
        for (int i = 0; rank == 0 && i < 60000 && code != MPI_SUCCESS; i++) {
            code = MPI_Lookup_name(file, MPI_INFO_NULL, name);
            if (code != MPI_SUCCESS) usleep(1000);
        }
        MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        talk(inter, 0);
        MPI_Comm_disconnect(&inter);
    } else if (strcmp(what, "halves") == 0) {
        /* Two halves of one job meet, and the sides of a socket. */
        MPI_Comm half;
        int upper = rank >= size / 2;
        MPI_Comm_split(MPI_COMM_WORLD, upper, 0, &half);
        if (rank == 0) MPI_Open_port(MPI_INFO_NULL, name);
        MPI_Bcast(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        if (upper)
            MPI_Comm_connect(name, MPI_INFO_NULL, 0, half, &inter);
        else
            MPI_Comm_accept(name, MPI_INFO_NULL, 0, half, &inter);
        talk(inter, !upper);
        MPI_Comm_disconnect(&inter);
        if (rank == 0) MPI_Close_port(name);
        MPI_Comm_free(&half);
    } else if (strcmp(what, "refused") == 0) {
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
        int code;
        MPI_Info soon = timeout_of("0.2");
        const char *wrong[] = {"", "nonsense", "oxmpi1:0000000000000007:t:1:7f000001"};
        for (int i = 0; i < 3; i++) {
            code = MPI_Comm_connect(wrong[i], soon, 0, MPI_COMM_WORLD, &inter);
            MPI_Error_class(code, &code);
            CHECK(code == MPI_ERR_PORT, "%s: %d", wrong[i], code);
        }
        if (rank == 0) MPI_Open_port(MPI_INFO_NULL, name);
        code = MPI_Comm_accept(name, soon, 0, MPI_COMM_WORLD, &inter);
        MPI_Error_class(code, &code);
        CHECK(code == MPI_ERR_PORT, "nobody calls: %d", code);
        MPI_Bcast(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        code = MPI_Comm_connect(name, soon, size - 1, MPI_COMM_WORLD, &inter);
        MPI_Error_class(code, &code);
        CHECK(code == MPI_ERR_PORT, "nobody accepts: %d", code);
        if (rank == 0) CHECK(MPI_Close_port(name) == MPI_SUCCESS, "close");
        MPI_Barrier(MPI_COMM_WORLD);
        code = MPI_Comm_connect(name, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter);
        MPI_Error_class(code, &code);
        CHECK(code == MPI_ERR_PORT, "it is closed: %d", code);
        code = MPI_Close_port(name);
        MPI_Error_class(code, &code);
        CHECK(code == MPI_ERR_PORT, "closed twice: %d", code);
        MPI_Info_free(&soon);
#ifdef MPIX_HAVE_ENDPOINTS
    } else if (strcmp(what, "endpoints") == 0) {
        /* Endpoints of one job meet those of another, whose last process has the port. */
        CHECK(level == MPI_THREAD_MULTIPLE, "level %d", level);
        endpoints_accept = strcmp(argv[3], "accept") == 0;
        if (rank == size - 1) {
            if (endpoints_accept) {
                MPI_Open_port(MPI_INFO_NULL, endpoints_port);
                write_name(file, endpoints_port);
            } else {
                read_name(file, endpoints_port);
            }
        }
        MPI_Comm each[ENDPOINTS];
        pthread_t threads[ENDPOINTS];
        MPIX_Comm_create_endpoints(MPI_COMM_WORLD, ENDPOINTS, MPI_INFO_NULL, each);
        for (int i = 0; i < ENDPOINTS; i++) pthread_create(&threads[i], NULL, endpoint, &each[i]);
        for (int i = 0; i < ENDPOINTS; i++) pthread_join(threads[i], NULL);
        if (endpoints_accept && rank == size - 1) MPI_Close_port(endpoints_port);
#endif
    } else if (strcmp(what, "wait") == 0) {
        /* Waits for the other side for ever. */
        char up[4200];
        snprintf(up, sizeof up, "%s.%s", file, argv[3]);
        if (strcmp(argv[3], "accept") == 0) {
            MPI_Open_port(MPI_INFO_NULL, name);
            write_name(file, name);
            MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        } else {
            read_name(file, name);
            MPI_Comm_connect(name, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter);
        }
        MPI_Barrier(inter);
        write_name(up, "up");
        MPI_Recv(&rank, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE);
        CHECK(0, "nobody sends");
    } else if (strcmp(what, "unanswered") == 0) {
        /* Nobody accepts, and a parameter says for how long that is borne; a hint says otherwise. */
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        char text[MPI_MAX_ERROR_STRING];
        int length;
        if (rank == 0) MPI_Open_port(MPI_INFO_NULL, name);
        MPI_Bcast(name, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
        int code = MPI_Comm_connect(name, MPI_INFO_NULL, size - 1, MPI_COMM_WORLD, &inter), class;
        MPI_Error_class(code, &class);
        MPI_Error_string(code, text, &length);
        CHECK(class == MPI_ERR_PORT && strstr(text, "runtime_connect_timeout"), "class %d: %s", class, text);
        if (rank == 0) {
            sleep(2);
            MPI_Comm_accept(name, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter);
        } else if (rank == 1) {
            MPI_Info late = timeout_of("120");
            MPI_Comm_connect(name, late, 0, MPI_COMM_SELF, &inter);
            MPI_Info_free(&late);
        }
        if (rank < 2) {
            talk(inter, rank == 0);
            MPI_Comm_disconnect(&inter);
        }
        if (rank == 0) MPI_Close_port(name);
    } else if (strcmp(what, "join") == 0) {
        /* The socket is one of this machine: a file that both know. */
        int ends = socket(AF_UNIX, SOCK_STREAM, 0), fd = ends;
        struct sa { sa_family_t family; char path[100]; } at = {AF_UNIX, ""};
        snprintf(at.path, sizeof at.path, "%s", file);
        if (rank == 0) {
            CHECK(bind(ends, (struct sockaddr *)&at, sizeof at) == 0 && listen(ends, 1) == 0, "listen");
            MPI_Barrier(MPI_COMM_WORLD);
            fd = accept(ends, NULL, NULL);
        } else {
            MPI_Barrier(MPI_COMM_WORLD);
            CHECK(connect(fd, (struct sockaddr *)&at, sizeof at) == 0, "connect");
        }
        CHECK(fd >= 0, "a socket");
        MPI_Comm_join(fd, &inter);
        int other = -1;
        MPI_Sendrecv(&rank, 1, MPI_INT, 0, 1, &other, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE);
        CHECK(other == 1 - rank, "%d", other);
        MPI_Comm_disconnect(&inter);
        close(fd);
        unlink(file);
    }
    return end();
}
