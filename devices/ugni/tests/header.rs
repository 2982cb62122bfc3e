//! The header against the library: sizes and offsets by a C compiler, functions by linking a program.

use std::path::Path;
use std::process::Command;

const PROGRAM: &str = r#"
#include <gni_pub.h>
_Static_assert(sizeof(gni_post_descriptor_t) == 184, "descriptor");
_Static_assert(offsetof(gni_post_descriptor_t, type) == 36, "type");
_Static_assert(offsetof(gni_post_descriptor_t, local_mem_hndl) == 56, "local handle");
_Static_assert(offsetof(gni_post_descriptor_t, length) == 96, "length");
_Static_assert(offsetof(gni_post_descriptor_t, amo_cmd) == 136, "command");
_Static_assert(offsetof(gni_post_descriptor_t, ce_red_id) == 176, "reduction");
_Static_assert(sizeof(gni_smsg_attr_t) == 56, "attributes");
_Static_assert(sizeof(gni_ct_put_post_descriptor_t) == 56 && sizeof(gni_ct_get_post_descriptor_t) == 72, "chain");
_Static_assert(sizeof(gni_ct_amo_post_descriptor_t) == 96 && sizeof(gni_version_info_t) == 176, "chain, version");
_Static_assert(sizeof(gni_ct_cqw_post_descriptor_t) == 40 && sizeof(gni_job_res_desc_t) == 16, "chain, limits");
int main(void) {
    gni_cdm_handle_t cdm;
    gni_nic_handle_t nic;
    gni_cq_handle_t cq;
    uint32_t address, version;
    gni_nic_device_t type;
    if (GNI_CdmCreate(1, 10, 5, GNI_CDM_MODE_FMA_SHARED, &cdm) || GNI_CdmAttach(cdm, 0, &address, &nic)) return 1;
    if (GNI_CqCreate(nic, 8, 0, GNI_CQ_BLOCKING, NULL, NULL, &cq) || GNI_CqTestEvent(cq) != GNI_RC_NOT_DONE) return 2;
    if (GNI_GetVersion(&version) || version != GNI_VERSION || GNI_GetDeviceType(&type) || type != GNI_DEVICE_ARIES) return 3;
    if (gni_err_str[GNI_RC_NOT_DONE][0] != 'N' || oxmpi_ugni_counter("events") != 0) return 4;
    return GNI_CqDestroy(cq) || GNI_CdmDestroy(cdm) ? 5 : 0;
}
"#;

#[test]
fn a_c_program_compiles_and_runs() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The library stands beside this test.
    let exe = std::env::current_exe().expect("this program");
    let built = exe.parent().expect("a folder of built things");
    let folder = std::env::temp_dir().join(format!("ugni-header-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (source, program) = (folder.join("a.c"), folder.join("a"));
    std::fs::write(&source, PROGRAM).expect("written");
    let cc = Command::new("cc")
        .args(["-Wall", "-Werror", "-I"])
        .arg(here.join("include"))
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .arg(built.join("liboxmpi_ugni_emulation.so"))
        .output()
        .expect("cc runs");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
    let run = Command::new(&program)
        .env("LD_LIBRARY_PATH", built)
        .env("OXMPI_UGNI", format!("fabric=header{}", std::process::id()))
        .status()
        .expect("it runs");
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(run.success(), "{run}");
}
