//! Suites run with further options of mpirun: what came of each part stands under the configuration's name in
//! `tests/conformance/configurations.json`, and the page's section of configurations is made from that file alone.
//!
//! The file has counts and the names of what did not pass. Every result is under `target/conformance/NAME`, so that single
//! tests can be run again.

use crate::conformance::options::Options;
use crate::conformance::page::{self, COUNTS, Counts, counts};
use crate::conformance::reasons::{self, Reason};
use crate::conformance::results::{self, Results, group};
use crate::conformance::suite::Suite;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// The section's heading in docs/CONFORMANCE.md.
pub const HEADING: &str = "\n## Other configurations\n";

const INTRODUCTION: &str = "
Parts of these suites with further options of `mpirun`, each run and kept (in `tests/conformance/configurations.json`) by
`cargo xtask conformance --mpirun-options OPTIONS --record NAME`.
";

/// All that is kept, by the configurations' names.
#[derive(Default, Serialize, Deserialize)]
pub struct Configurations(BTreeMap<String, Configuration>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Configuration {
    /// Of mpirun.
    options: String,
    /// By suite, then by part: a folder of MPICH's, a number of ranks for mpi4py.
    suites: BTreeMap<String, BTreeMap<String, Part>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    date: String,
    /// Of the suite.
    version: String,
    /// The library that was tested.
    tested: String,
    counts: Counts,
    not_passed: Vec<String>,
}

/// Whether results can be recorded under this name with these options; `known` is what is kept already.
pub fn check(known: &Configurations, name: &str, options: &Options) -> Result<(), String> {
    if name.trim().is_empty() || name.contains(['/', '|', '\n']) || name.starts_with('.') {
        return Err(format!("--record {name:?}: a name is a few words without slashes"));
    }
    let configuration = options.configuration();
    if configuration.is_empty() {
        return Err(
            "--record is for runs with --mpirun-options, --endpoints, --over or --fc; those without are the page's own"
                .into(),
        );
    }
    match known.0.get(name) {
        Some(known) if known.options != configuration => Err(format!(
            "--record {name:?}: that name stands for the options {:?}; take another name",
            known.options
        )),
        _ => Ok(()),
    }
}

/// Merges a run into what is kept, in `folder` (every result) and in `known` (the counts of the parts that were run).
pub fn record(
    known: &mut Configurations,
    folder: &Path,
    name: &str,
    options: &Options,
    (suite, new): (Suite, Results),
) -> Result<(), String> {
    let folder = folder.join(name);
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let groups: Vec<String> = new.tests.keys().map(|key| group(key).to_owned()).collect();
    let single = options.only.is_some();
    if single && results::read(&folder, suite)?.is_none() {
        return Err(format!(
            "--only: no results of {name:?} are at hand in which these could be replaced; run their folders first"
        ));
    }
    results::keep(&folder, suite, new, single)?;
    let kept = results::read(&folder, suite)?.unwrap_or_default();
    known.merge(name, options, suite, &kept, &groups);
    Ok(())
}

impl Configurations {
    /// Whether a test that did not pass in one of them has this reason.
    pub fn need(&self, reason: &Reason) -> bool {
        let parts = self
            .0
            .values()
            .flat_map(|c| &c.suites)
            .flat_map(|(suite, parts)| parts.values().map(move |p| (suite, p)));
        let mut bad = parts.flat_map(|(suite, part)| part.not_passed.iter().map(move |key| (suite, key)));
        bad.any(|(suite, key)| reason.explains(suite, key))
    }

    /// Replaces the parts that the tests in `groups` belong to.
    fn merge(&mut self, name: &str, options: &Options, suite: Suite, kept: &Results, groups: &[String]) {
        let mut parts: BTreeMap<String, Part> = BTreeMap::new();
        for (key, &word) in kept.tests.iter().filter(|(key, _)| groups.iter().any(|g| g == group(key))) {
            let part = parts.entry(part_of(suite, key, &options.modules)).or_insert_with(|| Part {
                date: kept.date.clone(),
                version: kept.version.clone(),
                tested: kept.tested.clone(),
                counts: Counts::new(),
                not_passed: Vec::new(),
            });
            *part.counts.entry(word).or_default() += 1;
            if word.is_bad() {
                part.not_passed.push(key.clone());
            }
        }
        let configuration = self
            .0
            .entry(name.to_owned())
            .or_insert_with(|| Configuration { options: options.configuration(), suites: BTreeMap::new() });
        configuration.suites.entry(suite.name().to_owned()).or_default().extend(parts);
    }
}

fn part_of(suite: Suite, key: &str, modules: &str) -> String {
    let line = match suite {
        Suite::Mpi4py => key.split('/').next().unwrap_or(key),
        Suite::Mpich | Suite::Rsmpi => group(key),
    };
    match (suite, modules) {
        (Suite::Mpi4py, ".") | (Suite::Mpich | Suite::Rsmpi, _) => line.to_owned(),
        // A bar would end the table's cell.
        (Suite::Mpi4py, modules) => format!("{line}, modules `{}`", modules.replace('|', "\\|")),
    }
}

pub fn read(path: &Path) -> Result<Configurations, String> {
    match fs::read_to_string(path) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(Configurations::default()),
        Err(e) => Err(format!("{}: {e}", path.display())),
        Ok(text) => serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display())),
    }
}

pub fn write(path: &Path, known: &Configurations) -> Result<(), String> {
    let text = serde_json::to_string_pretty(known).map_err(|e| e.to_string())? + "\n";
    fs::write(path, text).map_err(|e| format!("{}: {e}", path.display()))
}

/// The page's section with its heading; nothing where nothing was recorded.
pub fn section(known: &Configurations, reasons: &[Reason]) -> String {
    if known.0.is_empty() {
        return String::new();
    }
    let mut text = format!("{HEADING}{INTRODUCTION}");
    for (name, configuration) in &known.0 {
        let reasons = reasons::of(reasons, Some(name));
        let _ = write!(
            text,
            "\n### {name}\n\n`mpirun {}`\n\n| suite | part | {COUNTS} | when, with |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
            configuration.options
        );
        let rows = || configuration.suites.iter().flat_map(|(s, parts)| parts.iter().map(move |p| (s, p)));
        for (suite, (line, part)) in rows() {
            let (version, counts) = (&part.version, counts(&part.counts));
            let _ =
                writeln!(text, "| {suite} {version} | {line} | {counts} | {}, {} |", part.date, part.tested);
        }
        for suite in Suite::ALL {
            let parts = configuration.suites.get(suite.name());
            let bad: Vec<&str> =
                parts.into_iter().flatten().flat_map(|(_, p)| &p.not_passed).map(String::as_str).collect();
            if !bad.is_empty() {
                let _ = write!(text, "\nNot passed of {}, and why:\n\n", suite.name());
                page::explain(&mut text, suite, bad, &reasons);
            }
        }
    }
    text
}

/// The page with this section in the place of the one that it has; it comes before the section of `cargo xtask apps`.
pub fn replace(page: &str, section: &str) -> String {
    let apps = page.find(crate::apps::HEADING).unwrap_or(page.len());
    let from = page.find(HEADING).unwrap_or(apps).min(apps);
    format!("{}{section}{}", &page[..from], &page[apps..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::results::Word;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn options(words: &[&str]) -> Options {
        Line::parse_from(["conformance"].iter().chain(words)).options
    }

    fn results(tests: &[(&str, Word)]) -> Results {
        let tests = tests.iter().map(|&(key, word)| (key.to_owned(), word)).collect();
        Results { version: "4".into(), date: "today".into(), tests, ..Results::default() }
    }

    fn reason() -> Reason {
        let (suite, tests, why) = ("mpich".into(), vec!["coll/b *".into()], "It is known.".into());
        Reason { suite, tests, why, configuration: None }
    }

    #[test]
    fn a_reason_may_be_of_one_configuration() {
        let one = Reason { configuration: Some("tcp".into()), ..reason() };
        let all = [one, reason()];
        let count = |name| reasons::of(&all, name).len();
        assert_eq!((count(None), count(Some("tcp")), count(Some("shm"))), (1, 2, 1));
    }

    #[test]
    fn a_run_again_replaces_its_own_part_only() {
        let folder = std::env::temp_dir().join(format!("oxmpi-configurations-{}", std::process::id()));
        let mut known = Configurations::default();
        let all = options(&["--mpirun-options=--mca btl tcp"]);
        let first = results(&[
            ("coll/a np=2", Word::Timeout),
            ("coll/b np=2", Word::Fail),
            ("threads/rma/c np=2", Word::Pass),
        ]);
        record(&mut known, &folder, "tcp", &all, (Suite::Mpich, first)).expect("recorded");
        let some = options(&["--mpirun-options=--mca btl tcp", "--only", "coll/a"]);
        let again = results(&[("coll/a np=2", Word::Pass)]);
        record(&mut known, &folder, "tcp", &some, (Suite::Mpich, again)).expect("recorded");
        let none = results(&[("coll/a np=2", Word::Pass)]);
        assert!(record(&mut known, &folder, "other", &some, (Suite::Mpich, none)).is_err());
        fs::remove_dir_all(&folder).expect("made above");

        let text = serde_json::to_string(&known).expect("plain data");
        let known: Configurations = serde_json::from_str(&text).expect("what was written");
        let text = section(&known, &[reason()]);
        for line in [
            "### tcp",
            "`mpirun --mca btl tcp`",
            "| mpich 4 | coll | 1 | 1 | 0 | 0 | 0 | 50.0% |",
            "| mpich 4 | threads/rma | 1 | 0 | 0 | 0 | 0 | 100.0% |",
            "- **It is known.** (1) `coll/b np=2`",
        ] {
            assert!(text.contains(line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("No reason known"), "{text}");
    }

    #[test]
    fn a_reason_of_a_configuration_alone_is_needed() {
        let mut known = Configurations::default();
        let bad = results(&[("coll/b np=2", Word::Fail)]);
        known.merge(
            "tcp",
            &options(&["--mpirun-options=--mca btl tcp"]),
            Suite::Mpich,
            &bad,
            &["coll".into()],
        );
        assert!(known.need(&reason()));
        known.merge(
            "tcp",
            &options(&["--mpirun-options=--mca btl tcp"]),
            Suite::Mpich,
            &results(&[("coll/b np=2", Word::Pass)]),
            &["coll".into()],
        );
        assert!(!known.need(&reason()));
    }

    #[test]
    fn a_name_stands_for_one_set_of_options() {
        let one = options(&["--mpirun-options=--mca btl tcp"]);
        let mut known = Configurations::default();
        known.merge("tcp", &one, Suite::Mpich, &results(&[]), &[]);
        assert!(check(&known, "tcp", &one).is_ok());
        assert!(check(&known, "tcp", &options(&["--mpirun-options=--mca btl shm"])).is_err());
        assert!(check(&known, "other", &options(&[])).is_err());
        assert!(check(&known, "../tcp", &one).is_err());
    }

    #[test]
    fn a_section_is_replaced_in_its_place() {
        let (apps, part) = (crate::apps::HEADING, format!("{HEADING}old\n"));
        let page = format!("# Page\n{part}{apps}rest\n");
        let new = replace(&page, "\n## Other configurations\nnew\n");
        assert_eq!(new, format!("# Page\n\n## Other configurations\nnew\n{apps}rest\n"));
        assert_eq!(replace(&new, &part), page);
        assert_eq!(replace("# Page\n", &part), format!("# Page\n{part}"));
    }

    #[test]
    fn the_page_has_what_is_recorded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let known = read(&root.join("tests/conformance/configurations.json")).expect("sound");
        let reasons =
            crate::conformance::reasons::read(&root.join("tests/conformance/reasons.toml")).expect("sound");
        let page = fs::read_to_string(root.join("docs/CONFORMANCE.md")).expect("the page");
        assert!(
            replace(&page, &section(&known, &reasons)) == page,
            "docs/CONFORMANCE.md: not as tests/conformance/configurations.json has it; \
             cargo xtask conformance --configurations-only writes it"
        );
    }
}
