/* A thread gets the error of MPI_Comm_spawn and ends. The main thread then
 *   wait   waits for it in a way that has no end (a condition that nobody signals),
 *   join   joins a thread that waits so,
 *   sleep  sleeps in between, and goes on without workers. */
#include "check.h"
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t result = PTHREAD_COND_INITIALIZER;

static void *spawns(void *argument) {
    (void)argument;
    MPI_Comm workers;
    int class, code = MPI_Comm_spawn("no/such/worker", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &workers, MPI_ERRCODES_IGNORE);
    MPI_Error_class(code, &class);
    CHECK(class == MPI_ERR_SPAWN, "class %d", class);
    printf("no workers\n");
    return NULL;
}

static void *waits(void *argument) {
    pthread_mutex_lock(&mutex);
    pthread_cond_wait(&result, &mutex);
    return argument;
}

int main(int argc, char **argv) {
    int provided;
    pthread_t thread, other;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    pthread_create(&thread, NULL, spawns, NULL);
    if (strcmp(argv[1], "sleep") == 0) {
        pthread_create(&other, NULL, waits, NULL);
        pthread_join(thread, NULL);
        sleep(3);
        pthread_mutex_lock(&mutex);
        pthread_cond_signal(&result);
        pthread_mutex_unlock(&mutex);
    } else if (strcmp(argv[1], "join") == 0) {
        pthread_create(&other, NULL, waits, NULL);
    } else {
        waits(NULL);
    }
    pthread_join(other, NULL);
    printf("alone\n");
    MPI_Finalize();
    return 0;
}
