//! Programs of bench/verbs, built with Debian's headers, run on the device: objects, locks and results of every category.

mod library;

use library::{library, package};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const CATEGORIES: [&str; 7] =
    ["mpi_everywhere", "td_per_context", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"];

/// The programs, built; a folder that goes with it.
struct Benches {
    folder: PathBuf,
}

impl Benches {
    /// `None`: there are no headers.
    fn new(name: &str) -> Option<Benches> {
        let installed = Path::new("/usr/include/infiniband/verbs.h").is_file();
        let headers = match installed {
            true => PathBuf::from("/"),
            false => package("libibverbs-dev", "usr/include/infiniband/verbs.h")?,
        };
        let folder = library(name);
        std::os::unix::fs::symlink("libibverbs.so.1", folder.join("libibverbs.so")).expect("a link");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/verbs");
        for program in ["rate", "dgemm", "stencil"] {
            let built = Command::new("cc")
                .args(["-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"])
                .arg(headers.join("usr/include"))
                .args([from.join(format!("{program}.c")), from.join("endpoints.c")])
                .arg("-L")
                .arg(&folder)
                .args(["-libverbs", "-ldl", "-o"])
                .arg(folder.join(program))
                .status()
                .expect("a C compiler");
            assert!(built.success(), "{program} does not build");
        }
        Some(Benches { folder })
    }

    /// A program's numbers, by name.
    fn run(&self, program: &str, arguments: &[&str]) -> HashMap<String, f64> {
        let setup = format!("fabric=b{}-{program},uar=static,patched=1", std::process::id());
        let out = Command::new("timeout")
            .arg("100")
            .arg(self.folder.join(program))
            .args(arguments)
            .env("LD_LIBRARY_PATH", &self.folder)
            .env("OXMPI_FAKE_VERBS", setup)
            .output()
            .expect("timeout runs");
        let said = String::from_utf8_lossy(&out.stdout);
        let wrong = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success(), "{program} {arguments:?}: {} {said} {wrong}", out.status);
        let pairs = said.split_whitespace().filter_map(|word| word.split_once('='));
        pairs.filter_map(|(name, value)| Some((name.to_owned(), value.parse().ok()?))).collect()
    }
}

impl Drop for Benches {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Pages of registers, queue pairs and kilobytes for 16 threads, as the paper's table has them; and requests that took a lock that threads share.
#[test]
fn rates_of_categories() {
    let Some(benches) = Benches::new("rates") else { return };
    let forms = [
        (128, 16, 5520),
        (144, 16, 5520),
        (40, 32, 3104),
        (24, 16, 1680),
        (16, 16, 1680),
        (8, 16, 1680),
        (8, 1, 345),
    ];
    for (category, (pages, pairs, kilobytes)) in CATEGORIES.iter().zip(forms) {
        let got = benches.run("rate", &["-t", "16", "-c", category, "-n", "64", "-p", "1", "-q", "1"]);
        let number = |name: &str| got.get(name).copied().unwrap_or(-1.0);
        let found = (number("uar_pages") as i64, number("qps") as i64, number("kilobytes") as i64);
        assert_eq!(found, (pages, pairs, kilobytes), "{category}");
        // A pair in a thread's domain takes no lock; one without takes its own, which nobody shares but in the last.
        let alone = [*category != "mpi_everywhere", *category != "static", *category != "mpi_threads"]
            .iter()
            .all(|no| *no);
        assert_eq!(number("qp_locks"), if alone { 0.0 } else { 1.0 }, "{category}");
        assert_eq!(number("uuar_locks") > 0.0, *category == "static", "{category}");
        assert_eq!(
            (number("doorbells"), number("blue_flames")),
            (1.0, 1.0),
            "{category}: one for each message"
        );
        // In line: the device reads neither request nor payload.
        assert_eq!((number("wqe_reads"), number("payload_reads")), (0.0, 0.0), "{category}");
    }
}

/// Savings of a list, of a signal now and then and of data in line, by count.
#[test]
fn features_save_what_they_should() {
    let Some(benches) = Benches::new("features") else { return };
    let of = |without: &str| {
        let options = ["-t", "2", "-n", "512", "-c", "dynamic"];
        let more: &[&str] = if without.is_empty() { &[] } else { &["-w", without] };
        benches.run("rate", &[&options[..], more].concat())
    };
    let all = of("");
    assert_eq!((all["doorbells"], all["cqe_writes"], all["payload_reads"]), (0.03125, 0.015625, 0.0));
    assert_eq!(of("postlist")["doorbells"], 1.0);
    assert_eq!(of("unsignaled")["cqe_writes"], 1.0);
    assert_eq!(of("inline")["payload_reads"], 1.0);
    assert_eq!(of("postlist,blueflame")["blue_flames"], 0.0);
    let shared = benches.run("rate", &["-t", "4", "-n", "256", "-p", "1", "-S", "qp=4"]);
    assert_eq!((shared["qps"], shared["contexts"], shared["qp_locks"]), (1.0, 1.0, 1.0));
}

/// Buffers that are not aligned share lines of memory, which the device then reads for all of them.
#[test]
fn buffers_share_lines() {
    let Some(benches) = Benches::new("lines") else { return };
    for (option, lines) in [(&[][..], 4.0), (&["-u"][..], 1.0), (&["-S", "buffer=2"][..], 2.0)] {
        let got = benches.run("rate", &[&["-t", "4", "-n", "64", "-w", "inline"][..], option].concat());
        assert_eq!((got["lines"], got["payload_reads"]), (lines, 1.0), "{option:?}");
    }
}

/// The product and the field are right in every category; they say so themselves.
#[test]
fn arrays_and_stencils_are_right() {
    let Some(benches) = Benches::new("applications") else { return };
    for category in CATEGORIES {
        let product = benches.run("dgemm", &["-c", category, "-t", "4", "-g", "3"]);
        assert_eq!(product["doorbells"], 1.0, "{category}");
        for (ranks, threads) in [("4", "1"), ("2", "4"), ("1", "4")] {
            benches.run("stencil", &["-c", category, "-r", ranks, "-t", threads, "-k", "10"]);
        }
    }
}
