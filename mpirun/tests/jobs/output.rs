//! What ranks print, and what they read.

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
