//! No safe function that others reach takes a raw pointer: who calls it could give any address, and nothing would say that the function follows it.
//!
//! A function is *reached* by others if it is `pub` in any way, or of a trait that is. It takes a pointer if a parameter's type has one in it (`*mut T`,
//! `NonNull<T>`, a tuple or list of them), or is another name for such a type, or a struct that is nothing but a pointer whose field others can fill. Functions
//! of a table have a C ABI and the contract of the table; they do not count, nor do types of functions, whose pointers come later.
//!
//! One kind may stay: addresses that nobody follows but by an unsafe function ([`OPAQUE`]).

use crate::{files, folder, metadata, none, read, root, short};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Types whose addresses are handles, each with the reason.
const OPAQUE: [(&str, &str); 2] = [
    (
        "ThreadCtx",
        "a thread's context is passed on to components, and followed by `Entry::of`, which is unsafe, or compared",
    ),
    ("UserThread", "the program's name of one of its own threads, which its own functions get back"),
];

/// Types by whose parameter a pointer is a value of the program's, which is stored and not followed: places of arguments of C.
const PLACES: [&str; 2] = ["Out", "In"];

/// Raw pointers in a type, by what they point to.
#[derive(Default)]
struct Pointees(Vec<String>);

impl Pointees {
    fn of(kind: &syn::Type) -> Vec<String> {
        let mut all = Pointees::default();
        all.visit_type(kind);
        all.0
    }
}

impl<'ast> Visit<'ast> for Pointees {
    fn visit_type_ptr(&mut self, pointer: &'ast syn::TypePtr) {
        self.0.push(name_of(&pointer.elem));
    }
    fn visit_type_path(&mut self, path: &'ast syn::TypePath) {
        let Some(last) = path.path.segments.last() else { return };
        if last.ident == "NonNull" {
            let pointee = arguments(last).first().map_or_else(String::new, |kind| name_of(kind));
            self.0.push(pointee);
        } else if !PLACES.contains(&last.ident.to_string().as_str()) {
            visit::visit_type_path(self, path);
        }
    }
    fn visit_type_fn_ptr(&mut self, _: &'ast syn::TypeFnPtr) {}
    fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {}
    fn visit_type_trait_object(&mut self, _: &'ast syn::TypeTraitObject) {}
}

/// Types between the angle brackets of a name.
fn arguments(segment: &syn::PathSegment) -> Vec<&syn::Type> {
    let syn::PathArguments::AngleBracketed(list) = &segment.arguments else { return Vec::new() };
    let types = list.args.iter().filter_map(|argument| match argument {
        syn::GenericArgument::Type(kind) => Some(kind),
        _ => None,
    });
    types.collect()
}

/// The last name of a type; nothing of one that is no name.
fn name_of(kind: &syn::Type) -> String {
    match kind {
        syn::Type::Path(path) => path.path.segments.last().map_or_else(String::new, |s| s.ident.to_string()),
        _ => String::new(),
    }
}

fn is_reached(visibility: &syn::Visibility) -> bool {
    !matches!(visibility, syn::Visibility::Inherited)
}

/// A type whose addresses are handles.
fn is_opaque(name: &str) -> bool {
    OPAQUE.iter().any(|(opaque, _)| *opaque == name)
}

/// Code that only tests have.
fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        syn::Meta::Path(path) => path.is_ident("test"),
        syn::Meta::List(list) if list.path.is_ident("cfg") => {
            let text = list.tokens.to_string().replace(' ', "");
            text.starts_with("test") || text.starts_with("all(test")
        }
        _ => false,
    })
}

/// Structs of a crate that are nothing but a pointer which others can put there, and other names for types with pointers.
#[derive(Default)]
struct Wrappers(BTreeSet<String>);

impl<'ast> Visit<'ast> for Wrappers {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let mut fields = item.fields.iter().filter(|field| name_of(&field.ty) != "PhantomData");
        if let (Some(only), None) = (fields.next(), fields.next())
            && matches!(only.ty, syn::Type::Ptr(_))
            && is_reached(&only.vis)
        {
            self.0.insert(item.ident.to_string());
        }
    }
    fn visit_item_type(&mut self, item: &'ast syn::ItemType) {
        if Pointees::of(&item.ty).iter().any(|pointee| !is_opaque(pointee)) {
            self.0.insert(item.ident.to_string());
        }
    }
}

/// Safe functions that others reach and that take a pointer.
struct Functions<'a> {
    wrappers: &'a BTreeSet<String>,
    found: Vec<String>,
}

impl Functions<'_> {
    fn look(&mut self, signature: &syn::Signature) {
        if !matches!(signature.safety, syn::Safety::Default) || signature.abi.is_some() {
            return;
        }
        let kinds = signature.inputs.iter().filter_map(|input| match input {
            syn::FnArg::Typed(typed) => Some(&*typed.ty),
            syn::FnArg::Receiver(_) => None,
        });
        let is_taken = |kind: &syn::Type| {
            let wrapper = name_of(kind);
            Pointees::of(kind).iter().any(|pointee| !is_opaque(pointee))
                || (self.wrappers.contains(&wrapper) && !is_opaque(&wrapper))
        };
        if kinds.into_iter().any(is_taken) {
            self.found.push(signature.ident.to_string());
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if is_test(&item.attrs) {
            return;
        }
        if is_reached(&item.vis) {
            self.look(&item.sig);
        }
        visit::visit_item_fn(self, item);
    }
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if !is_test(&item.attrs) {
            visit::visit_item_impl(self, item);
        }
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if is_reached(&item.vis) && !is_test(&item.attrs) {
            self.look(&item.sig);
        }
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        if is_reached(&item.vis) && !is_test(&item.attrs) {
            visit::visit_item_trait(self, item);
        }
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.look(&item.sig);
    }
}

/// Such functions of a crate whose files have these names and texts.
fn functions(texts: &[(String, String)]) -> Vec<String> {
    let parsed: Vec<(&String, syn::File)> = texts
        .iter()
        .map(|(name, text)| (name, syn::parse_file(text).unwrap_or_else(|e| panic!("{name}: {e}"))))
        .collect();
    let mut wrappers = Wrappers::default();
    parsed.iter().for_each(|(_, file)| wrappers.visit_file(file));
    let of_file = |(name, file): &(&String, syn::File)| {
        let mut functions = Functions { wrappers: &wrappers.0, found: Vec::new() };
        functions.visit_file(file);
        functions.found.into_iter().map(|function| format!("{name}: {function}")).collect::<Vec<_>>()
    };
    parsed.iter().flat_map(of_file).collect()
}

/// Names and texts of a crate's files, without those of its tests.
fn texts(folder: &str) -> Vec<(String, String)> {
    let product = files(&root().join(folder).join("src"), ".rs").into_iter().filter(|path| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let is_model = name == "model" || path.components().any(|part| part.as_os_str() == "models");
        name != "tests" && !name.ends_with("_tests") && !is_model
    });
    product.map(|path| (short(&path), read(&path))).collect()
}

/// Crates whose code is in a process of the program's.
fn crates() -> Vec<String> {
    let all = metadata().packages.iter().map(folder);
    let product = all.filter(|folder| {
        let ours = folder.starts_with("framework/") || folder.starts_with("components/") || folder == "mpi";
        ours && folder != "framework/testing" && !folder.ends_with("/conformance")
    });
    product.collect()
}

#[test]
fn safe_functions_take_no_pointers() {
    let crates = crates();
    assert!(
        ["mpi", "framework/runtime", "components/pml-ob1"].iter().all(|one| crates.iter().any(|c| c == one))
    );
    let findings = crates.iter().flat_map(|folder| functions(&texts(folder))).collect();
    none("safe functions that others reach and that take raw pointers", findings);
}

/// The compiler's own look at bodies holds everywhere.
#[test]
fn nobody_switches_the_lint_on_pointers() {
    // Split, so that this file does not contain what it looks for.
    let lint = ["not_unsafe", "_ptr_arg_deref"].concat();
    let switched = files(root(), ".rs").into_iter().filter(|path| read(path).contains(&lint));
    none(
        "files that name the lint on safe functions with pointers",
        switched.map(|path| short(&path)).collect(),
    );
}

#[test]
fn the_search_for_pointers_finds_them() {
    let found = |text: &str| functions(&[("a".into(), text.into())]);
    let taken = "pub fn a(p: *const u8) {} pub(crate) fn b(p: Option<&[*mut u8]>) {} pub(super) fn c((p, _): (NonNull<u8>, u32)) {}
        pub struct Bare(pub *mut u8, PhantomData<u8>); pub fn d(bare: Bare) {}
        impl X { pub fn e(&self, p: *mut u8) {} } pub trait T { fn f(p: *mut u8); } type Data<'a> = (*const u8, &'a u8); pub fn g(data: Data<'_>) {}";
    assert_eq!(found(taken), ["a: a", "a: b", "a: c", "a: d", "a: e", "a: f", "a: g"]);
    let right = "pub unsafe fn a(p: *const u8) {} fn b(p: *mut u8) {} pub extern \"C\" fn c(p: *mut u8) {}
        pub fn d(t: *mut ThreadCtx, f: fn(*mut u8), g: impl Fn(*mut u8), place: Out<*mut u8>) -> *mut u8 {}
        pub struct Sealed(*mut u8); pub fn e(sealed: Sealed) {} type Call = fn(*mut u8); pub fn f(call: Call) {} trait T { fn f(p: *mut u8); }
        #[cfg(test)] mod tests { pub fn g(p: *mut u8) {} } #[test] fn h() {}";
    assert_eq!(found(right), [""; 0]);
}
