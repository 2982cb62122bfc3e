//! Rust's `repr(C)` items as C declarations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use syn::{
    Attribute, Expr, Fields, GenericArgument, ItemStruct, ItemType, Lit, PathArguments, ReturnType, Type,
};

/// `StrRef` → `str_ref`.
pub fn snake(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// The C name of one of our types.
pub fn c_name(name: &str) -> String {
    format!("oxmpi_{}", snake(name))
}

/// A field's name where C or C++ has a word like it.
pub fn field_name(name: &str) -> String {
    const KEYWORDS: &[&str] = &[
        "default",
        "int",
        "double",
        "char",
        "short",
        "long",
        "float",
        "register",
        "signed",
        "unsigned",
        "switch",
        "case",
        "class",
        "new",
        "delete",
        "private",
        "public",
        "template",
        "this",
        "operator",
        "namespace",
        "export",
        "volatile",
        "auto",
        "union",
        "goto",
        "do",
        "void",
        "const",
    ];
    if KEYWORDS.contains(&name) { format!("{name}_") } else { name.to_owned() }
}

/// A doc comment.
pub struct Docs(Vec<String>);

impl Docs {
    pub fn of(attrs: &[Attribute]) -> Docs {
        let line = |a: &Attribute| match &a.meta.require_name_value().ok()?.value {
            Expr::Lit(l) if a.path().is_ident("doc") => match &l.lit {
                Lit::Str(s) => Some(s.value().trim().replace("[`", "`").replace("`]", "`")),
                _ => None,
            },
            _ => None,
        };
        Docs(attrs.iter().filter_map(line).collect())
    }

    pub fn write(&self, out: &mut String, indent: &str) {
        match &self.0[..] {
            [] => {}
            [one] => writeln!(out, "{indent}/* {one} */").expect("string"),
            [first, rest @ ..] => {
                writeln!(out, "{indent}/* {first}").expect("string");
                for (i, line) in rest.iter().enumerate() {
                    let end = if i + 1 == rest.len() { " */" } else { "" };
                    writeln!(out, "{indent} * {line}{end}").expect("string");
                }
            }
        }
    }
}

/// Names of types of one source file that others have, too: (in the source, for C).
pub type Renamed = &'static [(&'static str, &'static str)];

/// The name that C knows a type by, written as in Rust.
pub fn renamed(names: Renamed, name: &str) -> String {
    names.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours).to_owned()
}

/// Renders types, and remembers what it rendered.
#[derive(Default)]
pub struct Renderer {
    /// Of the source file that is rendered.
    pub names: Renamed,
    /// Fields of every rendered struct, in order.
    pub fields: BTreeMap<String, Vec<String>>,
    slices: BTreeSet<String>,
}

impl Renderer {
    pub fn structure(&mut self, s: &ItemStruct, out: &mut String) {
        let has = |what: &str| repr(&s.attrs).iter().any(|r| r.starts_with(what));
        let name = renamed(self.names, &s.ident.to_string());
        let docs = Docs::of(&s.attrs);
        if has("transparent") {
            let Fields::Unnamed(fields) = &s.fields else {
                panic!("{name}: a transparent struct with names")
            };
            docs.write(out, "");
            writeln!(out, "typedef {};", self.declare(&fields.unnamed[0].ty, &c_name(&name)))
                .expect("string");
            return;
        }
        assert!(has("C"), "{name} is not repr(C)");
        let align = repr(&s.attrs).iter().find_map(|r| r.strip_prefix("align").map(str::to_owned));
        let Fields::Named(fields) = &s.fields else { panic!("{name} has fields without names") };
        for f in &fields.named {
            self.slice_of(&f.ty, out);
        }
        docs.write(out, "");
        writeln!(out, "struct {} {{", c_name(&name)).expect("string");
        let mut names = Vec::new();
        for (i, f) in fields.named.iter().enumerate() {
            let field = f.ident.as_ref().expect("a name").to_string();
            Docs::of(&f.attrs).write(out, "    ");
            let align =
                align.as_ref().filter(|_| i == 0).map_or(String::new(), |n| format!("OXMPI_ALIGN{n} "));
            writeln!(out, "    {align}{};", self.declare(&f.ty, &field_name(&field))).expect("string");
            names.push(field);
        }
        writeln!(out, "}};").expect("string");
        self.fields.insert(name, names);
    }

    pub fn alias(&mut self, t: &ItemType, out: &mut String) {
        self.slice_of(&t.ty, out);
        Docs::of(&t.attrs).write(out, "");
        writeln!(
            out,
            "typedef {};",
            self.declare(&t.ty, &c_name(&renamed(self.names, &t.ident.to_string())))
        )
        .expect("string");
    }

    /// C has no generics: each `SliceRef<T>` becomes a type of its own, in front of its first user.
    fn slice_of(&mut self, ty: &Type, out: &mut String) {
        match ty {
            Type::Path(_) => {
                for inner in generics(ty) {
                    self.slice_of(inner, out);
                }
                if last(ty) == "SliceRef" && self.slices.insert(slice_name(generics(ty)[0])) {
                    let element = self.pointer_to_const(generics(ty)[0]);
                    let name = slice_name(generics(ty)[0]);
                    writeln!(out, "typedef struct {name} {{\n    {element};\n    size_t len;\n}} {name};")
                        .expect("string");
                }
            }
            Type::FnPtr(f) => f.inputs.iter().for_each(|a| self.slice_of(&a.ty, out)),
            Type::Ptr(p) => self.slice_of(&p.elem, out),
            _ => {}
        }
    }

    fn pointer_to_const(&self, ty: &Type) -> String {
        let inner = self.declare(ty, "");
        let inner = inner.trim_end();
        if inner.ends_with('*') { format!("{inner}const *ptr") } else { format!("const {inner} *ptr") }
    }

    /// `declarator` with this type: `uint32_t size`, `void (*f)(int32_t)`.
    fn declare(&self, ty: &Type, declarator: &str) -> String {
        match ty {
            Type::Ptr(p) => {
                let inner = self.declare(&p.elem, "");
                let inner = inner.trim_end();
                match (matches!(p.mutability, syn::PointerMutability::Const(_)), inner.ends_with('*')) {
                    (true, false) => format!("const {inner} *{declarator}"),
                    (true, true) => format!("{inner}const *{declarator}"),
                    (false, true) => format!("{inner}*{declarator}"),
                    (false, false) => format!("{inner} *{declarator}"),
                }
            }
            Type::Array(a) => {
                let Expr::Lit(l) = &a.len else { panic!("an array length that is no number") };
                let Lit::Int(n) = &l.lit else { panic!("an array length that is no number") };
                self.declare(&a.elem, &format!("{declarator}[{}]", n.base10_digits()))
            }
            Type::FnPtr(f) => {
                assert!(f.abi.is_some(), "a function that is not extern \"C\" crosses the boundary");
                let arg = |a: &syn::NamedArg| {
                    let name = a.name.as_ref().map_or(String::new(), |(n, _)| n.to_string());
                    self.declare(&a.ty, &name).trim_end().to_owned()
                };
                let args: Vec<String> = f.inputs.iter().map(arg).collect();
                let args = if args.is_empty() { "void".to_owned() } else { args.join(", ") };
                let call = format!("(*{declarator})({args})");
                match &f.output {
                    ReturnType::Default => format!("void {call}"),
                    ReturnType::Type(_, t) if matches!(**t, Type::Never(_)) => format!("void {call}"),
                    ReturnType::Type(_, t) => self.declare(t, &call),
                }
            }
            Type::Path(_) => self.named(ty, declarator),
            _ => panic!("a type that C does not have"),
        }
    }

    fn named(&self, ty: &Type, declarator: &str) -> String {
        let name = last(ty);
        let c = match name.as_str() {
            "u8" | "u16" | "u32" | "u64" => format!("uint{}_t", &name[1..]),
            "i8" | "i16" | "i32" | "i64" => format!("int{}_t", &name[1..]),
            // Read and written with atomic operations by the host.
            "AtomicU32" => "uint32_t".into(),
            "AtomicU64" => "uint64_t".into(),
            "AtomicPtr" => {
                let inner = self.declare(generics(ty)[0], "");
                return format!("{} *{declarator}", inner.trim_end());
            }
            // Only the holder of a lock, or the owner of what it is in, reads and writes it.
            "Cell" | "UnsafeCell" => return self.declare(generics(ty)[0], declarator),
            "usize" | "AtomicUsize" => "size_t".into(),
            "f64" => "double".into(),
            "c_void" | "Endpoint" | "RegHandle" | "Message" => "void".into(),
            "State" | "Win" => return format!("void *{declarator}"),
            "SliceRef" => slice_name(generics(ty)[0]),
            // A function pointer may be null in C anyway.
            "Option" => return self.declare(generics(ty)[0], declarator),
            "bool" | "char" | "String" | "Vec" => panic!("{name} may not cross the boundary"),
            ours => c_name(&renamed(self.names, ours)),
        };
        format!("{c} {declarator}")
    }
}

fn slice_name(element: &Type) -> String {
    match element {
        Type::Ptr(p) if last(&p.elem) == "Endpoint" => "oxmpi_slice_of_endpoint".into(),
        Type::Ptr(p) => format!("oxmpi_slice_of_{}_ptr", snake(&last(&p.elem))),
        t => format!("oxmpi_slice_of_{}", snake(&last(t))),
    }
}

/// Whether the file has a struct of that name that C sees as one.
pub fn is_struct(file: &syn::File, name: &str) -> bool {
    file.items.iter().any(|item| {
        matches!(item, syn::Item::Struct(s) if s.ident == name && !repr(&s.attrs).contains(&"transparent".to_owned()))
    })
}

fn last(ty: &Type) -> String {
    let Type::Path(p) = ty else { panic!("not a named type") };
    p.path.segments.last().expect("a name").ident.to_string()
}

fn generics(ty: &Type) -> Vec<&Type> {
    let Type::Path(p) = ty else { return Vec::new() };
    let PathArguments::AngleBracketed(args) = &p.path.segments.last().expect("a name").arguments else {
        return Vec::new();
    };
    args.args.iter().filter_map(|a| if let GenericArgument::Type(t) = a { Some(t) } else { None }).collect()
}

/// `repr(C, align(64))` → `["C", "align(64)"]`.
fn repr(attrs: &[Attribute]) -> Vec<String> {
    let mut out = Vec::new();
    for a in attrs.iter().filter(|a| a.path().is_ident("repr")) {
        let list = a.meta.require_list().expect("repr(..)").tokens.to_string();
        out.extend(list.split(',').map(|w| w.replace(' ', "")));
    }
    out
}
