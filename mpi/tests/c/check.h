/* One line per failed check; the number of them is the exit status. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);            \
            failures++;                                                               \
        }                                                                             \
    } while (0)

/* The error class of a call on an object whose handler returns. */
#define FAILS(class_wanted, call)                                                     \
    do {                                                                              \
        int code_ = (call), class_ = -1;                                              \
        MPI_Error_class(code_, &class_);                                              \
        if (class_ != (class_wanted)) {                                               \
            printf("%s:%d: %s gave %d, not %s\n", __FILE__, __LINE__, #call, class_, #class_wanted); \
            failures++;                                                               \
        }                                                                             \
    } while (0)

__attribute__((unused)) static int finish(void) {
    MPI_Finalize();
    if (failures == 0) printf("No Errors\n");
    return failures != 0;
}
