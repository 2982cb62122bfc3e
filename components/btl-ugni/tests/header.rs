//! Layouts and numbers of `src/abi.rs` against the emulation's header, by a C compiler.

use std::path::Path;
use std::process::Command;

/// Name in the header, and our value.
fn claims(text: &str) -> Vec<(String, String)> {
    let groups = [
        ("pub mod rc {", "GNI_RC_"),
        ("pub mod mode {", "GNI_CDM_MODE_"),
        ("pub mod post_state {", "GNI_POST_"),
        ("pub mod device {", "GNI_DEVICE_"),
        ("pub mod mem {", "GNI_MEM_"),
        ("pub mod cq_mode {", "GNI_CQ_"),
        ("pub mod event {", "GNI_CQ_EVENT_TYPE_"),
        ("pub mod post {", "GNI_POST_"),
        ("pub mod cqmode {", "GNI_CQMODE_"),
        ("pub mod dlvmode {", "GNI_DLVMODE_"),
        ("pub mod amo {", ""),
    ];
    let mut found = Vec::new();
    for (begin, prefix) in groups {
        let Some((_, rest)) = text.split_once(begin) else { continue };
        let (body, _) = rest.split_once("\n}").expect("a module ends");
        for line in body.lines().filter_map(|l| l.trim().strip_prefix("pub const ")) {
            let (name, rest) = line.split_once(':').expect("a type");
            let (_, value) = rest.split_once('=').expect("a value");
            // Numbers of atomics would begin with a digit otherwise.
            let name = name.replace("AT2_", "GNI_FMA_ATOMIC2_").replace("AT_", "GNI_FMA_ATOMIC_");
            found.push((format!("{prefix}{name}"), value.trim().trim_end_matches(';').to_owned()));
        }
    }
    found
}

#[test]
fn numbers_and_layouts_are_those_of_the_header() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let abi = std::fs::read_to_string(here.join("src/abi.rs")).expect("our numbers");
    let claims = claims(&abi);
    assert!(claims.len() > 30, "{claims:?}");
    let mut program = String::from("#include <gni_pub.h>\n");
    for (name, value) in &claims {
        let value = value.replace('_', "");
        program.push_str(&format!("_Static_assert({name} == {value}, \"{name}\");\n"));
    }
    // Sizes and offsets that `src/abi.rs` asserts of its own structures.
    program.push_str(
        "#define AT(s, f, n) _Static_assert(offsetof(s, f) == n, #f)
        _Static_assert(sizeof(gni_post_descriptor_t) == 184 && sizeof(gni_smsg_attr_t) == 56, \"sizes\");
        _Static_assert(sizeof(gni_mem_handle_t) == 16 && sizeof(gni_job_res_desc_t) == 16, \"sizes\");
        AT(gni_smsg_attr_t, msg_buffer, 8); AT(gni_smsg_attr_t, buff_size, 16); AT(gni_smsg_attr_t, mem_hndl, 24);
        AT(gni_smsg_attr_t, mbox_offset, 40); AT(gni_smsg_attr_t, mbox_maxcredit, 44); AT(gni_smsg_attr_t, msg_maxsize, 48);
        AT(gni_post_descriptor_t, post_id, 16); AT(gni_post_descriptor_t, status, 24); AT(gni_post_descriptor_t, type, 36);
        AT(gni_post_descriptor_t, cq_mode, 40); AT(gni_post_descriptor_t, dlvr_mode, 42); AT(gni_post_descriptor_t, local_addr, 48);
        AT(gni_post_descriptor_t, local_mem_hndl, 56); AT(gni_post_descriptor_t, remote_addr, 72);
        AT(gni_post_descriptor_t, remote_mem_hndl, 80); AT(gni_post_descriptor_t, length, 96); AT(gni_post_descriptor_t, rdma_mode, 104);
        AT(gni_post_descriptor_t, src_cq_hndl, 112); AT(gni_post_descriptor_t, amo_cmd, 136);
        AT(gni_post_descriptor_t, first_operand, 144); AT(gni_post_descriptor_t, second_operand, 152);
        AT(gni_post_descriptor_t, cqwrite_value, 160);
        _Static_assert(GNI_SMSG_TYPE_MBOX_AUTO_RETRANSMIT == 2 && GNI_DATAGRAM_MAXSIZE == 128 && GNI_SMSG_ANY_TAG == 0xff, \"numbers\");\n",
    );
    let source = std::env::temp_dir().join(format!("btl-ugni-header-{}.c", std::process::id()));
    std::fs::write(&source, program).expect("written");
    let mut cc = Command::new("cc");
    cc.args(["-std=c11", "-fsyntax-only", "-I"]).arg(here.join("../../devices/ugni/include")).arg(&source);
    let cc = cc.output().expect("cc runs");
    std::fs::remove_file(&source).expect("removed");
    assert!(cc.status.success(), "{}", String::from_utf8_lossy(&cc.stderr));
}
