//! Files: what programs find in them after calls of every kind, on one node and on two made up on this machine.

use oxmpi_tests::{Job, files_in_c, leave_out, mpi};
use std::process::Command;

/// Jobs on one node, and, if there are several ranks, on two nodes.
pub fn jobs(ranks: usize) -> Vec<Job> {
    let mut jobs = vec![Job::new(ranks).limit(300)];
    if ranks > 1 && mpi().is_ours() {
        let hosts = format!("a:{},b:{}", ranks / 2, ranks - ranks / 2);
        let job = Job::of(Command::new(mpi().bin("mpirun")));
        jobs.push(job.args(["--host", &hosts, "--mca", "plm", "local"]).limit(300));
    }
    jobs
}

/// Programs that do what the standard says of files.
#[test]
fn files_of_installed_components() {
    if !mpi().is_ours() {
        return leave_out("files", "not every library passes");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files").arg(folder.path()).run().all_ok(ranks);
            let left = std::fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(left, 0, "files are left beside those of the program");
        }
    }
}

/// A nonblocking collective access returns though another rank has not called it.
#[test]
fn a_call_returns_before_another_rank_calls() {
    if !mpi().is_ours() {
        return leave_out("nonblocking collective access", "other libraries may wait in it");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_alone").arg(folder.path()).run().all_ok(ranks);
        }
    }
}

/// Random operations against a model, some seconds of seeds; by hand more of them, and others:
/// `mpirun -n 4 files_random FOLDER FIRST_SEED SEEDS SECONDS`.
#[test]
fn random_operations_are_as_the_model_says() {
    if !mpi().is_ours() {
        return leave_out("random operations on files", "not every library passes");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_random").arg(folder.path()).args(["1", "20", "3"]).run().all_ok(ranks);
        }
    }
}

/// The same on several files at a time, with views and memory of every kind, in threads and endpoints, too; by hand more of them:
/// `mpirun -n 4 files_model FOLDER FIRST_SEED SEEDS SECONDS [threads N | endpoints N]`.
#[test]
fn files_of_all_kinds_are_as_the_model_says() {
    if !mpi().is_ours() {
        return leave_out("random operations on files of all kinds", "not every library passes");
    }
    let runs: [(usize, &[&str]); 5] =
        [(1, &[]), (2, &["threads", "2"]), (2, &["endpoints", "2"]), (3, &[]), (4, &[])];
    for (ranks, who) in runs {
        for (job, seed) in jobs(ranks).into_iter().zip(["1", "1001"]) {
            let folder = tempfile::tempdir().expect("a folder");
            let job = job.program("files_model").arg(folder.path()).args([seed, "12", "3"]).args(who);
            job.run().all_ok(ranks);
            let left = std::fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(left, 0, "files are left beside those of the program");
        }
    }
}

/// Programs with a subject of their own: types in other representations, counts beyond an int, threads on one file, endpoints as ranks of one.
#[test]
fn files_of_a_subject() {
    if !mpi().is_ours() {
        return leave_out("files of a subject", "not every library passes");
    }
    let runs: [(&str, &[usize], &[&str]); 4] = [
        ("files_types", &[1, 3], &[]),
        ("files_large", &[2], &[]),
        ("files_threads", &[1, 2], &["4", "threads"]),
        ("files_threads", &[1, 2], &["3", "endpoints"]),
    ];
    for (program, sizes, arguments) in runs {
        for ranks in sizes {
            // Of that many bytes once is enough.
            let all = if program == "files_large" { vec![Job::new(*ranks).limit(300)] } else { jobs(*ranks) };
            for job in all {
                let folder = tempfile::tempdir().expect("a folder");
                job.program(program).arg(folder.path()).args(arguments).run().all_ok(*ranks);
                let left = std::fs::read_dir(folder.path()).expect("the folder").count();
                assert_eq!(left, 0, "{program}: files are left beside those of the program");
            }
        }
    }
}

/// Jobs at the same time whose files have one base name, and several files of one job that have, do not meet: neither by their data nor by their shared pointers.
#[test]
fn files_of_one_base_name_do_not_meet() {
    if !mpi().is_ours() {
        return leave_out("files of one base name", "not every library passes");
    }
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().expect("a folder")).collect();
    let running: Vec<_> = folders
        .iter()
        .map(|folder| {
            for inner in ["a", "b", "c"] {
                std::fs::create_dir(folder.path().join(inner)).expect("a folder");
            }
            Job::new(2).limit(300).program("files_beside").arg(folder.path()).start()
        })
        .collect();
    for (job, folder) in running.into_iter().zip(&folders) {
        job.wait().all_ok(2);
        for inner in ["a", "b", "c"] {
            let left = std::fs::read_dir(folder.path().join(inner)).expect("the folder").count();
            assert_eq!(left, 0, "files are left in {inner}");
        }
    }
}

/// Hints of the program, of a site's file, and of parameters, in this order; told in the program's spelling.
#[test]
fn hints_and_where_they_come_from() {
    if !mpi().is_ours() {
        return leave_out("hints of files", "other libraries tell others");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let site = folder.path().join("site");
    std::fs::write(
        &site,
        "# of the site\ncb_buffer_size 2097152\nstripe_size 65536\nromio_cb_write enable\n",
    )
    .expect("hints");
    let run = |params: &[&str], hints: &str| {
        let files = tempfile::tempdir().expect("a folder");
        let job = Job::new(4).env("ROMIO_HINTS", &site).args(params).program("files_hints");
        job.arg(files.path()).args(hints.split_whitespace()).run().all_ok(4)
    };
    run(
        &[],
        "told cb_buffer_size 2097152 told romio_cb_write enable told cb_nodes 1 told romio_aggregator_list 0",
    );
    run(
        &[],
        "set cb_buffer_size 04194304 told cb_buffer_size 04194304 set stripe_size 131072 told stripe_size 131072 told striping_unit -",
    );
    run(
        &[],
        "set cb_config_list *:2 told cb_config_list *:2 told cb_nodes 2 set romio_visibility_immediate false told romio_visibility_immediate true",
    );
    run(&[], "set cb_config_list nobody:9 told cb_nodes 1 set mine 1 told mine -");
    run(&["--mca", "io_ompio_num_aggregators", "3"], "told cb_nodes 3");
    run(&["--mca", "io_ompio_num_aggregators", "3"], "set cb_nodes 2 told cb_nodes 2");
    let ended =
        run(&["--mca", "io_ompio_verbose_info_parsing", "1"], "set mine 1 set cb_nodes x told cb_nodes 1");
    assert_eq!(ended.err.matches("hint mine = 1 of a file is passed over").count(), 1, "{}", ended.err);
    assert_eq!(ended.err.matches("hint cb_nodes = x of a file is passed over").count(), 1, "{}", ended.err);
    let ended = run(&["--mca", "io_ompio_coll_timing_info", "1"], "told cb_nodes 1");
    assert_eq!(
        ended.err.matches("8 accesses of ranks, 8 of them collective; 16 bytes written, 16 read").count(),
        1,
        "{}",
        ended.err
    );
}

/// The pieces of all transfers that the lines at the ends of files tell.
fn pieces(err: &str) -> u64 {
    let told = err.lines().filter_map(|line| line.split(" transfers of ").nth(1)?.split(' ').next());
    told.map(|pieces| pieces.parse::<u64>().expect("a number of pieces")).sum()
}

/// Ranks write between each other's pieces at the same time, with the holes read and written back where the hint asks for that, and lose nothing.
#[test]
fn sieved_writes_lose_nothing() {
    if !mpi().is_ours() {
        return leave_out("sieved writes", "others lock windows alone, not every write");
    }
    for ranks in [1, 2, 4] {
        let run = |job: Job, hint: &str| {
            let folder = tempfile::tempdir().expect("a folder");
            let job = job.args(["--mca", "io_ompio_coll_timing_info", "1"]).program("files_sieved");
            let ended = job.arg(folder.path()).arg(hint).run().all_ok(ranks);
            let left = std::fs::read_dir(folder.path()).expect("the folder").count();
            assert_eq!(left, 0, "files are left beside those of the program");
            pieces(&ended.err)
        };
        let plain = run(Job::new(ranks).limit(300), "disable");
        for job in jobs(ranks) {
            let sieved = run(job, "enable");
            assert!(sieved > 0 && sieved < plain, "{ranks} ranks: {sieved} pieces, {plain} without sieving");
        }
    }
}

/// Random operations with all writes sieved by a site's hint, in small windows.
#[test]
fn random_operations_with_sieved_writes() {
    if !mpi().is_ours() {
        return leave_out("random operations with sieved writes", "not every library passes");
    }
    let site = tempfile::NamedTempFile::new().expect("a file of hints");
    std::fs::write(site.path(), "romio_ds_write enable\nind_wr_buffer_size 777\n").expect("hints");
    for (ranks, program) in [(2, "files_random"), (4, "files_model")] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            let job = job.env("ROMIO_HINTS", site.path()).program(program).arg(folder.path());
            job.args(["7000", "20", "3"]).run().all_ok(ranks);
        }
    }
}

/// With the hint `romio_no_indep_rw` ranks that transfer for nobody open the file when they first need it.
#[test]
fn ranks_without_accesses_open_later() {
    if !mpi().is_ours() {
        return leave_out("files that are opened later", "others do so under other conditions");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_deferred").arg(folder.path()).arg("2").run().all_ok(ranks);
        }
    }
}

/// Space ahead on a file system that has it, holes included.
#[test]
fn space_is_had_ahead() {
    if !mpi().is_ours() {
        return leave_out("space ahead of files", "other libraries have it for the end of a file alone");
    }
    for ranks in [1, 2, 4] {
        for job in jobs(ranks) {
            let folder = tempfile::tempdir().expect("a folder");
            job.program("files_space").arg(folder.path()).arg("holes").run().all_ok(ranks);
        }
    }
}

/// Components of all three frameworks of files, written in C from the header alone.
#[test]
fn files_by_components_in_c() {
    if !mpi().is_ours() {
        return leave_out("components of files in C", "about our own component interface");
    }
    let components = files_in_c();
    let served = |job: Job| {
        let job = job.args(["--mca", "mca_base_component_path"]).arg(components.path());
        let job = job.args(["--mca", "fs", "cplain", "--mca", "fbtl", "cplain", "--mca", "fcoll", "ceach"]);
        job.args(["--mca", "io_ompio_coll_timing_info", "1"])
    };
    for ranks in [1, 4] {
        let folder = tempfile::tempdir().expect("a folder");
        served(Job::new(ranks).limit(300)).program("files").arg(folder.path()).run().all_ok(ranks);
        for job in jobs(ranks) {
            let job = served(job).program("files_random").arg(folder.path()).args(["5000", "20", "3"]);
            let ended = job.run().all_ok(ranks);
            assert!(ended.err.contains("served by cplain, cplain and ceach"), "{}", ended.err);
        }
    }
}
