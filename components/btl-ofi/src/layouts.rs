//! The layouts and numbers of `abi.rs` against libfabric's own headers, where this machine has them: a C compiler checks an assertion for each.
//! OXMPI_TEST_LIBFABRIC_TABLE names a file that they are written to, for `cargo xtask libfabric crates`.

use crate::abi::*;
use core::mem::{offset_of, size_of};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Assertions on places of fields: the library's structure and field, and ours.
macro_rules! places {
    ($($theirs:literal . $field:literal = $ours:ident . $mine:ident),* $(,)?) => {
        [$(($theirs, $field, offset_of!($ours, $mine))),*]
    };
}

/// Assertions on numbers: the library's name, and ours.
macro_rules! numbers {
    ($($theirs:literal = $ours:expr),* $(,)?) => { [$(($theirs, $ours as u64)),*] };
}

#[test]
fn layouts_are_those_of_the_headers_here() {
    let places = places! {
        "fid"."ops" = Fid.ops, "fi_ops"."close" = FidOps.close, "fi_ops"."bind" = FidOps.bind,
        "fi_ops"."control" = FidOps.control, "fid_fabric"."ops" = FabricObject.ops,
        "fi_ops_fabric"."domain" = FabricOps.domain, "fi_ops_fabric"."trywait" = FabricOps.trywait,
        "fid_domain"."ops" = DomainObject.ops, "fid_domain"."mr" = DomainObject.mr,
        "fi_ops_domain"."av_open" = DomainOps.av_open, "fi_ops_domain"."cq_open" = DomainOps.cq_open,
        "fi_ops_domain"."endpoint" = DomainOps.endpoint, "fi_ops_domain"."scalable_ep" = DomainOps.scalable_ep,
        "fid_ep"."ops" = EpObject.ops, "fi_ops_ep"."tx_ctx" = EpOps.tx_ctx, "fi_ops_ep"."rx_ctx" = EpOps.rx_ctx, "fi_ops_mr"."reg" = MrOps.reg,
        "fid_av"."ops" = AvObject.ops, "fi_ops_av"."insert" = AvOps.insert, "fi_ops_av"."remove" = AvOps.remove,
        "fid_cq"."ops" = CqObject.ops, "fi_ops_cq"."read" = CqOps.read, "fi_ops_cq"."readerr" = CqOps.readerr,
        "fi_ops_cq"."strerror" = CqOps.strerror, "fid_mr"."mem_desc" = MrObject.desc, "fid_mr"."key" = MrObject.key,
        "fid_ep"."cm" = EpObject.cm, "fid_ep"."msg" = EpObject.msg, "fid_ep"."rma" = EpObject.rma,
        "fid_ep"."atomic" = EpObject.atomic, "fi_ops_cm"."getname" = CmOps.getname,
        "fi_ops_msg"."recv" = MsgOps.recv, "fi_ops_msg"."send" = MsgOps.send, "fi_ops_msg"."inject" = MsgOps.inject,
        "fi_ops_rma"."read" = RmaOps.read, "fi_ops_rma"."writemsg" = RmaOps.writemsg,
        "fi_ops_atomic"."readwritemsg" = AtomicOps.readwritemsg,
        "fi_ops_atomic"."compwritemsg" = AtomicOps.compwritemsg,
        "fi_ops_atomic"."readwritevalid" = AtomicOps.readwritevalid,
        "fi_ops_atomic"."compwritevalid" = AtomicOps.compwritevalid,
        "fi_msg_rma"."rma_iov" = RmaMessage.rma, "fi_msg_rma"."context" = RmaMessage.context,
        "fi_msg_atomic"."datatype" = AtomicMessage.datatype, "fi_msg_atomic"."context" = AtomicMessage.context,
        "fi_rma_iov"."key" = RmaIov.key, "fi_rma_ioc"."key" = RmaIoc.key, "fi_ioc"."count" = Ioc.count,
        "fi_av_attr"."flags" = AvAttr.flags, "fi_cq_attr"."format" = CqAttr.format,
        "fi_cq_attr"."wait_obj" = CqAttr.wait_obj, "fi_cq_attr"."wait_set" = CqAttr.wait_set,
        "fi_cq_msg_entry"."len" = CqEntry.len, "fi_cq_err_entry"."err" = CqErrEntry.err,
        "fi_cq_err_entry"."prov_errno" = CqErrEntry.prov_errno, "fi_cq_err_entry"."err_data" = CqErrEntry.err_data,
        "fi_info"."addr_format" = FiInfo.addr_format, "fi_info"."src_addr" = FiInfo.src_addr,
        "fi_info"."tx_attr" = FiInfo.tx, "fi_info"."rx_attr" = FiInfo.rx, "fi_info"."ep_attr" = FiInfo.ep,
        "fi_info"."domain_attr" = FiInfo.domain, "fi_info"."fabric_attr" = FiInfo.fabric, "fi_info"."nic" = FiInfo.nic,
        "fi_tx_attr"."msg_order" = TxAttr.msg_order, "fi_tx_attr"."inject_size" = TxAttr.inject_size,
        "fi_tx_attr"."size" = TxAttr.size, "fi_rx_attr"."msg_order" = RxAttr.msg_order, "fi_rx_attr"."size" = RxAttr.size,
        "fi_ep_attr"."max_msg_size" = EpAttr.max_msg_size,
        "fi_ep_attr"."tx_ctx_cnt" = EpAttr.tx_ctx_cnt, "fi_ep_attr"."rx_ctx_cnt" = EpAttr.rx_ctx_cnt,
        "fi_domain_attr"."max_ep_tx_ctx" = DomainAttr.max_ep_tx_ctx, "fi_domain_attr"."max_ep_rx_ctx" = DomainAttr.max_ep_rx_ctx,
        "fi_domain_attr"."name" = DomainAttr.name,
        "fi_domain_attr"."threading" = DomainAttr.threading,
        "fi_domain_attr"."control_progress" = DomainAttr.control_progress,
        "fi_domain_attr"."data_progress" = DomainAttr.data_progress,
        "fi_domain_attr"."resource_mgmt" = DomainAttr.resource_mgmt, "fi_domain_attr"."av_type" = DomainAttr.av_type,
        "fi_domain_attr"."mr_mode" = DomainAttr.mr_mode, "fi_domain_attr"."mr_key_size" = DomainAttr.mr_key_size,
        "fi_fabric_attr"."prov_name" = FabricAttr.prov_name, "fid_nic"."link_attr" = Nic.link,
        "fi_link_attr"."speed" = LinkAttr.speed,
    };
    let numbers = numbers! {
        "FI_MSG" = MSG, "FI_RMA" = RMA, "FI_ATOMIC" = ATOMIC, "FI_READ" = READ, "FI_WRITE" = WRITE,
        "FI_RECV" = RECV, "FI_SEND" = SEND, "FI_REMOTE_READ" = REMOTE_READ, "FI_REMOTE_WRITE" = REMOTE_WRITE,
        "FI_DELIVERY_COMPLETE" = DELIVERY_COMPLETE, "FI_NAMED_RX_CTX" = NAMED_RX_CTX, "FI_CONTEXT" = CONTEXT, "FI_CONTEXT2" = CONTEXT2,
        "sizeof(struct fi_context2)" = CONTEXT_BYTES, "FI_ORDER_SAS" = ORDER_SAS, "FI_EP_RDM" = EP_RDM,
        "FI_MR_LOCAL" = MR_LOCAL, "FI_MR_VIRT_ADDR" = MR_VIRT_ADDR, "FI_MR_ALLOCATED" = MR_ALLOCATED,
        "FI_MR_PROV_KEY" = MR_PROV_KEY, "FI_MR_ENDPOINT" = MR_ENDPOINT, "FI_PROGRESS_AUTO" = PROGRESS_AUTO, "FI_THREAD_SAFE" = THREAD_SAFE, "FI_RM_ENABLED" = RM_ENABLED,
        "FI_AV_MAP" = AV_MAP, "FI_AV_TABLE" = AV_TABLE, "FI_CQ_FORMAT_MSG" = CQ_FORMAT_MSG, "FI_WAIT_NONE" = WAIT_NONE,
        "FI_WAIT_FD" = WAIT_FD, "FI_GETWAIT" = GETWAIT, "FI_ENABLE" = ENABLE, "FI_ADDR_UNSPEC" = ADDR_UNSPEC,
        "FI_SOCKADDR_IN" = SOCKADDR_IN, "FI_SOCKADDR_IN6" = SOCKADDR_IN6, "FI_EAGAIN" = err::AGAIN,
        "FI_ENOMEM" = err::NOMEM, "FI_EACCES" = err::ACCES, "FI_EINVAL" = err::INVAL, "FI_ENOSYS" = err::NOSYS,
        "FI_ENODATA" = err::NODATA, "FI_EOPNOTSUPP" = err::OPNOTSUPP, "FI_ECANCELED" = err::CANCELED,
        "FI_EAVAIL" = err::AVAIL, "FI_ETRUNC" = err::TRUNC, "FI_ENOTCONN" = err::NOTCONN, "FI_ENOKEY" = err::NOKEY, "FI_INT32" = atomic::INT32,
        "FI_UINT32" = atomic::UINT32, "FI_INT64" = atomic::INT64, "FI_UINT64" = atomic::UINT64,
        "FI_FLOAT" = atomic::FLOAT, "FI_DOUBLE" = atomic::DOUBLE, "FI_MIN" = atomic::MIN, "FI_MAX" = atomic::MAX,
        "FI_SUM" = atomic::SUM, "FI_BOR" = atomic::BOR, "FI_BAND" = atomic::BAND, "FI_BXOR" = atomic::BXOR,
        "FI_ATOMIC_WRITE" = atomic::WRITE, "FI_CSWAP" = atomic::CSWAP,
    };
    if let Some(path) = std::env::var_os("OXMPI_TEST_LIBFABRIC_TABLE") {
        let places = places.iter().map(|(theirs, field, at)| format!("place {theirs} {field} {at}\n"));
        let numbers = numbers.iter().map(|(theirs, ours)| format!("number {theirs} {ours}\n"));
        std::fs::write(path, places.chain(numbers).collect::<String>()).expect("the table is written");
    }
    let headers = ["fabric", "fi_domain", "fi_endpoint", "fi_cm", "fi_rma", "fi_atomic", "fi_eq", "fi_errno"];
    let mut source: String = headers.iter().map(|h| format!("#include <rdma/{h}.h>\n")).collect();
    source.push_str("#include <stddef.h>\n");
    for (theirs, field, at) in places {
        source +=
            &format!("_Static_assert(offsetof(struct {theirs}, {field}) == {at}, \"{theirs}.{field}\");\n");
    }
    for (theirs, ours) in numbers {
        source += &format!("_Static_assert((unsigned long long)({theirs}) == {ours}ULL, \"{theirs}\");\n");
    }
    // Structures that the driver makes are as long as the library reads.
    let ours = [("fi_cq_attr", size_of::<CqAttr>()), ("fi_cq_err_entry", size_of::<CqErrEntry>())];
    for (theirs, size) in ours.into_iter().chain([("fi_av_attr", size_of::<AvAttr>())]) {
        source += &format!("_Static_assert(sizeof(struct {theirs}) <= {size}, \"{theirs}\");\n");
    }
    check(&source);
}

fn check(source: &str) {
    // Headers of another version, for those who have them beside the system's.
    let folder = std::env::var("OXMPI_TEST_LIBFABRIC_HEADERS").unwrap_or_else(|_| "/usr/include".into());
    if !Path::new(&folder).join("rdma/fi_cm.h").is_file() {
        println!("layouts left out: no headers of libfabric in {folder}");
        return;
    }
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-fsyntax-only", "-w", "-x", "c", "-I", &folder, "-"]).stdin(Stdio::piped());
    let mut running = match compiler.stderr(Stdio::piped()).spawn() {
        Ok(running) => running,
        Err(why) => return println!("layouts left out: no C compiler ({why})"),
    };
    let mut input = running.stdin.take().expect("a pipe");
    input.write_all(source.as_bytes()).expect("the compiler reads");
    drop(input);
    let done = running.wait_with_output().expect("the compiler ends");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}
