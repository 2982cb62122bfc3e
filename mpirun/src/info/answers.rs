//! Sources of all answers, and an answer.

use super::options::Options;
use oxmpi_loading::registry::Registry;
use oxmpi_mca_params::{Places, Reader, Sources};

/// Everything the answers are made of.
pub struct AnswerSources {
    pub places: Places,
    pub registry: Registry,
    /// Parameter files that were read.
    pub files: Vec<std::path::PathBuf>,
    /// Mistakes in files and on the command line.
    pub mistakes: Vec<String>,
}

impl AnswerSources {
    pub fn gather(options: &Options) -> AnswerSources {
        let places = Places::of_this_program();
        let sources = Sources::read(Reader::Launcher, std::env::vars_os(), &places, &options.given());
        let dirs: Vec<_> = places.components().into_iter().collect();
        // SAFETY: no component is linked into this program.
        let registry = unsafe { Registry::look(sources.resolver, &dirs, &[]) };
        let mut mistakes: Vec<String> = sources.errors.iter().map(ToString::to_string).collect();
        mistakes.extend(registry.problems().iter().cloned());
        AnswerSources { places, registry, files: sources.files, mistakes }
    }
}

/// An answer, and whether it is a good one.
pub struct Answer {
    pub text: String,
    pub good: bool,
}
