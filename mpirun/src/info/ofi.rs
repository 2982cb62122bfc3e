//! `--ofi`: the providers and domains of libfabric on this machine, and what btl-ofi would make of them, for people and for programs.
//!
//! The component tells them as the value in force of `btl_ofi_provider_include`, in a job that has a process on another node: elsewhere it does
//! not look. Its sentence has a part for the library and one for each domain.

use super::answers::{Answer, AnswerSources};
use super::options::Options;
use super::process;
use serde_json::{Value, json};
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
    let text = match (options.json, options.parsable) {
        (true, _) => Survey::read(&found.because).json(),
        (_, true) => Survey::read(&found.because).lines(),
        _ => found.because.split("; ").fold(String::new(), |text, line| text + line + "\n"),
    };
    Ok(Answer { text, good: known.mistakes.is_empty() })
}

/// The component's sentence in its parts.
#[derive(Debug, Default, PartialEq, Eq)]
struct Survey<'a> {
    /// Version and file of the library.
    library: Option<(&'a str, &'a str)>,
    domains: Vec<Domain<'a>>,
    /// Parts that tell neither.
    notes: Vec<&'a str>,
}

/// A domain of a provider.
#[derive(Debug, PartialEq, Eq)]
struct Domain<'a> {
    provider: &'a str,
    name: &'a str,
    /// Capabilities.
    offers: Vec<&'a str>,
    /// It would be used as things are set.
    is_used: bool,
    /// It would be where somebody named btl-ofi.
    is_first: bool,
    /// Why it would not be used.
    because: &'a str,
}

impl<'a> Survey<'a> {
    fn read(sentence: &'a str) -> Survey<'a> {
        let mut survey = Survey::default();
        for part in sentence.split("; ") {
            if let Some(domain) = Domain::read(part) {
                survey.domains.push(domain);
            } else if let Some(library) = library(part) {
                survey.library = Some(library);
            } else {
                survey.notes.push(part);
            }
        }
        survey
    }

    fn json(&self) -> String {
        let library = self.library.map(|(version, file)| json!({ "version": version, "file": file }));
        let domains = self.domains.iter().map(|d| {
            json!({
                "provider": d.provider,
                "domain": d.name,
                "offers": d.offers,
                "used": d.is_used,
                "first_where_named": d.is_first,
                "because": d.because,
            })
        });
        let all = json!({ "library": library, "domains": domains.collect::<Value>(), "notes": self.notes });
        format!("{all:#}\n")
    }

    /// Lines of keys and values.
    fn lines(&self) -> String {
        let mut text = String::new();
        if let Some((version, file)) = self.library {
            let _ = writeln!(text, "ofi:library:version:{version}\nofi:library:file:{file}");
        }
        for (n, d) in self.domains.iter().enumerate() {
            let values = [
                ("provider", d.provider.to_owned()),
                ("domain", d.name.to_owned()),
                ("offers", d.offers.join(",")),
                ("used", d.is_used.to_string()),
                ("first_where_named", d.is_first.to_string()),
                ("because", d.because.to_owned()),
            ];
            for (key, value) in values {
                let _ = writeln!(text, "ofi:domain:{n}:{key}:{value}");
            }
        }
        for note in &self.notes {
            let _ = writeln!(text, "ofi:note:{note}");
        }
        text
    }
}

/// `libfabric 1.17 (libfabric.so.1)`: version and file.
fn library(part: &str) -> Option<(&str, &str)> {
    part.strip_prefix("libfabric ")?.strip_suffix(')')?.split_once(" (")
}

impl<'a> Domain<'a> {
    /// `tcp;ofi_rxm, domain eth0 (messages, remote memory): another one comes first`.
    fn read(part: &'a str) -> Option<Domain<'a>> {
        let (provider, rest) = part.split_once(", domain ")?;
        let (name, rest) = rest.split_once(" (")?;
        let (offers, verdict) = rest.split_once("): ")?;
        let named = verdict.strip_prefix("first choice where named, but ");
        let is_used = verdict == "used";
        Some(Domain {
            provider,
            name,
            offers: offers.split(", ").collect(),
            is_used,
            is_first: is_used || named.is_some(),
            because: if is_used { "" } else { named.unwrap_or(verdict) },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SENTENCE: &str = "libfabric 1.17 (/opt/a (b)/libfabric.so.1); cxi, domain cxi0 (messages, remote memory, atomics): used; \
        tcp;ofi_rxm, domain eth0 (messages, remote memory): first choice where named, but btl tcp does the same, so it is not; \
        shm, domain shm (messages): another one comes first; a word of something else";

    #[test]
    fn a_sentence_is_taken_to_pieces() {
        let survey = Survey::read(SENTENCE);
        assert_eq!(survey.library, Some(("1.17", "/opt/a (b)/libfabric.so.1")));
        let told: Vec<_> =
            survey.domains.iter().map(|d| (d.provider, d.name, d.is_used, d.is_first)).collect();
        let due =
            [("cxi", "cxi0", true, true), ("tcp;ofi_rxm", "eth0", false, true), ("shm", "shm", false, false)];
        assert_eq!(told, due);
        assert_eq!(survey.domains[0].offers, ["messages", "remote memory", "atomics"]);
        let because: Vec<_> = survey.domains.iter().map(|d| d.because).collect();
        assert_eq!(because, ["", "btl tcp does the same, so it is not", "another one comes first"]);
        assert_eq!(survey.notes, ["a word of something else"]);
    }

    #[test]
    fn programs_are_told_the_same() {
        let survey = Survey::read(SENTENCE);
        let value: Value = serde_json::from_str(&survey.json()).expect("JSON");
        assert_eq!(value["library"]["version"], "1.17");
        assert_eq!(value["domains"][1]["provider"], "tcp;ofi_rxm");
        assert_eq!(
            (&value["domains"][0]["used"], &value["domains"][2]["used"]),
            (&json!(true), &json!(false))
        );
        let lines = survey.lines();
        assert!(lines.contains("ofi:domain:1:provider:tcp;ofi_rxm\n"), "{lines}");
        assert!(lines.contains("ofi:domain:0:offers:messages,remote memory,atomics\n"), "{lines}");
        assert!(lines.ends_with("ofi:note:a word of something else\n"), "{lines}");
        let none = Survey::read("the library libfabric.so.1 cannot be used: it is not there");
        let value: Value = serde_json::from_str(&none.json()).expect("JSON");
        assert_eq!((&value["library"], value["notes"].as_array().map(Vec::len)), (&Value::Null, Some(1)));
    }
}
