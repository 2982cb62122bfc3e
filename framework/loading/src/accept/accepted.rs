//! Frameworks, components that have passed the handshake, and why one is refused.

use core::ffi::c_void;
use oxmpi_coll::CollModule;
use oxmpi_fbtl::{FbtlModule, FbtlTable};
use oxmpi_fcoll::{FcollModule, FcollTable};
use oxmpi_fs::{FsModule, FsTable};
use oxmpi_mca::abi::{OpenArgs, Opened, ResolveArgs};
use oxmpi_mca::{ParamDecl, Status, Version};
use oxmpi_osc::OscModule;
use oxmpi_pml::PmlTable;

/// Frameworks whose components the host opens.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Framework {
    Btl,
    Pml,
    Coll,
    Osc,
    Fs,
    Fbtl,
    Fcoll,
}

impl Framework {
    /// All frameworks whose components the host opens.
    pub const ALL: [Framework; 7] = [
        Framework::Btl,
        Framework::Pml,
        Framework::Coll,
        Framework::Osc,
        Framework::Fs,
        Framework::Fbtl,
        Framework::Fcoll,
    ];

    /// Those whose components are opened when an instance starts.
    pub const AT_START: [Framework; 4] = [Framework::Btl, Framework::Pml, Framework::Coll, Framework::Osc];

    /// Those whose components are opened, and loaded, when the first file is.
    pub const FOR_FILES: [Framework; 3] = [Framework::Fs, Framework::Fbtl, Framework::Fcoll];

    /// The framework's name as it stands in descriptors and parameter names (`btl`, `fcoll`).
    pub const fn name(self) -> &'static str {
        match self {
            Framework::Btl => oxmpi_btl::FRAMEWORK,
            Framework::Pml => oxmpi_pml::FRAMEWORK,
            Framework::Coll => oxmpi_coll::FRAMEWORK,
            Framework::Osc => oxmpi_osc::FRAMEWORK,
            Framework::Fs => oxmpi_fs::FRAMEWORK,
            Framework::Fbtl => oxmpi_fbtl::FRAMEWORK,
            Framework::Fcoll => oxmpi_fcoll::FRAMEWORK,
        }
    }

    /// Version of the framework's contract that this library was built with.
    pub const fn version(self) -> Version {
        match self {
            Framework::Btl => oxmpi_btl::VERSION,
            Framework::Pml => oxmpi_pml::VERSION,
            Framework::Coll => oxmpi_coll::VERSION,
            Framework::Osc => oxmpi_osc::VERSION,
            Framework::Fs => oxmpi_fs::VERSION,
            Framework::Fbtl => oxmpi_fbtl::VERSION,
            Framework::Fcoll => oxmpi_fcoll::VERSION,
        }
    }

    /// Version of the framework's table.
    pub const fn table_version(self) -> u32 {
        match self {
            Framework::Btl => oxmpi_btl::TABLE_VERSION,
            Framework::Pml => oxmpi_pml::TABLE_VERSION,
            Framework::Coll => oxmpi_coll::TABLE_VERSION,
            Framework::Osc => oxmpi_osc::TABLE_VERSION,
            Framework::Fs => oxmpi_fs::TABLE_VERSION,
            Framework::Fbtl => oxmpi_fbtl::TABLE_VERSION,
            Framework::Fcoll => oxmpi_fcoll::TABLE_VERSION,
        }
    }

    /// Finds a framework by its name; `None`: no framework has that name.
    pub fn by_name(name: &str) -> Option<Framework> {
        Framework::ALL.into_iter().find(|f| f.name() == name)
    }
}

/// Why a component is not taken. As a sentence: field, their value, our value, where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which field of the descriptor or table.
    pub field: &'static str,
    pub theirs: String,
    /// Versions that the host has or takes.
    pub ours: String,
    /// The file, or "linked in".
    pub place: String,
}

impl Refusal {
    /// Makes a refusal, with the component's value and ours turned into text.
    pub(crate) fn new(
        field: &'static str,
        theirs: impl ToString,
        ours: impl ToString,
        place: &str,
    ) -> Refusal {
        Refusal { field, theirs: theirs.to_string(), ours: ours.to_string(), place: place.to_owned() }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Refusal { field, theirs, ours, place } = self;
        write!(f, "{place}: refused because of its {field}: it has {theirs}, this library takes {ours}")
    }
}

impl std::error::Error for Refusal {}

/// A component whose descriptor has passed. Its texts live as long as the process: a component is
/// never unloaded, a linked-in one is part of the program.
#[derive(Clone)]
pub struct Accepted {
    pub framework: Framework,
    pub name: &'static str,
    pub aliases: Vec<&'static str>,
    pub version: Version,
    pub params: &'static [ParamDecl],
    pub help: &'static str,
    pub open: extern "C" fn(*const OpenArgs, *mut Opened) -> Status,
    pub resolve: Option<extern "C" fn(*const ResolveArgs) -> Status>,
    /// The file, or "linked in".
    pub place: String,
}

impl std::fmt::Debug for Accepted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Version { major, minor, patch } = self.version;
        write!(f, "{} {} {major}.{minor}.{patch} ({})", self.framework.name(), self.name, self.place)
    }
}

/// An accepted PML.
#[derive(Clone, Copy)]
pub struct Pml {
    pub state: *mut c_void,
    pub max_tag: i32,
    pub table: PmlTable,
}

// SAFETY: a PML's verbs may be called from any thread (contract of the framework).
unsafe impl Send for Pml {}

// SAFETY: as above.
unsafe impl Sync for Pml {}

/// An accepted collective component.
pub struct CollComponent {
    pub name: &'static str,
    pub module: CollModule,
}

// SAFETY: a component's functions may be called from any thread (contract of the framework).
unsafe impl Send for CollComponent {}

// SAFETY: as above.
unsafe impl Sync for CollComponent {}

/// An accepted one-sided component.
pub struct OscComponent {
    pub name: &'static str,
    pub module: OscModule,
}

// SAFETY: a component's functions may be called from any thread (contract of the framework).
unsafe impl Send for OscComponent {}

// SAFETY: as above.
unsafe impl Sync for OscComponent {}

/// A component of a framework of files that was accepted: what its module and its table have, as the host's own.
#[derive(Clone, Copy)]
pub struct FileComponent<M, T> {
    pub name: &'static str,
    /// Its `table` is the component's; the host calls those of `table` beside it.
    pub module: M,
    pub table: T,
}

// SAFETY: a component's functions may be called from any thread (contracts of the frameworks).
unsafe impl<M, T> Send for FileComponent<M, T> {}

// SAFETY: as above.
unsafe impl<M, T> Sync for FileComponent<M, T> {}

/// An accepted component of file systems.
pub type FsComponent = FileComponent<FsModule, FsTable>;
/// An accepted component that transfers file data.
pub type FbtlComponent = FileComponent<FbtlModule, FbtlTable>;
/// An accepted component that plans collective file access.
pub type FcollComponent = FileComponent<FcollModule, FcollTable>;
