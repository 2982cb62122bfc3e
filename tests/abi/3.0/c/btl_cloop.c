/* A BTL in C: messages of a process to itself, in a bounded list per context.
 *
 * Built with nothing but the committed header, loaded like any other component, and put through the
 * conformance suite by tests/plugins. Each instance keeps its own state behind what `open` returned.
 */
#include "oxmpi_component.h"
#include <stdlib.h>
#include <string.h>

#define EAGER_LIMIT 4096
#define MAX_SEND 32768
#define BATCH 32

typedef struct node {
    struct node *next;
    uint64_t len;
    uint32_t tag;
    uint8_t bytes[];
} node;

/* One per context; the caller serialises its verbs. */
typedef struct {
    node *first;
    node **last;
    uint64_t bytes;
    int delivering;
} queue;

typedef struct {
    const oxmpi_host_table *host;
    uint64_t capacity;
    uint32_t contexts;
    queue *queues;
} module_state;

static oxmpi_status cloop_add_procs(void *s, oxmpi_proc_list procs, void **endpoints) {
    module_state *m = s;
    for (size_t i = 0; i < procs.len; i++) {
        /* Later hosts say more of a process: the next one is `stride` bytes on. */
        const oxmpi_proc_info *proc = (const void *)((const char *)procs.first + i * procs.stride);
        /* An endpoint needs no memory of its own here: the module stands for it. */
        endpoints[i] = proc->proc == m->host->job->rank ? m : NULL;
    }
    return OXMPI_STATUS_OK;
}

static oxmpi_status cloop_del_procs(void *s, oxmpi_slice_of_endpoint endpoints) {
    (void)s, (void)endpoints;
    return OXMPI_STATUS_OK;
}

static oxmpi_status cloop_finalize(void *s) {
    module_state *m = s;
    for (uint32_t c = 0; c < m->contexts; c++) {
        for (node *n = m->queues[c].first, *next; n; n = next) {
            next = n->next;
            free(n);
        }
    }
    free(m->queues);
    free(m);
    return OXMPI_STATUS_OK;
}

static oxmpi_status cloop_send(void *s, void *endpoint, uint32_t ctx, const oxmpi_send_desc *d) {
    module_state *m = s;
    queue *q = &m->queues[ctx];
    uint64_t total = d->hdr_len + d->len;
    (void)endpoint;
    if (total > MAX_SEND)
        return OXMPI_STATUS_BAD_PARAM;
    if (q->bytes + sizeof(node) + total > m->capacity)
        return OXMPI_STATUS_NO_RESOURCE;
    node *n = malloc(sizeof(node) + total);
    if (!n)
        return OXMPI_STATUS_NO_RESOURCE;
    n->next = NULL;
    n->len = total;
    n->tag = d->tag;
    memcpy(n->bytes, d->hdr, d->hdr_len);
    if (d->pack)
        d->pack(d->pack_ctx, 0, n->bytes + d->hdr_len, d->len);
    else if (d->len)
        memcpy(n->bytes + d->hdr_len, d->payload, d->len);
    *q->last = n;
    q->last = &n->next;
    q->bytes += sizeof(node) + total;
    return OXMPI_STATUS_OK;
}

static int32_t cloop_progress(void *s, uint32_t ctx) {
    module_state *m = s;
    queue *q = &m->queues[ctx];
    int32_t handled = 0;
    if (q->delivering)
        return 0;
    q->delivering = 1;
    for (; q->first && handled < BATCH; handled++) {
        node *n = q->first;
        q->first = n->next;
        if (!q->first)
            q->last = &q->first;
        const oxmpi_am_entry *row = &m->host->am_table[n->tag & 0xff];
        oxmpi_recv_desc r = { n->bytes, n->len, m->host->job->rank, ctx, m, 0 };
        uint32_t answer = row->receive(row->ctx, &r); /* may send on this context */
        q->bytes -= sizeof(node) + n->len;
        free(n);
        if (answer & OXMPI_RECEIVE_STOP) {
            handled++;
            break;
        }
    }
    q->delivering = 0;
    return handled;
}

/* As a component is that was built against an older contract: its table ends early. */
#ifndef TABLE_SIZE
#define TABLE_SIZE sizeof(oxmpi_btl_table)
#endif

/* Slots that are not named stay null: not offered. */
static const oxmpi_btl_table table = {
    .size = TABLE_SIZE,
    .version = OXMPI_BTL_TABLE_VERSION,
    .add_procs = cloop_add_procs,
    .del_procs = cloop_del_procs,
    .finalize = cloop_finalize,
    .send = cloop_send,
    .progress = cloop_progress,
};

static oxmpi_status cloop_open(const oxmpi_open_args *args, oxmpi_opened *out) {
    static const oxmpi_str_ref name = OXMPI_STR("cloop");
    static const oxmpi_str_ref no_memory = OXMPI_STR("no memory for the module");
    const oxmpi_host_table *host = args->host;
    module_state *m = calloc(1, sizeof *m);
    queue *queues = calloc(host->num_cris, sizeof *queues);
    oxmpi_btl_module *module = calloc(1, sizeof *module);
    oxmpi_btl_attrs *attrs = calloc(1, sizeof *attrs);
    if (!m || !queues || !module || !attrs) {
        free(m), free(queues), free(module), free(attrs);
        host->log(host->instance, 0, name, no_memory);
        return OXMPI_STATUS_OUT_OF_MEMORY;
    }
    for (uint32_t c = 0; c < host->num_cris; c++)
        queues[c].last = &queues[c].first;
    m->host = host;
    m->capacity = (uint64_t)args->values.ptr[0].int_;
    m->contexts = host->num_cris;
    m->queues = queues;
    module->size = sizeof *module;
    module->state = m;
    module->table = &table;
    module->attrs = attrs;
    attrs->size = sizeof *attrs;
    attrs->contexts = host->num_cris;
    attrs->eager_limit = EAGER_LIMIT;
    attrs->rndv_eager_limit = EAGER_LIMIT;
    attrs->max_send_size = MAX_SEND;
    attrs->min_get_size = UINT64_MAX;
    attrs->min_put_size = UINT64_MAX;
    attrs->latency = 1;
    attrs->bandwidth = 100;
    attrs->exclusivity = 1;
    memcpy(attrs->device, "cloop", sizeof "cloop");
    /* Module and attributes live as long as the process: components are not unloaded. */
    out->priority = 0;
    out->modules = module;
    out->count = 1;
    out->stride = sizeof *module;
    return OXMPI_STATUS_OK;
}

static const oxmpi_param_decl params[] = {
    {
        .name = OXMPI_STR("queue_size"),
        .kind = OXMPI_PARAM_KIND_SIZE,
        .level = 9,
        .scope = OXMPI_SCOPE_READONLY,
        .default_ = OXMPI_STR("256k"),
        .help = OXMPI_STR("Bytes of messages on their way, one such bound per communication resource"),
        .min = 65536,
        .max = INT64_C(1) << 32,
    },
};

static const oxmpi_descriptor descriptor = {
    .magic = OXMPI_MAGIC,
    .abi_major = OXMPI_ABI_MAJOR,
    .abi_minor = OXMPI_ABI_MINOR,
    .size = sizeof(oxmpi_descriptor),
    .target = OXMPI_STR(OXMPI_TARGET),
    .framework = OXMPI_STR(OXMPI_BTL_FRAMEWORK),
    .framework_version = OXMPI_BTL_VERSION,
    .name = OXMPI_STR("cloop"),
    .version = { 1, 0, 0 },
    .params = { params, sizeof params / sizeof params[0] },
    .help = OXMPI_STR(""),
    .open = cloop_open,
    .lock_protocol = OXMPI_LOCK_PROTOCOL,
    .cri_stride = sizeof(oxmpi_cri),
    .table_version = OXMPI_BTL_TABLE_VERSION,
};

const oxmpi_descriptor *oxmpi_component_btl_cloop(void);

const oxmpi_descriptor *oxmpi_component_btl_cloop(void) {
    return &descriptor;
}
