//! The known name that an unknown one resembles most.

/// The candidate most like `name`, if any is like it at all. Ties go to the alphabetically first.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_ascii_lowercase();
    // A third of the letters wrong is a guess; more is another word.
    let limit = (name.chars().count() / 3).max(1);
    candidates
        .map(|c| (strsim::damerau_levenshtein(&name, &c.to_ascii_lowercase()), c))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, c)| c)
}
