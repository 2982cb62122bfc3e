//! Declarations that the component makes about itself.

use oxmpi_mca::Descriptor;
use oxmpi_pml::{FRAMEWORK, PmlTable, TABLE_VERSION, VERSION};

crate::check!(declared, ranks: 1, |job| {
    // SAFETY: a descriptor and what it points to are statics of its component.
    let d: &Descriptor = unsafe { &*job.descriptor };
    // SAFETY: as above.
    let (framework, name, params) = unsafe { (d.framework.get(), d.name.get(), d.params.get()) };
    assert_eq!(framework, Some(FRAMEWORK));
    assert_eq!(d.framework_version.major, VERSION.major);
    assert!(name.is_some_and(|name| !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')));
    for p in params {
        // SAFETY: as above.
        let (name, help) = unsafe { (p.name.get(), p.help.get()) };
        assert!(help.is_some_and(|help| help.len() > 10), "parameter {name:?} has no help");
    }
    let (table, _) = job.rank(0).pml();
    assert_eq!(table.version, TABLE_VERSION);
    assert!(table.size as usize >= core::mem::offset_of!(PmlTable, counts), "mandatory verbs are missing");
});
