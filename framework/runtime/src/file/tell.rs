//! All that would happen to a file, told before a program opens it (`mpi-info --file`): mount, components and what each of them says, layout, what is kept, hints.
//!
//! A file that is there is opened for reading. Where there is none, facts are those of a file without a name in its folder, so that nothing is made that anybody could see;
//! where the folder takes none, what only an open file tells is left out, with the reason.

use super::hints::{self, Practice};
use super::layout::{Ground, Layout, Wishes, allowed_here};
use super::opening::rate_collective;
use super::presence::Known;
use super::serve::{self, Manner, OnDisk, Rated, Transfers};
use crate::info::Info;
use crate::objects::{FileParts, Instance};
use oxmpi_fs::{keeps, mode};
use oxmpi_loading::error::Error;
use rustix::fs::{Mode, OFlags};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Keys and values, in the order in which they are told. A key's parts are joined by dots.
type Told = Vec<(String, String)>;

/// A file to be asked about.
struct Subject {
    path: PathBuf,
    /// Holds a file without a name.
    nameless: Option<OwnedFd>,
}

impl Subject {
    /// The file, or one without a name in its folder; an error in words.
    fn of(path: &Path) -> Result<Subject, String> {
        if path.is_file() {
            return Ok(Subject { path: path.to_owned(), nameless: None });
        }
        let folder = match path {
            folder if folder.is_dir() => folder,
            file => file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new(".")),
        };
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(folder, flags, Mode::RUSR | Mode::WUSR).map_err(|errno| {
            format!("{} takes no file without a name: {}", folder.display(), std::io::Error::from(errno))
        })?;
        let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
        Ok(Subject { path, nameless: Some(file) })
    }
}

fn yes(is: bool) -> String {
    (if is { "yes" } else { "no" }).to_owned()
}

/// Tells the answers of a framework's components, which `name_of` names.
fn components<C>(told: &mut Told, framework: &str, rated: &Rated<'_, C>, name_of: fn(&C) -> &'static str) {
    let chosen = serve::best(rated).map_or("none", name_of);
    told.push((format!("{framework}.chosen"), chosen.to_owned()));
    for (component, priority) in rated {
        let says = match priority {
            Some(priority) => format!("priority {priority}"),
            None => "does not serve it".to_owned(),
        };
        told.push((format!("{framework}.component.{}", name_of(component)), says));
    }
}

impl Instance {
    /// Tells what would serve a file, as ranks of one node would open it, `ranks` of them.
    pub fn tell_file(&self, name: &[u8], ranks: u32) -> Result<Vec<(String, String)>, Error> {
        let parts = self.file_parts()?;
        let known = Known::of(name, parts)?;
        let mut told = Told::new();
        let mut tell = |key: &str, value: String| told.push((key.to_owned(), value));
        tell("path", known.path.display().to_string());
        let kind = match &known.path {
            path if path.is_dir() => "folder",
            path if path.exists() => "file",
            _ => "new",
        };
        tell("kind", kind.to_owned());
        tell("mount.type", known.mount.fs_type.clone());
        tell("mount.source", known.mount.source.clone());
        tell("mount.options", known.mount.options.clone());
        tell("mount.number", format!("{:#x}", known.mount.magic));
        let rated = serve::rate(parts, &known.path, &known.mount, known.named);
        let chosen = serve::best(&rated);
        tell(
            "fs.because",
            match (known.named, parts.fs_is_named) {
                (Some(name), _) => format!("the path's prefix names {name}"),
                (None, true) => "the parameter fs names it".to_owned(),
                (None, false) => "the highest priority of those that serve the mount".to_owned(),
            },
        );
        components(&mut told, "fs", &rated, |component| component.name);
        let hints = hints::of(self, 0, &Info::new());
        let Some(component) = chosen else { return Ok(told) };
        let opened = Subject::of(&known.path).and_then(|subject| {
            let mode = if subject.nameless.is_some() { mode::RDWR } else { mode::RDONLY };
            let how = Manner { mode, ..super::opening::how(mode, &hints) };
            let disk = OnDisk::open(component, &subject.path, &known.mount, known.is_named, &how);
            let disk = disk.map_err(|status| super::error::of(status, "opened", &known.path).message)?;
            Ok((subject, mode, disk))
        });
        match opened {
            Err(why) => told.push(("file".to_owned(), format!("not told: {why}"))),
            Ok((_subject, mode, disk)) => {
                let ranks = ranks.max(1);
                self.tell_opened(&mut told, (parts, &known), (&disk, mode), (hints, ranks));
            }
        }
        Ok(told)
    }

    /// Tells what an open file tells.
    fn tell_opened(
        &self,
        told: &mut Told,
        (parts, known): (&FileParts, &Known),
        (disk, mode): (&OnDisk, u32),
        (hints, ranks): (oxmpi_files::hints::Hints, u32),
    ) {
        let bell = self.file_bell();
        let rated = Transfers::rate(parts, disk, (mode, known.mount.magic), &bell);
        components(told, "fbtl", &rated, |component| component.name);
        let facts = &disk.facts;
        let ground = Ground { block: facts.block, stripe: facts.striping_unit, keeps: facts.keeps };
        let wishes = Wishes::of(&hints, self.host_params().files);
        let allowed = vec![allowed_here(&hints, &self.processor_name()); ranks as usize];
        let layout = Layout::of_nodes(wishes, (&vec![0; ranks as usize], 1), ground, &allowed);
        let rated = rate_collective(parts, (ranks, 1), &layout, facts.keeps);
        components(told, "fcoll", &rated, |component| component.name);
        let mut tell = |key: &str, value: String| told.push((key.to_owned(), value));
        tell("layout.block", facts.block.to_string());
        tell("layout.striping_factor", facts.striping_factor.to_string());
        tell("layout.striping_unit", facts.striping_unit.to_string());
        tell("layout.unit", layout.unit().to_string());
        tell("layout.direct_unit", if facts.direct_fd >= 0 { facts.direct_unit } else { 0 }.to_string());
        tell("layout.ranks", ranks.to_string());
        for (key, bit) in [
            ("keeps.locks_on_this_node", keeps::LOCKS_HERE),
            ("keeps.locks_between_nodes", keeps::LOCKS),
            ("keeps.data_between_nodes", keeps::COHERENT),
            ("keeps.locks_carry_data", keeps::LOCK_REVALIDATES),
            ("keeps.space_ahead", keeps::PREALLOCATES),
        ] {
            tell(key, yes(disk.keeps(bit)));
        }
        tell("keeps.because", disk.because().to_owned());
        tell("atomic_mode.one_node", yes(disk.keeps(keeps::LOCKS) || disk.keeps(keeps::LOCKS_HERE)));
        tell("atomic_mode.several_nodes", yes(disk.keeps(keeps::LOCKS)));
        let striping = (facts.striping_factor.into(), facts.striping_unit);
        let practice = Practice {
            sieves: wishes.sieves(),
            direct: (disk.passes_by(mode::RDONLY), disk.passes_by(mode::WRONLY)),
        };
        let actual = hints::actual(&hints, &layout, &known.path, facts.keeps, striping, practice);
        for (key, value) in hints.in_force(&actual) {
            tell(&format!("hint.{key}"), value);
        }
    }
}
