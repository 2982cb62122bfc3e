//! The table of the interface's places, sizes and numbers: the name that libibverbs has for each, and what is declared for it here.

use core::mem::{offset_of, size_of};
use oxmpi_verbs_abi::numbers::*;
use oxmpi_verbs_abi::*;

/// Fields that have one name there and here: the structure's name there, the type here, the fields.
macro_rules! places {
    ($($theirs:ident = $ours:ident { $($field:ident),* $(,)? }),* $(,)?) => {
        vec![$($((stringify!($theirs), stringify!($field), offset_of!($ours, $field))),*),*]
    };
}

/// Sizes of whole structures.
macro_rules! sizes {
    ($($theirs:ident = $ours:ident),* $(,)?) => { vec![$((stringify!($theirs), size_of::<$ours>())),*] };
}

/// Numbers by the beginning of their names there, the module here, and the rest of their names.
macro_rules! numbers {
    ($($begin:literal = $module:ident { $($name:ident),* $(,)? }),* $(,)?) => {
        vec![$($((concat!($begin, stringify!($name)), u64::from($module::$name))),*),*]
    };
}

/// Structure, field and the bytes in front of it.
pub fn places() -> Vec<(&'static str, &'static str, usize)> {
    places! {
        ibv_device = Device { node_type, transport_type, name, dev_name, dev_path, ibdev_path },
        ibv_context = Context { device, ops, cmd_fd, async_fd, num_comp_vectors, mutex, abi_compat },
        ibv_pd = Pd { context, handle },
        ibv_td = Td { context },
        ibv_mr = Mr { context, pd, addr, length, handle, lkey, rkey },
        ibv_comp_channel = CompChannel { context, fd, refcnt },
        ibv_cq = Cq { context, channel, cq_context, handle, cqe, mutex, cond, comp_events_completed, async_events_completed },
        ibv_cq_ex = CqEx {
            comp_mask, status, wr_id, start_poll, next_poll, end_poll, read_opcode, read_vendor_err, read_byte_len,
            read_imm_data, read_qp_num, read_src_qp, read_wc_flags,
        },
        ibv_qp = Qp {
            context, qp_context, pd, send_cq, recv_cq, srq, handle, qp_num, state, qp_type, mutex, cond, events_completed,
        },
        ibv_srq = Srq { context, srq_context, pd, handle, mutex, cond, events_completed },
        ibv_ah = Ah { context, pd, handle },
        ibv_device_attr = DeviceAttr {
            fw_ver, node_guid, sys_image_guid, max_mr_size, page_size_cap, vendor_id, vendor_part_id, hw_ver, max_qp, max_qp_wr,
            device_cap_flags, max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd, max_qp_rd_atom, max_ee_rd_atom,
            max_res_rd_atom, max_qp_init_rd_atom, max_ee_init_rd_atom, atomic_cap, max_ee, max_rdd, max_mw, max_raw_ipv6_qp,
            max_raw_ethy_qp, max_mcast_grp, max_mcast_qp_attach, max_total_mcast_qp_attach, max_ah, max_fmr, max_map_per_fmr,
            max_srq, max_srq_wr, max_srq_sge, max_pkeys, local_ca_ack_delay, phys_port_cnt,
        },
        ibv_port_attr = PortAttr {
            state, max_mtu, active_mtu, gid_tbl_len, port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr, pkey_tbl_len,
            lid, sm_lid, lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state,
            link_layer, flags, port_cap_flags2,
        },
        ibv_gid_entry = GidEntry { gid, gid_index, port_num, gid_type, ndev_ifindex },
        ibv_td_init_attr = TdInitAttr { comp_mask },
        ibv_parent_domain_init_attr = ParentDomainInitAttr { pd, td, comp_mask, alloc, free, pd_context },
        ibv_cq_init_attr_ex = CqInitAttrEx {
            cqe, cq_context, channel, comp_vector, wc_flags, comp_mask, flags, parent_domain,
        },
        ibv_qp_cap = QpCap { max_send_wr, max_recv_wr, max_send_sge, max_recv_sge, max_inline_data },
        ibv_qp_init_attr = QpInitAttr { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all },
        ibv_qp_init_attr_ex = QpInitAttrEx { qp_context, send_cq, recv_cq, srq, cap, qp_type, sq_sig_all, comp_mask, pd },
        ibv_global_route = GlobalRoute { dgid, flow_label, sgid_index, hop_limit, traffic_class },
        ibv_ah_attr = AhAttr { grh, dlid, sl, src_path_bits, static_rate, is_global, port_num },
        ibv_qp_attr = QpAttr {
            qp_state, cur_qp_state, path_mtu, path_mig_state, qkey, rq_psn, sq_psn, dest_qp_num, qp_access_flags, cap, ah_attr,
            alt_ah_attr, pkey_index, alt_pkey_index, en_sqd_async_notify, sq_draining, max_rd_atomic, max_dest_rd_atomic,
            min_rnr_timer, port_num, timeout, retry_cnt, rnr_retry, alt_port_num, alt_timeout, rate_limit,
        },
        ibv_srq_attr = SrqAttr { max_wr, max_sge, srq_limit },
        ibv_srq_init_attr = SrqInitAttr { srq_context, attr },
        ibv_sge = Sge { addr, length, lkey },
        ibv_recv_wr = RecvWr { wr_id, next, sg_list, num_sge },
        ibv_send_wr = SendWr { wr_id, next, sg_list, num_sge, opcode, send_flags, imm_data, wr },
        ibv_wc = Wc {
            wr_id, status, opcode, vendor_err, byte_len, imm_data, qp_num, src_qp, wc_flags, pkey_index, slid, sl,
            dlid_path_bits,
        },
        ibv_async_event = AsyncEvent { element, event_type },
    }
}

/// Structures that have the same size in every version so far, or that a caller makes.
pub fn sizes() -> Vec<(&'static str, usize)> {
    sizes! {
        ibv_device = Device, ibv_context = Context, ibv_pd = Pd, ibv_td = Td, ibv_mr = Mr, ibv_comp_channel = CompChannel,
        ibv_cq = Cq, ibv_cq_ex = CqEx, ibv_qp = Qp, ibv_srq = Srq, ibv_ah = Ah, ibv_device_attr = DeviceAttr,
        ibv_gid_entry = GidEntry, ibv_parent_domain_init_attr = ParentDomainInitAttr, ibv_cq_init_attr_ex = CqInitAttrEx,
        ibv_qp_cap = QpCap, ibv_qp_init_attr = QpInitAttr, ibv_qp_init_attr_ex = QpInitAttrEx, ibv_global_route = GlobalRoute,
        ibv_ah_attr = AhAttr, ibv_qp_attr = QpAttr, ibv_srq_attr = SrqAttr, ibv_srq_init_attr = SrqInitAttr, ibv_sge = Sge,
        ibv_recv_wr = RecvWr, ibv_send_wr = SendWr, ibv_wc = Wc, ibv_async_event = AsyncEvent,
    }
}

/// Enumerators and bits.
pub fn numbers() -> Vec<(&'static str, u64)> {
    numbers! {
        "IBV_WC_" = wc_status {
            SUCCESS, LOC_LEN_ERR, LOC_QP_OP_ERR, LOC_PROT_ERR, WR_FLUSH_ERR, REM_INV_REQ_ERR, REM_ACCESS_ERR, REM_OP_ERR,
            RETRY_EXC_ERR, RNR_RETRY_EXC_ERR, FATAL_ERR, GENERAL_ERR,
        },
        "IBV_WC_" = wc_opcode { SEND, RDMA_WRITE, RDMA_READ, COMP_SWAP, FETCH_ADD, RECV, RECV_RDMA_WITH_IMM },
        "IBV_WC_" = wc_flags { GRH, WITH_IMM },
        "IBV_ACCESS_" = access { LOCAL_WRITE, REMOTE_WRITE, REMOTE_READ, REMOTE_ATOMIC },
        "IBV_QPT_" = qp_type { RC, UC, UD },
        "IBV_QPS_" = qp_state { RESET, INIT, RTR, RTS, SQD, SQE, ERR },
        "IBV_QP_" = qp_mask {
            STATE, CUR_STATE, ACCESS_FLAGS, PKEY_INDEX, PORT, QKEY, AV, PATH_MTU, TIMEOUT, RETRY_CNT, RNR_RETRY, RQ_PSN,
            MAX_QP_RD_ATOMIC, MIN_RNR_TIMER, SQ_PSN, MAX_DEST_RD_ATOMIC, CAP, DEST_QPN,
        },
        "IBV_WR_" = wr_opcode {
            RDMA_WRITE, RDMA_WRITE_WITH_IMM, SEND, SEND_WITH_IMM, RDMA_READ, ATOMIC_CMP_AND_SWP, ATOMIC_FETCH_AND_ADD,
        },
        "IBV_SEND_" = send_flags { FENCE, SIGNALED, SOLICITED, INLINE },
        "IBV_EVENT_" = event {
            CQ_ERR, QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR, COMM_EST, DEVICE_FATAL, PORT_ACTIVE, PORT_ERR, SRQ_LIMIT_REACHED,
            QP_LAST_WQE_REACHED,
        },
        "IBV_PORT_" = port_state { DOWN, ACTIVE },
        "IBV_LINK_LAYER_" = link_layer { INFINIBAND, ETHERNET },
        "IBV_ATOMIC_" = atomic_cap { NONE, HCA, GLOB },
        "IBV_GID_TYPE_" = gid_type { IB, ROCE_V1, ROCE_V2 },
        "IBV_CREATE_CQ_ATTR_" = cq_flags { SINGLE_THREADED },
        "IBV_QP_INIT_ATTR_" = qp_init_mask { PD, CREATE_FLAGS, SEND_OPS_FLAGS },
        "IBV_DEVICE_" = device_cap { RC_RNR_NAK_GEN, SRQ_RESIZE },
    }
    .into_iter()
    .chain([
        ("IBV_ACCESS_OPTIONAL_RANGE", u64::from(access::OPTIONAL)),
        ("IBV_CQ_INIT_ATTR_MASK_FLAGS", u64::from(cq_flags::MASK_FLAGS)),
        ("IBV_NODE_CA", u64::from(NODE_CA)),
        ("IBV_TRANSPORT_IB", u64::from(TRANSPORT_IB)),
    ])
    .collect()
}
