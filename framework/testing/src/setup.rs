//! Values of parameters as an operator writes them, and a component opened with them.

use core::ptr::null;
use oxmpi_mca::abi::Opened;
use oxmpi_mca::{
    Descriptor, HostTable, OpenArgs, ParamDecl, ParamKind, ParamValue, SliceRef, Status, StrRef,
};

/// Parameters by their names without framework and component, and what they are set to.
pub type ParamSettings = [(String, String)];

/// A text of a component, or of a call that is under way. A text that is not UTF-8 fails the checks of the declarations.
pub fn text(s: StrRef) -> &'static str {
    // SAFETY: declarations are statics of the component; texts of a call are used during the call.
    unsafe { s.get() }.unwrap_or("\u{fffd}")
}

/// The declared parameters' values, in their order: what is given, the default elsewhere. The values are leaked, so a component may
/// keep them as long as its instance. An error where a name is not declared or a text is no value.
pub fn values(declared: &[ParamDecl], given: &ParamSettings) -> Result<&'static [ParamValue], String> {
    let names: Vec<&str> = declared.iter().map(|d| text(d.name)).collect();
    if let Some((unknown, _)) = given.iter().find(|(name, _)| !names.contains(&name.as_str())) {
        return Err(format!("no parameter {unknown}; there are {}", names.join(", ")));
    }
    let values = declared.iter().map(|d| {
        let given = given.iter().find(|(name, _)| name == text(d.name));
        let written: &'static str = given.map_or(text(d.default), |(_, value)| value.clone().leak());
        value(d, written).ok_or(format!("parameter {}: \"{written}\" does not parse", text(d.name)))
    });
    Ok(values.collect::<Result<Vec<_>, String>>()?.leak())
}

/// Opens a component as a host does; its modules, whose type is that of its framework, and its priority.
pub fn open<M: Copy>(
    descriptor: &Descriptor,
    host: &HostTable,
    given: &ParamSettings,
) -> Result<(i32, Vec<M>), Status> {
    // SAFETY: a descriptor is a static of its component.
    let values = values(unsafe { descriptor.params.get() }, given).unwrap_or_else(|e| panic!("{e}"));
    let args = OpenArgs {
        size: size_of::<OpenArgs>() as u32,
        reserved: 0,
        host,
        values: SliceRef { ptr: values.as_ptr(), len: values.len() },
        flags: 0,
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
pub fn value(d: &ParamDecl, written: &'static str) -> Option<ParamValue> {
    let mut v = ParamValue { kind: d.kind, reserved: 0, int: 0, double: 0.0, text: StrRef::new(written) };
    match d.kind {
        ParamKind::INT => v.int = written.parse().ok()?,
        ParamKind::UNSIGNED => v.int = written.parse::<u64>().ok()?.cast_signed(),
        ParamKind::SIZE => v.int = size(written)?,
        ParamKind::BOOL => {
            v.int = match written {
                "1" | "true" | "yes" | "on" | "enabled" => 1,
                "0" | "false" | "no" | "off" | "disabled" => 0,
                _ => return None,
            }
        }
        ParamKind::DOUBLE => v.double = written.parse().ok()?,
        ParamKind::ENUM => {
            // SAFETY: statics of the component.
            let names = unsafe { d.enumerators.get() };
            v.int = names.iter().position(|e| text(*e) == written)? as i64;
        }
        ParamKind::STRING | ParamKind::LIST => {}
        _ => return None,
    }
    Some(v)
}

fn size(written: &str) -> Option<i64> {
    let digits = written.trim_end_matches(['k', 'm', 'g', 'K', 'M', 'G']);
    let factor = match &written[digits.len()..] {
        "" => 1,
        unit => 1024i64.checked_pow("kmg".find(&unit.to_lowercase())? as u32 + 1)?,
    };
    digits.parse::<i64>().ok()?.checked_mul(factor)
}
