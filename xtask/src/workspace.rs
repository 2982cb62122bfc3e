//! The workspace as cargo knows it.

use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The workspace, as `cargo metadata` describes it.
pub struct Workspace {
    pub root: PathBuf,
    pub target: PathBuf,
    metadata: Metadata,
}

impl Workspace {
    pub fn read() -> Result<Workspace, String> {
        // Cargo names the folder at every run. The folder that was compiled in is where the checkout was built
        // first, and a copied or moved one would look after the old tree.
        let here = std::env::var_os("CARGO_MANIFEST_DIR");
        let here = here.map_or(PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let metadata = MetadataCommand::new()
            .manifest_path(here.join("../Cargo.toml"))
            .no_deps()
            .exec()
            .map_err(|e| format!("cargo metadata: {e}"))?;
        Ok(Workspace {
            root: metadata.workspace_root.clone().into(),
            target: metadata.target_directory.clone().into(),
            metadata,
        })
    }

    /// Names of the component packages that are installed: every folder of `components/`, without
    /// the template, which is there to be copied and moves no messages anybody waits for.
    pub fn components(&self) -> Vec<String> {
        let folder = self.root.join("components");
        let packages = self.metadata.packages.iter();
        let mut names: Vec<String> = packages
            // Right under it: what lies deeper belongs to a component and is none.
            .filter(|p| p.manifest_path.as_std_path().ancestors().nth(2) == Some(&folder))
            .map(|p| p.name.to_string())
            .filter(|name| !name.ends_with("-template"))
            .collect();
        names.sort();
        names
    }

    /// Folders of the components that authors copy from.
    pub fn templates(&self) -> Vec<String> {
        let folder = self.root.join("components");
        let packages = self.metadata.packages.iter().filter(|p| p.name.ends_with("-template"));
        let ours = packages.filter(|p| p.manifest_path.as_std_path().ancestors().nth(2) == Some(&folder));
        let mut folders: Vec<String> = ours.map(|p| format!("components/{}", p.name)).collect();
        folders.sort();
        folders
    }

    /// The package in a folder, which is named from the root on.
    pub fn package_in(&self, folder: &str) -> Option<&Package> {
        let manifest = self.root.join(folder).join("Cargo.toml");
        self.metadata.packages.iter().find(|p| p.manifest_path.as_std_path() == manifest)
    }

    /// The name of one of our packages; empty for any other.
    pub fn name_of(&self, id: &PackageId) -> String {
        let package = self.metadata.packages.iter().find(|p| p.id == *id);
        package.map_or(String::new(), |p| p.name.to_string())
    }

    /// Packages with models for the memory-model checker: those whose sources start one.
    pub fn modelled(&self) -> Vec<String> {
        let packages = self.metadata.packages.iter().filter(|p| {
            let source = p.manifest_path.parent().map(|folder| folder.join("src"));
            source.is_some_and(|source| mentions(source.as_std_path(), "loom::model"))
        });
        // Not this program, which only looks for them.
        let mut names: Vec<String> = packages.map(|p| p.name.to_string()).filter(|n| n != "xtask").collect();
        names.sort();
        names
    }

    /// `cargo`, to be run in the root of the workspace.
    pub fn cargo(&self, arguments: &[&str]) -> Command {
        let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(program);
        command.args(arguments).current_dir(&self.root);
        command
    }
}

/// Does a Rust file under `folder` contain `text`?
fn mentions(folder: &Path, text: &str) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return false };
    entries.flatten().map(|e| e.path()).any(|path| {
        if path.is_dir() {
            return mentions(&path, text);
        }
        let rust = path.extension().is_some_and(|e| e == "rs");
        rust && std::fs::read_to_string(&path).is_ok_and(|source| source.contains(text))
    })
}
