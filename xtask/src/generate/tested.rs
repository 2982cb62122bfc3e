//! Finds the functions that a test calls: in the C programs of `tests/programs`, `mpi/tests/c` and `bench`, by name and
//! parenthesis, and in the table of `tests/programs/forms.h`, by which the programs of blocking collectives are compiled again
//! for the nonblocking and the persistent ones. A call that is to fail (`FAILS(…)`) shows nothing of what the function does.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

pub type Tested = BTreeSet<String>;

const FOLDERS: [&str; 3] = ["tests/programs", "mpi/tests/c", "bench"];

pub fn tested(root: &Path) -> Result<Tested, String> {
    let mut tested = Tested::new();
    for folder in FOLDERS {
        read_folder(&root.join(folder), &mut tested)?;
    }
    Ok(tested)
}

fn read_folder(folder: &Path, tested: &mut Tested) -> Result<(), String> {
    let entries = fs::read_dir(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    for entry in entries {
        let path = entry.map_err(|e| e.to_string())?.path();
        if path.is_dir() {
            read_folder(&path, tested)?;
        } else if path.extension().is_some_and(|e| e == "c" || e == "h") {
            let text = fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
            read(&text, tested);
        }
    }
    Ok(())
}

fn read(text: &str, tested: &mut Tested) {
    let shows_nothing =
        |line: &&str| ["/*", "FAILS("].iter().any(|start| line.trim_start().starts_with(start));
    for line in text.lines().filter(|line| !shows_nothing(line)) {
        // Of a macro counts what it calls, not its own name.
        let skip = usize::from(line.starts_with("#define ") && line.find('(') < line.find(") "));
        for (name, rest) in calls(line).skip(skip) {
            match name {
                // A line of forms.h makes two functions of a third.
                "FORM" | "FORM_C" if line.starts_with("#define MPI_") => {
                    let large = if name == "FORM_C" { "_c" } else { "" };
                    let mut words = rest.split(',').map(str::trim);
                    if let (Some(later), Some(again)) = (words.next(), words.next()) {
                        // The programs are compiled as they are, too.
                        tested.insert(format!("MPI_{again}{large}"));
                        tested.insert(format!("MPI_{later}{large}"));
                        tested.insert(format!("MPI_{again}_init{large}"));
                    }
                }
                _ => {
                    let name = name.strip_prefix('P').filter(|n| n.starts_with("MPI_")).unwrap_or(name);
                    if name.starts_with("MPI_") {
                        tested.insert(name.to_string());
                    }
                }
            }
        }
    }
}

/// Words with a parenthesis behind them, and what follows that.
fn calls(line: &str) -> impl Iterator<Item = (&str, &str)> {
    line.match_indices('(').filter_map(|(at, _)| {
        let before = line[..at].trim_end();
        let start = before.rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |i| i + 1);
        (start < before.len()).then(|| (&before[start..], &line[at + 1..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found() {
        let mut found = Tested::new();
        read(
            "    if (MPI_Send(a) != 0 && PMPI_Recv (b)) x = MPI_SUM;\n\
             #define MPI_Bcast(...) FORM(Ibcast, Bcast, __VA_ARGS__)\n\
             #define MPI_Gather_c(...) FORM_C(Igather, Gather, __VA_ARGS__)\n\
             #define OTHER(x) MPI_Barrier(x)\n/* MPI_Wait(all) */\n\
             \x20   FAILS(MPI_ERR_RANK, MPI_Ssend(a));\n",
            &mut found,
        );
        let names: Vec<&str> = found.iter().map(String::as_str).collect();
        let wanted = [
            "MPI_Barrier",
            "MPI_Bcast",
            "MPI_Bcast_init",
            "MPI_Gather_c",
            "MPI_Gather_init_c",
            "MPI_Ibcast",
            "MPI_Igather_c",
            "MPI_Recv",
            "MPI_Send",
        ];
        assert_eq!(names, wanted);
    }
}
