//! Calls between the files of a crate, as far as the sources tell: which file calls methods that stand in which other.
//!
//! A method is found by the type of its receiver. Types are followed roughly: a type is the set of the crate's own type names in
//! it (`Mutex<Vec<Job>>` is `Job`), through fields, parameters, `let`, patterns, closures and what the crate's functions return; methods of
//! the standard library keep the set. Where the receiver's type is not known, a name that several types have counts as a call of each, unless
//! the standard library's collections, numbers and cells have it, too ([`COMMON`]). A
//! method of a trait of the crate is a call of every file that implements it; traits of other crates, the contracts among them, are no
//! arrow: who implements one does not know who calls. Functions that are passed on are named by a path, which the imports have.

use crate::cycles::of_tests;
use crate::definitions::{Index, Method, Types, bounds_of, implemented, names_in};
use std::collections::{BTreeMap, BTreeSet};
use syn::visit::{self, Visit};

/// Names of methods that collections, options, numbers, pointers, cells or atomics have: on a receiver of unknown type they say nothing.
const COMMON: &str = "add all and_then any as_mut as_mut_ptr as_ptr as_ref at borrow borrow_mut bytes  \
    cast chain clear clone cmp collect contains contains_key copied count drain drop end entry eq extend  \
    fill filter find find_map first flush fold get get_mut hash index insert into into_iter is_empty  \
    is_err is_null is_ok is_some iter iter_mut join last len load lock map max min new next offset or  \
    parse pop position push read remove replace reserve reset retain rev send set skip split start store  \
    sub sum swap take then try_lock update wait with write zip";

/// Foreign types that hold what they are made of.
const HOLDERS: &str = "Arc BTreeMap BTreeSet Box Cell HashMap HashSet ManuallyDrop MaybeUninit Mutex NonNull OnceLock Option Pin Rc \
    RefCell Result RwLock UnsafeCell Vec VecDeque Weak";

/// Calls of one file.
pub struct Calls<'a> {
    index: &'a Index,
    /// The type whose `impl` the visitor is in, and the bounds of its parameters.
    this: Option<String>,
    bounds: BTreeMap<String, Types>,
    /// Types of names that are in scope, roughly.
    known: BTreeMap<String, Option<Types>>,
    /// Files that are called, each with a method's name.
    pub found: BTreeMap<usize, BTreeSet<String>>,
}

impl<'a> Calls<'a> {
    pub fn new(index: &'a Index) -> Calls<'a> {
        Calls { index, this: None, bounds: BTreeMap::new(), known: BTreeMap::new(), found: BTreeMap::new() }
    }

    fn call(&mut self, name: &str, of: Option<&Types>) {
        if of.is_none() && COMMON.split(' ').any(|common| common == name) {
            return;
        }
        let Some(methods) = self.index.methods.get(name) else { return };
        for method in methods.iter().filter(|m| of.is_none_or(|types| types.contains(&m.of))) {
            self.found.entry(method.file).or_default().insert(name.to_owned());
        }
    }

    fn types_in(&self, ty: &syn::Type) -> Types {
        self.index.resolved(names_in(ty, &self.bounds, self.this.as_deref()))
    }

    /// The type of an expression; `None`: it is not known.
    fn type_of(&self, expression: &syn::Expr) -> Option<Types> {
        match expression {
            syn::Expr::Path(path) => match path.path.get_ident() {
                Some(name) if name == "self" => Some(self.this.iter().cloned().collect()),
                Some(name) => match self.known.get(&name.to_string()) {
                    Some(types) => types.clone(),
                    // A constant.
                    None => name.to_string().starts_with(char::is_uppercase).then(Types::new),
                },
                // A constant of a type is mostly of that type.
                None => self.type_before(&path.path).map(|of| [of].into()),
            },
            syn::Expr::Field(field) => {
                let types = self.type_of(&field.base)?;
                let name = match &field.member {
                    syn::Member::Named(name) => name.to_string(),
                    syn::Member::Unnamed(index) => index.index.to_string(),
                };
                let found = types.iter().filter_map(|t| self.index.fields.get(t)?.get(&name));
                let found: Vec<&Types> = found.collect();
                // A tuple keeps what is in it; a field of a foreign type is foreign.
                let is_tuple = name.parse::<usize>().is_ok() && found.is_empty();
                let all = if is_tuple { types } else { found.into_iter().flatten().cloned().collect() };
                Some(self.index.resolved(all))
            }
            syn::Expr::MethodCall(call) => {
                // `body::<Sending>()`: most likely of that type.
                let named =
                    call.turbofish.iter().flat_map(|t| &t.args).filter_map(|argument| match argument {
                        syn::GenericArgument::Type(ty) => Some(self.types_in(ty)),
                        _ => None,
                    });
                if let Some(named) = named.reduce(|a, b| a.into_iter().chain(b).collect()) {
                    return Some(named);
                }
                let types = self.type_of(&call.receiver);
                let name = call.method.to_string();
                if types.is_none() && COMMON.split(' ').any(|common| common == name) {
                    return None;
                }
                let methods = self.index.methods.get(&name).into_iter().flatten();
                let ours: Vec<&Method> =
                    methods.filter(|m| types.as_ref().is_none_or(|types| types.contains(&m.of))).collect();
                match ours.is_empty() {
                    false => Some(self.index.resolved(ours.iter().flat_map(|m| m.returns.clone()).collect())),
                    true => types,
                }
            }
            syn::Expr::Call(call) => self.type_of_call(call),
            syn::Expr::Reference(inner) => self.type_of(&inner.expr),
            syn::Expr::RawAddr(inner) => self.type_of(&inner.expr),
            syn::Expr::Paren(inner) => self.type_of(&inner.expr),
            syn::Expr::Group(inner) => self.type_of(&inner.expr),
            syn::Expr::Unary(inner) => self.type_of(&inner.expr),
            syn::Expr::Try(inner) => self.type_of(&inner.expr),
            syn::Expr::Index(inner) => self.type_of(&inner.expr),
            syn::Expr::Cast(cast) => {
                let types = self.types_in(&cast.ty);
                if types.is_empty() { self.type_of(&cast.expr) } else { Some(types) }
            }
            syn::Expr::Struct(literal) => {
                let name = literal.path.segments.last()?.ident.to_string();
                Some([if name == "Self" { self.this.clone()? } else { name }].into())
            }
            syn::Expr::Unsafe(block) => self.type_of_block(&block.block),
            syn::Expr::Block(block) => self.type_of_block(&block.block),
            syn::Expr::If(branch) => {
                let other = branch.else_branch.as_ref().and_then(|(_, other)| self.type_of(other));
                union(self.type_of_block(&branch.then_branch), other)
            }
            syn::Expr::Match(branches) => {
                branches.arms.iter().map(|arm| self.type_of(&arm.body)).reduce(union).flatten()
            }
            syn::Expr::Tuple(all) => all.elems.iter().map(|e| self.type_of(e)).reduce(union).flatten(),
            syn::Expr::Array(all) => all.elems.iter().map(|e| self.type_of(e)).reduce(union).flatten(),
            syn::Expr::Lit(_) | syn::Expr::Binary(_) | syn::Expr::Range(_) => Some(Types::new()),
            _ => None,
        }
    }

    fn type_of_block(&self, block: &syn::Block) -> Option<Types> {
        match block.stmts.last() {
            Some(syn::Stmt::Expr(last, None)) => self.type_of(last),
            _ => Some(Types::new()),
        }
    }

    fn type_of_call(&self, call: &syn::ExprCall) -> Option<Types> {
        let syn::Expr::Path(path) = &*call.func else { return None };
        let name = path.path.segments.last()?.ident.to_string();
        let of = self.type_before(&path.path);
        let methods = self.index.methods.get(&name).into_iter().flatten();
        let ours: Vec<&Method> = methods.filter(|m| of.as_ref() == Some(&m.of)).collect();
        if !ours.is_empty() {
            return Some(self.index.resolved(ours.iter().flat_map(|m| m.returns.clone()).collect()));
        }
        // A tuple struct.
        if self.index.own.contains(&name) {
            return Some([name].into());
        }
        // A function of a foreign trait, as `default`, most likely makes one.
        if let Some(of) = of.as_ref().filter(|of| self.index.own.contains(*of)) {
            return Some([of.clone()].into());
        }
        if let (None, Some(returns)) = (&of, self.index.functions.get(&name)) {
            return Some(self.index.resolved(returns.clone()));
        }
        // A foreign type is known, but for what it may hold.
        if of.as_ref().is_some_and(|of| !HOLDERS.split(' ').any(|holder| holder == of)) {
            return Some(Types::new());
        }
        // A foreign function returns something of its arguments.
        call.args.iter().map(|argument| self.type_of(argument)).reduce(union).unwrap_or_default()
    }

    /// The type in `Type::function`.
    fn type_before(&self, path: &syn::Path) -> Option<String> {
        let before = path.segments.iter().rev().nth(1)?.ident.to_string();
        match before.as_str() {
            "Self" => self.this.clone(),
            name if name.starts_with(char::is_uppercase) => Some(before),
            _ => None,
        }
    }

    /// The type that a pattern names: that before a variant, or a struct.
    fn pattern_type(&self, path: &syn::Path) -> String {
        let last = || path.segments.last().map(|s| s.ident.to_string());
        self.type_before(path).or_else(last).unwrap_or_default()
    }

    /// Binds the names of a pattern to what is matched.
    fn bind(&mut self, pattern: &syn::Pat, types: Option<Types>) {
        match pattern {
            syn::Pat::Ident(name) => {
                if let Some((_, inner)) = &name.subpat {
                    self.bind(inner, types.clone());
                }
                self.known.insert(name.ident.to_string(), types);
            }
            syn::Pat::Type(typed) => {
                let types = self.types_in(&typed.ty);
                self.bind(&typed.pat, Some(types));
            }
            syn::Pat::Struct(fields) => {
                let name = self.pattern_type(&fields.path);
                let of: Types =
                    types.iter().flatten().cloned().chain([name]).chain(self.this.clone()).collect();
                for field in &fields.fields {
                    let name = match &field.member {
                        syn::Member::Named(name) => name.to_string(),
                        syn::Member::Unnamed(index) => index.index.to_string(),
                    };
                    let found = of.iter().filter_map(|t| self.index.fields.get(t)?.get(&name)).flatten();
                    let found = self.index.resolved(found.cloned().collect());
                    self.bind(&field.pat, Some(found));
                }
            }
            syn::Pat::TupleStruct(parts) => {
                let name = self.pattern_type(&parts.path);
                let inside =
                    self.index.fields.get(&name).map(|fields| fields.values().flatten().cloned().collect());
                let inside = inside.map(|types| self.index.resolved(types));
                // A variant holds something of what its enum holds.
                let of_enum = types.as_ref().map(|types| {
                    let all = types.iter().filter_map(|t| self.index.fields.get(t));
                    let all: Types = all.flat_map(|fields| fields.values().flatten().cloned()).collect();
                    self.index.resolved(types.iter().cloned().chain(all).collect())
                });
                for part in &parts.elems {
                    self.bind(part, inside.clone().or_else(|| of_enum.clone()));
                }
            }
            syn::Pat::Tuple(parts) => parts.elems.iter().for_each(|part| self.bind(part, types.clone())),
            syn::Pat::Slice(parts) => parts.elems.iter().for_each(|part| self.bind(part, types.clone())),
            syn::Pat::Reference(inner) => self.bind(&inner.pat, types),
            syn::Pat::Paren(inner) => self.bind(&inner.pat, types),
            syn::Pat::Or(cases) => cases.cases.iter().for_each(|case| self.bind(case, types.clone())),
            _ => {}
        }
    }

    /// The types with which a method calls each of its arguments that is a function.
    fn given_by(&self, name: &str, of: Option<&Types>) -> Vec<Option<Types>> {
        let methods = self.index.methods.get(name).into_iter().flatten();
        let ours = methods.filter(|m| of.is_some_and(|types| types.contains(&m.of)));
        ours.map(|m| m.given.clone()).next().unwrap_or_default()
    }

    /// Visits arguments of a call. A closure among them is given what the called function says, else what the receiver
    /// and the others hold.
    fn arguments(
        &mut self,
        all: &syn::punctuated::Punctuated<syn::Expr, syn::Token![,]>,
        receiver: Option<Types>,
        given: &[Option<Types>],
    ) {
        let others = all.iter().filter(|a| !matches!(a, syn::Expr::Closure(_)));
        let held = others.map(|argument| self.type_of(argument)).fold(receiver, union);
        for (n, argument) in all.iter().enumerate() {
            if let syn::Expr::Closure(closure) = argument {
                let types = given.get(n).cloned().flatten().or_else(|| held.clone());
                closure.inputs.iter().for_each(|input| self.bind(input, types.clone()));
                self.visit_expr(&closure.body);
            } else {
                self.visit_expr(argument);
            }
        }
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (known, bounds) = (std::mem::take(&mut self.known), self.bounds.clone());
        self.bounds.extend(bounds_of(&signature.generics));
        for input in &signature.inputs {
            if let syn::FnArg::Typed(typed) = input {
                let types = self.types_in(&typed.ty);
                self.bind(&typed.pat, Some(types));
            }
        }
        self.visit_block(block);
        (self.known, self.bounds) = (known, bounds);
    }
}

fn union(a: Option<Types>, b: Option<Types>) -> Option<Types> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.into_iter().chain(b).collect()),
        (a, b) => a.or(b),
    }
}

impl<'ast> Visit<'ast> for Calls<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !of_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        if of_tests(&item.attrs) {
            return;
        }
        let this = std::mem::replace(&mut self.this, implemented(item));
        let bounds = std::mem::replace(&mut self.bounds, bounds_of(&item.generics));
        visit::visit_item_impl(self, item);
        (self.this, self.bounds) = (this, bounds);
    }
    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        // Its methods call each other on the same object: that is no arrow to who implements it.
        let this = self.this.take();
        visit::visit_item_trait(self, item);
        self.this = this;
    }
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        if !of_tests(&item.attrs) {
            let this = if self.known.is_empty() { self.this.take() } else { self.this.clone() };
            self.function(&item.sig, &item.block);
            self.this = this;
        }
    }
    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        if !of_tests(&item.attrs) {
            self.function(&item.sig, &item.block);
        }
    }
    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.function(&item.sig, block);
        }
    }
    fn visit_local(&mut self, local: &'ast syn::Local) {
        visit::visit_local(self, local);
        let types = local.init.as_ref().and_then(|init| self.type_of(&init.expr));
        self.bind(&local.pat, types);
    }
    fn visit_expr_let(&mut self, item: &'ast syn::ExprLet) {
        visit::visit_expr_let(self, item);
        let types = self.type_of(&item.expr);
        self.bind(&item.pat, types);
    }
    fn visit_expr_for_loop(&mut self, item: &'ast syn::ExprForLoop) {
        self.visit_expr(&item.expr);
        let types = self.type_of(&item.expr);
        self.bind(&item.pat, types);
        self.visit_block(&item.body);
    }
    fn visit_expr_match(&mut self, item: &'ast syn::ExprMatch) {
        self.visit_expr(&item.expr);
        let types = self.type_of(&item.expr);
        for arm in &item.arms {
            self.bind(&arm.pat, types.clone());
            self.visit_arm(arm);
        }
    }
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        self.visit_expr(&call.receiver);
        let types = self.type_of(&call.receiver);
        self.call(&call.method.to_string(), types.as_ref());
        let given = self.given_by(&call.method.to_string(), types.as_ref());
        self.arguments(&call.args, types, &given);
    }
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        self.visit_expr(&call.func);
        let given = match &*call.func {
            syn::Expr::Path(path) => {
                let name = path.path.segments.last().map(|s| s.ident.to_string()).unwrap_or_default();
                match self.type_before(&path.path) {
                    Some(of) => self.given_by(&name, Some(&[of].into())),
                    None => self.index.given.get(&name).cloned().unwrap_or_default(),
                }
            }
            _ => Vec::new(),
        };
        self.arguments(&call.args, None, &given);
    }
    fn visit_expr_closure(&mut self, closure: &'ast syn::ExprClosure) {
        closure.inputs.iter().for_each(|input| self.bind(input, None));
        self.visit_expr(&closure.body);
    }
    fn visit_expr_path(&mut self, path: &'ast syn::ExprPath) {
        if let (Some(of), Some(last)) = (self.type_before(&path.path), path.path.segments.last()) {
            self.call(&last.ident.to_string(), Some(&[of].into()));
        }
        visit::visit_expr_path(self, path);
    }
    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        let expressions = syn::punctuated::Punctuated::<syn::Expr, syn::Token![,]>::parse_terminated;
        if let Ok(all) = item.parse_body_with(expressions) {
            // The arguments of a macro live no longer than the visit.
            let mut inner = Calls {
                known: self.known.clone(),
                this: self.this.clone(),
                bounds: self.bounds.clone(),
                ..Calls::new(self.index)
            };
            all.iter().for_each(|expression| inner.visit_expr(expression));
            for (file, names) in inner.found {
                self.found.entry(file).or_default().extend(names);
            }
        }
    }
}
