//! The same as one JSON object.

use super::answers::AnswerSources;
use super::facts;
use super::listing::{check_kind, check_names, components, enumerators, groups};
use super::options::Options;
use super::tool::Event;
use oxmpi_loading::registry::InForce;
use oxmpi_mca_params::{Origin, Resolved, Value as Param};
use serde_json::{Map, Value, json};

/// Everything that is asked for.
pub fn all(known: &AnswerSources, options: &Options, events: &[Event]) -> Result<String, String> {
    let mut object = Map::new();
    let mut listed: Vec<Value> = Vec::new();
    for fact in facts::asked(known, options)? {
        match fact.key.as_str() {
            "path:param_file" => listed.push(fact.value.into()),
            key => _ = object.insert(key.to_owned(), fact.value.into()),
        }
    }
    if options.all || options.is_summary() {
        object.insert("parameter_files".into(), listed.into());
    }
    let wanted = options.wanted();
    if let Some((framework, component)) = wanted {
        check_names(known, framework, component)?;
        check_kind(options)?;
        let groups = groups(known, options, framework, component);
        let params: Vec<Value> = groups.iter().flat_map(|(_, members)| members).map(|r| param(r)).collect();
        object.insert("parameters".into(), params.into());
    }
    if options.all || options.is_summary() || options.show_failed || wanted.is_some() {
        let (framework, component) = wanted.unwrap_or(("all", "all"));
        let list: Vec<Value> = components(known, options, framework, component)
            .map(|c| {
                let version = c.state.as_ref().ok().map(|a| {
                    let v = a.version;
                    format!("{}.{}.{}", v.major, v.minor, v.patch)
                });
                let api = c.framework.version();
                json!({
                    "framework": c.framework.name(),
                    "name": c.name,
                    "path": c.place,
                    "version": version,
                    "api": format!("{}.{}", api.major, api.minor),
                    "aliases": c.state.as_ref().map(|a| a.aliases.clone()).unwrap_or_default(),
                    "selected": c.selected,
                    "refused": c.state.as_ref().err(),
                })
            })
            .collect();
        object.insert("components".into(), list.into());
    }
    if options.event.is_some() {
        let list: Vec<Value> = events
            .iter()
            .map(|e| json!({ "name": e.name, "level": e.level, "elements": e.elements, "help": e.description }))
            .collect();
        object.insert("events".into(), list.into());
    }
    Ok(format!("{:#}\n", Value::Object(object)))
}

/// One parameter, and which value a rank has by it.
pub fn explained(r: &Resolved, force: &InForce) -> Value {
    let mut object = param(r);
    object["in_force"] =
        json!({ "value": value(&force.value, &force.text), "text": force.text, "because": force.because });
    object
}

fn value(value: &Param, text: &str) -> Value {
    match value {
        Param::Int(n) => (*n).into(),
        Param::Unsigned(n) | Param::Size(n) => (*n).into(),
        Param::Bool(b) => (*b).into(),
        Param::Double(x) => (*x).into(),
        Param::Text(t) => t.as_str().into(),
        Param::Enum { name, .. } => name.as_str().into(),
        Param::List { .. } => text.into(),
    }
}

/// One parameter.
pub fn param(r: &Resolved) -> Value {
    let d = &r.declaration;
    let value = value(&r.value, &r.text);
    let source = match &r.origin {
        Origin::Default => json!({ "kind": "default" }),
        Origin::CommandLine => json!({ "kind": "command line" }),
        Origin::Environment { variable } => json!({ "kind": "environment", "variable": variable }),
        Origin::File { path, line, .. } => {
            json!({ "kind": "file", "path": path.display().to_string(), "line": line })
        }
        Origin::Set => json!({ "kind": "set" }),
    };
    json!({
        "name": d.full_name,
        "framework": d.framework,
        "component": d.component,
        "type": d.kind.name(),
        "value": value,
        "text": r.text,
        "source": source,
        "set_as": r.set_as,
        "default": d.default,
        "level": d.level,
        "scope": d.scope_name(),
        "writable": d.is_writable(),
        "help": d.help,
        "range": d.bounds().map(|(min, max)| json!({ "min": min, "max": (max != i64::MAX).then_some(max) })),
        "values": enumerators(r).iter().map(|(n, name)| json!({ "value": n, "name": name })).collect::<Vec<_>>(),
        "synonyms": d.synonyms,
        "deprecated": d.deprecated,
    })
}
