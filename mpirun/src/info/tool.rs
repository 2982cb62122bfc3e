//! Events of the tool information interface (MPI 5.0 §15.3.8): asked of the library itself, as any tool does.

use libloading::Library;
use oxmpi_mca_params::{Places, nearest};
use std::ffi::{c_char, c_int, c_void};
use std::ptr::null_mut;

/// The level of a verbosity: its three upper bits say for whom it is, its lower ones how much (MPI 5.0 §20).
fn level_of(verbosity: c_int) -> u32 {
    let bits = verbosity.unsigned_abs();
    ((bits >> 3).trailing_zeros().min(2) * 3 + (bits & 7).trailing_zeros().min(2)) + 1
}

/// A type of event.
pub struct Event {
    pub name: String,
    /// 1 to 9, as of parameters.
    pub level: u32,
    pub elements: u32,
    pub description: String,
}

type GetNum = extern "C" fn(*mut c_int) -> c_int;
type GetInfo = extern "C" fn(
    c_int,
    *mut c_char,
    *mut c_int,
    *mut c_int,
    *mut c_void,
    *mut c_void,
    *mut c_int,
    *mut c_void,
    *mut c_void,
    *mut c_char,
    *mut c_int,
    *mut c_int,
) -> c_int;

/// All types of events of this installation's library, in order of their indices.
pub fn events() -> Result<Vec<Event>, String> {
    let lib = Places::of_this_program().lib.ok_or("this program does not know its installation")?;
    let file = lib.join("libmpi_abi.so.1");
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    // SAFETY: the library of our own installation; it is never unloaded.
    let library = Box::leak(Box::new(unsafe { Library::new(&file) }.map_err(|e| failed(&e))?));
    macro_rules! function {
        ($name:literal: $type:ty) => {
            // SAFETY: the type is that of the function in the standard's C binding.
            *unsafe { library.get::<$type>($name) }.map_err(|e| failed(&e))?
        };
    }
    let init = function!(b"MPI_T_init_thread": extern "C" fn(c_int, *mut c_int) -> c_int);
    let get_num = function!(b"MPI_T_event_get_num": GetNum);
    let get_info = function!(b"MPI_T_event_get_info": GetInfo);
    let (mut number, mut level) = (0, 0);
    good("MPI_T_init_thread", init(0, &mut level))?;
    good("MPI_T_event_get_num", get_num(&mut number))?;
    (0..number).map(|index| event(get_info, index)).collect()
}

fn good(function: &str, code: c_int) -> Result<(), String> {
    if code == 0 { Ok(()) } else { Err(format!("{function} failed with code {code}")) }
}

/// Asks for the lengths, then for the texts.
fn event(get_info: GetInfo, index: c_int) -> Result<Event, String> {
    let (mut name_len, mut desc_len, mut level, mut elements) = (0, 0, 0, 0);
    let mut ask = |name: *mut c_char, desc: *mut c_char, lengths: (&mut c_int, &mut c_int)| {
        let (none, elements) = (null_mut::<c_void>(), &raw mut elements);
        let (name_len, desc_len, unused) = (lengths.0, lengths.1, null_mut());
        let level = &raw mut level;
        good(
            "MPI_T_event_get_info",
            get_info(index, name, name_len, level, none, none, elements, none, none, desc, desc_len, unused),
        )
    };
    ask(null_mut(), null_mut(), (&mut name_len, &mut desc_len))?;
    let (mut name, mut desc) = (buffer(name_len), buffer(desc_len));
    ask(name.as_mut_ptr().cast(), desc.as_mut_ptr().cast(), (&mut name_len, &mut desc_len))?;
    Ok(Event {
        name: text(&name),
        level: level_of(level),
        elements: u32::try_from(elements).unwrap_or(0),
        description: text(&desc),
    })
}

/// Room for a text and its end.
fn buffer(length: c_int) -> Vec<u8> {
    vec![0; usize::try_from(length).unwrap_or(0) + 1]
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes.split(|&b| b == 0).next().unwrap_or_default()).into_owned()
}

/// Those of one framework, which is the first word of their names; `all` stands for any.
pub fn of_framework(events: Vec<Event>, framework: &str) -> Result<Vec<Event>, String> {
    if framework == "all" {
        return Ok(events);
    }
    let mut names: Vec<String> = events.iter().map(|e| first_word(&e.name).to_owned()).collect();
    names.dedup();
    let some: Vec<Event> = events.into_iter().filter(|e| first_word(&e.name) == framework).collect();
    if some.is_empty() {
        let hint = nearest(framework, names.iter().map(String::as_str));
        let hint = hint.map(|n| format!("; did you mean {n}?")).unwrap_or_default();
        return Err(format!("no event of {framework:?}{hint}\nThere are: {}", names.join(", ")));
    }
    Ok(some)
}

fn first_word(name: &str) -> &str {
    name.split('_').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Event {
        Event { name: name.into(), level: 1, elements: 1, description: String::new() }
    }

    #[test]
    fn by_framework() {
        let events = || vec![named("mpi_comm_freed"), named("mpi_error_raised")];
        assert_eq!(of_framework(events(), "all").map(|e| e.len()), Ok(2));
        assert_eq!(of_framework(events(), "mpi").map(|e| e.len()), Ok(2));
        let why = of_framework(events(), "mpj").map(|e| e.len()).expect_err("there is none");
        assert!(why.contains("did you mean mpi?"), "{why}");
    }

    #[test]
    fn verbosities_are_levels() {
        let all = [0x09, 0x0a, 0x0c, 0x11, 0x12, 0x14, 0x21, 0x22, 0x24];
        assert!(all.into_iter().map(level_of).eq(1..=9));
    }

    #[test]
    fn texts_end_at_their_zero() {
        assert_eq!((text(b"abc\0\0"), text(b""), buffer(-1).len()), ("abc".into(), String::new(), 1));
    }
}
