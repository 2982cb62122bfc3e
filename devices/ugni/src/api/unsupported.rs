//! Entry points that are there so that a program finds them, and that say ILLEGAL_OP: message queues shared by a node, the collective
//! engine, error subscriptions, job configuration, segments of memory. README.md lists them.

use crate::numbers::{Return, rc};

macro_rules! unsupported {
    ($($name:ident)*) => {
        $(#[unsafe(no_mangle)]
        pub extern "C" fn $name() -> Return {
            rc::ILLEGAL_OP
        })*
    };
}

unsupported! {
    GNI_CdmHold GNI_CdmRelease GNI_SetJobResInfo GNI_GetNttGran GNI_ConfigureJob GNI_ConfigureJobFd GNI_ConfigureNTT GNI_ConfigureNTTandJob
    GNI_SuspendJob GNI_ResumeJob GNI_GetCapabilities GNI_ValidateCapabilities GNI_SetDeviceOrbMMR GNI_SetBIConfig GNI_GetBIConfig
    GNI_BISyncWait GNI_MemRegisterSegments GNI_SetMddResources GNI_RebuildMemHndl GNI_MemQueryHndls
    GNI_MsgqInit GNI_MsgqRelease GNI_MsgqIdle GNI_MsgqGetConnAttrs GNI_MsgqConnect GNI_MsgqConnRelease GNI_MsgqSend GNI_MsgqProgress GNI_MsgqSize
    GNI_DqueueInit GNI_DqueueFini GNI_DqueueConnect GNI_DqueuePut GNI_DqueueProgress
    GNI_SubscribeErrors GNI_ReleaseErrors GNI_GetErrorMask GNI_SetErrorMask GNI_GetErrorEvent GNI_WaitErrorEvents GNI_SetErrorPtag
    GNI_CeCreate GNI_CeGetId GNI_EpSetCeAttr GNI_CeConfigure GNI_CeCheckResult GNI_CeDestroy
}
