//! Lists of numbers that the job's manager has put into the environment, by name and place.

/// The number at `index` of a list that ALPS or Slurm has put into the environment: decimal, separated by colons, and negative
/// where it was written as a signed number.
pub fn number(name: &str, index: usize) -> Option<u32> {
    number_of(&std::env::var(name).ok()?, index)
}

fn number_of(list: &str, index: usize) -> Option<u32> {
    let number: i64 = list.split(':').nth(index)?.trim().parse().ok()?;
    (i64::from(i32::MIN)..=i64::from(u32::MAX)).contains(&number).then_some(number as u32)
}

#[cfg(test)]
mod tests {
    use super::number_of;

    #[test]
    fn lists_of_managers_are_read() {
        assert_eq!(number_of("12:13", 0), Some(12));
        assert_eq!(number_of("12:13", 1), Some(13));
        assert_eq!(number_of("-2:13", 0), Some(0xffff_fffe), "written with a sign");
        assert_eq!(number_of("4294967295", 0), Some(u32::MAX));
        assert_eq!(number_of("12", 1), None);
        assert_eq!(number_of("12,13", 0), None);
        assert_eq!(number_of("4294967296", 0), None);
    }
}
