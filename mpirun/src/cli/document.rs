//! `docs/mpirun-options.md`, made from the table.

use super::table::{OPTIONS, Opt, Standing};
use std::fmt::Write;

const HEAD: &str = "\
# mpirun's options, compared with Open MPI 5's

Made from the table in `mpirun/src/cli/table.rs`; `OXMPI_BLESS=1 cargo test -p oxmpi-mpirun --test jobs table` writes it
anew. The same test gives each of these options to `mpirun` and sees whether it does what this page says: accepted, or
refused with the reason.

*same*: what Open MPI 5 does. *different*: accepted, and what differs. *missing*: refused, and why. *MPICH*: a
spelling of MPICH's, beside Open MPI's. Long options may have one dash or two.

Different in general:

- **More processes than cores are allowed** when slots are only counted cores. Open MPI refuses and asks for
  `:OVERSUBSCRIBE`; scripts that start four ranks on a laptop would need it everywhere. Slots that a hostfile or
  `--host` gives are a limit here, too, and `:NOOVERSUBSCRIBE` makes counted cores one.
- **Without `--map-by` and `--bind-to`** one or two processes get a core each; more are bound to a NUMA node each,
  spread evenly, where there are several and all fit. Open MPI 5 binds each to a core whatever their number, so that the
  threads of a process share it.
- **Binding to something smaller than what is mapped to** takes the object with the fewest processes; Open MPI fills the
  first before it takes the second.
- **Unknown options** are refused with the nearest that exists. Those that Open MPI calls deprecated are read without
  a warning.
- **A status of 127 or 126** says that a program is not there or cannot be executed, as a shell does; Open MPI says 1.
- `OMPI_FIRST_RANKS` and `OMPI_APP_CTX_NUM_PROCS` are always set, and right for every program. `OMPI_FILE_LOCATION` is not set:
  a job has no session folder. `MPI_LOCALRANKID` and `MPI_LOCALNRANKS` are set as by MPICH's launcher.
- **A signal that mpirun was started with ignored stays ignored**: a script's background job (`mpirun ... &` in a shell without job
  control) has SIGINT ignored, and one under nohup SIGHUP, so that ^C or the end of a terminal meant for others does not end
  it. `kill -TERM` ends it.
- `MPIEXEC_TIMEOUT` is `--timeout`; where both are given they have to agree.
";

/// The whole page.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    let mut section = "";
    for option in OPTIONS {
        if option.section != section {
            section = option.section;
            let _ = write!(page, "\n## {section}\n\n| option | | what, why |\n|---|---|---|\n");
        }
        let (standing, remark) = match option.standing() {
            Standing::Same => ("same", String::new()),
            Standing::Different(why) => ("different", why.to_owned()),
            Standing::Missing(why) => ("missing", why.to_owned()),
            Standing::Mpich => ("MPICH", String::new()),
        };
        let help = if standing == "missing" { "" } else { option.help };
        let both = [help, &remark].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ");
        let _ = writeln!(page, "| {} | {standing} | {} |", spelled(option), escaped(&both));
    }
    page
}

fn spelled(option: &Opt) -> String {
    let shorts = option.short.iter().map(|c| format!("-{c}"));
    let longs = std::iter::once(&option.name).chain(option.aliases).filter(|name| name.len() > 1);
    let all: Vec<String> = shorts.chain(longs.map(|name| format!("--{name}"))).collect();
    let values: String = option.values.iter().map(|value| format!(" {value}")).collect();
    escaped(&format!("`{}{values}`", all.join("`, `")))
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|")
}
