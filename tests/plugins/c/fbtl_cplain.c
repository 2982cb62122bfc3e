/* Transfers of file data in C: one thread for each open file, and calls of the system for each piece.
 *
 * Built with nothing but the committed header, loaded like any other component, and put through the conformance suite by
 * tests/plugins. A caller that has nothing else to do carries its transfer out itself; others only put it into the list.
 */
#define _POSIX_C_SOURCE 200809L
#include "oxmpi_component.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Codes of failures of the system (oxmpi_fs::error). */
static oxmpi_status failed(int number) {
    return -1000 - number;
}

/* An operation that waits for the thread. Its place is the operation's own words. */
typedef struct entry {
    struct entry *next;
    const oxmpi_file_transfer *transfer;
    oxmpi_file_operation *operation;
    int cancelled;
} entry;

OXMPI_ASSERT(sizeof(entry) <= sizeof(((oxmpi_file_operation *)0)->own));

/* An open file. */
typedef struct {
    int fd;
    uint32_t mode;
    oxmpi_file_bell bell;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t due;
    entry *first, *last;
    int ends;
    /* Of the process that has the thread: a child of a fork has none. */
    pid_t process;
    /* Threads that are ringing the bell. */
    uint32_t ringing;
} open_file;

/* Status and bytes first, then the end, then the bell: the operation may be gone behind the second. */
static void finish(open_file *file, oxmpi_file_operation *operation, oxmpi_status status, uint64_t bytes) {
    __atomic_fetch_add(&file->ringing, 1, __ATOMIC_ACQ_REL);
    operation->status = status;
    operation->bytes = bytes;
    __atomic_store_n(&operation->ended, 1, __ATOMIC_RELEASE);
    /* Not constant: only this word is. */
    oxmpi_waking_word *word = (oxmpi_waking_word *)(uintptr_t)file->bell.word;
    __atomic_fetch_add(&word->value, 1, __ATOMIC_ACQ_REL);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    if (__atomic_load_n(&word->sleepers, __ATOMIC_RELAXED))
        file->bell.wake(file->bell.ctx, word);
    __atomic_fetch_sub(&file->ringing, 1, __ATOMIC_ACQ_REL);
}

/* One piece: bytes that were transferred; *status where that failed. */
static uint64_t carry_piece(open_file *file, uint32_t what, const oxmpi_file_piece *piece, oxmpi_status *status) {
    const uint64_t most = 0x7ffff000;
    uint64_t done = 0;
    while (done < piece->len) {
        uint64_t rest = piece->len - done, at = piece->offset + done;
        if (at > INT64_MAX || at < piece->offset) {
            *status = failed(EINVAL);
            return done;
        }
        size_t len = (size_t)(rest < most ? rest : most);
        ssize_t n = what == OXMPI_FBTL_TRANSFER_WRITE ? pwrite(file->fd, piece->memory + done, len, (off_t)at)
                                                      : pread(file->fd, piece->memory + done, len, (off_t)at);
        if (n > 0) {
            done += (uint64_t)n;
        } else if (n == 0) {
            if (what == OXMPI_FBTL_TRANSFER_WRITE)
                *status = failed(EIO);
            return done;
        } else if (errno == EAGAIN) {
            struct pollfd ready = { file->fd, what == OXMPI_FBTL_TRANSFER_WRITE ? POLLOUT : POLLIN, 0 };
            poll(&ready, 1, 10);
        } else if (errno != EINTR) {
            *status = failed(errno);
            return done;
        }
    }
    return done;
}

/* All pieces, up to the first that is short or fails. */
static void carry(open_file *file, const oxmpi_file_transfer *transfer, oxmpi_file_operation *operation) {
    oxmpi_status status = OXMPI_STATUS_OK;
    uint64_t bytes = 0;
    for (size_t i = 0; i < transfer->num_pieces; i++) {
        const oxmpi_file_piece *piece = &transfer->pieces[i];
        uint64_t done = carry_piece(file, transfer->what, piece, &status);
        if (status != OXMPI_STATUS_OK)
            break;
        bytes += done;
        if (done < piece->len)
            break;
    }
    finish(file, operation, status, bytes);
}

static void *life(void *argument) {
    open_file *file = argument;
    pthread_mutex_lock(&file->lock);
    for (;;) {
        while (!file->first && !file->ends)
            pthread_cond_wait(&file->due, &file->lock);
        entry *one = file->first;
        if (!one)
            break;
        file->first = one->next;
        if (!one->next)
            file->last = NULL;
        /* The entry goes with the operation. */
        const oxmpi_file_transfer *transfer = one->transfer;
        oxmpi_file_operation *operation = one->operation;
        int cancelled = one->cancelled;
        pthread_mutex_unlock(&file->lock);
        if (cancelled)
            finish(file, operation, OXMPI_STATUS_NOT_AVAILABLE, 0);
        else
            carry(file, transfer, operation);
        pthread_mutex_lock(&file->lock);
    }
    pthread_mutex_unlock(&file->lock);
    return NULL;
}

static oxmpi_status cplain_open(void *state, const oxmpi_file_facts *facts, void **out) {
    open_file *file = calloc(1, sizeof *file);
    sigset_t all, before;
    (void)state;
    if (!file)
        return OXMPI_STATUS_OUT_OF_MEMORY;
    file->fd = facts->fd;
    file->mode = facts->mode;
    file->process = getpid();
    file->bell = *facts->bell;
    pthread_mutex_init(&file->lock, NULL);
    pthread_cond_init(&file->due, NULL);
    /* The program's signals are not for this thread. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(&file->thread, NULL, life, file);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code) {
        free(file);
        return failed(code);
    }
    *out = file;
    return OXMPI_STATUS_OK;
}

static void cplain_close(void *argument) {
    open_file *file = argument;
    if (getpid() != file->process) {
        free(file);
        return;
    }
    pthread_mutex_lock(&file->lock);
    file->ends = 1;
    pthread_cond_signal(&file->due);
    pthread_mutex_unlock(&file->lock);
    pthread_join(file->thread, NULL);
    while (__atomic_load_n(&file->ringing, __ATOMIC_ACQUIRE))
        poll(NULL, 0, 1);
    pthread_mutex_destroy(&file->lock);
    pthread_cond_destroy(&file->due);
    free(file);
}

static oxmpi_status cplain_submit(void *argument, const oxmpi_file_transfer *transfer, const oxmpi_file_operation *op) {
    open_file *file = argument;
    /* The host's operation is the component's until it has ended. */
    oxmpi_file_operation *operation = (oxmpi_file_operation *)(uintptr_t)op;
    int reads = transfer->what == OXMPI_FBTL_TRANSFER_READ, writes = transfer->what == OXMPI_FBTL_TRANSFER_WRITE;
    uint32_t against = reads ? OXMPI_FS_MODE_WRONLY : OXMPI_FS_MODE_RDONLY;
    if ((!reads && !writes) || (file->mode & against))
        return OXMPI_STATUS_BAD_PARAM;
    if (transfer->flags & OXMPI_FBTL_TRANSFER_NOW) {
        carry(file, transfer, operation);
        return OXMPI_STATUS_OK;
    }
    if (getpid() != file->process) {
        finish(file, operation, OXMPI_STATUS_NOT_SUPPORTED, 0);
        return OXMPI_STATUS_OK;
    }
    entry *one = (entry *)(void *)operation->own;
    one->next = NULL;
    one->transfer = transfer;
    one->operation = operation;
    one->cancelled = 0;
    pthread_mutex_lock(&file->lock);
    if (file->last)
        file->last->next = one;
    else
        file->first = one;
    file->last = one;
    pthread_cond_signal(&file->due);
    pthread_mutex_unlock(&file->lock);
    return OXMPI_STATUS_OK;
}

static void cplain_cancel(void *argument, const oxmpi_file_operation *operation) {
    open_file *file = argument;
    if (getpid() != file->process)
        return;
    pthread_mutex_lock(&file->lock);
    for (entry *one = file->first; one; one = one->next)
        if (one->operation == operation)
            one->cancelled = 1;
    pthread_mutex_unlock(&file->lock);
}

static uint32_t cplain_harvest(void *state) {
    (void)state;
    return 0;
}

static int32_t cplain_event_fd(void *state) {
    (void)state;
    return -1;
}

static const oxmpi_fbtl_table table = {
    .size = sizeof(oxmpi_fbtl_table),
    .version = OXMPI_FBTL_TABLE_VERSION,
    .open = cplain_open,
    .close = cplain_close,
    .submit = cplain_submit,
    .cancel = cplain_cancel,
    .harvest = cplain_harvest,
    .event_fd = cplain_event_fd,
};

static oxmpi_status cplain_query(void *state, const oxmpi_file_facts *facts, int32_t *priority) {
    (void)state, (void)facts;
    *priority = 1;
    return OXMPI_STATUS_OK;
}

static void cplain_finalize(void *state) {
    (void)state;
}

static const oxmpi_fbtl_module module = {
    .size = sizeof(oxmpi_fbtl_module),
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
    .framework = OXMPI_STR(OXMPI_FBTL_FRAMEWORK),
    .framework_version = OXMPI_FBTL_VERSION,
    .name = OXMPI_STR("cplain"),
    .version = { 1, 0, 0 },
    .help = OXMPI_STR(""),
    .open = cplain_component_open,
    .lock_protocol = OXMPI_LOCK_PROTOCOL,
    .cri_stride = sizeof(oxmpi_cri),
    .table_version = OXMPI_FBTL_TABLE_VERSION,
};

const oxmpi_descriptor *oxmpi_component_fbtl_cplain(void);

const oxmpi_descriptor *oxmpi_component_fbtl_cplain(void) {
    return &descriptor;
}
