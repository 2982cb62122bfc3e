//! A transport and two nodes that jobs run over, instead of what one machine has.
//!
//! The lower half of a job's ranks is on the first node, which is what `multirate` sends from. Without names of hosts our launcher makes both nodes up on
//! this machine. A verbs library that counts what its device does is a device in software: programs get `bench/verbs/counts.c` linked to them, which
//! prints those counts, and what is timed is marked as of a model.

use crate::sources;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The function by which the device in software is read, and by which its file is known.
const COUNTER: &[u8] = b"oxmpi_fake_verbs_counter";
/// Our parameter that names the file of a verbs library.
const LIBRARY: &str = "btl_verbs_library";

#[derive(Clone, Debug)]
pub struct TransportSetup {
    /// Our name of the transport.
    transport: String,
    /// `None`: two nodes that are made up here.
    hosts: Option<[String; 2]>,
    /// Parameters of ours that every job has.
    params: Vec<(String, String)>,
    counts: bool,
}

impl TransportSetup {
    pub fn new(
        transport: &str,
        hosts: Option<[String; 2]>,
        mut params: Vec<(String, String)>,
    ) -> Result<TransportSetup, String> {
        let mut counts = false;
        // A bare name is looked for by the system's loader, which has no device in software among its libraries.
        for (_, file) in params.iter_mut().filter(|(name, file)| name == LIBRARY && file.contains('/')) {
            let whole = Path::new(file).canonicalize().map_err(|e| format!("{file}: {e}"))?;
            let bytes = std::fs::read(&whole).map_err(|e| format!("{file}: {e}"))?;
            counts = bytes.windows(COUNTER.len()).any(|part| part == COUNTER);
            *file = whole.to_string_lossy().into_owned();
        }
        Ok(TransportSetup { transport: transport.to_owned(), hosts, params, counts })
    }

    pub fn params(&self) -> &[(String, String)] {
        &self.params
    }

    pub fn is_made_up(&self) -> bool {
        self.hosts.is_none()
    }

    /// A source that is to be linked to programs, which then print what the device counted.
    pub fn counts(&self) -> Option<PathBuf> {
        self.counts.then(|| sources::folder().join("verbs/counts.c"))
    }

    /// Both nodes with so many places each, as ours and Open MPI's launcher take them.
    pub fn with_places(&self, ranks: u64) -> String {
        let places = ranks.div_ceil(2);
        let [a, b] = self.names();
        format!("{a}:{places},{b}:{places}")
    }

    pub fn names(&self) -> [&str; 2] {
        self.hosts.as_ref().map_or(["a", "b"], |[a, b]| [a, b])
    }

    /// Options of our launcher.
    pub fn ours(&self, ranks: u64) -> Vec<OsString> {
        let mut words = vec!["--host".to_owned(), self.with_places(ranks)];
        if self.is_made_up() {
            words.extend(["--mca", "plm", "local"].map(str::to_owned));
        }
        words.extend(["--mca".to_owned(), "btl".to_owned(), format!("{},self", self.transport)]);
        for (name, value) in &self.params {
            words.extend(["--mca".to_owned(), name.clone(), value.clone()]);
        }
        words.into_iter().map(OsString::from).collect()
    }

    /// In a report: what the figures are of.
    pub fn line(&self) -> String {
        let [a, b] = self.names();
        let nodes = match self.is_made_up() {
            true => "two nodes that are made up on this machine".to_owned(),
            false => format!("{a} and {b}"),
        };
        let mut line = format!("over {} between {nodes}", self.transport);
        for (name, value) in &self.params {
            // Where the file lies is nobody else's concern.
            let value = Path::new(value).file_name().unwrap_or(value.as_ref()).to_string_lossy();
            line += &format!(", {name} {value}");
        }
        line
    }

    /// Why ratios of rates are not of a network; nothing where they are.
    pub fn model(&self) -> Option<&'static str> {
        match (self.counts, self.is_made_up()) {
            (true, _) => Some(
                "the device is software on the processors that the program uses: rates and ratios are of that model, counts are not",
            ),
            (false, true) => {
                Some("both nodes are this machine: rates and ratios are of that model, counts are not")
            }
            (false, false) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(over: &TransportSetup, ranks: u64) -> String {
        let words = over.ours(ranks);
        words.iter().map(|w| w.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn nodes_and_transport() {
        let over =
            TransportSetup::new("verbs", None, vec![("btl_verbs_credits".into(), "4".into())]).unwrap();
        assert_eq!(
            words(&over, 6),
            "--host a:3,b:3 --mca plm local --mca btl verbs,self --mca btl_verbs_credits 4"
        );
        assert!(over.model().is_some_and(|text| text.contains("this machine")) && over.counts().is_none());
        let over = TransportSetup::new("verbs", Some(["n1".into(), "n2".into()]), Vec::new()).unwrap();
        assert_eq!(words(&over, 3), "--host n1:2,n2:2 --mca btl verbs,self");
        assert!(over.model().is_none() && over.line() == "over verbs between n1 and n2");
    }

    #[test]
    fn a_device_in_software_is_known_by_its_function() {
        let folder = std::env::temp_dir().join(format!("over-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes, counts) in
            [("real.so", &b"ibv_open_device"[..], false), ("soft.so", b"..oxmpi_fake_verbs_counter\0", true)]
        {
            let file = folder.join(name);
            std::fs::write(&file, bytes).unwrap();
            let params = vec![(LIBRARY.to_owned(), file.display().to_string())];
            let over = TransportSetup::new("verbs", None, params).unwrap();
            assert_eq!(over.counts().is_some(), counts);
            assert!(over.line().ends_with(name) && !over.line().contains("over-"), "{}", over.line());
        }
        std::fs::remove_dir_all(&folder).unwrap();
        assert!(TransportSetup::new("verbs", None, vec![(LIBRARY.into(), "/no/such/file".into())]).is_err());
    }
}
