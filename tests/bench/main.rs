//! Instructions of a message, counted by callgrind: never timed, so the machine may be busy.
//!
//! `messages.c` runs on two ranks under callgrind, which counts only inside the MPI functions looked
//! at. The ranks meet outside MPI, so nothing polls in vain; each phase runs with a number of
//! messages and with twice that number, and the figures are the difference, so that nothing that
//! happens once is in them. Only instructions in our own objects count: the C library chooses its
//! code by processor, ours does not.
//!
//! `counts.toml` has the figures that were committed. Counts follow the compiler, so they are compared
//! only where the same compiler made them; what holds with any compiler (calls across the component
//! boundary, loaded against linked in) is checked everywhere. `OXMPI_BLESS=1` writes the file anew.
//!
//! Map: `profile` (what callgrind wrote) · `counts` (jobs, and figures of them) · `queries` (sync objects).

mod counts;
mod profile;
mod queries;

use counts::{Counts, Crossings, Figures};
use oxmpi_tests::{in_path, leave_out, mpi, root};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;
use toml::{Table, Value};

/// How far a figure may be from the committed one: for a change that is meant, bless it.
const TOLERANCE: f64 = 0.03;
/// How far linked-in components may be from loaded ones.
const FORMS: f64 = 0.02;

/// With what was measured.
struct Measured {
    loaded: [Counts; 3],
    builtin: [Counts; 3],
    /// Loaded, below MULTIPLE, while calls are counted for the performance variables.
    counted: Counts,
}

/// MPI_THREAD_SINGLE; MPI_THREAD_MULTIPLE with one thread; the same after a second one has come.
const LEVELS: [&str; 3] = ["single", "multiple", "several"];
/// The share that MPI_THREAD_MULTIPLE may cost more in a process that has one thread.
const SOLO: f64 = 0.05;

/// Measured on first use; `None` where it cannot be, which has been said then.
fn measured() -> Option<&'static Measured> {
    static MEASURED: OnceLock<Option<Measured>> = OnceLock::new();
    MEASURED.get_or_init(measure).as_ref()
}

fn measure() -> Option<Measured> {
    let why = if !cfg!(target_arch = "x86_64") {
        "the figures are those of x86-64"
    } else if !in_path("valgrind") {
        "valgrind is missing (Debian package valgrind)"
    } else if !mpi().is_ours() {
        "it looks into our own library"
    } else {
        let (loaded, builtin) = (mpi().prefix.clone(), counts::builtin());
        return Some(Measured {
            loaded: LEVELS.map(|level| counts::count(&loaded, level, &[])),
            builtin: LEVELS.map(|level| counts::count(&builtin, level, &[])),
            counted: counts::count(&loaded, LEVELS[0], &["--mca", "mpi_spc_attach", "all"]),
        });
    };
    leave_out("bench: instructions per message", why);
    None
}

fn committed() -> PathBuf {
    root().join("tests/bench/counts.toml")
}

fn blessing() -> bool {
    std::env::var_os("OXMPI_BLESS").is_some_and(|v| v == "1")
}

/// The compiler that cargo uses here, in its own words.
fn compiler() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").current_dir(root()).output().expect("rustc runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn table(figures: &Figures) -> Value {
    Value::Table(figures.iter().map(|(name, value)| (name.clone(), Value::Float(*value))).collect())
}

/// The file as it would be committed now.
fn write_down(m: &Measured) -> Table {
    let by_level = |counts: &[Counts; 3], what: fn(&Counts) -> &Figures| {
        let rows = LEVELS.iter().zip(counts).map(|(level, c)| ((*level).to_owned(), table(what(c))));
        Value::Table(rows.collect())
    };
    let instructions = [
        ("loaded".to_owned(), by_level(&m.loaded, |c| &c.instructions)),
        ("builtin".to_owned(), by_level(&m.builtin, |c| &c.instructions)),
        ("counted".to_owned(), table(&m.counted.instructions)),
    ];
    let crossings = [
        ("send".to_owned(), by_level(&m.loaded, |c| &c.send)),
        ("recv".to_owned(), by_level(&m.loaded, |c| &c.recv)),
    ];
    let boundary = [
        ("send".to_owned(), by_level(&m.loaded, |c| &c.send_boundary)),
        ("recv".to_owned(), by_level(&m.loaded, |c| &c.recv_boundary)),
    ];
    let mut file = Table::new();
    file.insert("compiler".into(), Value::String(compiler()));
    file.insert("instructions".into(), Value::Table(instructions.into_iter().collect()));
    file.insert("crossings".into(), Value::Table(crossings.into_iter().collect()));
    file.insert("boundary".into(), Value::Table(boundary.into_iter().collect()));
    file
}

const HEAD: &str = "\
# Instructions per message of 8 bytes in our own objects, calls from one object into another, and
# instructions in the source files of the boundary; tests/bench/main.rs says how they are counted.
# Written by: OXMPI_BLESS=1 cargo test -p oxmpi-tests --test bench
";

/// All numbers of a table by their path, `instructions.loaded.single.send`.
fn flat(at: &str, value: &Value, into: &mut Vec<(String, f64)>) {
    match value {
        Value::Table(table) => {
            for (name, value) in table {
                let path = if at.is_empty() { name.clone() } else { format!("{at}.{name}") };
                flat(&path, value, into);
            }
        }
        Value::Float(number) => into.push((at.to_owned(), *number)),
        Value::Integer(number) => into.push((at.to_owned(), *number as f64)),
        _ => {}
    }
}

fn numbers(file: &Table) -> Vec<(String, f64)> {
    let mut numbers = Vec::new();
    flat("", &Value::Table(file.clone()), &mut numbers);
    numbers
}

/// Farther apart than a share of the larger.
fn apart(a: f64, b: f64, share: f64) -> bool {
    (a - b).abs() > share * a.max(b)
}

#[test]
fn instructions_are_those_committed() {
    let Some(m) = measured() else { return };
    let now = write_down(m);
    for (name, value) in numbers(&now) {
        println!("{value:>9.2}  {name}");
    }
    if blessing() {
        let text = toml::to_string(&now).expect("a table of numbers");
        std::fs::write(committed(), format!("{HEAD}\n{text}")).expect("the file can be written");
        return;
    }
    let text = std::fs::read_to_string(committed()).expect("counts.toml is committed");
    let then: Table = text.parse().expect("counts.toml is TOML");
    let made_by = then.get("compiler").and_then(Value::as_str).unwrap_or_default().to_owned();
    if made_by != compiler() {
        let why = format!("counts.toml is of {made_by}, this is {}", compiler());
        return leave_out("bench: instructions_are_those_committed", &why);
    }
    // With fewer cores than ranks a waiting thread gives its core away at once, in more instructions.
    if std::thread::available_parallelism().map_or(1, |n| n.get()) < 2 {
        return leave_out("bench: instructions_are_those_committed", "two ranks have only one core here");
    }
    let (then, now) = (numbers(&then), numbers(&now));
    let find = |name: &str, list: &[(String, f64)]| list.iter().find(|(n, _)| n == name).map(|(_, v)| *v);
    let mut wrong = Vec::new();
    for (name, before) in &then {
        match find(name, &now) {
            None => wrong.push(format!("{name}: {before} committed, not there now")),
            Some(value) if apart(value, *before, TOLERANCE) => {
                wrong.push(format!("{name}: {before} committed, {value} now"));
            }
            Some(_) => {}
        }
    }
    for (name, value) in now.iter().filter(|(name, _)| find(name, &then).is_none()) {
        wrong.push(format!("{name}: {value} now, not in counts.toml"));
    }
    assert!(wrong.is_empty(), "more than 3% apart (OXMPI_BLESS=1 if meant):\n  {}", wrong.join("\n  "));
}

#[test]
fn linked_in_costs_what_loaded_costs() {
    let Some(m) = measured() else { return };
    let mut wrong = Vec::new();
    for (level, (loaded, builtin)) in LEVELS.iter().zip(m.loaded.iter().zip(&m.builtin)) {
        assert!(!loaded.send.is_empty() && !loaded.recv.is_empty(), "no call left libmpi_abi: is it loaded?");
        assert!(
            builtin.send.is_empty() && builtin.recv.is_empty(),
            "linked in, but another object was called"
        );
        for (name, a) in &loaded.instructions {
            let b = builtin.instructions[name];
            if apart(*a, b, FORMS) {
                wrong.push(format!("{level} {name}: {a} loaded, {b} linked in"));
            }
        }
    }
    assert!(wrong.is_empty(), "more than 2% apart:\n  {}", wrong.join("\n  "));
}

/// MPI_THREAD_MULTIPLE costs a process with one thread at most 5% more; and the figures with a second one
/// show that it is not the same program twice.
#[test]
fn multiple_with_one_thread_costs_what_single_costs() {
    let Some(m) = measured() else { return };
    for (form, [single, multiple, several]) in [("loaded", &m.loaded), ("linked in", &m.builtin)] {
        let mut wrong = Vec::new();
        for (name, alone) in &single.instructions {
            let (solo, shared) = (multiple.instructions[name], several.instructions[name]);
            if solo > alone * (1.0 + SOLO) {
                wrong.push(format!("{name}: {alone} at SINGLE, {solo} at MULTIPLE with one thread"));
            }
            // A thread that ends a send that is complete takes no lock.
            if shared <= solo * (1.0 + SOLO) && name != "wait-sent" {
                wrong
                    .push(format!("{name}: {solo} with one thread, {shared} with several: are there locks?"));
            }
        }
        assert!(wrong.is_empty(), "{form}:\n  {}", wrong.join("\n  "));
    }
}

/// STYLE.md's budget of the hot path: a send makes two calls across the boundary, and each level
/// makes the same ones.
#[test]
fn calls_across_the_boundary() {
    let Some(m) = measured() else { return };
    let [single, multiple, several] = &m.loaded;
    let sending: Crossings = [("libmpi_abi -> libpml_ob1", 1.0), ("libpml_ob1 -> libbtl_shm", 1.0)]
        .map(|(n, v)| (n.into(), v))
        .into();
    assert_eq!(single.send, sending);
    assert_eq!(multiple.send, sending);
    assert_eq!(several.send, sending);
    assert_eq!(single.recv.get("libbtl_shm -> libpml_ob1"), Some(&1.0), "a message is handed up once");
    for other in [multiple, several] {
        assert_eq!(single.recv.keys().collect::<Vec<_>>(), other.recv.keys().collect::<Vec<_>>());
    }
}
