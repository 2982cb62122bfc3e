//! The setup of a test: the component, the values of parameters, the mount that it is told, the folder of files.

use oxmpi_mca::Descriptor;
use std::path::{Path, PathBuf};

/// A component and how it is tested.
#[derive(Clone, Debug)]
pub struct Setup {
    pub(crate) descriptor: *const Descriptor,
    pub(crate) params: Vec<(String, String)>,
    pub(crate) magic: u64,
    pub(crate) fs_type: String,
    pub(crate) options: String,
    pub(crate) folder: PathBuf,
}

impl Setup {
    /// Every parameter at its default, a mount of which nothing is known, a temporary folder.
    pub fn new(descriptor: *const Descriptor) -> Setup {
        Setup {
            descriptor,
            params: Vec::new(),
            magic: 0,
            fs_type: String::new(),
            options: String::new(),
            folder: std::env::temp_dir(),
        }
    }

    /// Sets a parameter, named without framework and component.
    pub fn param(mut self, name: &str, value: &str) -> Setup {
        self.params.push((name.into(), value.into()));
        self
    }

    /// Sets the mount that the component is told.
    pub fn mount(mut self, magic: u64, fs_type: &str, options: &str) -> Setup {
        self.magic = magic;
        self.fs_type = fs_type.into();
        self.options = options.into();
        self
    }

    /// The folder in which a folder for files is made.
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Setup {
        self.folder = folder.as_ref().into();
        self
    }
}
