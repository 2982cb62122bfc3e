//! Names of services (MPI 5.0 §11.9.4): in mpirun for its jobs, and for all jobs of the user at a server, where mpirun was told of one
//! (`served_names`), else in a folder.
//!
//! A name in the folder is a file that only the user reads, made unless it is there: two who publish one name at once do not both succeed. The file is named
//! for a digest of the service's name, since that may have any bytes, and says which process published it, so that the name of one that died without taking it
//! back is no obstacle on its host.

use super::served_names::{self, taken};
use crate::objects::Instance;
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_mca::Entry;
use oxmpi_wireup::Secret;
use oxmpi_wireup::jobs::{JobsReply, JobsRequest, NameVerb};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Another folder than `~/.oxmpi/names`.
const VARIABLE: &str = "OXMPI_NAME_DIR";
const HEAD: &str = "oxmpi name 1";
/// How long mpirun may take to answer.
const ANSWER: Duration = Duration::from_secs(60);

/// A name as its file has it.
struct Published {
    host: String,
    pid: u32,
    port: String,
}

impl Published {
    fn read(path: &Path) -> Option<Published> {
        let text = std::fs::read_to_string(path).ok()?;
        let mut lines = text.lines();
        (lines.next()? == HEAD).then_some(())?;
        let (host, pid) = lines.next()?.rsplit_once(' ')?;
        Some(Published { host: host.to_owned(), pid: pid.parse().ok()?, port: lines.next()?.to_owned() })
    }

    /// Its process is known to be gone.
    fn is_left_over(&self, host: &str) -> bool {
        self.host == host && !Path::new(&format!("/proc/{}", self.pid)).exists()
    }
}

/// The folder of names; `None`: there is no place for one.
fn folder() -> Option<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    set(VARIABLE)
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(set("HOME")?).join(".oxmpi").join("names")))
}

/// The file of a service.
fn file_of(folder: &Path, service: &str) -> PathBuf {
    let digest = Secret::from_bytes([0; Secret::BYTES]).prove(&[b"oxmpi name", service.as_bytes()]);
    folder.join(digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

fn not_published(service: &str) -> Error {
    Error::new(ErrorKind::Service, format!("the service {service:?} is not published"))
}

fn unknown(service: &str) -> Error {
    Error::new(ErrorKind::Name, format!("no service {service:?} is published"))
}

impl Instance {
    /// Asks mpirun to do something with a name; `None`: there is no mpirun.
    fn ask_of_name(
        &self,
        entry: &mut Entry,
        verb: NameVerb,
        service: &str,
        port: &str,
    ) -> Result<Option<Option<String>>, Error> {
        let id = self.client().question();
        let (service, port) = (service.to_owned(), port.to_owned());
        if !self.client().ask_of_jobs(JobsRequest::Name { id, verb, service, port })? {
            return Ok(None);
        }
        let answer = self.wait_for(entry, Some(Instant::now() + ANSWER), |patience| {
            match self.client().try_reply(id) {
                Ok(Some(JobsReply::Name { port, .. })) => Some(Ok(port)),
                Ok(_) => {
                    patience.nap(&[]);
                    None
                }
                Err(why) => Some(Err(Error::from(why))),
            }
        });
        match answer {
            Some(answer) => answer.map(Some),
            None => Err(Error::new(ErrorKind::Other, "mpirun does not answer a question for a name")),
        }
    }

    /// Publishes the port of a service, for the jobs of this mpirun and, if `global`, for all of the user. SERVICE: it is published already.
    pub fn publish_name(
        &self,
        entry: &mut Entry,
        service: &str,
        port: &str,
        global: bool,
    ) -> Result<(), Error> {
        if port.contains(['\n', '\r']) {
            return Err(Error::new(ErrorKind::Port, "the name of a port is one line"));
        }
        let told = self.ask_of_name(entry, NameVerb::Publish, service, port)?;
        if told == Some(None) {
            return Err(taken(service));
        }
        if !global && told.is_some() {
            return Ok(());
        }
        if let Some(server) = served_names::server()? {
            let published = self.publish_at(entry, &server, service, port);
            if published.is_err() && told.is_some() {
                self.ask_of_name(entry, NameVerb::Unpublish, service, "")?;
            }
            return published;
        }
        let written = self.write_name(service, port);
        if let Err(why) = written {
            // Jobs of this mpirun find it even so; without one nobody would.
            if why.kind == ErrorKind::Service || told.is_none() {
                if told.is_some() {
                    self.ask_of_name(entry, NameVerb::Unpublish, service, "")?;
                }
                return Err(why);
            }
            self.logger().warn(oxmpi_loading::log::HOST, &why.message);
        }
        Ok(())
    }

    fn write_name(&self, service: &str, port: &str) -> Result<(), Error> {
        let Some(folder) = folder() else {
            let what = format!(
                "HOME is not set, so other jobs cannot find the service; {VARIABLE} names a folder for that"
            );
            return Err(Error::new(ErrorKind::Other, what));
        };
        let failed = |why: std::io::Error| {
            Error::new(
                ErrorKind::Other,
                format!("the service cannot be published in {}: {why}", folder.display()),
            )
        };
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(failed)?;
        let (file, host) = (file_of(&folder, service), self.processor_name());
        if Published::read(&file).is_some_and(|known| known.is_left_over(&host)) {
            let _ = std::fs::remove_file(&file);
        }
        // Whole before it has its name.
        let own = file.with_extension(format!("{}", std::process::id()));
        let write = || {
            let mut new =
                std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&own)?;
            new.write_all(format!("{HEAD}\n{host} {}\n{port}\n", std::process::id()).as_bytes())?;
            std::fs::hard_link(&own, &file)
        };
        let written = write();
        let _ = std::fs::remove_file(&own);
        match written {
            Err(why) if why.kind() == std::io::ErrorKind::AlreadyExists => Err(taken(service)),
            other => other.map_err(failed),
        }
    }

    /// Takes the name of a service back. SERVICE: it is not published.
    pub fn unpublish_name(&self, entry: &mut Entry, service: &str, port: &str) -> Result<(), Error> {
        let told = self.ask_of_name(entry, NameVerb::Unpublish, service, port)?;
        if let Some(server) = served_names::server()? {
            // One that was published for this mpirun alone is not there.
            return match self.unpublish_at(entry, &server, service, port)? || matches!(told, Some(Some(_))) {
                true => Ok(()),
                false => Err(not_published(service)),
            };
        }
        let file = folder().map(|folder| file_of(&folder, service));
        let ours = file.filter(|file| Published::read(file).is_some_and(|known| known.port == port.trim()));
        let removed = ours.is_some_and(|file| std::fs::remove_file(file).is_ok());
        match removed || matches!(told, Some(Some(_))) {
            true => Ok(()),
            false => Err(not_published(service)),
        }
    }

    /// The port of a service, published in this mpirun or, if `global`, by any job of the user. NAME: there is none.
    pub fn look_up_name(&self, entry: &mut Entry, service: &str, global: bool) -> Result<String, Error> {
        if let Some(Some(port)) = self.ask_of_name(entry, NameVerb::Lookup, service, "")? {
            return Ok(port);
        }
        if global && let Some(server) = served_names::server()? {
            return match self.look_up_at(entry, &server, service)? {
                Some(port) => Ok(port),
                None => Err(unknown(service)),
            };
        }
        let file = folder().filter(|_| global).map(|folder| file_of(&folder, service));
        let known = file.and_then(|file| Published::read(&file));
        match known.filter(|known| !known.is_left_over(&self.processor_name())) {
            Some(known) => Ok(known.port),
            None => Err(unknown(service)),
        }
    }
}
