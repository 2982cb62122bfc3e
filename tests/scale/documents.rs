//! Parts of documents that are counted: they are as a test says, or are written anew where `OXMPI_BLESS` is set.

use oxmpi_tests::root;

/// Between two marks of a file stands this text.
pub fn hold(file: &str, (begin, end): (&str, &str), text: &str) {
    let path = root().join(file);
    let old = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{file}: {e}"));
    let parts = old.split_once(begin).and_then(|(front, rest)| Some((front, rest.split_once(end)?)));
    let (front, (there, back)) = parts.unwrap_or_else(|| panic!("{file} has no {begin:?} before {end:?}"));
    if there == text {
        return;
    }
    assert!(
        std::env::var_os("OXMPI_BLESS").is_some(),
        "{file} is not as counted (OXMPI_BLESS=1 writes it anew):\n{text}\nbut there stands\n{there}"
    );
    std::fs::write(&path, format!("{front}{begin}{text}{end}{back}"))
        .unwrap_or_else(|e| panic!("{file}: {e}"));
}
