//! libugni as a table of functions, found by name when the component opens.

use crate::abi::{JobRes, MemHandle, Object, PostDescriptor, Return, SmsgAttr};
use core::ffi::{CStr, c_char, c_void};

/// Handler of a queue's entries; never used, so always absent.
pub type Handler = Option<extern "C" fn(*mut u64, *mut c_void)>;

oxmpi_btl_support::functions! {
    /// The functions. Those that older libraries lack may be missing.
    pub struct Api;
    needed {
        cdm_create("GNI_CdmCreate"): fn(u32, u8, u32, u32, *mut Object) -> Return;
        cdm_destroy("GNI_CdmDestroy"): fn(Object) -> Return;
        cdm_attach("GNI_CdmAttach"): fn(Object, u32, *mut u32, *mut Object) -> Return;
        get_device_type("GNI_GetDeviceType"): fn(*mut i32) -> Return;
        get_job_res_info("GNI_GetJobResInfo"): fn(u32, u8, i32, *mut JobRes) -> Return;
        ep_create("GNI_EpCreate"): fn(Object, Object, *mut Object) -> Return;
        ep_bind("GNI_EpBind"): fn(Object, u32, u32) -> Return;
        ep_unbind("GNI_EpUnbind"): fn(Object) -> Return;
        ep_destroy("GNI_EpDestroy"): fn(Object) -> Return;
        ep_set_event_data("GNI_EpSetEventData"): fn(Object, u32, u32) -> Return;
        ep_post_data_w_id("GNI_EpPostDataWId"): fn(Object, *mut c_void, u16, *mut c_void, u16, u64) -> Return;
        ep_post_data_wait_by_id("GNI_EpPostDataWaitById"): fn(Object, u64, u32, *mut i32, *mut u32, *mut u32) -> Return;
        ep_post_data_cancel_by_id("GNI_EpPostDataCancelById"): fn(Object, u64) -> Return;
        post_data_probe_by_id("GNI_PostDataProbeById"): fn(Object, *mut u64) -> Return;
        post_data_probe_wait_by_id("GNI_PostdataProbeWaitById"): fn(Object, u32, *mut u64) -> Return;
        mem_register("GNI_MemRegister"): fn(Object, u64, u64, Object, u32, u32, *mut MemHandle) -> Return;
        mem_deregister("GNI_MemDeregister"): fn(Object, *mut MemHandle) -> Return;
        cq_create("GNI_CqCreate"): fn(Object, u32, u32, u32, Handler, *mut c_void, *mut Object) -> Return;
        cq_destroy("GNI_CqDestroy"): fn(Object) -> Return;
        cq_get_event("GNI_CqGetEvent"): fn(Object, *mut u64) -> Return;
        cq_test_event("GNI_CqTestEvent"): fn(Object) -> Return;
        cq_error_str("GNI_CqErrorStr"): fn(u64, *mut c_void, u32) -> Return;
        cq_error_recoverable("GNI_CqErrorRecoverable"): fn(u64, *mut u32) -> Return;
        get_completed("GNI_GetCompleted"): fn(Object, u64, *mut *mut PostDescriptor) -> Return;
        post_fma("GNI_PostFma"): fn(Object, *mut PostDescriptor) -> Return;
        post_rdma("GNI_PostRdma"): fn(Object, *mut PostDescriptor) -> Return;
        smsg_buffer_size_needed("GNI_SmsgBufferSizeNeeded"): fn(*mut SmsgAttr, *mut u32) -> Return;
        smsg_init("GNI_SmsgInit"): fn(Object, *mut SmsgAttr, *mut SmsgAttr) -> Return;
        smsg_set_max_retrans("GNI_SmsgSetMaxRetrans"): fn(Object, u16) -> Return;
        smsg_send_w_tag("GNI_SmsgSendWTag"): fn(Object, *mut c_void, u32, *mut c_void, u32, u32, u8) -> Return;
        smsg_get_next_w_tag("GNI_SmsgGetNextWTag"): fn(Object, *mut *mut c_void, *mut u8) -> Return;
        smsg_release("GNI_SmsgRelease"): fn(Object) -> Return;
        cq_get_inst_id("gni_cq_get_inst_id"): fn(u64) -> u64;
        cq_get_type("gni_cq_get_type"): fn(u64) -> u64;
        cq_get_msg_id("gni_cq_get_msg_id"): fn(u64) -> u64;
        cq_get_status("gni_cq_get_status"): fn(u64) -> u64;
        cq_overrun("gni_cq_overrun"): fn(u64) -> u64;
    }
    optional {
        get_ptag("GNI_GetPtag"): fn(u32, u32, *mut u8) -> Return;
        ep_idle("GNI_EpIdle"): fn(Object) -> Return;
        comp_chan_create("GNI_CompChanCreate"): fn(Object, *mut Object) -> Return;
        comp_chan_destroy("GNI_CompChanDestroy"): fn(Object) -> Return;
        comp_chan_fd("GNI_CompChanFd"): fn(Object, *mut i32) -> Return;
        comp_chan_get_event("GNI_CompChanGetEvent"): fn(Object, *mut Object) -> Return;
        cq_attach_comp_chan("GNI_CqAttachCompChan"): fn(Object, Object) -> Return;
        cq_arm_comp_chan("GNI_CqArmCompChan"): fn(*mut Object, u32) -> Return;
    }
    data {
        errors("gni_err_str"): *const *const c_char;
    }
}

impl Api {
    /// Words of a return code.
    pub fn code_text(&self, code: Return) -> String {
        let Some(texts) = self.errors.filter(|_| (0..14).contains(&code)) else {
            return format!("code {code}");
        };
        // SAFETY: the library's table has a C string for each of the fourteen codes.
        let text = unsafe { CStr::from_ptr(*texts.add(code as usize)) };
        text.to_string_lossy().into_owned()
    }

    /// Words of an event that reports an error.
    pub fn event_text(&self, event: u64) -> String {
        let mut text = [0u8; 256];
        // SAFETY: as many bytes as are said.
        let code = unsafe { (self.cq_error_str)(event, text.as_mut_ptr().cast(), text.len() as u32) };
        let text = CStr::from_bytes_until_nul(&text).ok().filter(|t| code == 0 && !t.is_empty());
        // SAFETY: a function of a number.
        let status = unsafe { (self.cq_get_status)(event) };
        match text {
            Some(text) => format!("status {status:#x}, {}", text.to_string_lossy()),
            None => format!("status {status:#x}"),
        }
    }

    /// Whether the operation of a failed event may be tried again.
    pub fn is_recoverable(&self, event: u64) -> bool {
        let mut answer = 0;
        // SAFETY: a number and a place.
        unsafe { (self.cq_error_recoverable)(event, &mut answer) == 0 && answer != 0 }
    }

    /// Whether sleepers can be woken by descriptors.
    pub fn has_channels(&self) -> bool {
        self.comp_chan_create.is_some()
            && self.comp_chan_fd.is_some()
            && self.comp_chan_get_event.is_some()
            && self.comp_chan_destroy.is_some()
            && self.cq_attach_comp_chan.is_some()
            && self.cq_arm_comp_chan.is_some()
    }
}
