//! Names that Open MPI has, in any of its versions: sites set its variables for everyone, and what they ask
//! for and this library lacks is told from a spelling mistake by these names.

/// Frameworks and their components.
const COMPONENTS: &[(&str, &[&str])] = &[
    (
        "btl",
        &[
            "ofi", "openib", "portals4", "scif", "self", "sm", "smcuda", "tcp", "template", "uct", "ugni",
            "usnic", "vader",
        ],
    ),
    ("pml", &["bfo", "cm", "crcpw", "example", "monitoring", "ob1", "ubcl", "ucx", "v", "yalla"]),
    (
        "coll",
        &[
            "accelerator",
            "acoll",
            "adapt",
            "basic",
            "cuda",
            "demo",
            "fca",
            "ftagree",
            "han",
            "hcoll",
            "inter",
            "libnbc",
            "monitoring",
            "portals4",
            "self",
            "sm",
            "spacc",
            "sync",
            "tuned",
            "ucc",
            "xhc",
        ],
    ),
    ("osc", &["monitoring", "portals4", "pt2pt", "rdma", "sm", "ucx"]),
    ("mtl", &["mxm", "ofi", "portals4", "psm", "psm2"]),
    ("io", &["ompio", "romio314", "romio321", "romio341"]),
    ("topo", &["basic", "treematch"]),
    ("bml", &["r2"]),
    ("smsc", &["accelerator", "cma", "knem", "xpmem"]),
    ("rcache", &["gpusm", "grdma", "rgpusm", "udreg", "vma"]),
    ("mpool", &["hugepage", "memkind"]),
    ("memory", &["patcher"]),
    ("shmem", &["mmap", "posix", "sysv"]),
    ("fs", &["gpfs", "ime", "lustre", "ufs"]),
    ("fcoll", &["dynamic", "dynamic_gen2", "individual", "two_phase", "vulcan"]),
    ("fbtl", &["ime", "posix"]),
    ("sharedfp", &["individual", "lockedfile", "sm"]),
];

/// Whether Open MPI's framework has a component of this name.
pub fn has(framework: &str, component: &str) -> bool {
    COMPONENTS.iter().any(|(f, names)| *f == framework && names.contains(&component))
}

/// Beginnings of names of parameters that belong to no component: Open MPI's own, and those of its launcher and of
/// PMIx.
const BEGINNINGS: &[&str] = &[
    "btl_base_",
    "coll_base_",
    "dss_",
    "ess_",
    "filem_",
    "grpcomm_",
    "hwloc_",
    "iof_",
    "mca_base_",
    "mca_component_",
    "odls_",
    "ompi_",
    "oob_",
    "opal_",
    "orte_",
    "osc_base_",
    "patcher_",
    "plm_",
    "pmix_",
    "pml_base_",
    "prte_",
    "ras_",
    "rmaps_",
    "routed_",
    "rtc_",
    "schizo_",
    "state_",
    "threads_",
    "timer_",
    "vprotocol_",
];

/// Whether Open MPI has parameters that are called like this: of one of its components, or of its own.
pub fn has_parameter(name: &str) -> bool {
    asked_for(name, "").is_some() || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning))
}

/// The framework and component that the parameter `name` chooses or belongs to. `text` is its value,
/// which for a selection names the component.
pub fn asked_for(name: &str, text: &str) -> Option<(&'static str, String)> {
    for (framework, names) in COMPONENTS {
        let Some(rest) = name.strip_prefix(framework) else { continue };
        if rest.is_empty() {
            // A component that is excluded is not missed.
            let first = text.split(',').map(str::trim).find(|n| names.contains(n))?;
            return Some((framework, first.to_owned()));
        }
        let Some(rest) = rest.strip_prefix('_') else { continue };
        let belongs = |n: &&&str| rest.strip_prefix(**n).is_some_and(|r| r.starts_with('_'));
        if let Some(component) = names.iter().filter(belongs).max_by_key(|n| n.len()) {
            return Some((framework, (*component).to_owned()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whom_a_variable_is_about() {
        assert!(has("pml", "ucx") && !has("pml", "tcp") && !has("x", "ucx"));
        assert!(has_parameter("btl_openib_x") && has_parameter("orte_base_help_aggregate"));
        assert!(!has_parameter("btl_nonsense_x") && !has_parameter("nonsense"));
        assert_eq!(asked_for("btl_openib_if_include", "mlx5"), Some(("btl", "openib".into())));
        assert_eq!(asked_for("fcoll_dynamic_gen2_x", "1"), Some(("fcoll", "dynamic_gen2".into())));
        assert_eq!(asked_for("osc", "ucx"), Some(("osc", "ucx".into())));
        for (name, text) in
            [("btl", "^openib"), ("btl_base_verbose", "1"), ("btlx", "openib"), ("pml_ucx", "1")]
        {
            assert_eq!(asked_for(name, text), None, "{name}");
        }
    }
}
