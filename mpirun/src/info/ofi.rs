//! `--ofi`: the providers and domains of libfabric on this machine, and what btl-ofi would make of them.
//!
//! The component tells them as the value in force of `btl_ofi_provider_include`, in a job that has a process on another node: elsewhere it does
//! not look.

use super::answers::{Answer, AnswerSources};
use super::options::Options;
use super::process;
use std::fmt::Write;

const PARAMETER: &str = "btl_ofi_provider_include";

pub fn answer(known: &AnswerSources, options: &Options) -> Result<Answer, String> {
    if !known.registry.components().iter().any(|c| c.name == "ofi" && c.state.is_ok()) {
        return Err(
            "this installation has no component btl ofi, or none that can be used (--show-failed says why)"
                .into(),
        );
    }
    let (process, _) = process::first(options)?;
    let found = known.registry.in_force(PARAMETER, &process.with_another_node());
    let found = found.ok_or_else(|| format!("there is no parameter {PARAMETER}"))?;
    let mut text = String::new();
    for line in found.because.split("; ") {
        let _ = writeln!(text, "{line}");
    }
    Ok(Answer { text, good: known.mistakes.is_empty() })
}
