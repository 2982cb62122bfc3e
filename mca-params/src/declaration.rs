//! Declaration of a parameter: its name, type, bounds, help. An owned copy of a component's `ParamDecl`,
//! or made by the host for its own parameters.

use crate::error::{ErrorKind, ParamError};
use crate::origin::Origin;
use oxmpi_mca::abi::StrRef;
use oxmpi_mca::params::param_flag;
use oxmpi_mca::{ParamDecl, ParamKind, Scope};

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Int,
    Unsigned,
    /// Bytes, with an optional k, m or g (powers of 1024).
    Size,
    Bool,
    Double,
    Text,
    /// One of the enumerators.
    Enum,
    /// Comma-separated; `^` in front means "all but these".
    List,
}

impl Kind {
    /// The kind behind the number a component gave; `None` if there is no such number.
    pub fn from_abi(kind: ParamKind) -> Option<Kind> {
        Some(match kind {
            ParamKind::INT => Kind::Int,
            ParamKind::UNSIGNED => Kind::Unsigned,
            ParamKind::SIZE => Kind::Size,
            ParamKind::BOOL => Kind::Bool,
            ParamKind::DOUBLE => Kind::Double,
            ParamKind::STRING => Kind::Text,
            ParamKind::ENUM => Kind::Enum,
            ParamKind::LIST => Kind::List,
            _ => return None,
        })
    }

    /// The number a component sees.
    pub fn to_abi(self) -> ParamKind {
        match self {
            Kind::Int => ParamKind::INT,
            Kind::Unsigned => ParamKind::UNSIGNED,
            Kind::Size => ParamKind::SIZE,
            Kind::Bool => ParamKind::BOOL,
            Kind::Double => ParamKind::DOUBLE,
            Kind::Text => ParamKind::STRING,
            Kind::Enum => ParamKind::ENUM,
            Kind::List => ParamKind::LIST,
        }
    }

    /// One word, for listings.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Int => "int",
            Kind::Unsigned => "unsigned",
            Kind::Size => "size",
            Kind::Bool => "bool",
            Kind::Double => "double",
            Kind::Text => "string",
            Kind::Enum => "enum",
            Kind::List => "list",
        }
    }

    /// With its article, for sentences.
    pub fn phrase(self) -> &'static str {
        match self {
            Kind::Int => "an integer",
            Kind::Unsigned => "a non-negative integer",
            Kind::Size => "a size in bytes",
            Kind::Bool => "a boolean",
            Kind::Double => "a number",
            Kind::Text => "a string",
            Kind::Enum => "a known name",
            Kind::List => "a list",
        }
    }
}

/// One parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Declaration {
    /// `<framework>_<component>_<name>`, absent parts left out.
    pub full_name: String,
    /// Empty for parameters of the library as a whole (`mpi_param_check` has framework `mpi`).
    pub framework: String,
    /// Empty or `base` for parameters of a framework.
    pub component: String,
    pub kind: Kind,
    /// MPI_T verbosity, 1 to 9: up to 5 for users, up to 8 for those who tune, 9 for internal thresholds.
    pub level: u32,
    pub scope: Scope,
    /// As a user would write it.
    pub default: String,
    pub help: String,
    /// Bounds for integers, sizes and numbers; both zero: none.
    pub min: i64,
    pub max: i64,
    /// For [`Kind::Enum`]; the value is the index.
    pub enumerators: Vec<String>,
    /// For [`Kind::Int`]: words that stand for numbers, beside the numbers themselves.
    pub words: Vec<(String, i64)>,
    /// For [`Kind::Text`] and [`Kind::List`]: what may be written, for listings. The parameter's user checks it.
    pub choices: Vec<String>,
    /// Other full names that set the same parameter. The own name wins within one source.
    pub synonyms: Vec<String>,
    /// Those of `synonyms` whose use is warned about.
    pub deprecated_names: Vec<String>,
    /// The parameter itself is on its way out.
    pub deprecated: bool,
    /// For developers of the library; listings leave it out unless asked.
    pub internal: bool,
    /// The value names a file, whose text is a setting of the parameter of this full name.
    pub text_for: Option<String>,
}

/// Open MPI's words for how much a framework says.
const VERBOSITY: [(&str, i64); 8] = [
    ("none", -1),
    ("error", 0),
    ("component", 10),
    ("warn", 20),
    ("info", 40),
    ("trace", 60),
    ("debug", 80),
    ("max", 100),
];

impl Declaration {
    /// A declaration of level 9 that does not change after start, without bounds or synonyms.
    pub fn new(
        framework: &str,
        component: &str,
        name: &str,
        kind: Kind,
        default: &str,
        help: &str,
    ) -> Declaration {
        Declaration {
            full_name: join(framework, component, name),
            framework: framework.into(),
            component: component.into(),
            kind,
            level: 9,
            scope: Scope::READONLY,
            default: default.into(),
            help: help.into(),
            min: 0,
            max: 0,
            enumerators: Vec::new(),
            words: Vec::new(),
            choices: Vec::new(),
            synonyms: Vec::new(),
            deprecated_names: Vec::new(),
            deprecated: false,
            internal: false,
            text_for: None,
        }
    }

    pub fn level(mut self, level: u32) -> Declaration {
        self.level = level;
        self
    }

    pub fn scope(mut self, scope: Scope) -> Declaration {
        self.scope = scope;
        self
    }

    /// Both ends are allowed values.
    pub fn range(mut self, min: i64, max: i64) -> Declaration {
        (self.min, self.max) = (min, max);
        self
    }

    pub fn one_of(mut self, names: &[&str]) -> Declaration {
        self.enumerators = names.iter().map(|&n| n.into()).collect();
        self
    }

    pub fn words(mut self, words: &[(&str, i64)]) -> Declaration {
        self.words = words.iter().map(|&(w, n)| (w.into(), n)).collect();
        self
    }

    /// The texts that may be written, for listings.
    pub fn choices(mut self, names: &[&str]) -> Declaration {
        self.choices = names.iter().map(|&n| n.into()).collect();
        self
    }

    pub fn synonyms(mut self, names: &[&str]) -> Declaration {
        self.synonyms.extend(names.iter().map(|&n| n.to_owned()));
        self
    }

    /// Names that work, and whose use is warned about.
    pub fn deprecated_synonyms(mut self, names: &[&str]) -> Declaration {
        self.deprecated_names.extend(names.iter().map(|&n| n.to_owned()));
        self.synonyms(names)
    }

    /// Left out of listings unless they are asked for everything.
    pub fn internal(mut self) -> Declaration {
        self.internal = true;
        self
    }

    /// May a program write it at all (MPI 5.0 §15.3.6)?
    pub fn is_writable(&self) -> bool {
        self.scope.0 > Scope::READONLY.0
    }

    /// The scope's word.
    pub fn scope_name(&self) -> &'static str {
        match self.scope {
            Scope::CONSTANT => "constant",
            Scope::LOCAL => "local",
            Scope::GROUP => "group",
            Scope::GROUP_EQ => "group_eq",
            Scope::ALL => "all",
            Scope::ALL_EQ => "all_eq",
            _ => "readonly",
        }
    }

    /// `<framework>_base_verbose`: numbers from -1 to 100, or Open MPI's words for them.
    pub fn verbosity(framework: &str) -> Declaration {
        let help = format!(
            "How much the {framework} framework reports: none, error, component, warn, info, trace, debug, max, or a number from -1 to 100. Raise it to learn why a component is not used, or what it does"
        );
        // Of all frameworks users ask most often about transports.
        let level = if framework == "btl" { 5 } else { 8 };
        Declaration::new(framework, "base", "verbose", Kind::Int, "error", &help)
            .level(level)
            .scope(Scope::LOCAL)
            .range(-1, 100)
            .words(&VERBOSITY)
    }

    /// `<framework>`: which components may be used. Empty means all.
    pub fn selection(framework: &str) -> Declaration {
        let help = format!(
            "Components of {framework} to use (a,b), or not to use (^a,b); empty: all. Set it to keep a component out, or to compare components"
        );
        // Files choose their components by where they lie.
        let level = if ["fs", "fbtl", "fcoll"].contains(&framework) { 6 } else { 2 };
        Declaration::new(framework, "", "", Kind::List, "", &help).level(level).scope(Scope::ALL_EQ)
    }

    /// The owned form of what a component declares. Each alias of the component also names the
    /// parameter (`btl_vader_eager_limit`), so that old settings keep their meaning.
    ///
    /// # Safety
    /// Every pointer in `decl` must be valid for its length during the call.
    pub unsafe fn from_abi(
        framework: &str,
        component: &str,
        aliases: &[&str],
        decl: &ParamDecl,
    ) -> Result<Declaration, ParamError> {
        let wrong = |what: &str| bad_declaration(&join(framework, component, "?"), what);
        // SAFETY: the caller's promise.
        let text = |s: StrRef| unsafe { s.get() };
        let name = text(decl.name).filter(|n| !n.is_empty()).ok_or_else(|| wrong("has no readable name"))?;
        let full_name = join(framework, component, name);
        let wrong = |what: &str| bad_declaration(&full_name, what);
        let texts = |refs: &[StrRef], what: &str| -> Result<Vec<String>, ParamError> {
            refs.iter()
                .map(|&s| text(s).filter(|t| !t.is_empty()).map(str::to_owned).ok_or_else(|| wrong(what)))
                .collect()
        };
        // SAFETY: the caller's promise, here and for the synonyms.
        let enumerators = texts(unsafe { decl.enumerators.get() }, "has an unreadable enumerator")?;
        // SAFETY: as above.
        let mut synonyms = texts(unsafe { decl.synonyms.get() }, "has an unreadable synonym")?;
        let old = decl.flags & param_flag::SYNONYMS_DEPRECATED != 0;
        let deprecated_names = if old { synonyms.clone() } else { Vec::new() };
        synonyms.extend(aliases.iter().map(|alias| join(framework, alias, name)));
        let declaration = Declaration {
            framework: framework.into(),
            component: component.into(),
            kind: Kind::from_abi(decl.kind).ok_or_else(|| wrong("has a type this library does not know"))?,
            level: decl.level.0,
            scope: decl.scope,
            default: text(decl.default).ok_or_else(|| wrong("has an unreadable default"))?.into(),
            help: text(decl.help).ok_or_else(|| wrong("has an unreadable help text"))?.into(),
            min: decl.min,
            max: decl.max,
            enumerators,
            words: Vec::new(),
            choices: Vec::new(),
            synonyms,
            deprecated_names,
            deprecated: decl.flags & param_flag::DEPRECATED != 0,
            internal: decl.flags & param_flag::INTERNAL != 0,
            text_for: None,
            full_name: full_name.clone(),
        };
        Ok(declaration)
    }

    /// Makes the value the name of a file, whose text is a setting of the parameter with this full name. That one is declared later.
    pub fn text_for(mut self, full_name: &str) -> Declaration {
        self.text_for = Some(full_name.into());
        self
    }

    /// The bounds, if there are any.
    pub fn bounds(&self) -> Option<(i64, i64)> {
        (self.min != 0 || self.max != 0).then_some((self.min, self.max))
    }

    /// The form of a right value.
    pub fn wanted(&self) -> String {
        let mut wanted = match self.kind {
            Kind::Int => "an integer".to_owned(),
            Kind::Unsigned => "an integer, 0 or more".to_owned(),
            Kind::Size => "a number of bytes with an optional k, m or g".to_owned(),
            Kind::Bool => "true or false (also yes, no, 1, 0)".to_owned(),
            Kind::Double => "a number".to_owned(),
            Kind::Text => "text".to_owned(),
            Kind::Enum => format!("one of {}", self.enumerators.join(", ")),
            Kind::List => "names separated by commas, with ^ only in front of the first".to_owned(),
        };
        if let (Some((min, max)), Kind::Int | Kind::Unsigned | Kind::Size | Kind::Double) =
            (self.bounds(), self.kind)
        {
            match max {
                i64::MAX => wanted += &format!(", at least {min}"),
                _ => wanted += &format!(", from {min} to {max}"),
            }
        }
        if !self.choices.is_empty() {
            wanted = match self.kind {
                Kind::List => format!("{wanted}: {}", self.choices.join(", ")),
                _ => format!("one of {}", self.choices.join(", ")),
            };
            if self.default.is_empty() {
                wanted += ", or empty";
            }
        }
        if !self.words.is_empty() {
            let words: Vec<&str> = self.words.iter().map(|(w, _)| w.as_str()).collect();
            wanted += &format!(", or one of {}", words.join(", "));
        }
        wanted
    }

    /// Checks what a resolver relies on.
    pub(crate) fn check(&self) -> Result<(), ParamError> {
        let wrong = |what: &str| Err(bad_declaration(&self.full_name, what));
        if self.full_name.is_empty() || self.full_name.contains(|c: char| c.is_whitespace() || c == '=') {
            return wrong("has a name that cannot be set");
        }
        if !(Scope::CONSTANT.0..=Scope::ALL_EQ.0).contains(&self.scope.0) {
            return wrong("has a scope that MPI does not have");
        }
        if !(1..=9).contains(&self.level) {
            return wrong("has a level outside 1 to 9");
        }
        if self.min > self.max {
            return wrong("has bounds that no value meets");
        }
        if self.kind == Kind::Enum && self.enumerators.is_empty() {
            return wrong("is an enumeration without enumerators");
        }
        if self.kind != Kind::Int && !self.words.is_empty() {
            return wrong("gives words for numbers and is not an integer");
        }
        Ok(())
    }
}

pub(crate) fn bad_declaration(full_name: &str, what: &str) -> ParamError {
    ParamError {
        parameter: full_name.into(),
        kind: ErrorKind::BadDeclaration,
        given: String::new(),
        origin: Origin::Default,
        reason: format!("{what}: its component is faulty"),
    }
}

/// Joins the parts that are there.
fn join(framework: &str, component: &str, name: &str) -> String {
    let parts: Vec<&str> = [framework, component, name].into_iter().filter(|p| !p.is_empty()).collect();
    parts.join("_")
}
