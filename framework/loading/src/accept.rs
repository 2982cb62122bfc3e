//! The handshake: what a component says about itself is checked before anything of it is called.
//!
//! The order is that of the descriptor. The first 16 bytes (magic, ABI version, size) are the same in
//! every version that ever was or will be; nothing behind them is read before they have passed. Then
//! target, how CRI locks are taken and laid out, framework, its version, name. A refusal names the field, their value, ours, and the file.
//!
//! **Trust.** Non-null pointers are trusted to point to values of their type: a component is code, and
//! code that wants to harm needs no wrong pointer. Not trusted: numbers, lengths, text. Null, lengths that
//! no component has, misaligned pointers and text that is not UTF-8 are refused, and structs with
//! mandatory functions are looked at as words before a value of their type exists (a null `fn` must not
//! come into being).
//!
//! **Own tables.** From what passes, the host builds its own full tables. A slot that is absent, because
//! the component is older or cannot do it, becomes a real function that answers NOT_SUPPORTED (or
//! nothing to do), so that no caller ever tests for null. A device's capabilities are computed from the
//! slots.

pub mod accepted;
mod files;
#[cfg(test)]
mod osc_tests;
mod tables;

pub use accepted::{Accepted, CollComponent, Framework, OscComponent, Pml, Refusal};
pub use accepted::{FbtlComponent, FcollComponent, FsComponent};
pub use files::{accept_fbtl, accept_fcoll, accept_fs};
pub use tables::read_osc_table;
pub use tables::{accept_btl, accept_coll, accept_osc, accept_pml};

use oxmpi_mca::abi::TARGET;
use oxmpi_mca::{
    ABI_MAJOR, ABI_MINOR, Cri, Descriptor, LOCK_PROTOCOL, MAGIC, ParamDecl, SliceRef, StrRef, Version,
};
use std::mem::MaybeUninit;

/// Longest texts and lists a component may have; more is damage.
const NAME_LIMIT: usize = 64;
const HELP_LIMIT: usize = 1 << 20;
const TEXT_LIMIT: usize = 1 << 16;
const LIST_LIMIT: usize = 4096;
/// Descriptors only grow, but not to this.
const SIZE_LIMIT: u32 = 1 << 16;

/// The framework and name that the file's name promises.
#[derive(Clone, Copy, Debug)]
pub struct Promise<'a> {
    pub framework: Framework,
    pub name: &'a str,
}

/// Checks a descriptor. `promise` is what the file's name says, if it came from a file.
///
/// # Safety
/// `descriptor` must be null or point to at least 16 readable bytes, and to as many as its own size
/// field says; its pointers are null or point to what their type and length say, for good.
pub unsafe fn accept(
    descriptor: *const Descriptor,
    promise: Option<Promise<'_>>,
    place: &str,
) -> Result<Accepted, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    if descriptor.is_null() || !descriptor.is_aligned() {
        return refuse("descriptor", format!("{descriptor:p}"), "the address of one".into());
    }
    // SAFETY: 16 bytes are readable; no reference to the whole is made.
    let (magic, major, minor, size) = unsafe {
        (
            (&raw const (*descriptor).magic).read(),
            (&raw const (*descriptor).abi_major).read(),
            (&raw const (*descriptor).abi_minor).read(),
            (&raw const (*descriptor).size).read(),
        )
    };
    if magic != MAGIC {
        return refuse("magic number", format!("{magic:#018x}"), format!("{MAGIC:#018x}"));
    }
    if major != ABI_MAJOR {
        return refuse("ABI version", format!("{major}.{minor}"), format!("{ABI_MAJOR}.x"));
    }
    if minor > ABI_MINOR {
        return refuse(
            "ABI version",
            format!("{major}.{minor}"),
            format!("{ABI_MAJOR}.{ABI_MINOR} or older"),
        );
    }
    let least = size_of::<Descriptor>() as u32;
    if size < least || size > SIZE_LIMIT {
        let ours = format!("{least} to {SIZE_LIMIT} bytes in ABI {major}.{minor}");
        return refuse("descriptor size", format!("{size} bytes"), ours);
    }
    // Fields behind the end of an older one are those of a descriptor without them: null, 0.
    let mut d = MaybeUninit::<Descriptor>::zeroed();
    // SAFETY: that many bytes are readable and the layout is ABI 3's; the `open` pointer is looked at as
    // a word before there is a value of the type.
    let d = unsafe {
        if (&raw const (*descriptor).open).cast::<usize>().read() == 0 {
            return refuse("open function", "none".into(), "one".into());
        }
        let bytes = (size as usize).min(size_of::<Descriptor>());
        std::ptr::copy_nonoverlapping(descriptor.cast::<u8>(), d.as_mut_ptr().cast(), bytes);
        d.assume_init()
    };
    // SAFETY: the caller's promise about the descriptor's pointers.
    unsafe { read_body(&d, promise, place) }
}

/// Checks the fields behind the first 16 bytes of a descriptor, in their order (target, lock protocol, framework, name,
/// lists of texts), and copies what passes into an [`Accepted`].
///
/// # Safety
/// As [`accept`], and the first 16 bytes have passed.
unsafe fn read_body(d: &Descriptor, promise: Option<Promise<'_>>, place: &str) -> Result<Accepted, Refusal> {
    let refuse = |field, theirs: String, ours: String| Err(Refusal::new(field, theirs, ours, place));
    // SAFETY: the caller's promise.
    let text = |field, s, limit| unsafe { text(field, s, limit, place) };
    let target = text("target", d.target, NAME_LIMIT)?;
    if target != TARGET {
        return refuse("target", format!("{target:?}"), format!("{TARGET:?}"));
    }
    for (field, theirs, ours) in [
        ("lock protocol", d.lock_protocol, LOCK_PROTOCOL),
        ("CRI stride", d.cri_stride, size_of::<Cri>() as u32),
    ] {
        if theirs != ours {
            return refuse(field, theirs.to_string(), ours.to_string());
        }
    }
    let name_of_framework = text("framework", d.framework, NAME_LIMIT)?;
    let framework = match (Framework::by_name(name_of_framework), promise) {
        (Some(f), Some(p)) if f == p.framework => f,
        (Some(f), None) => f,
        (_, Some(p)) => {
            let ours = format!("{:?}, as the file's name says", p.framework.name());
            return refuse("framework", format!("{name_of_framework:?}"), ours);
        }
        (None, None) => {
            let ours = Framework::ALL.map(Framework::name).join(", ");
            return refuse("framework", format!("{name_of_framework:?}"), ours);
        }
    };
    let (theirs, ours) = (d.framework_version, framework.version());
    if theirs.major != ours.major || theirs.minor > ours.minor {
        let v = |v: Version| format!("{} {}.{}", framework.name(), v.major, v.minor);
        return refuse("framework version", v(theirs), format!("{} or an older minor", v(ours)));
    }
    let ours = framework.table_version();
    if ![0, ours].contains(&d.table_version) {
        return refuse("table version", d.table_version.to_string(), ours.to_string());
    }
    let name = text("name", d.name, NAME_LIMIT)?;
    if !is_name(name) {
        return refuse("name", format!("{name:?}"), "small letters, digits and _".into());
    }
    if let Some(p) = promise
        && p.name != name
    {
        return refuse("name", format!("{name:?}"), format!("{:?}, as the file's name says", p.name));
    }
    let mut aliases = Vec::new();
    // SAFETY: the caller's promise.
    for &alias in unsafe { list("aliases", d.aliases, place)? } {
        aliases.push(text("aliases", alias, NAME_LIMIT)?);
    }
    // SAFETY: the caller's promise.
    let params = unsafe { list("parameters", d.params, place)? };
    for p in params {
        check_param(p, place)?;
    }
    let help = text("help text", d.help, HELP_LIMIT)?;
    let place = place.to_owned();
    let Descriptor { version, open, resolve, .. } = *d;
    Ok(Accepted { framework, name, aliases, version, params, help, open, resolve, place })
}

/// Whether a text may be a component's name, which becomes part of parameters' names and file names: small letters,
/// digits and `_`, at least one.
fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Checks lengths, pointers and UTF-8 of a parameter's declaration; what the texts mean is checked when the parameter
/// is declared.
fn check_param(p: &ParamDecl, place: &str) -> Result<(), Refusal> {
    // SAFETY: `accept`'s caller promised readable pointers.
    unsafe {
        text("parameter name", p.name, NAME_LIMIT, place)?;
        text("parameter default", p.default, TEXT_LIMIT, place)?;
        text("parameter help", p.help, TEXT_LIMIT, place)?;
        for &s in list("parameter enumerators", p.enumerators, place)? {
            text("parameter enumerator", s, NAME_LIMIT, place)?;
        }
        for &s in list("parameter synonyms", p.synonyms, place)? {
            text("parameter synonym", s, 2 * NAME_LIMIT, place)?;
        }
    }
    Ok(())
}

/// Reads a component's text; one that is null, longer than `limit` bytes or not UTF-8 is refused in the name of
/// `field`.
///
/// # Safety
/// `s.ptr` must be readable for `s.len` bytes for good if it is not null and the length is within `limit`.
unsafe fn text(field: &'static str, s: StrRef, limit: usize, place: &str) -> Result<&'static str, Refusal> {
    if s.len > limit {
        let ours = format!("at most {limit} bytes");
        return Err(Refusal::new(field, format!("{} bytes", s.len), ours, place));
    }
    // SAFETY: the caller's promise.
    match unsafe { s.get() } {
        Some(text) => Ok(text),
        None if s.ptr.is_null() => {
            Err(Refusal::new(field, format!("a null pointer to {} bytes", s.len), "text", place))
        }
        None => Err(Refusal::new(field, "bytes that are not UTF-8", "UTF-8 text", place)),
    }
}

/// Reads a component's list; one that is null, misaligned or longer than `LIST_LIMIT` entries is refused in the name of
/// `field`.
///
/// # Safety
/// As [`text`], for values of `T`.
unsafe fn list<T>(field: &'static str, s: SliceRef<T>, place: &str) -> Result<&'static [T], Refusal> {
    if s.len > LIST_LIMIT {
        let ours = format!("at most {LIST_LIMIT}");
        return Err(Refusal::new(field, format!("{} entries", s.len), ours, place));
    }
    if s.len > 0 && (s.ptr.is_null() || !s.ptr.is_aligned()) {
        let theirs = format!("{} entries at {:p}", s.len, s.ptr);
        return Err(Refusal::new(field, theirs, "an aligned address that is not null", place));
    }
    // SAFETY: the caller's promise; null, alignment and length have been looked at.
    Ok(unsafe { s.get() })
}
