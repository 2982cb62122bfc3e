//! What is tested, over what, and how patiently.

use core::time::Duration;
use oxmpi_mca::{Descriptor, ParamDecl, ParamKind, ParamValue, StrRef};

/// A kind of transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// Messages only.
    Messages,
    /// The same with room for two messages of each source.
    Narrow,
    /// `get` over registered memory, in pieces that complete later.
    Gets,
    /// `put` and `flush` over registered memory, likewise.
    Puts,
    /// `get` of memory that needs no registration, done when the call returns.
    Reads,
}

impl Wire {
    pub const ALL: [Wire; 5] = [Wire::Messages, Wire::Narrow, Wire::Gets, Wire::Puts, Wire::Reads];
}

/// A component and the jobs it is tested in.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) patience: Duration,
}

impl Setup {
    /// Every parameter at its default.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup { descriptor, params: Vec::new(), patience: Duration::from_secs(120) }
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// How long a request may take before a check gives up.
    pub fn patience(mut self, patience: Duration) -> Setup {
        self.patience = patience;
        self
    }

    /// The declared parameters' values, in their order. What is leaked here a component may keep as long as its instance.
    pub(crate) fn values(&self, declared: &[ParamDecl]) -> &'static [ParamValue] {
        if let Some((name, _)) =
            self.params.iter().find(|(name, _)| declared.iter().all(|d| text(d.name) != name))
        {
            panic!("the component has no parameter {name}");
        }
        let values = declared.iter().map(|d| {
            let given = self.params.iter().find(|(name, _)| name == text(d.name));
            let written: &'static str = given.map_or(text(d.default), |(_, value)| value.clone().leak());
            value(d, written).unwrap_or_else(|| panic!("parameter {}: \"{written}\"", text(d.name)))
        });
        values.collect::<Vec<_>>().leak()
    }
}

pub(crate) fn text(s: StrRef) -> &'static str {
    // SAFETY: declarations are statics of the component.
    unsafe { s.get() }.unwrap_or("<not UTF-8>")
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
