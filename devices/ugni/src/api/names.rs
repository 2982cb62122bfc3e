//! Names of a node's resources, by their numbers in `gni_dev_res_t` and `gni_job_res_t`.

use std::ffi::{CStr, c_char, c_int};

const OF_A_DEVICE: [&CStr; 8] = [c"MDD", c"MRT", c"CQ", c"FMA", c"CE", c"DLA", c"TCR", c"DVA"];
const OF_A_JOB: [&CStr; 13] = [
    c"MDD",
    c"MRT",
    c"IOMMU",
    c"GART",
    c"CQ",
    c"FMA",
    c"RDMA",
    c"CE",
    c"DLA",
    c"SFMA",
    c"DIRECT",
    c"PCI_IOMMU",
    c"NONVMDH",
];

/// Numbers begin with 1.
fn name(of: &'static [&'static CStr], number: c_int) -> Option<&'static CStr> {
    usize::try_from(number).ok()?.checked_sub(1).and_then(|i| of.get(i).copied())
}

#[unsafe(no_mangle)]
pub extern "C" fn gni_dev_res_valid(number: c_int) -> c_int {
    name(&OF_A_DEVICE, number).is_some().into()
}

#[unsafe(no_mangle)]
pub extern "C" fn gni_job_res_valid(number: c_int) -> c_int {
    name(&OF_A_JOB, number).is_some().into()
}

/// The name of a device's resource; "?" for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn gni_dev_res_to_str(number: c_int) -> *const c_char {
    name(&OF_A_DEVICE, number).unwrap_or(c"?").as_ptr()
}

/// The name of a job's resource; "?" for a number that is none.
#[unsafe(no_mangle)]
pub extern "C" fn gni_job_res_to_str(number: c_int) -> *const c_char {
    name(&OF_A_JOB, number).unwrap_or(c"?").as_ptr()
}
