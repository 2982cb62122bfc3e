/* Files of the system in C: opened, resized, made durable, locked by calls of POSIX and Linux.
 *
 * Built with nothing but the committed header, loaded like any other component, and put through the conformance suite by
 * tests/plugins. It knows no mounts, so it promises what every file system of Linux keeps on one node, and no more.
 */
#define _GNU_SOURCE
#include "oxmpi_component.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Codes of failures of the system (oxmpi_fs::error). */
static oxmpi_status failed(int number) {
    return -1000 - number;
}

/* An open file. */
typedef struct {
    int fd;
    int writes_only;
} open_file;

static const char because[] = "the component fs-cplain knows no mounts, so it relies on nothing between nodes";

/* A path as calls of the system have it, to be freed; null: *status says why. */
static char *path_of(oxmpi_str_ref path, oxmpi_status *status) {
    char *text;
    if (path.len > 0 && memchr(path.ptr, 0, path.len)) {
        *status = OXMPI_STATUS_BAD_PARAM;
        return NULL;
    }
    text = malloc(path.len + 1);
    if (!text) {
        *status = OXMPI_STATUS_OUT_OF_MEMORY;
        return NULL;
    }
    if (path.len > 0)
        memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    return text;
}

/* Opens what is there, or makes it; a folder is no file, not even for reading. */
static oxmpi_status open_path(const char *path, int flags, uint32_t permissions, int *out, struct stat *about) {
    int fd;
    do
        fd = open(path, flags | O_CLOEXEC, (mode_t)permissions);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return failed(errno);
    int number = fstat(fd, about) != 0 ? errno : S_ISDIR(about->st_mode) ? EISDIR : 0;
    if (number != 0) {
        close(fd);
        return failed(number);
    }
    *out = fd;
    return OXMPI_STATUS_OK;
}

/* The flags of the system for a mode; -1: it has not one direction. */
static int flags_of(uint32_t mode) {
    int flags;
    switch (mode & (OXMPI_FS_MODE_RDONLY | OXMPI_FS_MODE_WRONLY | OXMPI_FS_MODE_RDWR)) {
    case OXMPI_FS_MODE_RDONLY: flags = O_RDONLY; break;
    case OXMPI_FS_MODE_WRONLY: flags = O_WRONLY; break;
    case OXMPI_FS_MODE_RDWR: flags = O_RDWR; break;
    default: return -1;
    }
    if (mode & OXMPI_FS_MODE_CREATE)
        flags |= O_CREAT | (mode & OXMPI_FS_MODE_EXCL ? O_EXCL : 0);
    return flags;
}

static oxmpi_status cplain_open(void *state, const oxmpi_open_file *how, oxmpi_fs_file *out) {
    oxmpi_status status = OXMPI_STATUS_OK;
    struct stat about;
    int fd = -1, flags = flags_of(how->mode);
    (void)state;
    if (flags < 0)
        return OXMPI_STATUS_BAD_PARAM;
    char *path = path_of(how->path, &status);
    if (!path)
        return status;
    open_file *file = calloc(1, sizeof *file);
    status = file ? open_path(path, flags, how->permissions, &fd, &about) : OXMPI_STATUS_OUT_OF_MEMORY;
    free(path);
    if (status != OXMPI_STATUS_OK) {
        free(file);
        return status;
    }
    file->fd = fd;
    file->writes_only = (flags & O_ACCMODE) == O_WRONLY;
    out->fd = fd;
    out->file = file;
    out->keeps = OXMPI_FS_KEEPS_LOCKS_HERE;
    out->block = about.st_blksize > 0 ? (uint64_t)about.st_blksize : 1;
    /* An older host has less room. */
    if (out->size >= offsetof(oxmpi_fs_file, because) + sizeof out->because)
        out->because = (oxmpi_str_ref)OXMPI_STR(because);
    return OXMPI_STATUS_OK;
}

static oxmpi_status cplain_close(void *argument) {
    open_file *file = argument;
    int number = close(file->fd) != 0 && errno != EINTR ? errno : 0;
    free(file);
    return number ? failed(number) : OXMPI_STATUS_OK;
}

static oxmpi_status cplain_delete(void *state, oxmpi_str_ref path) {
    oxmpi_status status = OXMPI_STATUS_OK;
    char *text = path_of(path, &status);
    (void)state;
    if (!text)
        return status;
    if (unlink(text) != 0)
        status = failed(errno);
    free(text);
    return status;
}

static oxmpi_status cplain_length(void *argument, uint64_t *out) {
    open_file *file = argument;
    struct stat about;
    if (fstat(file->fd, &about) != 0)
        return failed(errno);
    *out = (uint64_t)about.st_size;
    return OXMPI_STATUS_OK;
}

static oxmpi_status cplain_resize(void *argument, uint64_t bytes) {
    open_file *file = argument;
    if (bytes > INT64_MAX)
        return failed(EFBIG);
    while (ftruncate(file->fd, (off_t)bytes) != 0)
        if (errno != EINTR)
            return failed(errno);
    return OXMPI_STATUS_OK;
}

static oxmpi_status cplain_preallocate(void *argument, uint64_t bytes) {
    open_file *file = argument;
    if (bytes == 0)
        return OXMPI_STATUS_OK;
    if (bytes > INT64_MAX)
        return failed(EFBIG);
    while (fallocate(file->fd, 0, 0, (off_t)bytes) != 0) {
        if (errno == EOPNOTSUPP || errno == ENOSYS)
            return OXMPI_STATUS_NOT_SUPPORTED;
        if (errno != EINTR)
            return failed(errno);
    }
    return OXMPI_STATUS_OK;
}

static oxmpi_status cplain_sync(void *argument) {
    open_file *file = argument;
    while (fsync(file->fd) != 0) {
        /* Files without a device are written always. */
        if (errno == EINVAL || errno == EROFS)
            return OXMPI_STATUS_OK;
        if (errno != EINTR)
            return failed(errno);
    }
    return OXMPI_STATUS_OK;
}

/* A lock of the open file description, which no other close of the file takes away. */
static oxmpi_status set_lock(open_file *file, const oxmpi_file_range *range, int kind) {
    struct flock lock = { 0 };
    if (range->offset > INT64_MAX)
        return OXMPI_STATUS_BAD_PARAM;
    lock.l_type = (short)kind;
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)range->offset;
    /* Up to the last byte that there can be is up to the end. */
    lock.l_len = range->len >= INT64_MAX - range->offset ? 0 : (off_t)range->len;
    while (fcntl(file->fd, F_OFD_SETLK, &lock) != 0) {
        if (errno == EAGAIN || errno == EACCES)
            return OXMPI_STATUS_PENDING;
        if (errno == ENOSYS || errno == ENOLCK || errno == EINVAL || errno == EOPNOTSUPP)
            return OXMPI_STATUS_NOT_SUPPORTED;
        if (errno != EINTR)
            return failed(errno);
    }
    return OXMPI_STATUS_OK;
}

static oxmpi_status cplain_lock(void *argument, const oxmpi_file_range *range, uint32_t kind) {
    open_file *file = argument;
    if (kind != OXMPI_FS_LOCK_SHARED && kind != OXMPI_FS_LOCK_EXCLUSIVE)
        return OXMPI_STATUS_BAD_PARAM;
    /* The system has no shared lock for a description that cannot read. */
    return set_lock(file, range, kind == OXMPI_FS_LOCK_SHARED && !file->writes_only ? F_RDLCK : F_WRLCK);
}

static oxmpi_status cplain_unlock(void *argument, const oxmpi_file_range *range) {
    return set_lock(argument, range, F_UNLCK);
}

static oxmpi_status cplain_refresh(void *argument, const oxmpi_file_range *range) {
    open_file *file = argument;
    uint64_t rest = INT64_MAX - (range->offset < INT64_MAX ? range->offset : INT64_MAX);
    int number = posix_fadvise(file->fd, (off_t)(INT64_MAX - rest), range->len < rest ? (off_t)range->len : 0,
                               POSIX_FADV_DONTNEED);
    /* Pipes and the like keep nothing. */
    return number == 0 || number == ESPIPE ? OXMPI_STATUS_OK : failed(number);
}

static const oxmpi_fs_table table = {
    .size = sizeof(oxmpi_fs_table),
    .version = OXMPI_FS_TABLE_VERSION,
    .open = cplain_open,
    .close = cplain_close,
    .delete_ = cplain_delete,
    .length = cplain_length,
    .resize = cplain_resize,
    .preallocate = cplain_preallocate,
    .sync = cplain_sync,
    .lock = cplain_lock,
    .unlock = cplain_unlock,
    .refresh = cplain_refresh,
};

static oxmpi_status cplain_query(void *state, const oxmpi_path_facts *facts, int32_t *priority) {
    (void)state, (void)facts;
    *priority = 1;
    return OXMPI_STATUS_OK;
}

static void cplain_finalize(void *state) {
    (void)state;
}

static const oxmpi_fs_module module = {
    .size = sizeof(oxmpi_fs_module),
    .table = &table,
    .query = cplain_query,
    .finalize = cplain_finalize,
};

static oxmpi_status cplain_component_open(const oxmpi_open_args *args, oxmpi_opened *out) {
    (void)args;
    out->priority = 1;
    out->modules = &module;
    out->count = 1;
    out->stride = sizeof module;
    return OXMPI_STATUS_OK;
}

static const oxmpi_descriptor descriptor = {
    .magic = OXMPI_MAGIC,
    .abi_major = OXMPI_ABI_MAJOR,
    .abi_minor = OXMPI_ABI_MINOR,
    .size = sizeof(oxmpi_descriptor),
    .target = OXMPI_STR(OXMPI_TARGET),
    .framework = OXMPI_STR(OXMPI_FS_FRAMEWORK),
    .framework_version = OXMPI_FS_VERSION,
    .name = OXMPI_STR("cplain"),
    .version = { 1, 0, 0 },
    .help = OXMPI_STR(""),
    .open = cplain_component_open,
    .lock_protocol = OXMPI_LOCK_PROTOCOL,
    .cri_stride = sizeof(oxmpi_cri),
    .table_version = OXMPI_FS_TABLE_VERSION,
};

const oxmpi_descriptor *oxmpi_component_fs_cplain(void);

const oxmpi_descriptor *oxmpi_component_fs_cplain(void) {
    return &descriptor;
}
