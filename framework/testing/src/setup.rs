//! Values of parameters as an operator writes them, and a component opened with them.

use core::ptr::null;
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{
    Descriptor, HostTable, OpenArgs, ParamDecl, ParamKind, ParamValue, SliceRef, Status, StrRef,
};

/// Parameters by their names without framework and component, and what they are set to.
pub type Given = [(String, String)];

/// A text of a component or of a call that is under way.
pub fn text(s: StrRef) -> &'static str {
    // SAFETY: declarations are statics of the component; texts of a call are used during the call.
    unsafe { s.get() }.unwrap_or("<not UTF-8>")
}

/// The declared parameters' values, in their order: what is given, the default elsewhere. What is leaked here a component may keep as
/// long as its instance. Panics where a name is not declared or a text is no value.
pub fn values(declared: &[ParamDecl], given: &Given) -> &'static [ParamValue] {
    if let Some((name, _)) = given.iter().find(|(name, _)| declared.iter().all(|d| text(d.name) != name)) {
        panic!("the component has no parameter {name}");
    }
    let values = declared.iter().map(|d| {
        let given = given.iter().find(|(name, _)| name == text(d.name));
        let written: &'static str = given.map_or(text(d.default), |(_, value)| value.clone().leak());
        value(d, written).unwrap_or_else(|| panic!("parameter {}: \"{written}\"", text(d.name)))
    });
    values.collect::<Vec<_>>().leak()
}

/// Opens a component as a host does; its modules, whose type is that of its framework, and its priority.
pub fn open<M: Copy>(
    descriptor: &Descriptor,
    host: &HostTable,
    given: &Given,
) -> Result<(i32, Vec<M>), Status> {
    // SAFETY: a descriptor is a static of its component.
    let values = values(unsafe { descriptor.params.get() }, given);
    let args = OpenArgs {
        size: size_of::<OpenArgs>() as u32,
        reserved: 0,
        host,
        values: SliceRef { ptr: values.as_ptr(), len: values.len() },
    };
    let mut opened =
        Opened { size: size_of::<Opened>() as u32, priority: 0, modules: null(), count: 0, stride: 0 };
    let status = (descriptor.open)(&args, &mut opened);
    if status.is_err() {
        return Err(status);
    }
    assert!(opened.count == 0 || !opened.modules.is_null(), "modules nowhere");
    assert!(opened.count == 0 || opened.stride >= size_of::<M>(), "modules of an older contract");
    // SAFETY: so many modules stand there, `stride` apart, and the component does not free them.
    let module = |i: usize| unsafe { opened.modules.byte_add(i * opened.stride).cast::<M>().read() };
    Ok((opened.priority, (0..opened.count).map(module).collect()))
}

/// A value as an operator writes it.
fn value(d: &ParamDecl, written: &'static str) -> Option<ParamValue> {
    let mut v = ParamValue { kind: d.kind, reserved: 0, int: 0, double: 0.0, text: StrRef::new(written) };
    match d.kind {
        ParamKind::INT => v.int = written.parse().ok()?,
        ParamKind::UNSIGNED => v.int = written.parse::<u64>().ok()?.cast_signed(),
        ParamKind::SIZE => v.int = size(written)?,
        ParamKind::BOOL => v.int = i64::from(matches!(written, "1" | "true" | "yes" | "on" | "enabled")),
        ParamKind::DOUBLE => v.double = written.parse().ok()?,
        ParamKind::ENUM => {
            // SAFETY: statics of the component.
            let names = unsafe { d.enumerators.get() };
            v.int = names.iter().position(|e| text(*e) == written)? as i64;
        }
        _ => {}
    }
    Some(v)
}

fn size(written: &str) -> Option<i64> {
    let digits = written.trim_end_matches(['k', 'm', 'g', 'K', 'M', 'G']);
    let factor = match &written[digits.len()..] {
        "" => 1,
        unit => 1024i64.pow("kmg".find(&unit.to_lowercase())? as u32 + 1),
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}
