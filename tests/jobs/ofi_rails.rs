//! Jobs over several domains of libfabric at once: long messages are divided among them, and one that is not there is told.

use crate::ofi::{PROVIDER, domains, library, over};
use oxmpi_tests::{leave_out, ofi_with_faults};

/// Two domains of the tests' provider. `None`: this machine has one alone, which was printed.
fn two_domains(test: &str) -> Option<[String; 2]> {
    match domains() {
        [first, second, ..] => Some([first.clone(), second.clone()]),
        found => {
            leave_out(test, &format!("libfabric has one domain of {PROVIDER} here: {found:?}"));
            None
        }
    }
}

/// Bytes that two domains have carried for a rank, out of the line that begins so.
fn carried(out: &str, what: &str) -> Vec<[u64; 2]> {
    let pair = |line: &str| {
        let mut numbers = line.split_whitespace().map(|n| n.parse().expect("a number"));
        [numbers.next().expect("two"), numbers.next().expect("two")]
    };
    out.lines().filter_map(|line| line.strip_prefix(what)).map(pair).collect()
}

#[test]
fn two_domains_share_long_messages() {
    const TEST: &str = "two domains under btl-ofi";
    let Some(library) = library(TEST) else { return };
    let Some([first, second]) = two_domains(TEST) else { return };
    let both = format!("{first},{second}");
    let device = ofi_with_faults();
    // By get, by fragments, and with one domain alone.
    for (domain, way, shared) in [(&both, "64k", true), (&both, "1g", true), (&first, "64k", false)] {
        let params = [("domain", domain.as_str()), ("min_rma_size", way)];
        let job = over(&device.to_string_lossy(), 2, &params).args(["--mca", "osc", "rdma"]);
        let job = job.env("OXMPI_OFI_FAULTS", format!("library={library}"));
        let ended = job.program("stripes").arg(&device).run().all_ok(2);
        let all = carried(&ended.out, "messages: ");
        assert_eq!(all.len(), 2, "{}", ended.out);
        // A rank counts what it sends and what it gets.
        for [first, second] in all {
            let said = format!("{domain}, {way}: {first} and {second}");
            assert!(first + second > 8 * (8 << 20), "{said}");
            assert_eq!(first.min(second) * 4 > first + second, shared, "{said}");
        }
    }
    let job = over(&library, 4, &[("domain", &both)]).env("OXMPI_MCA_osc", "rdma");
    job.program("rma").run().all_ok(4);
    over(&library, 4, &[("domain", &both)]).program("collectives").run().all_ok(4);
    let job = over(&library, 2, &[("domain", &both)]).env("OXMPI_MCA_runtime_num_cris", "4");
    job.program("order").args(["4", "20"]).run().all_ok(2);
}

/// A domain that is not there, or cannot be opened, is told in one paragraph, and the job goes on over the other.
#[test]
fn a_domain_that_is_down_is_told() {
    const TEST: &str = "a domain that is down under btl-ofi";
    let Some(library) = library(TEST) else { return };
    let Some([first, second]) = two_domains(TEST) else { return };
    let names = format!("{first},nowhere0");
    let ended = over(&library, 2, &[("domain", &names)]).program("protocols").run();
    assert_eq!(
        ended.err.matches("does not use domain nowhere0, which btl_ofi_domain names").count(),
        1,
        "{}",
        ended.err
    );
    ended.all_ok(2);
    // The endpoints of one context, its service context and the target are the first domain's.
    let both = format!("{first},{second}");
    let job = over(&ofi_with_faults().to_string_lossy(), 2, &[("domain", &both), ("num_contexts", "1")]);
    let job = job.env("OXMPI_OFI_FAULTS", format!("library={library},endpoints=3"));
    let ended = job.program("protocols").run();
    let told = format!("does not use domain {second}, which btl_ofi_domain names");
    assert_eq!(ended.err.matches(&told).count(), 1, "{}", ended.err);
    assert!(ended.err.contains("No space left"), "{}", ended.err);
    ended.all_ok(2);
}

/// A domain that fails while messages go over it is named with the process that is lost by it.
#[test]
fn a_domain_that_fails_is_named() {
    const TEST: &str = "a domain that fails under btl-ofi";
    let Some(library) = library(TEST) else { return };
    let Some([first, second]) = two_domains(TEST) else { return };
    let both = format!("{first},{second}");
    let job = over(&ofi_with_faults().to_string_lossy(), 2, &[("domain", &both)]);
    let job = job.env("OXMPI_OFI_FAULTS", format!("library={library},dead=60,inject=0"));
    let ended = job.program("protocols").start().wait_and_leave_nothing().failed();
    let words = ended.err.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("domain ") && words.contains("has ended: a message is lost"), "{}", ended.err);
}
