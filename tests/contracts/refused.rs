//! Compiles programs that break a rule of the contracts, one rule each, and compares the compiler's answer with the one beside the program.
//!
//! Each program is right but for the line that breaks its rule, as the answer shows.

#[test]
fn programs_that_break_a_rule_do_not_compile() {
    let tests = trybuild::TestCases::new();
    tests.pass("refused/nothing.rs");
    tests.compile_fail("refused/*/*.rs");
}
