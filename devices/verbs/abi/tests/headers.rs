//! Sizes, offsets and numbers declared here are those of the headers of rdma-core, where these are installed.
//!
//! OXMPI_TEST_VERBS_TABLE names a file that those of `table/` are written to, for `cargo xtask bindings`, which compares them with the crate `ibverbs`.

mod table;

use core::mem::{offset_of, size_of};
use oxmpi_verbs_abi::mlx5::{Obj, QpFacts};
use oxmpi_verbs_abi::*;
use std::path::Path;
use std::process::Command;

#[test]
fn the_table_is_written_where_a_file_is_named() {
    let Some(path) = std::env::var_os("OXMPI_TEST_VERBS_TABLE") else { return };
    let places = table::places().into_iter().map(|(of, field, at)| format!("place {of} {field} {at}\n"));
    let sizes = table::sizes().into_iter().map(|(of, size)| format!("number sizeof(struct {of}) {size}\n"));
    let numbers = table::numbers().into_iter().map(|(name, ours)| format!("number {name} {ours}\n"));
    let text: String = places.chain(sizes).chain(numbers).collect();
    std::fs::write(path, text).expect("the table is written");
}

#[test]
fn layouts_are_those_of_the_headers() {
    if !["verbs.h", "mlx5dv.h"].iter().all(|h| Path::new("/usr/include/infiniband").join(h).is_file()) {
        eprintln!("left out: the headers of rdma-core are not installed (package libibverbs-dev)");
        return;
    }
    // In C, and what it must be.
    let sizes: &[(&str, usize)] = &[
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
        (
            "offsetof(struct ibv_send_wr, wr.atomic.rkey)",
            offset_of!(SendWr, wr) + offset_of!(AtomicTarget, rkey),
        ),
        (
            "offsetof(struct ibv_send_wr, wr.ud.remote_qkey)",
            offset_of!(SendWr, wr) + offset_of!(UdTarget, remote_qkey),
        ),
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
    for (of, field, at) in table::places() {
        source += &format!("_Static_assert(offsetof(struct {of}, {field}) == {at}, \"{of}.{field}\");\n");
    }
    for (of, size) in table::sizes() {
        source += &format!("_Static_assert(sizeof(struct {of}) == {size}, \"{of}\");\n");
    }
    for (name, ours) in table::numbers() {
        source += &format!("_Static_assert((unsigned)({name}) == {ours}u, \"{name}\");\n");
    }
    let dir = std::env::temp_dir().join(format!("oxmpi-verbs-headers-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("a folder");
    std::fs::write(dir.join("layout.c"), source).expect("a file");
    let out = Command::new("cc").args(["-fsyntax-only", "layout.c"]).current_dir(&dir).output();
    let _ = std::fs::remove_dir_all(&dir);
    let out = out.expect("a C compiler");
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
}
