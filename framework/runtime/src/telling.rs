//! Texts for the person at the terminal, once per job.

use crate::objects::Instance;
use oxmpi_loading::help;
use oxmpi_wireup as wireup;

impl Instance {
    /// Prints a paragraph of a help text once per job; `who` is the component in whose name it is said.
    pub(crate) fn show_help(&self, who: &str, text: &str, topic: &str, args: &[&str]) {
        show_help(self.client(), who, text, topic, args);
    }
}

/// Prints a paragraph of a help text once per job by way of mpirun, or to the standard error where there is no mpirun.
pub(crate) fn show_help(client: &wireup::Client, who: &str, text: &str, topic: &str, args: &[&str]) {
    let paragraph = help::paragraph(text, topic, args)
        .unwrap_or_else(|| format!("(no help text for topic {topic}: {})", args.join(", ")));
    if !client.help(who, topic, &paragraph) {
        let line = "-".repeat(74);
        oxmpi_system::reportln!("{line}\n{paragraph}\n{line}");
    }
}
