//! The components linked into the library: one line each puts its descriptor into the slice that
//! `oxmpi-builtin` holds.

use oxmpi_builtin::{BUILTIN, linkme};
use oxmpi_mca::Descriptor;

macro_rules! linked_in {
    ($($name:ident = $component:path;)*) => { $(
        #[linkme::distributed_slice(BUILTIN)]
        #[linkme(crate = linkme)]
        static $name: fn() -> *const Descriptor = $component;
    )* };
}

linked_in! {
    BTL_OFI = btl_ofi::descriptor;
    BTL_SELF = btl_self::descriptor;
    BTL_SHM = btl_shm::descriptor;
    BTL_TCP = btl_tcp::descriptor;
    BTL_UGNI = btl_ugni::descriptor;
    BTL_VERBS = btl_verbs::descriptor;
    PML_OB1 = pml_ob1::descriptor;
    COLL_BASIC = coll_basic::descriptor;
    COLL_HAN = coll_han::descriptor;
    COLL_SHM = coll_shm::descriptor;
    COLL_TUNED = coll_tuned::descriptor;
    OSC_PT2PT = osc_pt2pt::descriptor;
    OSC_RDMA = osc_rdma::descriptor;
    FS_LUSTRE = fs_lustre::descriptor;
    FS_NFS = fs_nfs::descriptor;
    FS_UFS = fs_ufs::descriptor;
    FBTL_POSIX = fbtl_posix::descriptor;
    FBTL_URING = fbtl_uring::descriptor;
    FCOLL_INDIVIDUAL = fcoll_individual::descriptor;
    FCOLL_TWOPHASE = fcoll_twophase::descriptor;
}

/// Descriptors of all linked-in components.
pub fn all() -> Vec<*const Descriptor> {
    BUILTIN.iter().map(|descriptor| descriptor()).collect()
}
