//! `--explain NAME`: what a parameter means, its value, where that comes from, and which value a rank has by it.

use super::answers::{Answer, AnswerSources};
use super::listing::level_words;
use super::options::Options;
use super::{in_force, json, process};
use oxmpi_loading::registry::bytes;
use oxmpi_mca_params::{Origin, Value, catalogue, nearest};
use std::fmt::Write;

pub fn answer(known: &AnswerSources, name: &str, options: &Options) -> Result<Answer, String> {
    let resolver = known.registry.resolver();
    let good = known.mistakes.is_empty();
    let Some(r) = resolver.get(name) else {
        let all = resolver.iter().flat_map(|r| {
            let d = &r.declaration;
            std::iter::once(d.full_name.as_str()).chain(d.synonyms.iter().map(String::as_str))
        });
        let hint = nearest(name, all).map(|n| format!("; the nearest is {n}")).unwrap_or_default();
        return Err(format!("there is no parameter {name:?}{hint}; mpi-info --params --level 9 lists all"));
    };
    let (process, job) = process::first(options)?;
    let AnswerSources { registry, files, places, .. } = known;
    let force = in_force::of(&in_force::ExplanationSources { registry, files, places }, r, &process);
    if options.json {
        return Ok(Answer { text: format!("{:#}\n", json::explained(r, &force)), good });
    }
    let d = &r.declaration;
    let mut text = format!("{}\n", d.full_name);
    let mut line = |label: &str, value: &str| {
        for (i, part) in catalogue::wrap(value, 76).iter().enumerate() {
            let label = if i == 0 { label } else { "" };
            let _ = writeln!(text, "  {label:<10} {part}");
        }
    };
    line("meaning", &d.help);
    let value = if r.text.is_empty() { "(empty)" } else { &r.text };
    let plain = r.value.to_string();
    match plain == r.text || r.text.is_empty() {
        true => line("value", value),
        false => line("value", &format!("{value}, that is {plain}")),
    }
    let plain = force.value.to_string();
    let size = match &force.value {
        Value::Size(n) if bytes(*n) != plain => format!(", that is {}", bytes(*n)),
        _ => String::new(),
    };
    let shown = if plain.is_empty() { "(empty)" } else { &plain };
    line("in force", &format!("{shown}{size}"));
    let because = match (&*force.because, &r.origin) {
        ("", Origin::Default) => "it is the default",
        ("", _) => "it is what is set",
        (because, _) => because,
    };
    line("because", because);
    line("in a job", &format!("of {job}"));
    let under = if r.set_as == d.full_name { String::new() } else { format!(", as {}", r.set_as) };
    line("set by", &format!("{}{under}", r.origin));
    let settings = resolver.settings_of(d);
    for (name, setting) in settings.iter().rev().filter(|(n, s)| s.origin != r.origin || *n != r.set_as) {
        line("not used", &format!("{:?}, from {} ({name})", setting.text.to_string_lossy(), setting.origin));
    }
    if r.origin != Origin::Default {
        line("default", if d.default.is_empty() { "(empty)" } else { &d.default });
    }
    let names = known.registry.components().iter().filter(|c| c.framework.name() == d.full_name);
    let names: Vec<&str> = names.map(|c| c.name.as_str()).collect();
    match names.is_empty() {
        true => line("takes", &d.wanted()),
        false => line("takes", &format!("{}; there are: {}", d.wanted(), names.join(", "))),
    }
    line("level", &level_words(d.level));
    let scope = match d.is_writable() {
        true => format!("{}: tools may write it before the library starts", d.scope_name()),
        false => format!("{}: set before the program starts", d.scope_name()),
    };
    line("scope", &scope);
    let owner = match (d.framework.as_str(), d.component.as_str()) {
        ("", _) => "the library".to_owned(),
        (f, "" | "base") => format!("framework {f}"),
        (f, c) => format!("component {c} of framework {f}"),
    };
    line("belongs to", &owner);
    if !d.synonyms.is_empty() {
        line("also", &d.synonyms.join(", "));
    }
    Ok(Answer { text, good })
}
