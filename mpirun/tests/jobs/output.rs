//! Output and input of ranks.

use crate::support::{eventually, mpirun};
use rustix::process::Signal;
use std::io::{Read, Write};
use std::process::Stdio;
use std::time::Duration;

#[test]
fn lines_are_whole_and_in_their_rank_s_order() {
    let script = "i=0; while [ $i -lt 400 ]; do \
                  printf \"rank $OMPI_COMM_WORLD_RANK\"; printf ' line '; printf \"$i\\n\"; i=$((i+1)); done";
    let ended = mpirun("-n 6").script(script).run();
    ended.expect(0, &[]);
    let mut next = [0; 6];
    for line in ended.out.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["rank", rank, "line", number] = words[..] else { panic!("a mixed line: {line:?}") };
        let (rank, number): (usize, u32) = (rank.parse().expect(line), number.parse().expect(line));
        assert_eq!(number, next[rank], "rank {rank}");
        next[rank] += 1;
    }
    assert_eq!(next, [400; 6]);
}

#[test]
fn the_last_line_needs_no_end() {
    let ended = mpirun("-n 1").script("printf 'a\nb'; printf 'c' >&2").run();
    ended.expect(0, &[]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("a\nb", "c"));
}

#[test]
fn much_output_is_not_lost_before_a_slow_reader() {
    let mut job =
        mpirun("-n 3").script("head -c 12000000 /dev/zero | tr '\\0' x | fold -w 999; echo; exit 0");
    let mut child = job.command.spawn().expect("mpirun is there");
    let mut out = child.stdout.take().expect("piped");
    let (mut lines, mut exes, mut buffer) = (0, 0, vec![0; 1 << 20]);
    std::thread::sleep(Duration::from_millis(300));
    loop {
        let n = out.read(&mut buffer).expect("a pipe");
        if n == 0 {
            break;
        }
        lines += buffer[..n].iter().filter(|&&c| c == b'\n').count();
        exes += buffer[..n].iter().filter(|&&c| c == b'x').count();
    }
    assert!(child.wait().expect("a child of ours").success());
    assert_eq!(exes, 36_000_000);
    assert!(lines >= 3 * 12_012, "{lines}");
}

#[test]
fn a_line_longer_than_everything_comes_through() {
    let ended = mpirun("-n 2").script("head -c 3000000 /dev/zero | tr '\\0' x; echo").run();
    ended.expect(0, &[]);
    assert_eq!(ended.out.bytes().filter(|&c| c == b'x').count(), 6_000_000);
}

/// Nobody reads: the ranks stand still, memory stays bounded, and the job can still be ended.
#[test]
fn output_that_nobody_reads_stops_the_ranks_and_nothing_else() {
    let mut running = mpirun("-n 2").script("exec yes").start_without_reading();
    let stuck = running.wait_for("yes", 2);
    let written = || -> u64 {
        let io = |pid: i32| std::fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
        let of = |text: String| text.lines().find_map(|l| l.strip_prefix("wchar: ")?.parse::<u64>().ok());
        stuck.iter().filter_map(|p| of(io(p.pid))).sum()
    };
    eventually("ranks that stand still", || {
        let before = written();
        std::thread::sleep(Duration::from_millis(300));
        (before > 0 && written() == before).then_some(())
    });
    for process in running.wait_for("oxmpid", 1) {
        assert!(process.resident() < 60 << 10, "{} KiB", process.resident());
    }
    running.signal(Signal::TERM);
    let status = running.child.wait().expect("a child of ours");
    assert_eq!(status.code(), Some(128 + 15));
    running.nothing_is_left();
}

#[test]
fn a_reader_that_goes_away_ends_the_ranks_as_it_would_without_mpirun() {
    let job = mpirun("-n 2").script("exec yes");
    let mut running = job.start_without_reading();
    let mut out = running.child.stdout.take().expect("piped");
    out.read_exact(&mut [0; 10]).expect("there is some");
    drop(out);
    let status = running.child.wait().expect("a child of ours");
    assert_eq!(status.code(), Some(128 + 13));
    running.nothing_is_left();
}

#[test]
fn standard_input_is_rank_0_s() {
    let mut job = mpirun("-n 3").script("echo $OMPI_COMM_WORLD_RANK:$(cat)");
    job.command.stdin(Stdio::piped());
    let mut running = job.start();
    let mut stdin = running.child.stdin.take().expect("piped");
    stdin.write_all(b"some words").expect("rank 0 reads");
    drop(stdin);
    let ended = running.wait();
    ended.expect(0, &[]);
    let mut lines: Vec<&str> = ended.out.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0:some words", "1:", "2:"]);
}

#[test]
fn a_writer_notices_that_rank_0_does_not_read() {
    let mut job = mpirun("-n 1").script("exec 0</dev/null; sleep 1000");
    job.command.stdin(Stdio::piped());
    let mut running = job.start();
    let mut stdin = running.child.stdin.take().expect("piped");
    running.wait_for("sleep 1000", 2);
    let why = stdin.write_all(&vec![0; 1 << 20]).expect_err("nobody has the other end");
    assert_eq!(why.kind(), std::io::ErrorKind::BrokenPipe);
    running.signal(Signal::TERM);
    running.wait().expect(128 + 15, &[]);
}

#[test]
fn marks_stand_in_front_of_every_line() {
    let script = "echo one; echo two >&2; printf three";
    let ended = mpirun("-n 2 --output tag").script(script).run();
    ended.expect(0, &["[1,0]<stderr>: two\n", "[1,1]<stderr>: two\n"]);
    let mut lines: Vec<&str> = ended.out.lines().collect();
    lines.sort_unstable();
    let wanted = ["[1,0]<stdout>: one", "[1,0]<stdout>: three", "[1,1]<stdout>: one", "[1,1]<stdout>: three"];
    assert_eq!(lines, wanted);
    let ended = mpirun("-n 1 --output tag-detailed,merge").script("echo $$; echo e >&2").run();
    ended.expect(0, &[]);
    assert_eq!(ended.err, "");
    let pid = ended.out.lines().find_map(|l| l.split_once("<stdout>: ")).expect("a mark").1;
    assert!(ended.out.contains(&format!(":{pid}]<stderr>: e\n")), "{ended:?}");
    let ended = mpirun("-n 1 --tag-output --output timestamp").script("echo x").run();
    assert!(ended.out.starts_with('[') && ended.out.ends_with("][1,0]<stdout>: x\n"), "{ended:?}");
}

#[test]
fn output_goes_to_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect(name);
    let script = "echo out $OMPI_COMM_WORLD_RANK; echo err $OMPI_COMM_WORLD_RANK >&2";
    let ended = mpirun(&format!("-n 2 --output dir={}", at("d"))).script(script).run();
    ended.expect(0, &["err 0", "err 1"]);
    assert_eq!((read("d/1/rank.1/stdout"), read("d/1/rank.0/stderr")), ("out 1\n".into(), "err 0\n".into()));
    let ended = mpirun(&format!("-n 2 --output file={}:nocopy", at("f"))).script(script).run();
    ended.expect(0, &[]);
    assert_eq!((ended.out.as_str(), ended.err.as_str()), ("", ""));
    assert_eq!((read("f.1.0.out"), read("f.1.1.err")), ("out 0\n".into(), "err 1\n".into()));
}

#[test]
fn standard_input_for_others() {
    let words = |stdin: &str| {
        let mut job =
            mpirun(&format!("-n 3 --stdin {stdin}")).script("echo $OMPI_COMM_WORLD_RANK:$(cat | cksum)");
        job.command.stdin(Stdio::piped());
        let mut running = job.start();
        let mut stdin = running.child.stdin.take().expect("piped");
        // More than a pipe takes; who has no reader hears of it.
        let _ = stdin.write_all(&vec![b'x'; 3 << 20]);
        drop(stdin);
        let ended = running.wait();
        ended.expect(0, &[]);
        let mut lines: Vec<String> = ended.out.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines.iter().map(|line| line.ends_with(&(3 << 20).to_string())).collect::<Vec<bool>>()
    };
    assert_eq!(words("all"), [true; 3]);
    assert_eq!(words("2"), [false, false, true]);
    assert_eq!(words("none"), [false; 3]);
    mpirun("-n 2 --stdin 2").script("true").run().expect(1, &["--stdin 2"]);
}

/// One of several does not read, or is gone: the others get everything.
#[test]
fn a_rank_that_does_not_read_its_copy_of_standard_input() {
    let script = "[ $OMPI_COMM_WORLD_RANK = 1 ] && exec 0</dev/null; cat | wc -c";
    let mut job = mpirun("-n 3 --stdin all").script(script);
    job.command.stdin(Stdio::piped());
    let mut running = job.start();
    let mut stdin = running.child.stdin.take().expect("piped");
    stdin.write_all(&vec![b'x'; 2 << 20]).expect("two ranks read");
    drop(stdin);
    let ended = running.wait();
    ended.expect(0, &[]);
    let mut counts: Vec<&str> = ended.out.lines().map(str::trim).collect();
    counts.sort_unstable();
    assert_eq!(counts, ["0", "2097152", "2097152"]);
}

/// A rank prints far more than its reader takes. It stands still alone: another one prints on
/// standard error and ends meanwhile; memory stays bounded; and in the end nothing is lost.
#[test]
fn a_rank_that_prints_much_stands_still_alone() {
    const MUCH: usize = 250_000_000;
    let line = "x".repeat(999);
    let script = format!(
        "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then yes {line} | head -c {MUCH}; \
         else i=0; while [ $i -lt 3000 ]; do echo line $i of many lines >&2; i=$((i+1)); done; \
         seq 1 50; echo done >&2; fi"
    );
    let mut job = mpirun("-n 2").script(&script);
    let mut child = job.command.spawn().expect("mpirun is there");
    let mut err = std::io::BufReader::new(child.stderr.take().expect("piped"));
    let mut said = String::new();
    // Nobody reads standard output yet.
    while said != "done\n" {
        said.clear();
        assert!(std::io::BufRead::read_line(&mut err, &mut said).expect("a pipe") > 0, "rank 1 never ended");
    }
    let mut running = job.watch(child);
    for process in running.wait_for("oxmpid", 1).iter().chain(&[running.launcher()]) {
        assert!(process.resident() < 60 << 10, "{}: {} KiB", process.command, process.resident());
    }
    let child = &mut running.child;
    let mut out = std::io::BufReader::with_capacity(1 << 20, child.stdout.take().expect("piped"));
    let (mut many, mut few, mut got) = (0, String::new(), Vec::new());
    while std::io::BufRead::read_until(&mut out, b'\n', &mut got).expect("a pipe") > 0 {
        match got.len() {
            1000 => {
                assert!(got.starts_with(line.as_bytes()), "a mixed line");
                many += 1;
            }
            _ => few += &String::from_utf8_lossy(&got),
        }
        got.clear();
    }
    assert!(child.wait().expect("a child of ours").success());
    assert_eq!(many * 1000, MUCH);
    assert_eq!(few.lines().count(), 50, "{few}");
}

#[test]
fn lines_longer_than_everything_stay_whole() {
    let script = "head -c 1500000 /dev/zero | tr '\\0' $OMPI_COMM_WORLD_RANK; echo";
    let ended = mpirun("-n 4").script(script).run();
    ended.expect(0, &[]);
    assert_eq!(ended.out.lines().count(), 4);
    for line in ended.out.lines() {
        let first = line.as_bytes()[0];
        assert!(
            line.len() == 1_500_000 && line.bytes().all(|c| c == first),
            "a mixed line of {}",
            line.len()
        );
    }
}
