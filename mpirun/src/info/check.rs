//! `--check FILE`: what is wrong with a parameter file, line by line.

use super::answers::{Answer, AnswerSources};
use oxmpi_loading::registry::Registry;
use oxmpi_mca_params::file::{self, ParamFile};
use oxmpi_mca_params::{Origin, Resolver, Tier, sources};
use std::path::Path;

pub fn answer(known: &AnswerSources, path: &Path) -> Result<Answer, String> {
    let file = match file::read(path, Tier::Tune) {
        Ok(Some(file)) => file,
        Ok(None) => return Err(format!("{}: there is no such file", path.display())),
        Err(why) => return Err(why.to_string()),
    };
    let (errors, warnings) = findings(known, &file);
    let mut text = String::new();
    for (kind, lines) in [("error", &errors), ("warning", &warnings)] {
        for line in lines {
            text += &format!("{kind}: {line}\n");
        }
    }
    let entries = file.lines.entries.len();
    text += &format!(
        "{}: {entries} parameters, {} errors, {} warnings\n",
        path.display(),
        errors.len(),
        warnings.len()
    );
    Ok(Answer { text, good: errors.is_empty() })
}

fn findings(known: &AnswerSources, file: &ParamFile) -> (Vec<String>, Vec<String>) {
    let mut errors: Vec<String> = file.errors().map(|e| e.to_string()).collect();
    let mut warnings = Vec::new();
    let at = |line: u32| format!("parameter file {}:{line}", file.path.display());
    for (line, name) in sources::repeated(file) {
        warnings.push(format!("{}: {name} is set again further down, which is what counts", at(line)));
    }
    for entry in file.lines.entries.iter().filter(|e| sources::ABOUT_SOURCES.contains(&e.name.as_str())) {
        errors.push(format!(
            "{}: {} says which files are read, so it is too late in one",
            at(entry.line),
            entry.name
        ));
    }
    // Components of third parties are those that are found anyway; all else is the file's alone.
    let path = known.registry.resolver().get("mca_base_component_path").map(|r| r.text.clone());
    let mut resolver = Resolver::new().with(path.map(|p| ("mca_base_component_path", p)));
    resolver.add_file(file);
    let dirs: Vec<_> = known.places.components().into_iter().collect();
    // SAFETY: no component is linked into this program.
    let registry = unsafe { Registry::look(resolver, &dirs, &[]) };
    errors.extend(registry.problems().iter().cloned());
    let of_the_file = |origin: &Origin| matches!(origin, Origin::File { .. });
    let unknown = registry.unknown();
    warnings.extend(unknown.iter().filter(|u| of_the_file(&u.origin)).map(ToString::to_string));
    warnings.extend(registry.resolver().deprecated().iter().map(ToString::to_string));
    (errors, warnings)
}
