//! Definitions of a crate, as far as calls need them: types with their fields, methods by name with the file of each, and what they return.

use crate::cycles::of_tests;
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Names of types. `None` in what follows: the type is not known.
pub type Types = BTreeSet<String>;

/// A method, or a function below a type.
pub struct Method {
    /// The type, or the trait, that has it.
    pub of: String,
    pub file: usize,
    pub returns: Types,
    /// The types that each argument, if it is a function, is called with.
    pub given: Vec<Option<Types>>,
}

/// The definitions of a crate.
#[derive(Default)]
pub struct Index {
    /// Fields by type.
    pub fields: BTreeMap<String, BTreeMap<String, Types>>,
    pub methods: BTreeMap<String, Vec<Method>>,
    /// The types that free functions return.
    pub functions: BTreeMap<String, Types>,
    /// The types that arguments of free functions, if they are functions, are called with.
    pub given: BTreeMap<String, Vec<Option<Types>>>,
    pub own: Types,
}

/// The names in a type, with those of bounds in place of parameters.
struct Names<'a> {
    found: Types,
    bounds: &'a BTreeMap<String, Types>,
    this: Option<&'a str>,
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        if let Some(last) = path.segments.last() {
            let name = last.ident.to_string();
            match (self.bounds.get(&name), self.this) {
                (Some(bounds), _) => self.found.extend(bounds.iter().cloned()),
                (None, Some(this)) if name == "Self" => {
                    self.found.insert(this.to_owned());
                }
                _ => {
                    self.found.insert(name);
                }
            }
        }
        visit::visit_path(self, path);
    }
}

pub fn names_in(ty: &syn::Type, bounds: &BTreeMap<String, Types>, this: Option<&str>) -> Types {
    let mut names = Names { found: Types::new(), bounds, this };
    names.visit_type(ty);
    names.found
}

/// The traits that stand for type parameters.
pub fn bounds_of(generics: &syn::Generics) -> BTreeMap<String, Types> {
    let none = BTreeMap::new();
    let mut found: BTreeMap<String, Types> = BTreeMap::new();
    let traits = |bounds: &syn::punctuated::Punctuated<syn::TypeParamBound, syn::Token![+]>| {
        let mut names = Names { found: Types::new(), bounds: &none, this: None };
        bounds.iter().for_each(|bound| names.visit_type_param_bound(bound));
        names.found
    };
    for parameter in generics.type_params() {
        found.entry(parameter.ident.to_string()).or_default().extend(traits(&parameter.bounds));
    }
    for predicate in generics.where_clause.iter().flat_map(|clause| &clause.predicates) {
        if let syn::WherePredicate::Type(predicate) = predicate {
            for name in names_in(&predicate.bounded_ty, &none, None) {
                if let Some(known) = found.get_mut(&name) {
                    known.extend(traits(&predicate.bounds));
                }
            }
        }
    }
    found
}

fn returned(signature: &syn::Signature, around: &BTreeMap<String, Types>, this: Option<&str>) -> Types {
    let mut bounds = around.clone();
    bounds.extend(bounds_of(&signature.generics));
    match &signature.output {
        syn::ReturnType::Default => Types::new(),
        syn::ReturnType::Type(_, ty) => names_in(ty, &bounds, this),
    }
}

/// The types in `Fn(A, B)`.
fn arguments_of(
    bound: &syn::TypeParamBound,
    around: &BTreeMap<String, Types>,
    this: Option<&str>,
) -> Option<Types> {
    let syn::TypeParamBound::Trait(bound) = bound else { return None };
    let syn::PathArguments::Parenthesized(inside) = &bound.path.segments.last()?.arguments else {
        return None;
    };
    Some(inside.inputs.iter().flat_map(|input| names_in(&input.ty, around, this)).collect())
}

/// The types that each argument of a function, if it is a function itself, is called with.
fn given_by(
    signature: &syn::Signature,
    around: &BTreeMap<String, Types>,
    this: Option<&str>,
) -> Vec<Option<Types>> {
    let mut bounds = around.clone();
    bounds.extend(bounds_of(&signature.generics));
    let by_parameter = |name: &syn::Ident| {
        let own = signature.generics.type_params().filter(|p| p.ident == *name).flat_map(|p| &p.bounds);
        own.filter_map(|bound| arguments_of(bound, &bounds, this)).next()
    };
    let of = |input: &syn::FnArg| {
        let syn::FnArg::Typed(input) = input else { return None };
        let mut ty = &*input.ty;
        while let syn::Type::Reference(reference) = ty {
            ty = &reference.elem;
        }
        let listed = match ty {
            syn::Type::ImplTrait(ty) => &ty.bounds,
            syn::Type::TraitObject(ty) => &ty.bounds,
            syn::Type::Paren(ty) => match &*ty.elem {
                syn::Type::TraitObject(ty) => &ty.bounds,
                _ => return None,
            },
            syn::Type::Path(path) => return path.path.get_ident().and_then(by_parameter),
            _ => return None,
        };
        listed.iter().find_map(|bound| arguments_of(bound, &bounds, this))
    };
    let inputs = signature.inputs.iter().filter(|input| matches!(input, syn::FnArg::Typed(_)));
    inputs.map(of).collect()
}

/// The name of the type that an `impl` is for.
pub fn implemented(item: &syn::ItemImpl) -> Option<String> {
    let mut ty = &*item.self_ty;
    while let syn::Type::Reference(reference) = ty {
        ty = &reference.elem;
    }
    let syn::Type::Path(path) = ty else { return None };
    path.path.segments.last().map(|s| s.ident.to_string())
}

fn fields_of(fields: &syn::Fields, generics: &syn::Generics) -> BTreeMap<String, Types> {
    let bounds = bounds_of(generics);
    let name = |(n, field): (usize, &syn::Field)| {
        let name = field.ident.as_ref().map_or_else(|| n.to_string(), ToString::to_string);
        (name, names_in(&field.ty, &bounds, None))
    };
    fields.iter().enumerate().map(name).collect()
}

impl Index {
    /// Adds what a file defines, its modules included, those of tests left out.
    pub fn add(&mut self, file: usize, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Struct(item) => {
                    let name = item.ident.to_string();
                    self.fields
                        .entry(name.clone())
                        .or_default()
                        .extend(fields_of(&item.fields, &item.generics));
                    self.own.insert(name);
                }
                syn::Item::Enum(item) => {
                    let name = item.ident.to_string();
                    // Patterns bind the content of a variant; that of all together is enough.
                    let all = item.variants.iter().flat_map(|v| fields_of(&v.fields, &item.generics));
                    self.fields.entry(name.clone()).or_default().extend(all);
                    self.own.insert(name);
                }
                syn::Item::Trait(item) => {
                    let name = item.ident.to_string();
                    for inner in &item.items {
                        if let syn::TraitItem::Fn(method) = inner {
                            self.add_method(file, &name, &method.sig, &BTreeMap::new());
                        }
                    }
                    self.own.insert(name);
                }
                syn::Item::Type(item) => {
                    // Another name for what is in it.
                    let inside = names_in(&item.ty, &bounds_of(&item.generics), None);
                    self.fields.entry(item.ident.to_string()).or_default().insert("*".into(), inside);
                }
                syn::Item::Fn(item) if !of_tests(&item.attrs) => {
                    let types = returned(&item.sig, &BTreeMap::new(), None);
                    let given = given_by(&item.sig, &BTreeMap::new(), None);
                    self.given.insert(item.sig.ident.to_string(), given);
                    self.functions.entry(item.sig.ident.to_string()).or_default().extend(types);
                }
                syn::Item::Mod(item) if !of_tests(&item.attrs) => {
                    if let Some((_, items)) = &item.content {
                        self.add(file, items);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds the methods of `impl`s, once all traits of the crate are known.
    pub fn add_implementations(&mut self, file: usize, items: &[syn::Item]) {
        for item in items {
            match item {
                syn::Item::Impl(item) if !of_tests(&item.attrs) => {
                    let Some(name) = implemented(item) else { continue };
                    let of_trait = item.trait_.as_ref().map(|(path, _)| {
                        path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default()
                    });
                    // A trait of another crate: its caller knows nothing of this file.
                    if of_trait.as_ref().is_some_and(|name| !self.own.contains(name)) {
                        continue;
                    }
                    let bounds = bounds_of(&item.generics);
                    for inner in &item.items {
                        if let syn::ImplItem::Fn(method) = inner {
                            self.add_method(file, &name, &method.sig, &bounds);
                            if let Some(of) = &of_trait {
                                self.add_method(file, of, &method.sig, &bounds);
                            }
                        }
                    }
                }
                syn::Item::Mod(item) if !of_tests(&item.attrs) => {
                    if let Some((_, items)) = &item.content {
                        self.add_implementations(file, items);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_method(
        &mut self,
        file: usize,
        of: &str,
        signature: &syn::Signature,
        around: &BTreeMap<String, Types>,
    ) {
        let returns = returned(signature, around, Some(of));
        let given = given_by(signature, around, Some(of));
        let method = Method { of: of.to_owned(), file, returns, given };
        self.methods.entry(signature.ident.to_string()).or_default().push(method);
    }

    /// The types, with what they are other names for.
    pub fn resolved(&self, types: Types) -> Types {
        let aliases = types.iter().filter_map(|name| self.fields.get(name)?.get("*")).flatten().cloned();
        let aliases: Types = aliases.collect();
        types.into_iter().chain(aliases).collect()
    }
}
