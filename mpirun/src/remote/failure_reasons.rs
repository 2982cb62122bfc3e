//! Why a daemon on another node did not come: what its agent said and how it ended, as a paragraph for the user.

use super::agents::{AgentEnd, Failure};
use crate::help::paragraph;

/// How `oxmpid` ends when it cannot take part; the agent passes it on.
pub const OTHER_VERSION: u8 = 80;
pub const NO_WAY_BACK: u8 = 81;
pub const BAD_BOOT: u8 = 82;

/// Messages of ssh, and advice for each.
const HINTS: &[(&[&str], &str)] = &[
    (
        &["Permission denied", "password", "passphrase"],
        "The node wants a password, or does not accept the key. mpirun has nobody asked\n\
         (BatchMode): `ssh NODE true` has to work without a question, by a key without a\n\
         passphrase or an agent.",
    ),
    (
        &[
            "Could not resolve",
            "Name or service not known",
            "not known",
            "nodename nor servname",
            "Temporary failure in name",
        ],
        "Nobody knows a node of this name. Is it spelt right in --host or the hostfile?",
    ),
    (
        &["No route to host", "Network is unreachable"],
        "There is no route to the node: it is off, or in a network that this machine has\nno way to.",
    ),
    (&["Connection refused"], "The node is there and has no ssh service at this port. Is sshd running?"),
    (
        &["timed out", "Timeout"],
        "Nothing comes back from the node: it is off, or a firewall swallows the packets.",
    ),
    (
        &["Host key verification failed", "REMOTE HOST IDENTIFICATION"],
        "The node's key is unknown here, or has changed. Log in once by hand, or add the\nkeys of all nodes to known_hosts.",
    ),
];

/// The whole paragraph. `name`: of the first node that comes to nothing.
pub fn explain(name: &str, failure: &Failure, others: usize) -> String {
    let said = match failure.words.trim() {
        "" => "It said nothing.".to_owned(),
        words => format!("It said:\n\n    {}", words.replace('\n', "\n    ")),
    };
    let others = match others {
        0 => String::new(),
        n => format!("\n\n{n} other nodes were to be started from there."),
    };
    let code = match failure.how {
        AgentEnd::Exit(code) => code,
        _ => -1,
    };
    let how = failure.how.to_string();
    match code {
        126 | 127 => paragraph("daemon-not-found", &[name, &failure.command, &said]),
        code if code == i32::from(OTHER_VERSION) => {
            paragraph("other-version", &[name, &super::version(), &said])
        }
        code if code == i32::from(NO_WAY_BACK) => paragraph("no-way-back", &[name, &said, &others]),
        255 => {
            let known = HINTS.iter().find(|(words, _)| words.iter().any(|word| failure.words.contains(word)));
            let hint = known.map_or_else(String::new, |(_, hint)| format!("\n\n{hint}"));
            paragraph("agent-failed", &[name, &failure.command, &how, &said, &hint, &others])
        }
        _ => paragraph("agent-failed", &[name, &failure.command, &how, &said, "", &others]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(code: i32, words: &str) -> String {
        let failure = Failure {
            nodes: vec![3],
            how: AgentEnd::Exit(code),
            words: words.into(),
            command: "ssh far x".into(),
        };
        explain("far", &failure, 0)
    }

    #[test]
    fn every_reason_has_its_paragraph() {
        for (code, words, part) in [
            (255, "u@far: Permission denied (publickey,password).", "BatchMode"),
            (255, "ssh: Could not resolve hostname far: Name or service not known", "spelt right"),
            (255, "ssh: connect to host far port 22: No route to host", "no way to"),
            (255, "ssh: connect to host far port 22: Connection refused", "sshd"),
            (255, "ssh: connect to host far port 22: Connection timed out", "swallows"),
            (255, "Host key verification failed.", "known_hosts"),
            (127, "sh: 1: /opt/oxmpid: not found", "--prefix"),
            (80, "oxmpid: this is ...", "another version"),
            (81, "oxmpid: 10.0.0.1:9: refused", "cannot connect"),
            (3, "", "ended with status 3"),
        ] {
            let text = said(code, words);
            assert!(text.contains(part) && text.contains("far"), "{code} {words}: {text}");
            assert!(text.contains(words), "{text}");
        }
    }
}
