/* MPI_Init and MPI_Finalize leave what is the program's: signal actions and masks, floating point, umask, folder, locale, limits, timers, the
 * environment, arguments; descriptors of the library's are closed at exec. Compared before and after each, with settings of
 * the program's own ("own") and with the system's.
 * Usage: surroundings own|plain */
#define _GNU_SOURCE
#include "check.h"

#include <fcntl.h>
#include <fenv.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

extern char **environ;
enum { SIGNALS = 65, LIMITS = RLIM_NLIMITS, VARIABLES = 1000, FILES = 1024 };

typedef struct {
    struct sigaction actions[SIGNALS];
    sigset_t mask;
    int traps, rounding, umask, flags[3], priority;
    char folder[4096], locale[200], name[17];
    struct rlimit limits[LIMITS];
    struct itimerval timers[3];
    char *variables[VARIABLES];
    char files[FILES];
} State;

static void take(State *s) {
    memset(s, 0, sizeof *s);
    for (int n = 1; n < SIGNALS; n++) sigaction(n, NULL, &s->actions[n]);
    pthread_sigmask(SIG_SETMASK, NULL, &s->mask);
    s->traps = fegetexcept(), s->rounding = fegetround();
    s->umask = (int)umask(0), umask((mode_t)s->umask);
    for (int fd = 0; fd < 3; fd++) s->flags[fd] = fcntl(fd, F_GETFL);
    s->priority = getpriority(PRIO_PROCESS, 0);
    if (!getcwd(s->folder, sizeof s->folder)) s->folder[0] = 0;
    snprintf(s->locale, sizeof s->locale, "%s", setlocale(LC_ALL, NULL));
    prctl(PR_GET_NAME, s->name);
    for (int n = 0; n < LIMITS; n++) getrlimit((__rlimit_resource_t)n, &s->limits[n]);
    for (int n = 0; n < 3; n++) getitimer((__itimer_which_t)n, &s->timers[n]);
    for (int n = 0; n < VARIABLES && environ[n]; n++) s->variables[n] = environ[n];
    for (int fd = 0; fd < FILES; fd++) s->files[fd] = fcntl(fd, F_GETFD) >= 0;
}

/* The library may have a handler of its own for a crash that the program leaves to the system, which it then does. */
static int crash(int n) { return n == SIGABRT || n == SIGBUS || n == SIGFPE || n == SIGILL || n == SIGSEGV || n == SIGTRAP || n == SIGSYS; }

static int same_set(const sigset_t *a, const sigset_t *b) {
    for (int n = 1; n < SIGNALS; n++)
        if (sigismember(a, n) != sigismember(b, n)) return 0;
    return 1;
}

static void compare(const char *when, const State *was) {
    static State is;
    take(&is);
    for (int n = 1; n < SIGNALS; n++) {
        const struct sigaction *a = &was->actions[n], *b = &is.actions[n];
        if (crash(n) && a->sa_handler == SIG_DFL) continue;
        CHECK(a->sa_handler == b->sa_handler, "%s: signal %d has another handler", when, n);
        CHECK(a->sa_flags == b->sa_flags && same_set(&a->sa_mask, &b->sa_mask), "%s: signal %d has flags %x, not %x", when, n, b->sa_flags, a->sa_flags);
    }
    CHECK(same_set(&was->mask, &is.mask), "%s: another mask of signals", when);
    CHECK(was->traps == is.traps && was->rounding == is.rounding, "%s: traps %x, rounding %x", when, is.traps, is.rounding);
    CHECK(was->umask == is.umask, "%s: umask %o", when, is.umask);
    CHECK(memcmp(was->flags, is.flags, sizeof is.flags) == 0, "%s: flags of the standard descriptors", when);
    CHECK(was->priority == is.priority, "%s: priority %d", when, is.priority);
    CHECK(strcmp(was->folder, is.folder) == 0, "%s: folder %s", when, is.folder);
    CHECK(strcmp(was->locale, is.locale) == 0, "%s: locale %s", when, is.locale);
    CHECK(strcmp(was->name, is.name) == 0, "%s: the thread is called %s", when, is.name);
    CHECK(memcmp(was->limits, is.limits, sizeof is.limits) == 0, "%s: a limit", when);
    for (int n = 0; n < 3; n++) CHECK(is.timers[n].it_value.tv_sec == 0 && is.timers[n].it_interval.tv_sec == 0, "%s: a timer runs", when);
    for (int n = 0; n < VARIABLES; n++) CHECK(was->variables[n] == is.variables[n], "%s: variable %s", when, is.variables[n] ? is.variables[n] : "is gone");
    for (int fd = 0; fd < FILES; fd++) {
        if (was->files[fd]) CHECK(is.files[fd], "%s: descriptor %d was closed", when, fd);
        if (is.files[fd] && !was->files[fd]) CHECK(fcntl(fd, F_GETFD) & FD_CLOEXEC, "%s: descriptor %d stays open at exec", when, fd);
    }
}

static volatile sig_atomic_t came;
static void count(int n) { (void)n, came++; }

int main(int argc, char **argv) {
    static State was;
    int was_argc = argc, rank, own = argc > 1 && strcmp(argv[1], "own") == 0;
    char *first = argv[0];
    if (own) {
        struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART};
        sigaddset(&action.sa_mask, SIGHUP);
        int mine[] = {SIGUSR1, SIGUSR2, SIGCHLD, SIGALRM, SIGTERM, SIGINT, SIGRTMIN + 3};
        for (size_t i = 0; i < sizeof mine / sizeof *mine; i++) sigaction(mine[i], &action, NULL);
        signal(SIGPIPE, SIG_IGN), signal(SIGSEGV, SIG_IGN);
        sigset_t blocked;
        sigemptyset(&blocked), sigaddset(&blocked, SIGTERM), sigaddset(&blocked, SIGUSR2);
        pthread_sigmask(SIG_BLOCK, &blocked, NULL);
        feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW), fesetround(FE_UPWARD);
        umask(0137), setlocale(LC_ALL, "C.UTF-8");
        CHECK(chdir("/") == 0, "no folder");
    }
    take(&was);
    MPI_Init(&argc, &argv);
    compare("after MPI_Init", &was);
    CHECK(argc == was_argc && argv[0] == first && !argv[argc], "MPI_Init changed the arguments");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (own) {
        raise(SIGUSR1), raise(SIGUSR2);
        sigset_t waiting;
        sigpending(&waiting);
        CHECK(came == 1 && sigismember(&waiting, SIGUSR2), "%d signals came", came);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    compare("before MPI_Finalize", &was);
    MPI_Finalize();
    compare("after MPI_Finalize", &was);
    puts("ok");
    return 0;
}
