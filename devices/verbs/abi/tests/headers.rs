//! Sizes and offsets declared here are those of the headers of rdma-core, where these are installed.

use core::mem::{offset_of, size_of};
use oxmpi_verbs_abi::mlx5::{Obj, QpFacts};
use oxmpi_verbs_abi::*;
use std::path::Path;
use std::process::Command;

#[test]
fn layouts_are_those_of_the_headers() {
    if !["verbs.h", "mlx5dv.h"].iter().all(|h| Path::new("/usr/include/infiniband").join(h).is_file()) {
        eprintln!("left out: the headers of rdma-core are not installed (package libibverbs-dev)");
        return;
    }
    // In C, and what it must be.
    let sizes: &[(&str, usize)] = &[
        ("sizeof(struct ibv_device)", size_of::<Device>()),
        ("sizeof(struct ibv_context)", size_of::<Context>()),
        ("offsetof(struct ibv_context, ops.poll_cq)", offset_of!(Context, ops) + 8 * op::POLL_CQ),
        ("offsetof(struct ibv_context, ops.req_notify_cq)", offset_of!(Context, ops) + 8 * op::REQ_NOTIFY_CQ),
        ("offsetof(struct ibv_context, ops.post_srq_recv)", offset_of!(Context, ops) + 8 * op::POST_SRQ_RECV),
        ("offsetof(struct ibv_context, ops.post_send)", offset_of!(Context, ops) + 8 * op::POST_SEND),
        ("offsetof(struct ibv_context, ops.post_recv)", offset_of!(Context, ops) + 8 * op::POST_RECV),
        ("FRONT(sz)", ext::SZ),
        ("FRONT(create_srq_ex)", ext::CREATE_SRQ_EX),
        ("FRONT(create_qp_ex)", ext::CREATE_QP_EX),
        ("FRONT(query_device_ex)", ext::QUERY_DEVICE_EX),
        ("FRONT(create_cq_ex)", ext::CREATE_CQ_EX),
        ("FRONT(alloc_td)", ext::ALLOC_TD),
        ("FRONT(dealloc_td)", ext::DEALLOC_TD),
        ("FRONT(alloc_parent_domain)", ext::ALLOC_PARENT_DOMAIN),
        ("FRONT(query_port)", ext::QUERY_PORT),
        ("sizeof(struct ibv_pd)", size_of::<Pd>()),
        ("sizeof(struct ibv_td)", size_of::<Td>()),
        ("sizeof(struct ibv_mr)", size_of::<Mr>()),
        ("offsetof(struct ibv_mr, lkey)", offset_of!(Mr, lkey)),
        ("sizeof(struct ibv_comp_channel)", size_of::<CompChannel>()),
        ("sizeof(struct ibv_cq)", size_of::<Cq>()),
        ("sizeof(struct ibv_cq_ex)", size_of::<CqEx>()),
        ("offsetof(struct ibv_cq_ex, start_poll)", offset_of!(CqEx, start_poll)),
        ("offsetof(struct ibv_cq_ex, read_wc_flags)", offset_of!(CqEx, read_wc_flags)),
        ("sizeof(struct ibv_qp)", size_of::<Qp>()),
        ("offsetof(struct ibv_qp, state)", offset_of!(Qp, state)),
        ("sizeof(struct ibv_srq)", size_of::<Srq>()),
        ("sizeof(struct ibv_ah)", size_of::<Ah>()),
        ("sizeof(struct ibv_device_attr)", size_of::<DeviceAttr>()),
        ("offsetof(struct ibv_device_attr, atomic_cap)", offset_of!(DeviceAttr, atomic_cap)),
        ("offsetof(struct ibv_device_attr, phys_port_cnt)", offset_of!(DeviceAttr, phys_port_cnt)),
        ("offsetof(struct ibv_port_attr, link_layer)", offset_of!(PortAttr, link_layer)),
        ("sizeof(struct ibv_gid_entry)", size_of::<GidEntry>()),
        ("sizeof(struct ibv_parent_domain_init_attr)", size_of::<ParentDomainInitAttr>()),
        ("sizeof(struct ibv_cq_init_attr_ex)", size_of::<CqInitAttrEx>()),
        ("sizeof(struct ibv_qp_init_attr)", size_of::<QpInitAttr>()),
        ("sizeof(struct ibv_qp_init_attr_ex)", size_of::<QpInitAttrEx>()),
        ("offsetof(struct ibv_qp_init_attr_ex, pd)", offset_of!(QpInitAttrEx, pd)),
        ("sizeof(struct ibv_ah_attr)", size_of::<AhAttr>()),
        ("offsetof(struct ibv_ah_attr, is_global)", offset_of!(AhAttr, is_global)),
        ("sizeof(struct ibv_qp_attr)", size_of::<QpAttr>()),
        ("offsetof(struct ibv_qp_attr, min_rnr_timer)", offset_of!(QpAttr, min_rnr_timer)),
        ("sizeof(struct ibv_srq_init_attr)", size_of::<SrqInitAttr>()),
        ("sizeof(struct ibv_sge)", size_of::<Sge>()),
        ("sizeof(struct ibv_recv_wr)", size_of::<RecvWr>()),
        ("sizeof(struct ibv_send_wr)", size_of::<SendWr>()),
        (
            "offsetof(struct ibv_send_wr, wr.atomic.rkey)",
            offset_of!(SendWr, wr) + offset_of!(AtomicTarget, rkey),
        ),
        (
            "offsetof(struct ibv_send_wr, wr.ud.remote_qkey)",
            offset_of!(SendWr, wr) + offset_of!(UdTarget, remote_qkey),
        ),
        ("sizeof(struct ibv_wc)", size_of::<Wc>()),
        ("offsetof(struct ibv_wc, wc_flags)", offset_of!(Wc, wc_flags)),
        ("sizeof(struct ibv_async_event)", size_of::<AsyncEvent>()),
        ("sizeof(struct mlx5dv_obj)", size_of::<Obj>()),
        ("sizeof(struct mlx5dv_qp)", size_of::<QpFacts>()),
        ("offsetof(struct mlx5dv_qp, bf.reg)", offset_of!(QpFacts, bf_reg)),
    ];
    let mut source = String::from(
        "#include <stddef.h>\n#include <infiniband/verbs.h>\n#include <infiniband/mlx5dv.h>\n\
         #define FRONT(f) (offsetof(struct verbs_context, context) - offsetof(struct verbs_context, f))\n",
    );
    for (what, value) in sizes {
        source += &format!("_Static_assert({what} == {value}, \"{what} is not {value}\");\n");
    }
    let dir = std::env::temp_dir().join(format!("oxmpi-verbs-headers-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("layout.c"), source).expect("a file");
    let out = Command::new("cc").args(["-fsyntax-only", "layout.c"]).current_dir(&dir).output();
    let _ = std::fs::remove_dir_all(&dir);
    let out = out.expect("a C compiler");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
