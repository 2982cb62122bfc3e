//! Control variables (MPI 5.0 §15.3.6): every parameter of the library is one, none is bound to an object.
//!
//! A variable is known by its parameter's name; whose value it has at the moment is found at each
//! access: the instance's, if there is one that has such a parameter, else the registry's. A parameter of a
//! component that the instance did not take is still there, and can no longer be written.
//!
//! **The value read** is the one in force: of a parameter that says 0 or `auto` in a running library the one that follows, as in
//! Open MPI, whose components write what they chose into the variable. Before MPI is started no process is there from which a
//! value could follow, and what is set is read.

use super::arguments::{at, give, name, offer, offer_text, verbosity};
use super::handles::Handles;
use super::users::{Res, call, instance};
use super::{enumeration, event};
use crate::call::installation;
use crate::call::memory::{Address, Out, Text};
use crate::constants::*;
use core::ffi::{c_char, c_int, c_void};
use core::ptr::{copy_nonoverlapping, write_bytes};
use oxmpi_loading::in_force::InForce;
use oxmpi_loading::registry::Registry;
use oxmpi_mca_params::{CannotSet, Declaration, Kind, Origin, Reader, Resolved, Resolver, Sources, Value};
use parking_lot::Mutex;
use std::collections::HashMap;

/// Least room for a text that a program may write, its end included.
const TEXT: usize = 1024;

/// The names of all variables; their places are the indices.
struct Names {
    list: Vec<String>,
    index: HashMap<String, usize>,
    /// Values that are known without an instance.
    registry: Option<Resolver>,
}

static NAMES: Mutex<Option<Names>> = Mutex::new(None);

impl Names {
    fn add<'a>(&mut self, names: impl Iterator<Item = &'a String>) {
        for name in names {
            if !self.index.contains_key(name) {
                self.index.insert(name.clone(), self.list.len());
                self.list.push(name.clone());
            }
        }
    }

    /// Finds what there is to be found now.
    fn refresh(&mut self) {
        if let Some(instance) = instance() {
            let params = instance.params();
            self.add(params.iter().map(|p| &p.declaration.full_name));
        } else if self.registry.is_none() {
            let resolver = look();
            let all: Vec<String> = resolver.iter().map(|p| p.declaration.full_name.clone()).collect();
            self.registry = Some(resolver);
            self.add(all.iter());
        }
    }
}

/// All parameters there are, without a started library. Wrong values are left to its start.
fn look() -> Resolver {
    let places = installation::places();
    let sources = Sources::read(Reader::Process, std::env::vars_os(), &places, &[]);
    let dirs: Vec<_> = places.components().into_iter().collect();
    // SAFETY: descriptors of components linked into this library.
    let registry = unsafe { Registry::look(sources.resolver, &dirs, &installation::builtin()) };
    registry.resolver().clone()
}

fn with_names<T>(body: impl FnOnce(&mut Names) -> T) -> T {
    let mut names = NAMES.lock();
    let names =
        names.get_or_insert_with(|| Names { list: Vec::new(), index: HashMap::new(), registry: None });
    body(names)
}

/// Names of all variables, in the order of their indices.
pub fn names() -> Vec<String> {
    with_names(|names| {
        names.refresh();
        names.list.clone()
    })
}

/// Values that were written before the library started; for its start.
pub fn written() -> Vec<(String, String)> {
    let names = NAMES.lock();
    let registry = names.as_ref().and_then(|n| n.registry.as_ref());
    let set = registry.into_iter().flat_map(Resolver::iter).filter(|r| r.origin == Origin::Set);
    set.map(|r| (r.declaration.full_name.clone(), r.text.clone())).collect()
}

/// A variable as it is now.
pub fn resolved(name: &str) -> Option<Resolved> {
    let of_instance = instance().and_then(|i| i.param(name));
    of_instance.or_else(|| with_names(|names| names.registry.as_ref()?.get(name).cloned()))
}

/// Its value, which it has or will have.
fn in_force(name: &str) -> Option<InForce> {
    let running = instance().and_then(|instance| instance.in_force(name));
    running.or_else(|| resolved(name).map(|r| InForce::as_set(&r)))
}

fn variable(index: c_int) -> Res<Resolved> {
    let name = with_names(|names| {
        if at(&names.list, index).is_err() {
            names.refresh();
        }
        at(&names.list, index).cloned()
    })?;
    resolved(&name).ok_or(MPI_T_ERR_INVALID_INDEX)
}

fn write(name: &str, text: &str) -> Res {
    let written = match instance() {
        Some(instance) => match instance.write_param(name, text) {
            // Of a component that was not taken.
            Err(CannotSet::Unknown) => Err(CannotSet::NotNow),
            other => other,
        },
        None => with_names(|names| match &mut names.registry {
            Some(registry) => registry.set(name, text).cloned(),
            None => Err(CannotSet::Unknown),
        }),
    };
    match written {
        Ok(_) => Ok(()),
        Err(CannotSet::Never) => Err(MPI_T_ERR_CVAR_SET_NEVER),
        Err(CannotSet::NotNow | CannotSet::Overridden(_)) => Err(MPI_T_ERR_CVAR_SET_NOT_NOW),
        Err(CannotSet::Unknown) => Err(MPI_T_ERR_INVALID_HANDLE),
        Err(CannotSet::Wrong(_)) => Err(MPI_T_ERR_INVALID),
    }
}

/// How a variable's value lies in the user's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    Int,
    Unsigned,
    UnsignedLong,
    UnsignedLongLong,
    Count,
    Double,
    Char,
}

impl Form {
    fn of(d: &Declaration) -> Form {
        let within = |least: i64, most: i64| d.bounds().is_some_and(|(min, max)| min >= least && max <= most);
        match d.kind {
            Kind::Bool | Kind::Enum => Form::Int,
            Kind::Int if within(i32::MIN.into(), i32::MAX.into()) => Form::Int,
            Kind::Int => Form::Count,
            Kind::Unsigned if within(0, u32::MAX.into()) => Form::Unsigned,
            Kind::Unsigned => Form::UnsignedLongLong,
            Kind::Size => Form::UnsignedLong,
            Kind::Double => Form::Double,
            Kind::Text | Kind::List => Form::Char,
        }
    }
    fn datatype(self) -> usize {
        match self {
            Form::Int => MPI_INT,
            Form::Unsigned => MPI_UNSIGNED,
            Form::UnsignedLong => MPI_UNSIGNED_LONG,
            Form::UnsignedLongLong => MPI_UNSIGNED_LONG_LONG,
            Form::Count => MPI_COUNT,
            Form::Double => MPI_DOUBLE,
            Form::Char => MPI_CHAR,
        }
    }
}

/// A value as a whole number of 64 bits.
fn number(value: &Value) -> i64 {
    match value {
        Value::Unsigned(n) | Value::Size(n) => n.cast_signed(),
        other => other.as_i64().unwrap_or(0),
    }
}

fn scope(d: &Declaration) -> c_int {
    match d.scope_name() {
        "constant" => MPI_T_SCOPE_CONSTANT,
        "local" => MPI_T_SCOPE_LOCAL,
        "group" => MPI_T_SCOPE_GROUP,
        "group_eq" => MPI_T_SCOPE_GROUP_EQ,
        "all" => MPI_T_SCOPE_ALL,
        "all_eq" => MPI_T_SCOPE_ALL_EQ,
        _ => MPI_T_SCOPE_READONLY,
    }
}

fn enumtype(d: &Declaration) -> usize {
    match d.kind {
        Kind::Bool => enumeration::of("boolean", [(0, "false"), (1, "true")].into_iter()),
        Kind::Enum => {
            let items = d.enumerators.iter().enumerate().map(|(i, e)| (i as c_int, e.as_str()));
            enumeration::of(&d.full_name, items)
        }
        _ => MPI_T_ENUM_NULL,
    }
}

/// A handle on a variable.
struct Handle {
    index: c_int,
    name: String,
    form: Form,
    /// Elements; of texts: characters with their end.
    count: usize,
}

static HANDLES: Handles<Handle> = Handles::new();

/// Nobody uses the interface any more.
pub fn forget() {
    HANDLES.clear();
}

fn handle(number: usize) -> Res<std::sync::Arc<Handle>> {
    HANDLES.get(number).ok_or(MPI_T_ERR_INVALID_HANDLE)
}

impl Handle {
    /// Stores the value.
    ///
    /// # Safety
    /// There is room for `count` elements of the handle's type.
    unsafe fn read(&self, buf: Address) -> Res {
        if buf.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let now = in_force(&self.name).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
        let n = number(&now.value);
        let buf = buf.as_mut_ptr();
        // SAFETY: the caller's promise.
        unsafe {
            match self.form {
                // Checked against the bounds when it was set.
                Form::Int => buf.cast::<i32>().write_unaligned(n as i32),
                Form::Unsigned => buf.cast::<u32>().write_unaligned(n as u32),
                Form::UnsignedLong | Form::UnsignedLongLong | Form::Count => {
                    buf.cast::<i64>().write_unaligned(n)
                }
                Form::Double => {
                    let Value::Double(x) = now.value else { return Err(MPI_T_ERR_INVALID_HANDLE) };
                    buf.cast::<f64>().write_unaligned(x);
                }
                Form::Char => {
                    let text = now.text.as_bytes();
                    let n = text.len().min(self.count - 1);
                    copy_nonoverlapping(text.as_ptr(), buf, n);
                    write_bytes(buf.add(n), 0, 1);
                }
            }
        }
        Ok(())
    }

    /// The user's value as text.
    ///
    /// # Safety
    /// A value of the handle's type is there; a text ends within `count`.
    unsafe fn text(&self, buf: Address) -> Res<String> {
        if buf.is_null() {
            return Err(MPI_T_ERR_INVALID);
        }
        let buf = buf.as_ptr();
        // SAFETY: the caller's promise.
        let text = unsafe {
            match self.form {
                Form::Int => buf.cast::<i32>().read_unaligned().to_string(),
                Form::Unsigned => buf.cast::<u32>().read_unaligned().to_string(),
                Form::UnsignedLong | Form::UnsignedLongLong => buf.cast::<u64>().read_unaligned().to_string(),
                Form::Count => buf.cast::<i64>().read_unaligned().to_string(),
                Form::Double => buf.cast::<f64>().read_unaligned().to_string(),
                Form::Char => {
                    let bytes = (0..self.count).map(|i| buf.add(i).read());
                    let bytes: Vec<u8> = bytes.take_while(|b| *b != 0).collect();
                    String::from_utf8(bytes).map_err(|_| MPI_T_ERR_INVALID)?
                }
            }
        };
        Ok(text)
    }
}

mpi_fn! {
    fn MPI_T_cvar_get_num(num_cvar: Out<c_int>) -> c_int {
        call(|| give(num_cvar, names().len() as c_int))
    }
}
mpi_fn! {
    fn MPI_T_cvar_get_info(cvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity_: Out<c_int>, datatype: Out<usize>, enumtype_: Out<usize>, desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>, scope_: Out<c_int>) -> c_int {
        call(|| {
            let d = variable(cvar_index)?.declaration;
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, &d.full_name) };
            offer(verbosity_, verbosity(d.level));
            offer(datatype, Form::of(&d).datatype());
            offer(enumtype_, enumtype(&d));
            // SAFETY: the standard has `desc_len` say the room at `desc`.
            unsafe { offer_text(desc, desc_len, &d.help) };
            offer(bind, MPI_T_BIND_NO_OBJECT);
            offer(scope_, scope(&d));
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_cvar_get_index(name_: Text, cvar_index: Out<c_int>) -> c_int {
        call(|| {
            let wanted = name(name_)?;
            let found = with_names(|names| {
                names.refresh();
                names.index.get(&wanted).copied()
            });
            give(cvar_index, found.ok_or(MPI_T_ERR_INVALID_NAME)? as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_T_cvar_handle_alloc(cvar_index: c_int, obj_handle: *mut c_void, handle: Out<usize>, count: Out<c_int>) -> c_int {
        // No variable is bound to an object, so there is nothing to look at.
        let _ = obj_handle;
        call(|| {
            let now = variable(cvar_index)?;
            if handle.is_null() || count.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let (form, writable) = (Form::of(&now.declaration), now.declaration.is_writable());
            let name = now.declaration.full_name;
            let text = in_force(&name).map_or(0, |it| it.text.len()).max(now.text.len());
            let elements = match form {
                Form::Char if writable => TEXT.max(text + 1),
                Form::Char => text + 1,
                _ => 1,
            };
            offer(handle, HANDLES.insert(Handle { index: cvar_index, name, form, count: elements }));
            give(count, elements as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_T_cvar_handle_free(handle: Out<usize>) -> c_int {
        call(|| {
            let number = crate::call::memory::read(handle, "").map_err(|_| MPI_T_ERR_INVALID)?;
            HANDLES.remove(number).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
            give(handle, MPI_T_CVAR_HANDLE_NULL)
        })
    }
}
mpi_fn! {
    fn MPI_T_cvar_read(handle_: usize, buf: Address) -> c_int {
        // SAFETY: the standard has the caller pass room for as many elements as the handle has.
        call(|| unsafe { handle(handle_)?.read(buf) })
    }
}
mpi_fn! {
    fn MPI_T_cvar_write(handle_: usize, buf: Address) -> c_int {
        call(|| {
            let handle = handle(handle_)?;
            // SAFETY: the standard has the caller pass a value of the handle's type.
            let text = unsafe { handle.text(buf) }?;
            write(&handle.name, &text)?;
            event::raise(event::Kind::ParameterWritten, || vec![handle.index]);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_hold_every_value_of_the_declaration() {
        let d = |kind| Declaration::new("f", "c", "n", kind, "0", "");
        assert_eq!(Form::of(&d(Kind::Int)), Form::Count);
        assert_eq!(Form::of(&d(Kind::Int).range(-1, 100)), Form::Int);
        assert_eq!(Form::of(&d(Kind::Int).range(0, 1 << 40)), Form::Count);
        assert_eq!(Form::of(&d(Kind::Unsigned).range(1, 64)), Form::Unsigned);
        assert_eq!(Form::of(&d(Kind::Unsigned).range(1, i64::MAX)), Form::UnsignedLongLong);
        assert_eq!(Form::of(&d(Kind::Size)), Form::UnsignedLong);
        assert_eq!(Form::of(&d(Kind::List)), Form::Char);
    }

    #[test]
    fn what_is_written_is_read_back() {
        let handle = |form, count| Handle { index: 0, name: String::new(), form, count };
        let text = |form, count, bytes: &[u8]| {
            // SAFETY: only read.
            let at = unsafe { Address::new(bytes.as_ptr().cast_mut()) };
            // SAFETY: the bytes are such a value.
            unsafe { handle(form, count).text(at) }.unwrap()
        };
        assert_eq!(text(Form::Double, 1, &1.5f64.to_ne_bytes()).parse(), Ok(1.5));
        assert_eq!(text(Form::Int, 1, &(-3i32).to_ne_bytes()), "-3");
        assert_eq!(text(Form::Char, 7, b"abc\0def"), "abc");
        assert_eq!(text(Form::Char, 2, b"abc\0def"), "ab");
        // SAFETY: nothing is read there.
        assert!(unsafe { handle(Form::Int, 1).text(Address::NULL) }.is_err());
    }
}
