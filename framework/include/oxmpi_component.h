/* What a component is, for authors who write C or C++: the descriptor, the host's table, the tables of BTLs and of
 * one-sided components.
 *
 * Generated from framework/{mca,btl,datatype,osc}; do not edit. The comments are those of the Rust source,
 * where names are written without `oxmpi_`; a field that would be a keyword has a `_` behind.
 * docs/adding-a-btl.md and docs/adding-an-osc.md are the guides, docs/abi.md the promise.
 *
 * A component is a shared object lib<framework>_<name>.so that exports one function,
 *     const oxmpi_descriptor *oxmpi_component_<framework>_<name>(void);
 * Set every `size` to the sizeof of its struct. All tables live as long as the process.
 */
#ifndef OXMPI_COMPONENT_H
#define OXMPI_COMPONENT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OXMPI_ASSERT(what) static_assert(what, #what)
#define OXMPI_ALIGN(n) alignas(n)
extern "C" {
#else
#define OXMPI_ASSERT(what) _Static_assert(what, #what)
#define OXMPI_ALIGN(n) _Alignas(n)
#endif

/* Used before they are defined. */
typedef struct oxmpi_request_header oxmpi_request_header;
typedef struct oxmpi_type_desc oxmpi_type_desc;

/* The biased part of a lock; below. */
typedef struct oxmpi_bias oxmpi_bias;

#define OXMPI_MAGIC UINT64_C(0x504d4349504d584f) /* "OXMPICMP" */
#define OXMPI_ABI_MAJOR 2
#define OXMPI_ABI_MINOR 0
#define OXMPI_TARGET "64-le-line64"
#define OXMPI_BTL_FRAMEWORK "btl"
#define OXMPI_BTL_VERSION { 1, 2, 0 }
#define OXMPI_OSC_FRAMEWORK "osc"
#define OXMPI_OSC_VERSION { 1, 0, 0 }

/* A status code. Zero is success; every failure is negative. */
typedef int32_t oxmpi_status;
#define OXMPI_STATUS_OK 0
/* Not done and not failed: the caller got a request to wait for, or asks again later. */
#define OXMPI_STATUS_PENDING 1
/* Back-pressure: keep the operation, progress, offer it again. */
#define OXMPI_STATUS_NO_RESOURCE (-1)
#define OXMPI_STATUS_NOT_SUPPORTED (-2)
#define OXMPI_STATUS_BAD_PARAM (-3)
#define OXMPI_STATUS_NOT_FOUND (-4)
#define OXMPI_STATUS_OUT_OF_MEMORY (-5)
#define OXMPI_STATUS_UNREACHABLE (-6)
/* The peer broke the protocol, closed, or died. */
#define OXMPI_STATUS_PEER_FAILED (-7)
#define OXMPI_STATUS_TRUNCATED (-8)
/* The component has nothing to offer here (no device, switched off); dropped in silence. */
#define OXMPI_STATUS_NOT_AVAILABLE (-9)
#define OXMPI_STATUS_INTERNAL (-10)
/* A panic was caught at the boundary; the component is not used again. */
#define OXMPI_STATUS_PANICKED (-11)
#define OXMPI_STATUS_NO_PERMISSION (-12)
#define OXMPI_STATUS_TIMEOUT (-13)
/* Ranks gave a collective arguments that do not fit together. */
#define OXMPI_STATUS_MISMATCH (-14)
/* A one-sided call outside of the epoch it needs, or a synchronisation call that does not fit the window's state
 * (MPI_ERR_RMA_SYNC; MPI 5.0 §12.6.2). */
#define OXMPI_STATUS_RMA_SYNC (-15)
/* Conflicting accesses to a window (MPI_ERR_RMA_CONFLICT). */
#define OXMPI_STATUS_RMA_CONFLICT (-16)
/* The target memory is not part of the window (MPI_ERR_RMA_RANGE). */
#define OXMPI_STATUS_RMA_RANGE (-17)
/* Memory cannot be attached (MPI_ERR_RMA_ATTACH). */
#define OXMPI_STATUS_RMA_ATTACH (-18)
/* Memory cannot be shared (MPI_ERR_RMA_SHARED). */
#define OXMPI_STATUS_RMA_SHARED (-19)
/* The window's flavor does not allow the call (MPI_ERR_RMA_FLAVOR). */
#define OXMPI_STATUS_RMA_FLAVOR (-20)

/* Borrowed text. The bytes live as long as the component (for what a component gives) or the call
 * (for what a call takes). UTF-8, not terminated. */
typedef struct oxmpi_str_ref {
    const uint8_t *ptr;
    size_t len;
} oxmpi_str_ref;

typedef struct oxmpi_version {
    uint16_t major;
    uint16_t minor;
    uint32_t patch;
} oxmpi_version;

/* How a value is written and read; numbers, because no Rust enum is taken from the other side. */
typedef uint32_t oxmpi_param_kind;
#define OXMPI_PARAM_KIND_INT 1
#define OXMPI_PARAM_KIND_UNSIGNED 2
/* Bytes, written with an optional k, m or g (powers of 1024). */
#define OXMPI_PARAM_KIND_SIZE 3
#define OXMPI_PARAM_KIND_BOOL 4
#define OXMPI_PARAM_KIND_DOUBLE 5
#define OXMPI_PARAM_KIND_STRING 6
/* One of `enumerators`, by name; arrives as the name's index in `int`. */
#define OXMPI_PARAM_KIND_ENUM 7
/* Comma-separated, `^` in front negates; arrives as written in `text`. */
#define OXMPI_PARAM_KIND_LIST 8

/* MPI_T verbosity, 1 (user, basic) to 9 (developer, all). */
typedef uint32_t oxmpi_level;

/* MPI_T scope. */
typedef uint32_t oxmpi_scope;
#define OXMPI_SCOPE_CONSTANT 1
#define OXMPI_SCOPE_READONLY 2
#define OXMPI_SCOPE_LOCAL 3
#define OXMPI_SCOPE_GROUP 4
#define OXMPI_SCOPE_GROUP_EQ 5
#define OXMPI_SCOPE_ALL 6
#define OXMPI_SCOPE_ALL_EQ 7

/* Bits of `ParamDecl::flags`. */
/* Using the parameter is warned about: it will go. */
#define OXMPI_PARAM_FLAG_DEPRECATED 1
/* Using one of the synonyms is warned about, and the name to use is named. */
#define OXMPI_PARAM_FLAG_SYNONYMS_DEPRECATED 2
/* For developers of the component: left out of listings unless they are asked for everything. */
#define OXMPI_PARAM_FLAG_INTERNAL 4

typedef struct oxmpi_slice_of_str_ref {
    const oxmpi_str_ref *ptr;
    size_t len;
} oxmpi_slice_of_str_ref;
typedef struct oxmpi_param_decl {
    oxmpi_str_ref name;
    oxmpi_param_kind kind;
    oxmpi_level level;
    oxmpi_scope scope;
    /* Bits of `param_flag`. */
    uint32_t flags;
    /* As a user would write it. */
    oxmpi_str_ref default_;
    oxmpi_str_ref help;
    /* Smallest and largest value for numbers; both zero means no bound. */
    int64_t min;
    int64_t max;
    oxmpi_slice_of_str_ref enumerators;
    /* Full names under which Open MPI users know it, if any. */
    oxmpi_slice_of_str_ref synonyms;
} oxmpi_param_decl;

/* A resolved value. `int` holds INT, UNSIGNED (as bits), SIZE, BOOL (0/1) and ENUM (index). */
typedef struct oxmpi_param_value {
    oxmpi_param_kind kind;
    uint32_t reserved;
    int64_t int_;
    double double_;
    oxmpi_str_ref text;
} oxmpi_param_value;

typedef struct oxmpi_lock {
    uint32_t word;
} oxmpi_lock;

/* Changes when what the fields of `Bias`, `Seat` and `Lock` mean changes, or the order in which they are written. */
#define OXMPI_LOCK_PROTOCOL 1

/* By level, which lock a thread is inside as its owner. Part of the thread's context; other threads read it while the
 * context's instance lives. */
typedef struct oxmpi_seat {
    /* Address of the lock's `Bias`, or 0. Written by this thread alone. */
    size_t inside[2];
    /* Not 0 while the thread holds a lock of that level, as owner or not. Kept in checked builds only. */
    uint32_t entered[2];
} oxmpi_seat;

/* The parts of a biased lock that the host does for all components. May be called from any thread. */
typedef struct oxmpi_lock_services {
    /* Takes a lock that did not let the caller in at once: waits for its word, or takes it from its owner. */
    void (*enter)(const oxmpi_bias *bias, const oxmpi_lock *word, uint32_t level);
    /* By the holder of a shared lock: makes the thread of that seat its owner, which leaves the lock by that. 0: this system
     * could not take the lock away again, and nothing happened. */
    uint32_t (*keep)(const oxmpi_bias *bias, oxmpi_seat *seat);
} oxmpi_lock_services;

/* The owner of a lock and how it became that; see the head of the file. The word is the caller's, who passes the same each
 * time. */
typedef struct oxmpi_bias {
    /* Seat of the owner, or null. */
    oxmpi_seat *owner;
    const oxmpi_lock_services *services;
    /* Seat of the last holder of the shared lock. This and what follows belongs to who holds the shared lock. */
    oxmpi_seat *last;
    /* How often that one took it in a row. */
    uint32_t run;
    /* How often it has to, to become the owner. */
    uint32_t limit;
    /* When the lock got its last owner, in nanoseconds of the host's clock. */
    uint64_t kept_at;
} oxmpi_bias;
/* Nanoseconds with one owner that were worth the cost of taking the lock away. */
#define OXMPI_BIAS_LONG 1000000

/* Looked up once per MPI call and passed down; components use no thread-locals on a message's path. It belongs to one thread
 * at a time, and passes from a thread that ends to one that comes, with what is in it. Lives as long as its instance. */
typedef struct oxmpi_thread_ctx {
    /* Communication resource instance this thread uses first. */
    uint32_t cri;
    /* Small number of the thread within the instance, from 0. */
    uint32_t index;
    /* Software counters of this thread, or null: `counters[i]` is SPC number i. */
    uint64_t *counters;
    void *host_private;
    /* The PML's own: null in a new context, and never touched by the host. The thread that has the context is alone with what
     * it points to. */
    void *pml_private;
    /* The same for the one-sided component. */
    void *osc_private;
    /* Which locks the thread is inside. Other threads read it. */
    oxmpi_seat seat;
} oxmpi_thread_ctx;

/* Communication resource instance: what one flow of messages needs to communicate alone. Its index
 * is the `ctx` argument of every hot BTL verb; its lock serialises those verbs for that index. */
typedef struct oxmpi_cri {
    /* The lock's word; taken through `cri_enter` in C, through a guard in Rust, and never by itself: a thread may have left it
     * taken because it owns the lock. */
    OXMPI_ALIGN(128) oxmpi_lock lock;
    /* How often somebody wanted to progress it and found the lock taken. */
    uint32_t lock_misses;
    /* 1 once something may come on it, so that progressing it makes sense. Set before the first operation on it by whoever
     * issues that (`Host::activate`). */
    uint32_t active;
    /* The thread that wrote `lock` last (its number plus 1), where the process uses several instances. */
    uint32_t last_thread;
    /* Times it was progressed. */
    uint64_t progress_calls;
    /* Events that progressing it brought. */
    uint64_t completions;
    /* Times that another thread than the one before took the lock: writes to a line of another core. Counted
     * where the process uses several instances. */
    uint64_t shared_writes;
    /* Threads that look there first and sleep: they do not progress it. Written by the host. */
    uint32_t asleep;
    /* 1: whoever posts receives has to come first; what follows the message that is being handed up is not waited for yet,
     * so the turn may end there. A hint, which the PML sets in a transport's callback; a transport that heeds it sets it back. */
    uint32_t enough;
    /* Seat of the thread that holds the lock, if that has one. The holder's. */
    oxmpi_seat *holder;
    /* Keeps `bias` on lines of its own. */
    uint64_t reserved[9];
    /* Who owns the lock. These lines are not written while one thread enters and leaves. */
    oxmpi_bias bias;
} oxmpi_cri;

/* How CRIs are entered: the part of the host table about locking. Fixed; another layout has another protocol number. */
typedef struct oxmpi_lock_table {
    /* What the fields of a CRI's lock mean to the host; a component says in its descriptor what they mean to it. */
    uint32_t protocol;
    /* Bytes from one of the host's CRIs to the next. */
    uint32_t cri_stride;
    /* For biased locks of a component's own. */
    const oxmpi_lock_services *services;
    /* Takes the lock of CRI `ctx`, if several threads may make calls. `thread`: the context of the calling thread, or null.
     * The caller holds no other. */
    void (*enter)(void *, uint32_t ctx, oxmpi_thread_ctx *thread);
    /* The same if it takes no waiting. 0: somebody else has it. */
    uint32_t (*try_enter)(void *, uint32_t ctx, oxmpi_thread_ctx *thread);
    /* Gives it back, with the same arguments, before the component returns to the host. */
    void (*leave)(void *, uint32_t ctx, oxmpi_thread_ctx *thread);
    /* To be called before the first operation on CRI `ctx`; may be called while it is held. */
    void (*activate)(void *, uint32_t ctx);
} oxmpi_lock_table;

/* Which memory an address is in. Registration verbs carry it from the first version. */
typedef uint32_t oxmpi_mem_kind;
#define OXMPI_MEM_KIND_HOST 0

/* Where and who this instance is. One instance is one rank (several may live in one process). */
typedef struct oxmpi_job_info {
    uint32_t size;
    /* Number of this process in the job, and how many there are. */
    uint32_t rank;
    uint32_t job_size;
    uint32_t node;
    uint32_t local_rank;
    uint32_t local_size;
    /* Random number of the job, equal in all its processes. */
    uint64_t job_id;
    /* The node's shared segment (a memfd) and its length when this process got it; -1: none. */
    int32_t segment_fd;
    /* More runnable threads than cores are expected on this node. */
    uint32_t oversubscribed;
    /* Cores this process may use. */
    uint32_t cores;
    /* Process to name with PR_SET_PTRACER so that node-local peers may read our memory; 0: none. */
    uint32_t keeper_pid;
} oxmpi_job_info;

/* A message as a BTL hands it up. Everything is valid during the callback only. */
typedef struct oxmpi_recv_desc {
    const uint8_t *data;
    uint64_t len;
    /* Job rank of the process it came from. */
    uint32_t proc;
    /* Context (CRI) it came in on; its lock is held by the caller. */
    uint32_t ctx;
    /* The receiving BTL module's `state`. */
    void *module;
} oxmpi_recv_desc;

/* Takes an active message. Runs under the CRI's lock; must not block and must not run user code. */
typedef void (*oxmpi_am_receive)(void *ctx, const oxmpi_recv_desc *msg);

/* One row of the instance's table of 256 active-message receivers. A BTL calls
 * `row.receive(row.ctx, ..)`; rows nobody registered report the tag and close the peer. */
typedef struct oxmpi_am_entry {
    oxmpi_am_receive receive;
    void *ctx;
} oxmpi_am_entry;

/* A part of a message that its sender is still writing. */
typedef struct oxmpi_part_desc {
    /* The whole message: where it lies once all of it is there, and how long it is. */
    oxmpi_recv_desc message;
    /* The bytes from here ... */
    uint64_t from;
    /* ... to here are there now, and have not been handed up before. */
    uint64_t to;
} oxmpi_part_desc;

/* Takes a message while it comes, in parts that follow each other; otherwise as `AmReceive`. The first part is an offer,
 * with as much of the message as is there: 0 if the whole is wanted instead, in one piece, when all is there (the offer may
 * be repeated before that, with more); 1 if it is taken. Then the others follow, of the same message and no other on
 * this way from its process, and are always taken; the last one ends where the message does. */
typedef uint32_t (*oxmpi_am_parts)(void *ctx, const oxmpi_part_desc *part);

/* First tag of each framework's active messages: three bits framework, five bits its own. */
#define OXMPI_AM_TAG_BTL 32
#define OXMPI_AM_TAG_PML 64
#define OXMPI_AM_TAG_OSC 96
#define OXMPI_AM_TAG_USER 128

typedef int32_t (*oxmpi_progress_fn)(void *ctx, oxmpi_thread_ctx *thread);

typedef struct oxmpi_slice_of_u8 {
    const uint8_t *ptr;
    size_t len;
} oxmpi_slice_of_u8;
/* The table. Grows at the end; `size` says how far this host's goes. */
typedef struct oxmpi_host_table {
    uint32_t size;
    uint32_t abi_minor;
    /* First argument of every function below. */
    void *instance;
    const oxmpi_job_info *job;
    /* 1 once more than one thread may make MPI calls (level MULTIPLE); may rise, never falls. */
    const uint32_t *threaded;
    const oxmpi_cri *cris;
    uint32_t num_cris;
    /* How the process uses them: bits of `cri_mode`. */
    uint32_t cri_modes;
    /* 256 rows; rows may be set while nothing is received yet, i.e. before the first progress. */
    const oxmpi_am_entry *am_table;
    /* Level: 0 error, 1 warning, 2 info, 3 debug; printed if the framework's verbosity says so. */
    void (*log)(void *, int32_t level, oxmpi_str_ref component, oxmpi_str_ref message);
    /* Prints a named paragraph of the component's help.txt once per job, `%1`…`%9` replaced. */
    void (*help)(void *, oxmpi_str_ref component, oxmpi_str_ref topic, oxmpi_slice_of_str_ref args);
    /* The instance cannot go on: reports and ends the job. Does not return. */
    void (*fatal)(void *, oxmpi_str_ref component, oxmpi_str_ref message);
    oxmpi_status (*am_register)(void *, uint8_t tag, oxmpi_am_entry entry);
    /* `high` 1: called on every progress; 0: every 8th. */
    oxmpi_status (*progress_register)(void *, oxmpi_progress_fn f, void *ctx, uint32_t high);
    oxmpi_status (*progress_unregister)(void *, oxmpi_progress_fn f, void *ctx);
    /* Runs progress once, from inside a component that waits (never under a lock). */
    int32_t (*progress)(void *, oxmpi_thread_ctx *thread);
    /* A request completed that had `sync` attached. */
    void (*sync_update)(void *, size_t sync);
    /* Gives a new request object its slot; called once per object when a pool grows. */
    oxmpi_status (*request_slot)(void *, oxmpi_request_header *req);
    /* Blocks until the request is complete (progressing); the calling thread holds no lock. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *thread, oxmpi_request_header *req);
    /* Publishes this process's address blob of a component (before the exchange). */
    oxmpi_status (*exchange_put)(void *, oxmpi_str_ref component, oxmpi_slice_of_u8 data);
    /* Fetches a process's blob; `len` in: capacity, out: length. NOT_FOUND if it published none. */
    oxmpi_status (*exchange_get)(void *, oxmpi_str_ref component, uint32_t proc, uint8_t *data, size_t *len);
    /* A peer broke the protocol or died; `fatal` 1: the job cannot go on without it. */
    void (*peer_error)(void *, oxmpi_str_ref component, uint32_t proc, uint32_t fatal, oxmpi_str_ref message);
    /* 256 rows beside those of `am_table`, with the same first argument: who takes messages in parts, where somebody does. */
    const oxmpi_am_parts *am_parts;
    /* To be called behind `am_register` for the same tag, and not later than that may be. */
    oxmpi_status (*am_register_parts)(void *, uint8_t tag, oxmpi_am_parts take);
    /* How CRIs are entered. */
    oxmpi_lock_table locking;
} oxmpi_host_table;

typedef struct oxmpi_slice_of_param_value {
    const oxmpi_param_value *ptr;
    size_t len;
} oxmpi_slice_of_param_value;
/* What `open` gets. */
typedef struct oxmpi_open_args {
    uint32_t size;
    uint32_t reserved;
    /* Valid until the instance has closed the component. */
    const oxmpi_host_table *host;
    /* One value per declared parameter, in the order of the declarations; valid as `host`. */
    oxmpi_slice_of_param_value values;
} oxmpi_open_args;

/* What `open` gives. `module` is the framework's own table type; several modules (one per device)
 * stand one behind the other. The host reads `count` of them with the stride the table says. */
typedef struct oxmpi_opened {
    uint32_t size;
    int32_t priority;
    const void *modules;
    size_t count;
    size_t stride;
} oxmpi_opened;

typedef struct oxmpi_slice_of_param_decl {
    const oxmpi_param_decl *ptr;
    size_t len;
} oxmpi_slice_of_param_decl;
/* What a component's one exported function returns a pointer to. */
typedef struct oxmpi_descriptor {
    uint64_t magic;
    uint16_t abi_major;
    uint16_t abi_minor;
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    oxmpi_str_ref target;
    oxmpi_str_ref framework;
    oxmpi_version framework_version;
    oxmpi_str_ref name;
    oxmpi_version version;
    /* Other names the component answers to (`sm`, `vader` for `shm`). */
    oxmpi_slice_of_str_ref aliases;
    oxmpi_slice_of_param_decl params;
    /* The text of the component's `help.txt`. */
    oxmpi_str_ref help;
    /* Makes the component's state for one runtime instance; called once per instance, from one
     * thread. Everything a component knows lies behind what this returns. */
    oxmpi_status (*open)(const oxmpi_open_args *args, oxmpi_opened *out);
    /* How the component takes the locks of CRIs: `LOCK_PROTOCOL` of what it was built with; equal or refused. */
    uint32_t lock_protocol;
    /* Bytes of a `Cri` as the component was built with it; equal or refused. */
    uint32_t cri_stride;
} oxmpi_descriptor;

/* Limits and ranks as data, read without a call. Sizes in bytes; 0 in a limit means none. */
typedef struct oxmpi_btl_attrs {
    uint32_t size;
    /* How many contexts the module has made (at least 1). */
    uint32_t contexts;
    /* Largest message (header and payload) sent eagerly, and as first part of a rendezvous. */
    uint64_t eager_limit;
    uint64_t rndv_eager_limit;
    /* Largest message `send` takes at all. */
    uint64_t max_send_size;
    /* From this payload on a rendezvous by `get` beats copying (given `get` works). */
    uint64_t min_get_size;
    uint64_t get_limit;
    uint64_t get_alignment;
    uint64_t put_limit;
    uint64_t put_alignment;
    /* Microseconds and Mb/s as Open MPI's parameters have them: for ranking, not for physics. */
    uint32_t latency;
    uint32_t bandwidth;
    /* A process reached by a module of higher exclusivity is not offered to lower ones. */
    uint32_t exclusivity;
    /* Bytes of a `RegHandle` this module uses. */
    uint32_t registration_handle_size;
    /* `BtlAttrs::EMULATED_RDMA` … */
    uint32_t flags;
    /* Which AMOs the device does: bits of `amo`. */
    uint32_t amo_ops;
    /* The name under which messages show this device ("shm", "lo", "mlx5_0"). */
    uint8_t device[32];
} oxmpi_btl_attrs;
/* One-sided verbs are made of active messages and need the target's progress. */
#define OXMPI_BTL_ATTRS_EMULATED_RDMA 1
/* When `send` has answered OK, a receiver that calls `progress` on that context from then on finds the
 * message. Only then, and with `cap::HOLD`, may a flow of messages use several contexts and keep its order. */
#define OXMPI_BTL_ATTRS_VISIBLE_AT_ONCE 2
/* What `get` costs depends on the caches in which the peer's data lies, and now this is faster, now `send`. So the layer
 * above does well to measure both for messages that `send` takes in one piece, and to look again now and then. */
#define OXMPI_BTL_ATTRS_READS_VARY 4

/* Atomic memory operations (MPI 5.0 §12.3.4), by number in `atomic_*`, by bit in `amo_ops`. */
#define OXMPI_AMO_ADD 0
#define OXMPI_AMO_AND 1
#define OXMPI_AMO_OR 2
#define OXMPI_AMO_XOR 3
#define OXMPI_AMO_SWAP 4
#define OXMPI_AMO_MIN 5
#define OXMPI_AMO_MAX 6
#define OXMPI_AMO_COMPARE_SWAP 7
/* In `flags`: the operand has 32 bits; it is a float; it is signed. */
#define OXMPI_AMO_WIDTH_32 1
#define OXMPI_AMO_FLOAT 2
#define OXMPI_AMO_SIGNED 4

/* Proof of registration, opaque, sent to peers as bytes. */
typedef struct oxmpi_reg_handle {
    OXMPI_ALIGN(8) uint8_t bytes[64];
} oxmpi_reg_handle;

/* What to send. `hdr` is copied before the call returns. The payload is either `payload[..len]` or
 * produced by `pack` straight into the transport's buffer (offset, destination, bytes; each byte
 * asked for once, in order). */
typedef struct oxmpi_send_desc {
    uint32_t tag;
    uint32_t hdr_len;
    const uint8_t *hdr;
    const uint8_t *payload;
    uint64_t len;
    void (*pack)(void *ctx, uint64_t offset, uint8_t *dst, uint64_t len);
    void *pack_ctx;
} oxmpi_send_desc;

/* One piece of memory in a list. */
typedef struct oxmpi_piece {
    uint64_t addr;
    uint64_t len;
} oxmpi_piece;

typedef struct oxmpi_slice_of_piece {
    const oxmpi_piece *ptr;
    size_t len;
} oxmpi_slice_of_piece;
/* `len` bytes that lie in pieces on both sides, cut independently of each other; the packed bytes of
 * both are the same. Both lists have at least `len` bytes; what is behind is left alone. */
typedef struct oxmpi_rma_vector_desc {
    oxmpi_slice_of_piece local;
    oxmpi_slice_of_piece remote;
    uint64_t len;
} oxmpi_rma_vector_desc;

/* Remote memory operation. `done` runs from `progress` unless the verb returned OK (= complete
 * now, `done` is not called); PENDING means `done` will be called. */
typedef struct oxmpi_rma_desc {
    uint8_t *local;
    uint64_t remote;
    uint64_t len;
    const oxmpi_reg_handle *local_handle;
    const oxmpi_reg_handle *remote_handle;
    void (*done)(void *ctx, oxmpi_status status);
    void *done_ctx;
} oxmpi_rma_desc;

typedef struct oxmpi_atomic_desc {
    /* Where the old value goes (fetching forms), or null. */
    uint64_t *result;
    uint64_t remote;
    const oxmpi_reg_handle *remote_handle;
    uint32_t op;
    uint32_t flags;
    uint64_t operand;
    /* For COMPARE_SWAP. */
    uint64_t compare;
    void (*done)(void *ctx, oxmpi_status status);
    void *done_ctx;
} oxmpi_atomic_desc;

/* A process as `add_procs` sees it. */
typedef struct oxmpi_proc_info {
    /* Job rank. */
    uint32_t proc;
    uint32_t node;
    uint32_t local_rank;
    /* 1 if on this node. */
    uint32_t local;
} oxmpi_proc_info;

/* What a waiter sleeps on after `arm`: a futex word (shared between processes) and the value it
 * must still have. */
typedef struct oxmpi_wait_word {
    const uint32_t *addr;
    uint32_t expected;
    uint32_t reserved;
} oxmpi_wait_word;

/* Version of the one-sided slots. */
#define OXMPI_RMA_VERSION 1

/* Bits of `access` in `register_mem`. */
#define OXMPI_ACCESS_LOCAL_WRITE 1
#define OXMPI_ACCESS_REMOTE_READ 2
#define OXMPI_ACCESS_REMOTE_WRITE 4
#define OXMPI_ACCESS_REMOTE_ATOMIC 8

typedef struct oxmpi_slice_of_proc_info {
    const oxmpi_proc_info *ptr;
    size_t len;
} oxmpi_slice_of_proc_info;
typedef struct oxmpi_slice_of_endpoint {
    void *const *ptr;
    size_t len;
} oxmpi_slice_of_endpoint;
/* The verbs as a component gives them. A slot that is absent (table too short) or null is not
 * offered; the host puts a real function in its place, so nobody checks on the hot path. */
typedef struct oxmpi_btl_table {
    uint32_t size;
    uint32_t version;
    /* For each of `procs`: an endpoint, or null where this module does not reach it. */
    oxmpi_status (*add_procs)(void *, oxmpi_slice_of_proc_info procs, void **endpoints);
    oxmpi_status (*del_procs)(void *, oxmpi_slice_of_endpoint endpoints);
    /* Sends what is still queued inside, tells the device goodbye, frees the state. */
    oxmpi_status (*finalize)(void *);
    oxmpi_status (*send)(void *, void *, uint32_t ctx, const oxmpi_send_desc *);
    /* Takes what arrived and what completed on a context; returns how many events it handled. */
    int32_t (*progress)(void *, uint32_t ctx);
    uint32_t rma_version;
    uint32_t reserved;
    oxmpi_status (*get)(void *, void *, uint32_t ctx, const oxmpi_rma_desc *);
    oxmpi_status (*put)(void *, void *, uint32_t ctx, const oxmpi_rma_desc *);
    /* Waits for remote completion of what was issued before on the context (endpoint null: all). */
    oxmpi_status (*flush)(void *, void *, uint32_t ctx);
    oxmpi_status (*atomic)(void *, void *, uint32_t ctx, const oxmpi_atomic_desc *);
    oxmpi_status (*register_mem)(void *, uint8_t *addr, uint64_t len, uint32_t access, oxmpi_mem_kind kind, oxmpi_reg_handle *);
    oxmpi_status (*deregister_mem)(void *, const oxmpi_reg_handle *);
    /* Announces that the context's owner is about to sleep and looks once more. OK: sleep on
     * `word`; PENDING: something is there, do not sleep. Always followed by `disarm`. Who sleeps on several
     * contexts arms them in rising order and sleeps only if their words are one; the caller serialises
     * `arm` and `disarm` of all contexts. */
    oxmpi_status (*arm)(void *, uint32_t ctx, oxmpi_wait_word *word);
    void (*disarm)(void *, uint32_t ctx);
    /* `get` of data in pieces. All of it is there when this answers OK; it never answers PENDING or
     * NO_RESOURCE. Refusals as those of `get`. */
    oxmpi_status (*get_vector)(void *, void *, uint32_t ctx, const oxmpi_rma_vector_desc *);
    /* Tells the process at the endpoint the order key of the oldest message to it for which `send` had no room, 0:
     * there is none. Who finds, by `held`, a later word than this one also finds every message that `send` took
     * before that. The caller serialises the calls for one endpoint; any context's verbs may run meanwhile. */
    void (*hold)(void *, void *, uint64_t oldest);
    /* What the process at the endpoint has said last by `hold`, 0 at first. Any thread, at any time. */
    uint64_t (*held)(void *, void *);
} oxmpi_btl_table;

/* One device of a BTL component, as its `open` returns it. */
typedef struct oxmpi_btl_module {
    uint32_t size;
    uint32_t reserved;
    void *state;
    const oxmpi_btl_table *table;
    oxmpi_btl_attrs attrs;
} oxmpi_btl_module;

/* An accepted module: the host's own copy, every slot a real function. This is what PML and OSC
 * components call: `(btl.send)(btl.state, endpoint, ctx, &desc)`. */
typedef struct oxmpi_btl_handle {
    uint32_t size;
    uint32_t caps;
    void *state;
    oxmpi_status (*send)(void *, void *, uint32_t, const oxmpi_send_desc *);
    int32_t (*progress)(void *, uint32_t);
    oxmpi_status (*get)(void *, void *, uint32_t, const oxmpi_rma_desc *);
    oxmpi_status (*put)(void *, void *, uint32_t, const oxmpi_rma_desc *);
    oxmpi_status (*flush)(void *, void *, uint32_t);
    oxmpi_status (*atomic)(void *, void *, uint32_t, const oxmpi_atomic_desc *);
    oxmpi_status (*register_mem)(void *, uint8_t *, uint64_t, uint32_t, oxmpi_mem_kind, oxmpi_reg_handle *);
    oxmpi_status (*deregister_mem)(void *, const oxmpi_reg_handle *);
    oxmpi_status (*arm)(void *, uint32_t, oxmpi_wait_word *);
    void (*disarm)(void *, uint32_t);
    oxmpi_status (*add_procs)(void *, oxmpi_slice_of_proc_info, void **);
    oxmpi_status (*del_procs)(void *, oxmpi_slice_of_endpoint);
    oxmpi_status (*finalize)(void *);
    oxmpi_btl_attrs attrs;
    /* Component name, for messages ("shm"). */
    oxmpi_str_ref name;
    /* Only there where `caps` has GET_VECTOR: a host of contract 1.0 ends before it. */
    oxmpi_status (*get_vector)(void *, void *, uint32_t, const oxmpi_rma_vector_desc *);
    /* Only there where `caps` has HOLD: a host of contract 1.1 ends before them. */
    void (*hold)(void *, void *, uint64_t);
    uint64_t (*held)(void *, void *);
} oxmpi_btl_handle;

/* What a finished receive (or probe) says. `error` is a `Status` code, `OK` or not. */
typedef struct oxmpi_msg_status {
    int32_t source;
    int32_t tag;
    oxmpi_status error;
    /* 1 if the operation was cancelled. */
    uint32_t cancelled;
    /* Bytes received (packed size). */
    uint64_t bytes;
} oxmpi_msg_status;

/* The word everything waits on. */
typedef size_t oxmpi_completion;
#define OXMPI_COMPLETION_PENDING 0
#define OXMPI_COMPLETION_COMPLETE 1

/* What the host may ask of the owner of a request. */
typedef struct oxmpi_request_ops {
    uint32_t size;
    uint32_t reserved;
    /* The host is done with it. If it is still pending (MPI_Request_free) the owner keeps it
     * until it completes and then recycles it. `thread`: the calling thread's context, or null. */
    void (*release)(oxmpi_request_header *req, oxmpi_thread_ctx *thread);
    /* Tries to cancel; completes the request as cancelled if that succeeded. */
    oxmpi_status (*cancel)(oxmpi_request_header *req);
    /* Starts a persistent request. */
    oxmpi_status (*start)(oxmpi_request_header *req);
} oxmpi_request_ops;

/* First field of every request object, whoever owns it. */
typedef struct oxmpi_request_header {
    oxmpi_completion completion;
    oxmpi_msg_status status;
    const oxmpi_request_ops *ops;
    /* The owner's own state (for a PML request, its module). */
    void *owner;
    /* The host's: the communicator whose error handler an error goes to, or null. */
    void *comm;
    /* The host's: slot of the handle, given when the object was made (see `Host::request_slot`). */
    uint32_t slot;
    /* The host's: counts the uses of the slot, so that a stale handle is seen. */
    uint32_t generation;
    /* `RequestHeader::SEND` … */
    uint32_t kind;
    /* `RequestHeader::PERSISTENT` … */
    uint32_t flags;
} oxmpi_request_header;
#define OXMPI_REQUEST_HEADER_SEND 1
#define OXMPI_REQUEST_HEADER_RECV 2
#define OXMPI_REQUEST_HEADER_OTHER 3
/* In `flags`: survives completion. */
#define OXMPI_REQUEST_HEADER_PERSISTENT 1
/* In `flags`: a persistent request that was started and not yet waited for. */
#define OXMPI_REQUEST_HEADER_ACTIVE 2

/* `count` blocks of `len` bytes, `stride` bytes from start to start, the first at `disp` from the
 * element's address. */
typedef struct oxmpi_run {
    int64_t disp;
    uint64_t len;
    uint64_t count;
    int64_t stride;
} oxmpi_run;

/* What `Run` does not say of an item of a layout: whether it is a loop, and where it ends. */
typedef struct oxmpi_nest {
    /* Bytes of data of this item and those before it in the same list. */
    uint64_t end;
    /* The items of the loop's body lie in the list of all items from here on. */
    uint32_t first;
    /* How many they are; 0: it is no loop. */
    uint32_t items;
} oxmpi_nest;

/* Basic type of the data, for reductions and external32. `MIXED` where there are several. */
typedef uint32_t oxmpi_base;
#define OXMPI_BASE_MIXED 0
#define OXMPI_BASE_BYTE 1
#define OXMPI_BASE_I8 2
#define OXMPI_BASE_U8 3
#define OXMPI_BASE_I16 4
#define OXMPI_BASE_U16 5
#define OXMPI_BASE_I32 6
#define OXMPI_BASE_U32 7
#define OXMPI_BASE_I64 8
#define OXMPI_BASE_U64 9
#define OXMPI_BASE_F32 10
#define OXMPI_BASE_F64 11
/* x87 extended in 16 bytes on x86-64. */
#define OXMPI_BASE_LONG_DOUBLE 12
#define OXMPI_BASE_C32 13
#define OXMPI_BASE_C64 14
#define OXMPI_BASE_C_LONG_DOUBLE 15
/* C and C++ bool: one byte, logical operations. */
#define OXMPI_BASE_BOOL 16
/* MPI_CHAR, MPI_CHARACTER, MPI_WCHAR: no arithmetic is defined on them. */
#define OXMPI_BASE_CHAR 17
#define OXMPI_BASE_WCHAR 18
/* Fortran LOGICAL of 1, 2, 4, 8 bytes. */
#define OXMPI_BASE_LOGICAL1 19
#define OXMPI_BASE_LOGICAL2 20
#define OXMPI_BASE_LOGICAL4 21
#define OXMPI_BASE_LOGICAL8 22
/* Pairs for MINLOC and MAXLOC: (float, int), (double, int), (long, int), (int, int), (short, int), (long double, int). */
#define OXMPI_BASE_FLOAT_INT 23
#define OXMPI_BASE_DOUBLE_INT 24
#define OXMPI_BASE_LONG_INT 25
#define OXMPI_BASE_TWO_INT 26
#define OXMPI_BASE_SHORT_INT 27
#define OXMPI_BASE_LONG_DOUBLE_INT 28
#define OXMPI_BASE_TWO_REAL 29
#define OXMPI_BASE_TWO_DOUBLE 30
#define OXMPI_BASE_PACKED 31
#define OXMPI_BASE_F16 32
#define OXMPI_BASE_C16 33
/* MPI_AINT, MPI_OFFSET and MPI_COUNT: as I64, but no logical operations are defined on them. */
#define OXMPI_BASE_AINT 34
/* Fortran INTEGER, LOGICAL, REAL and COMPLEX of 16 bytes (a part). */
#define OXMPI_BASE_I128 35
#define OXMPI_BASE_LOGICAL16 36
#define OXMPI_BASE_F128 37
#define OXMPI_BASE_C128 38

typedef struct oxmpi_slice_of_run {
    const oxmpi_run *ptr;
    size_t len;
} oxmpi_slice_of_run;
typedef struct oxmpi_slice_of_nest {
    const oxmpi_nest *ptr;
    size_t len;
} oxmpi_slice_of_nest;
typedef struct oxmpi_slice_of_i32 {
    const int32_t *ptr;
    size_t len;
} oxmpi_slice_of_i32;
typedef struct oxmpi_type_desc {
    uint32_t size;
    uint32_t flags;
    /* Bytes of data in one element (MPI_Type_size). */
    uint64_t packed;
    int64_t lb;
    int64_t extent;
    int64_t true_lb;
    int64_t true_extent;
    oxmpi_base base;
    /* Counted by `TypeRef`; not counted for PREDEFINED. */
    uint32_t refs;
    /* Basic elements in one element. */
    uint64_t elements;
    /* All items of the layout (`layout.rs`). A loop is a run whose blocks are copies of its body and
     * have as many bytes of data as that. */
    oxmpi_slice_of_run runs;
    /* Frees the descriptor when the last reference goes; null for PREDEFINED. */
    void (*free)(oxmpi_type_desc *);
    /* One for each of `runs`; or none, where there are only few runs and no loops. */
    oxmpi_slice_of_nest nest;
    /* How many of the first of `runs` make up the element; the others are bodies. Not read where `nest`
     * is empty: all are then. */
    uint64_t top;
    /* Where the blocks of a layout without a pattern lie, from the element's address, in the order of the packed
     * data; all have one length. None for other layouts. Not read where `size` ends before it. */
    oxmpi_slice_of_i32 places;
} oxmpi_type_desc;

/* Predefined operations (MPI 5.0 §6.9.2), by number. */
#define OXMPI_OP_USER 0
#define OXMPI_OP_SUM 1
#define OXMPI_OP_MIN 2
#define OXMPI_OP_MAX 3
#define OXMPI_OP_PROD 4
#define OXMPI_OP_BAND 5
#define OXMPI_OP_BOR 6
#define OXMPI_OP_BXOR 7
#define OXMPI_OP_LAND 8
#define OXMPI_OP_LOR 9
#define OXMPI_OP_LXOR 10
#define OXMPI_OP_MINLOC 11
#define OXMPI_OP_MAXLOC 12
#define OXMPI_OP_REPLACE 13
#define OXMPI_OP_NO_OP 14

/* An operation as it crosses to components. */
typedef struct oxmpi_op_desc {
    uint32_t size;
    /* One of `op`. */
    uint32_t code;
    /* 1 if operands may change places. */
    uint32_t commutative;
    uint32_t reserved;
    /* For `op::USER`: runs the user's function; never called under a lock. */
    void (*user)(void *ctx, const uint8_t *input, uint8_t *inout, uint64_t count, const oxmpi_type_desc *dtype);
    void *ctx;
} oxmpi_op_desc;

/* How a window was made (MPI 5.0 §12.2); in `WinDesc::flavor`. */
/* MPI_Win_create: memory of the user's. */
#define OXMPI_FLAVOR_CREATE 1
/* MPI_Win_allocate: memory of the host's. */
#define OXMPI_FLAVOR_ALLOCATE 2
/* MPI_Win_create_dynamic: memory is attached later, targets are named by address. */
#define OXMPI_FLAVOR_DYNAMIC 3
/* MPI_Win_allocate_shared: memory that all ranks map. */
#define OXMPI_FLAVOR_SHARED 4

/* Lock types (MPI 5.0 §12.5.3). */
#define OXMPI_LOCK_TYPE_SHARED 1
#define OXMPI_LOCK_TYPE_EXCLUSIVE 2

/* Assertions of synchronisation calls (MPI 5.0 §12.5.5). */
#define OXMPI_ASSERTION_NOCHECK 1
#define OXMPI_ASSERTION_NOSTORE 2
#define OXMPI_ASSERTION_NOPUT 4
#define OXMPI_ASSERTION_NOPRECEDE 8
#define OXMPI_ASSERTION_NOSUCCEED 16

/* Hints of a window, by bit in `WinDesc::hints` (MPI 5.0 §12.2.1). All ranks gave the same. */
/* `no_locks`: MPI_Win_lock and MPI_Win_lock_all are not called. */
#define OXMPI_HINT_NO_LOCKS 1
/* `same_size`: all ranks' memory has one size. */
#define OXMPI_HINT_SAME_SIZE 2
/* `same_disp_unit`: all ranks gave one displacement unit. */
#define OXMPI_HINT_SAME_DISP_UNIT 4
/* `accumulate_ops` is `same_op`: concurrent accumulates to one target use one operation. */
#define OXMPI_HINT_SAME_OP 8
/* `accumulate_ops` is `same_op_no_op` (the default): or that one and MPI_NO_OP. */
#define OXMPI_HINT_SAME_OP_NO_OP 16

/* Which pairs of accumulates to one target are ordered (`accumulate_ordering`), by bit in `WinDesc::ordering`.
 * All four by default. */
#define OXMPI_ORDERING_RAR 1
#define OXMPI_ORDERING_RAW 2
#define OXMPI_ORDERING_WAR 4
#define OXMPI_ORDERING_WAW 8
#define OXMPI_ORDERING_ALL 15

/* Where a rank of the window is. */
typedef struct oxmpi_place {
    /* The process, by its index in this process's tables (as in `RecvDesc::proc`). */
    uint32_t proc;
    /* The node, from 0 to `WinComm::num_nodes`, numbered by the lowest rank on each. */
    uint32_t node;
    /* Number among the window's ranks on that node; 0 is the node's leader. */
    uint32_t node_rank;
    /* How many ranks of the window are on that node. */
    uint32_t node_size;
    uint32_t endpoint;
    /* 1 on this process's node. */
    uint32_t local;
} oxmpi_place;

/* A transport that reaches a process. Valid as long as the instance. */
typedef struct oxmpi_reach {
    const oxmpi_btl_handle *btl;
    void *endpoint;
    /* Contexts of both sides on this transport; operations use those below it. */
    uint32_t width;
    uint32_t reserved;
} oxmpi_reach;

/* A rank's memory as this process can load and store it. */
typedef struct oxmpi_mapped {
    uint8_t *base;
    uint64_t bytes;
    int64_t disp_unit;
} oxmpi_mapped;

/* The question `wait_until` asks again and again: 1 ends the wait. It runs with no lock held and must not wait itself. */
typedef uint32_t (*oxmpi_predicate)(void *ctx);

typedef struct oxmpi_slice_of_reach {
    const oxmpi_reach *ptr;
    size_t len;
} oxmpi_slice_of_reach;
/* The host's services for a window: messages and collectives on its communicator, places, transports, memory.
 * All may be called from any thread; none while a CRI is held, except `place` and `mapped`. */
typedef struct oxmpi_win_services {
    uint32_t size;
    uint32_t reserved;
    /* Where a rank is. BAD_PARAM: there is no such rank. */
    oxmpi_status (*place)(void *, uint32_t rank, oxmpi_place *out);
    /* The transports that reach a rank's process, best for one-sided operations first: native verbs before emulated ones.
     * Endpoints are made at first contact. UNREACHABLE: none. */
    oxmpi_status (*reach)(void *, uint32_t rank, oxmpi_slice_of_reach *out);
    /* A rank's window memory in this process's address space: of this rank itself, and of ALLOCATE and SHARED windows'
     * ranks on the node. NOT_FOUND: not mapped here. */
    oxmpi_status (*mapped)(void *, uint32_t rank, oxmpi_mapped *out);
    oxmpi_status (*isend)(void *, oxmpi_thread_ctx *, const uint8_t *, uint64_t count, const oxmpi_type_desc *, uint32_t dst, int32_t tag, oxmpi_request_header **out);
    /* `src` may be -1 (any source), `tag` -2 (any tag). */
    oxmpi_status (*irecv)(void *, oxmpi_thread_ctx *, uint8_t *, uint64_t count, const oxmpi_type_desc *, int32_t src, int32_t tag, oxmpi_request_header **out);
    /* Waits for a request of `isend` or `irecv` and releases it; its status goes to `status` if that is not null. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *, oxmpi_request_header *, oxmpi_msg_status *status);
    /* Looks without progress: OK releases the request and fills `status`; PENDING leaves it. */
    oxmpi_status (*test)(void *, oxmpi_thread_ctx *, oxmpi_request_header *, oxmpi_msg_status *status);
    /* Tries to cancel a request and releases it in any case, once it is complete. */
    oxmpi_status (*cancel)(void *, oxmpi_thread_ctx *, oxmpi_request_header *);
    /* Makes progress until the predicate says 1. */
    oxmpi_status (*wait_until)(void *, oxmpi_thread_ctx *, oxmpi_predicate, void *ctx);
    /* One turn of progress. The events handled. */
    int32_t (*progress)(void *, oxmpi_thread_ctx *);
    oxmpi_status (*barrier)(void *, oxmpi_thread_ctx *);
    /* `bytes` of each rank to all: `all` has room for `num_ranks` times as many. */
    oxmpi_status (*allgather)(void *, oxmpi_thread_ctx *, const uint8_t *mine, uint64_t bytes, uint8_t *all);
    /* `bytes` from each rank to each rank. */
    oxmpi_status (*alltoall)(void *, oxmpi_thread_ctx *, const uint8_t *to, uint64_t bytes, uint8_t *from);
    /* The least status of all ranks: a failure anywhere is everybody's. */
    oxmpi_status (*agree)(void *, oxmpi_thread_ctx *, oxmpi_status);
    /* The predefined type of single bytes, for messages. */
    const oxmpi_type_desc *(*byte_type)(void *);
} oxmpi_win_services;

/* A window's communicator. Fixed while the window lives. */
typedef struct oxmpi_win_comm {
    uint32_t size;
    uint32_t num_ranks;
    /* This process's rank in the window's group. */
    uint32_t rank;
    /* Nodes that have ranks of the window. */
    uint32_t num_nodes;
    /* First argument of every service. */
    void *comm;
    const oxmpi_win_services *services;
} oxmpi_win_comm;

/* A window to be made; valid during the call. `comm` is valid until the window is freed. */
typedef struct oxmpi_win_desc {
    uint32_t size;
    /* One of `flavor`. */
    uint32_t flavor;
    const oxmpi_win_comm *comm;
    /* This rank's memory; null in a dynamic window, and where `bytes` is 0 perhaps. */
    uint8_t *base;
    uint64_t bytes;
    /* Bytes of a unit of displacement at this rank, at least 1. */
    int64_t disp_unit;
    /* Bits of `hint`. */
    uint32_t hints;
    /* Bits of `ordering`. */
    uint32_t ordering;
    /* `mpi_accumulate_granularity`: bytes below which accumulates are not atomic as one; 0: the default. */
    uint64_t granularity;
    /* For `RequestHeader::comm` of the window's requests. */
    void *host_win;
} oxmpi_win_desc;

/* Arguments of all operations; each uses the fields it needs and looks at no other.
 * 
 * | | origin | result | target | others |
 * |---|---|---|---|---|
 * | put, get | `origin*` (of get: written) | | `target*` | |
 * | accumulate | `origin*` | | `target*` | `op` |
 * | get_accumulate | `origin*` (nothing for NO_OP) | `result*` | `target*` | `op` |
 * | fetch_and_op | one element of `origin_type` | one element | `target`, `disp` | `op` |
 * | compare_and_swap | one element of `origin_type` | one element | `target`, `disp` | `compare` |
 * 
 * Types are valid during the call; a component that needs one longer retains it (`TypeRef`). */
typedef struct oxmpi_rma_args {
    oxmpi_thread_ctx *thread;
    uint8_t *origin;
    uint64_t origin_count;
    const oxmpi_type_desc *origin_type;
    uint8_t *result;
    uint64_t result_count;
    const oxmpi_type_desc *result_type;
    const uint8_t *compare;
    uint32_t target;
    uint32_t reserved;
    /* In the target's units; in dynamic windows an address. */
    int64_t disp;
    uint64_t target_count;
    const oxmpi_type_desc *target_type;
    const oxmpi_op_desc *op;
} oxmpi_rma_args;

/* An operation. `out` null: MPI_Put and the like, which complete by synchronisation; else MPI_Rput and the like, and
 * a request is written there (it may be complete already). */
typedef oxmpi_status (*oxmpi_rma_fn)(void *, const oxmpi_rma_args *, oxmpi_request_header **out);

/* `rank` of `flush` for all ranks. */
#define OXMPI_ALL 4294967295

typedef struct oxmpi_slice_of_u32 {
    const uint32_t *ptr;
    size_t len;
} oxmpi_slice_of_u32;
/* The verbs of a window. All slots are mandatory in version 1. */
typedef struct oxmpi_osc_table {
    uint32_t size;
    uint32_t version;
    oxmpi_rma_fn put;
    oxmpi_rma_fn get;
    oxmpi_rma_fn accumulate;
    oxmpi_rma_fn get_accumulate;
    /* `out` is null. */
    oxmpi_rma_fn fetch_and_op;
    /* `out` is null. */
    oxmpi_rma_fn compare_and_swap;
    /* Bits of `assertion` in `assert`. Collective. */
    oxmpi_status (*fence)(void *, oxmpi_thread_ctx *, uint32_t assert);
    /* Opens an exposure epoch for the ranks (MPI_Win_post). */
    oxmpi_status (*post)(void *, oxmpi_thread_ctx *, oxmpi_slice_of_u32 ranks, uint32_t assert);
    /* Opens an access epoch to the ranks (MPI_Win_start). */
    oxmpi_status (*start)(void *, oxmpi_thread_ctx *, oxmpi_slice_of_u32 ranks, uint32_t assert);
    oxmpi_status (*complete)(void *, oxmpi_thread_ctx *);
    /* Ends the exposure epoch; `block` 0 (MPI_Win_test): PENDING if it cannot end yet. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *, uint32_t block);
    /* `kind`: one of `lock_type`. */
    oxmpi_status (*lock)(void *, oxmpi_thread_ctx *, uint32_t kind, uint32_t rank, uint32_t assert);
    oxmpi_status (*unlock)(void *, oxmpi_thread_ctx *, uint32_t rank);
    oxmpi_status (*lock_all)(void *, oxmpi_thread_ctx *, uint32_t assert);
    oxmpi_status (*unlock_all)(void *, oxmpi_thread_ctx *);
    /* Completes operations to a rank (`ALL`: to all) at origin and target; `local` 1: at the origin alone. */
    oxmpi_status (*flush)(void *, oxmpi_thread_ctx *, uint32_t rank, uint32_t local);
    oxmpi_status (*sync)(void *, oxmpi_thread_ctx *);
    /* Memory of a dynamic window. RMA_ATTACH: overlaps what is attached, or cannot be attached. */
    oxmpi_status (*attach)(void *, oxmpi_thread_ctx *, uint8_t *base, uint64_t bytes);
    oxmpi_status (*detach)(void *, oxmpi_thread_ctx *, uint8_t *base);
    /* The hints changed (MPI_Win_set_info): bits of `hint` and `ordering`. */
    oxmpi_status (*set_hints)(void *, uint32_t hints, uint32_t ordering);
    /* Frees the module. `discard` 0: collective; returns when no rank uses this rank's memory through the window any more.
     * RMA_SYNC: an epoch is open, and the window stays. `discard` 1: another rank's `create` failed; communicates with nobody. */
    oxmpi_status (*free)(void *, oxmpi_thread_ctx *, uint32_t discard);
} oxmpi_osc_table;

/* `create`'s answer. */
typedef struct oxmpi_osc_window {
    void *window;
    const oxmpi_osc_table *table;
} oxmpi_osc_window;

/* The one module of an OSC component, as its `open` returns it. */
typedef struct oxmpi_osc_module {
    uint32_t size;
    uint32_t reserved;
    void *state;
    /* OK: `priority` is filled. NOT_AVAILABLE: not this window. Must not communicate. */
    oxmpi_status (*query)(void *, const oxmpi_win_desc *, int32_t *priority);
    /* Collective over the window's ranks. After a failure on any rank the host frees the windows of the others with `discard`. */
    oxmpi_status (*create)(void *, const oxmpi_win_desc *, oxmpi_thread_ctx *, oxmpi_osc_window *out);
    /* The thread level has risen to MULTIPLE; no other thread is in a verb. */
    oxmpi_status (*threads_begin)(void *);
    /* Last call. */
    oxmpi_status (*finalize)(void *);
} oxmpi_osc_module;

/* Sizes and offsets as the Rust side has them. */
OXMPI_ASSERT(sizeof(oxmpi_str_ref) == 16);
OXMPI_ASSERT(offsetof(oxmpi_str_ref, ptr) == 0);
OXMPI_ASSERT(offsetof(oxmpi_str_ref, len) == 8);
OXMPI_ASSERT(sizeof(oxmpi_version) == 8);
OXMPI_ASSERT(offsetof(oxmpi_version, major) == 0);
OXMPI_ASSERT(offsetof(oxmpi_version, minor) == 2);
OXMPI_ASSERT(offsetof(oxmpi_version, patch) == 4);
OXMPI_ASSERT(sizeof(oxmpi_param_decl) == 112);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, name) == 0);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, kind) == 16);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, level) == 20);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, scope) == 24);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, flags) == 28);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, default_) == 32);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, help) == 48);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, min) == 64);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, max) == 72);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, enumerators) == 80);
OXMPI_ASSERT(offsetof(oxmpi_param_decl, synonyms) == 96);
OXMPI_ASSERT(sizeof(oxmpi_param_value) == 40);
OXMPI_ASSERT(offsetof(oxmpi_param_value, kind) == 0);
OXMPI_ASSERT(offsetof(oxmpi_param_value, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_param_value, int_) == 8);
OXMPI_ASSERT(offsetof(oxmpi_param_value, double_) == 16);
OXMPI_ASSERT(offsetof(oxmpi_param_value, text) == 24);
OXMPI_ASSERT(sizeof(oxmpi_seat) == 24);
OXMPI_ASSERT(offsetof(oxmpi_seat, inside) == 0);
OXMPI_ASSERT(offsetof(oxmpi_seat, entered) == 16);
OXMPI_ASSERT(sizeof(oxmpi_thread_ctx) == 64);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, cri) == 0);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, index) == 4);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, counters) == 8);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, host_private) == 16);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, pml_private) == 24);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, osc_private) == 32);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, seat) == 40);
OXMPI_ASSERT(sizeof(oxmpi_lock_services) == 16);
OXMPI_ASSERT(offsetof(oxmpi_lock_services, enter) == 0);
OXMPI_ASSERT(offsetof(oxmpi_lock_services, keep) == 8);
OXMPI_ASSERT(sizeof(oxmpi_bias) == 40);
OXMPI_ASSERT(offsetof(oxmpi_bias, owner) == 0);
OXMPI_ASSERT(offsetof(oxmpi_bias, services) == 8);
OXMPI_ASSERT(offsetof(oxmpi_bias, last) == 16);
OXMPI_ASSERT(offsetof(oxmpi_bias, run) == 24);
OXMPI_ASSERT(offsetof(oxmpi_bias, limit) == 28);
OXMPI_ASSERT(offsetof(oxmpi_bias, kept_at) == 32);
OXMPI_ASSERT(sizeof(oxmpi_cri) == 256);
OXMPI_ASSERT(offsetof(oxmpi_cri, lock) == 0);
OXMPI_ASSERT(offsetof(oxmpi_cri, lock_misses) == 4);
OXMPI_ASSERT(offsetof(oxmpi_cri, active) == 8);
OXMPI_ASSERT(offsetof(oxmpi_cri, last_thread) == 12);
OXMPI_ASSERT(offsetof(oxmpi_cri, progress_calls) == 16);
OXMPI_ASSERT(offsetof(oxmpi_cri, completions) == 24);
OXMPI_ASSERT(offsetof(oxmpi_cri, shared_writes) == 32);
OXMPI_ASSERT(offsetof(oxmpi_cri, asleep) == 40);
OXMPI_ASSERT(offsetof(oxmpi_cri, enough) == 44);
OXMPI_ASSERT(offsetof(oxmpi_cri, holder) == 48);
OXMPI_ASSERT(offsetof(oxmpi_cri, reserved) == 56);
OXMPI_ASSERT(offsetof(oxmpi_cri, bias) == 128);
OXMPI_ASSERT(sizeof(oxmpi_lock_table) == 48);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, protocol) == 0);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, cri_stride) == 4);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, services) == 8);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, enter) == 16);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, try_enter) == 24);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, leave) == 32);
OXMPI_ASSERT(offsetof(oxmpi_lock_table, activate) == 40);
OXMPI_ASSERT(sizeof(oxmpi_job_info) == 48);
OXMPI_ASSERT(offsetof(oxmpi_job_info, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_job_info, rank) == 4);
OXMPI_ASSERT(offsetof(oxmpi_job_info, job_size) == 8);
OXMPI_ASSERT(offsetof(oxmpi_job_info, node) == 12);
OXMPI_ASSERT(offsetof(oxmpi_job_info, local_rank) == 16);
OXMPI_ASSERT(offsetof(oxmpi_job_info, local_size) == 20);
OXMPI_ASSERT(offsetof(oxmpi_job_info, job_id) == 24);
OXMPI_ASSERT(offsetof(oxmpi_job_info, segment_fd) == 32);
OXMPI_ASSERT(offsetof(oxmpi_job_info, oversubscribed) == 36);
OXMPI_ASSERT(offsetof(oxmpi_job_info, cores) == 40);
OXMPI_ASSERT(offsetof(oxmpi_job_info, keeper_pid) == 44);
OXMPI_ASSERT(sizeof(oxmpi_recv_desc) == 32);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, data) == 0);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, len) == 8);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, proc) == 16);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, ctx) == 20);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, module) == 24);
OXMPI_ASSERT(sizeof(oxmpi_am_entry) == 16);
OXMPI_ASSERT(offsetof(oxmpi_am_entry, receive) == 0);
OXMPI_ASSERT(offsetof(oxmpi_am_entry, ctx) == 8);
OXMPI_ASSERT(sizeof(oxmpi_part_desc) == 48);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, message) == 0);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, from) == 32);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, to) == 40);
OXMPI_ASSERT(sizeof(oxmpi_host_table) == 224);
OXMPI_ASSERT(offsetof(oxmpi_host_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_host_table, abi_minor) == 4);
OXMPI_ASSERT(offsetof(oxmpi_host_table, instance) == 8);
OXMPI_ASSERT(offsetof(oxmpi_host_table, job) == 16);
OXMPI_ASSERT(offsetof(oxmpi_host_table, threaded) == 24);
OXMPI_ASSERT(offsetof(oxmpi_host_table, cris) == 32);
OXMPI_ASSERT(offsetof(oxmpi_host_table, num_cris) == 40);
OXMPI_ASSERT(offsetof(oxmpi_host_table, cri_modes) == 44);
OXMPI_ASSERT(offsetof(oxmpi_host_table, am_table) == 48);
OXMPI_ASSERT(offsetof(oxmpi_host_table, log) == 56);
OXMPI_ASSERT(offsetof(oxmpi_host_table, help) == 64);
OXMPI_ASSERT(offsetof(oxmpi_host_table, fatal) == 72);
OXMPI_ASSERT(offsetof(oxmpi_host_table, am_register) == 80);
OXMPI_ASSERT(offsetof(oxmpi_host_table, progress_register) == 88);
OXMPI_ASSERT(offsetof(oxmpi_host_table, progress_unregister) == 96);
OXMPI_ASSERT(offsetof(oxmpi_host_table, progress) == 104);
OXMPI_ASSERT(offsetof(oxmpi_host_table, sync_update) == 112);
OXMPI_ASSERT(offsetof(oxmpi_host_table, request_slot) == 120);
OXMPI_ASSERT(offsetof(oxmpi_host_table, wait) == 128);
OXMPI_ASSERT(offsetof(oxmpi_host_table, exchange_put) == 136);
OXMPI_ASSERT(offsetof(oxmpi_host_table, exchange_get) == 144);
OXMPI_ASSERT(offsetof(oxmpi_host_table, peer_error) == 152);
OXMPI_ASSERT(offsetof(oxmpi_host_table, am_parts) == 160);
OXMPI_ASSERT(offsetof(oxmpi_host_table, am_register_parts) == 168);
OXMPI_ASSERT(offsetof(oxmpi_host_table, locking) == 176);
OXMPI_ASSERT(sizeof(oxmpi_open_args) == 32);
OXMPI_ASSERT(offsetof(oxmpi_open_args, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_open_args, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_open_args, host) == 8);
OXMPI_ASSERT(offsetof(oxmpi_open_args, values) == 16);
OXMPI_ASSERT(sizeof(oxmpi_opened) == 32);
OXMPI_ASSERT(offsetof(oxmpi_opened, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_opened, priority) == 4);
OXMPI_ASSERT(offsetof(oxmpi_opened, modules) == 8);
OXMPI_ASSERT(offsetof(oxmpi_opened, count) == 16);
OXMPI_ASSERT(offsetof(oxmpi_opened, stride) == 24);
OXMPI_ASSERT(sizeof(oxmpi_descriptor) == 144);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, magic) == 0);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, abi_major) == 8);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, abi_minor) == 10);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, size) == 12);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, target) == 16);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, framework) == 32);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, framework_version) == 48);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, name) == 56);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, version) == 72);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, aliases) == 80);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, params) == 96);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, help) == 112);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, open) == 128);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, lock_protocol) == 136);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, cri_stride) == 140);
OXMPI_ASSERT(sizeof(oxmpi_btl_attrs) == 128);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, contexts) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, eager_limit) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, rndv_eager_limit) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, max_send_size) == 24);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, min_get_size) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, get_limit) == 40);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, get_alignment) == 48);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, put_limit) == 56);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, put_alignment) == 64);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, latency) == 72);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, bandwidth) == 76);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, exclusivity) == 80);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, registration_handle_size) == 84);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, flags) == 88);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, amo_ops) == 92);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, device) == 96);
OXMPI_ASSERT(sizeof(oxmpi_reg_handle) == 64);
OXMPI_ASSERT(offsetof(oxmpi_reg_handle, bytes) == 0);
OXMPI_ASSERT(sizeof(oxmpi_send_desc) == 48);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, tag) == 0);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, hdr_len) == 4);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, hdr) == 8);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, payload) == 16);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, len) == 24);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, pack) == 32);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, pack_ctx) == 40);
OXMPI_ASSERT(sizeof(oxmpi_piece) == 16);
OXMPI_ASSERT(offsetof(oxmpi_piece, addr) == 0);
OXMPI_ASSERT(offsetof(oxmpi_piece, len) == 8);
OXMPI_ASSERT(sizeof(oxmpi_rma_vector_desc) == 40);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, local) == 0);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, remote) == 16);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, len) == 32);
OXMPI_ASSERT(sizeof(oxmpi_rma_desc) == 56);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, local) == 0);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, remote) == 8);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, len) == 16);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, local_handle) == 24);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, remote_handle) == 32);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, done) == 40);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, done_ctx) == 48);
OXMPI_ASSERT(sizeof(oxmpi_atomic_desc) == 64);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, result) == 0);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, remote) == 8);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, remote_handle) == 16);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, op) == 24);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, flags) == 28);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, operand) == 32);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, compare) == 40);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, done) == 48);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, done_ctx) == 56);
OXMPI_ASSERT(sizeof(oxmpi_proc_info) == 16);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, proc) == 0);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, node) == 4);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, local_rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, local) == 12);
OXMPI_ASSERT(sizeof(oxmpi_wait_word) == 16);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, addr) == 0);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, expected) == 8);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, reserved) == 12);
OXMPI_ASSERT(sizeof(oxmpi_btl_table) == 144);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, add_procs) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, del_procs) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, finalize) == 24);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, send) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, progress) == 40);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, rma_version) == 48);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, reserved) == 52);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, get) == 56);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, put) == 64);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, flush) == 72);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, atomic) == 80);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, register_mem) == 88);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, deregister_mem) == 96);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, arm) == 104);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, disarm) == 112);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, get_vector) == 120);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, hold) == 128);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, held) == 136);
OXMPI_ASSERT(sizeof(oxmpi_btl_module) == 152);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, attrs) == 24);
OXMPI_ASSERT(sizeof(oxmpi_btl_handle) == 288);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, caps) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, send) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, progress) == 24);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, get) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, put) == 40);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, flush) == 48);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, atomic) == 56);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, register_mem) == 64);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, deregister_mem) == 72);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, arm) == 80);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, disarm) == 88);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, add_procs) == 96);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, del_procs) == 104);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, finalize) == 112);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, attrs) == 120);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, name) == 248);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, get_vector) == 264);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, hold) == 272);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, held) == 280);
OXMPI_ASSERT(sizeof(oxmpi_msg_status) == 24);
OXMPI_ASSERT(offsetof(oxmpi_msg_status, source) == 0);
OXMPI_ASSERT(offsetof(oxmpi_msg_status, tag) == 4);
OXMPI_ASSERT(offsetof(oxmpi_msg_status, error) == 8);
OXMPI_ASSERT(offsetof(oxmpi_msg_status, cancelled) == 12);
OXMPI_ASSERT(offsetof(oxmpi_msg_status, bytes) == 16);
OXMPI_ASSERT(sizeof(oxmpi_request_ops) == 32);
OXMPI_ASSERT(offsetof(oxmpi_request_ops, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_request_ops, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_request_ops, release) == 8);
OXMPI_ASSERT(offsetof(oxmpi_request_ops, cancel) == 16);
OXMPI_ASSERT(offsetof(oxmpi_request_ops, start) == 24);
OXMPI_ASSERT(sizeof(oxmpi_request_header) == 72);
OXMPI_ASSERT(offsetof(oxmpi_request_header, completion) == 0);
OXMPI_ASSERT(offsetof(oxmpi_request_header, status) == 8);
OXMPI_ASSERT(offsetof(oxmpi_request_header, ops) == 32);
OXMPI_ASSERT(offsetof(oxmpi_request_header, owner) == 40);
OXMPI_ASSERT(offsetof(oxmpi_request_header, comm) == 48);
OXMPI_ASSERT(offsetof(oxmpi_request_header, slot) == 56);
OXMPI_ASSERT(offsetof(oxmpi_request_header, generation) == 60);
OXMPI_ASSERT(offsetof(oxmpi_request_header, kind) == 64);
OXMPI_ASSERT(offsetof(oxmpi_request_header, flags) == 68);
OXMPI_ASSERT(sizeof(oxmpi_run) == 32);
OXMPI_ASSERT(offsetof(oxmpi_run, disp) == 0);
OXMPI_ASSERT(offsetof(oxmpi_run, len) == 8);
OXMPI_ASSERT(offsetof(oxmpi_run, count) == 16);
OXMPI_ASSERT(offsetof(oxmpi_run, stride) == 24);
OXMPI_ASSERT(sizeof(oxmpi_nest) == 16);
OXMPI_ASSERT(offsetof(oxmpi_nest, end) == 0);
OXMPI_ASSERT(offsetof(oxmpi_nest, first) == 8);
OXMPI_ASSERT(offsetof(oxmpi_nest, items) == 12);
OXMPI_ASSERT(sizeof(oxmpi_type_desc) == 128);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, flags) == 4);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, packed) == 8);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, lb) == 16);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, extent) == 24);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, true_lb) == 32);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, true_extent) == 40);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, base) == 48);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, refs) == 52);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, elements) == 56);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, runs) == 64);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, free) == 80);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, nest) == 88);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, top) == 104);
OXMPI_ASSERT(offsetof(oxmpi_type_desc, places) == 112);
OXMPI_ASSERT(sizeof(oxmpi_op_desc) == 32);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, code) == 4);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, commutative) == 8);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, reserved) == 12);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, user) == 16);
OXMPI_ASSERT(offsetof(oxmpi_op_desc, ctx) == 24);
OXMPI_ASSERT(sizeof(oxmpi_place) == 24);
OXMPI_ASSERT(offsetof(oxmpi_place, proc) == 0);
OXMPI_ASSERT(offsetof(oxmpi_place, node) == 4);
OXMPI_ASSERT(offsetof(oxmpi_place, node_rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_place, node_size) == 12);
OXMPI_ASSERT(offsetof(oxmpi_place, endpoint) == 16);
OXMPI_ASSERT(offsetof(oxmpi_place, local) == 20);
OXMPI_ASSERT(sizeof(oxmpi_reach) == 24);
OXMPI_ASSERT(offsetof(oxmpi_reach, btl) == 0);
OXMPI_ASSERT(offsetof(oxmpi_reach, endpoint) == 8);
OXMPI_ASSERT(offsetof(oxmpi_reach, width) == 16);
OXMPI_ASSERT(offsetof(oxmpi_reach, reserved) == 20);
OXMPI_ASSERT(sizeof(oxmpi_mapped) == 24);
OXMPI_ASSERT(offsetof(oxmpi_mapped, base) == 0);
OXMPI_ASSERT(offsetof(oxmpi_mapped, bytes) == 8);
OXMPI_ASSERT(offsetof(oxmpi_mapped, disp_unit) == 16);
OXMPI_ASSERT(sizeof(oxmpi_win_services) == 128);
OXMPI_ASSERT(offsetof(oxmpi_win_services, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_win_services, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_win_services, place) == 8);
OXMPI_ASSERT(offsetof(oxmpi_win_services, reach) == 16);
OXMPI_ASSERT(offsetof(oxmpi_win_services, mapped) == 24);
OXMPI_ASSERT(offsetof(oxmpi_win_services, isend) == 32);
OXMPI_ASSERT(offsetof(oxmpi_win_services, irecv) == 40);
OXMPI_ASSERT(offsetof(oxmpi_win_services, wait) == 48);
OXMPI_ASSERT(offsetof(oxmpi_win_services, test) == 56);
OXMPI_ASSERT(offsetof(oxmpi_win_services, cancel) == 64);
OXMPI_ASSERT(offsetof(oxmpi_win_services, wait_until) == 72);
OXMPI_ASSERT(offsetof(oxmpi_win_services, progress) == 80);
OXMPI_ASSERT(offsetof(oxmpi_win_services, barrier) == 88);
OXMPI_ASSERT(offsetof(oxmpi_win_services, allgather) == 96);
OXMPI_ASSERT(offsetof(oxmpi_win_services, alltoall) == 104);
OXMPI_ASSERT(offsetof(oxmpi_win_services, agree) == 112);
OXMPI_ASSERT(offsetof(oxmpi_win_services, byte_type) == 120);
OXMPI_ASSERT(sizeof(oxmpi_win_comm) == 32);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, num_ranks) == 4);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, num_nodes) == 12);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, comm) == 16);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, services) == 24);
OXMPI_ASSERT(sizeof(oxmpi_win_desc) == 64);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, flavor) == 4);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, comm) == 8);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, base) == 16);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, bytes) == 24);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, disp_unit) == 32);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, hints) == 40);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, ordering) == 44);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, granularity) == 48);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, host_win) == 56);
OXMPI_ASSERT(sizeof(oxmpi_rma_args) == 104);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, thread) == 0);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, origin) == 8);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, origin_count) == 16);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, origin_type) == 24);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, result) == 32);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, result_count) == 40);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, result_type) == 48);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, compare) == 56);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, target) == 64);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, reserved) == 68);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, disp) == 72);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, target_count) == 80);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, target_type) == 88);
OXMPI_ASSERT(offsetof(oxmpi_rma_args, op) == 96);
OXMPI_ASSERT(sizeof(oxmpi_osc_table) == 176);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, put) == 8);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, get) == 16);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, accumulate) == 24);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, get_accumulate) == 32);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, fetch_and_op) == 40);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, compare_and_swap) == 48);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, fence) == 56);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, post) == 64);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, start) == 72);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, complete) == 80);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, wait) == 88);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, lock) == 96);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, unlock) == 104);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, lock_all) == 112);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, unlock_all) == 120);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, flush) == 128);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, sync) == 136);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, attach) == 144);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, detach) == 152);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, set_hints) == 160);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, free) == 168);
OXMPI_ASSERT(sizeof(oxmpi_osc_window) == 16);
OXMPI_ASSERT(offsetof(oxmpi_osc_window, window) == 0);
OXMPI_ASSERT(offsetof(oxmpi_osc_window, table) == 8);
OXMPI_ASSERT(sizeof(oxmpi_osc_module) == 48);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, query) == 16);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, create) == 24);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, threads_begin) == 32);
OXMPI_ASSERT(offsetof(oxmpi_osc_module, finalize) == 40);
OXMPI_ASSERT(sizeof(oxmpi_lock) == 4);
OXMPI_ASSERT(offsetof(oxmpi_lock, word) == 0);

/* A string constant as StrRef. */
#define OXMPI_STR(text) { (const uint8_t *)(text), sizeof(text) - 1 }

#ifdef __cplusplus
}
#endif

#endif
