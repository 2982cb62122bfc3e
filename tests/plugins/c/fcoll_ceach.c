/* Collective file access in C without exchange: each rank transfers its own data, and all agree on how that ended.
 *
 * Built with nothing but the committed header, loaded like any other component, and put through the conformance suite by
 * tests/plugins. A plan is a chain of steps: a transfer for each batch of pieces, then rounds in which each rank sends the
 * worst outcome that it knows of to the one 2^k above. Both sides of a piece, file and memory, are found by the same walk
 * over a type's description, at any byte of its packed data.
 */
#include "oxmpi_component.h"
#include <stdlib.h>
#include <string.h>

/* Most pieces of one transfer. */
enum { BATCH = 512 };

static const oxmpi_run one_byte = { 0, 1, 1, 1 };

/* The type of messages, which outlives all plans. */
static const oxmpi_type_desc byte_type = {
    .size = sizeof(oxmpi_type_desc),
    .flags = OXMPI_TYPE_FLAG_PREDEFINED | OXMPI_TYPE_FLAG_COMMITTED | OXMPI_TYPE_FLAG_CONTIGUOUS,
    .packed = 1,
    .extent = 1,
    .true_extent = 1,
    .base = OXMPI_BASE_BYTE,
    .refs = 1,
    .elements = 1,
    .runs = { &one_byte, 1 },
};

/* A block of a layout: its displacement, and how many bytes of it are left. */
typedef struct {
    int64_t disp;
    uint64_t len;
} block;

/* The item of a list that byte `*at` of the list's data lies in; `*at` is made one of the item's. */
static uint64_t item_at(const oxmpi_type_desc *type, uint64_t first, uint64_t items, uint64_t *at) {
    uint64_t low = first, high = first + items - 1;
    if (type->nest.len == 0) {
        /* Only few runs have no sums. */
        for (; low < high && *at >= type->runs.ptr[low].len * type->runs.ptr[low].count; low++)
            *at -= type->runs.ptr[low].len * type->runs.ptr[low].count;
        return low;
    }
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (type->nest.ptr[middle].end > *at)
            high = middle;
        else
            low = middle + 1;
    }
    if (low > first)
        *at -= type->nest.ptr[low - 1].end;
    return low;
}

/* The block of one element that byte `at` of its data lies in. Loops are entered one after the other. */
static block in_element(const oxmpi_type_desc *type, uint64_t at) {
    const int nests = type->nest.len > 0;
    uint64_t first = 0, items = nests ? type->top : type->runs.len;
    int64_t disp = 0;
    for (;;) {
        uint64_t item = item_at(type, first, items, &at);
        const oxmpi_run *run = &type->runs.ptr[item];
        disp += run->disp + (int64_t)(at / run->len) * run->stride;
        at %= run->len;
        if (!nests || type->nest.ptr[item].items == 0)
            return (block){ disp + (int64_t)at, run->len - at };
        first = type->nest.ptr[item].first;
        items = type->nest.ptr[item].items;
    }
}

/* Whether elements one behind the other are one block. */
static int is_one_block(const oxmpi_type_desc *type) {
    return type->runs.len == 1 && type->nest.len == 0 && type->runs.ptr->count == 1 &&
           type->extent == (int64_t)type->packed;
}

/* The block that byte `at` of the packed data of many elements lies in. */
static block block_at(const oxmpi_type_desc *type, uint64_t at) {
    if (is_one_block(type))
        return (block){ type->runs.ptr->disp + (int64_t)at, UINT64_MAX - at };
    int64_t origin = (int64_t)(at / type->packed) * type->extent;
    at %= type->packed;
    if (type->size >= sizeof *type && type->places.len > 0) {
        uint64_t len = type->packed / type->places.len;
        return (block){ origin + type->places.ptr[at / len] + (int64_t)(at % len), len - at % len };
    }
    block found = in_element(type, at);
    found.disp += origin;
    return found;
}

/* An access of this rank while its plan goes on. It is freed with the last step that has it. */
typedef struct {
    oxmpi_file_plan given;
    /* Bytes of the access that have been transferred, and of the batch under way. */
    uint64_t moved, due;
    oxmpi_status outcome;
    /* Places of the plan: a transfer's result, the outcome to send, the one received. */
    uint8_t *places;
    /* In rounds: how far the rank above is; a message was lost. */
    uint32_t distance;
    int lost;
    /* Steps that have this. */
    uint32_t steps;
} call;

/* The next pieces, and how many bytes they have. */
static size_t next_pieces(const call *c, oxmpi_file_piece *pieces, uint64_t *bytes) {
    const oxmpi_file_access *access = c->given.access;
    size_t n = 0;
    uint64_t at = c->moved;
    while (at < access->len) {
        block file = block_at(access->filetype, access->from + at), memory = block_at(access->memtype, at);
        uint64_t len = file.len < memory.len ? file.len : memory.len;
        if (len > access->len - at)
            len = access->len - at;
        oxmpi_file_piece piece = { access->displacement + (uint64_t)file.disp, access->memory + memory.disp, len };
        oxmpi_file_piece *last = n > 0 ? &pieces[n - 1] : NULL;
        if (last && last->offset + last->len == piece.offset && last->memory + last->len == piece.memory)
            last->len += len;
        else if (n == BATCH)
            break;
        else
            pieces[n++] = piece;
        at += len;
    }
    *bytes = at - c->moved;
    return n;
}

/* Has a function called when all steps so far are done. */
static oxmpi_status then(call *c, const oxmpi_coll_comm *comm, oxmpi_extend_fn next) {
    oxmpi_status status = comm->services->extend(comm, next, c);
    if (status == OXMPI_STATUS_OK)
        c->steps++;
    return status;
}

/* A step that is thrown away. */
static oxmpi_status dropped(call *c) {
    if (--c->steps == 0)
        free(c);
    return OXMPI_STATUS_OK;
}

static oxmpi_status after_round(void *ctx, const oxmpi_coll_comm *comm, uint32_t what);

/* The next round of the agreement, or the plan's end. */
static oxmpi_status agree(call *c, const oxmpi_coll_comm *comm) {
    const oxmpi_coll_services *services = comm->services;
    oxmpi_request_header *both[2];
    uint32_t ranks = comm->num_ranks;
    if (c->distance >= ranks) {
        /* A lost message is the operation's error without this one's doing. */
        c->given.services->moved(c->given.ctx, c->moved, c->lost ? OXMPI_STATUS_OK : c->outcome);
        return OXMPI_STATUS_OK;
    }
    uint32_t to = (comm->rank + c->distance) % ranks, from = (comm->rank + ranks - c->distance) % ranks;
    uint64_t bytes = sizeof c->outcome;
    memcpy(c->places + 64, &c->outcome, bytes);
    oxmpi_status status =
        services->irecv(comm, c->places + 128, bytes, &byte_type, from, OXMPI_COLL_FIRST_TAG, &both[0]);
    if (status == OXMPI_STATUS_OK)
        status = services->isend(comm, c->places + 64, bytes, &byte_type, to, OXMPI_COLL_FIRST_TAG, &both[1]);
    if (status == OXMPI_STATUS_OK)
        status = services->wait_all(comm, both, 2);
    if (status != OXMPI_STATUS_OK)
        return status;
    c->distance *= 2;
    return then(c, comm, after_round);
}

static oxmpi_status after_round(void *ctx, const oxmpi_coll_comm *comm, uint32_t what) {
    call *c = ctx;
    oxmpi_status other;
    if (what == OXMPI_COLL_EXTEND_DROP)
        return dropped(c);
    memcpy(&other, c->places + 128, sizeof other);
    /* Failures are negative. */
    if (what == OXMPI_COLL_EXTEND_LOST)
        c->lost = 1;
    else if (other < c->outcome)
        c->outcome = other;
    return agree(c, comm);
}

static oxmpi_status transfer(call *c, const oxmpi_coll_comm *comm);

static oxmpi_status after_transfer(void *ctx, const oxmpi_coll_comm *comm, uint32_t what) {
    call *c = ctx;
    uint64_t bytes;
    int32_t status;
    if (what == OXMPI_COLL_EXTEND_DROP)
        return dropped(c);
    memcpy(&bytes, c->places, sizeof bytes);
    memcpy(&status, c->places + 8, sizeof status);
    c->moved += bytes;
    c->outcome = status;
    /* A read that is short has come to the end of the file. */
    return status != OXMPI_STATUS_OK || bytes < c->due ? agree(c, comm) : transfer(c, comm);
}

/* The next batch, or the agreement where all is transferred. */
static oxmpi_status transfer(call *c, const oxmpi_coll_comm *comm) {
    oxmpi_file_piece pieces[BATCH];
    size_t n = next_pieces(c, pieces, &c->due);
    if (n == 0)
        return agree(c, comm);
    oxmpi_status status = c->given.services->transfer(c->given.ctx, comm, c->given.access->what, pieces, n,
                                                      (uint64_t *)(void *)c->places,
                                                      (int32_t *)(void *)(c->places + 8), 0);
    return status == OXMPI_STATUS_OK ? then(c, comm, after_transfer) : status;
}

static oxmpi_status begin(void *ctx, const oxmpi_coll_comm *comm, uint32_t what) {
    return what == OXMPI_COLL_EXTEND_DROP ? dropped(ctx) : transfer(ctx, comm);
}

/* The first step does everything: from there on the plan has the call, and frees it. */
static oxmpi_status ceach_plan(void *state, const oxmpi_file_plan *args) {
    const oxmpi_coll_services *services = args->comm->services;
    (void)state;
    if (services->size < offsetof(oxmpi_coll_services, extend) + sizeof services->extend)
        return OXMPI_STATUS_NOT_SUPPORTED;
    call *c = calloc(1, sizeof *c);
    if (!c)
        return OXMPI_STATUS_OUT_OF_MEMORY;
    c->given = *args;
    c->distance = 1;
    oxmpi_status status = services->memory(args->comm, 192, &c->places);
    if (status == OXMPI_STATUS_OK) {
        memset(c->places, 0, 192);
        status = then(c, args->comm, begin);
    }
    if (status != OXMPI_STATUS_OK)
        free(c);
    return status;
}

static const oxmpi_fcoll_table table = {
    .size = sizeof(oxmpi_fcoll_table),
    .version = OXMPI_FCOLL_TABLE_VERSION,
    .plan = ceach_plan,
};

static oxmpi_status ceach_query(void *state, const oxmpi_fcoll_facts *facts, int32_t *priority) {
    (void)state, (void)facts;
    *priority = 1;
    return OXMPI_STATUS_OK;
}

static void ceach_finalize(void *state) {
    (void)state;
}

static const oxmpi_fcoll_module module = {
    .size = sizeof(oxmpi_fcoll_module),
    .table = &table,
    .query = ceach_query,
    .finalize = ceach_finalize,
};

static oxmpi_status ceach_component_open(const oxmpi_open_args *args, oxmpi_opened *out) {
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
    .framework = OXMPI_STR(OXMPI_FCOLL_FRAMEWORK),
    .framework_version = OXMPI_FCOLL_VERSION,
    .name = OXMPI_STR("ceach"),
    .version = { 1, 0, 0 },
    .help = OXMPI_STR(""),
    .open = ceach_component_open,
    .lock_protocol = OXMPI_LOCK_PROTOCOL,
    .cri_stride = sizeof(oxmpi_cri),
    .table_version = OXMPI_FCOLL_TABLE_VERSION,
};

const oxmpi_descriptor *oxmpi_component_fcoll_ceach(void);

const oxmpi_descriptor *oxmpi_component_fcoll_ceach(void) {
    return &descriptor;
}
