//! `--file PATH`: what would serve a file, and what it would keep, asked of the library itself as a program of one process would.

use super::answers::{Answer, AnswerSources};
use super::options::Options;
use crate::cores;
use libloading::Library;
use oxmpi_wireup::topology::SYSTEM;
use serde_json::{Map, Value};
use std::ffi::{CString, c_char, c_int, c_void};
use std::fmt::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::null_mut;

type Tell = unsafe extern "C" fn(*const c_char, u32, *mut u8, usize) -> usize;
type Init = extern "C" fn(*mut c_int, *mut c_void) -> c_int;

/// Keys and values, as the library tells them (`oxmpi_runtime::file`).
type Told = Vec<(String, String)>;

pub fn answer(known: &AnswerSources, path: &Path, options: &Options) -> Result<Answer, String> {
    let ranks = match options.processes {
        Some(ranks) => ranks,
        None => cores::count(Path::new(SYSTEM), &cores::allowed()?).min(cores::available()),
    };
    let told = ask(known, path, ranks)?;
    if let Some((_, why)) = told.iter().find(|(key, _)| key == "error") {
        return Err(why.clone());
    }
    let text = match (options.json, options.parsable) {
        (true, _) => json(&told),
        (_, true) => {
            told.iter().map(|(key, value)| format!("file:{}:{value}\n", key.replace('.', ":"))).collect()
        }
        _ => pretty(&told),
    };
    Ok(Answer { text, good: known.mistakes.is_empty() })
}

/// Asks the library, in this process.
fn ask(known: &AnswerSources, path: &Path, ranks: u32) -> Result<Told, String> {
    for (name, value) in known.registry.resolver().variables() {
        // SAFETY: this program has one thread.
        unsafe { std::env::set_var(name, value) };
    }
    let lib = known.places.lib.as_ref().ok_or("this program does not know its installation")?;
    let file = lib.join("libmpi_abi.so.1");
    let failed = |e: &dyn std::fmt::Display| format!("{}: {e}", file.display());
    // SAFETY: the library of our own installation; it is never unloaded.
    let library = Box::leak(Box::new(unsafe { Library::new(&file) }.map_err(|e| failed(&e))?));
    // SAFETY: the types are those of the functions, of which two are the standard's.
    let (init, tell, finalize) = unsafe {
        (
            *library.get::<Init>(b"MPI_Init").map_err(|e| failed(&e))?,
            *library.get::<Tell>(b"oxmpi_tell_file").map_err(|e| failed(&e))?,
            *library.get::<extern "C" fn() -> c_int>(b"MPI_Finalize").map_err(|e| failed(&e))?,
        )
    };
    let name = CString::new(path.as_os_str().as_bytes()).map_err(|_| "the path has a zero byte")?;
    if init(null_mut(), null_mut()) != 0 {
        return Err("MPI cannot be initialized in this process".into());
    }
    let mut bytes: Vec<u8> = Vec::new();
    loop {
        // SAFETY: a name with its end, and a place so long.
        let due = unsafe { tell(name.as_ptr(), ranks, bytes.as_mut_ptr(), bytes.len()) };
        let fits = due <= bytes.len();
        bytes.resize(due, 0);
        if fits {
            break;
        }
    }
    finalize();
    Ok(pairs(&bytes))
}

/// Texts that end by zero bytes, two by two.
fn pairs(bytes: &[u8]) -> Told {
    let texts: Vec<String> =
        bytes.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned()).collect();
    texts.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
}

/// An object whose keys' parts are objects in it.
fn json(told: &Told) -> String {
    let mut object = Map::new();
    for (key, value) in told {
        // Components' and hints' own names are the last parts.
        let mut place = &mut object;
        let parts: Vec<&str> = key.split('.').collect();
        for part in &parts[..parts.len() - 1] {
            let inner = place.entry(*part).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(inner) = inner else { unreachable!("a key has a value or parts, not both") };
            place = inner;
        }
        place.insert(parts[parts.len() - 1].to_owned(), value.clone().into());
    }
    format!("{:#}\n", Value::Object(object))
}

/// Lines for people.
fn pretty(told: &Told) -> String {
    let get = |key: &str| told.iter().find(|(known, _)| known == key).map_or("", |(_, value)| value.as_str());
    let number = |key: &str| get(key).parse::<u64>().unwrap_or(0);
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:>16}: {value}");
    };
    let kind = match get("kind") {
        "file" => "a file that is there",
        "folder" => "a folder; what is told is of files in it",
        _ => "there is no such file; what is told is of a new one",
    };
    line("File", &format!("{} ({kind})", get("path")));
    let of = |key: &str| if get(key).is_empty() { "not known" } else { get(key) }.to_owned();
    line(
        "Mount",
        &format!("{} on {}, options {}", of("mount.type"), of("mount.source"), of("mount.options")),
    );
    for framework in ["fs", "fbtl", "fcoll"] {
        let chosen = get(&format!("{framework}.chosen"));
        if chosen.is_empty() {
            continue;
        }
        let prefix = format!("{framework}.component.");
        let others: Vec<String> = told
            .iter()
            .filter_map(|(key, value)| Some(format!("{} {value}", key.strip_prefix(&prefix)?)))
            .collect();
        let because = match framework {
            "fs" => get("fs.because"),
            _ => "the highest priority",
        };
        line(framework, &format!("{chosen}, by {because} ({})", others.join("; ")));
    }
    if !get("file").is_empty() {
        line("Open file", get("file"));
        return text;
    }
    let striped = match number("layout.striping_unit") {
        0 => "not striped".to_owned(),
        unit => format!("stripes of {unit} bytes over {} devices", of("layout.striping_factor")),
    };
    let past = match number("layout.direct_unit") {
        0 => String::new(),
        unit => format!("; past the system's cache in units of {unit} bytes"),
    };
    line("Alignment", &format!("blocks of {} bytes, {striped}{past}", get("layout.block")));
    line(
        "Collective",
        &format!(
            "{} ranks on this node part a file in units of {} bytes; {} of them transfer for others, {} bytes at once",
            get("layout.ranks"),
            get("layout.unit"),
            get("hint.cb_nodes"),
            get("hint.cb_buffer_size")
        ),
    );
    let says = |key: &str, is: &str, is_not: &str| if get(key) == "yes" { is } else { is_not }.to_owned();
    line(
        "Locks",
        &format!(
            "{}, {}",
            says("keeps.locks_on_this_node", "exclude ranks of one node", "do not exclude ranks of one node"),
            says("keeps.locks_between_nodes", "and of several", "and not of several")
        ),
    );
    let data = match (get("keeps.data_between_nodes"), get("keeps.locks_carry_data")) {
        ("yes", _) => "other nodes read at once what one has written",
        (_, "yes") => "other nodes read what one has written under its locks, or after MPI_File_sync on both",
        _ => "other nodes read what one has written after MPI_File_sync on both",
    };
    line("Data", data);
    let space = says("keeps.space_ahead", "without writing", "by writing");
    line("Preallocation", &space);
    line(
        "Atomic mode",
        &format!(
            "{} for ranks of one node, {} for ranks of several",
            says("atomic_mode.one_node", "yes", "refused"),
            says("atomic_mode.several_nodes", "yes", "refused")
        ),
    );
    if !get("keeps.because").is_empty() {
        line("Because", get("keeps.because"));
    }
    for (key, value) in told.iter().filter_map(|(key, value)| Some((key.strip_prefix("hint.")?, value))) {
        line("Hint", &format!("{key} = {value}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told() -> Told {
        pairs(
            b"path\0/x/y\0kind\0new\0mount.type\0nfs4\0fs.because\0the parameter fs names it\0fs.chosen\0nfs\0\
              fs.component.nfs\0priority 20\0layout.block\x008192\0keeps.locks_carry_data\0yes\0hint.cb_nodes\x001\0",
        )
    }

    #[test]
    fn keys_become_objects() {
        let text = json(&told());
        let object: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(object["fs"]["component"]["nfs"], "priority 20");
        assert_eq!((&object["layout"]["block"], &object["path"]), (&"8192".into(), &"/x/y".into()));
    }

    #[test]
    fn people_get_sentences() {
        let text = pretty(&told());
        for due in [
            "/x/y (there is no such file",
            "nfs, by the parameter fs names it (nfs priority 20)",
            "blocks of 8192 bytes, not striped",
            "under its locks",
            "Hint: cb_nodes = 1",
        ] {
            assert!(text.contains(due), "{due} is not in\n{text}");
        }
    }
}
