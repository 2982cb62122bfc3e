/* Collectives in C: barrier, broadcast and allgather of one group, by messages to neighbors on a ring.
 *
 * Built with nothing but the committed header, loaded like any other component, and put through the conformance suite by
 * tests/plugins. The functions decide by their arguments alone, so each stands in both tables: in a plan the services write
 * down what they do otherwise.
 *
 * A message that fails does not end a call, since other ranks wait for those that come later. The first failure is what the
 * call returns. Once data is missing, each later message says so in place of its data; in a plan the host sees to that.
 */
#include "oxmpi_component.h"
#include <stdlib.h>

/* All state of an instance. */
typedef struct {
    int32_t priority;
} component_state;

/* A collective in progress. */
typedef struct {
    const oxmpi_coll_comm *comm;
    int32_t tag;
    oxmpi_status first_failure;
    int data_missing;
} call;

/* A buffer of a message. */
typedef struct {
    uint8_t *at;
    uint64_t count;
    const oxmpi_type_desc *type;
} buffer;

static const oxmpi_run one_byte = { 0, 1, 1, 1 };

/* The type of messages without data; plans name it when the call has returned. */
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

static call begin(const oxmpi_coll_comm *comm, uint32_t which) {
    call c = { comm, OXMPI_COLL_FIRST_TAG - (int32_t)which, OXMPI_STATUS_OK, 0 };
    return c;
}

static void note(call *c, oxmpi_status failure, int data_missing) {
    if (c->first_failure == OXMPI_STATUS_OK)
        c->first_failure = failure;
    c->data_missing |= data_missing;
}

/* Starts a receive; null where it was refused. */
static oxmpi_request_header *start_receive(call *c, buffer to, uint32_t source) {
    oxmpi_request_header *request = NULL;
    oxmpi_status status = c->comm->services->irecv(c->comm, to.at, to.count, to.type, source, c->tag, &request);
    if (status != OXMPI_STATUS_OK) {
        note(c, status, 1);
        return NULL;
    }
    return request;
}

/* Starts a send, or a message that says that its data is missing; null where it was refused. */
static oxmpi_request_header *start_send(call *c, buffer from, uint32_t target) {
    const oxmpi_coll_services *services = c->comm->services;
    oxmpi_request_header *request = NULL;
    oxmpi_status status;
    if (c->data_missing) {
        /* A length that did not fit is this rank's own error; to others the arguments did not match. */
        oxmpi_status told =
            c->first_failure == OXMPI_STATUS_TRUNCATED ? OXMPI_STATUS_MISMATCH : c->first_failure;
        status = services->send_failure(c->comm, target, c->tag, told, &request);
        /* A target that cannot be told is not reached, and knows it by its receive. */
        return status == OXMPI_STATUS_OK ? request : NULL;
    }
    status = services->isend(c->comm, from.at, from.count, from.type, target, c->tag, &request);
    if (status != OXMPI_STATUS_OK) {
        note(c, status, 0);
        return NULL;
    }
    return request;
}

/* Waits for the requests that are not null. */
static void wait_for(call *c, oxmpi_request_header *one, oxmpi_request_header *other) {
    oxmpi_request_header *requests[2];
    size_t n = 0;
    if (one)
        requests[n++] = one;
    if (other)
        requests[n++] = other;
    if (n == 0)
        return;
    oxmpi_status status = c->comm->services->wait_all(c->comm, requests, n);
    if (status != OXMPI_STATUS_OK)
        note(c, status, 1);
}

/* Sends and receives at the same time: if all sent first, nobody would receive. */
static void exchange(call *c, buffer from, uint32_t target, buffer to, uint32_t source) {
    oxmpi_request_header *receive = start_receive(c, to, source);
    oxmpi_request_header *send = start_send(c, from, target);
    wait_for(c, receive, send);
}

/* In step k each rank tells the one 2^k ahead; behind the last step all know of all. */
static oxmpi_status cring_barrier(void *module, const oxmpi_coll_comm *comm, const oxmpi_coll_args *args) {
    call c = begin(comm, OXMPI_COLL_WHICH_BARRIER);
    uint32_t ranks = comm->num_ranks, rank = comm->rank;
    buffer nothing = { NULL, 0, &byte_type };
    (void)module, (void)args;
    for (uint32_t distance = 1; distance < ranks; distance *= 2)
        exchange(&c, nothing, (rank + distance) % ranks, nothing, (rank + ranks - distance) % ranks);
    return c.first_failure;
}

/* From the root on, each rank hands the data to the next. */
static oxmpi_status cring_bcast(void *module, const oxmpi_coll_comm *comm, const oxmpi_coll_args *args) {
    call c = begin(comm, OXMPI_COLL_WHICH_BCAST);
    uint32_t ranks = comm->num_ranks, rank = comm->rank;
    uint32_t place = (rank + ranks - (uint32_t)args->root) % ranks;
    buffer data = { args->recvbuf, args->recvcount, args->recvtype };
    (void)module;
    if (place != 0)
        wait_for(&c, start_receive(&c, data, (rank + ranks - 1) % ranks), NULL);
    if (place + 1 < ranks)
        wait_for(&c, start_send(&c, data, (rank + 1) % ranks), NULL);
    return c.first_failure;
}

/* Each rank hands the block on that it got last. */
static oxmpi_status cring_allgather(void *module, const oxmpi_coll_comm *comm, const oxmpi_coll_args *args) {
    call c = begin(comm, OXMPI_COLL_WHICH_ALLGATHER);
    uint32_t ranks = comm->num_ranks, rank = comm->rank;
    int64_t stride = (int64_t)args->recvcount * args->recvtype->extent;
    buffer block = { args->recvbuf + rank * stride, args->recvcount, args->recvtype };
    (void)module;
    if (args->sendbuf != OXMPI_COLL_IN_PLACE) {
        /* The types may differ, so the own block is a message, too. The services do not write to what is sent. */
        buffer own = { (uint8_t *)(uintptr_t)args->sendbuf, args->sendcount, args->sendtype };
        exchange(&c, own, rank, block, rank);
    }
    for (uint32_t step = 1; step < ranks; step++) {
        buffer next = block;
        next.at = args->recvbuf + (rank + ranks - step) % ranks * stride;
        exchange(&c, block, (rank + 1) % ranks, next, (rank + ranks - 1) % ranks);
        block = next;
    }
    return c.first_failure;
}

/* As a component is that was built against an older contract: its table ends early. */
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(oxmpi_coll_table)
#endif

/* Slots that are not named stay null: another component serves them. */
static const oxmpi_coll_table table = {
    .size = TABLE_SIZE,
    .version = OXMPI_COLL_TABLE_VERSION,
    .barrier = cring_barrier,
    .bcast = cring_bcast,
    .allgather = cring_allgather,
};

static oxmpi_status cring_query(void *s, const oxmpi_coll_comm *comm, oxmpi_coll_offer *offer) {
    component_state *state = s;
    (void)comm;
    offer->priority = state->priority;
    /* It keeps nothing of a communicator. */
    offer->module = state;
    offer->table = &table;
    offer->plans = &table;
    return OXMPI_STATUS_OK;
}

static void cring_free(void *s, void *module) {
    (void)s, (void)module;
}

static void cring_finalize(void *s) {
    free(s);
}

static oxmpi_status cring_open(const oxmpi_open_args *args, oxmpi_opened *out) {
    component_state *state = calloc(1, sizeof *state);
    oxmpi_coll_module *module = calloc(1, sizeof *module);
    if (!state || !module) {
        free(state), free(module);
        return OXMPI_STATUS_OUT_OF_MEMORY;
    }
    state->priority = (int32_t)args->values.ptr[0].int_;
    module->size = sizeof *module;
    module->state = state;
    module->comm_query = cring_query;
    module->comm_free = cring_free;
    module->finalize = cring_finalize;
    /* The module lives as long as the process: components are not unloaded. */
    out->priority = state->priority;
    out->modules = module;
    out->count = 1;
    out->stride = sizeof *module;
    return OXMPI_STATUS_OK;
}

static const oxmpi_param_decl params[] = {
    {
        .name = OXMPI_STR("priority"),
        .kind = OXMPI_PARAM_KIND_INT,
        .level = 8,
        .scope = OXMPI_SCOPE_READONLY,
        .default_ = OXMPI_STR("0"),
        .help = OXMPI_STR("Priority among collective components; each operation is served by the component of highest "
                          "priority that implements it. Raise it to prefer this component"),
        .min = 0,
        .max = 100,
    },
};

static const oxmpi_descriptor descriptor = {
    .magic = OXMPI_MAGIC,
    .abi_major = OXMPI_ABI_MAJOR,
    .abi_minor = OXMPI_ABI_MINOR,
    .size = sizeof(oxmpi_descriptor),
    .target = OXMPI_STR(OXMPI_TARGET),
    .framework = OXMPI_STR(OXMPI_COLL_FRAMEWORK),
    .framework_version = OXMPI_COLL_VERSION,
    .name = OXMPI_STR("cring"),
    .version = { 1, 0, 0 },
    .params = { params, sizeof params / sizeof params[0] },
    .help = OXMPI_STR(""),
    .open = cring_open,
    .lock_protocol = OXMPI_LOCK_PROTOCOL,
    .cri_stride = sizeof(oxmpi_cri),
    .table_version = OXMPI_COLL_TABLE_VERSION,
};

const oxmpi_descriptor *oxmpi_component_coll_cring(void);

const oxmpi_descriptor *oxmpi_component_coll_cring(void) {
    return &descriptor;
}
