//! The wire-up between real processes.

use crate::support::mpirun;

#[test]
fn every_rank_gets_its_facts() {
    let ended = mpirun("-n 3 --mca btl shm,self --mca x_y 7").role("facts").run();
    ended.expect(0, &[]);
    let crowded = std::thread::available_parallelism().expect("a number").get() < 3;
    let wanted: Vec<String> = (0..3)
        .map(|rank| {
            format!(
                "rank {rank} of 3, {rank} of 3 on node 0 of 1, job 1, crowded {crowded}, ranks [0, 1, 2], \
                 params [(\"btl\", \"shm,self\"), (\"x_y\", \"7\")]"
            )
        })
        .collect();
    assert_eq!(ended.said(), wanted);
}

#[test]
fn values_and_the_segment_are_shared() {
    let ended = mpirun("-n 5").role("exchange").run();
    ended.expect(0, &[]);
    let said = ended.said();
    assert_eq!(said.len(), 5);
    assert!(said.iter().all(|id| *id == said[0]), "one job: {said:?}");
}

#[test]
fn jobs_have_different_numbers() {
    let [a, b] = [(); 2].map(|()| mpirun("-n 1").role("exchange").run().said().concat());
    assert!(a.starts_with("job ") && a != b, "{a} {b}");
}

#[test]
fn a_place_is_taken_once() {
    let ended = mpirun("-n 2").role("twice").run();
    ended.expect(0, &[]);
    assert_eq!(ended.said().len(), 2, "{ended:?}");
    assert!(ended.said().iter().all(|why| why.contains("place is taken once")), "{ended:?}");
}

#[test]
fn who_does_not_know_the_secret_gets_nothing() {
    let ended = mpirun("-n 2").role("stranger secret").run();
    ended.expect(0, &[]);
    assert!(ended.said()[0].contains("does not know the job's secret"), "{ended:?}");
}

#[test]
fn another_user_gets_nothing() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("left out: only root can become somebody else");
        return;
    }
    let own = std::env::current_exe().expect("this binary has a path");
    let readable = std::process::Command::new("setpriv")
        .args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "test", "-x"])
        .arg(own)
        .status();
    if !readable.is_ok_and(|status| status.success()) {
        eprintln!("left out: another user cannot execute this test's binary");
        return;
    }
    let ended = mpirun("-n 2").role("stranger user").run();
    ended.expect(0, &[]);
    assert!(ended.said()[0].contains("is lost"), "{ended:?}");
}

#[test]
fn garbage_on_the_socket_costs_the_job_nothing() {
    mpirun("-n 2").role("garbage").run().expect(0, &[]);
}

#[test]
fn a_rank_that_breaks_the_protocol_is_named() {
    mpirun("-n 2").role("impossible").run().expect(1, &["Rank 1", "kind 0x99"]);
}

#[test]
fn a_help_message_is_printed_once() {
    let ended = mpirun("-n 4").role("help").run();
    ended.expect(0, &["3 more messages of the kind btl-test / no-flour"]);
    assert_eq!(ended.err.matches("There is no flour.").count(), 1, "{ended:?}");
}

#[test]
fn a_job_inside_a_job() {
    let script = format!("{} -n 2 $RANK", env!("CARGO_BIN_EXE_mpirun"));
    let ended = mpirun("-n 2").script_with_role(&script, "exchange").run();
    ended.expect(0, &[]);
    let said = ended.said();
    assert_eq!(said.len(), 4, "{ended:?}");
    assert!(said[0] == said[1] && said[2] == said[3] && said[1] != said[2], "two jobs of two: {said:?}");
}
