//! Components and parameters as lines: for people with Open MPI's look, for programs with its keys.

use super::answers::AnswerSources;
use super::facts;
use super::options::Options;
use super::tool::Event;
use oxmpi_loading::registry::Component;
use oxmpi_mca_params::{Kind, Origin, Resolved, catalogue, nearest};
use std::fmt::Write;

/// The colon behind a label stands in this column; continued lines begin two behind it.
const COLUMN: usize = 24;

/// Everything that is asked for.
pub fn all(known: &AnswerSources, options: &Options, events: &[Event]) -> Result<String, String> {
    let mut out = Lines::new(options.parsable);
    for fact in facts::asked(known, options)? {
        match options.parsable {
            true => out.raw(&format!("{}:{}", fact.key, quoted(&fact.value))),
            false => out.pretty(fact.label, &fact.value),
        }
    }
    if options.all || options.is_summary() || options.show_failed {
        for c in components(known, options, "all", "all") {
            if options.all || options.is_summary() || c.state.is_err() {
                out.component(c);
            }
        }
    }
    if let Some((framework, component)) = options.wanted() {
        check_names(known, framework, component)?;
        check_kind(options)?;
        if !options.all {
            components(known, options, framework, component).for_each(|c| out.component(c));
        }
        for (title, group) in groups(known, options, framework, component) {
            out.group(&title, &group, known);
        }
    }
    events.iter().for_each(|e| out.event(e));
    Ok(out.text)
}

/// Components that are asked for, in order.
pub fn components<'a>(
    known: &'a AnswerSources,
    options: &'a Options,
    framework: &'a str,
    component: &'a str,
) -> impl Iterator<Item = &'a Component> {
    known.registry.components().iter().filter(move |c| {
        (framework == "all" || framework == c.framework.name())
            && (component == "all" || component == c.name)
            && (!options.selected || c.selected)
    })
}

/// A framework or component nobody has is a mistake, with the nearest name.
pub fn check_names(known: &AnswerSources, framework: &str, component: &str) -> Result<(), String> {
    let parts: Vec<(&str, &str)> = known
        .registry
        .params()
        .map(|r| (r.declaration.framework.as_str(), r.declaration.component.as_str()))
        .chain(known.registry.components().iter().map(|c| (c.framework.name(), c.name.as_str())))
        .collect();
    let refuse = |what: &str, given: &str, mut names: Vec<&str>| {
        names.retain(|n| !n.is_empty());
        names.sort_unstable();
        names.dedup();
        let hint = nearest(given, names.iter().copied()).map(|n| format!("; did you mean {n}?"));
        Err(format!(
            "there is no {what} {given:?}{}\nThere are: {}",
            hint.unwrap_or_default(),
            names.join(", ")
        ))
    };
    if framework != "all" && !parts.iter().any(|(f, _)| *f == framework) {
        return refuse("framework", framework, parts.iter().map(|p| p.0).collect());
    }
    let of_it = || parts.iter().filter(|(f, _)| framework == "all" || *f == framework);
    if component != "all" && component != "base" && !of_it().any(|(_, c)| *c == component) {
        return refuse("component", component, of_it().map(|p| p.1).collect());
    }
    Ok(())
}

const KINDS: [Kind; 8] =
    [Kind::Int, Kind::Unsigned, Kind::Size, Kind::Bool, Kind::Double, Kind::Text, Kind::Enum, Kind::List];

/// `--type`.
pub fn check_kind(options: &Options) -> Result<(), String> {
    let Some(kind) = &options.kind else { return Ok(()) };
    if KINDS.iter().any(|k| k.name() == kind) {
        return Ok(());
    }
    let names = KINDS.map(Kind::name);
    let hint = nearest(kind, names.into_iter()).map(|n| format!("; did you mean {n}?")).unwrap_or_default();
    Err(format!("--type {kind:?}{hint}\nThere are: {}", names.join(", ")))
}

/// Parameters that are asked for, by framework and component.
pub fn groups<'a>(
    known: &'a AnswerSources,
    options: &Options,
    framework: &str,
    component: &str,
) -> Vec<(String, Vec<&'a Resolved>)> {
    let mut groups: Vec<(String, Vec<&Resolved>)> = Vec::new();
    for r in known.registry.params() {
        let d = &r.declaration;
        let group = if d.component.is_empty() { "base" } else { &d.component };
        let wanted = (framework == "all" || framework == d.framework)
            && (component == "all" || component == group)
            && (d.level <= options.level())
            && (!d.internal || options.internal)
            && options.kind.as_ref().is_none_or(|k| k == d.kind.name());
        let owner =
            known.registry.components().iter().find(|c| c.framework.name() == d.framework && c.name == group);
        if !wanted || options.selected && owner.is_some_and(|c| !c.selected) {
            continue;
        }
        let off = if owner.is_some_and(|c| !c.selected) { "(-) " } else { "" };
        let title = format!("MCA {off}{} {group}", d.framework);
        match groups.iter_mut().find(|(t, _)| *t == title) {
            Some((_, members)) => members.push(r),
            None => groups.push((title, vec![r])),
        }
    }
    groups.sort_by(|a, b| a.0.cmp(&b.0));
    groups
}

/// Open MPI's words for a source, with the place.
pub fn source(origin: &Origin) -> String {
    match origin {
        Origin::Default => "default".into(),
        Origin::CommandLine => "command line".into(),
        Origin::Environment { variable } => format!("environment ({variable})"),
        Origin::File { path, line, .. } => format!("file ({}:{line})", path.display()),
        Origin::Set => "set".into(),
    }
}

pub fn level_words(level: u32) -> String {
    let who = ["user", "tuner", "dev"][((level.clamp(1, 9) - 1) / 3) as usize];
    let how = ["basic", "detail", "all"][((level.clamp(1, 9) - 1) % 3) as usize];
    format!("{level} {who}/{how}")
}

/// Values with names: enumerators, and words for numbers.
pub fn enumerators(r: &Resolved) -> Vec<(i64, &str)> {
    let d = &r.declaration;
    let names = (0i64..).zip(d.enumerators.iter().map(String::as_str));
    names.chain(d.words.iter().map(|(w, n)| (*n, w.as_str()))).collect()
}

/// A value with a colon or a quotation mark is quoted.
fn quoted(value: &str) -> String {
    match value.contains([':', '"']) {
        true => format!("\"{}\"", value.replace('"', "\\\"")),
        false => value.to_owned(),
    }
}

struct Lines {
    text: String,
    parsable: bool,
    width: usize,
}

impl Lines {
    fn new(parsable: bool) -> Lines {
        use std::io::IsTerminal;
        let terminal = std::io::stdout();
        let width = match terminal.is_terminal() {
            true => rustix::termios::tcgetwinsize(&terminal).map_or(78, |w| w.ws_col.max(40).into()),
            false => usize::MAX,
        };
        Lines { text: String::new(), parsable, width }
    }

    fn raw(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// A label and a value, wrapped.
    fn pretty(&mut self, label: &str, value: &str) {
        let width = self.width.saturating_sub(COLUMN + 2);
        for (i, line) in catalogue::wrap(value, width).iter().enumerate() {
            let _ = match i {
                0 => writeln!(self.text, "{label:>COLUMN$}: {line}"),
                _ => writeln!(self.text, "{:>COLUMN$}  {line}", ""),
            };
        }
    }

    fn component(&mut self, c: &Component) {
        let (framework, name) = (c.framework.name(), &c.name);
        let prefix = format!("mca:{framework}:{name}");
        match (&c.state, self.parsable) {
            (Ok(a), parsable) => {
                let abi = oxmpi_loading::registry::component_abi();
                let (api, v) = (c.framework.version(), a.version);
                let versions = [
                    ("mca", format!("{}.{}", abi.0, abi.1)),
                    ("api", format!("{}.{}", api.major, api.minor)),
                    ("component", format!("{}.{}.{}", v.major, v.minor, v.patch)),
                ];
                if parsable {
                    for (what, version) in versions {
                        self.raw(&format!("{prefix}:version:\"{what}:{version}\""));
                    }
                    return self.raw(&format!("{prefix}:path:{}", quoted(&c.place)));
                }
                let [(_, mca), (_, api), (_, own)] = versions;
                let line = format!("{name} (MCA v{mca}, API v{api}, Component v{own}) {}", c.place);
                self.pretty(&format!("MCA {framework}"), &line);
            }
            (Err(why), true) => self.raw(&format!("{prefix}:failed:{}", quoted(why))),
            (Err(why), false) => {
                self.pretty(&format!("MCA {framework}"), &format!("{name} (failed to load) {why}"));
            }
        }
    }

    fn group(&mut self, title: &str, members: &[&Resolved], known: &AnswerSources) {
        if self.parsable {
            return members.iter().for_each(|r| self.parsable_param(r, known));
        }
        self.pretty(title, &"-".repeat(51));
        for r in members {
            let d = &r.declaration;
            let mut line = format!(
                "parameter \"{}\" (current value: \"{}\", data source: {}, level: {}, type: {}",
                d.full_name,
                r.text,
                source(&r.origin),
                level_words(d.level),
                d.kind.name()
            );
            if d.deprecated {
                line += ", deprecated";
            }
            if !d.synonyms.is_empty() {
                let _ = write!(line, ", synonyms: {}", d.synonyms.join(", "));
            }
            self.pretty(title, &(line + ")"));
            self.pretty("", &d.help);
            let values = enumerators(r);
            if !values.is_empty() {
                let values: Vec<String> = values.iter().map(|(n, name)| format!("{n}|{name}")).collect();
                self.pretty("", &format!("Valid values: {}", values.join(", ")));
            }
        }
    }

    fn event(&mut self, e: &Event) {
        if self.parsable {
            let prefix = format!("mca:mpi:base:event:{}", e.name);
            self.raw(&format!("{prefix}:level:{}", e.level));
            self.raw(&format!("{prefix}:elements:{}", e.elements));
            return self.raw(&format!("{prefix}:help:{}", quoted(&e.description)));
        }
        let (level, n) = (level_words(e.level), e.elements);
        self.pretty("MCA mpi base", &format!("event \"{}\" (level: {level}, elements: {n})", e.name));
        self.pretty("", &e.description);
    }

    fn parsable_param(&mut self, r: &Resolved, known: &AnswerSources) {
        let d = &r.declaration;
        let group = if d.component.is_empty() { "base" } else { &d.component };
        let prefix = format!("mca:{}:{group}:param:{}", d.framework, d.full_name);
        let mut line = |rest: String| self.raw(&format!("{prefix}:{rest}"));
        line(format!("value:{}", quoted(&r.text)));
        line(format!("source:{}", quoted(&source(&r.origin))));
        line(format!("status:{}", if d.is_writable() { "writeable" } else { "read-only" }));
        line(format!("level:{}", d.level));
        line(format!("help:{}", quoted(&d.help)));
        for (n, name) in enumerators(r) {
            line(format!("enumerator:value:{n}:{name}"));
        }
        line(format!("deprecated:{}", if d.deprecated { "yes" } else { "no" }));
        line(format!("type:{}", d.kind.name()));
        line(format!("scope:{}", d.scope_name()));
        for synonym in &d.synonyms {
            line(format!("synonym:name:{synonym}"));
        }
        let off = known
            .registry
            .components()
            .iter()
            .any(|c| c.framework.name() == d.framework && c.name == group && !c.selected);
        line(format!("disabled:{off}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_quotes() {
        assert_eq!(level_words(1), "1 user/basic");
        assert_eq!(level_words(5), "5 tuner/detail");
        assert_eq!(level_words(9), "9 dev/all");
        assert_eq!(quoted("a:\"b\""), "\"a:\\\"b\\\"\"");
        assert_eq!(quoted("a b"), "a b");
    }

    #[test]
    fn a_label_ends_in_its_column() {
        let mut lines = Lines { text: String::new(), parsable: false, width: 40 };
        lines.pretty("MCA btl", "one two three four five");
        assert_eq!(lines.text, format!("{:>24}: one two three\n{:>24}  four five\n", "MCA btl", ""));
    }
}
