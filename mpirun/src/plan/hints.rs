//! Hints of MPI_Comm_spawn about one program (MPI 5.0 §11.8.4, and Open MPI's), read into options of mpirun's command line.

use crate::cli::environment::Change;
use crate::help::paragraph;
use oxmpi_wireup::jobs::SpawnedProgram;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Hints about one program, as options.
#[derive(Debug, Default)]
pub(super) struct Hinted {
    /// Words of the command line.
    pub(super) words: Vec<OsString>,
    /// Names of nodes from `host`.
    pub(super) hosts: Vec<String>,
    pub(super) has_hosts: bool,
    /// More nodes, and files with nodes.
    pub(super) added: Vec<String>,
    pub(super) hostfiles: Vec<PathBuf>,
    soft: Option<Vec<u32>>,
    pub(super) soft_text: Option<String>,
    pub(super) file: Option<String>,
    pub(super) environment: Vec<Change>,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) mapped: bool,
    pub(super) inherit: bool,
}

impl Hinted {
    /// Reads the hints about one program.
    pub(super) fn read(program: &SpawnedProgram, folder: &Path) -> Result<Hinted, String> {
        let mut hinted = Hinted::default();
        for (key, value) in &program.hints {
            hinted.add(key, value, folder)?;
        }
        if let Some(file) = hinted.file.clone() {
            let path = folder.join(&file);
            let text = std::fs::read_to_string(&path)
                .map_err(|why| paragraph("cannot-read", &[&path.display().to_string(), &why.to_string()]))?;
            for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'))
            {
                let Some((key, value)) = line.split_once('=') else {
                    return Err(paragraph(
                        "spawn-hint",
                        &["file", &file, "its lines have the form KEY=VALUE"],
                    ));
                };
                let given = |known: &(String, String)| known.0 == key.trim();
                if key.trim() != "file" && !program.hints.iter().any(given) {
                    hinted.add(key.trim(), value.trim(), folder)?;
                }
            }
        }
        Ok(hinted)
    }

    /// Takes one hint. Keys that mean nothing to us are passed over (MPI 5.0 §10).
    fn add(&mut self, key: &str, value: &str, folder: &Path) -> Result<(), String> {
        let refuse = |why: &str| Err(paragraph("spawn-hint", &[key, value, why]));
        let is_true = matches!(value.trim().to_ascii_lowercase().as_str(), "true" | "1" | "yes");
        let names = || value.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
        let mut option = |option: &str, value: OsString| self.words.extend([option.into(), value]);
        if value == ":" {
            return refuse("a colon alone is no value");
        }
        match key {
            "host" | "hosts" => {
                self.has_hosts = true;
                self.hosts.extend(names());
            }
            "add-host" => self.added.extend(names()),
            "hostfile" | "add-hostfile" => {
                let files: Vec<PathBuf> = names().map(|name| folder.join(name)).collect();
                self.hostfiles.extend(files);
            }
            "wdir" => option("--wdir", folder.join(value).into()),
            "path" => {
                let folders = std::env::split_paths(value).map(|path| folder.join(path));
                match std::env::join_paths(folders) {
                    Ok(path) => option("--path", path),
                    Err(_) => return refuse("a folder's name has a colon"),
                }
            }
            "arch" => option("--arch", value.into()),
            "soft" => {
                let why = "it is no list of numbers A, A:B or A:B:C";
                self.soft = Some(numbers(value).ok_or_else(|| paragraph("spawn-hint", &[key, value, why]))?);
                self.soft_text = Some(value.to_owned());
            }
            "file" => self.file = Some(value.to_owned()),
            "map_by" | "mapper" => {
                self.mapped = true;
                option("--map-by", value.into());
            }
            "rank_by" => option("--rank-by", value.into()),
            "bind_to" => {
                self.mapped = true;
                option("--bind-to", value.into());
            }
            "npernode" => {
                self.mapped = true;
                option("--npernode", value.into());
            }
            "ppr" => {
                self.mapped = true;
                option("--map-by", format!("ppr:{value}").into());
            }
            "pernode" if is_true => {
                self.mapped = true;
                self.words.push("--pernode".into());
            }
            "display_map" if is_true => self.words.push("--display-map".into()),
            "oxmpi_inherit" => self.inherit = is_true,
            "env" => {
                for line in value.lines().filter(|line| !line.trim().is_empty()) {
                    match line.split_once('=') {
                        Some((name, value)) => self.environment.push(Change::Set(name.into(), value.into())),
                        None => self.environment.push(Change::Pass(line.into())),
                    }
                }
            }
            "ompi_param" => {
                for line in value.lines().filter(|line| !line.trim().is_empty()) {
                    let Some((name, value)) = line.split_once('=') else {
                        return refuse("its lines have the form NAME=VALUE");
                    };
                    self.parameters.push((name.trim().to_owned(), value.trim().to_owned()));
                }
            }
            "mpi_initial_errhandler" => self.parameters.push((key.to_owned(), value.to_owned())),
            "ompi_prefix" => option("--prefix", value.into()),
            "ompi_stdin_target" if value != "none" => {
                return refuse("standard input is that of mpirun's first job");
            }
            "ompi_non_mpi" if is_true => return refuse("the new processes have to be MPI programs"),
            "personality" if value != "ompi" => return refuse("ompi is the only one"),
            // Programs and files are where mpirun is.
            "preload_binary" | "ompi_preload_binary" | "ompi_preload_files" => {}
            _ => {}
        }
        Ok(())
    }

    /// The numbers of processes that a program may have, the highest first. `free`: slots that are left.
    pub(super) fn choices(&self, program: &SpawnedProgram, free: Option<u32>) -> Result<Vec<u32>, String> {
        let Some(soft) = &self.soft else { return Ok(vec![program.most]) };
        let limited = free.filter(|_| self.added.is_empty() && self.hostfiles.is_empty()).unwrap_or(u32::MAX);
        let mut all: Vec<u32> = soft.iter().copied().filter(|&n| n > 0 && n <= program.most).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.dedup();
        let least = all.last().copied();
        all.retain(|&n| n <= limited.max(1));
        match (all.is_empty(), least) {
            (false, _) => Ok(all),
            // The planner says what is missing.
            (true, Some(least)) => Ok(vec![least]),
            (true, None) => {
                let text = self.soft_text.clone().unwrap_or_default();
                let why = format!("no number in it is from 1 to {}", program.most);
                Err(paragraph("spawn-hint", &["soft", &text, &why]))
            }
        }
    }
}

/// Numbers of a list of `A`, `A:B` and `A:B:C` (MPI 5.0 §11.8.4), at most a million. None: it is none.
fn numbers(text: &str) -> Option<Vec<u32>> {
    let mut all = Vec::new();
    for triplet in text.split(',') {
        let parts: Option<Vec<i64>> = triplet.split(':').map(|part| part.trim().parse().ok()).collect();
        let (first, last, step) = match parts?[..] {
            [a] => (a, a, 1),
            [a, b] => (a, b, 1),
            [a, b, c] if c != 0 => (a, b, c),
            _ => return None,
        };
        let mut at = first;
        while (step > 0 && at <= last || step < 0 && at >= last) && all.len() < 1_000_000 {
            all.extend(u32::try_from(at).ok());
            at = at.checked_add(step)?;
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn lists_of_numbers() {
        assert_eq!(numbers("1:9:4, -2:0, 7:3:-2"), Some(vec![1, 5, 9, 0, 7, 5, 3]));
        for wrong in ["", "a", "1:2:0", "1:2:3:4", "1,,2"] {
            assert_eq!(numbers(wrong), None, "{wrong}");
        }
    }
}
