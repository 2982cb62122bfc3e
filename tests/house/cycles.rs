//! Imports between the files of a crate: the graph of which file names items of which other, and its cycles.
//!
//! An arrow goes from the file that names an item to the file that defines it. A path is followed through
//! re-exports (`pub use`), so that `crate::Peer` is an arrow to the file of `Peer` and not to `lib.rs`. `mod x;` is
//! no arrow, a test module has none.
//!
//! **No crate has a cycle of imports.** Calls (`calls`) are arrows, too, and with them some crates have circles: `circles.txt` has each
//! of them, with its files and their number, and that list may only become shorter.

use crate::calls::Calls;
use crate::definitions::Index;
use crate::scopes::{Scope, Unique, unique};
use crate::{metadata, read, short};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;

/// A module path below the crate root: empty for `lib.rs`.
type Module = Vec<String>;

/// A file's share of the crate.
#[derive(Default)]
struct File {
    /// Names that it defines or declares as modules.
    defined: BTreeSet<String>,
    /// Names that it imports, with the path of each.
    imported: BTreeMap<String, Module>,
    /// Modules whose whole content it imports.
    globs: Vec<Module>,
    /// Paths that it mentions, absolute within the crate.
    mentioned: BTreeSet<Module>,
}

/// Collects a file's paths; `at` is the module in which the visitor stands (inline modules go deeper).
struct Collect {
    file: File,
    home: Module,
    at: Module,
}

impl Collect {
    /// The absolute form of a path that starts with `crate`, `self`, `super`, or a name that the file knows.
    fn absolute(&self, path: &[String]) -> Option<Module> {
        let mut base = match path.first()?.as_str() {
            "crate" => Module::new(),
            "self" => self.at.clone(),
            "super" => self.at.split_last()?.1.to_vec(),
            first if self.file.defined.contains(first) => {
                return Some(self.home.iter().chain(path).cloned().collect());
            }
            _ => return None,
        };
        for part in &path[1..] {
            match part.as_str() {
                "super" => {
                    base.pop()?;
                }
                _ => base.push(part.clone()),
            }
        }
        Some(base)
    }

    fn mention(&mut self, path: &[String]) {
        if let Some(path) = self.absolute(path) {
            self.file.mentioned.insert(path);
        }
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &syn::Ident| before.iter().cloned().chain([ident.to_string()]).collect::<Vec<_>>();
        match tree {
            syn::UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|tree| self.import(tree, before)),
            syn::UseTree::Glob(_) => {
                self.mention(before);
                let path = self.absolute(before);
                self.file.globs.extend(path);
            }
            syn::UseTree::Name(name) if name.ident == "self" => self.bind(before, before.last().cloned()),
            syn::UseTree::Name(name) => self.bind(&with(&name.ident), Some(name.ident.to_string())),
            syn::UseTree::Rename(name) => self.bind(&with(&name.ident), Some(name.rename.to_string())),
        }
    }

    fn bind(&mut self, path: &[String], name: Option<String>) {
        self.mention(path);
        if let (Some(path), Some(name)) = (self.absolute(path), name) {
            self.file.imported.insert(name, path);
        }
    }

    /// Paths in the arguments of a macro, which are no syntax tree.
    fn tokens(&mut self, text: &str) {
        for (at, _) in text.match_indices("crate ::") {
            let path: Vec<String> = text[at..]
                .split(" :: ")
                .map(|part| {
                    part.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>()
                })
                .take_while(|part| !part.is_empty())
                .collect();
            self.mention(&path);
        }
    }
}

/// Is it compiled for tests alone?
pub fn of_tests(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|a| match &a.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) => {
            let tokens = list.tokens.to_string().replace(' ', "");
            list.path.is_ident("cfg") && (tokens.starts_with("test") || tokens.starts_with("all(test"))
        }
        syn::Meta::NameValue(_) => false,
    })
}

/// The name that an item defines.
fn name_of(item: &syn::Item) -> Option<&syn::Ident> {
    Some(match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Mod(item) => &item.ident,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    })
}

impl<'ast> Visit<'ast> for Collect {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !of_tests(&item.attrs) {
            self.at.push(item.ident.to_string());
            visit::visit_item_mod(self, item);
            self.at.pop();
        }
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !of_tests(&item.attrs) {
            visit::visit_item_fn(self, item);
        }
    }
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if !of_tests(&item.attrs) {
            self.import(&item.tree, &[]);
        }
    }
    fn visit_visibility(&mut self, _: &'ast syn::Visibility) {}
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let parts: Vec<String> = path.segments.iter().map(|s| s.ident.to_string()).collect();
        if parts.len() > 1 {
            self.mention(&parts);
        }
        visit::visit_path(self, path);
    }
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(&item.tokens.to_string());
        visit::visit_macro(self, item);
    }
}

fn collect(path: &Path, home: Module) -> File {
    let syntax = syn::parse_file(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", short(path)));
    let defined = syntax.items.iter().filter_map(name_of).map(ToString::to_string).collect();
    let mut collect = Collect { file: File { defined, ..File::default() }, at: home.clone(), home };
    collect.visit_file(&syntax);
    collect.file
}

/// The path that `#[path = "..."]` gives a module.
fn named_path(attribute: &syn::Attribute) -> Option<String> {
    let syn::Meta::NameValue(pair) = &attribute.meta else { return None };
    match &pair.value {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) if pair.path.is_ident("path") => {
            Some(text.value())
        }
        _ => None,
    }
}

/// The files of a crate by module path, as `mod` finds them, without those of tests alone.
fn modules(path: &Path, home: Module, found: &mut BTreeMap<Module, PathBuf>) {
    let syntax = syn::parse_file(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", short(path)));
    let name = path.file_stem().expect("a source has a name").to_string_lossy().into_owned();
    let parent = path.parent().expect("a source is in a folder");
    let below =
        if ["lib", "main", "mod"].contains(&name.as_str()) { parent.to_owned() } else { parent.join(&name) };
    found.insert(home.clone(), path.to_owned());
    for item in &syntax.items {
        let syn::Item::Mod(item) = item else { continue };
        if item.content.is_some() || of_tests(&item.attrs) {
            continue;
        }
        let child = item.ident.to_string();
        let named = item.attrs.iter().find_map(named_path).map(|path| parent.join(path));
        let candidates = [below.join(format!("{child}.rs")), below.join(&child).join("mod.rs")];
        if let Some(file) = named.into_iter().chain(candidates).find(|file| file.exists()) {
            modules(&file, home.iter().cloned().chain([child]).collect(), found);
        }
    }
}

/// The module whose file defines what `path` names.
fn defines(files: &BTreeMap<Module, File>, path: &Module, depth: usize) -> Option<Module> {
    let inside =
        (0..=path.len()).rev().map(|n| path[..n].to_vec()).find(|module| files.contains_key(module))?;
    let Some(name) = path.get(inside.len()) else { return Some(inside) };
    let file = &files[&inside];
    if file.defined.contains(name) || depth == 0 {
        return Some(inside);
    }
    let onward =
        |target: &Module| target.iter().chain(&path[inside.len() + 1..]).cloned().collect::<Module>();
    if let Some(target) = file.imported.get(name) {
        return defines(files, &onward(target), depth - 1);
    }
    let through = file.globs.iter().filter(|glob| **glob != inside).find_map(|glob| {
        let found = defines(files, &glob.iter().chain([name]).cloned().collect(), depth - 1)?;
        files[&found].defined.contains(name).then_some(found)
    });
    Some(through.unwrap_or(inside))
}

/// Arrows from each file to those whose items it names: indices into the list of modules.
fn arrows(files: &BTreeMap<Module, File>) -> Vec<BTreeSet<usize>> {
    let order: Vec<&Module> = files.keys().collect();
    let place: BTreeMap<&Module, usize> = order.iter().enumerate().map(|(n, module)| (*module, n)).collect();
    let targets = |(from, module): (usize, &&Module)| {
        let mentioned = files[*module].mentioned.iter();
        let found = mentioned.filter_map(|path| defines(files, path, 8)).map(|target| place[&target]);
        found.filter(|to| *to != from).collect()
    };
    order.iter().enumerate().map(targets).collect()
}

/// Groups of files that reach each other, by mutual reachability: crates are small.
fn cycles(arrows: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    let reach: Vec<BTreeSet<usize>> = (0..arrows.len())
        .map(|from| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
            while let Some(at) = open.pop() {
                open.extend(arrows[at].iter().filter(|to| seen.insert(**to)));
            }
            seen
        })
        .collect();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for file in (0..arrows.len()).filter(|file| reach[*file].contains(file)) {
        match groups
            .iter_mut()
            .find(|group| reach[group[0]].contains(&file) && reach[file].contains(&group[0]))
        {
            Some(group) => group.push(file),
            None => groups.push(vec![file]),
        }
    }
    groups
}

#[test]
fn no_file_imports_what_imports_it() {
    let mut wrong = Vec::new();
    for package in &metadata().packages {
        for target in package.targets.iter().filter(|t| !t.is_test() && !t.is_bench() && !t.is_custom_build())
        {
            let mut found = BTreeMap::new();
            modules(target.src_path.as_std_path(), Module::new(), &mut found);
            let files: BTreeMap<Module, File> =
                found.iter().map(|(module, path)| (module.clone(), collect(path, module.clone()))).collect();
            let arrows = arrows(&files);
            let groups = cycles(&arrows);
            let names: Vec<&PathBuf> = found.values().collect();
            let count: usize = groups.iter().map(Vec::len).sum();
            let place = short(target.src_path.as_std_path());
            if count != 0 {
                let list = groups
                    .iter()
                    .map(|group| describe(group, &arrows, &names))
                    .collect::<Vec<_>>()
                    .join("\n");
                wrong.push(format!("{place}: {count} files in cycles\n{list}"));
            }
        }
    }
    crate::none("import cycles", wrong);
}

/// The types that each file sees by a single name, and those that only one file defines.
fn scopes(files: &BTreeMap<Module, File>) -> (Vec<Scope>, Scope) {
    let place: BTreeMap<&Module, usize> = files.keys().enumerate().map(|(n, module)| (module, n)).collect();
    let is_type = |name: &&String| name.starts_with(char::is_uppercase) && name.contains(char::is_lowercase);
    let mut defined: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (n, file) in files.values().enumerate() {
        file.defined.iter().filter(is_type).for_each(|name| defined.entry(name).or_default().push(n));
    }
    let seen = |(n, file): (usize, &File)| {
        let own = file.defined.iter().filter(is_type).map(|name| (name.clone(), unique(name, n)));
        let imported = file.imported.iter().filter(|(name, _)| is_type(name)).filter_map(|(name, path)| {
            // By another name here, perhaps.
            let there = path.last()?;
            let module = defines(files, path, 8)?;
            files[&module].defined.contains(there).then(|| (name.clone(), unique(there, place[&module])))
        });
        let by_glob = file.globs.iter().filter_map(|glob| Some((place.get(glob)?, &files[glob])));
        let by_glob = by_glob
            .flat_map(|(to, file)| file.defined.iter().filter(is_type).map(|n| (n.clone(), unique(n, *to))));
        by_glob.chain(imported).chain(own).collect()
    };
    let scopes = files.values().enumerate().map(seen).collect();
    let once = defined
        .into_iter()
        .filter(|(_, all)| all.len() == 1)
        .map(|(name, all)| (name.clone(), unique(name, all[0])));
    (scopes, once.collect())
}

/// Arrows by calls between the files of a crate, in the order of `found`, each with the names that are called.
fn called(
    found: &BTreeMap<Module, PathBuf>,
    files: &BTreeMap<Module, File>,
) -> Vec<BTreeMap<usize, BTreeSet<String>>> {
    let mut parsed: Vec<syn::File> = found
        .values()
        .map(|path| syn::parse_file(&read(path)).unwrap_or_else(|error| panic!("{}: {error}", short(path))))
        .collect();
    let (scopes, elsewhere) = scopes(files);
    for (file, scope) in parsed.iter_mut().zip(&scopes) {
        Unique { scope, elsewhere: &elsewhere }.visit_file_mut(file);
    }
    let mut index = Index::default();
    parsed.iter().enumerate().for_each(|(n, file)| index.add(n, &file.items));
    parsed.iter().enumerate().for_each(|(n, file)| index.add_implementations(n, &file.items));
    let calls = |(n, file): (usize, &syn::File)| {
        let mut calls = Calls::new(&index);
        calls.visit_file(file);
        calls.found.remove(&n);
        calls.found
    };
    parsed.iter().enumerate().map(calls).collect()
}

/// The files of a circle, each with what it calls in the others.
type Circle = BTreeMap<String, String>;

/// Circles of imports and calls.
fn circles() -> Vec<Circle> {
    let mut all = Vec::new();
    for package in &metadata().packages {
        for target in package.targets.iter().filter(|t| !t.is_test() && !t.is_bench() && !t.is_custom_build())
        {
            let mut found = BTreeMap::new();
            modules(target.src_path.as_std_path(), Module::new(), &mut found);
            let files: BTreeMap<Module, File> =
                found.iter().map(|(module, path)| (module.clone(), collect(path, module.clone()))).collect();
            let (mut arrows, called) = (arrows(&files), called(&found, &files));
            for (from, to) in called.iter().enumerate() {
                arrows[from].extend(to.keys());
            }
            let names: Vec<&PathBuf> = found.values().collect();
            all.extend(cycles(&arrows).iter().map(|group| circle(group, &called, &names)));
        }
    }
    all
}

/// The calls between the files of a group.
fn circle(group: &[usize], called: &[BTreeMap<usize, BTreeSet<String>>], names: &[&PathBuf]) -> Circle {
    let calls = |from: usize| {
        let to = called[from].iter().filter(|(to, _)| group.contains(to)).map(|(to, functions)| {
            let functions: Vec<&str> = functions.iter().map(String::as_str).collect();
            let file = names[*to].file_name().unwrap_or_default().to_string_lossy();
            format!("{file} ({})", functions.join(" "))
        });
        to.collect::<Vec<_>>().join(", ")
    };
    group.iter().map(|from| (short(names[*from]), calls(*from))).collect()
}

/// Circles that may be there, for now: a line that says how many files, and the files.
const EXCEPTIONS: &str = include_str!("circles.txt");

/// The circles of the list.
fn exceptions() -> Vec<BTreeSet<&'static str>> {
    let mut all: Vec<(usize, BTreeSet<&str>)> = Vec::new();
    for line in EXCEPTIONS.lines().filter(|line| !line.starts_with('#')) {
        match (line.strip_prefix("  "), all.last_mut()) {
            (Some(file), Some((_, files))) => assert!(files.insert(file), "{file} stands there twice"),
            (Some(file), None) => panic!("{file} is below no circle"),
            (None, _) => {
                let count = line.strip_suffix(" files").and_then(|line| line.parse().ok());
                all.push((count.unwrap_or_else(|| panic!("how many files: {line}")), BTreeSet::new()));
            }
        }
    }
    let counted = |(count, files): (usize, BTreeSet<&'static str>)| {
        assert_eq!(count, files.len(), "files of the circle of {files:?}");
        files
    };
    all.into_iter().map(counted).collect()
}

#[test]
fn no_file_calls_what_calls_it() {
    let (circles, allowed) = (circles(), exceptions());
    let is_part = |circle: &Circle, of: &BTreeSet<&str>| circle.keys().all(|file| of.contains(file.as_str()));
    let new = circles.iter().filter(|circle| !allowed.iter().any(|of| is_part(circle, of)));
    let new = new.flatten().map(|(file, calls)| format!("{file} is in a circle: it calls {calls}"));
    let stays = |file: &str| circles.iter().any(|circle| circle.contains_key(file));
    let gone = allowed.iter().flatten().filter(|file| !stays(file));
    let gone = gone.map(|file| format!("{file} is in no circle any more: take it off the list"));
    crate::none("circles of calls", new.chain(gone).collect());
}

/// A group with the arrows inside it, a line a file.
fn describe(group: &[usize], arrows: &[BTreeSet<usize>], names: &[&PathBuf]) -> String {
    let name = |n: usize| names[n].file_name().unwrap_or_default().to_string_lossy().into_owned();
    let line = |from: &usize| {
        let to = arrows[*from].iter().filter(|to| group.contains(to)).map(|to| name(*to)).collect::<Vec<_>>();
        format!("    {} -> {}", short(names[*from]), to.join(", "))
    };
    group.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Files of a made-up crate, by their names, with the arrows between them.
fn arrows_of(sources: &[(&str, &str)]) -> Vec<(String, String)> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in sources {
        std::fs::write(folder.path().join(name), text).expect("a file");
    }
    let mut found = BTreeMap::new();
    modules(&folder.path().join("lib.rs"), Module::new(), &mut found);
    let files: BTreeMap<Module, File> =
        found.iter().map(|(module, path)| (module.clone(), collect(path, module.clone()))).collect();
    let names: Vec<String> = found.keys().map(|module| module.last().cloned().unwrap_or_default()).collect();
    let arrows = called(&found, &files);
    let arrows = arrows.iter().enumerate().flat_map(|(from, to)| to.keys().map(move |to| (from, *to)));
    arrows.map(|(from, to)| (names[from].clone(), names[to].clone())).collect()
}

#[test]
fn the_search_for_calls_finds_them() {
    let lib = ("lib.rs", "mod a; mod b; mod c; mod held;");
    let held = (
        "held.rs",
        "pub struct Held { pub other: std::sync::Mutex<Vec<Inner>> } pub struct Inner; pub trait Job { fn go(&self); }",
    );
    let arrow = |from: &str, to: &str| vec![(from.to_owned(), to.to_owned())];
    let of = |a: &str, b: &str, c: &str| arrows_of(&[lib, held, ("a.rs", a), ("b.rs", b), ("c.rs", c)]);
    // By the type of the receiver, through a field, a lock and a loop.
    let a = "use crate::held::*; impl Held { fn all(&self) { for one in self.other.lock().unwrap().iter() { one.end() } } }";
    let b = "use crate::held::*; impl Inner { pub fn end(&self) {} }";
    assert_eq!(of(a, b, "struct Own; impl Own { fn end(&self) {} }"), arrow("a", "b"));
    // By the result of a function, and a closure's parameter.
    let a = "use crate::held::Held; fn f(held: &Held) { held.inner().map(|one| one.end()); }";
    let b = "use crate::held::*; impl Held { pub fn inner(&self) -> Option<&Inner> { None } }";
    let c = "use crate::held::Inner; impl Inner { pub fn end(&self) {} }";
    assert_eq!(of(a, b, c), [arrow("a", "b"), arrow("a", "c")].concat());
    // A type of the same name is another one; so is one of another crate.
    let a = "struct Inner; impl Inner { fn end(&self) {} } fn f(one: &Inner, far: &far::Inner) { one.end(); far.end() }";
    assert_eq!(of(a, "", c), []);
    // Where the type is not known, each that has the name.
    assert_eq!(
        of("fn f() { far::something().finish() }", "", "struct C; impl C { fn finish(&self) {} }"),
        arrow("a", "c")
    );
    assert_eq!(of("fn f() { far::something().len() }", "", "struct C; impl C { fn len(&self) {} }"), []);
    // Traits of this crate and of others.
    let a = "use crate::held::Job; fn f(job: &dyn Job) { job.go() } fn g<J: Job>(job: J) { job.go() }";
    let b = "use crate::held::*; impl Job for Held { fn go(&self) {} }";
    assert_eq!(of(a, b, ""), [arrow("a", "b"), arrow("a", "held")].concat());
    let (a, b) = (
        "use far::Job; fn f(job: &dyn Job) { job.go() }",
        "use crate::held::*; impl far::Job for Held { fn go(&self) {} }",
    );
    assert_eq!(of(a, b, ""), []);
    // In the arguments of a macro, and below a type's name.
    let a = "use crate::held::Inner; fn f(one: &Inner) { assert!(one.end()); }";
    assert_eq!(of(a, "", c), arrow("a", "c"));
    assert_eq!(of("use crate::held::Inner; fn f() { Inner::end(&Inner) }", "", c), arrow("a", "c"));
}
