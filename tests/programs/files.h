/* Definitions that the test programs of files share. */
#ifndef FILES_H
#define FILES_H

#include "check.h"

static int rank, size;
static char path[4096];

#define OK(call)                                                                      \
    do {                                                                              \
        int code_ = (call), length_;                                                  \
        char text_[MPI_MAX_ERROR_STRING] = "";                                        \
        if (code_ != MPI_SUCCESS) MPI_Error_string(code_, text_, &length_);           \
        CHECK(code_ == MPI_SUCCESS, "code %d: %s", code_, text_);                     \
    } while (0)

static inline int class_of(int code) {
    int class;
    MPI_Error_class(code, &class);
    return class;
}
#define REFUSED(call, wanted)                                                         \
    do {                                                                              \
        int got_ = class_of(call);                                                    \
        CHECK(got_ == (wanted), "class %d instead of %d", got_, (int)(wanted));       \
    } while (0)

static inline int count_of(MPI_Status *status, MPI_Datatype type) {
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}
static inline MPI_File open_as(int amode) {
    MPI_File file;
    OK(MPI_File_open(MPI_COMM_WORLD, path, amode, MPI_INFO_NULL, &file));
    return file;
}
static inline void gone(void) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) MPI_File_delete(path, MPI_INFO_NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

#endif
