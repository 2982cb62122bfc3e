//! `--verbs`: the ports that btl-verbs would use on this machine, and what each endpoint category takes of them.
//!
//! The component tells both as values in force, by the functions with which it opens. Asked once for each category, with as many
//! communication resources as the user says.

use super::answers::{Answer, AnswerSources};
use super::options::Options;
use super::process;
use oxmpi_loading::registry::{InForce, Process};
use oxmpi_mca_params::catalogue;
use std::fmt::Write;

/// As the parameter has them.
const CATEGORIES: [&str; 6] =
    ["mpi_everywhere", "2xdynamic", "dynamic", "shared_dynamic", "static", "mpi_threads"];
const CATEGORY: &str = "btl_verbs_endpoint_category";

pub fn answer(contexts: u32, options: &Options) -> Result<Answer, String> {
    let cris = ["runtime_num_cris".to_owned(), contexts.to_string()];
    let asked = Options { mca: [&options.mca[..], &cris].concat(), ..options.clone() };
    let known = &AnswerSources::gather(&asked);
    if !known.registry.components().iter().any(|c| c.name == "verbs" && c.state.is_ok()) {
        return Err(
            "this installation has no component btl verbs, or none that can be used (--show-failed says why)"
                .into(),
        );
    }
    let (process, _) = process::first(options)?;
    let good = known.mistakes.is_empty();
    let ports = value(known, "btl_verbs_if_include", &process)?;
    let auto = value(known, CATEGORY, &process)?;
    let mut text = String::new();
    // Without a port each automatic value says why; one sentence will do.
    for name in ["if_include", "endpoint_category", "gid_index", "bandwidth"] {
        let found = value(known, &format!("btl_verbs_{name}"), &process)?;
        if found.because.contains("is not used in this process") {
            return Ok(Answer { text: format!("{}\n", found.because), good });
        }
    }
    let _ = writeln!(text, "ports: {}", ports.text);
    for (name, label) in [("gid_index", "address index"), ("mtu", "MTU in bytes"), ("bandwidth", "Mb/s")] {
        let found = value(known, &format!("btl_verbs_{name}"), &process)?;
        let each = found.because.split_once(": ").and_then(|(_, rest)| rest.split_once(": "));
        let each = each.map_or_else(|| found.text.clone(), |(_, each)| each.to_owned());
        let _ = writeln!(text, "{label}: {each}");
    }
    let _ = writeln!(text, "category: {} ({})", auto.text, before_takes(&auto.because));
    let _ = writeln!(text);
    for category in CATEGORIES {
        let set = [CATEGORY.to_owned(), category.to_owned()];
        let with = Options { mca: [&asked.mca[..], &set].concat(), ..asked.clone() };
        let found = value(&AnswerSources::gather(&with), CATEGORY, &process)?;
        for (i, part) in catalogue::wrap(&found.because, 90).iter().enumerate() {
            let _ = writeln!(text, "{:<16}{part}", if i == 0 { category } else { "" });
        }
    }
    let _ = writeln!(text);
    text.push_str(
        "Each port takes a device context, a queue pair and two completion queues for connecting and service beside these;\n\
         queue pairs count once for each process that is talked to.\n",
    );
    Ok(Answer { text, good })
}

/// How a category follows, without what it takes.
fn before_takes(because: &str) -> &str {
    because.rsplit_once("; ").map_or("as it is set", |(how, _)| how)
}

fn value(known: &AnswerSources, name: &str, process: &Process) -> Result<InForce, String> {
    known.registry.in_force(name, process).ok_or_else(|| format!("there is no parameter {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_a_category_follows() {
        assert_eq!(before_takes("auto: it has them; 2 contexts on each port: 1 a, 2 b"), "auto: it has them");
        assert_eq!(before_takes("2 contexts on each port: 1 a, 2 b"), "as it is set");
    }
}
