//! Names of a crate's types made unique: a type that a file names is called `Name_in_N`, where file N defines it. So two types
//! of one name are two, and a type of another crate is none.

use std::collections::BTreeMap;
use syn::visit_mut::{self, VisitMut};

/// The types that a file sees by a single name, with the unique name of each.
pub type Scope = BTreeMap<String, String>;

/// The unique name of a type that file `number` defines.
pub fn unique(name: &str, number: usize) -> String {
    format!("{name}_in_{number}")
}

/// Makes the names of types in a file unique. `elsewhere`: types that only one file of the crate defines, for paths.
pub struct Unique<'a> {
    pub scope: &'a Scope,
    pub elsewhere: &'a Scope,
}

impl Unique<'_> {
    fn rename(&self, ident: &mut syn::Ident, is_below: bool) {
        let name = ident.to_string();
        let unique = self.scope.get(&name).or_else(|| self.elsewhere.get(&name).filter(|_| is_below));
        if let Some(unique) = unique {
            *ident = syn::Ident::new(unique, ident.span());
        }
    }
}

impl VisitMut for Unique<'_> {
    fn visit_ident_mut(&mut self, ident: &mut syn::Ident) {
        self.rename(ident, false);
    }
    fn visit_path_mut(&mut self, path: &mut syn::Path) {
        let ours =
            |segment: &syn::PathSegment| ["crate", "super", "self"].iter().any(|word| segment.ident == word);
        let is_below = path.segments.first().is_some_and(ours);
        for segment in &mut path.segments {
            self.rename(&mut segment.ident, is_below);
            visit_mut::visit_path_arguments_mut(self, &mut segment.arguments);
        }
    }
    // Names in imports and modules are no uses.
    fn visit_item_use_mut(&mut self, _: &mut syn::ItemUse) {}
}
