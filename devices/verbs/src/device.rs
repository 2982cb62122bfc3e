//! Devices: their list, what they can, opening and closing.

use crate::channel::Events;
use crate::config::Config;
use crate::context::FakeContext;
use crate::counters::{self, Counter};
use crate::nic::nic;
use crate::objects::ContextCore;
use crate::requests::{EINVAL, locked};
use crate::uar::{Uars, Wish};
use crate::{domains, pairs, queues};
use core::ffi::{c_char, c_int, c_void};
use oxmpi_verbs_abi::numbers::{NODE_CA, TRANSPORT_IB, device_cap, gid_type, link_layer, port_state};
use oxmpi_verbs_abi::{AsyncEvent, Context, Device, DeviceAttr, Gid, GidEntry, PortAttr, ext, op};
use std::os::fd::AsRawFd;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

const GUID: u64 = 0x0260_63ff_fe00_0001;
const PARTITION: u16 = 0xffff;
const GIDS: u32 = 2;

fn set(text: &mut [c_char], value: &str) {
    for (to, from) in text.iter_mut().zip(value.bytes()) {
        *to = from as c_char;
    }
}

/// The devices of this process live as long as it does, so a list that was freed leaves them usable.
fn devices(count: u32) -> Vec<*mut Device> {
    static ALL: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    let mut all = locked(&ALL);
    while all.len() < count as usize {
        let number = all.len();
        let mut device = Device {
            ops: [0; 2],
            node_type: NODE_CA,
            transport_type: TRANSPORT_IB,
            name: [0; 64],
            dev_name: [0; 64],
            dev_path: [0; 256],
            ibdev_path: [0; 256],
        };
        set(&mut device.name, &format!("fake{number}"));
        set(&mut device.dev_name, &format!("uverbs{number}"));
        all.push(Box::into_raw(Box::new(device)) as usize);
    }
    all[..count as usize].iter().map(|d| *d as *mut Device).collect()
}

/// # Safety
/// `count` may be null, or a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_get_device_list(count: *mut c_int) -> *mut *mut Device {
    let config = match Config::of_environment() {
        Ok(config) => config,
        Err(why) => {
            eprintln!("fake verbs: {}: {why}", Config::VARIABLE);
            return core::ptr::null_mut();
        }
    };
    let mut list = devices(config.devices);
    if !count.is_null() {
        // SAFETY: the caller's place.
        unsafe { *count = list.len() as c_int };
    }
    list.push(core::ptr::null_mut());
    // Freed by its length, which the null at its end tells.
    Box::into_raw(list.into_boxed_slice()).cast()
}

/// # Safety
/// Frees the list of [`ibv_get_device_list`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_free_device_list(list: *mut *mut Device) {
    // SAFETY: made as a boxed slice that ends with a null.
    unsafe {
        let mut len = 0;
        while !(*list.add(len)).is_null() {
            len += 1;
        }
        drop(Box::from_raw(core::ptr::slice_from_raw_parts_mut(list, len + 1)));
    }
}

/// # Safety
/// A device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_get_device_name(device: *mut Device) -> *const c_char {
    // SAFETY: devices live for ever.
    unsafe { (&raw const (*device).name).cast() }
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_get_device_guid(_: *mut Device) -> u64 {
    GUID.to_be()
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_get_device_index(device: *mut Device) -> c_int {
    number_of(device).map_or(-1, |n| n as c_int)
}

fn number_of(device: *mut Device) -> Option<usize> {
    devices(counters::DEVICES as u32).iter().position(|d| *d == device)
}

/// # Safety
/// A device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_open_device(device: *mut Device) -> *mut Context {
    let opened = || -> Result<*mut Context, String> {
        let nic = nic()?;
        let wish =
            Wish::of_environment().ok_or("MLX5_TOTAL_UUARS or MLX5_NUM_LOW_LAT_UUARS is not possible")?;
        let events = Events::new().map_err(|e| e.to_string())?;
        let core = Arc::new(ContextCore {
            uars: Mutex::new(Uars::open(nic.config.uar, wish, nic.config.lenient)),
            no_blue_flame: std::env::var("MLX5_SHUT_UP_BF").is_ok_and(|v| v == "1"),
            events,
            nic: nic.clone(),
            device: number_of(device).ok_or("no such device")?,
        });
        locked(&nic.contexts).retain(|c| c.strong_count() > 0);
        locked(&nic.contexts).push(Arc::downgrade(&core));
        counters::add(Counter::Contexts, 1);
        counters::add(Counter::Bytes, counters::bytes::CONTEXT);
        let mut ops = [0; 32];
        ops[op::POLL_CQ] = queues::poll_cq as *const () as usize;
        ops[op::REQ_NOTIFY_CQ] = queues::req_notify_cq as *const () as usize;
        ops[op::POST_SRQ_RECV] = pairs::post_srq_recv as *const () as usize;
        ops[op::POST_SEND] = pairs::post_send as *const () as usize;
        ops[op::POST_RECV] = pairs::post_recv as *const () as usize;
        let mut table = [0; ext::BYTES / 8];
        let mut offer = |distance, f: usize| table[FakeContext::slot(distance)] = f;
        offer(ext::SZ, ext::BYTES + size_of::<Context>());
        offer(ext::QUERY_PORT, query_port as *const () as usize);
        offer(ext::CREATE_CQ_EX, queues::create_cq_ex as *const () as usize);
        offer(ext::CREATE_QP_EX, pairs::create_qp_ex as *const () as usize);
        if nic.config.domains {
            offer(ext::ALLOC_TD, domains::alloc_td as *const () as usize);
            offer(ext::DEALLOC_TD, domains::dealloc_td as *const () as usize);
            offer(ext::ALLOC_PARENT_DOMAIN, domains::alloc_parent_domain as *const () as usize);
        }
        let fd = core.events.read.as_raw_fd();
        let raw = Context {
            device,
            ops,
            cmd_fd: fd,
            async_fd: fd,
            num_comp_vectors: 1,
            mutex: [0; 5],
            abi_compat: usize::MAX,
        };
        let made = Box::into_raw(Box::new(FakeContext { ext: table, raw, core }));
        // SAFETY: just made.
        Ok(unsafe { &raw mut (*made).raw })
    };
    opened().unwrap_or_else(|why| {
        eprintln!("fake verbs: {why}");
        core::ptr::null_mut()
    })
}

/// # Safety
/// An open context, whose objects are gone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_close_device(context: *mut Context) -> c_int {
    // SAFETY: made by `ibv_open_device`.
    drop(unsafe { Box::from_raw(context.byte_sub(ext::BYTES).cast::<FakeContext>()) });
    counters::sub(Counter::Contexts, 1);
    counters::sub(Counter::Bytes, counters::bytes::CONTEXT);
    0
}

/// # Safety
/// A context and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_device(context: *mut Context, out: *mut DeviceAttr) -> c_int {
    // SAFETY: the caller's context; any bits are attributes.
    let (config, mut a) =
        unsafe { (&FakeContext::of(context).core.nic.config, core::mem::zeroed::<DeviceAttr>()) };
    a.fw_ver[..8].copy_from_slice(b"fake.1.0");
    a.node_guid = GUID.to_be();
    a.sys_image_guid = GUID.to_be();
    a.max_mr_size = u64::MAX;
    a.page_size_cap = 4096;
    a.vendor_id = 0x02c9;
    a.vendor_part_id = 4115;
    a.max_qp = config.max_qp as i32;
    a.max_qp_wr = config.max_qp_wr as i32;
    a.device_cap_flags = device_cap::RC_RNR_NAK_GEN | device_cap::SRQ_RESIZE;
    a.max_sge = pairs::MOST_SGE as i32;
    a.max_sge_rd = pairs::MOST_SGE as i32;
    a.max_cq = config.max_cq as i32;
    a.max_cqe = config.max_cqe as i32;
    a.max_mr = config.max_mr as i32;
    a.max_pd = 1 << 16;
    a.max_qp_rd_atom = config.max_rd_atomic as i32;
    a.max_res_rd_atom = config.max_rd_atomic as i32 * 64;
    a.max_qp_init_rd_atom = config.max_rd_atomic as i32;
    a.atomic_cap = config.atomics;
    a.max_ah = 1 << 16;
    a.max_srq = 1 << 12;
    a.max_srq_wr = config.max_srq_wr as i32;
    a.max_srq_sge = pairs::MOST_SGE as i32;
    a.max_pkeys = 1;
    a.phys_port_cnt = 1;
    // SAFETY: the caller's place.
    unsafe { *out = a };
    0
}

unsafe fn port(context: *mut Context, number: u8) -> Option<PortAttr> {
    // SAFETY: the caller's context.
    let nic = unsafe { &FakeContext::of(context).core.nic };
    let ethernet = nic.config.ethernet;
    let up = nic.port_up.load(Ordering::Relaxed);
    (number == 1).then(|| PortAttr {
        state: if up { port_state::ACTIVE } else { port_state::DOWN },
        max_mtu: 5,
        active_mtu: nic.config.mtu,
        gid_tbl_len: GIDS as i32,
        max_msg_sz: 1 << 30,
        pkey_tbl_len: 1,
        lid: if ethernet { 0 } else { 1 },
        active_width: 2,
        active_speed: 32,
        phys_state: if up { 5 } else { 3 },
        link_layer: if ethernet { link_layer::ETHERNET } else { link_layer::INFINIBAND },
        ..PortAttr::default()
    })
}

/// As the inline function of verbs.h calls it, with the size of the caller's struct.
pub unsafe extern "C" fn query_port(
    context: *mut Context,
    number: u8,
    out: *mut c_void,
    len: usize,
) -> c_int {
    // SAFETY: the caller's context and place of that size.
    unsafe {
        let Some(attr) = port(context, number) else { return EINVAL };
        core::ptr::write_bytes(out.cast::<u8>(), 0, len);
        let n = len.min(size_of::<PortAttr>());
        core::ptr::copy_nonoverlapping((&raw const attr).cast::<u8>(), out.cast::<u8>(), n);
    }
    0
}

/// # Safety
/// A context, and a place for the old struct.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_port(context: *mut Context, number: u8, out: *mut c_void) -> c_int {
    // SAFETY: the caller's promise.
    unsafe { query_port(context, number, out, PortAttr::OLD_BYTES) }
}

/// Link-local first, then, on Ethernet, the IPv4 address of RoCE version 2.
fn gid(ethernet: bool, index: u32) -> Option<(Gid, u32)> {
    let mut gid = [0; 16];
    match index {
        0 => {
            gid[..2].copy_from_slice(&[0xfe, 0x80]);
            gid[8..].copy_from_slice(&GUID.to_be_bytes());
            Some((gid, if ethernet { gid_type::ROCE_V1 } else { gid_type::IB }))
        }
        1 if ethernet => {
            gid[10..].copy_from_slice(&[0xff, 0xff, 192, 168, 77, 1]);
            Some((gid, gid_type::ROCE_V2))
        }
        i if i < GIDS => Some((gid, gid_type::IB)),
        _ => None,
    }
}

/// # Safety
/// A context and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_gid(
    context: *mut Context,
    port: u8,
    index: c_int,
    out: *mut Gid,
) -> c_int {
    // SAFETY: the caller's context.
    let ethernet = unsafe { FakeContext::of(context) }.core.nic.config.ethernet;
    match gid(ethernet, index as u32) {
        Some((gid, _)) if port == 1 => {
            // SAFETY: the caller's place.
            unsafe { *out = gid };
            0
        }
        _ => -1,
    }
}

/// Of the library's private interface, which ibv_devinfo uses: 0 InfiniBand or RoCE version 1, 1 version 2.
///
/// # Safety
/// A context and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_gid_type(
    context: *mut Context,
    port: u8,
    index: u32,
    out: *mut u32,
) -> c_int {
    // SAFETY: the caller's context.
    let ethernet = unsafe { FakeContext::of(context) }.core.nic.config.ethernet;
    match gid(ethernet, index) {
        Some((_, kind)) if port == 1 => {
            // SAFETY: the caller's place.
            unsafe { *out = u32::from(kind == gid_type::ROCE_V2) };
            0
        }
        _ => -1,
    }
}

/// # Safety
/// A context and a place for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn _ibv_query_gid_ex(
    context: *mut Context,
    port: u32,
    index: u32,
    out: *mut GidEntry,
    flags: u32,
    size: usize,
) -> c_int {
    // SAFETY: the caller's context.
    let ethernet = unsafe { FakeContext::of(context) }.core.nic.config.ethernet;
    match gid(ethernet, index) {
        Some((gid, gid_type)) if port == 1 && flags == 0 && size >= size_of::<GidEntry>() => {
            // SAFETY: the caller's place.
            unsafe { *out = GidEntry { gid, gid_index: index, port_num: 1, gid_type, ndev_ifindex: 0 } };
            0
        }
        _ => EINVAL,
    }
}

/// # Safety
/// A context and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_query_pkey(_: *mut Context, port: u8, index: c_int, out: *mut u16) -> c_int {
    if port != 1 || index != 0 {
        return -1;
    }
    // SAFETY: the caller's place.
    unsafe { *out = PARTITION.to_be() };
    0
}

/// Its devices have no files.
#[unsafe(no_mangle)]
pub extern "C" fn ibv_read_sysfs_file(_: *const c_char, _: *const c_char, _: *mut c_char, _: usize) -> c_int {
    -1
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_fork_init() -> c_int {
    0
}

/// # Safety
/// A context and a place.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ibv_get_async_event(context: *mut Context, out: *mut AsyncEvent) -> c_int {
    // SAFETY: the caller's context and place.
    unsafe {
        match FakeContext::of(context).core.events.next() {
            Ok(event) => {
                *out = event;
                0
            }
            Err(_) => -1,
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn ibv_ack_async_event(_: *mut AsyncEvent) {}
