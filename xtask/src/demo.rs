//! `cargo xtask demo`: from nothing to a message rate.

use crate::install;
use crate::workspace::Workspace;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Installs into target/oxmpi, compiles the benchmark with the installed wrapper, runs it on two
/// ranks and says what its line means.
pub fn run(workspace: &Workspace) -> Result<(), String> {
    println!("Building and installing into target/oxmpi (the first build takes minutes) ...");
    let installed = install::run(workspace, &workspace.root.join("target/oxmpi"), false)?;
    let bin = installed.prefix.join("bin");
    let folder = workspace.root.join("target/demo");
    fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let program = folder.join("multirate");

    let mut compile = Command::new(bin.join("mpicc"));
    compile
        .args(["-O2", "-pthread", "-o"])
        .arg(&program)
        .arg(workspace.root.join("bench/multirate/multirate.c"));
    output("mpicc", &mut compile, Duration::from_secs(120))?;

    let mut job = Command::new(bin.join("mpirun"));
    job.args(["-n", "2"]).arg(&program).args(["-s", "8", "-w", "256", "-i", "4000"]);
    println!("$ target/oxmpi/bin/mpirun -n 2 target/demo/multirate -s 8 -w 256 -i 4000");
    let text = output("mpirun", &mut job, Duration::from_secs(120))?;
    print!("{text}");
    let line = text.lines().last().unwrap_or("");
    println!("{}", explain(line)?);
    Ok(())
}

/// Runs to the end or the limit; what it printed, or why not.
fn output(what: &str, command: &mut Command, limit: Duration) -> Result<String, String> {
    use std::process::Stdio;
    let log = tempfile_path(what);
    let file = fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
    let mut child =
        command.stdin(Stdio::null()).stdout(file).spawn().map_err(|e| format!("cannot run {what}: {e}"))?;
    let began = Instant::now();
    let status = loop {
        match child.try_wait().map_err(|e| format!("{what}: {e}"))? {
            Some(status) => break status,
            None if began.elapsed() > limit => {
                // Killing the launcher ends its job: that is one of its promises.
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{what} was not done after {} s", limit.as_secs()));
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let text = fs::read_to_string(&log).map_err(|e| format!("{}: {e}", log.display()));
    let _ = fs::remove_file(&log);
    if status.success() { text } else { Err(format!("{what}: {status}")) }
}

fn tempfile_path(what: &str) -> std::path::PathBuf {
    std::env::temp_dir().join(format!("oxmpi-demo-{what}-{}", std::process::id()))
}

/// The benchmark's line in a sentence. An unexpected line is an error: the demo shows a number or
/// says that there is none.
fn explain(line: &str) -> Result<String, String> {
    let fields: Vec<&str> = line.split('\t').collect();
    let [senders, threads, receivers, _, size, window, bandwidth, time, rate] = fields[..] else {
        return Err(format!("multirate printed {line:?}, which is not its result line"));
    };
    let number = |text: &str| text.split(' ').next().and_then(|t| t.parse::<f64>().ok());
    let (Some(gbps), Some(usec), Some(rate)) = (number(bandwidth), number(time), number(rate)) else {
        return Err(format!("multirate printed {line:?}, which is not its result line"));
    };
    Ok(format!(
        "That is: {senders} sending process with {threads} thread to {receivers} receiving process, messages of \
         {size} bytes, {window} under way at a time:\n{:.2} million messages per second, one every {:.0} \
         nanoseconds, {gbps:.2} gigabits of payload per second, from process to process through shared memory.",
        rate / 1e6,
        usec * 1e3
    ))
}

#[cfg(test)]
mod tests {
    use super::explain;

    #[test]
    fn a_result_line_is_explained_and_nothing_else_is() {
        let line = "1\t1\t1\t1\t8\t256\t0.80 Gbps\t0.08 usec\t12500000.00 msg/s";
        assert!(explain(line).unwrap().contains("12.50 million messages per second"));
        assert!(explain("").is_err() && explain("1\t1\t1\t1\t8\t256\tx\ty\tz").is_err());
    }
}
