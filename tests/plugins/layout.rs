//! Sizes and offsets of everything that crosses the boundary, as this compiler has them. The field lists
//! are compared with the source (`header.rs`), so none can be forgotten.

use core::mem::{offset_of, size_of};
use oxmpi_btl::*;
use oxmpi_coll::*;
use oxmpi_datatype::kernel::OpDesc;
use oxmpi_datatype::{Nest, Run, TypeDesc};
use oxmpi_fbtl::{
    Bell as FileBell, FbtlModule, FbtlTable, FileFacts, Operation as FileOperation, Piece as FilePiece,
    Transfer as FileTransfer,
};
use oxmpi_fcoll::{
    Access as FileAccess, FcollFacts, FcollModule, FcollServices, FcollTable, Layout as FileLayout,
    PlanArgs as FilePlan,
};
use oxmpi_fs::{FsFile, FsModule, FsTable, OpenFile, PathFacts, Range as FileRange};
use oxmpi_mca::abi::*;
use oxmpi_mca::biased::*;
use oxmpi_mca::host::*;
use oxmpi_mca::services::*;
use oxmpi_mca::*;
use oxmpi_osc::{Mapped, OscModule, OscTable, OscWindow, RmaArgs, WinComm, WinCounts, WinDesc, WinServices};
use oxmpi_pml::{
    CommDesc, ContextWords, Counts, PmlModule, PmlTable, Polled, Polling, RecvArgs, SendArgs, Transports,
    Words,
};

pub struct Layout {
    pub name: &'static str,
    pub size: usize,
    pub fields: Vec<(&'static str, usize)>,
}

macro_rules! layouts {
    ($($name:ident { $($field:ident)* })*) => {
        vec![$(Layout {
            name: stringify!($name),
            size: size_of::<$name>(),
            fields: vec![$((stringify!($field), offset_of!($name, $field))),*],
        }),*]
    };
}

pub fn all() -> Vec<Layout> {
    // Its one field is nobody's business outside of the contract crate.
    let lock = Layout { name: "Lock", size: size_of::<Lock>(), fields: vec![("word", 0)] };
    let mut all = layouts! {
        StrRef { ptr len }
        Version { major minor patch }
        ParamDecl { name kind level scope flags default help min max enumerators synonyms }
        ParamValue { kind reserved int double text }
        Seat { inside entered }
        ThreadCtx { cri index counters host_private pml_private osc_private seat attended }
        LockServices { enter keep }
        Bias { owner services last run limit kept_at }
        Cri {
            lock lock_misses active last_thread progress_calls completions shared_writes asleep holder shared reserved
            bias
        }
        LockTable { protocol cri_stride services enter try_enter leave activate }
        JobInfo {
            size rank job_size node local_rank local_size job_id segment_fd oversubscribed cores keeper_pid
        }
        RecvDesc { data len proc ctx module link }
        AmEntry { receive ctx }
        PartDesc { message from to }
        LayerFunction { size every function context work arm disarm }
        HostTable {
            size abi_minor instance job threaded cris num_cris cri_modes am_table log help fatal am_register
            progress_register progress_unregister progress sync_update request_slot wait exchange_put exchange_get
            peer_error am_parts am_register_parts services locking expect
        }
        OpenArgs { size reserved host values flags }
        ResolveArgs { size num_cris job values ctx in_force refuse }
        Opened { size priority modules count stride }
        Descriptor {
            magic abi_major abi_minor size target framework framework_version name version aliases params help open
            lock_protocol cri_stride resolve table_version reserved
        }
        BtlAttrs {
            size contexts eager_limit rndv_eager_limit max_send_size min_get_size get_limit
            get_alignment put_limit put_alignment latency bandwidth exclusivity
            registration_handle_size flags amo_ops amo_operands service_limit device min_put_size
            registration_limit list_limit
        }
        SendDesc { tag hdr_len hdr payload len pack pack_ctx }
        RmaDesc { local remote len local_handle remote_handle done done_ctx }
        FlushDesc { done done_ctx }
        Piece { addr len }
        RmaVectorDesc { local remote len }
        AtomicDesc { result local_handle remote remote_handle op flags operand compare done done_ctx }
        ListEntry { remote remote_handle len data result result_handle op flags compare }
        ListDesc { entries done done_ctx }
        ProcInfo { proc node local_rank local job segment }
        ProcList { first len stride }
        BtlTable {
            size version add_procs del_procs finalize send progress get put flush atomic
            register_mem deregister_mem arm disarm get_vector hold held service_open service_request
            service_progress service_reply service_pending service_arm service_disarm list partner
            place_by send_kept
        }
        BtlModule { size reserved state table attrs }
        BtlHandle {
            size caps state send progress get put flush atomic register_mem deregister_mem arm
            disarm get_vector hold held service_open service_request service_progress service_reply
            service_pending service_arm service_disarm add_procs del_procs finalize attrs name
            emulated index list partner place_by send_kept
        }
        KeptDesc { message done done_ctx }
        PlaceDesc { message there header place }
        PlaceBy { size tag place_of placed ctx claim }
        WaitWord { addr expected reserved }
        WaitFd { fd events }
        WaitSet { words num_words max_words fds num_fds max_fds }
        Reach { btl endpoint width reserved }
        Registration { handle handle_size base len }
        AskDesc { data len answer answer_len }
        BtlServices { size reserved instance reach register deregister acquire release listen }
        ProcName { bytes }
        ProcPlace { node local_rank local distance }
        NodeMemory { base bytes first reserved }
        SharedSegment { fd local_rank local_size reserved bytes }
        WakingWord { value sleepers }
        HostServices {
            size reserved name_of index_of place_of exchange_put exchange_try auth_make auth_check
            node_memory peer_read peer_write peer_pointer wait_until wait_word on_peer_failure
            off_peer_failure peer_failed osc_tags node_memory_free wake_word segment
        }
        MsgStatus { source tag error cancelled bytes }
        RequestOps { size reserved release cancel start }
        RequestHeader { completion status ops owner comm slot generation kind flags }
        Run { disp len count stride }
        Nest { end first items }
        TypeDesc { size flags packed lb extent true_lb true_extent base refs elements runs free nest top places }
        OpDesc { size code commutative reserved user ctx }
        CommDesc {
            size flags gid my_rank num_peers procs endpoints my_endpoint has_fixed_index fixed_index
            matching fifo_hint reserved
        }
        Polled { btl active contexts }
        Polling { size careful lone transports }
        ContextWords { work unmatched }
        Words { size reserved always contexts }
        Transports { size reserved btls services polling }
        SendArgs { comm thread buf count dtype dst tag mode reserved host_comm }
        RecvArgs { comm thread buf count dtype src tag host_comm }
        Counts {
            size reserved unexpected waiting most_waiting posted out_of_sequence out_of_sequence_now
            most_out_of_sequence spreads posted_now match_time
        }
        PmlTable {
            size version enable add_comm del_comm send isend recv irecv send_init recv_init probe
            imrecv after_turn threads_begin flush peer_failed finalize counts
            set_flags measure revoke send_failure peer_parted
        }
        PmlModule { size max_tag state table }
        CollComm {
            size num_ranks rank oversubscribed comm thread services num_remote planning local
            num_nodes node
        }
        CollServices {
            size reserved send recv isend irecv wait_all memory pack unpack copy reduce step place
            node_memory peer_read peer_write peer_pointer wait_word wake_word sub_comm sub_view call
            send_failure extend call_lost took
        }
        CollArgs {
            sendbuf sendcount sendtype recvbuf recvcount recvtype op root reserved sendcounts
            sdispls sendtypes recvcounts rdispls recvtypes neighbors
        }
        Neighbors { size flags num_sources num_destinations sources destinations }
        CollTable {
            size version barrier bcast reduce allreduce allgather gather scatter alltoall gatherv
            scatterv allgatherv alltoallv alltoallw scan exscan reduce_scatter reduce_scatter_block
            neighbor_allgather neighbor_allgatherv neighbor_alltoall neighbor_alltoallv
            neighbor_alltoallw
        }
        CollOffer { priority reserved module table plans }
        CollModule { size flags state comm_query comm_free finalize comm_prepare algorithms }
        WinDesc { size flavor comm base bytes disp_unit hints ordering granularity host_win num_notify reserved }
        WinComm { size num_ranks rank num_nodes comm services btl }
        Place { proc node node_rank node_size endpoint local }
        Mapped { base bytes disp_unit }
        WinServices {
            size reserved place reach mapped isend irecv wait test cancel wait_until progress
            barrier allgather alltoall agree byte_type wait_contexts
        }
        RmaArgs {
            thread origin origin_count origin_type result result_count result_type compare target
            reserved disp target_count target_type op
        }
        OscTable {
            size version put get accumulate get_accumulate fetch_and_op compare_and_swap fence post
            start complete wait lock unlock lock_all unlock_all flush sync attach detach set_hints
            free put_notify get_notify notify_read notify_wait dup counts flush_begin
        }
        WinCounts {
            size reserved exclusive_attempts shared_attempts lock_retries accumulate_locks
            accumulate_retries put_locks ranks_mapped ranks_by_transport ranks_by_requests
            ranks_by_messages
        }
        OscWindow { window table }
        OscModule { size reserved state query create threads_begin finalize }
        PathFacts { size named path magic fs_type source options }
        OpenFile {
            size mode path permissions striping_factor striping_unit first_device direct_read direct_write
            reserved facts
        }
        FsFile {
            size fd file keeps striping_factor striping_unit block first_device direct_fd direct_unit
            direct_for reserved because
        }
        FileRange { offset len }
        FsTable { size version open close delete length resize preallocate sync lock unlock refresh }
        FsModule { size reserved state table query finalize }
        FileBell { word wake ctx }
        FileFacts { size fd direct_fd direct_for direct_unit keeps mode magic bell }
        FilePiece { offset memory len }
        FileTransfer { size what flags reserved pieces num_pieces sieve_bytes }
        FbtlTable { size version open close submit cancel harvest event_fd }
        FbtlModule { size reserved state table query finalize }
        FileLayout { size num_aggregators aggregators unit buffer read write keeps reserved }
        FileAccess { size what displacement filetype from len memory count memtype }
        FcollServices { size reserved transfer settle moved }
        FilePlan { size reserved comm layout access services ctx }
        FcollTable { size version plan }
        FcollFacts { size num_ranks num_nodes keeps layout }
        FcollModule { size reserved state table query finalize }
    };
    all.push(lock);
    // The result is read behind its end alone; offsets are those of numbers of 4, 4 and 8 bytes.
    let fields = vec![("ended", 0), ("status", 4), ("bytes", 8), ("own", offset_of!(FileOperation, own))];
    all.push(Layout { name: "FileOperation", size: size_of::<FileOperation>(), fields });
    all
}
