//! Info objects (MPI 5.0 §10). They may be used before MPI_Init and after MPI_Finalize.

use crate::call::handle::{Kind, Table};
use crate::call::memory::{In, Out, Text, read, text, write, write_made, write_text};
use crate::constants::*;
use crate::error::{Failure, Res, call_any_time};
use crate::types::Info;
use core::ffi::{c_char, c_int};
use parking_lot::Mutex;

type Object = oxmpi_runtime::Info;

pub static TABLE: Table<Mutex<Object>> = Table::new(Kind::Info);
/// MPI_INFO_ENV; empty until MPI_Init fills it.
static ENV: Mutex<Option<Object>> = Mutex::new(None);

/// Entries that MPI_INFO_ENV shows from now on.
pub fn set_env(info: Object) {
    *ENV.lock() = Some(info);
}

/// Entries of MPI_INFO_ENV for a process before anything is started.
pub fn info_of(arguments: &[String]) -> oxmpi_runtime::Info {
    let mut env = oxmpi_runtime::Info::new();
    if let Some((command, rest)) = arguments.split_first() {
        env.set("command", cut(command));
        env.set("argv", cut(&rest.join(" ")));
    }
    env.set("arch", std::env::consts::ARCH);
    if let Ok(folder) = std::env::current_dir() {
        env.set("wdir", cut(&folder.to_string_lossy()));
    }
    env
}

/// At most what an info value may have.
pub fn cut(value: &str) -> &str {
    let mut n = value.len().min(MPI_MAX_INFO_VAL as usize - 1);
    while !value.is_char_boundary(n) {
        n -= 1;
    }
    &value[..n]
}

/// A copy of the info object of a handle.
pub fn require(info: Info) -> Res<Object> {
    match info.0 {
        MPI_INFO_ENV => Ok(ENV.lock().clone().unwrap_or_default()),
        _ => Ok(object(info)?.lock().clone()),
    }
}

/// As [`require`], MPI_INFO_NULL is nothing.
pub fn optional(info: Info) -> Res<Option<Object>> {
    if info.0 == MPI_INFO_NULL { Ok(None) } else { require(info).map(Some) }
}

fn object(info: Info) -> Res<&'static Mutex<Object>> {
    match info.0 {
        MPI_INFO_NULL => Failure::err(MPI_ERR_INFO, "info is MPI_INFO_NULL"),
        MPI_INFO_ENV => Failure::err(MPI_ERR_INFO, "MPI_INFO_ENV cannot be changed"),
        other => match TABLE.get(other) {
            Some(object) => Ok(object),
            None => Failure::err(MPI_ERR_INFO, format!("info {other:#x} is no info object, or was freed")),
        },
    }
}

/// Tells the user something in an info object of theirs.
pub fn tell(info: Info, key: &str, value: &str) -> Res {
    object(info)?.lock().set(key, value);
    Ok(())
}

/// A handle for an info object.
pub fn adopt(info: Object) -> Res<Info> {
    match TABLE.insert(Box::new(Mutex::new(info))) {
        Some(handle) => Ok(Info(handle)),
        None => Failure::err(MPI_ERR_NO_MEM, "too many info objects"),
    }
}

/// A key from C: without blanks around it, not empty, not too long.
fn key_of(key: Text) -> Res<String> {
    let key = text(key, "key")?;
    let trimmed = key.trim_matches(' ');
    if trimmed.is_empty() || trimmed.len() >= MPI_MAX_INFO_KEY as usize {
        return Failure::err(MPI_ERR_INFO_KEY, format!("key has {} characters", trimmed.len()));
    }
    Ok(trimmed.to_string())
}

mpi_fn! {
    any_time fn MPI_Info_create(info: Out<Info>) -> c_int {
        call_any_time(NAME, || write_made(info, "info", || adopt(Object::new())))
    }
}
mpi_fn! {
    any_time fn MPI_Info_create_env(argc: c_int, argv: In<*const c_char>, info: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            let arguments = match usize::try_from(argc) {
                Ok(n) if n > 0 && !argv.is_null() => {
                    // SAFETY: the standard has the caller pass `argv` with `n` elements.
                    let pointers = unsafe { crate::call::memory::slice(argv, n, "argv") }?;
                    // SAFETY: each is a string, as the standard has it.
                    pointers.iter().map(|&p| text(unsafe { Text::new(p) }, "argv")).collect::<Res<Vec<String>>>()?
                }
                _ => std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
            };
            write_made(info, "info", || adopt(info_of(&arguments)))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_dup(info: Info, newinfo: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            write_made(newinfo, "newinfo", || adopt(require(info)?))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_free(info: Out<Info>) -> c_int {
        call_any_time(NAME, || {
            let handle = read(info, "info")?;
            object(handle)?;
            drop(TABLE.remove(handle.0));
            write(info, "info", Info(MPI_INFO_NULL))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_set(info: Info, key: Text, value: Text) -> c_int {
        call_any_time(NAME, || {
            let object = object(info)?;
            let key = key_of(key)?;
            let value = text(value, "value")?;
            if value.len() >= MPI_MAX_INFO_VAL as usize {
                return Failure::err(MPI_ERR_INFO_VALUE, format!("value has {} characters", value.len()));
            }
            object.lock().set(&key, &value);
            Ok(())
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_delete(info: Info, key: Text) -> c_int {
        call_any_time(NAME, || {
            let object = object(info)?;
            let key = key_of(key)?;
            if object.lock().delete(&key) {
                return Ok(());
            }
            Failure::err(MPI_ERR_INFO_NOKEY, format!("there is no key {key}"))
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_get(info: Info, key: Text, valuelen: c_int, value: Out<c_char>, flag: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let info = require(info)?;
            let key = key_of(key)?;
            let Ok(room) = usize::try_from(valuelen) else {
                return Failure::err(MPI_ERR_ARG, format!("valuelen is {valuelen}"));
            };
            let found = info.get(&key);
            if let Some(found) = found {
                // valuelen does not count the terminator.
                // SAFETY: the standard has the caller pass `value` with room for `room` bytes and one.
                unsafe { write_text(value, "value", found, room + 1) }?;
            }
            write(flag, "flag", found.is_some() as c_int)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_get_string(info: Info, key: Text, buflen: Out<c_int>, value: Out<c_char>, flag: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let info = require(info)?;
            let key = key_of(key)?;
            let room = read(buflen, "buflen")?;
            let Ok(room) = usize::try_from(room) else {
                return Failure::err(MPI_ERR_ARG, format!("buflen is {room}"));
            };
            let found = info.get(&key);
            if let Some(found) = found {
                if room > 0 {
                    // SAFETY: the standard has the caller pass `value` with room for `room` bytes.
                    unsafe { write_text(value, "value", found, room) }?;
                }
                // The length that is needed, terminator included.
                write(buflen, "buflen", found.len() as c_int + 1)?;
            }
            write(flag, "flag", found.is_some() as c_int)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_get_valuelen(info: Info, key: Text, valuelen: Out<c_int>, flag: Out<c_int>) -> c_int {
        call_any_time(NAME, || {
            let info = require(info)?;
            let found = info.get(&key_of(key)?).map(str::len);
            if let Some(n) = found {
                write(valuelen, "valuelen", n as c_int)?;
            }
            write(flag, "flag", found.is_some() as c_int)
        })
    }
}
mpi_fn! {
    any_time fn MPI_Info_get_nkeys(info: Info, nkeys: Out<c_int>) -> c_int {
        call_any_time(NAME, || write(nkeys, "nkeys", require(info)?.nkeys() as c_int))
    }
}
mpi_fn! {
    any_time fn MPI_Info_get_nthkey(info: Info, n: c_int, key: Out<c_char>) -> c_int {
        call_any_time(NAME, || {
            let info = require(info)?;
            let nth = usize::try_from(n).ok().and_then(|n| info.nth(n));
            let Some((name, _)) = nth else {
                return Failure::err(MPI_ERR_ARG, format!("n is {n}, info has {} keys", info.nkeys()));
            };
            // SAFETY: the standard has the caller pass `key` with room for MPI_MAX_INFO_KEY bytes.
            unsafe { write_text(key, "key", name, MPI_MAX_INFO_KEY as usize) }.map(|_| ())
        })
    }
}
