/* Contracts of components, for authors who write C or C++: the descriptor, the host's tables, and the tables of
 * transports (BTL), messaging (PML), collectives (COLL), one-sided communication (OSC) and files (FS, FBTL, FCOLL).
 *
 * Generated from framework/{mca,btl,pml,coll,osc,datatype,fs,fbtl,fcoll}; do not edit. The comments are those of the Rust source,
 * where names are written without `oxmpi_`; a field that would be a keyword has a `_` behind.
 * docs/adding-a*.md are the guides, docs/abi.md the promise. The descriptions of the contracts of files stand at the
 * heads of framework/{fs,fbtl,fcoll}/src/lib.rs.
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

#define OXMPI_MAGIC UINT64_C(0x504d4349504d584f) /* "OXMPICMP" */
#define OXMPI_ABI_MAJOR 3
#define OXMPI_ABI_MINOR 0
#define OXMPI_TARGET "64-le-line64"
#define OXMPI_BTL_TABLE_VERSION 2
#define OXMPI_PML_TABLE_VERSION 3
#define OXMPI_COLL_TABLE_VERSION 1
#define OXMPI_OSC_TABLE_VERSION 1
#define OXMPI_FS_TABLE_VERSION 1
#define OXMPI_FBTL_TABLE_VERSION 1
#define OXMPI_FCOLL_TABLE_VERSION 1
#define OXMPI_BTL_FRAMEWORK "btl"
#define OXMPI_BTL_VERSION { 3, 3, 0 }
#define OXMPI_PML_FRAMEWORK "pml"
#define OXMPI_PML_VERSION { 3, 1, 0 }
#define OXMPI_COLL_FRAMEWORK "coll"
#define OXMPI_COLL_VERSION { 2, 4, 0 }
#define OXMPI_OSC_FRAMEWORK "osc"
#define OXMPI_OSC_VERSION { 1, 3, 0 }
#define OXMPI_FS_FRAMEWORK "fs"
#define OXMPI_FS_VERSION { 1, 0, 0 }
#define OXMPI_FBTL_FRAMEWORK "fbtl"
#define OXMPI_FBTL_VERSION { 1, 0, 0 }
#define OXMPI_FCOLL_FRAMEWORK "fcoll"
#define OXMPI_FCOLL_VERSION { 1, 0, 0 }

typedef struct oxmpi_str_ref oxmpi_str_ref;
typedef struct oxmpi_version oxmpi_version;
typedef struct oxmpi_param_decl oxmpi_param_decl;
typedef struct oxmpi_param_value oxmpi_param_value;
typedef struct oxmpi_lock oxmpi_lock;
typedef struct oxmpi_seat oxmpi_seat;
typedef struct oxmpi_lock_services oxmpi_lock_services;
typedef struct oxmpi_bias oxmpi_bias;
typedef struct oxmpi_thread_ctx oxmpi_thread_ctx;
typedef struct oxmpi_cri oxmpi_cri;
typedef struct oxmpi_lock_table oxmpi_lock_table;
typedef struct oxmpi_wait_word oxmpi_wait_word;
typedef struct oxmpi_wait_fd oxmpi_wait_fd;
typedef struct oxmpi_wait_set oxmpi_wait_set;
typedef struct oxmpi_msg_status oxmpi_msg_status;
typedef struct oxmpi_request_ops oxmpi_request_ops;
typedef struct oxmpi_request_header oxmpi_request_header;
typedef struct oxmpi_job_info oxmpi_job_info;
typedef struct oxmpi_recv_desc oxmpi_recv_desc;
typedef struct oxmpi_am_entry oxmpi_am_entry;
typedef struct oxmpi_part_desc oxmpi_part_desc;
typedef struct oxmpi_layer_function oxmpi_layer_function;
typedef struct oxmpi_waking_word oxmpi_waking_word;
typedef struct oxmpi_proc_name oxmpi_proc_name;
typedef struct oxmpi_proc_place oxmpi_proc_place;
typedef struct oxmpi_place oxmpi_place;
typedef struct oxmpi_node_memory oxmpi_node_memory;
typedef struct oxmpi_shared_segment oxmpi_shared_segment;
typedef struct oxmpi_host_services oxmpi_host_services;
typedef struct oxmpi_host_table oxmpi_host_table;
typedef struct oxmpi_open_args oxmpi_open_args;
typedef struct oxmpi_resolve_args oxmpi_resolve_args;
typedef struct oxmpi_opened oxmpi_opened;
typedef struct oxmpi_descriptor oxmpi_descriptor;
typedef struct oxmpi_place_desc oxmpi_place_desc;
typedef struct oxmpi_place_by oxmpi_place_by;
typedef struct oxmpi_btl_attrs oxmpi_btl_attrs;
typedef struct oxmpi_send_desc oxmpi_send_desc;
typedef struct oxmpi_kept_desc oxmpi_kept_desc;
typedef struct oxmpi_rma_desc oxmpi_rma_desc;
typedef struct oxmpi_flush_desc oxmpi_flush_desc;
typedef struct oxmpi_piece oxmpi_piece;
typedef struct oxmpi_rma_vector_desc oxmpi_rma_vector_desc;
typedef struct oxmpi_atomic_desc oxmpi_atomic_desc;
typedef struct oxmpi_list_entry oxmpi_list_entry;
typedef struct oxmpi_list_desc oxmpi_list_desc;
typedef struct oxmpi_proc_info oxmpi_proc_info;
typedef struct oxmpi_proc_list oxmpi_proc_list;
typedef struct oxmpi_btl_table oxmpi_btl_table;
typedef struct oxmpi_btl_module oxmpi_btl_module;
typedef struct oxmpi_btl_handle oxmpi_btl_handle;
typedef struct oxmpi_reach oxmpi_reach;
typedef struct oxmpi_registration oxmpi_registration;
typedef struct oxmpi_ask_desc oxmpi_ask_desc;
typedef struct oxmpi_btl_services oxmpi_btl_services;
typedef struct oxmpi_run oxmpi_run;
typedef struct oxmpi_nest oxmpi_nest;
typedef struct oxmpi_type_desc oxmpi_type_desc;
typedef struct oxmpi_op_desc oxmpi_op_desc;
typedef struct oxmpi_polled oxmpi_polled;
typedef struct oxmpi_polling oxmpi_polling;
typedef struct oxmpi_context_words oxmpi_context_words;
typedef struct oxmpi_words oxmpi_words;
typedef struct oxmpi_comm_desc oxmpi_comm_desc;
typedef struct oxmpi_transports oxmpi_transports;
typedef struct oxmpi_send_args oxmpi_send_args;
typedef struct oxmpi_recv_args oxmpi_recv_args;
typedef struct oxmpi_counts oxmpi_counts;
typedef struct oxmpi_pml_table oxmpi_pml_table;
typedef struct oxmpi_pml_module oxmpi_pml_module;
typedef struct oxmpi_coll_comm oxmpi_coll_comm;
typedef struct oxmpi_coll_services oxmpi_coll_services;
typedef struct oxmpi_neighbors oxmpi_neighbors;
typedef struct oxmpi_coll_args oxmpi_coll_args;
typedef struct oxmpi_coll_table oxmpi_coll_table;
typedef struct oxmpi_coll_offer oxmpi_coll_offer;
typedef struct oxmpi_coll_module oxmpi_coll_module;
typedef struct oxmpi_win_desc oxmpi_win_desc;
typedef struct oxmpi_win_comm oxmpi_win_comm;
typedef struct oxmpi_mapped oxmpi_mapped;
typedef struct oxmpi_win_services oxmpi_win_services;
typedef struct oxmpi_rma_args oxmpi_rma_args;
typedef struct oxmpi_win_counts oxmpi_win_counts;
typedef struct oxmpi_osc_table oxmpi_osc_table;
typedef struct oxmpi_osc_window oxmpi_osc_window;
typedef struct oxmpi_osc_module oxmpi_osc_module;
typedef struct oxmpi_path_facts oxmpi_path_facts;
typedef struct oxmpi_open_file oxmpi_open_file;
typedef struct oxmpi_fs_file oxmpi_fs_file;
typedef struct oxmpi_file_range oxmpi_file_range;
typedef struct oxmpi_fs_table oxmpi_fs_table;
typedef struct oxmpi_fs_module oxmpi_fs_module;
typedef struct oxmpi_file_bell oxmpi_file_bell;
typedef struct oxmpi_file_operation oxmpi_file_operation;
typedef struct oxmpi_file_facts oxmpi_file_facts;
typedef struct oxmpi_file_piece oxmpi_file_piece;
typedef struct oxmpi_file_transfer oxmpi_file_transfer;
typedef struct oxmpi_fbtl_table oxmpi_fbtl_table;
typedef struct oxmpi_fbtl_module oxmpi_fbtl_module;
typedef struct oxmpi_file_layout oxmpi_file_layout;
typedef struct oxmpi_file_access oxmpi_file_access;
typedef struct oxmpi_fcoll_services oxmpi_fcoll_services;
typedef struct oxmpi_file_plan oxmpi_file_plan;
typedef struct oxmpi_fcoll_table oxmpi_fcoll_table;
typedef struct oxmpi_fcoll_facts oxmpi_fcoll_facts;
typedef struct oxmpi_fcoll_module oxmpi_fcoll_module;

/* A status code. Zero is success; every failure is negative. */
typedef int32_t oxmpi_status;
/* Success: the operation is done, and its outputs are set. */
#define OXMPI_STATUS_OK 0
/* Not done and not failed: the caller got a request to wait for, or asks again later. */
#define OXMPI_STATUS_PENDING 1
/* Back-pressure: keep the operation, progress, offer it again. */
#define OXMPI_STATUS_NO_RESOURCE (-1)
/* This component, device or process cannot do it at all; the same call fails again. */
#define OXMPI_STATUS_NOT_SUPPORTED (-2)
/* An argument has a value that the function does not take; nothing happened. */
#define OXMPI_STATUS_BAD_PARAM (-3)
/* Nothing with that name or number exists. */
#define OXMPI_STATUS_NOT_FOUND (-4)
/* Memory could not be had; nothing happened. */
#define OXMPI_STATUS_OUT_OF_MEMORY (-5)
/* No transport leads to the process. */
#define OXMPI_STATUS_UNREACHABLE (-6)
/* The peer broke the protocol, closed, or died. */
#define OXMPI_STATUS_PEER_FAILED (-7)
/* The message is longer than its receive's buffer; the buffer is filled (MPI_ERR_TRUNCATE; MPI 5.0 §3.2.4). */
#define OXMPI_STATUS_TRUNCATED (-8)
/* The component has nothing to offer here (no device, switched off); dropped in silence. */
#define OXMPI_STATUS_NOT_AVAILABLE (-9)
/* Something that cannot happen did: a mistake in the library or a component, which the log names. */
#define OXMPI_STATUS_INTERNAL (-10)
/* A panic was caught at the boundary; the component is not used again. */
#define OXMPI_STATUS_PANICKED (-11)
/* The system refuses the access, or a proof of the job's secret is wrong. */
#define OXMPI_STATUS_NO_PERMISSION (-12)
/* A bounded wait came to its end before the awaited thing happened. */
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
/* The communicator was revoked: nothing is waited for on it any more. */
#define OXMPI_STATUS_REVOKED (-21)

/* Borrowed text. The bytes live as long as the component (for what a component gives) or the call
 * (for what a call takes). UTF-8, not terminated. */
struct oxmpi_str_ref {
    /* The first byte; anything where `len` is 0. */
    const uint8_t *ptr;
    /* Bytes of the text, without a terminating 0. */
    size_t len;
};

/* A version of a contract or a component: compared by major, then by minor, then by patch. */
struct oxmpi_version {
    /* Number that changes when a component of the number before cannot be used any more. */
    uint16_t major;
    /* Number that grows when something is appended. */
    uint16_t minor;
    /* Number that grows when nothing changes that the other side sees; never compared for acceptance. */
    uint32_t patch;
};

/* The type of a parameter's values, which tells how they are written and read; numbers, because no Rust enum is taken from the other side. */
typedef uint32_t oxmpi_param_kind;
/* A signed number of 64 bits; arrives in `int`. */
#define OXMPI_PARAM_KIND_INT 1
/* A number of 64 bits without sign; arrives in `int`, bit for bit. */
#define OXMPI_PARAM_KIND_UNSIGNED 2
/* Bytes, written with an optional k, m or g (powers of 1024). */
#define OXMPI_PARAM_KIND_SIZE 3
/* A truth value; arrives in `int` as 0 or 1. */
#define OXMPI_PARAM_KIND_BOOL 4
/* A floating-point number of 64 bits, finite; arrives in `double`. */
#define OXMPI_PARAM_KIND_DOUBLE 5
/* Any text; arrives in `text` as it was written. */
#define OXMPI_PARAM_KIND_STRING 6
/* One of `enumerators`, by name; arrives as the name's index in `int`. */
#define OXMPI_PARAM_KIND_ENUM 7
/* Comma-separated, `^` in front negates; arrives as written in `text`. */
#define OXMPI_PARAM_KIND_LIST 8

/* MPI_T verbosity, 1 (user, basic) to 9 (developer, all). */
typedef uint32_t oxmpi_level;

/* MPI_T scope. */
typedef uint32_t oxmpi_scope;
/* The value never changes (MPI_T_SCOPE_CONSTANT). */
#define OXMPI_SCOPE_CONSTANT 1
/* A program cannot write it; the library may change it (MPI_T_SCOPE_READONLY). The default. */
#define OXMPI_SCOPE_READONLY 2
/* A program may write it in one process alone (MPI_T_SCOPE_LOCAL). */
#define OXMPI_SCOPE_LOCAL 3
/* A program must write it in a group of processes, consistently (MPI_T_SCOPE_GROUP). */
#define OXMPI_SCOPE_GROUP 4
/* A program must write the same value in a group of processes (MPI_T_SCOPE_GROUP_EQ). */
#define OXMPI_SCOPE_GROUP_EQ 5
/* A program must write it in all connected processes, consistently (MPI_T_SCOPE_ALL). */
#define OXMPI_SCOPE_ALL 6
/* A program must write the same value in all connected processes (MPI_T_SCOPE_ALL_EQ). */
#define OXMPI_SCOPE_ALL_EQ 7

/* Bits of `ParamDecl::flags`. */
/* Using the parameter is warned about: it will go. */
#define OXMPI_PARAM_FLAG_DEPRECATED 1
/* Using one of the synonyms is warned about, and the name to use is named. */
#define OXMPI_PARAM_FLAG_SYNONYMS_DEPRECATED 2
/* For developers of the component: left out of listings unless they are asked for everything. */
#define OXMPI_PARAM_FLAG_INTERNAL 4
/* The value names a file of text (UTF-8, at most 100 KiB): whoever reads parameter files, which is the launcher of a job, reads it, too, and its text
 * is a setting of the parameter that is declared next. A setting of that parameter itself comes first within one source. */
#define OXMPI_PARAM_FLAG_FILE_OF_NEXT 8

typedef struct oxmpi_slice_of_str_ref {
    const oxmpi_str_ref *ptr;
    size_t len;
} oxmpi_slice_of_str_ref;
/* The declaration of a parameter: its name, type, bounds, default and help. It and all that it points to live as long as the component. */
struct oxmpi_param_decl {
    /* The parameter's own name, which `<framework>_<component>_` precedes in the full name. No white space and no `=`. */
    oxmpi_str_ref name;
    /* The type of its values. */
    oxmpi_param_kind kind;
    /* The detail it belongs to, 1 to 9: 1 to 5 for users, 6 to 8 for tuners, 9 for developers. */
    oxmpi_level level;
    /* Tells in which processes a program may write it, and that equally or not. */
    oxmpi_scope scope;
    /* Bits of `param_flag`. */
    uint32_t flags;
    /* As a user would write it. */
    oxmpi_str_ref default_;
    /* At most two sentences without a full stop at the end: the parameter's effect, and when to change it. */
    oxmpi_str_ref help;
    /* Smallest and largest value for numbers; both zero means no bound. */
    int64_t min;
    /* Largest value for numbers; `i64::MAX` means no upper bound for kinds without a sign. */
    int64_t max;
    /* The names that a value of kind ENUM may have, in the order of their indices; empty for other kinds. */
    oxmpi_slice_of_str_ref enumerators;
    /* Full names under which Open MPI users know it, if any. */
    oxmpi_slice_of_str_ref synonyms;
};

/* A resolved value. `int` holds INT, UNSIGNED (as bits), SIZE, BOOL (0/1) and ENUM (index). */
struct oxmpi_param_value {
    /* The kind of the parameter's declaration, which says which of the fields below has the value. */
    oxmpi_param_kind kind;
    /* 0 from the host; a component does not look at it. */
    uint32_t reserved;
    /* The value of a number, a size in bytes, a truth value or an index of an enumerator; 0 for other kinds. */
    int64_t int_;
    /* The value of a parameter of kind DOUBLE; 0 for other kinds. */
    double double_;
    /* The value of a parameter of kind STRING or LIST as it was written, or the name of an ENUM; empty for other kinds. Valid as long as the values. */
    oxmpi_str_ref text;
};

/* One word that a thread sets by compare-and-swap and clears by a store: 0 free, 1 taken. 4 zero bytes are a free lock. */
struct oxmpi_lock {
    uint32_t word;
};

/* Changes when what the fields of `Bias`, `Seat` and `Lock` mean changes, or the order in which they are written. */
#define OXMPI_LOCK_PROTOCOL 1

/* By level, which lock a thread is inside as its owner. Part of the thread's context; other threads read it while the
 * context's instance lives. */
struct oxmpi_seat {
    /* Address of the lock's `Bias`, or 0. Written by this thread alone. */
    size_t inside[2];
    /* Not 0 while the thread holds a lock of that level, as owner or not. Kept in checked builds only. */
    uint32_t entered[2];
};

/* The parts of a biased lock that the host does for all components. May be called from any thread. */
struct oxmpi_lock_services {
    /* Takes a lock that did not let the caller in at once: waits for its word, or takes it from its owner. */
    void (*enter)(const oxmpi_bias *bias, const oxmpi_lock *word, uint32_t level);
    /* By the holder of a shared lock: makes the thread of that seat its owner, which leaves the lock by that. 0: this system
     * could not take the lock away again, and nothing happened. */
    uint32_t (*keep)(const oxmpi_bias *bias, oxmpi_seat *seat);
};

/* The owner of a lock and how it became that; see the head of the file. The word is the caller's, who passes the same each
 * time. */
struct oxmpi_bias {
    /* Seat of the owner, or null. */
    oxmpi_seat *owner;
    /* The host's functions for waiting and for a change of the owner; never null, and valid as long as the lock is used. */
    const oxmpi_lock_services *services;
    /* Seat of the last holder of the shared lock. This and what follows belongs to who holds the shared lock. */
    oxmpi_seat *last;
    /* Acquisitions in a row by that one. */
    uint32_t run;
    /* Acquisitions in a row that make it the owner. */
    uint32_t limit;
    /* Time at which the lock got its last owner, in nanoseconds of the host's clock. */
    uint64_t kept_at;
};
/* Nanoseconds with one owner that were worth the cost of taking the lock away. */
#define OXMPI_BIAS_LONG 1000000

/* Looked up once per MPI call and passed down; components use no thread-locals on a message's path. It belongs to one thread
 * at a time, and passes from a thread that ends to one that comes, with what is in it. Lives as long as its instance. */
struct oxmpi_thread_ctx {
    /* Communication resource instance this thread uses first. */
    uint32_t cri;
    /* Small number of the thread within the instance, from 0. */
    uint32_t index;
    /* Software counters of this thread, or null: `counters[i]` is SPC number i. */
    uint64_t *counters;
    /* The host's own data of the thread; components neither read nor change it. */
    void *host_private;
    /* The PML's own: null in a new context, and never touched by the host. The thread that has the context is alone with what
     * it points to. */
    void *pml_private;
    /* The same for the one-sided component. */
    void *osc_private;
    /* The locks that the thread is inside as their owner. Other threads read it. */
    oxmpi_seat seat;
    /* The CRIs, by bits, that the thread progresses beside its own, because something of it comes or waits there. The host writes
     * them (`Host::expect`), in calls of this thread. */
    uint64_t attended;
};

/* Communication resource instance: what one flow of messages needs to communicate alone. Its index
 * is the `ctx` argument of every hot BTL verb; its lock serialises those verbs for that index. */
struct oxmpi_cri {
    /* The lock's word; taken through `cri_enter` in C, through a guard in Rust, and never by itself: a thread may have left it
     * taken because it owns the lock. */
    OXMPI_ALIGN(128) oxmpi_lock lock;
    /* Times that somebody wanted to progress it and found the lock taken. */
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
    /* Seat of the thread that holds the lock, if that has one. The holder's. */
    oxmpi_seat *holder;
    /* Not 0 once the context is nobody's in particular: messages come on it whatever thread they are for. A waiter looks after
     * such a one soon. Any thread may set it; it stays. */
    uint32_t shared;
    /* Keeps `bias` on lines of its own. */
    uint32_t reserved[17];
    /* The lock's owner. These lines are not written while one thread enters and leaves. */
    oxmpi_bias bias;
};

/* The ways into CRIs: the part of the host table about locking. Fixed; another layout has another protocol number. */
struct oxmpi_lock_table {
    /* The meaning that the fields of a CRI's lock have to the host; a component says in its descriptor what they mean to it. */
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
};

/* A futex word (it may be shared between processes) that a sleeper sleeps on, and the value it must still have. */
struct oxmpi_wait_word {
    /* The word's address, aligned to 4 bytes, readable as long as the set may be slept on. */
    const uint32_t *addr;
    /* The value that lets the sleeper sleep; with any other it wakes, or does not fall asleep. */
    uint32_t expected;
    /* Must be 0; it is compared when entries are. */
    uint32_t reserved;
};

/* A descriptor that a sleeper sleeps on; `events` as in poll(2). */
struct oxmpi_wait_fd {
    /* The descriptor, open as long as the set may be slept on. */
    int32_t fd;
    /* The events that wake, as in poll(2): POLLIN, POLLOUT and so on. */
    uint32_t events;
};

/* Everything that can wake a sleeper: `arm` adds its words and descriptors. Both arrays are the caller's. */
struct oxmpi_wait_set {
    /* Room for `max_words` words, of which the first `num_words` are set. */
    oxmpi_wait_word *words;
    /* Words in the set, at most `max_words`. */
    uint32_t num_words;
    /* Words that there is room for. */
    uint32_t max_words;
    /* Room for `max_fds` descriptors, of which the first `num_fds` are set. */
    oxmpi_wait_fd *fds;
    /* Descriptors in the set, at most `max_fds`. */
    uint32_t num_fds;
    /* Descriptors that there is room for. */
    uint32_t max_fds;
};

/* Status of a finished receive (or probe). `error` is a `Status` code, `OK` or not. */
struct oxmpi_msg_status {
    /* The sender's rank in the communicator (of the remote group of an inter-communicator); -1 in an empty status. */
    int32_t source;
    /* The message's tag; -2 in an empty status. */
    int32_t tag;
    /* The outcome: OK, or the failure that the operation ended with. */
    oxmpi_status error;
    /* Bit 0: the operation was cancelled. With `error` TRUNCATED the bits above it say how many bytes of the message did not
     * fit, at most 31 bits of that number; otherwise they are 0. */
    uint32_t cancelled;
    /* Bytes received (packed size). */
    uint64_t bytes;
};

/* The word everything waits on. */
typedef size_t oxmpi_completion;
/* The word of an operation that is under way and that no sync object is attached to. */
#define OXMPI_COMPLETION_PENDING 0
/* The word of an operation that is done. */
#define OXMPI_COMPLETION_COMPLETE 1

/* Operations that the host may ask of the owner of a request. */
struct oxmpi_request_ops {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* Must be 0. */
    uint32_t reserved;
    /* The host is done with it. If it is still pending (MPI_Request_free) the owner keeps it
     * until it completes and then recycles it. `thread`: the calling thread's context, or null. */
    void (*release)(oxmpi_request_header *req, oxmpi_thread_ctx *thread);
    /* Tries to cancel (MPI 5.0 §3.8.4). OK: it is complete as cancelled. PENDING: that is not known yet, or it is too late; it completes in any
     * case, and its status tells. NOT_SUPPORTED: the owner cancels nothing. */
    oxmpi_status (*cancel)(oxmpi_request_header *req);
    /* Starts a persistent request that is inactive. A failure: it stays inactive, as with `send` and `irecv` of its owner's table. */
    oxmpi_status (*start)(oxmpi_request_header *req);
};

/* First field of every request object, whoever owns it. */
struct oxmpi_request_header {
    /* The word that waiters look at. */
    oxmpi_completion completion;
    /* The outcome, written by the owner before it completes the request, and read by nobody before that. */
    oxmpi_msg_status status;
    /* The owner's functions; valid as long as the instance. */
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
};
/* In `kind`: the request of a send. */
#define OXMPI_REQUEST_HEADER_SEND 1
/* In `kind`: the request of a receive, whose status has source, tag and length. */
#define OXMPI_REQUEST_HEADER_RECV 2
/* In `kind`: the request of any other operation (one-sided, collective, the user's own). */
#define OXMPI_REQUEST_HEADER_OTHER 3
/* In `flags`: survives completion. */
#define OXMPI_REQUEST_HEADER_PERSISTENT 1
/* In `flags`: a persistent request that was started and not yet waited for. */
#define OXMPI_REQUEST_HEADER_ACTIVE 2

/* The kind of memory that an address is in. Registration verbs carry it from the first version. */
typedef uint32_t oxmpi_mem_kind;
/* Ordinary memory of the process, which its processors load and store. */
#define OXMPI_MEM_KIND_HOST 0

/* This instance's place in its job. One instance is one rank (several may live in one process). */
struct oxmpi_job_info {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Number of this process in the job, and how many there are. */
    uint32_t rank;
    /* Processes of the job, at least 1. */
    uint32_t job_size;
    /* Number of this process's node in the job, as the launcher counts nodes, from 0. */
    uint32_t node;
    /* Number of this process among those of the job on its node, from 0. */
    uint32_t local_rank;
    /* Processes of the job on this node, this one included. */
    uint32_t local_size;
    /* Random number of the job, equal in all its processes. */
    uint64_t job_id;
    /* The shared segment of this job on this node (a memfd), which is number 0 of `HostServices::segment`; -1: none. */
    int32_t segment_fd;
    /* More runnable threads than cores are expected on this node. */
    uint32_t oversubscribed;
    /* Cores this process may use. */
    uint32_t cores;
    /* Process to name with PR_SET_PTRACER so that node-local peers may read our memory; 0: none. */
    uint32_t keeper_pid;
};

/* A message as a BTL hands it up. Everything is valid during the callback only. */
struct oxmpi_recv_desc {
    /* The message from its first byte, the sender's header, on; readable for `len` bytes. */
    const uint8_t *data;
    /* Bytes of header and payload together. */
    uint64_t len;
    /* Index of the process it came from. */
    uint32_t proc;
    /* Context (CRI) it came in on; its lock is held by the caller. */
    uint32_t ctx;
    /* The receiving BTL module's `state`. */
    void *module;
    /* Name of the request for `service_reply`, where `ctx` is the service context; name of a message that was claimed (`ClaimOf` of btl), or 0, where that is asked for or placed; it means nothing elsewhere. */
    uint64_t link;
};

/* Answers of a receive callback. */
/* The transport goes on as it likes. */
#define OXMPI_RECEIVE_CONTINUE 0
/* The transport is asked to end this batch behind the message: its receiver has something to do before it wants the
 * next one. */
#define OXMPI_RECEIVE_STOP 1
/* A bit of what `super::AmParts` answers: the receiver takes the message by partial delivery, this part first. */
#define OXMPI_RECEIVE_TAKEN 2

/* Takes an active message. Runs under the CRI's lock; must not block and must not run user code. Returns one
 * of `receive`. */
typedef uint32_t (*oxmpi_am_receive)(void *ctx, const oxmpi_recv_desc *msg);

/* One row of the instance's table of 256 active-message receivers. A BTL calls
 * `row.receive(row.ctx, ..)`; rows nobody registered report the tag and close the peer. */
struct oxmpi_am_entry {
    /* The function that takes messages of the tag; called under the lock of the CRI they came on. */
    oxmpi_am_receive receive;
    /* First argument of `receive`, as it was registered. */
    void *ctx;
};

/* A part of a message, delivered before the rest of it has come (partial delivery). */
struct oxmpi_part_desc {
    /* The whole message: where it lies once all of it is there, and how long it is. It does not move while it comes. */
    oxmpi_recv_desc message;
    /* The bytes from here ... */
    uint64_t from;
    /* ... to here are there now, and have not been delivered before. */
    uint64_t to;
};

/* Takes a message by partial delivery: in parts that follow each other, while the rest of it is on its way; otherwise as `AmReceive`.
 * 
 * The first part is an offer, with as much of the message as is there. The answer without the bit `receive::TAKEN` refuses it: the message is delivered
 * whole by the tag's `AmReceive` when all of it is there, and may be offered again before that, with more. The answer with the bit takes it. Then the
 * other parts follow, and are always taken; the last one ends where the message does. Until then the transport delivers nothing else from
 * that process on that context. */
typedef uint32_t (*oxmpi_am_parts)(void *ctx, const oxmpi_part_desc *part);

/* First tag of each framework's active messages: three bits framework, five bits its own. One-sided components have the
 * tags that `HostServices::osc_tags` allots; those of the host no component can register. */
/* First tag of the host itself; no component can register those up to 0x1f. */
#define OXMPI_AM_TAG_HOST 0
/* First of the 32 tags of transports for messages of their own. */
#define OXMPI_AM_TAG_BTL 32
/* First of the 32 tags of the PML. */
#define OXMPI_AM_TAG_PML 64
/* First of the 32 tags of one-sided components, which get them in groups of `services::OSC_TAGS`. */
#define OXMPI_AM_TAG_OSC 96
/* First tag that belongs to no framework of the library; tags from here to 0xff are for components of others. */
#define OXMPI_AM_TAG_USER 128

/* Bits of `HostTable::cri_modes`. */
/* A thread's messages go on an instance of its own; without this bit and the next, a message's instance
 * follows from its communicator and tag. */
#define OXMPI_CRI_MODE_DEDICATED 1
/* Each message goes on the next instance. */
#define OXMPI_CRI_MODE_ROUND_ROBIN 2
/* One thread at a time progresses, whatever the number of instances. */
#define OXMPI_CRI_MODE_SERIAL_PROGRESS 4

/* A turn of a layer; returns the number of events. Called by any thread that makes progress, which holds nothing. */
typedef int32_t (*oxmpi_progress_fn)(void *ctx, oxmpi_thread_ctx *thread);

/* Prepares a thread to sleep: adds to the set what will change when there is something to do. OK: sleep on that; PENDING: there is something
 * to do already; NO_RESOURCE: the set is full. */
typedef oxmpi_status (*oxmpi_arm_fn)(void *ctx, oxmpi_thread_ctx *thread, oxmpi_wait_set *set);

/* Follows every call of an `ArmFn`: the thread is awake. */
typedef void (*oxmpi_disarm_fn)(void *ctx, oxmpi_thread_ctx *thread);

/* A function of a layer (PML, OSC, COLL) that turns of progress call, holding nothing.
 * 
 * The layer says by `work` whether there is anything to do: while the word is 0 the function is not called, and nobody sleeps
 * less long for it. A layer that changes it from 0 is in a turn of progress, or makes one afterwards; so no sleeper has to be told. */
struct oxmpi_layer_function {
    /* Bytes of this struct as the component was built with it; shorter than the host's is refused with BAD_PARAM. */
    uint32_t size;
    /* 1: called in every turn in which there is work; 0: in every eighth of a thread. */
    uint32_t every;
    /* With `context` the name of the registration. */
    oxmpi_progress_fn function;
    /* First argument of the three functions. */
    void *context;
    /* Not 0 while there is work; null: always. Valid until the component is finalized. */
    const uint32_t *work;
    /* `None`: what the layer waits for wakes no sleeper, and while there is work nobody sleeps long. */
    oxmpi_arm_fn arm;
    /* Called behind every call of `arm`; `None` where `arm` is `None`, or where there is nothing to undo. */
    oxmpi_disarm_fn disarm;
};

/* A word that is waited for, in memory that processes may share; 8 zero bytes are one with value 0. A writer does what
 * `WakingWord::store` does: it stores the value (release), runs a full fence, looks whether `sleepers` is 0, and otherwise calls the service
 * `wake_word`. */
struct oxmpi_waking_word {
    /* The value that sleepers wait for a change of; the futex is on this word, the first of the struct. */
    uint32_t value;
    /* Number of those who have announced that they sleep on `value`. Only the host's waits change it. */
    uint32_t sleepers;
};

/* Wire name of a process: job, rank and check bits. Compared as bytes. */
struct oxmpi_proc_name {
    /* The 16 bytes of the name, to be sent and compared as they are. */
    uint8_t bytes[16];
};

/* Hardware that two processes of a node share, by bit; not set where that is not known. */
/* The memory that is nearest to both, a NUMA node. */
#define OXMPI_DISTANCE_SAME_NUMA 1
/* The processor package. */
#define OXMPI_DISTANCE_SAME_SOCKET 2
/* The third-level cache. */
#define OXMPI_DISTANCE_SAME_CACHE 4
/* The core: its hardware threads take turns. */
#define OXMPI_DISTANCE_SAME_CORE 8

/* The place of a process in its job, and its nearness to this one. */
struct oxmpi_proc_place {
    /* Number of its node in its job, from 0; `u32::MAX` where that is not known. */
    uint32_t node;
    /* Number among the processes of its node. */
    uint32_t local_rank;
    /* 1: on this node, as its launcher numbers nodes. */
    uint32_t local;
    /* Bits of `distance`: hardware that is known to be shared, so more bits are nearer; 0 of processes of other nodes. The bits follow from
     * the hardware that both processes are bound to, which this process knows of another one from the first contact on (`BtlServices::reach`);
     * before that they are those that hold for all processes of the node. This process shares all with itself. */
    uint32_t distance;
};

/* The place of a rank of a communicator or window. */
struct oxmpi_place {
    /* The process, by its index in this process's tables (as in `RecvDesc::proc`). */
    uint32_t proc;
    /* The node, numbered from 0 by the lowest rank on each. */
    uint32_t node;
    /* Number among the ranks on that node; 0 is the node's leader. */
    uint32_t node_rank;
    /* Number of the ranks on that node. */
    uint32_t node_size;
    /* Number of the rank within its process, from 0; 0 where the process is one rank. */
    uint32_t endpoint;
    /* 1 on this process's node. */
    uint32_t local;
};

/* Bytes of a proof of the job's secret. */
#define OXMPI_AUTH_BYTES 32

/* Number of tags that a one-sided component has (`HostServices::osc_tags`). */
#define OXMPI_OSC_TAGS 4

/* Memory that the processes of a node share. */
struct oxmpi_node_memory {
    /* The first byte in this address space, aligned to pages. */
    uint8_t *base;
    /* Bytes of the memory, as they were asked for. */
    uint64_t bytes;
    /* 1 at the first asking of all. It is zero then. */
    uint32_t first;
    /* 0 from the host. */
    uint32_t reserved;
};

/* A shared segment on this node, as this process has it. */
struct oxmpi_shared_segment {
    /* Its descriptor, a memfd. It is the host's, and open until the answer to the same question is NOT_FOUND; who keeps it duplicates it. */
    int32_t fd;
    /* Place of this process among those that share the segment: less than `local_size`. */
    uint32_t local_rank;
    /* Number of processes that may share it, alike in all of them for as long as it exists. */
    uint32_t local_size;
    /* 0 from the host. */
    uint32_t reserved;
    /* Its length in bytes at the time of the question; it grows and does not shrink. 0: nobody has written anything yet. */
    uint64_t bytes;
};

/* The question of a wait; not 0 ends it. Runs with no lock held and does not wait itself. */
typedef uint32_t (*oxmpi_predicate)(void *ctx);

/* A process failed. Runs where no lock is held, once per process and subscriber. */
typedef void (*oxmpi_peer_failed)(void *ctx, uint32_t proc, oxmpi_status status);

typedef struct oxmpi_slice_of_u8 {
    const uint8_t *ptr;
    size_t len;
} oxmpi_slice_of_u8;
/* The table. Grows at the end. The first argument of every function is `HostTable::instance`. */
struct oxmpi_host_services {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* `HELD`. The wire name of an index. NOT_FOUND: there is no such process. */
    oxmpi_status (*name_of)(void *, uint32_t proc, oxmpi_proc_name *out);
    /* `HELD`. The index of a wire name; a new one for a process that was not known. BAD_PARAM: no name of anybody. */
    oxmpi_status (*index_of)(void *, const oxmpi_proc_name *name, uint32_t *out);
    /* `HELD`. The place of a process. NOT_FOUND: there is no such process. */
    oxmpi_status (*place_of)(void *, uint32_t proc, oxmpi_proc_place *out);
    /* As `HostTable::exchange_put`, under a name of the module's own beside the component's. BAD_PARAM: the name is not UTF-8. */
    oxmpi_status (*exchange_put)(void *, oxmpi_str_ref module, oxmpi_slice_of_u8 data);
    /* Fetches what a process published for a module, without waiting. PENDING: asked for, call again; OK, NOT_FOUND,
     * NO_RESOURCE (`len` is what is needed), PEER_FAILED as `HostTable::exchange_get`. BAD_PARAM: the name is not UTF-8. */
    oxmpi_status (*exchange_try)(void *, oxmpi_str_ref module, uint32_t proc, uint8_t *data, size_t *len);
    /* `HELD`. Answers a challenge: `AUTH_BYTES` that only processes of the job can make of `challenge` and `context` (which
     * side, which connection, what protocol). A context with the wire name of a process of another job (`name_of`) is about a connection
     * with that one: only the two can answer then. */
    oxmpi_status (*auth_make)(void *, oxmpi_slice_of_u8 challenge, oxmpi_slice_of_u8 context, uint8_t *out);
    /* `HELD`. OK, or NO_PERMISSION where the answer is not that of a process of the job. Takes as long for either. */
    oxmpi_status (*auth_check)(void *, oxmpi_slice_of_u8 challenge, oxmpi_slice_of_u8 context, oxmpi_slice_of_u8 answer);
    /* Memory of `bytes` bytes (not 0), aligned to pages, that all processes of the node share whose component of this name asks
     * with the same key (of at most 160 bytes; other components' keys are apart). New memory is zero. It exists while somebody has it: asking again adds
     * to a count in this process, and each asking is undone by one `node_memory_free`, at the latest by the end of the instance; the
     * last frees it, and a later asking gets new memory. So processes that are to meet in it let each other know that all have
     * it before one frees it. Asks the node's daemon and waits for the answer. MISMATCH: it exists with another size.
     * BAD_PARAM: no bytes, or a key that is too long. OUT_OF_MEMORY here does not mean that others failed. */
    oxmpi_status (*node_memory)(void *, oxmpi_str_ref key, uint64_t bytes, oxmpi_node_memory *out);
    /* Copies from a process's memory on this node to `local`, by the kernel. NOT_SUPPORTED, NO_PERMISSION: not here. BAD_PARAM: the memory is not
     * mapped. OUT_OF_MEMORY: the kernel's. After a failure a part may have been copied. */
    oxmpi_status (*peer_read)(void *, uint32_t proc, uint64_t remote, uint8_t *local, uint64_t bytes);
    /* The same to the process's memory, from `local`; failures as of `peer_read`. */
    oxmpi_status (*peer_write)(void *, uint32_t proc, uint64_t remote, const uint8_t *local, uint64_t bytes);
    /* A process's memory in this address space, where that can be had without its help (the process itself, node memory).
     * NOT_SUPPORTED elsewhere. BAD_PARAM: the range does not fit an address space. */
    oxmpi_status (*peer_pointer)(void *, uint32_t proc, uint64_t remote, uint64_t bytes, uint8_t **out);
    /* Makes progress until the predicate says so. Always OK. */
    oxmpi_status (*wait_until)(void *, oxmpi_thread_ctx *, oxmpi_predicate, void *ctx);
    /* Makes progress, or sleeps, until the word (it may be shared between processes) is not `value` any more; whoever changes it wakes the
     * sleeper by `wake_word`. PEER_FAILED: a process has failed meanwhile, and the word is still `value`; processes that failed before are
     * those that `on_peer_failure` has told. */
    oxmpi_status (*wait_word)(void *, oxmpi_thread_ctx *, const oxmpi_waking_word *word, uint32_t value);
    /* Subscribes to failures of peers. Those that failed before are told at once. BAD_PARAM: that function has that context already. */
    oxmpi_status (*on_peer_failure)(void *, oxmpi_peer_failed f, void *ctx);
    /* Ends a subscription with that function and context; a call that has begun may still run. NOT_FOUND: there is none. */
    oxmpi_status (*off_peer_failure)(void *, oxmpi_peer_failed f, void *ctx);
    /* `HELD`. A transport's final failure of a process: everybody who subscribed is told, and unless somebody
     * took that upon itself the job ends with one report. NOT_FOUND: there is no such process. */
    oxmpi_status (*peer_failed)(void *, uint32_t proc, oxmpi_status status, oxmpi_str_ref message);
    /* The first of `OSC_TAGS` consecutive AM tags of a one-sided component. They follow from its name alone and so are alike in all
     * processes, whatever components each has. NOT_FOUND: it is of another framework. BAD_PARAM: another
     * component of this process has the same tags; the host has said which. To be called in `open`. */
    oxmpi_status (*osc_tags)(void *, uint8_t *first);
    /* Undoes one `node_memory` of the key; by the last one of this process the address is gone. NOT_FOUND: none is left. */
    oxmpi_status (*node_memory_free)(void *, oxmpi_str_ref key);
    /* `HELD`. Wakes those who sleep on a word, of whatever process, because the caller has changed it and `WakingWord::store`
     * says that there are some. Always OK. */
    oxmpi_status (*wake_word)(void *, const oxmpi_waking_word *word);
    /* Describes shared segment `number` of this node: 0 is the one that this process was started with (`JobInfo::segment_fd`), others come with
     * processes of further jobs, whose `ProcInfo::segment` names them, and go when the last of those has been taken back. A number may come again,
     * for the same segment or another one. NOT_FOUND: there is no such segment. Any thread, holding nothing. */
    oxmpi_status (*segment)(void *, uint32_t number, oxmpi_shared_segment *out);
};

/* The table. Grows at the end; `size` says how far this host's goes. */
struct oxmpi_host_table {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* `ABI_MINOR` of the host: tells which fields and functions it knows. */
    uint32_t abi_minor;
    /* First argument of every function below. */
    void *instance;
    /* Facts of the job and of this process in it; they do not change while the table is valid. */
    const oxmpi_job_info *job;
    /* 1 once more than one thread may make MPI calls (level MULTIPLE); may rise, never falls. */
    const uint32_t *threaded;
    /* The first of `num_cris` communication resources, side by side at a distance of `LockTable::cri_stride` bytes. */
    const oxmpi_cri *cris;
    /* Number of communication resources, 1 to 64; fixed while the table is valid. */
    uint32_t num_cris;
    /* The process's use of them: bits of `cri_mode`. */
    uint32_t cri_modes;
    /* 256 rows; rows may be set while nothing is received yet, i.e. before the first progress. */
    const oxmpi_am_entry *am_table;
    /* Level: 0 error, 1 warning, 2 info, 3 debug; printed if the framework's verbosity says so. */
    void (*log)(void *, int32_t level, oxmpi_str_ref component, oxmpi_str_ref message);
    /* Prints a named paragraph of the component's help.txt once per job, `%1`…`%9` replaced. */
    void (*help)(void *, oxmpi_str_ref component, oxmpi_str_ref topic, oxmpi_slice_of_str_ref args);
    /* The instance cannot go on: reports and ends the job. Does not return. */
    void (*fatal)(void *, oxmpi_str_ref component, oxmpi_str_ref message);
    /* Sets the receiver of a tag. BAD_PARAM: the tag is the host's, or somebody has it already. */
    oxmpi_status (*am_register)(void *, uint8_t tag, oxmpi_am_entry entry);
    /* Adds a layer's function to progress. BAD_PARAM: it is there already, or `size` is too small. */
    oxmpi_status (*progress_register)(void *, const oxmpi_layer_function *function);
    /* Takes it out; a turn that has begun may still call it. NOT_FOUND: it is not there. */
    oxmpi_status (*progress_unregister)(void *, oxmpi_progress_fn f, void *ctx);
    /* Runs progress once, from inside a component that waits (never under a lock). */
    int32_t (*progress)(void *, oxmpi_thread_ctx *thread);
    /* A request completed that had `sync` attached. */
    void (*sync_update)(void *, size_t sync);
    /* Gives a new request object its slot; called once per object when a pool grows. BAD_PARAM: null. NO_RESOURCE: all slots are taken. */
    oxmpi_status (*request_slot)(void *, oxmpi_request_header *req);
    /* Blocks until the request is complete (progressing); the calling thread holds no lock. Answers the error of its status, or BAD_PARAM: null. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *thread, oxmpi_request_header *req);
    /* Publishes this process's address blob of a component (before the exchange, which reports what is too long). Always OK. */
    oxmpi_status (*exchange_put)(void *, oxmpi_str_ref component, oxmpi_slice_of_u8 data);
    /* Fetches a process's blob; `len` in: capacity, out: length. NOT_FOUND: it published none. NO_RESOURCE: it is longer than the capacity.
     * PEER_FAILED: the node's daemon does not answer. */
    oxmpi_status (*exchange_get)(void *, oxmpi_str_ref component, uint32_t proc, uint8_t *data, size_t *len);
    /* A peer broke the protocol or died; `fatal` 1: the job cannot go on without it. */
    void (*peer_error)(void *, oxmpi_str_ref component, uint32_t proc, uint32_t fatal, oxmpi_str_ref message);
    /* 256 rows beside those of `am_table`, with the same first argument: who takes messages by partial delivery, where somebody does. */
    const oxmpi_am_parts *am_parts;
    /* To be called behind `am_register` for the same tag, and not later than that may be. BAD_PARAM: the tag has no receiver. */
    oxmpi_status (*am_register_parts)(void *, uint8_t tag, oxmpi_am_parts take);
    /* Services that are not on a message's path. */
    const oxmpi_host_services *services;
    /* The ways into CRIs. */
    oxmpi_lock_table locking;
    /* Something of the calling thread will come, or waits for room, on the CRIs of a set, by bits: the thread progresses them, too, until another
     * one does. `thread` is its context, or null, which changes nothing. May be called with a CRI held. */
    void (*expect)(void *, oxmpi_thread_ctx *thread, uint64_t set);
};

typedef struct oxmpi_slice_of_param_value {
    const oxmpi_param_value *ptr;
    size_t len;
} oxmpi_slice_of_param_value;
/* Arguments of `open`. */
struct oxmpi_open_args {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* 0 from the host; a component does not look at it. */
    uint32_t reserved;
    /* Valid until the instance has closed the component. */
    const oxmpi_host_table *host;
    /* One value per declared parameter, in the order of the declarations; valid as `host`. */
    oxmpi_slice_of_param_value values;
    /* `OpenArgs::NAMED`, or 0. Appended to ABI 3.0: older hosts do not have it, so a component looks at `size` first. */
    uint64_t flags;
};
/* In `flags`: somebody has named the component in a list of those to use. */
#define OXMPI_OPEN_ARGS_NAMED 1

/* Arguments of `resolve`: values as in `open`, and the process for which they are looked at. The process need not exist: there is no
 * host and no segment, and nothing may be made or changed. The machine may be read (its processor, devices, interfaces). */
struct oxmpi_resolve_args {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Communication resources (CRIs) of the process. */
    uint32_t num_cris;
    /* Facts of the process in its job. */
    const oxmpi_job_info *job;
    /* As in `OpenArgs`. */
    oxmpi_slice_of_param_value values;
    /* First argument of the functions below. */
    void *ctx;
    /* The value that the parameter of that index has in the process, written as a user would set it, and in one sentence how it
     * follows. An empty value, or no call for a parameter: it is in force as it is set. */
    void (*in_force)(void *, uint32_t param, oxmpi_str_ref value, oxmpi_str_ref because);
    /* A value with which `open` would fail, and why, with the parameter's full name and what it takes. `BAD_PARAM`: it is wrong
     * anywhere, so that no process is started with it; `NOT_SUPPORTED`: this machine cannot do what it asks for. */
    void (*refuse)(void *, uint32_t param, oxmpi_status status, oxmpi_str_ref why);
};

/* Result of `open`. `module` is the framework's own table type; several modules (one per device)
 * stand one behind the other. The host reads `count` of them with the stride the table says. */
struct oxmpi_opened {
    /* Bytes of this struct as the host was built with it; a component writes no field behind that. */
    uint32_t size;
    /* The component's rank among those of a framework with one winner (pml), in which the highest number wins; others ignore it. */
    int32_t priority;
    /* The first module, aligned to 8 bytes, valid as long as the instance; null where `count` is 0. */
    const void *modules;
    /* Number of modules. 0: the component opens and has none. In pml, coll and osc more than 1 is refused. */
    size_t count;
    /* Bytes from one module to the next: a multiple of 8, not less than the framework's module struct; looked at where `count` is not 0. */
    size_t stride;
};

typedef struct oxmpi_slice_of_param_decl {
    const oxmpi_param_decl *ptr;
    size_t len;
} oxmpi_slice_of_param_decl;
/* The descriptor that a component's one exported function returns a pointer to. */
struct oxmpi_descriptor {
    /* `MAGIC`; anything else is no descriptor, and is refused. */
    uint64_t magic;
    /* `ABI_MAJOR` of what the component was built with; equal or refused. */
    uint16_t abi_major;
    /* `ABI_MINOR` of what the component was built with; a newer one than the host's is refused. */
    uint16_t abi_minor;
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* `TARGET` of what the component was built for; equal or refused. */
    oxmpi_str_ref target;
    /* Name of the component's framework (`btl`, `pml`, `coll`, `osc`); refused where it is not the one that the file's name says. */
    oxmpi_str_ref framework;
    /* Version of the framework's contract that the component implements; refused where its major is another than the host's, or its minor newer. */
    oxmpi_version framework_version;
    /* The component's name: small letters, digits and `_`, and the one that the file's name says; refused otherwise. */
    oxmpi_str_ref name;
    /* The component's own version. It is shown, and nothing is decided by it. */
    oxmpi_version version;
    /* Other names the component answers to (`sm`, `vader` for `shm`). */
    oxmpi_slice_of_str_ref aliases;
    /* The parameters that the component declares. `open` and `resolve` get their values in this order. */
    oxmpi_slice_of_param_decl params;
    /* The text of the component's `help.txt`. */
    oxmpi_str_ref help;
    /* Makes the component's state for one runtime instance; called once per instance, from one
     * thread. Everything a component knows lies behind what this returns. NOT_AVAILABLE: it has nothing to offer here, and is left out in
     * silence; other failures are reported with the component's last line in the log. PANICKED: it has panicked. */
    oxmpi_status (*open)(const oxmpi_open_args *args, oxmpi_opened *out);
    /* The component's way of taking the locks of CRIs: `LOCK_PROTOCOL` of what it was built with; equal or refused. */
    uint32_t lock_protocol;
    /* Bytes of a `Cri` as the component was built with it; equal or refused. */
    uint32_t cri_stride;
    /* Tells which values are in force; called any number of times, by several threads at a time, before and after `open` and
     * without it. Values that are refused are no failure of the call. PANICKED: it has panicked. `None`: all values are in force as they are set.
     * Since ABI 2.1. */
    oxmpi_status (*resolve)(const oxmpi_resolve_args *args);
    /* Version of the framework's table that the component's modules have: what `version` says there; equal or refused, before
     * anything of the component is called. 0: it is seen when a module comes. Since ABI 2.2. */
    uint32_t table_version;
    /* Must be 0. */
    uint32_t reserved;
};

/* Atomic memory operations (MPI 5.0 §12.3.4), by number in `atomic` and lists, by bit (1 << number) in `amo_ops`. */
/* Adds the operand (MPI_SUM); integers wrap around. */
#define OXMPI_AMO_ADD 0
/* Bitwise and with the operand (MPI_BAND). */
#define OXMPI_AMO_AND 1
/* Bitwise or with the operand (MPI_BOR). */
#define OXMPI_AMO_OR 2
/* Bitwise exclusive or with the operand (MPI_BXOR). */
#define OXMPI_AMO_XOR 3
/* Replaces the word by the operand (MPI_REPLACE). */
#define OXMPI_AMO_SWAP 4
/* Keeps the smaller of word and operand (MPI_MIN). */
#define OXMPI_AMO_MIN 5
/* Keeps the larger of word and operand (MPI_MAX). */
#define OXMPI_AMO_MAX 6
/* Replaces the word by the operand if it equals `compare`, bit for bit (MPI_Compare_and_swap). */
#define OXMPI_AMO_COMPARE_SWAP 7
/* In `flags`: the operand has 32 bits; without it, 64. */
#define OXMPI_AMO_WIDTH_32 1
/* In `flags`: the operand is a binary floating-point number of its width. */
#define OXMPI_AMO_FLOAT 2
/* In `flags`: the operand is a signed integer, and MIN and MAX compare as such. */
#define OXMPI_AMO_SIGNED 4
/* Kinds of operands, by bit in `BtlAttrs::amo_operands`. Bitwise operations, SWAP and COMPARE_SWAP need the
 * unsigned one of their width alone. */
/* Unsigned integers of 64 bits. */
#define OXMPI_AMO_OPERAND_U64 1
/* Signed integers of 64 bits. */
#define OXMPI_AMO_OPERAND_I64 2
/* Floating-point numbers of 64 bits. */
#define OXMPI_AMO_OPERAND_F64 4
/* Unsigned integers of 32 bits. */
#define OXMPI_AMO_OPERAND_U32 8
/* Signed integers of 32 bits. */
#define OXMPI_AMO_OPERAND_I32 16
/* Floating-point numbers of 32 bits. */
#define OXMPI_AMO_OPERAND_F32 32
/* All kinds there are. */
#define OXMPI_AMO_OPERAND_ALL 63

/* Bits of `access` in `register_mem`. Memory that this process's puts read needs none. */
/* Verbs of this process write it: gets, and results of atomic operations and lists. */
#define OXMPI_ACCESS_LOCAL_WRITE 1
/* Gets of peers read it. */
#define OXMPI_ACCESS_REMOTE_READ 2
/* Puts and lists of peers write it. */
#define OXMPI_ACCESS_REMOTE_WRITE 4
/* Atomic operations of peers update it. */
#define OXMPI_ACCESS_REMOTE_ATOMIC 8

/* The verbs that a device has, computed by the host from the filled slots. */
/* `get`. */
#define OXMPI_CAP_GET 1
/* `put`. */
#define OXMPI_CAP_PUT 2
/* `atomic`; the operations are in `amo_ops` and `amo_operands`. */
#define OXMPI_CAP_ATOMIC 4
/* `flush`. */
#define OXMPI_CAP_FLUSH 8
/* `register_mem` and `deregister_mem`. */
#define OXMPI_CAP_REGISTER 16
/* `arm` and `disarm`. */
#define OXMPI_CAP_SLEEP 32
/* `get_vector`. */
#define OXMPI_CAP_GET_VECTOR 64
/* `hold` and `held`. */
#define OXMPI_CAP_HOLD 128
/* All of `service_*` but the arming ones. */
#define OXMPI_CAP_SERVICE 256
/* `service_arm` and `service_disarm`. */
#define OXMPI_CAP_SERVICE_SLEEP 512
/* `list`. */
#define OXMPI_CAP_LIST 1024
/* `partner`. */
#define OXMPI_CAP_PARTNER 2048
/* Lists take `LIST_ASK`(crate::LIST_ASK); of handles that the host carries lists out for. */
#define OXMPI_CAP_ASK 4096
/* `place_by`. */
#define OXMPI_CAP_PLACES 8192
/* `send_kept`. */
#define OXMPI_CAP_KEEPS 16384

/* A message of which the beginning is here, and the place of its payload. */
struct oxmpi_place_desc {
    /* The message: its first `PlaceDesc::there` bytes lie at `data`, and `len` is all of it. */
    oxmpi_recv_desc message;
    /* Bytes of the message at `message.data`: its header, of 128 bytes at most, is among them. */
    uint64_t there;
    /* The answer: bytes of the message in front of those that have a place, at most `there`. */
    uint64_t header;
    /* The answer: where the bytes behind `header` belong, up to the end of the message. In `PlacedAll`: null where bytes have gone nowhere. */
    uint8_t *place;
};

/* Answers where the payload of a message belongs: 1, `header` and `place` are set; 0: nowhere. Runs in the transport's progress, under the lock of the message's
 * context, and changes nothing. The first answer decides: behind 0 the message is delivered whole by the receiver of its tag. Behind 1 the
 * transport asks again, with the same bytes, before it writes in a later turn, and each time that it has called the layer meanwhile; 0 says then that the operation has ended, and what still comes
 * of the message goes nowhere. Bytes may be written several times, and in any order, before all of the message is delivered. */
typedef uint32_t (*oxmpi_place_of)(void *ctx, oxmpi_place_desc *desc);

/* Takes a message whose payload lies in its place, or has gone nowhere. Otherwise as the receiver of the tag, which is not called for it: runs under the context's lock,
 * and returns one of `receive`(oxmpi_mca::host::receive). */
typedef uint32_t (*oxmpi_placed_all)(void *ctx, const oxmpi_place_desc *desc);

/* Takes a message that has no place by `PlaceOf`, if it meets an operation in whose memory its payload belongs: 1, the message is the layer's, and `header`, `place` and
 * `message.link`, its name, which is not 0, are set; 0: nothing has happened. Runs as `PlaceOf` does. To be asked for a message in its
 * turn among those of its link, and only where its first `there` bytes are sure to be as they were sent; behind 1 not again. The transport asks
 * `PlaceOf` with that name in `message.link` then, as it asks for any place, and calls `PlacedAll` with it once all has come, also where a connection broke and was made
 * again meanwhile; it does not call that for a message of a process that has failed. */
typedef uint32_t (*oxmpi_claim_of)(void *ctx, oxmpi_place_desc *desc);

/* Functions of the layer that takes messages of a tag. */
struct oxmpi_place_by {
    /* Bytes of this struct as the layer was built with it. */
    uint32_t size;
    /* The tag, below 256. */
    uint32_t tag;
    /* Says where payload belongs. */
    oxmpi_place_of place_of;
    /* Takes a message whose payload lies there. */
    oxmpi_placed_all placed;
    /* First argument of all. */
    void *ctx;
    /* Takes a message that has no place before it has met its receive; none where the layer takes no message so. Behind the end of an earlier version's struct, which `size` tells. */
    oxmpi_claim_of claim;
};

/* Limits and ranks as data, read without a call. Sizes in bytes; 0 in a limit means none. Stands behind a pointer on
 * both sides of the boundary, so that it can grow. */
struct oxmpi_btl_attrs {
    /* Bytes of this struct as its maker was built with it, at least 8; attributes behind that have the values of `BtlAttrs::new`. */
    uint32_t size;
    /* Number of contexts that the module has made: at least 1, at most `HostTable::num_cris`. */
    uint32_t contexts;
    /* Largest message (header and payload) sent eagerly; at most `max_send_size`. */
    uint64_t eager_limit;
    /* Most bytes (header and payload) of the first part of a rendezvous; at least 128, for the header, and at most `max_send_size`. */
    uint64_t rndv_eager_limit;
    /* Largest message (header and payload) that `send` takes at all; at least 128. */
    uint64_t max_send_size;
    /* From this payload on a rendezvous by `get` is faster than one by messages (given `get` works). */
    uint64_t min_get_size;
    /* Most bytes of one `get`; a longer one is refused. */
    uint64_t get_limit;
    /* Power of 2 of which both addresses and the length of a `get` must be multiples, or it is refused; 0: any will do. */
    uint64_t get_alignment;
    /* Most bytes of one `put`; a longer one is refused. */
    uint64_t put_limit;
    /* As `get_alignment`, for `put`. */
    uint64_t put_alignment;
    /* Latency in microseconds, as Open MPI's parameters have it: for ranking, not for physics. The least comes first. */
    uint32_t latency;
    /* Bandwidth in Mb/s; transports that carry one payload together get parts of it in this proportion. 0 counts as 1. */
    uint32_t bandwidth;
    /* A process reached by a module of higher exclusivity is not offered to lower ones. */
    uint32_t exclusivity;
    /* Bytes of a registration handle; 0: memory needs no registration, and handles are null. */
    uint32_t registration_handle_size;
    /* `BtlAttrs::VISIBLE_AT_ONCE` … */
    uint32_t flags;
    /* Operations that `atomic` and `list` do: bits by 1 << number in `amo`. */
    uint32_t amo_ops;
    /* Operands on which they do them: bits of `amo::operand`. */
    uint32_t amo_operands;
    /* Largest request and reply (header and payload) of a service link; 0: there are none. */
    uint32_t service_limit;
    /* The name under which messages show this device ("shm", "lo", "mlx5_0"). */
    uint8_t device[32];
    /* From this payload on a rendezvous by `put` is faster than one by messages (given `put` works). */
    uint64_t min_put_size;
    /* Most bytes of memory that may be registered at once; 0: no limit. */
    uint64_t registration_limit;
    /* Longest list (given `list` works): each entry counts `LIST_ENTRY` bytes and its `len` rounded up to 8. */
    uint64_t list_limit;
};
/* Once `send` has answered OK, a receiver that calls `progress` on that context from then on finds the
 * message. Only then, and with `cap::HOLD`, may a flow of messages use several contexts and keep its order. */
#define OXMPI_BTL_ATTRS_VISIBLE_AT_ONCE 1
/* The cost of `get` depends on the caches in which the peer's data lies; the layer above may measure `get` and `send`
 * for messages that `send` takes in one piece, and choose by that. */
#define OXMPI_BTL_ATTRS_GET_COST_VARIES 2
/* `done` of a put means that the data is visible to the target's processors; without it a flush says that. */
#define OXMPI_BTL_ATTRS_PUT_DONE_IS_REMOTE 4
/* Puts of one context to one endpoint land in the order of their calls. */
#define OXMPI_BTL_ATTRS_PUTS_ORDERED 8
/* Atomics of the device and of the target's processors on one word are atomic to each other. */
#define OXMPI_BTL_ATTRS_AMO_COHERENT 16
/* Payload may be striped over this and other transports to the same process. */
#define OXMPI_BTL_ATTRS_STRIPES 32
/* The transport reaches the process itself alone: nothing comes through it before somebody here sends. */
#define OXMPI_BTL_ATTRS_ONLY_SELF 64
/* The transport delivers long messages in parts while they come (partial delivery), where their receiver takes them so. Without it each message
 * is delivered whole. */
#define OXMPI_BTL_ATTRS_PARTIAL_DELIVERY 128
/* `send` understands `MAY_WAIT`; nobody sets that in a message to a transport without this. */
#define OXMPI_BTL_ATTRS_GATHERS 256
/* Lists of one context to one endpoint are carried out in the order of the calls that answered PENDING or OK, each of them whole. */
#define OXMPI_BTL_ATTRS_LISTS_ORDERED 512

/* A flag in `SendDesc::tag` of a message to a transport with `BtlAttrs::GATHERS`: the sender makes a turn of progress of the context soon, and takes
 * PENDING for an answer. The message may wait for others then, which go with it by one call of the system. */
#define OXMPI_MAY_WAIT 2147483648

/* Proof of registration: `BtlAttrs::registration_handle_size` opaque bytes, aligned to 8, sent to peers as they are.
 * Passed by pointer, and read during the call only; null where the size is 0. */
typedef void oxmpi_reg_handle;

/* The largest `registration_handle_size` there may be. */
#define OXMPI_HANDLE_LIMIT 256

/* A message to send. `hdr` is copied before the call returns. The payload is either `payload[..len]` or
 * produced by `pack` straight into the transport's buffer (offset, destination, bytes; each byte
 * asked for once, in order). */
struct oxmpi_send_desc {
    /* Row of the receiver in the target's table of active messages, below 256; with `MAY_WAIT` where that is understood. */
    uint32_t tag;
    /* Bytes of the header, at most 128; with `len` not more than `BtlAttrs::max_send_size` (of a service link `service_limit`). */
    uint32_t hdr_len;
    /* The header, readable for `hdr_len` bytes during the call; not null. */
    const uint8_t *hdr;
    /* The payload, readable for `len` bytes during the call; not looked at where `pack` is there or `len` is 0. */
    const uint8_t *payload;
    /* Bytes of payload. */
    uint64_t len;
    /* The function that produces the payload; `None`: it lies at `payload`. Not called behind the end of the verb. */
    void (*pack)(void *ctx, uint64_t offset, uint8_t *dst, uint64_t len);
    /* First argument of `pack`. */
    void *pack_ctx;
};

/* Completion of a one-sided verb. Runs from `progress` of the verb's context, under that context's lock, exactly once
 * for each verb that answered PENDING, and before `del_procs` of its endpoint; not at all where the verb answered OK or a
 * failure. It does atomics and `sync_update` only. A failure promises that local memory is not touched any more. */
typedef void (*oxmpi_done)(void *ctx, oxmpi_status status);

/* A message to send whose payload lies in memory that stays: see `BtlTable::send_kept`. The descriptor and the header are read during the call only; the payload
 * until completion, behind a PENDING. */
struct oxmpi_kept_desc {
    /* The message. Its payload lies at `payload`; there is no `pack`, and no `MAY_WAIT`. */
    oxmpi_send_desc message;
    /* The function that is told the end of a message that answered PENDING, as of a one-sided verb: OK, the payload is not read any more, and the message is visible to
     * its receiver; a failure, the process is lost, and the payload is not read any more either. Not `None`. */
    oxmpi_done done;
    /* First argument of `done`. */
    void *done_ctx;
};

/* Remote memory operation. OK: complete now. PENDING: `done` will be called. NO_RESOURCE: nothing happened; offer it
 * again after progress of the same context. Descriptor and handles are read during the call only, local
 * memory until completion. Completion of a get: the data is here; of a put: local memory is free, and the data
 * is visible at the target if PUT_DONE_IS_REMOTE, else after a flush. A put that fails after its completion was told, as one
 * may that frees its local memory early, is told as a failure of the next flush of its context that covers its endpoint, once. */
struct oxmpi_rma_desc {
    /* Memory of this process, `len` bytes: a get writes them, a put reads them. */
    uint8_t *local;
    /* Address in the target process of as many bytes: a get reads them, a put writes them. */
    uint64_t remote;
    /* Bytes to move, at most `get_limit` or `put_limit`. */
    uint64_t len;
    /* Registration of `local` with this module (of a get with LOCAL_WRITE); null where handles have no bytes. */
    const void *local_handle;
    /* Registration of `remote` by the target, with REMOTE_READ for a get, REMOTE_WRITE for a put; null where handles have no bytes. */
    const void *remote_handle;
    /* The function that is told the end of a verb that answered PENDING; `None`: nobody wants to know. */
    oxmpi_done done;
    /* First argument of `done`. */
    void *done_ctx;
};

/* Completion of all that was issued before: see `BtlTable::flush`. */
struct oxmpi_flush_desc {
    /* The function that is told the end of a flush that answered PENDING; `None`: nobody wants to know. */
    oxmpi_done done;
    /* First argument of `done`. */
    void *done_ctx;
};

/* One piece of memory in a list. */
struct oxmpi_piece {
    /* Address in the process whose list it is in. */
    uint64_t addr;
    /* Bytes from there on; 0 is allowed. */
    uint64_t len;
};

typedef struct oxmpi_slice_of_piece {
    const oxmpi_piece *ptr;
    size_t len;
} oxmpi_slice_of_piece;
/* `len` bytes that lie in pieces on both sides, cut independently of each other; the packed bytes of
 * both are the same. Both lists have at least `len` bytes; what is behind is left alone. */
struct oxmpi_rma_vector_desc {
    /* The pieces of this process, in the order of the packed bytes, which are written. */
    oxmpi_slice_of_piece local;
    /* The pieces of the target process, in the order of the packed bytes, which are read. */
    oxmpi_slice_of_piece remote;
    /* Bytes to move. */
    uint64_t len;
};

/* An atomic operation on one word of the target's memory (MPI 5.0 §12.3.4). OK, PENDING, NO_RESOURCE and the life of pointers are as for
 * `RmaDesc`; an operation or operand that is not in `amo_ops` and `amo_operands` is refused. */
struct oxmpi_atomic_desc {
    /* Place for the old value (fetching forms), or null. As wide as the operand. */
    uint64_t *result;
    /* Registration of `result` with this module, with LOCAL_WRITE; null where `result` is, or handles have no bytes. */
    const void *local_handle;
    /* Address of the word in the target process, aligned to the operand's width. */
    uint64_t remote;
    /* Registration of the word by the target, with REMOTE_ATOMIC; null where handles have no bytes. */
    const void *remote_handle;
    /* An operation of `amo`. */
    uint32_t op;
    /* The operand's kind: bits of `amo` (WIDTH_32, FLOAT, SIGNED); 0: unsigned, 64 bits. */
    uint32_t flags;
    /* The operand's bits, in the low half if it has 32; of COMPARE_SWAP the new value. */
    uint64_t operand;
    /* The value that COMPARE_SWAP compares with; not looked at otherwise. */
    uint64_t compare;
    /* The function that is told the end of an operation that answered PENDING; `None`: nobody wants to know. */
    oxmpi_done done;
    /* First argument of `done`. */
    void *done_ctx;
};

/* One entry of a list: bytes to write, or elements side by side that an atomic operation updates each. */
struct oxmpi_list_entry {
    /* Address in the target process of the first byte or element; elements are aligned to their width. */
    uint64_t remote;
    /* Registration by the target, with REMOTE_WRITE, or REMOTE_ATOMIC for an operation of `amo`; null where handles have no bytes. */
    const void *remote_handle;
    /* Bytes at the target: of the data, or of all elements. */
    uint64_t len;
    /* The data, or the operands side by side. */
    const uint8_t *data;
    /* Place for the old elements, side by side, or null. */
    uint8_t *result;
    /* Registration of `result` with this module, with LOCAL_WRITE; null where `result` is, or handles have no bytes. */
    const void *result_handle;
    /* `LIST_PUT`, `LIST_ASK`(crate::LIST_ASK), or an operation of `amo`. */
    uint32_t op;
    /* As in `AtomicDesc`. */
    uint32_t flags;
    /* For COMPARE_SWAP, which has one element; of `LIST_ASK`(crate::LIST_ASK) the bytes of the answer, which go to `result`. */
    uint64_t compare;
};

/* In `ListEntry::op`: write bytes. */
#define OXMPI_LIST_PUT 64

/* The count of an entry beside its bytes: see `BtlAttrs::list_limit`. */
#define OXMPI_LIST_ENTRY 40

typedef struct oxmpi_slice_of_list_entry {
    const oxmpi_list_entry *ptr;
    size_t len;
} oxmpi_slice_of_list_entry;
/* Entries for one target: see `BtlTable::list`. */
struct oxmpi_list_desc {
    /* The entries, in the order in which they are carried out. */
    oxmpi_slice_of_list_entry entries;
    /* The function that is told the end of a list that answered PENDING; `None`: nobody wants to know. */
    oxmpi_done done;
    /* First argument of `done`. */
    void *done_ctx;
};

/* A process as `add_procs` sees it. Grows at the end; `ProcList::stride` says how far the host's goes.
 * 
 * Jobs come and go while an instance runs. So `proc` is nothing but an index: it says neither a rank nor where the process is, a process that comes
 * again may have another one, and one that nobody has any more may be another process's. */
struct oxmpi_proc_info {
    /* Index of the process in the instance (`RecvDesc::proc`): its rank for a process of the first job, any other number for one that came later. */
    uint32_t proc;
    /* Number of its node in its job. */
    uint32_t node;
    /* Its place in `segment`, if it is on this node: in segment 0 its rank among the processes of the job on this node. Elsewhere its rank among
     * the processes of its job on its node. */
    uint32_t local_rank;
    /* 1 if on this node. */
    uint32_t local;
    /* Number of its job in the instance: 0 is the one that this process was started with. */
    uint32_t job;
    /* Number of the shared segment in which this process and that one have places (`HostServices::segment`), if it is on this node: 0 is the one
     * of this process's own job. */
    uint32_t segment;
};

/* Processes side by side, each a `ProcInfo` of the host's size. */
struct oxmpi_proc_list {
    /* The first process. */
    const oxmpi_proc_info *first;
    /* Number of processes. */
    size_t len;
    /* Bytes from one to the next: at least 16. */
    size_t stride;
};

typedef struct oxmpi_slice_of_endpoint {
    void *const *ptr;
    size_t len;
} oxmpi_slice_of_endpoint;
/* The verbs as a component gives them. A slot that is absent (table too short) or null is not
 * offered; the host puts a real function in its place, so nobody checks on the hot path. */
struct oxmpi_btl_table {
    /* Bytes of this table as the component was built with it, a multiple of 8; it reaches over `progress` at least. */
    uint32_t size;
    /* `TABLE_VERSION` of what the component was built with; equal or refused. */
    uint32_t version;
    /* For each of `procs`: an endpoint, or null where this module does not reach it. A process that has sent something and ended
     * since is reached: what it sent is taken, and what is sent to it fails with PEER_FAILED. Any thread, at any time, also while contexts are in use;
     * holding nothing, or a CRI. A process may be added several times, each time with an endpoint of its own, and added again when all of them have
     * been taken back. A failure (the module has logged why): none of the list was added. A message that a process of another job has sent
     * before it was added waits for that, or is refused to its sender by NO_RESOURCE. */
    oxmpi_status (*add_procs)(void *, oxmpi_proc_list procs, void **endpoints);
    /* Takes endpoints back, each once, nulls among them; no verb uses them any more, and all that had answered PENDING on them has completed. Any
     * thread, at any time, also while contexts are in use for other endpoints. Messages that were sent still arrive. Once the last endpoint
     * of a process of another job has gone, turns of progress that begin later hand up nothing of it, until it is added
     * again. Mappings and connections that nobody needs any more may go later, when contexts next progress. `None`: nothing is kept for
     * them. */
    oxmpi_status (*del_procs)(void *, oxmpi_slice_of_endpoint endpoints);
    /* Sends what is still queued inside, tells the device goodbye, frees the state. The last call; a failure is logged. */
    oxmpi_status (*finalize)(void *);
    /* Sends an active message on context `ctx`. OK: it is visible to its receiver, and header and payload are the caller's again. NO_RESOURCE:
     * nothing happened; offer it again after progress of the context. BAD_PARAM: it is longer than `max_send_size`. PEER_FAILED: the process is
     * lost. PENDING, to a message with `MAY_WAIT` only: as OK, but that it becomes visible with the next turn of progress of the context, or by itself
     * some hundred microseconds later. */
    oxmpi_status (*send)(void *, void *, uint32_t ctx, const oxmpi_send_desc *);
    /* Takes what arrived and what completed on a context; returns how many events it handled. */
    int32_t (*progress)(void *, uint32_t ctx);
    /* Reads memory of the target, as `RmaDesc` says. NO_PERMISSION, NOT_SUPPORTED: not from this process; the caller takes another way. */
    oxmpi_status (*get)(void *, void *, uint32_t ctx, const oxmpi_rma_desc *);
    /* Writes memory of the target, as `RmaDesc` says. NO_PERMISSION, NOT_SUPPORTED: not to this process; the caller takes another way. */
    oxmpi_status (*put)(void *, void *, uint32_t ctx, const oxmpi_rma_desc *);
    /* Completes what was issued before on the context (endpoint null: to anybody) at its target: once it is done, all
     * of that is visible to the target's processors. OK, PENDING and NO_RESOURCE as for `RmaDesc`. An error, at once or by
     * `done`: some of it failed, also what had been told as done (late failures of puts); a flush without an error says that
     * nothing since the one before has. */
    oxmpi_status (*flush)(void *, void *, uint32_t ctx, const oxmpi_flush_desc *);
    /* Updates a word of the target's memory, as `AtomicDesc` says. NOT_SUPPORTED: not that operation, or not on that operand. */
    oxmpi_status (*atomic)(void *, void *, uint32_t ctx, const oxmpi_atomic_desc *);
    /* Makes memory accessible (bits of `access`); writes `registration_handle_size` bytes to `handle`. Any thread.
     * NO_RESOURCE: the device's limit is reached. */
    oxmpi_status (*register_mem)(void *, uint8_t *addr, uint64_t len, uint32_t access, oxmpi_mem_kind kind, void *handle);
    /* Peers reach the memory no more once this has returned. Any thread. BAD_PARAM: no registration has that handle. */
    oxmpi_status (*deregister_mem)(void *, const void *);
    /* Announces that the context's owner is about to sleep and looks once more. OK: words and descriptors that will
     * change are in `set` (none where nothing can come without a call of this process); PENDING: something is there, do
     * not sleep; NO_RESOURCE: the set is full. Followed by `disarm` in any case. Several contexts are armed in rising
     * order; the caller serialises `arm` and `disarm` of all contexts. */
    oxmpi_status (*arm)(void *, uint32_t ctx, oxmpi_wait_set *set);
    /* Ends what the last `arm` of that context announced: its owner is awake. */
    void (*disarm)(void *, uint32_t ctx);
    /* `get` of data in pieces. All of it is there when this answers OK; it never answers PENDING or
     * NO_RESOURCE. Refusals as those of `get`. */
    oxmpi_status (*get_vector)(void *, void *, uint32_t ctx, const oxmpi_rma_vector_desc *);
    /* Tells the process at the endpoint the order key of the oldest message to it for which `send` had no room, 0:
     * there is none. A receiver that finds, by `held`, a later word than this one also finds every message that
     * `send` took before that. The caller serialises the calls for one endpoint; any context's verbs may run meanwhile. */
    void (*hold)(void *, void *, uint64_t oldest);
    /* The last value that the process at the endpoint has given to `hold`, 0 at first. Any thread, at any time. */
    uint64_t (*held)(void *, void *);
    /* Opens this process's service context, which is none of the ordinary ones and has a lock of its own, held by
     * the caller of the verbs below that have no `ctx`. Several calls are as one. Any thread. */
    oxmpi_status (*service_open)(void *);
    /* Sends an active message to the service context of the endpoint's process, from ordinary context `ctx` under that
     * context's lock. NO_RESOURCE: no room, or as many requests without an answer as there is room for replies;
     * progress of `ctx` brings replies. Every request is answered by one reply. */
    oxmpi_status (*service_request)(void *, void *, uint32_t ctx, const oxmpi_send_desc *);
    /* Takes requests on the service context and calls their receivers with `RecvDesc::ctx` `SERVICE_CTX`(crate::SERVICE_CTX) and `link` set.
     * Returns the number of requests that it took. */
    int32_t (*service_progress)(void *);
    /* Answers the request whose receiver is running; `link` is that of its descriptor. The reply comes out of
     * `progress` of the requester's context. There is always room. */
    oxmpi_status (*service_reply)(void *, uint64_t link, const oxmpi_send_desc *);
    /* A word that is not 0 while requests may be there, or null: it has to be looked by `service_progress`. Valid
     * from `service_open` to `finalize`. */
    const uint32_t *(*service_pending)(void *);
    /* As `arm` and `disarm`, for the service context. */
    oxmpi_status (*service_arm)(void *, oxmpi_wait_set *set);
    /* Ends what the last `service_arm` announced. */
    void (*service_disarm)(void *);
    /* Carries out the entries of a list at their target, in their order and as one request: writes, and atomics, which are atomic
     * to all others element by element. OK, PENDING and NO_RESOURCE as for `RmaDesc`; BAD_PARAM: it is longer than
     * `list_limit`, or has an operation that `amo_ops` and `amo_operands` do not. Once it is done, all of it is visible to
     * the target's processors and the results are here. The list, its handles and its data are read during the call only. Of a
     * list that fails, entries may have been carried out. */
    oxmpi_status (*list)(void *, void *, uint32_t ctx, const oxmpi_list_desc *);
    /* The number, among the modules of this component in the endpoint's process, of the module that an endpoint leads to. They are
     * counted best first: by exclusivity, by latency, in the order of `open`. Both processes of a pair answer alike: the module
     * that mine leads to leads to mine, and no other does. A module without this verb reaches the module of its own number,
     * and no process that has none. Any thread. */
    uint32_t (*partner)(void *, void *);
    /* Sets who says where the payload of long messages of a tag belongs, as `PlaceBy` says: the transport may then write it there as it comes, and
     * not into a buffer of its own. Before the first progress; what `by` names stays until `finalize`. BAD_PARAM: the tag has somebody already. */
    oxmpi_status (*place_by)(void *, const oxmpi_place_by *by);
    /* As `send`, of a message whose payload lies in memory that stays, as `KeptDesc` says: PENDING, the usual answer, is as OK, but that the payload is the caller's
     * again only when `done` has been called. Ordered with messages by `send`. */
    oxmpi_status (*send_kept)(void *, void *, uint32_t ctx, const oxmpi_kept_desc *);
};

/* One device of a BTL component, as its `open` returns it. */
struct oxmpi_btl_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* Must be 0. */
    uint32_t reserved;
    /* First argument of every function in `table`. */
    void *state;
    /* The module's verbs; valid until `finalize`, and read when the module is accepted. */
    const oxmpi_btl_table *table;
    /* Valid until `finalize`; read when the module is accepted. */
    const oxmpi_btl_attrs *attrs;
};

/* An accepted module: the host's own copy, every slot a real function. This is what PML and OSC
 * components call: `(btl.send)(btl.state, endpoint, ctx, &desc)`. */
struct oxmpi_btl_handle {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Bits of `cap`. */
    uint32_t caps;
    /* First argument of every function below. */
    void *state;
    /* See `BtlTable::send`. */
    oxmpi_status (*send)(void *, void *, uint32_t, const oxmpi_send_desc *);
    /* See `BtlTable::progress`. */
    int32_t (*progress)(void *, uint32_t);
    /* See `BtlTable::get`; NOT_SUPPORTED without `cap::GET`. */
    oxmpi_status (*get)(void *, void *, uint32_t, const oxmpi_rma_desc *);
    /* See `BtlTable::put`; NOT_SUPPORTED without `cap::PUT`. */
    oxmpi_status (*put)(void *, void *, uint32_t, const oxmpi_rma_desc *);
    /* See `BtlTable::flush`; NOT_SUPPORTED without `cap::FLUSH`. */
    oxmpi_status (*flush)(void *, void *, uint32_t, const oxmpi_flush_desc *);
    /* See `BtlTable::atomic`; NOT_SUPPORTED without `cap::ATOMIC`. */
    oxmpi_status (*atomic)(void *, void *, uint32_t, const oxmpi_atomic_desc *);
    /* See `BtlTable::register_mem`; NOT_SUPPORTED without `cap::REGISTER`. */
    oxmpi_status (*register_mem)(void *, uint8_t *, uint64_t, uint32_t, oxmpi_mem_kind, void *);
    /* See `BtlTable::deregister_mem`; NOT_SUPPORTED without `cap::REGISTER`. */
    oxmpi_status (*deregister_mem)(void *, const void *);
    /* See `BtlTable::arm`; NOT_SUPPORTED without `cap::SLEEP`. */
    oxmpi_status (*arm)(void *, uint32_t, oxmpi_wait_set *);
    /* See `BtlTable::disarm`; it does nothing without `cap::SLEEP`. */
    void (*disarm)(void *, uint32_t);
    /* See `BtlTable::get_vector`; NOT_SUPPORTED without `cap::GET_VECTOR`. */
    oxmpi_status (*get_vector)(void *, void *, uint32_t, const oxmpi_rma_vector_desc *);
    /* See `BtlTable::hold`; it does nothing without `cap::HOLD`. */
    void (*hold)(void *, void *, uint64_t);
    /* See `BtlTable::held`; 0 without `cap::HOLD`. */
    uint64_t (*held)(void *, void *);
    /* See `BtlTable::service_open`; NOT_SUPPORTED without `cap::SERVICE`, as `service_request` and `service_reply`. */
    oxmpi_status (*service_open)(void *);
    /* See `BtlTable::service_request`. */
    oxmpi_status (*service_request)(void *, void *, uint32_t, const oxmpi_send_desc *);
    /* See `BtlTable::service_progress`; 0 without `cap::SERVICE`. */
    int32_t (*service_progress)(void *);
    /* See `BtlTable::service_reply`. */
    oxmpi_status (*service_reply)(void *, uint64_t, const oxmpi_send_desc *);
    /* See `BtlTable::service_pending`; null without `cap::SERVICE`. */
    const uint32_t *(*service_pending)(void *);
    /* See `BtlTable::service_arm`; NOT_SUPPORTED without `cap::SERVICE_SLEEP`. */
    oxmpi_status (*service_arm)(void *, oxmpi_wait_set *);
    /* See `BtlTable::service_disarm`; it does nothing without `cap::SERVICE_SLEEP`. */
    void (*service_disarm)(void *);
    /* See `BtlTable::add_procs`. */
    oxmpi_status (*add_procs)(void *, oxmpi_proc_list, void **);
    /* See `BtlTable::del_procs`; OK where the module has none. */
    oxmpi_status (*del_procs)(void *, oxmpi_slice_of_endpoint);
    /* See `BtlTable::finalize`; OK where the module has none. */
    oxmpi_status (*finalize)(void *);
    /* The host's full copy, valid as long as the handle. */
    const oxmpi_btl_attrs *attrs;
    /* Component name, for messages ("shm"). */
    oxmpi_str_ref name;
    /* Bits of `cap`: verbs that the host carries out by requests on service links. Always 0 in what a PML gets. */
    uint32_t emulated;
    /* Position among the accepted modules, best first. */
    uint32_t index;
    /* See `BtlTable::list`; NOT_SUPPORTED without `cap::LIST`. */
    oxmpi_status (*list)(void *, void *, uint32_t, const oxmpi_list_desc *);
    /* `SAME_NUMBER` where `cap::PARTNER` is missing. */
    uint32_t (*partner)(void *, void *);
    /* See `BtlTable::place_by`; NOT_SUPPORTED without `cap::PLACES`. */
    oxmpi_status (*place_by)(void *, const oxmpi_place_by *);
    /* See `BtlTable::send_kept`; NOT_SUPPORTED without `cap::KEEPS`. */
    oxmpi_status (*send_kept)(void *, void *, uint32_t, const oxmpi_kept_desc *);
};

/* A transport that reaches a process, with the endpoint that the host has made. Valid as long as the instance. */
struct oxmpi_reach {
    /* The transport's table; valid as long as the instance. */
    const oxmpi_btl_handle *btl;
    /* The process as the transport's verbs take it; never null, and valid until the instance ends. */
    void *endpoint;
    /* Contexts that the two processes may use between them: the least of both sides' CRIs and both sides' contexts of this
     * transport, at least 1. The other process has the same number. */
    uint32_t width;
    /* 0 from the host. */
    uint32_t reserved;
};

/* Memory registered by the host's registration service. */
struct oxmpi_registration {
    /* For the verbs of the module it was registered with, and for peers; null where that needs none. */
    const void *handle;
    /* Bytes of the handle, `BtlAttrs::registration_handle_size`; 0 where `handle` is null. */
    uint64_t handle_size;
    /* The registration: it covers all that was asked for, and perhaps more. */
    uint8_t *base;
    /* Bytes of the registration, from `base` on. */
    uint64_t len;
};

/* `RecvDesc::ctx` of a request on a service link. */
#define OXMPI_SERVICE_CTX 4294967295

/* In `ListEntry::op`, with `cap::ASK`(crate::cap::ASK): the data is for whoever listens at the registration (`BtlServices::listen`), whose
 * answer has as many bytes as `compare` says; `remote` is 0. A list ends at the first entry that is refused, with the listener's status: those before it have
 * been carried out. NOT_AVAILABLE: not now, ask again. */
#define OXMPI_LIST_ASK 65

/* A question of a peer's for a `Listener`. */
struct oxmpi_ask_desc {
    /* The bytes that the peer sent, which nobody has looked at; readable during the call. */
    const uint8_t *data;
    /* How many. */
    uint64_t len;
    /* Room for the answer, which is filled with zeros. */
    uint8_t *answer;
    /* Bytes of the answer. */
    uint64_t answer_len;
};

/* Carries out what a peer asks (`LIST_ASK`) with memory of this process, under the service lock, in whichever thread serves. It loads and stores, neither
 * waits nor calls the host, and has believed nothing of what it was sent. OK: the answer is there, and what was done is visible to all processors
 * behind the call. NOT_AVAILABLE: not now; any other failure: never. Then nothing has been done. */
typedef oxmpi_status (*oxmpi_listener)(void *ctx, const oxmpi_ask_desc *ask);

typedef struct oxmpi_slice_of_reach {
    const oxmpi_reach *ptr;
    size_t len;
} oxmpi_slice_of_reach;
/* The host's services around transports, for PML and OSC. Any thread, holding nothing unless it says so. */
struct oxmpi_btl_services {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* First argument of every function below. */
    void *instance;
    /* The transports that reach a process, best first, in the order in which the other process has them, too, whatever
     * parameters each has. The first one carries headers, in both directions. Endpoints are made by the
     * first call for the process and are the host's; later calls answer from a table. UNREACHABLE: none. BAD_PARAM: there is no such process. May be called with
     * a CRI held. */
    oxmpi_status (*reach)(void *, uint32_t proc, oxmpi_slice_of_reach *out);
    /* Registers memory with a module, or finds it registered. NO_RESOURCE: the module's limit is reached; other failures are those of
     * `BtlTable::register_mem`(crate::BtlTable::register_mem). May be
     * called with a CRI held. Every OK is undone by one `deregister`. */
    oxmpi_status (*register_)(void *, const oxmpi_btl_handle *, uint8_t *addr, uint64_t len, uint32_t access, const oxmpi_registration **out);
    /* Peers do not write to the memory any more when this returns, and read it only while others have the same
     * registration acquired. Undoes `acquire` as well. A failure is the module's, and the registration is gone in any case. May be called with a
     * CRI held. */
    oxmpi_status (*deregister)(void *, const oxmpi_btl_handle *, const oxmpi_registration *);
    /* As `register`, for memory that may stay registered behind its use: the host may keep it, and gives it again to
     * whoever asks for the same memory with the same access. A registration with REMOTE_WRITE or REMOTE_ATOMIC has one user at a
     * time. The memory stays mapped until the registration is given back, by `release` or by `deregister`. */
    oxmpi_status (*acquire)(void *, const oxmpi_btl_handle *, uint8_t *addr, uint64_t len, uint32_t access, const oxmpi_registration **out);
    /* Undoes `acquire` where no access of a peer's can be under way any more: peers that keep the handle may reach the memory
     * behind this. Undoes `register` as `deregister` does, and fails as that. May be called with a CRI held. */
    oxmpi_status (*release)(void *, const oxmpi_btl_handle *, const oxmpi_registration *);
    /* Has a function carry out what peers ask at a registration (`LIST_ASK`), until that is given back: it is not called behind
     * that, and `ctx` stays until then. Once for each registration. NOT_SUPPORTED: the module has not `cap::ASK`(crate::cap::ASK). */
    oxmpi_status (*listen)(void *, const oxmpi_btl_handle *, const oxmpi_registration *, oxmpi_listener listener, void *ctx);
};

/* `count` blocks of `len` bytes, `stride` bytes from start to start, the first at `disp` from the
 * element's address. */
struct oxmpi_run {
    int64_t disp;
    uint64_t len;
    uint64_t count;
    int64_t stride;
};

/* The facts about an item of a layout that `Run` does not have: whether it is a loop, and where it ends. */
struct oxmpi_nest {
    /* Bytes of data of this item and those before it in the same list. */
    uint64_t end;
    /* The items of the loop's body lie in the list of all items from here on. */
    uint32_t first;
    /* How many they are; 0: it is no loop. */
    uint32_t items;
};

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
/* MPI_CHARACTER, MPI_WCHAR: no arithmetic is defined on them. */
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

/* Bits of `TypeDesc::flags`. */
/* `count` elements are one block of `count * packed` bytes starting at the buffer's address. */
#define OXMPI_TYPE_FLAG_CONTIGUOUS 1
#define OXMPI_TYPE_FLAG_PREDEFINED 2
#define OXMPI_TYPE_FLAG_COMMITTED 4
/* The bounds were set by the user (MPI_Type_create_resized and what is built with it): they do
 * not follow from the data (MPI 5.0 §5.1.6). */
#define OXMPI_TYPE_FLAG_BOUNDED 8
/* From this bit on: the logarithm of the strictest alignment of the basic types. */
#define OXMPI_TYPE_FLAG_ALIGN_SHIFT 8
#define OXMPI_TYPE_FLAG_ALIGN_MASK 3840

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
struct oxmpi_type_desc {
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
};

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
struct oxmpi_op_desc {
    uint32_t size;
    /* One of `op`. */
    uint32_t code;
    /* 1 if operands may change places. */
    uint32_t commutative;
    uint32_t reserved;
    /* For `op::USER`: runs the user's function; never called under a lock. */
    void (*user)(void *ctx, const uint8_t *input, uint8_t *inout, uint64_t count, const oxmpi_type_desc *dtype);
    void *ctx;
};

/* A transport as turns of progress see it. */
struct oxmpi_polled {
    /* The transport's table; valid as long as the instance. */
    const oxmpi_btl_handle *btl;
    /* 1 once something may come through it: the transport to oneself is polled only when somebody has used it. */
    uint32_t active;
    /* Number of contexts that it has. */
    uint32_t contexts;
};

typedef struct oxmpi_slice_of_polled {
    const oxmpi_polled *ptr;
    size_t len;
} oxmpi_slice_of_polled;
/* The transports that turns of progress poll. The host's, valid as long as the instance. */
struct oxmpi_polling {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* 1 once locks must be taken in a turn, though one thread makes calls: messages come on several contexts. It stays. */
    uint32_t careful;
    /* The one active transport; null where there is none, or several. */
    oxmpi_btl_handle *lone;
    /* All of them, best first, by `BtlHandle::index`. */
    oxmpi_slice_of_polled transports;
};

/* A PML's words about one context. */
struct oxmpi_context_words {
    /* Bits of `work`, which the holder of the context's lock writes; not 0: `after_turn` is called. */
    const uint32_t *work;
    /* Counts the messages that came and met no receive. The holder of the lock writes it. */
    const uint32_t *unmatched;
};

/* Bits of `ContextWords::work`. */
/* Something waits that no doorbell tells of, such as room in a transport: nobody sleeps meanwhile. */
#define OXMPI_PML_WORK_URGENT 65535

typedef struct oxmpi_slice_of_context_words {
    const oxmpi_context_words *ptr;
    size_t len;
} oxmpi_slice_of_context_words;
/* The words of a PML, all valid until it is finalized. */
struct oxmpi_words {
    /* Bytes of this struct as the host was built with it; a PML fills what lies within it. */
    uint32_t size;
    /* 0 from the host; a PML leaves it so. */
    uint32_t reserved;
    /* While it is not 0 `after_turn` is called behind every turn of every context. */
    const uint32_t *always;
    /* By context. A PML that gives none is called behind every turn. */
    oxmpi_slice_of_context_words contexts;
};

/* As a receive's source: any rank (MPI_ANY_SOURCE). This number and `ANY_TAG`'s are those of MPI's ABI. */
#define OXMPI_PML_ANY_SOURCE (-1)

/* As a receive's tag: any message of a user's tag, which is 0 or more (MPI_ANY_TAG). */
#define OXMPI_PML_ANY_TAG (-2)

/* Send modes (MPI 5.0 §3.4). */
/* The send completes as soon as its buffer may be used again (MPI_Send). */
#define OXMPI_PML_MODE_STANDARD 0
/* The send completes when a receive has met it (MPI_Ssend). */
#define OXMPI_PML_MODE_SYNCHRONOUS 1
/* The program promises that the receive is posted (MPI_Rsend); a PML may treat it as STANDARD. */
#define OXMPI_PML_MODE_READY 2
/* Data already lies in a buffer that the request owns (MPI_Bsend); completes when that is free again. */
#define OXMPI_PML_MODE_BUFFERED 3

/* Bits of `CommDesc::flags`: the standard's assertions (MPI 5.0 §7.4.4). */
/* No receive has `ANY_TAG` (`mpi_assert_no_any_tag`). */
#define OXMPI_PML_ASSERT_FLAG_NO_ANY_TAG 1
/* No receive has `ANY_SOURCE` (`mpi_assert_no_any_source`). */
#define OXMPI_PML_ASSERT_FLAG_NO_ANY_SOURCE 2
/* Each receive's buffer is as long as its message (`mpi_assert_exact_length`). */
#define OXMPI_PML_ASSERT_FLAG_EXACT_LENGTH 4
/* Messages need not be matched in the order in which they were sent (`mpi_assert_allow_overtaking`). */
#define OXMPI_PML_ASSERT_FLAG_ALLOW_OVERTAKING 8

/* `CommDesc::fifo_hint` where there is none. */
#define OXMPI_PML_NO_HINT 4294967295

/* A communicator as one of its local ranks sees it. */
struct oxmpi_comm_desc {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Bits of `assert_flag` that all ranks gave. */
    uint32_t flags;
    /* Global id: equal in all its processes, different from every other communicator of the job. The lowest byte of the first
     * word counts: that of communicators made one after another from one parent differs. */
    uint64_t gid[2];
    /* This rank in the local group, from 0. */
    int32_t my_rank;
    /* Ranks that sends may name (the remote group of an inter-communicator). */
    uint32_t num_peers;
    /* Index of each one's process; valid until `del_comm`. */
    const uint32_t *procs;
    /* Endpoint number within the process of each, or null: all 0 (one rank per process). */
    const uint16_t *endpoints;
    /* Number of this rank within its process, from 0; 0 where the process is one rank. */
    uint16_t my_endpoint;
    /* 1: an index fixed for all processes (world 0, self 1), no exchange needed; 0: `fixed_index` is nothing. */
    uint16_t has_fixed_index;
    /* The index, where `has_fixed_index` is 1. */
    uint32_t fixed_index;
    /* Name of the matching engine from an info key, or empty: the parameter's. */
    oxmpi_str_ref matching;
    /* The CRI that this rank's messages prefer (an endpoint's own), or `NO_HINT`. */
    uint32_t fifo_hint;
    /* 0 from the host. */
    uint32_t reserved;
};

typedef struct oxmpi_slice_of_btl_handle_ptr {
    const oxmpi_btl_handle *const *ptr;
    size_t len;
} oxmpi_slice_of_btl_handle_ptr;
/* The transports that a PML sends over; valid as long as the instance. */
struct oxmpi_transports {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* The accepted modules, best first. No verb of theirs is emulated. */
    oxmpi_slice_of_btl_handle_ptr btls;
    /* The host's services around them: those that reach a process, and registered memory. */
    const oxmpi_btl_services *services;
    /* The polling of them. The host's engine does that; a PML may, too, on a context whose lock it holds. */
    const oxmpi_polling *polling;
};

/* Arguments of all sends. Valid during the call; the buffer until completion; the type is retained by
 * the PML as long as it needs it. */
struct oxmpi_send_args {
    /* The communicator that `add_comm` gave. */
    void *comm;
    /* The context of the calling thread, or null. */
    oxmpi_thread_ctx *thread;
    /* The address of element 0 of the data, from which the type's displacements count; anything where `count` is 0. */
    const uint8_t *buf;
    /* Number of elements of `dtype`. */
    uint64_t count;
    /* The type of an element; not null. */
    const oxmpi_type_desc *dtype;
    /* The receiver's rank, below `CommDesc::num_peers`; MPI_PROC_NULL does not come here. */
    int32_t dst;
    /* User tags are ≥ 0; collectives use negative ones, which MPI_ANY_TAG does not match. */
    int32_t tag;
    /* One of `mode`. */
    uint32_t mode;
    /* 0 from the host. */
    uint32_t reserved;
    /* Goes into `RequestHeader::comm`. */
    void *host_comm;
};

/* Arguments of all receives. */
struct oxmpi_recv_args {
    /* The communicator that `add_comm` gave. */
    void *comm;
    /* The context of the calling thread, or null. */
    oxmpi_thread_ctx *thread;
    /* The address of element 0 of the place for the data, the caller's until completion; not looked at by probes. */
    uint8_t *buf;
    /* Number of elements of `dtype` that there is room for; not looked at by probes. */
    uint64_t count;
    /* The type of an element, retained by the PML as long as it needs it; not looked at by probes. */
    const oxmpi_type_desc *dtype;
    /* The sender's rank, below `CommDesc::num_peers`, or `ANY_SOURCE`; MPI_PROC_NULL does not come here. */
    int32_t src;
    /* The message's tag, or `ANY_TAG`; negative tags of collectives are as good as others. */
    int32_t tag;
    /* Goes into `RequestHeader::comm`. */
    void *host_comm;
};

/* A PML's counts on a communicator, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since
 * the communicator was made. The host sets `size`; a PML fills what lies within it. */
struct oxmpi_counts {
    /* Bytes of this struct as the asking side knows it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* Messages that came before a receive that fits them. */
    uint64_t unexpected;
    /* Those of them that are still kept. */
    uint64_t waiting;
    /* Most that were ever kept at once. */
    uint64_t most_waiting;
    /* Receives that were posted because no message was there. */
    uint64_t posted;
    /* Messages that came before one that their sender had sent earlier, and were kept for that. */
    uint64_t out_of_sequence;
    /* Those of them that are still kept. */
    uint64_t out_of_sequence_now;
    /* Most that were ever kept of one source at once. */
    uint64_t most_out_of_sequence;
    /* Times that matching was spread over several locks. */
    uint64_t spreads;
    /* Receives that are posted now. */
    uint64_t posted_now;
    /* Nanoseconds spent on finding receives for messages that came, waiting for locks included: of all
     * communicators, and only while `PmlTable::measure` asks for it. */
    uint64_t match_time;
};

/* A message taken out of matching by `improbe`; the PML's object. */
typedef void oxmpi_message;

/* The verbs. All slots up to `finalize` are mandatory. */
struct oxmpi_pml_table {
    /* Bytes of this table as the component was built with it; it reaches over `finalize` at least. */
    uint32_t size;
    /* `TABLE_VERSION` of what the component was built with; equal or refused. */
    uint32_t version;
    /* Once, before any other verb; a failure ends the start. The PML fills `words`, which are empty. From then on the host polls the transports, and calls
     * `after_turn` as the words say. */
    oxmpi_status (*enable)(void *, const oxmpi_transports *, oxmpi_words *words);
    /* Makes a communicator, which all local verbs name by `*out` from then on. The description is read during the call, but for the two lists.
     * OUT_OF_MEMORY, NO_RESOURCE: nothing was made. */
    oxmpi_status (*add_comm)(void *, const oxmpi_comm_desc *, void **out);
    /* Ends a communicator: no verb names it afterwards, and its lists are gone. Requests and messages on it that are under way go on. A failure
     * is logged, and the communicator is gone all the same. */
    oxmpi_status (*del_comm)(void *, void *comm);
    /* Sends, and may return before that is over. OK: done, no request. PENDING: wait for `*out`. PEER_FAILED: the process is lost, or the
     * communicator revoked; nothing is under way, as after any error. */
    oxmpi_status (*send)(void *, const oxmpi_send_args *, oxmpi_request_header **out);
    /* Starts a send. Always a request (it may be complete already), whose status has the failures of `send`. OUT_OF_MEMORY: there is none. */
    oxmpi_status (*isend)(void *, const oxmpi_send_args *, oxmpi_request_header **out);
    /* Receives, and may return before that is over. OK: done, `status` filled (its `error` may be TRUNCATED), no request. PENDING: wait for `*out`. */
    oxmpi_status (*recv)(void *, const oxmpi_recv_args *, oxmpi_msg_status *status, oxmpi_request_header **out);
    /* Starts a receive. Always a request (it may be complete already), whose status has TRUNCATED, PEER_FAILED and so on. OUT_OF_MEMORY: there is
     * none. */
    oxmpi_status (*irecv)(void *, const oxmpi_recv_args *, oxmpi_request_header **out);
    /* Makes the inactive request of a persistent send, which `RequestOps::start` starts. OUT_OF_MEMORY: there is none. */
    oxmpi_status (*send_init)(void *, const oxmpi_send_args *, oxmpi_request_header **out);
    /* As `send_init`, of a receive. OUT_OF_MEMORY: there is none. */
    oxmpi_status (*recv_init)(void *, const oxmpi_recv_args *, oxmpi_request_header **out);
    /* Looks for a message without progressing. OK: found, `status` filled; if `message` is not
     * null the message is taken out of matching. PENDING: none. PEER_FAILED: none, and there will be none, since the only process that
     * could send it (`src` names one) has failed; of ANY_SOURCE: all others of the communicator have. An error is no message: nothing is filled. */
    oxmpi_status (*probe)(void *, const oxmpi_recv_args *, oxmpi_msg_status *status, void **message);
    /* Receives a message that `probe` took out. Fails as `irecv`; the message is gone in any case. */
    oxmpi_status (*imrecv)(void *, void *message, const oxmpi_recv_args *, oxmpi_request_header **out);
    /* Called behind the transports' turn of context `ctx`, under its lock, while there is work (`Words`): takes up what landed, and offers what
     * waits for room to the transports again. Returns how many messages went on. */
    int32_t (*after_turn)(void *, uint32_t ctx);
    /* Called when the thread level has risen to MULTIPLE, while no other thread is in a verb. A failure: it cannot, nothing has changed, and the
     * level stays. */
    oxmpi_status (*threads_begin)(void *);
    /* Sends out everything still queued inside (progressing the BTLs); PENDING: call again. */
    oxmpi_status (*flush)(void *);
    /* A process failed: what is under way with it ends with PEER_FAILED, what is started later, too. Holding nothing. */
    oxmpi_status (*peer_failed)(void *, uint32_t proc);
    /* Ends the module: the last call, when nothing is under way. Requests stay valid, as all pools do. */
    oxmpi_status (*finalize)(void *);
    /* Counts on a communicator. Not on a message's path. NOT_SUPPORTED: the PML counts nothing. */
    oxmpi_status (*counts)(void *, void *comm, oxmpi_counts *out);
    /* The assertions on a communicator are now `flags` (`assert_flag`, as in `CommDesc::flags`):
     * MPI_Comm_set_info. NOT_SUPPORTED: only new communicators take them. */
    oxmpi_status (*set_flags)(void *, void *comm, uint32_t flags);
    /* From now on the time of matching is measured (`on` is 1), or not any more. Not on a message's path. NOT_SUPPORTED: it cannot be. */
    oxmpi_status (*measure)(void *, uint32_t on);
    /* Ends all operations on a communicator with PEER_FAILED, and those started later. NOT_SUPPORTED: the PML cannot. */
    oxmpi_status (*revoke)(void *, void *comm);
    /* As `isend`, of an empty message in place of one whose data does not come: the receive that it meets completes with
     * `error`, an error, and no data. `buf`, `count`, `dtype` and `mode` are not looked at. It keeps the order of messages; a probe shows
     * an empty message. NOT_SUPPORTED: receives cannot be ended from the other side. */
    oxmpi_status (*send_failure)(void *, const oxmpi_send_args *, oxmpi_status error, oxmpi_request_header **out);
    /* A process of another job has parted for good (MPI_Comm_disconnect): no communicator has it, nothing is under way with it, and its number never
     * means another. The layer frees all that it keeps of it before the call returns, since its endpoints go then; a message of it that still comes is dropped.
     * Holding nothing. NOT_SUPPORTED: what is kept of it stays until `finalize`. */
    oxmpi_status (*peer_parted)(void *, uint32_t proc);
};

/* The one module of a PML component. */
struct oxmpi_pml_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* The largest tag that sends may have; less than 32767 is refused (MPI 5.0 §9.1.2). */
    int32_t max_tag;
    /* First argument of every function in `table`. */
    void *state;
    /* The module's verbs; valid until `finalize`, and read when the module is accepted. */
    const oxmpi_pml_table *table;
};

/* Largest tag of the range collectives may use; they count downwards from it. */
#define OXMPI_COLL_FIRST_TAG (-100)

/* Smallest tag of that range. */
#define OXMPI_COLL_LAST_TAG (-100000)

/* `root` of the root itself on an inter-communicator; MPI_ROOT in MPI's ABI. */
#define OXMPI_COLL_ROOT (-4)

/* `root` of the other ranks of the root's group there; MPI_PROC_NULL in MPI's ABI. */
#define OXMPI_COLL_NO_ROOT (-3)

/* Bits of `CollModule::flags`. */
/* Serves inter-communicators, too. */
#define OXMPI_COLL_FLAG_INTER 1
/* Its collectives use `node_memory` or `sub_comm`: it is not asked for the communicators that the host makes for these itself. */
#define OXMPI_COLL_FLAG_NESTS 2

/* A communicator as a collective sees it; valid during the call. */
struct oxmpi_coll_comm {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Ranks of the (local) group. */
    uint32_t num_ranks;
    /* This process's rank in it. */
    uint32_t rank;
    /* 1: the launcher started more ranks than there are cores. The same in all ranks of the job, so
     * an algorithm may be chosen by it. */
    uint32_t oversubscribed;
    /* First argument of every service. */
    void *comm;
    /* The context of the calling thread, or null; services use it. */
    oxmpi_thread_ctx *thread;
    /* The services that may be used on this communicator; valid as long as it. */
    const oxmpi_coll_services *services;
    /* Ranks of the remote group; 0: no inter-communicator. */
    uint32_t num_remote;
    /* 1: what is asked for is a plan. */
    uint32_t planning;
    /* Of an inter-communicator: its local group, as a communicator of its own. Null otherwise, and
     * while a component is asked. */
    const oxmpi_coll_comm *local;
    /* Nodes that have ranks of the (local) group, and this process's among them. */
    uint32_t num_nodes;
    /* Number of this process's node among those, from 0, in the order of the lowest rank on each. */
    uint32_t node;
};

/* Parts of a communicator by the nodes of its ranks. */
/* The ranks of this node. */
#define OXMPI_COLL_PART_NODE 0
/* The lowest rank of each node. */
#define OXMPI_COLL_PART_LEADERS 1
/* The ranks with this rank's number on their nodes. */
#define OXMPI_COLL_PART_ACROSS 2
/* All ranks, in their order: for collectives that a component hands on to those below it. Hosts of coll 2.2 answer BAD_PARAM. */
#define OXMPI_COLL_PART_ALL 3

/* Collectives by number: their places in `CollTable`. */
/* MPI_Barrier. */
#define OXMPI_COLL_WHICH_BARRIER 0
/* MPI_Bcast. */
#define OXMPI_COLL_WHICH_BCAST 1
/* MPI_Reduce. */
#define OXMPI_COLL_WHICH_REDUCE 2
/* MPI_Allreduce. */
#define OXMPI_COLL_WHICH_ALLREDUCE 3
/* MPI_Allgather. */
#define OXMPI_COLL_WHICH_ALLGATHER 4
/* MPI_Gather. */
#define OXMPI_COLL_WHICH_GATHER 5
/* MPI_Scatter. */
#define OXMPI_COLL_WHICH_SCATTER 6
/* MPI_Alltoall. */
#define OXMPI_COLL_WHICH_ALLTOALL 7
/* MPI_Gatherv. */
#define OXMPI_COLL_WHICH_GATHERV 8
/* MPI_Scatterv. */
#define OXMPI_COLL_WHICH_SCATTERV 9
/* MPI_Allgatherv. */
#define OXMPI_COLL_WHICH_ALLGATHERV 10
/* MPI_Alltoallv. */
#define OXMPI_COLL_WHICH_ALLTOALLV 11
/* MPI_Alltoallw. */
#define OXMPI_COLL_WHICH_ALLTOALLW 12
/* MPI_Scan. */
#define OXMPI_COLL_WHICH_SCAN 13
/* MPI_Exscan. */
#define OXMPI_COLL_WHICH_EXSCAN 14
/* MPI_Reduce_scatter. */
#define OXMPI_COLL_WHICH_REDUCE_SCATTER 15
/* MPI_Reduce_scatter_block. */
#define OXMPI_COLL_WHICH_REDUCE_SCATTER_BLOCK 16

/* The question to a `StepFn`. */
/* Begins; OK: done, PENDING: not yet, or an error. For each start of a persistent operation. */
#define OXMPI_COLL_STEP_START 0
/* Answers as `START`; again and again while that is PENDING. */
#define OXMPI_COLL_STEP_LOOK 1
/* The plan is given up, `ctx` is not used again. */
#define OXMPI_COLL_STEP_DROP 2

/* A component's step; `what` is one of `step`. Must not block. No lock is held but for `DROP`, which must not call
 * the host. An error is the operation's unless it had one, and the plan's messages that come later say that their data is missing. */
typedef oxmpi_status (*oxmpi_step_fn)(void *ctx, uint32_t what);

/* The question to an `ExtendFn`. */
/* Write the steps that follow. */
#define OXMPI_COLL_EXTEND_WRITE 0
/* The same, but data of the plan is missing: a receive failed, or work on data. Buffers that were received into tell nothing. The messages that are
 * written down now say so to their receivers; a component writes those that other ranks may wait for, if it knows them. */
#define OXMPI_COLL_EXTEND_LOST 1
/* The step is thrown away, `ctx` is not used again. `comm` is null. The host is not to be called, and locks may be held. */
#define OXMPI_COLL_EXTEND_DROP 2

/* A step that writes further steps; `what` is one of `extend`.
 * 
 * It is called when all steps that were written down before it are done, so it may look at the data of each message that was waited for. Through
 * the services of `comm`, which are those of a plan, it writes down as many steps as it likes, more of its own kind among them. They are done
 * in place of this one: before those that stand behind it. They may name the collective's buffers, types and operation, memory of the plan, and what
 * `ctx` keeps. Memory that it gets by `memory` lives until this start of the operation has ended; then the steps that it wrote are thrown
 * away, and each start calls it anew. A request of a message that the plan has started before may be waited for.
 * 
 * It runs in whatever thread makes progress, which holds no lock, and must not block. `comm` is valid during the call, in that thread.
 * Nobody else runs a step of the same plan meanwhile, and whoever runs the next one sees what it has written.
 * 
 * An error is the operation's unless it had one. The steps that it has written until then are done all the same, as those behind a step
 * that failed: other ranks count on their messages, which say that their data is missing. PENDING is no answer, and counts as INTERNAL.
 * 
 * # Safety
 * `ctx` must be the one that the step was written down with, and `comm` what the host made for this call; DROP comes once, and nothing
 * after it. */
typedef oxmpi_status (*oxmpi_extend_fn)(void *ctx, const oxmpi_coll_comm *comm, uint32_t what);

/* Services of the host for a collective: point-to-point on the communicator. */
struct oxmpi_coll_services {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* Sends `count` elements to rank `dst` and returns when they may be changed. `tag` is one from `LAST_TAG` to `FIRST_TAG`, as in all
     * services. BAD_PARAM: there is no such rank. PEER_FAILED, REVOKED: the message does not go. */
    oxmpi_status (*send)(const oxmpi_coll_comm *, const uint8_t *, uint64_t, const oxmpi_type_desc *, uint32_t dst, int32_t tag);
    /* Receives from rank `src` and returns when the data is there, `status` filled unless it is null. Answers the message's error, such as
     * TRUNCATED, or BAD_PARAM, PEER_FAILED and REVOKED as `send`. */
    oxmpi_status (*recv)(const oxmpi_coll_comm *, uint8_t *, uint64_t, const oxmpi_type_desc *, uint32_t src, int32_t tag, oxmpi_msg_status *status);
    /* Starts what `send` does; `*out` is a request for `wait_all`, and the elements stay as they are until then. Errors as of `send`, and then there
     * is no request. */
    oxmpi_status (*isend)(const oxmpi_coll_comm *, const uint8_t *, uint64_t, const oxmpi_type_desc *, uint32_t dst, int32_t tag, oxmpi_request_header **out);
    /* Starts what `recv` does; `*out` is a request for `wait_all`, and the place is the message's until then. Errors as of `recv`, and then there is
     * no request. */
    oxmpi_status (*irecv)(const oxmpi_coll_comm *, uint8_t *, uint64_t, const oxmpi_type_desc *, uint32_t src, int32_t tag, oxmpi_request_header **out);
    /* Waits for `n` requests at `reqs`, of which none is null, and releases them all. Answers the first error of their messages, if any. In plans
     * BAD_PARAM: something is no request of this plan. */
    oxmpi_status (*wait_all)(const oxmpi_coll_comm *, oxmpi_request_header **reqs, size_t n);
    /* The next fields are for plans only; elsewhere they answer NOT_SUPPORTED. In a plan `recv` with a
     * place for a status wants a message that fills its buffer, and answers as if it had come. Another one is the
     * operation's error, and what the plan sends on from there is what came.
     * 
     * Memory for the steps of the plan, aligned to 64 bytes, not initialised. OUT_OF_MEMORY: there is not so much. */
    oxmpi_status (*memory)(const oxmpi_coll_comm *, uint64_t len, uint8_t **out);
    /* Packs `len` bytes, from byte `from` of the packed data on, of `count` elements at `base`. */
    oxmpi_status (*pack)(const oxmpi_coll_comm *, const oxmpi_type_desc *, uint64_t count, const uint8_t *base, uint64_t from, uint8_t *dst, uint64_t len);
    /* The reverse: unpacks `len` bytes at `src`, the packed data from byte `from` on, into `count` elements at `base`. */
    oxmpi_status (*unpack)(const oxmpi_coll_comm *, const oxmpi_type_desc *, uint64_t count, uint8_t *base, uint64_t from, const uint8_t *src, uint64_t len);
    /* Copies elements from one place to another that does not overlap. */
    oxmpi_status (*copy)(const oxmpi_coll_comm *, const oxmpi_type_desc *, uint64_t count, const uint8_t *src, uint8_t *dst);
    /* `right[i] = left[i] op right[i]`, with the operation of the call. BAD_PARAM: that has none. */
    oxmpi_status (*reduce)(const oxmpi_coll_comm *, const oxmpi_type_desc *, uint64_t count, const uint8_t *left, uint8_t *right);
    /* Writes down a step of the component's own, which the host carries out by calls of `f` with `ctx`. */
    oxmpi_status (*step)(const oxmpi_coll_comm *, oxmpi_step_fn f, void *ctx);
    /* None of the fields below communicates unless it says so, and none may be called while a component is
     * asked (`comm_query`).
     * 
     * Gives the place of a rank of the (local) group. BAD_PARAM: there is no such rank. */
    oxmpi_status (*place)(const oxmpi_coll_comm *, uint32_t rank, oxmpi_place *out);
    /* Memory that the communicator's ranks on this node share, zero when it is made. Collective over those ranks, which all
     * ask for the same size; communicates. Aligned to pages, valid until the module is freed. For components with
     * `flag::NESTS`. OUT_OF_MEMORY: it could not be made, which the log explains. In plans NOT_SUPPORTED. */
    oxmpi_status (*node_memory)(const oxmpi_coll_comm *, uint64_t bytes, uint8_t **out);
    /* Copies from the memory of a rank's process on this node to `local`, by the kernel. NOT_SUPPORTED, NO_PERMISSION: not here. BAD_PARAM: there is
     * no such rank, or the memory is not mapped. */
    oxmpi_status (*peer_read)(const oxmpi_coll_comm *, uint32_t rank, uint64_t remote, uint8_t *local, uint64_t bytes);
    /* The same to the memory of a rank's process, from `local`; failures as of `peer_read`. */
    oxmpi_status (*peer_write)(const oxmpi_coll_comm *, uint32_t rank, uint64_t remote, const uint8_t *local, uint64_t bytes);
    /* The memory of a rank's process in this address space, where that can be had. NOT_SUPPORTED elsewhere. BAD_PARAM: there is no such rank. */
    oxmpi_status (*peer_pointer)(const oxmpi_coll_comm *, uint32_t rank, uint64_t remote, uint64_t bytes, uint8_t **out);
    /* Waits, with progress or asleep, until the word is not `value` any more; the word may be shared between processes, and whoever
     * changes it wakes its sleepers by `wake_word`. In plans a step: what was written down before is done first, and an error is the
     * operation's. PEER_FAILED: a process of the communicator is lost, and the word is still `value`. REVOKED: the communicator was
     * revoked meanwhile or before. */
    oxmpi_status (*wait_word)(const oxmpi_coll_comm *, const oxmpi_waking_word *word, uint32_t value);
    /* Wakes those who sleep on a word, in whatever process, because the caller has changed it and `WakingWord::store` says that there are
     * some. In plans a step, for a word that a step before it changes: it looks itself whether anybody sleeps. Always OK. */
    oxmpi_status (*wake_word)(const oxmpi_coll_comm *, const oxmpi_waking_word *word);
    /* A part of the communicator (one of `part`) as a communicator of its own, for which components are selected anew,
     * without the one named `except`. All ranks call it in the same order. NOT_FOUND: this rank is not in it. Lives as
     * long as the communicator. For components with `flag::NESTS`. In plans NOT_SUPPORTED. */
    oxmpi_status (*sub_comm)(const oxmpi_coll_comm *, uint32_t part, oxmpi_str_ref except, void **out);
    /* Fills `view` with a part as services take it: for the calling thread, and as long as `comm` is valid. In plans NOT_SUPPORTED. */
    oxmpi_status (*sub_view)(const oxmpi_coll_comm *comm, void *sub, oxmpi_coll_comm *view);
    /* Runs a collective (one of `which`) of the components that were selected for a part; `view` is from `sub_view`.
     * Answers as that collective does, or BAD_PARAM: there is none of that number. In plans NOT_SUPPORTED. */
    oxmpi_status (*call)(const oxmpi_coll_comm *view, uint32_t which, const oxmpi_coll_args *args);
    /* Starts, as `isend`, an empty message in place of one whose data does not come: the receive that it meets ends with
     * `error` and no data. For a rank whose part of a collective failed: the others wait for its messages, and are to hear that what
     * they would say is not known. In plans NOT_SUPPORTED: there the host sends this in place of each message that comes after a receive
     * that failed, and leaves work on data undone. NOT_SUPPORTED elsewhere: the PML cannot. */
    oxmpi_status (*send_failure)(const oxmpi_coll_comm *, uint32_t dst, int32_t tag, oxmpi_status error, oxmpi_request_header **out);
    /* Writes down a step that writes further steps when the plan has come to it, from what was received until then. For plans only;
     * elsewhere NOT_SUPPORTED. Hosts of coll 2.0 do not have it: see `CollServices::can_extend`. */
    oxmpi_status (*extend)(const oxmpi_coll_comm *, oxmpi_extend_fn f, void *ctx);
    /* Runs a collective of a part, as `call` does, for a rank whose data did not come: the rank takes part in all messages of the collective, and
     * each that it would send ends its receive with `error`, as `send_failure` says. So the others do not wait for it, and hear that what they get is
     * not known. It receives what others send. Answers as `call`, or BAD_PARAM: `error` is none. In plans NOT_SUPPORTED. Hosts of coll 2.2 do not have
     * it: see `CollServices::can_lose`. */
    oxmpi_status (*call_lost)(const oxmpi_coll_comm *view, uint32_t which, const oxmpi_coll_args *args, oxmpi_status error);
    /* Tells that the collective under way, or the plan that is being made, goes by an algorithm: a number of those that the component named `component` lists in
     * `CollModule::algorithms`. The host counts it for tools, while somebody asks. Told once for each collective. BAD_PARAM: there is no such component or number. Hosts
     * of coll 2.3 do not have it: see `CollServices::tell_algorithm`. */
    oxmpi_status (*took)(const oxmpi_coll_comm *, oxmpi_str_ref component, uint32_t algorithm);
};

/* Sentinel for MPI_IN_PLACE in buffer arguments. */
#define OXMPI_COLL_IN_PLACE ((const uint8_t *)1)

/* Bits of `Neighbors::flags`. */
/* Blocks come in pairs, a grid's neighbors down and up in a dimension. A block that was sent down comes from
 * above: where both are one rank, the first it sends is for the second block of the pair. */
#define OXMPI_COLL_NEIGHBORS_PAIRS 1

/* The ranks that a rank gets from and sends to, in the order of the blocks in its buffers. A rank may be in there several times,
 * and itself, too; `NO_ROOT` (MPI_PROC_NULL) is nobody, and its block is left alone. Blocks that go from one rank to
 * another over several edges arrive in their order at both ends. */
struct oxmpi_neighbors {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Of `neighbors`. */
    uint32_t flags;
    /* Number of sources, and of blocks that are received. */
    uint32_t num_sources;
    /* Number of destinations, and of blocks that are sent. */
    uint32_t num_destinations;
    /* The rank that each received block comes from, or `NO_ROOT`; `num_sources` of them. */
    const int32_t *sources;
    /* The rank that each sent block goes to, or `NO_ROOT`; `num_destinations` of them. */
    const int32_t *destinations;
};

/* Arguments of all collectives; each uses the fields it needs, as the MPI function of
 * its name does, and looks at no other:
 * 
 * | | buffers, counts, types | others |
 * |---|---|---|
 * | barrier | | |
 * | bcast | `recv*` in all ranks (read in the root) | `root` |
 * | reduce, allreduce | `sendbuf`, `recvbuf`; count and type in `recvcount`, `recvtype` | `op`, `root` |
 * | allgather, alltoall | `send*`, `recv*` (counts per rank) | |
 * | gather, scatter | `send*`, `recv*` (counts per rank) | `root` |
 * | scan, exscan | as reduce | `op` |
 * | reduce_scatter_block | as reduce, count per rank | `op` |
 * | reduce_scatter | `sendbuf`, `recvbuf`, `recvcounts`, `recvtype` | `op` |
 * | gatherv | `send*`; `recvbuf`, `recvcounts`, `rdispls`, `recvtype` | `root` |
 * | scatterv | `sendbuf`, `sendcounts`, `sdispls`, `sendtype`; `recv*` | `root` |
 * | allgatherv | `send*`; `recvbuf`, `recvcounts`, `rdispls`, `recvtype` | |
 * | alltoallv | `sendbuf`, `sendcounts`, `sdispls`, `sendtype`; the same of `recv` | |
 * | alltoallw | `sendbuf`, `sendcounts`, `sdispls` (bytes), `sendtypes`; the same of `recv` | |
 * | neighbor_… | as allgather, allgatherv, alltoall, alltoallv, alltoallw | `neighbors` |
 * 
 * Arrays have one entry per rank (of the remote group on an inter-communicator; `recvcounts` of
 * reduce_scatter: of the local one; in neighborhood collectives per source or destination). Displacements count in extents of the type except in alltoallw.
 * 
 * On an inter-communicator only the sides a rank has are looked at: the root of a bcast has `recv*`,
 * which the other ranks of its group do not; in reduce and gather the root has no operand or block of its own, in
 * scatter none to receive; nothing is in place.
 * 
 * `IN_PLACE` where MPI allows it, as `sendbuf` (scatter and scatterv: as `recvbuf`); the counts and types
 * beside it are not looked at. Arguments that MPI calls significant at the root only may be anything elsewhere. */
struct oxmpi_coll_args {
    /* Address of element 0 of the data to send, or `IN_PLACE`. */
    const uint8_t *sendbuf;
    /* Number of elements that go to a rank. */
    uint64_t sendcount;
    /* The type of the elements in `sendbuf`. */
    const oxmpi_type_desc *sendtype;
    /* Address of element 0 of the place for the result, or `IN_PLACE`. */
    uint8_t *recvbuf;
    /* Number of elements that come from a rank; in a reduction those of an operand. */
    uint64_t recvcount;
    /* The type of the elements in `recvbuf`; in a reduction that of the operands. */
    const oxmpi_type_desc *recvtype;
    /* The operation of a reduction, defined on its type; valid during the call, in a plan as long as that. */
    const oxmpi_op_desc *op;
    /* The root's rank, or on an inter-communicator `ROOT`, `NO_ROOT` or a rank of the remote group. */
    int32_t root;
    /* 0 from the host. */
    uint32_t reserved;
    /* Numbers of elements that go to each rank. */
    const uint64_t *sendcounts;
    /* Displacements of each rank's elements in `sendbuf`. */
    const int64_t *sdispls;
    /* The types of each rank's elements in `sendbuf`. */
    const oxmpi_type_desc *const *sendtypes;
    /* Numbers of elements that come from each rank; in reduce_scatter those of each rank's result. */
    const uint64_t *recvcounts;
    /* Displacements of each rank's elements in `recvbuf`. */
    const int64_t *rdispls;
    /* The types of each rank's elements in `recvbuf`. */
    const oxmpi_type_desc *const *recvtypes;
    /* Of neighborhood collectives. */
    const oxmpi_neighbors *neighbors;
};

/* A collective: the component's module for this communicator, the communicator, the arguments. Answers OK, or the first failure of its messages
 * and of its work on data; TRUNCATED or MISMATCH where ranks gave arguments that do not fit together; NOT_SUPPORTED where the component
 * cannot serve these arguments. A planning function: any failure, and no plan comes to be. */
typedef oxmpi_status (*oxmpi_coll_fn)(void *module, const oxmpi_coll_comm *comm, const oxmpi_coll_args *args);

/* The collectives of one module; an empty slot leaves the lower component's in place. */
struct oxmpi_coll_table {
    /* Bytes of this table as the component was built with it, a multiple of 8; slots behind that are empty. */
    uint32_t size;
    /* `TABLE_VERSION` of what the component was built with; its descriptor says the same, and that is compared. */
    uint32_t version;
    /* MPI_Barrier (MPI 5.0 §6.3). */
    oxmpi_coll_fn barrier;
    /* MPI_Bcast (§6.4). */
    oxmpi_coll_fn bcast;
    /* MPI_Reduce (§6.9.1). */
    oxmpi_coll_fn reduce;
    /* MPI_Allreduce (§6.9.6). */
    oxmpi_coll_fn allreduce;
    /* MPI_Allgather (§6.7). */
    oxmpi_coll_fn allgather;
    /* MPI_Gather (§6.5). */
    oxmpi_coll_fn gather;
    /* MPI_Scatter (§6.6). */
    oxmpi_coll_fn scatter;
    /* MPI_Alltoall (§6.8). */
    oxmpi_coll_fn alltoall;
    /* MPI_Gatherv (§6.5). */
    oxmpi_coll_fn gatherv;
    /* MPI_Scatterv (§6.6). */
    oxmpi_coll_fn scatterv;
    /* MPI_Allgatherv (§6.7). */
    oxmpi_coll_fn allgatherv;
    /* MPI_Alltoallv (§6.8). */
    oxmpi_coll_fn alltoallv;
    /* MPI_Alltoallw (§6.8). */
    oxmpi_coll_fn alltoallw;
    /* MPI_Scan (§6.11.1). */
    oxmpi_coll_fn scan;
    /* MPI_Exscan (§6.11.2). */
    oxmpi_coll_fn exscan;
    /* MPI_Reduce_scatter (§6.10.2). */
    oxmpi_coll_fn reduce_scatter;
    /* MPI_Reduce_scatter_block (§6.10.1). */
    oxmpi_coll_fn reduce_scatter_block;
    /* MPI_Neighbor_allgather (§8.6.1). */
    oxmpi_coll_fn neighbor_allgather;
    /* MPI_Neighbor_allgatherv (§8.6.1). */
    oxmpi_coll_fn neighbor_allgatherv;
    /* MPI_Neighbor_alltoall (§8.6.2). */
    oxmpi_coll_fn neighbor_alltoall;
    /* MPI_Neighbor_alltoallv (§8.6.2). */
    oxmpi_coll_fn neighbor_alltoallv;
    /* MPI_Neighbor_alltoallw (§8.6.2). */
    oxmpi_coll_fn neighbor_alltoallw;
};

/* The answer of `comm_query`. */
struct oxmpi_coll_offer {
    /* The component's rank for this communicator; tables of a higher one are laid over those of a lower one. */
    int32_t priority;
    /* Must be 0. */
    uint32_t reserved;
    /* First argument of the functions in `table` and `plans`; given back by `comm_free`. */
    void *module;
    /* The functions that carry collectives out; not null, and read when `comm_query` has returned. */
    const oxmpi_coll_table *table;
    /* The functions that make plans; null: none. */
    const oxmpi_coll_table *plans;
};

/* The module of a coll component as its `open` returns it. */
struct oxmpi_coll_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* Bits of `flag`. */
    uint32_t flags;
    /* First argument of `comm_query`, `comm_free` and `finalize`. */
    void *state;
    /* OK: `offer` filled. NOT_AVAILABLE: not this communicator. All ranks of a communicator must answer alike, with the same priority, so a component
     * answers by facts that are equal in all of them: the number of ranks and nodes, the launcher's word, parameters. A step that may fail in one rank alone
     * belongs to `comm_prepare`. */
    oxmpi_status (*comm_query)(void *, const oxmpi_coll_comm *, oxmpi_coll_offer *offer);
    /* Gives back a module that `comm_query` made. */
    void (*comm_free)(void *, void *module);
    /* Ends the component and frees `state`: the last call, when all its modules were given back. */
    void (*finalize)(void *);
    /* Gets a module ready, or null: there is nothing to prepare. Called in every rank of the communicator, once, before the first blocking collective that
     * a function of its `table` would serve, before that function; not on inter-communicators. Everything that may fail in one rank alone is tried here: mapping
     * memory, reaching the memory of peers. It may communicate by the services, all of them but those of plans, and then goes on with its messages
     * whatever has failed, as a collective does. An error refuses: when all ranks are through, the host asks whether one has refused, and then takes the
     * functions of this component out of the stack of all, so that those below serve this collective and the later ones. NOT_AVAILABLE refuses
     * without a word in the log. Plans do not wait for it, and are taken out with the rest; those that were made stay, and with them the module.
     * Modules of coll 2.1 end before this field. */
    oxmpi_status (*comm_prepare)(void *, void *module, const oxmpi_coll_comm *comm);
    /* Names of the component's algorithms, lower-case words, each with its operation's before it (`bcast_binomial`); none: nothing is counted. Tools see `coll_`, the component's
     * name and this. A static list, of which a number is what `CollServices::took` takes. Modules of coll 2.3 end before this field. */
    oxmpi_slice_of_str_ref algorithms;
};

/* The ways of making a window (MPI 5.0 §12.2); in `WinDesc::flavor`. */
/* MPI_Win_create: memory of the user's. */
#define OXMPI_OSC_FLAVOR_CREATE 1
/* MPI_Win_allocate: memory of the host's. */
#define OXMPI_OSC_FLAVOR_ALLOCATE 2
/* MPI_Win_create_dynamic: memory is attached later, targets are named by address. */
#define OXMPI_OSC_FLAVOR_DYNAMIC 3
/* MPI_Win_allocate_shared: memory that all ranks map. */
#define OXMPI_OSC_FLAVOR_SHARED 4

/* Lock types (MPI 5.0 §12.5.3). */
/* Others may hold shared locks of the same rank's memory meanwhile (MPI_LOCK_SHARED). */
#define OXMPI_OSC_LOCK_TYPE_SHARED 1
/* Nobody else holds a lock of that rank's memory meanwhile (MPI_LOCK_EXCLUSIVE). */
#define OXMPI_OSC_LOCK_TYPE_EXCLUSIVE 2

/* Assertions of synchronisation calls (MPI 5.0 §12.5.5). */
/* The epoch at the other side is open, or no conflicting lock is held: no message is needed for it (MPI_MODE_NOCHECK). */
#define OXMPI_OSC_ASSERTION_NOCHECK 1
/* This rank's memory was not changed by stores or receives since the last synchronisation (MPI_MODE_NOSTORE). */
#define OXMPI_OSC_ASSERTION_NOSTORE 2
/* This rank's memory will not be changed by puts and accumulates in the epoch that begins (MPI_MODE_NOPUT). */
#define OXMPI_OSC_ASSERTION_NOPUT 4
/* A fence ends no epoch with operations of this process; all ranks say so or none (MPI_MODE_NOPRECEDE). */
#define OXMPI_OSC_ASSERTION_NOPRECEDE 8
/* A fence begins no epoch with operations of this process; all ranks say so or none (MPI_MODE_NOSUCCEED). */
#define OXMPI_OSC_ASSERTION_NOSUCCEED 16

/* Hints of a window, by bit in `WinDesc::hints` (MPI 5.0 §12.2.1). All ranks gave the same. */
/* `no_locks`: MPI_Win_lock and MPI_Win_lock_all are not called. */
#define OXMPI_OSC_HINT_NO_LOCKS 1
/* `same_size`: all ranks' memory has one size. */
#define OXMPI_OSC_HINT_SAME_SIZE 2
/* `same_disp_unit`: all ranks gave one displacement unit. */
#define OXMPI_OSC_HINT_SAME_DISP_UNIT 4
/* `accumulate_ops` is `same_op`: concurrent accumulates to one target use one operation. */
#define OXMPI_OSC_HINT_SAME_OP 8
/* `accumulate_ops` is `same_op_no_op` (the default): or that one and MPI_NO_OP. */
#define OXMPI_OSC_HINT_SAME_OP_NO_OP 16
/* `mpix_unordered`: operations that overlap, are not both accumulates, and of which the first is complete at the origin when the second is issued may take
 * effect in any order. Without it they take effect in the order of their calls. */
#define OXMPI_OSC_HINT_UNORDERED 32

/* Pairs of accumulates to one target that are ordered (`accumulate_ordering`), by bit in `WinDesc::ordering`.
 * All four by default. */
/* A read behind a read. */
#define OXMPI_OSC_ORDERING_RAR 1
/* A read behind a write. */
#define OXMPI_OSC_ORDERING_RAW 2
/* A write behind a read. */
#define OXMPI_OSC_ORDERING_WAR 4
/* A write behind a write. */
#define OXMPI_OSC_ORDERING_WAW 8
/* All four, the default. */
#define OXMPI_OSC_ORDERING_ALL 15

/* A window to be made; valid during the call. `comm` is valid until the window is freed. */
struct oxmpi_win_desc {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* One of `flavor`. */
    uint32_t flavor;
    /* The window's communicator, with the services on it; not null. */
    const oxmpi_win_comm *comm;
    /* This rank's memory; null in a dynamic window, and where `bytes` is 0 perhaps. */
    uint8_t *base;
    /* Bytes of that memory; 0 in a dynamic window. */
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
    /* Counters of notifications at each rank, the same number at all (version 1.2). */
    uint32_t num_notify;
    /* 0 from the host. */
    uint32_t reserved;
};

/* A window's communicator. Fixed while the window lives. */
struct oxmpi_win_comm {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Ranks of the window's group, at least 1. */
    uint32_t num_ranks;
    /* This process's rank in the window's group. */
    uint32_t rank;
    /* Nodes that have ranks of the window. */
    uint32_t num_nodes;
    /* First argument of every service. */
    void *comm;
    /* The services for this window; valid as long as it. */
    const oxmpi_win_services *services;
    /* Services around transports; registration of memory, for one. */
    const oxmpi_btl_services *btl;
};

/* A rank's memory as this process can load and store it. */
struct oxmpi_mapped {
    /* The first byte of the rank's memory in this process's address space. */
    uint8_t *base;
    /* Bytes of the memory. */
    uint64_t bytes;
    /* Bytes of a unit of displacement at that rank, at least 1. */
    int64_t disp_unit;
};

/* The question `wait_contexts` asks again and again: the contexts, by bit, on which something is under way that the caller
 * waits for; 0 ends the wait. It runs with no lock held, must not wait itself, and only compares counters (`Flow::is_complete`). */
typedef uint64_t (*oxmpi_outstanding)(void *ctx);

/* The host's services for a window: messages and collectives on its communicator, places, transports, memory.
 * All may be called from any thread; none while a CRI is held, except `place` and `mapped`. */
struct oxmpi_win_services {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* Gives the place of a rank. BAD_PARAM: there is no such rank. */
    oxmpi_status (*place)(void *, uint32_t rank, oxmpi_place *out);
    /* The transports that reach a rank's process, best for one-sided operations first: native verbs before emulated ones.
     * Endpoints are made at first contact. UNREACHABLE: none. */
    oxmpi_status (*reach)(void *, uint32_t rank, oxmpi_slice_of_reach *out);
    /* A rank's window memory in this process's address space: of this rank itself, and of ALLOCATE and SHARED windows'
     * ranks on the node. NOT_FOUND: not mapped here. */
    oxmpi_status (*mapped)(void *, uint32_t rank, oxmpi_mapped *out);
    /* Starts a standard send of `count` elements to rank `dst`. `*out` is a request for `wait`, `test` or `cancel`, and the elements stay as they
     * are until that has released it. BAD_PARAM: there is no such rank, or `tag` is not from 0 to 32767. */
    oxmpi_status (*isend)(void *, oxmpi_thread_ctx *, const uint8_t *, uint64_t count, const oxmpi_type_desc *, uint32_t dst, int32_t tag, oxmpi_request_header **out);
    /* Starts a receive of at most `count` elements, whose place is the message's until its request is released, as with `isend`. `src` may be -1
     * (any source), `tag` -2 (any tag). BAD_PARAM as for `isend`. PEER_FAILED: the only process that could send is lost. */
    oxmpi_status (*irecv)(void *, oxmpi_thread_ctx *, uint8_t *, uint64_t count, const oxmpi_type_desc *, int32_t src, int32_t tag, oxmpi_request_header **out);
    /* Waits for a request of `isend` or `irecv` and releases it; its status goes to `status` if that is not null. Answers that status' error. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *, oxmpi_request_header *, oxmpi_msg_status *status);
    /* Looks without progress. PENDING: it is not complete, and stays. Otherwise it does as `wait`. */
    oxmpi_status (*test)(void *, oxmpi_thread_ctx *, oxmpi_request_header *, oxmpi_msg_status *status);
    /* Tries to cancel a request, waits until it is complete, and releases it. Answers its status' error; OK says nothing about success. */
    oxmpi_status (*cancel)(void *, oxmpi_thread_ctx *, oxmpi_request_header *);
    /* Makes progress until the predicate says 1. Always OK. */
    oxmpi_status (*wait_until)(void *, oxmpi_thread_ctx *, oxmpi_predicate, void *ctx);
    /* One turn of progress. The events handled. */
    int32_t (*progress)(void *, oxmpi_thread_ctx *);
    /* Returns when all ranks of the window have called it, in the same order of collectives. PEER_FAILED: a rank is lost. */
    oxmpi_status (*barrier)(void *, oxmpi_thread_ctx *);
    /* `bytes` of each rank to all: `all` has room for `num_ranks` times as many. Failures as of `barrier`. */
    oxmpi_status (*allgather)(void *, oxmpi_thread_ctx *, const uint8_t *mine, uint64_t bytes, uint8_t *all);
    /* `bytes` from each rank to each rank: both buffers have `num_ranks` times as many, in the order of the ranks. Failures as of `barrier`. */
    oxmpi_status (*alltoall)(void *, oxmpi_thread_ctx *, const uint8_t *to, uint64_t bytes, uint8_t *from);
    /* The least status of all ranks: a failure anywhere is everybody's. PEER_FAILED, too, where the exchange fails. */
    oxmpi_status (*agree)(void *, oxmpi_thread_ctx *, oxmpi_status);
    /* The predefined type of single bytes, for messages. */
    const oxmpi_type_desc *(*byte_type)(void *);
    /* Waits until `outstanding` answers that nothing is under way any more, as a flush does (version 1.1). Of the contexts in its
     * answer those that nobody has progressed since the last look are entered, one at a time, taking their locks from their owners: a thread
     * that issued operations and computes now keeps nobody waiting. The caller holds nothing. Always OK. See "Completion" in the contract's text. */
    oxmpi_status (*wait_contexts)(void *, oxmpi_thread_ctx *, oxmpi_outstanding, void *ctx);
};

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
struct oxmpi_rma_args {
    /* The context of the calling thread, or null. */
    oxmpi_thread_ctx *thread;
    /* Address of element 0 of the origin's buffer; of a get it is written. */
    uint8_t *origin;
    /* Number of elements in the origin's buffer. */
    uint64_t origin_count;
    /* The type of the elements in the origin's buffer. */
    const oxmpi_type_desc *origin_type;
    /* Address of element 0 of the place for the target's old values. */
    uint8_t *result;
    /* Number of elements that go there. */
    uint64_t result_count;
    /* The type of the elements that go there. */
    const oxmpi_type_desc *result_type;
    /* Address of the one element that compare_and_swap compares with, of `origin_type`. */
    const uint8_t *compare;
    /* The target's rank in the window's group; valid, and not MPI_PROC_NULL. */
    uint32_t target;
    /* 0 from the host. */
    uint32_t reserved;
    /* In the target's units; in dynamic windows an address. */
    int64_t disp;
    /* Number of elements at the target. */
    uint64_t target_count;
    /* The type of the elements at the target, whose displacements count from the place that `disp` names. */
    const oxmpi_type_desc *target_type;
    /* The operation of an accumulate: a predefined one, with REPLACE and NO_OP (MPI 5.0 §12.3.4). */
    const oxmpi_op_desc *op;
};

/* An operation. `out` null: MPI_Put and the like, which complete by synchronisation; else MPI_Rput and the like, and
 * a request is written there (it may be complete already). Failures are those of `OscTable::put`; one that comes later is the request's, or that
 * of the synchronisation. */
typedef oxmpi_status (*oxmpi_rma_fn)(void *, const oxmpi_rma_args *, oxmpi_request_header **out);

/* Counts of a component for one window, for MPI's performance variables (MPI 5.0 §15.3.7). Numbers since the window was made, of this process, of
 * all its threads (version 1.2). Numbers that a component does not count stay 0. */
struct oxmpi_win_counts {
    /* Bytes of this struct as the asking side knows it. */
    uint32_t size;
    /* 0 from the host. */
    uint32_t reserved;
    /* Attempts at exclusive locks of a rank (MPI_Win_lock): one for each that was granted at once, one more for each retry. */
    uint64_t exclusive_attempts;
    /* Attempts at shared locks: of a rank (MPI_Win_lock, or on demand), or of all at once (MPI_Win_lock_all). */
    uint64_t shared_attempts;
    /* Those of both kinds that were refused, and tried again. */
    uint64_t lock_retries;
    /* Locks taken to make an accumulate atomic. */
    uint64_t accumulate_locks;
    /* Attempts at such a lock that were refused, and tried again. */
    uint64_t accumulate_retries;
    /* Locks taken on the way of MPI_Put's, of whatever is shared by threads: of communication resource instances, of pools. */
    uint64_t put_locks;
    /* Ranks that this one has met so far and whose memory it loads and stores (version 1.3, as all that follow). A rank is in one of these numbers at most. */
    uint64_t ranks_mapped;
    /* Ranks that it has met and reaches by verbs of a transport, atomics included. */
    uint64_t ranks_by_transport;
    /* Ranks that it has met and reaches by a transport, and whose process carries out atomics, and what else the transport lacks. */
    uint64_t ranks_by_requests;
    /* Ranks that it reaches by messages. */
    uint64_t ranks_by_messages;
};

/* A notified put or get: the arguments of the operation, and the number of the target's counter. Failures are those of `OscTable::put`, and
 * BAD_PARAM: the window has no such counter. */
typedef oxmpi_status (*oxmpi_notify_fn)(void *, const oxmpi_rma_args *, uint32_t counter);

/* `rank` of `flush` for all ranks. */
#define OXMPI_OSC_ALL 4294967295

typedef struct oxmpi_slice_of_u32 {
    const uint32_t *ptr;
    size_t len;
} oxmpi_slice_of_u32;
/* The verbs of a window. All slots up to `free` are mandatory; of those behind it each may be missing: the host answers NOT_SUPPORTED in its place. */
struct oxmpi_osc_table {
    /* Bytes of this table as the component was built with it; it reaches over `free` at least. */
    uint32_t size;
    /* `TABLE_VERSION` of what the component was built with; equal or refused. */
    uint32_t version;
    /* MPI_Put, MPI_Rput (MPI 5.0 §12.3.1). Of this and all operations: RMA_SYNC: outside of an epoch to the target; RMA_RANGE: beyond the target's
     * memory; PEER_FAILED: the target is lost; OUT_OF_MEMORY, NO_RESOURCE: it could not begin. After an error nothing is under way. */
    oxmpi_rma_fn put;
    /* MPI_Get, MPI_Rget (§12.3.2). */
    oxmpi_rma_fn get;
    /* MPI_Accumulate, MPI_Raccumulate (§12.3.4). */
    oxmpi_rma_fn accumulate;
    /* MPI_Get_accumulate, MPI_Rget_accumulate (§12.3.4). */
    oxmpi_rma_fn get_accumulate;
    /* MPI_Fetch_and_op (§12.3.4); `out` is null. */
    oxmpi_rma_fn fetch_and_op;
    /* MPI_Compare_and_swap (§12.3.4); `out` is null. */
    oxmpi_rma_fn compare_and_swap;
    /* MPI_Win_fence (§12.5.1); collective. Bits of `assertion` in `assert`. RMA_SYNC: another epoch than a fence's is open. */
    oxmpi_status (*fence)(void *, oxmpi_thread_ctx *, uint32_t assert);
    /* Opens an exposure epoch for the ranks (MPI_Win_post; §12.5.2). RMA_SYNC: one is open. */
    oxmpi_status (*post)(void *, oxmpi_thread_ctx *, oxmpi_slice_of_u32 ranks, uint32_t assert);
    /* Opens an access epoch to the ranks (MPI_Win_start). RMA_SYNC: one is open. */
    oxmpi_status (*start)(void *, oxmpi_thread_ctx *, oxmpi_slice_of_u32 ranks, uint32_t assert);
    /* Ends the access epoch that `start` opened; its operations are complete at the origin (MPI_Win_complete). RMA_SYNC: none is open. */
    oxmpi_status (*complete)(void *, oxmpi_thread_ctx *);
    /* Ends the exposure epoch (MPI_Win_wait); `block` 0 (MPI_Win_test): PENDING if it cannot end yet. RMA_SYNC: none is open. */
    oxmpi_status (*wait)(void *, oxmpi_thread_ctx *, uint32_t block);
    /* Opens a passive epoch at a rank (MPI_Win_lock; §12.5.3). `kind`: one of `lock_type`. RMA_SYNC: the rank is locked, an access
     * epoch of another kind is open, or the window has the hint `no_locks`. */
    oxmpi_status (*lock)(void *, oxmpi_thread_ctx *, uint32_t kind, uint32_t rank, uint32_t assert);
    /* Ends the passive epoch at a rank; its operations are complete at origin and target (MPI_Win_unlock). RMA_SYNC: the rank is not locked. */
    oxmpi_status (*unlock)(void *, oxmpi_thread_ctx *, uint32_t rank);
    /* Opens a passive epoch at all ranks, as with a shared lock of each (MPI_Win_lock_all). RMA_SYNC: another access epoch is open, or the window
     * has the hint `no_locks`. */
    oxmpi_status (*lock_all)(void *, oxmpi_thread_ctx *, uint32_t assert);
    /* Ends the passive epoch at all ranks; its operations are complete at origins and targets (MPI_Win_unlock_all). RMA_SYNC: `lock_all` has opened
     * none. */
    oxmpi_status (*unlock_all)(void *, oxmpi_thread_ctx *);
    /* Completes operations to a rank (`ALL`: to all) at origin and target; `local` 1: at the origin alone (MPI_Win_flush and its kin; §12.5.4).
     * RMA_SYNC: no passive epoch to it is open. */
    oxmpi_status (*flush)(void *, oxmpi_thread_ctx *, uint32_t rank, uint32_t local);
    /* Makes stores to this rank's memory and accesses through the window visible to each other (MPI_Win_sync). */
    oxmpi_status (*sync)(void *, oxmpi_thread_ctx *);
    /* Memory of a dynamic window. RMA_ATTACH: overlaps what is attached, or cannot be attached. */
    oxmpi_status (*attach)(void *, oxmpi_thread_ctx *, uint8_t *base, uint64_t bytes);
    /* Takes the memory that `attach` added with this address from the window; peers reach it no more. RMA_ATTACH: none begins there. */
    oxmpi_status (*detach)(void *, oxmpi_thread_ctx *, uint8_t *base);
    /* The hints changed (MPI_Win_set_info): bits of `hint` and `ordering`. NOT_SUPPORTED: they cannot change, and the call fails. */
    oxmpi_status (*set_hints)(void *, uint32_t hints, uint32_t ordering);
    /* Frees the module. `discard` 0: collective; returns when no rank uses this rank's memory through the window any more.
     * RMA_SYNC: an epoch is open, and the window stays. `discard` 1: another rank's `create` failed; communicates with nobody. */
    oxmpi_status (*free)(void *, oxmpi_thread_ctx *, uint32_t discard);
    /* A put that is told to its target (version 1.2, as all that follow). */
    oxmpi_notify_fn put_notify;
    /* A get that is told to its target. */
    oxmpi_notify_fn get_notify;
    /* The value of a counter of this rank. `reset` 1: it is 0 afterwards, and no notification is lost in between. One turn of progress if that is needed for
     * notifications to come. BAD_PARAM: the window has no such counter. */
    oxmpi_status (*notify_read)(void *, oxmpi_thread_ctx *, uint32_t counter, uint32_t reset, uint64_t *value);
    /* Waits until a counter of this rank is at least `threshold`, and gives its value. BAD_PARAM: the window has no such counter. */
    oxmpi_status (*notify_wait)(void *, oxmpi_thread_ctx *, uint32_t counter, uint64_t threshold, uint64_t *value);
    /* Makes another window on the same memory, collective. The new one has the flavor, the memory, and what is attached now or later of this one, and
     * locks, epochs, counters and flushes of its own; either may be freed first. Accumulates by one and the other are atomic to each other.
     * `desc`: as `create` would get it; its memory is this window's. After a failure on any rank the host frees the others' with `discard`. */
    oxmpi_status (*dup)(void *, const oxmpi_win_desc *, oxmpi_thread_ctx *, oxmpi_osc_window *out);
    /* Fills `out` as far as its `size` says. NOT_SUPPORTED: the component counts nothing. */
    oxmpi_status (*counts)(void *, oxmpi_win_counts *out);
    /* Starts what `flush` with `local` 0 would do for a rank (`ALL`: for all), and does not wait: `flush` follows. RMA_SYNC as `flush`. */
    oxmpi_status (*flush_begin)(void *, oxmpi_thread_ctx *, uint32_t rank);
};

/* `create`'s answer. */
struct oxmpi_osc_window {
    /* First argument of every function in `table`. */
    void *window;
    /* The window's verbs; read by the host when `create` or `dup` has returned OK. */
    const oxmpi_osc_table *table;
};

/* The one module of an OSC component, as its `open` returns it. */
struct oxmpi_osc_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* Must be 0. */
    uint32_t reserved;
    /* First argument of every function below. */
    void *state;
    /* OK: `priority` is filled. NOT_AVAILABLE: not this window. Must not communicate. */
    oxmpi_status (*query)(void *, const oxmpi_win_desc *, int32_t *priority);
    /* Makes the module of a window. Collective over its ranks. After a failure on any rank (OUT_OF_MEMORY, UNREACHABLE, PEER_FAILED and so on) the
     * host frees the windows of the others with `discard`, and asks the next component. */
    oxmpi_status (*create)(void *, const oxmpi_win_desc *, oxmpi_thread_ctx *, oxmpi_osc_window *out);
    /* The thread level has risen to MULTIPLE; no other thread is in a verb. A failure: it cannot, and the level stays. */
    oxmpi_status (*threads_begin)(void *);
    /* Ends the component and frees `state`: the last call, when no window is left. A failure is logged. */
    oxmpi_status (*finalize)(void *);
};

/* Facts that the host knows of a path before it is opened; valid during the call. */
struct oxmpi_path_facts {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* 1: the user has named the component, by a prefix or a parameter, and a low priority does not matter. */
    uint32_t named;
    /* The path without prefix. Like all texts here it need not be UTF-8: bytes of the system. */
    oxmpi_str_ref path;
    /* The number of the file system's type as `statfs` answers it for the file, or for its folder where there is no file yet; 0: neither can be asked. */
    uint64_t magic;
    /* The mount's type, source and options, as `/proc/self/mountinfo` has them, those of mount and superblock joined by a comma; empty: not known. */
    oxmpi_str_ref fs_type;
    /* Device or server of the mount. */
    oxmpi_str_ref source;
    /* Options of the mount. */
    oxmpi_str_ref options;
};

/* Bits of `OpenFile::mode`. They stand for the modes of MPI 5.0 §14.2.1, in numbers of this contract: those of `mpi.h` are the C interface's. */
/* MPI_MODE_CREATE. */
#define OXMPI_FS_MODE_CREATE 1
/* MPI_MODE_RDONLY. */
#define OXMPI_FS_MODE_RDONLY 2
/* MPI_MODE_WRONLY. */
#define OXMPI_FS_MODE_WRONLY 4
/* MPI_MODE_RDWR. */
#define OXMPI_FS_MODE_RDWR 8
/* MPI_MODE_DELETE_ON_CLOSE. */
#define OXMPI_FS_MODE_DELETE_ON_CLOSE 16
/* MPI_MODE_UNIQUE_OPEN. */
#define OXMPI_FS_MODE_UNIQUE_OPEN 32
/* MPI_MODE_EXCL. */
#define OXMPI_FS_MODE_EXCL 64
/* MPI_MODE_APPEND. */
#define OXMPI_FS_MODE_APPEND 128
/* MPI_MODE_SEQUENTIAL. */
#define OXMPI_FS_MODE_SEQUENTIAL 256

/* How a file is to be opened; valid during the call. Values of hints are 0 where nothing was asked for. */
struct oxmpi_open_file {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Bits of `mode`. CREATE and EXCL are the creating rank's alone: in other ranks, and in a later open of the same rank, the host has taken them
     * out. A component looks at CREATE, EXCL and the three of access. */
    uint32_t mode;
    /* The path without prefix. */
    oxmpi_str_ref path;
    /* Permissions of a new file (hint `file_perm`), before the process's mask. */
    uint32_t permissions;
    /* Devices to stripe a new file over (hint `striping_factor`). */
    uint32_t striping_factor;
    /* Bytes of a stripe of a new file (hint `striping_unit`). */
    uint64_t striping_unit;
    /* The first device of a new file (hint `start_iodevice`) plus 1. */
    uint32_t first_device;
    /* 1: reads past the system's cache (hint `direct_read`), where the file system can. */
    uint32_t direct_read;
    /* 1: writes past it (hint `direct_write`). */
    uint32_t direct_write;
    /* Must be 0. */
    uint32_t reserved;
    /* The host's facts of the path on this node, as `FsModule::query` gets it: the options of the mount decide what can be told in `FsFile::keeps`. */
    const oxmpi_path_facts *facts;
};

/* Bits of `FsFile::keeps`. */
/* Byte-range locks exclude other processes of this node. */
#define OXMPI_FS_KEEPS_LOCKS_HERE 1
/* Byte-range locks exclude processes of all nodes. */
#define OXMPI_FS_KEEPS_LOCKS 2
/* Any other node reads afterwards what one has written. */
#define OXMPI_FS_KEEPS_COHERENT 4
/* To take a lock reads the file anew, and to give it back writes what was changed (as NFS does): it is how nodes see each other's data. */
#define OXMPI_FS_KEEPS_LOCK_REVALIDATES 8
/* Space can be had ahead without writing (`super::FsTable::preallocate`). */
#define OXMPI_FS_KEEPS_PREALLOCATES 16

/* An open file, and what can be relied upon. */
struct oxmpi_fs_file {
    /* Bytes of this struct as the host was built with it; a component writes no field behind that. */
    uint32_t size;
    /* Descriptor for data; valid until the file is closed. */
    int32_t fd;
    /* First argument of the functions of `FsTable` behind `open`. */
    void *file;
    /* Bits of `keeps`. */
    uint32_t keeps;
    /* Devices that the file is striped over; 0: not known, or it is not striped. */
    uint32_t striping_factor;
    /* Bytes of a stripe; 0 likewise. */
    uint64_t striping_unit;
    /* Bytes by which ranks had better part a file, so that no two write in one unit: the stripe, the block, the page. At least 1. */
    uint64_t block;
    /* The number of the first device plus 1; 0: not known. */
    uint32_t first_device;
    /* A second descriptor that passes the system's cache by, -1: none. Offsets, lengths and addresses on it are multiples of `direct_unit`. */
    int32_t direct_fd;
    /* See `direct_fd`. */
    uint64_t direct_unit;
    /* Bits of `mode`: RDONLY and WRONLY where the direct descriptor is for these, RDWR for both; 0: none. */
    uint32_t direct_for;
    /* Must be 0. */
    uint32_t reserved;
    /* Why a bit of `keeps` is missing, as one clause for people that names the mount's option or type; empty where none is. Valid until the file is closed. */
    oxmpi_str_ref because;
};

/* A range of a file to be locked. */
struct oxmpi_file_range {
    /* First byte. */
    uint64_t offset;
    /* Number of bytes; 0: up to whatever the end of the file becomes. */
    uint64_t len;
};

/* Kinds of `FsTable::lock`. */
/* For readers, who do not exclude each other. */
#define OXMPI_FS_LOCK_SHARED 1
/* For a writer. */
#define OXMPI_FS_LOCK_EXCLUSIVE 2

/* Functions of a module. All but the two with `path` take an open file. */
struct oxmpi_fs_table {
    /* Bytes of this table as the component was built with it, a multiple of 8. */
    uint32_t size;
    /* `TABLE_VERSION`. */
    uint32_t version;
    /* Opens a file in this process alone: what ranks agree upon is the host's. A `crate::error::system` code: the file is not open, and nothing was
     * made unless it was to be created. A hint that the file system has no use for is passed over. */
    oxmpi_status (*open)(void *state, const oxmpi_open_file *how, oxmpi_fs_file *out);
    /* Closes it, whatever it answers; data may have been lost where that is a failure. Locks of the file are gone. */
    oxmpi_status (*close)(void *file);
    /* MPI_File_delete in this process. */
    oxmpi_status (*delete_)(void *state, oxmpi_str_ref path);
    /* The file's length in bytes, as other nodes have made it. */
    oxmpi_status (*length)(void *file, uint64_t *out);
    /* Cuts or extends the file to that length. */
    oxmpi_status (*resize)(void *file, uint64_t bytes);
    /* Has space for the first `bytes` bytes ready, the file at least that long, and what was written as it was. NOT_SUPPORTED: the host writes. */
    oxmpi_status (*preallocate)(void *file, uint64_t bytes);
    /* Writes everything to the device, and has what other processes wrote and made durable read from now on (MPI_File_sync). */
    oxmpi_status (*sync)(void *file);
    /* Takes a lock (one of `lock`), or changes the kind of one. PENDING: another description holds one that excludes it, and nothing was changed.
     * NOT_SUPPORTED: the file system has no locks. It does not wait. */
    oxmpi_status (*lock)(void *file, const oxmpi_file_range *range, uint32_t kind);
    /* Gives back the locks of a range; OK also where there was none. */
    oxmpi_status (*unlock)(void *file, const oxmpi_file_range *range);
    /* Forgets what the system keeps of a range without having asked the server; what this process wrote has been written before (`sync`).
     * OK where nothing is kept. The host calls it under a lock, in atomic mode on several nodes, where neither `keeps::COHERENT` nor
     * `keeps::LOCK_REVALIDATES` is told; `sync` sees to it by itself. */
    oxmpi_status (*refresh)(void *file, const oxmpi_file_range *range);
};

/* The module of an fs component as its `open` returns it. */
struct oxmpi_fs_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* 0. */
    uint32_t reserved;
    /* First argument of `query`, `finalize`, and of the functions of `table` that have it. */
    void *state;
    /* Not null, valid until `finalize`. */
    const oxmpi_fs_table *table;
    /* Looks at a path, and answers the priority to serve it with. NOT_AVAILABLE: does not serve such a file system. It makes and changes nothing. */
    oxmpi_status (*query)(void *state, const oxmpi_path_facts *facts, int32_t *priority);
    /* Ends the component and frees `state`: the last call, when all files are closed. */
    void (*finalize)(void *state);
};

/* The host's bell: a word on which those sleep who wait for operations. Valid until the file that was opened with it is closed. */
struct oxmpi_file_bell {
    /* The word; whoever ends an operation adds 1. */
    const oxmpi_waking_word *word;
    /* Wakes the word's sleepers; any thread, with locks held or not. */
    oxmpi_status (*wake)(void *ctx, const oxmpi_waking_word *word);
    /* First argument of `wake`. */
    void *ctx;
};

/* The state of one transfer: made by the host, in memory that does not move, and the component's from `submit` to its end. */
struct oxmpi_file_operation {
    uint32_t ended;
    int32_t status;
    uint64_t bytes;
    /* The component's own while the operation is under way; zero before. */
    uint64_t own[6];
};

/* An open file as a component gets it, from the file system component's answer. */
struct oxmpi_file_facts {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Descriptor for data, open for reading or writing as the file's mode says. */
    int32_t fd;
    /* Descriptor that passes the system's cache by, -1: none; `oxmpi_fs::FsFile` says for what. */
    int32_t direct_fd;
    /* Bits of `oxmpi_fs::mode` for which the direct descriptor is. */
    uint32_t direct_for;
    /* Offsets, lengths and addresses on it are multiples of this. */
    uint64_t direct_unit;
    /* Bits of `oxmpi_fs::keeps`. */
    uint32_t keeps;
    /* Bits of `oxmpi_fs::mode`. */
    uint32_t mode;
    /* Number of the file system's type (`statfs`), 0: not known. */
    uint64_t magic;
    /* The host's bell; the pointer is valid during the call, the bell until the file is closed. */
    const oxmpi_file_bell *bell;
};

/* One piece: bytes that lie together in the file and in memory. */
struct oxmpi_file_piece {
    /* Offset of the first byte from the beginning of the file. */
    uint64_t offset;
    /* Address of the first byte; written by reads. */
    uint8_t *memory;
    /* Number of bytes; may be 0, and more than a system call takes. */
    uint64_t len;
};

/* Directions and flags of a `Transfer`. */
/* Data goes from the file to memory. */
#define OXMPI_FBTL_TRANSFER_READ 0
/* Data goes from memory to the file. */
#define OXMPI_FBTL_TRANSFER_WRITE 1
/* A flag: the caller waits for the end and has nothing else to do; the operation may have ended when `submit` returns. */
#define OXMPI_FBTL_TRANSFER_NOW 1
/* A flag of reads: the holes between pieces may be read too, into memory of the component, where that is faster. */
#define OXMPI_FBTL_TRANSFER_SIEVE 2

/* A list of pieces to be transferred. It, the list and the memory stay as they are until the operation has ended. */
struct oxmpi_file_transfer {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* `transfer::READ` or `transfer::WRITE`. */
    uint32_t what;
    /* Bits: `transfer::NOW`, `transfer::SIEVE`. */
    uint32_t flags;
    /* Must be 0. */
    uint32_t reserved;
    /* The pieces. */
    const oxmpi_file_piece *pieces;
    /* Number of pieces; may be 0. */
    size_t num_pieces;
    /* Bytes that may be used at once for sieving (hint `ind_rd_buffer_size`); 0: the component's own measure. */
    uint64_t sieve_bytes;
};

/* Functions of a module. */
struct oxmpi_fbtl_table {
    /* Bytes of this table as the component was built with it, a multiple of 8. */
    uint32_t size;
    /* `TABLE_VERSION`. */
    uint32_t version;
    /* Prepares for a file; `*out` is the first argument of `submit` and `close`. */
    oxmpi_status (*open)(void *state, const oxmpi_file_facts *facts, void **out);
    /* Ends what `open` prepared; no operation of the file is under way. The descriptors are still open. A thread that has just ended an operation may still be ringing the bell: it has
     * done so before this returns. */
    void (*close)(void *file);
    /* Takes a transfer. OK: it is under way, or has ended. NO_RESOURCE: the queue is full, nothing was taken, and the caller offers it again when an operation
     * has ended. Other failures of the data are the operation's, not of this call. BAD_PARAM: of another file or direction than there is. */
    oxmpi_status (*submit)(void *file, const oxmpi_file_transfer *transfer, const oxmpi_file_operation *operation);
    /* Asks for an early end of an operation that is under way: it ends as ever, and with NOT_AVAILABLE if that was early. Does not wait. */
    void (*cancel)(void *file, const oxmpi_file_operation *operation);
    /* Looks for completions, and ends their operations: how many. */
    uint32_t (*harvest)(void *state);
    /* A descriptor that is readable when `harvest` has something to do; -1: never. `harvest` makes it quiet again. */
    int32_t (*event_fd)(void *state);
};

/* The module of an fbtl component as its `open` returns it. */
struct oxmpi_fbtl_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* 0. */
    uint32_t reserved;
    /* First argument of `query`, `finalize`, and of the functions of `table` that have it. */
    void *state;
    /* Not null, valid until `finalize`. */
    const oxmpi_fbtl_table *table;
    /* Looks at an open file, and answers the priority to serve it with. NOT_AVAILABLE: cannot serve it. */
    oxmpi_status (*query)(void *state, const oxmpi_file_facts *facts, int32_t *priority);
    /* Ends the component and frees `state`: the last call, when all files are closed. */
    void (*finalize)(void *state);
};

/* Facts that are equal in all ranks of a file: valid from `open` or the last `set_view` of the file on. */
struct oxmpi_file_layout {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Number of `aggregators`, at least 1. */
    uint32_t num_aggregators;
    /* The ranks that transfer for others, each once, in the order of their domains. */
    const uint32_t *aggregators;
    /* Bytes by which aggregators part the file, a multiple of the file system's block: byte `b` belongs to aggregator `b / unit % num_aggregators` for as
     * long as the layout is valid, so that no two nodes write in one block. */
    uint64_t unit;
    /* Bytes that an aggregator may use at once for a round (hint `cb_buffer_size`), at least `unit`. */
    uint64_t buffer;
    /* One of `want` for reads: hint `romio_cb_read` and its kin. */
    uint32_t read;
    /* The same for writes. */
    uint32_t write;
    /* Bits of `oxmpi_fs::keeps`. */
    uint32_t keeps;
    /* Must be 0. */
    uint32_t reserved;
};

/* Answers to whether accesses are to go by aggregators. */
/* The component decides, by the accesses. */
#define OXMPI_FCOLL_WANT_AUTOMATIC 0
/* Always. */
#define OXMPI_FCOLL_WANT_ALWAYS 1
/* Never: each rank transfers its own. */
#define OXMPI_FCOLL_WANT_NEVER 2

/* A rank's own access: a part of its view, and memory.
 * 
 * The data of a view is that of type `filetype`, repeated from `displacement` on at distances of its extent: byte `p` of the view is byte `p` of the packed data of so many
 * elements. The types are in the file's representation; memory holds the same bytes in the same order. Valid until the plan has ended. */
struct oxmpi_file_access {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* `oxmpi_fbtl::transfer::READ` or `WRITE`. */
    uint32_t what;
    /* Bytes before the view in the file. */
    uint64_t displacement;
    /* Its displacements are not negative and do not fall, and elements do not overlap. */
    const oxmpi_type_desc *filetype;
    /* First byte of the view that is accessed. */
    uint64_t from;
    /* Number of bytes that are accessed; 0 where the rank takes part without data. */
    uint64_t len;
    /* Address of element 0. A read writes the bytes that it counts (`FcollServices::moved`), and none behind them. */
    uint8_t *memory;
    /* Number of elements in memory, whose packed data is `len` bytes. */
    uint64_t count;
    /* The type of the elements in memory. */
    const oxmpi_type_desc *memtype;
};

/* Services of the host for a planner, beside those of the plan. */
struct oxmpi_fcoll_services {
    /* Bytes of this table as the host was built with it. */
    uint32_t size;
    /* Must be 0. */
    uint32_t reserved;
    /* Writes down a step that transfers a list of pieces, which is copied. `moved`, unless null, is memory of the plan, where
     * the step writes how many bytes were transferred; `outcome`, unless null, likewise, where it writes the transfer's status as its number. Where `outcome` is null a failure is the operation's
     * error, otherwise the planner sees to it. The step is done when the transfer has ended, in the background: what is written down behind it waits for it, unless `later` is 1; then
     * only `FcollServices::settle` and the plan's end wait for it. */
    oxmpi_status (*transfer)(void *access, const oxmpi_coll_comm *comm, uint32_t what, const oxmpi_file_piece *pieces, size_t num_pieces, uint64_t *moved, int32_t *outcome, uint32_t later);
    /* Writes down a step that waits for all transfers of the plan that were written down before with `later` 1. */
    oxmpi_status (*settle)(void *access, const oxmpi_coll_comm *comm);
    /* Says how many bytes of its own access the rank has moved, and with what outcome (OK, or a code of `oxmpi_fs::error`). To be called once, at the latest in the plan's last
     * step; not a step itself. */
    void (*moved)(void *access, uint64_t bytes, oxmpi_status outcome);
};

/* The arguments of `FcollTable::plan`; valid during the call, what the pointers lead to until the plan has ended. */
struct oxmpi_file_plan {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Must be 0. */
    uint32_t reserved;
    /* The communicator of the file, with the services of a plan. */
    const oxmpi_coll_comm *comm;
    /* The facts that are equal in all ranks. */
    const oxmpi_file_layout *layout;
    /* This rank's part. */
    const oxmpi_file_access *access;
    /* Further services. */
    const oxmpi_fcoll_services *services;
    /* First argument of those. */
    void *ctx;
};

/* Functions of a module. */
struct oxmpi_fcoll_table {
    /* Bytes of this table as the component was built with it, a multiple of 8. */
    uint32_t size;
    /* `TABLE_VERSION`. */
    uint32_t version;
    /* Writes down the plan of one collective access. A failure: no plan comes to be, in no rank; so it fails for what is equal in all of them only. */
    oxmpi_status (*plan)(void *state, const oxmpi_file_plan *args);
};

/* Facts with which a component is asked; equal in all ranks. */
struct oxmpi_fcoll_facts {
    /* Bytes of this struct as the host was built with it. */
    uint32_t size;
    /* Ranks of the file's communicator. */
    uint32_t num_ranks;
    /* Nodes that they are on. */
    uint32_t num_nodes;
    /* Bits of `oxmpi_fs::keeps`. */
    uint32_t keeps;
    /* The facts that are equal in all ranks. */
    const oxmpi_file_layout *layout;
};

/* The module of an fcoll component as its `open` returns it. */
struct oxmpi_fcoll_module {
    /* Bytes of this struct as the component was built with it. */
    uint32_t size;
    /* 0. */
    uint32_t reserved;
    /* First argument of the functions. */
    void *state;
    /* Not null, valid until `finalize`. */
    const oxmpi_fcoll_table *table;
    /* Looks at a file, and answers the priority to serve it with. NOT_AVAILABLE: not this one. All ranks answer alike. */
    oxmpi_status (*query)(void *state, const oxmpi_fcoll_facts *facts, int32_t *priority);
    /* Ends the component and frees `state`: the last call, when all files are closed. */
    void (*finalize)(void *state);
};

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
OXMPI_ASSERT(sizeof(oxmpi_thread_ctx) == 72);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, cri) == 0);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, index) == 4);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, counters) == 8);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, host_private) == 16);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, pml_private) == 24);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, osc_private) == 32);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, seat) == 40);
OXMPI_ASSERT(offsetof(oxmpi_thread_ctx, attended) == 64);
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
OXMPI_ASSERT(offsetof(oxmpi_cri, holder) == 48);
OXMPI_ASSERT(offsetof(oxmpi_cri, shared) == 56);
OXMPI_ASSERT(offsetof(oxmpi_cri, reserved) == 60);
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
OXMPI_ASSERT(sizeof(oxmpi_recv_desc) == 40);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, data) == 0);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, len) == 8);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, proc) == 16);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, ctx) == 20);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, module) == 24);
OXMPI_ASSERT(offsetof(oxmpi_recv_desc, link) == 32);
OXMPI_ASSERT(sizeof(oxmpi_am_entry) == 16);
OXMPI_ASSERT(offsetof(oxmpi_am_entry, receive) == 0);
OXMPI_ASSERT(offsetof(oxmpi_am_entry, ctx) == 8);
OXMPI_ASSERT(sizeof(oxmpi_part_desc) == 56);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, message) == 0);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, from) == 40);
OXMPI_ASSERT(offsetof(oxmpi_part_desc, to) == 48);
OXMPI_ASSERT(sizeof(oxmpi_layer_function) == 48);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, every) == 4);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, function) == 8);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, context) == 16);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, work) == 24);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, arm) == 32);
OXMPI_ASSERT(offsetof(oxmpi_layer_function, disarm) == 40);
OXMPI_ASSERT(sizeof(oxmpi_host_table) == 240);
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
OXMPI_ASSERT(offsetof(oxmpi_host_table, services) == 176);
OXMPI_ASSERT(offsetof(oxmpi_host_table, locking) == 184);
OXMPI_ASSERT(offsetof(oxmpi_host_table, expect) == 232);
OXMPI_ASSERT(sizeof(oxmpi_open_args) == 40);
OXMPI_ASSERT(offsetof(oxmpi_open_args, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_open_args, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_open_args, host) == 8);
OXMPI_ASSERT(offsetof(oxmpi_open_args, values) == 16);
OXMPI_ASSERT(offsetof(oxmpi_open_args, flags) == 32);
OXMPI_ASSERT(sizeof(oxmpi_resolve_args) == 56);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, num_cris) == 4);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, job) == 8);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, values) == 16);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, ctx) == 32);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, in_force) == 40);
OXMPI_ASSERT(offsetof(oxmpi_resolve_args, refuse) == 48);
OXMPI_ASSERT(sizeof(oxmpi_opened) == 32);
OXMPI_ASSERT(offsetof(oxmpi_opened, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_opened, priority) == 4);
OXMPI_ASSERT(offsetof(oxmpi_opened, modules) == 8);
OXMPI_ASSERT(offsetof(oxmpi_opened, count) == 16);
OXMPI_ASSERT(offsetof(oxmpi_opened, stride) == 24);
OXMPI_ASSERT(sizeof(oxmpi_descriptor) == 160);
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
OXMPI_ASSERT(offsetof(oxmpi_descriptor, resolve) == 144);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, table_version) == 152);
OXMPI_ASSERT(offsetof(oxmpi_descriptor, reserved) == 156);
OXMPI_ASSERT(sizeof(oxmpi_btl_attrs) == 160);
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
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, amo_operands) == 96);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, service_limit) == 100);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, device) == 104);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, min_put_size) == 136);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, registration_limit) == 144);
OXMPI_ASSERT(offsetof(oxmpi_btl_attrs, list_limit) == 152);
OXMPI_ASSERT(sizeof(oxmpi_send_desc) == 48);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, tag) == 0);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, hdr_len) == 4);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, hdr) == 8);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, payload) == 16);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, len) == 24);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, pack) == 32);
OXMPI_ASSERT(offsetof(oxmpi_send_desc, pack_ctx) == 40);
OXMPI_ASSERT(sizeof(oxmpi_rma_desc) == 56);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, local) == 0);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, remote) == 8);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, len) == 16);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, local_handle) == 24);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, remote_handle) == 32);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, done) == 40);
OXMPI_ASSERT(offsetof(oxmpi_rma_desc, done_ctx) == 48);
OXMPI_ASSERT(sizeof(oxmpi_flush_desc) == 16);
OXMPI_ASSERT(offsetof(oxmpi_flush_desc, done) == 0);
OXMPI_ASSERT(offsetof(oxmpi_flush_desc, done_ctx) == 8);
OXMPI_ASSERT(sizeof(oxmpi_piece) == 16);
OXMPI_ASSERT(offsetof(oxmpi_piece, addr) == 0);
OXMPI_ASSERT(offsetof(oxmpi_piece, len) == 8);
OXMPI_ASSERT(sizeof(oxmpi_rma_vector_desc) == 40);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, local) == 0);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, remote) == 16);
OXMPI_ASSERT(offsetof(oxmpi_rma_vector_desc, len) == 32);
OXMPI_ASSERT(sizeof(oxmpi_atomic_desc) == 72);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, result) == 0);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, local_handle) == 8);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, remote) == 16);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, remote_handle) == 24);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, op) == 32);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, flags) == 36);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, operand) == 40);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, compare) == 48);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, done) == 56);
OXMPI_ASSERT(offsetof(oxmpi_atomic_desc, done_ctx) == 64);
OXMPI_ASSERT(sizeof(oxmpi_list_entry) == 64);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, remote) == 0);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, remote_handle) == 8);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, len) == 16);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, data) == 24);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, result) == 32);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, result_handle) == 40);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, op) == 48);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, flags) == 52);
OXMPI_ASSERT(offsetof(oxmpi_list_entry, compare) == 56);
OXMPI_ASSERT(sizeof(oxmpi_list_desc) == 32);
OXMPI_ASSERT(offsetof(oxmpi_list_desc, entries) == 0);
OXMPI_ASSERT(offsetof(oxmpi_list_desc, done) == 16);
OXMPI_ASSERT(offsetof(oxmpi_list_desc, done_ctx) == 24);
OXMPI_ASSERT(sizeof(oxmpi_proc_info) == 24);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, proc) == 0);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, node) == 4);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, local_rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, local) == 12);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, job) == 16);
OXMPI_ASSERT(offsetof(oxmpi_proc_info, segment) == 20);
OXMPI_ASSERT(sizeof(oxmpi_proc_list) == 24);
OXMPI_ASSERT(offsetof(oxmpi_proc_list, first) == 0);
OXMPI_ASSERT(offsetof(oxmpi_proc_list, len) == 8);
OXMPI_ASSERT(offsetof(oxmpi_proc_list, stride) == 16);
OXMPI_ASSERT(sizeof(oxmpi_btl_table) == 224);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, add_procs) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, del_procs) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, finalize) == 24);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, send) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, progress) == 40);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, get) == 48);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, put) == 56);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, flush) == 64);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, atomic) == 72);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, register_mem) == 80);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, deregister_mem) == 88);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, arm) == 96);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, disarm) == 104);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, get_vector) == 112);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, hold) == 120);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, held) == 128);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_open) == 136);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_request) == 144);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_progress) == 152);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_reply) == 160);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_pending) == 168);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_arm) == 176);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, service_disarm) == 184);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, list) == 192);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, partner) == 200);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, place_by) == 208);
OXMPI_ASSERT(offsetof(oxmpi_btl_table, send_kept) == 216);
OXMPI_ASSERT(sizeof(oxmpi_btl_module) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_module, attrs) == 24);
OXMPI_ASSERT(sizeof(oxmpi_btl_handle) == 264);
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
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, get_vector) == 96);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, hold) == 104);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, held) == 112);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_open) == 120);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_request) == 128);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_progress) == 136);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_reply) == 144);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_pending) == 152);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_arm) == 160);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, service_disarm) == 168);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, add_procs) == 176);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, del_procs) == 184);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, finalize) == 192);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, attrs) == 200);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, name) == 208);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, emulated) == 224);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, index) == 228);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, list) == 232);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, partner) == 240);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, place_by) == 248);
OXMPI_ASSERT(offsetof(oxmpi_btl_handle, send_kept) == 256);
OXMPI_ASSERT(sizeof(oxmpi_kept_desc) == 64);
OXMPI_ASSERT(offsetof(oxmpi_kept_desc, message) == 0);
OXMPI_ASSERT(offsetof(oxmpi_kept_desc, done) == 48);
OXMPI_ASSERT(offsetof(oxmpi_kept_desc, done_ctx) == 56);
OXMPI_ASSERT(sizeof(oxmpi_place_desc) == 64);
OXMPI_ASSERT(offsetof(oxmpi_place_desc, message) == 0);
OXMPI_ASSERT(offsetof(oxmpi_place_desc, there) == 40);
OXMPI_ASSERT(offsetof(oxmpi_place_desc, header) == 48);
OXMPI_ASSERT(offsetof(oxmpi_place_desc, place) == 56);
OXMPI_ASSERT(sizeof(oxmpi_place_by) == 40);
OXMPI_ASSERT(offsetof(oxmpi_place_by, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_place_by, tag) == 4);
OXMPI_ASSERT(offsetof(oxmpi_place_by, place_of) == 8);
OXMPI_ASSERT(offsetof(oxmpi_place_by, placed) == 16);
OXMPI_ASSERT(offsetof(oxmpi_place_by, ctx) == 24);
OXMPI_ASSERT(offsetof(oxmpi_place_by, claim) == 32);
OXMPI_ASSERT(sizeof(oxmpi_wait_word) == 16);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, addr) == 0);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, expected) == 8);
OXMPI_ASSERT(offsetof(oxmpi_wait_word, reserved) == 12);
OXMPI_ASSERT(sizeof(oxmpi_wait_fd) == 8);
OXMPI_ASSERT(offsetof(oxmpi_wait_fd, fd) == 0);
OXMPI_ASSERT(offsetof(oxmpi_wait_fd, events) == 4);
OXMPI_ASSERT(sizeof(oxmpi_wait_set) == 32);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, words) == 0);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, num_words) == 8);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, max_words) == 12);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, fds) == 16);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, num_fds) == 24);
OXMPI_ASSERT(offsetof(oxmpi_wait_set, max_fds) == 28);
OXMPI_ASSERT(sizeof(oxmpi_reach) == 24);
OXMPI_ASSERT(offsetof(oxmpi_reach, btl) == 0);
OXMPI_ASSERT(offsetof(oxmpi_reach, endpoint) == 8);
OXMPI_ASSERT(offsetof(oxmpi_reach, width) == 16);
OXMPI_ASSERT(offsetof(oxmpi_reach, reserved) == 20);
OXMPI_ASSERT(sizeof(oxmpi_registration) == 32);
OXMPI_ASSERT(offsetof(oxmpi_registration, handle) == 0);
OXMPI_ASSERT(offsetof(oxmpi_registration, handle_size) == 8);
OXMPI_ASSERT(offsetof(oxmpi_registration, base) == 16);
OXMPI_ASSERT(offsetof(oxmpi_registration, len) == 24);
OXMPI_ASSERT(sizeof(oxmpi_ask_desc) == 32);
OXMPI_ASSERT(offsetof(oxmpi_ask_desc, data) == 0);
OXMPI_ASSERT(offsetof(oxmpi_ask_desc, len) == 8);
OXMPI_ASSERT(offsetof(oxmpi_ask_desc, answer) == 16);
OXMPI_ASSERT(offsetof(oxmpi_ask_desc, answer_len) == 24);
OXMPI_ASSERT(sizeof(oxmpi_btl_services) == 64);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, instance) == 8);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, reach) == 16);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, register_) == 24);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, deregister) == 32);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, acquire) == 40);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, release) == 48);
OXMPI_ASSERT(offsetof(oxmpi_btl_services, listen) == 56);
OXMPI_ASSERT(sizeof(oxmpi_proc_name) == 16);
OXMPI_ASSERT(offsetof(oxmpi_proc_name, bytes) == 0);
OXMPI_ASSERT(sizeof(oxmpi_proc_place) == 16);
OXMPI_ASSERT(offsetof(oxmpi_proc_place, node) == 0);
OXMPI_ASSERT(offsetof(oxmpi_proc_place, local_rank) == 4);
OXMPI_ASSERT(offsetof(oxmpi_proc_place, local) == 8);
OXMPI_ASSERT(offsetof(oxmpi_proc_place, distance) == 12);
OXMPI_ASSERT(sizeof(oxmpi_node_memory) == 24);
OXMPI_ASSERT(offsetof(oxmpi_node_memory, base) == 0);
OXMPI_ASSERT(offsetof(oxmpi_node_memory, bytes) == 8);
OXMPI_ASSERT(offsetof(oxmpi_node_memory, first) == 16);
OXMPI_ASSERT(offsetof(oxmpi_node_memory, reserved) == 20);
OXMPI_ASSERT(sizeof(oxmpi_shared_segment) == 24);
OXMPI_ASSERT(offsetof(oxmpi_shared_segment, fd) == 0);
OXMPI_ASSERT(offsetof(oxmpi_shared_segment, local_rank) == 4);
OXMPI_ASSERT(offsetof(oxmpi_shared_segment, local_size) == 8);
OXMPI_ASSERT(offsetof(oxmpi_shared_segment, reserved) == 12);
OXMPI_ASSERT(offsetof(oxmpi_shared_segment, bytes) == 16);
OXMPI_ASSERT(sizeof(oxmpi_waking_word) == 8);
OXMPI_ASSERT(offsetof(oxmpi_waking_word, value) == 0);
OXMPI_ASSERT(offsetof(oxmpi_waking_word, sleepers) == 4);
OXMPI_ASSERT(sizeof(oxmpi_host_services) == 168);
OXMPI_ASSERT(offsetof(oxmpi_host_services, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_host_services, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_host_services, name_of) == 8);
OXMPI_ASSERT(offsetof(oxmpi_host_services, index_of) == 16);
OXMPI_ASSERT(offsetof(oxmpi_host_services, place_of) == 24);
OXMPI_ASSERT(offsetof(oxmpi_host_services, exchange_put) == 32);
OXMPI_ASSERT(offsetof(oxmpi_host_services, exchange_try) == 40);
OXMPI_ASSERT(offsetof(oxmpi_host_services, auth_make) == 48);
OXMPI_ASSERT(offsetof(oxmpi_host_services, auth_check) == 56);
OXMPI_ASSERT(offsetof(oxmpi_host_services, node_memory) == 64);
OXMPI_ASSERT(offsetof(oxmpi_host_services, peer_read) == 72);
OXMPI_ASSERT(offsetof(oxmpi_host_services, peer_write) == 80);
OXMPI_ASSERT(offsetof(oxmpi_host_services, peer_pointer) == 88);
OXMPI_ASSERT(offsetof(oxmpi_host_services, wait_until) == 96);
OXMPI_ASSERT(offsetof(oxmpi_host_services, wait_word) == 104);
OXMPI_ASSERT(offsetof(oxmpi_host_services, on_peer_failure) == 112);
OXMPI_ASSERT(offsetof(oxmpi_host_services, off_peer_failure) == 120);
OXMPI_ASSERT(offsetof(oxmpi_host_services, peer_failed) == 128);
OXMPI_ASSERT(offsetof(oxmpi_host_services, osc_tags) == 136);
OXMPI_ASSERT(offsetof(oxmpi_host_services, node_memory_free) == 144);
OXMPI_ASSERT(offsetof(oxmpi_host_services, wake_word) == 152);
OXMPI_ASSERT(offsetof(oxmpi_host_services, segment) == 160);
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
OXMPI_ASSERT(sizeof(oxmpi_comm_desc) == 80);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, flags) == 4);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, gid) == 8);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, my_rank) == 24);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, num_peers) == 28);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, procs) == 32);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, endpoints) == 40);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, my_endpoint) == 48);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, has_fixed_index) == 50);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, fixed_index) == 52);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, matching) == 56);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, fifo_hint) == 72);
OXMPI_ASSERT(offsetof(oxmpi_comm_desc, reserved) == 76);
OXMPI_ASSERT(sizeof(oxmpi_polled) == 16);
OXMPI_ASSERT(offsetof(oxmpi_polled, btl) == 0);
OXMPI_ASSERT(offsetof(oxmpi_polled, active) == 8);
OXMPI_ASSERT(offsetof(oxmpi_polled, contexts) == 12);
OXMPI_ASSERT(sizeof(oxmpi_polling) == 32);
OXMPI_ASSERT(offsetof(oxmpi_polling, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_polling, careful) == 4);
OXMPI_ASSERT(offsetof(oxmpi_polling, lone) == 8);
OXMPI_ASSERT(offsetof(oxmpi_polling, transports) == 16);
OXMPI_ASSERT(sizeof(oxmpi_context_words) == 16);
OXMPI_ASSERT(offsetof(oxmpi_context_words, work) == 0);
OXMPI_ASSERT(offsetof(oxmpi_context_words, unmatched) == 8);
OXMPI_ASSERT(sizeof(oxmpi_words) == 32);
OXMPI_ASSERT(offsetof(oxmpi_words, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_words, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_words, always) == 8);
OXMPI_ASSERT(offsetof(oxmpi_words, contexts) == 16);
OXMPI_ASSERT(sizeof(oxmpi_transports) == 40);
OXMPI_ASSERT(offsetof(oxmpi_transports, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_transports, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_transports, btls) == 8);
OXMPI_ASSERT(offsetof(oxmpi_transports, services) == 24);
OXMPI_ASSERT(offsetof(oxmpi_transports, polling) == 32);
OXMPI_ASSERT(sizeof(oxmpi_send_args) == 64);
OXMPI_ASSERT(offsetof(oxmpi_send_args, comm) == 0);
OXMPI_ASSERT(offsetof(oxmpi_send_args, thread) == 8);
OXMPI_ASSERT(offsetof(oxmpi_send_args, buf) == 16);
OXMPI_ASSERT(offsetof(oxmpi_send_args, count) == 24);
OXMPI_ASSERT(offsetof(oxmpi_send_args, dtype) == 32);
OXMPI_ASSERT(offsetof(oxmpi_send_args, dst) == 40);
OXMPI_ASSERT(offsetof(oxmpi_send_args, tag) == 44);
OXMPI_ASSERT(offsetof(oxmpi_send_args, mode) == 48);
OXMPI_ASSERT(offsetof(oxmpi_send_args, reserved) == 52);
OXMPI_ASSERT(offsetof(oxmpi_send_args, host_comm) == 56);
OXMPI_ASSERT(sizeof(oxmpi_recv_args) == 56);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, comm) == 0);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, thread) == 8);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, buf) == 16);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, count) == 24);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, dtype) == 32);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, src) == 40);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, tag) == 44);
OXMPI_ASSERT(offsetof(oxmpi_recv_args, host_comm) == 48);
OXMPI_ASSERT(sizeof(oxmpi_counts) == 88);
OXMPI_ASSERT(offsetof(oxmpi_counts, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_counts, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_counts, unexpected) == 8);
OXMPI_ASSERT(offsetof(oxmpi_counts, waiting) == 16);
OXMPI_ASSERT(offsetof(oxmpi_counts, most_waiting) == 24);
OXMPI_ASSERT(offsetof(oxmpi_counts, posted) == 32);
OXMPI_ASSERT(offsetof(oxmpi_counts, out_of_sequence) == 40);
OXMPI_ASSERT(offsetof(oxmpi_counts, out_of_sequence_now) == 48);
OXMPI_ASSERT(offsetof(oxmpi_counts, most_out_of_sequence) == 56);
OXMPI_ASSERT(offsetof(oxmpi_counts, spreads) == 64);
OXMPI_ASSERT(offsetof(oxmpi_counts, posted_now) == 72);
OXMPI_ASSERT(offsetof(oxmpi_counts, match_time) == 80);
OXMPI_ASSERT(sizeof(oxmpi_pml_table) == 184);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, enable) == 8);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, add_comm) == 16);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, del_comm) == 24);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, send) == 32);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, isend) == 40);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, recv) == 48);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, irecv) == 56);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, send_init) == 64);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, recv_init) == 72);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, probe) == 80);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, imrecv) == 88);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, after_turn) == 96);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, threads_begin) == 104);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, flush) == 112);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, peer_failed) == 120);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, finalize) == 128);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, counts) == 136);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, set_flags) == 144);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, measure) == 152);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, revoke) == 160);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, send_failure) == 168);
OXMPI_ASSERT(offsetof(oxmpi_pml_table, peer_parted) == 176);
OXMPI_ASSERT(sizeof(oxmpi_pml_module) == 24);
OXMPI_ASSERT(offsetof(oxmpi_pml_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_pml_module, max_tag) == 4);
OXMPI_ASSERT(offsetof(oxmpi_pml_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_pml_module, table) == 16);
OXMPI_ASSERT(sizeof(oxmpi_coll_comm) == 64);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, num_ranks) == 4);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, oversubscribed) == 12);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, comm) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, thread) == 24);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, services) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, num_remote) == 40);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, planning) == 44);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, local) == 48);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, num_nodes) == 56);
OXMPI_ASSERT(offsetof(oxmpi_coll_comm, node) == 60);
OXMPI_ASSERT(sizeof(oxmpi_coll_services) == 208);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, send) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, recv) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, isend) == 24);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, irecv) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, wait_all) == 40);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, memory) == 48);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, pack) == 56);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, unpack) == 64);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, copy) == 72);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, reduce) == 80);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, step) == 88);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, place) == 96);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, node_memory) == 104);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, peer_read) == 112);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, peer_write) == 120);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, peer_pointer) == 128);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, wait_word) == 136);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, wake_word) == 144);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, sub_comm) == 152);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, sub_view) == 160);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, call) == 168);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, send_failure) == 176);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, extend) == 184);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, call_lost) == 192);
OXMPI_ASSERT(offsetof(oxmpi_coll_services, took) == 200);
OXMPI_ASSERT(sizeof(oxmpi_coll_args) == 120);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sendbuf) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sendcount) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sendtype) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, recvbuf) == 24);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, recvcount) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, recvtype) == 40);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, op) == 48);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, root) == 56);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, reserved) == 60);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sendcounts) == 64);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sdispls) == 72);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, sendtypes) == 80);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, recvcounts) == 88);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, rdispls) == 96);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, recvtypes) == 104);
OXMPI_ASSERT(offsetof(oxmpi_coll_args, neighbors) == 112);
OXMPI_ASSERT(sizeof(oxmpi_neighbors) == 32);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, flags) == 4);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, num_sources) == 8);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, num_destinations) == 12);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, sources) == 16);
OXMPI_ASSERT(offsetof(oxmpi_neighbors, destinations) == 24);
OXMPI_ASSERT(sizeof(oxmpi_coll_table) == 184);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, barrier) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, bcast) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, reduce) == 24);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, allreduce) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, allgather) == 40);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, gather) == 48);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, scatter) == 56);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, alltoall) == 64);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, gatherv) == 72);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, scatterv) == 80);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, allgatherv) == 88);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, alltoallv) == 96);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, alltoallw) == 104);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, scan) == 112);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, exscan) == 120);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, reduce_scatter) == 128);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, reduce_scatter_block) == 136);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, neighbor_allgather) == 144);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, neighbor_allgatherv) == 152);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, neighbor_alltoall) == 160);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, neighbor_alltoallv) == 168);
OXMPI_ASSERT(offsetof(oxmpi_coll_table, neighbor_alltoallw) == 176);
OXMPI_ASSERT(sizeof(oxmpi_coll_offer) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_offer, priority) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_offer, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_coll_offer, module) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_offer, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_offer, plans) == 24);
OXMPI_ASSERT(sizeof(oxmpi_coll_module) == 64);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, flags) == 4);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, comm_query) == 16);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, comm_free) == 24);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, finalize) == 32);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, comm_prepare) == 40);
OXMPI_ASSERT(offsetof(oxmpi_coll_module, algorithms) == 48);
OXMPI_ASSERT(sizeof(oxmpi_win_desc) == 72);
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
OXMPI_ASSERT(offsetof(oxmpi_win_desc, num_notify) == 64);
OXMPI_ASSERT(offsetof(oxmpi_win_desc, reserved) == 68);
OXMPI_ASSERT(sizeof(oxmpi_win_comm) == 40);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, num_ranks) == 4);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, num_nodes) == 12);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, comm) == 16);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, services) == 24);
OXMPI_ASSERT(offsetof(oxmpi_win_comm, btl) == 32);
OXMPI_ASSERT(sizeof(oxmpi_place) == 24);
OXMPI_ASSERT(offsetof(oxmpi_place, proc) == 0);
OXMPI_ASSERT(offsetof(oxmpi_place, node) == 4);
OXMPI_ASSERT(offsetof(oxmpi_place, node_rank) == 8);
OXMPI_ASSERT(offsetof(oxmpi_place, node_size) == 12);
OXMPI_ASSERT(offsetof(oxmpi_place, endpoint) == 16);
OXMPI_ASSERT(offsetof(oxmpi_place, local) == 20);
OXMPI_ASSERT(sizeof(oxmpi_mapped) == 24);
OXMPI_ASSERT(offsetof(oxmpi_mapped, base) == 0);
OXMPI_ASSERT(offsetof(oxmpi_mapped, bytes) == 8);
OXMPI_ASSERT(offsetof(oxmpi_mapped, disp_unit) == 16);
OXMPI_ASSERT(sizeof(oxmpi_win_services) == 136);
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
OXMPI_ASSERT(offsetof(oxmpi_win_services, wait_contexts) == 128);
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
OXMPI_ASSERT(sizeof(oxmpi_osc_table) == 232);
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
OXMPI_ASSERT(offsetof(oxmpi_osc_table, put_notify) == 176);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, get_notify) == 184);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, notify_read) == 192);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, notify_wait) == 200);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, dup) == 208);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, counts) == 216);
OXMPI_ASSERT(offsetof(oxmpi_osc_table, flush_begin) == 224);
OXMPI_ASSERT(sizeof(oxmpi_win_counts) == 88);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, exclusive_attempts) == 8);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, shared_attempts) == 16);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, lock_retries) == 24);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, accumulate_locks) == 32);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, accumulate_retries) == 40);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, put_locks) == 48);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, ranks_mapped) == 56);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, ranks_by_transport) == 64);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, ranks_by_requests) == 72);
OXMPI_ASSERT(offsetof(oxmpi_win_counts, ranks_by_messages) == 80);
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
OXMPI_ASSERT(sizeof(oxmpi_path_facts) == 80);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, named) == 4);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, path) == 8);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, magic) == 24);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, fs_type) == 32);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, source) == 48);
OXMPI_ASSERT(offsetof(oxmpi_path_facts, options) == 64);
OXMPI_ASSERT(sizeof(oxmpi_open_file) == 64);
OXMPI_ASSERT(offsetof(oxmpi_open_file, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_open_file, mode) == 4);
OXMPI_ASSERT(offsetof(oxmpi_open_file, path) == 8);
OXMPI_ASSERT(offsetof(oxmpi_open_file, permissions) == 24);
OXMPI_ASSERT(offsetof(oxmpi_open_file, striping_factor) == 28);
OXMPI_ASSERT(offsetof(oxmpi_open_file, striping_unit) == 32);
OXMPI_ASSERT(offsetof(oxmpi_open_file, first_device) == 40);
OXMPI_ASSERT(offsetof(oxmpi_open_file, direct_read) == 44);
OXMPI_ASSERT(offsetof(oxmpi_open_file, direct_write) == 48);
OXMPI_ASSERT(offsetof(oxmpi_open_file, reserved) == 52);
OXMPI_ASSERT(offsetof(oxmpi_open_file, facts) == 56);
OXMPI_ASSERT(sizeof(oxmpi_fs_file) == 80);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, fd) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, file) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, keeps) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, striping_factor) == 20);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, striping_unit) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, block) == 32);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, first_device) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, direct_fd) == 44);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, direct_unit) == 48);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, direct_for) == 56);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, reserved) == 60);
OXMPI_ASSERT(offsetof(oxmpi_fs_file, because) == 64);
OXMPI_ASSERT(sizeof(oxmpi_file_range) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_range, offset) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_range, len) == 8);
OXMPI_ASSERT(sizeof(oxmpi_fs_table) == 88);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, open) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, close) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, delete_) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, length) == 32);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, resize) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, preallocate) == 48);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, sync) == 56);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, lock) == 64);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, unlock) == 72);
OXMPI_ASSERT(offsetof(oxmpi_fs_table, refresh) == 80);
OXMPI_ASSERT(sizeof(oxmpi_fs_module) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, query) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fs_module, finalize) == 32);
OXMPI_ASSERT(sizeof(oxmpi_file_bell) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_bell, word) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_bell, wake) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_bell, ctx) == 16);
OXMPI_ASSERT(sizeof(oxmpi_file_facts) == 48);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, fd) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, direct_fd) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, direct_for) == 12);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, direct_unit) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, keeps) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, mode) == 28);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, magic) == 32);
OXMPI_ASSERT(offsetof(oxmpi_file_facts, bell) == 40);
OXMPI_ASSERT(sizeof(oxmpi_file_piece) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_piece, offset) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_piece, memory) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_piece, len) == 16);
OXMPI_ASSERT(sizeof(oxmpi_file_transfer) == 40);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, what) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, flags) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, reserved) == 12);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, pieces) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, num_pieces) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_transfer, sieve_bytes) == 32);
OXMPI_ASSERT(sizeof(oxmpi_fbtl_table) == 56);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, open) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, close) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, submit) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, cancel) == 32);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, harvest) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_table, event_fd) == 48);
OXMPI_ASSERT(sizeof(oxmpi_fbtl_module) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, query) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fbtl_module, finalize) == 32);
OXMPI_ASSERT(sizeof(oxmpi_file_layout) == 48);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, num_aggregators) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, aggregators) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, unit) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, buffer) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, read) == 32);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, write) == 36);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, keeps) == 40);
OXMPI_ASSERT(offsetof(oxmpi_file_layout, reserved) == 44);
OXMPI_ASSERT(sizeof(oxmpi_file_access) == 64);
OXMPI_ASSERT(offsetof(oxmpi_file_access, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_access, what) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_access, displacement) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_access, filetype) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_access, from) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_access, len) == 32);
OXMPI_ASSERT(offsetof(oxmpi_file_access, memory) == 40);
OXMPI_ASSERT(offsetof(oxmpi_file_access, count) == 48);
OXMPI_ASSERT(offsetof(oxmpi_file_access, memtype) == 56);
OXMPI_ASSERT(sizeof(oxmpi_fcoll_services) == 32);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_services, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_services, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_services, transfer) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_services, settle) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_services, moved) == 24);
OXMPI_ASSERT(sizeof(oxmpi_file_plan) == 48);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, comm) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, layout) == 16);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, access) == 24);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, services) == 32);
OXMPI_ASSERT(offsetof(oxmpi_file_plan, ctx) == 40);
OXMPI_ASSERT(sizeof(oxmpi_fcoll_table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_table, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_table, version) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_table, plan) == 8);
OXMPI_ASSERT(sizeof(oxmpi_fcoll_facts) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_facts, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_facts, num_ranks) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_facts, num_nodes) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_facts, keeps) == 12);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_facts, layout) == 16);
OXMPI_ASSERT(sizeof(oxmpi_fcoll_module) == 40);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, size) == 0);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, reserved) == 4);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, state) == 8);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, table) == 16);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, query) == 24);
OXMPI_ASSERT(offsetof(oxmpi_fcoll_module, finalize) == 32);
OXMPI_ASSERT(sizeof(oxmpi_lock) == 4);
OXMPI_ASSERT(offsetof(oxmpi_lock, word) == 0);
OXMPI_ASSERT(sizeof(oxmpi_file_operation) == 64);
OXMPI_ASSERT(offsetof(oxmpi_file_operation, ended) == 0);
OXMPI_ASSERT(offsetof(oxmpi_file_operation, status) == 4);
OXMPI_ASSERT(offsetof(oxmpi_file_operation, bytes) == 8);
OXMPI_ASSERT(offsetof(oxmpi_file_operation, own) == 16);

/* A string constant as StrRef. */
#define OXMPI_STR(text) { (const uint8_t *)(text), sizeof(text) - 1 }

#ifdef __cplusplus
}
#endif

#endif
