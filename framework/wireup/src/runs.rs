//! Lists of numbers in runs of one step: what is regular takes a few bytes, whatever its length.

use super::frame::{Builder, Fields, Malformed};

/// Appends numbers; their order stays.
pub fn put(b: Builder, values: &[u32]) -> Builder {
    // First, step and length of each run.
    let mut runs: Vec<(u32, u32, u32)> = Vec::new();
    for (at, value) in values.iter().enumerate() {
        let by = at.checked_sub(1).and_then(|before| value.checked_sub(values[before]));
        match (runs.last_mut(), by) {
            (Some((_, step, length)), Some(by)) if *length == 1 || *step == by => {
                (*step, *length) = (by, *length + 1);
            }
            _ => runs.push((*value, 0, 1)),
        }
    }
    runs.iter().fold(b.count(runs.len()), |b, (first, step, length)| b.u32(*first).u32(*step).u32(*length))
}

/// Reads numbers, at most `most`; an error where there are more, or where one is larger than it can be.
pub fn take(f: &mut Fields<'_>, field: &'static str, most: usize) -> Result<Vec<u32>, Malformed> {
    let mut values = Vec::new();
    f.list(field, 12, |f| {
        let (first, step, length) = (f.u32(field)?, f.u32(field)?, f.u32(field)?);
        if values.len().saturating_add(length as usize) > most {
            return Err(Malformed::Value { field, value: length.into() });
        }
        for n in 0..length {
            let value = n.checked_mul(step).and_then(|by| first.checked_add(by));
            values.push(value.ok_or(Malformed::Value { field, value: first.into() })?);
        }
        Ok(())
    })?;
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::super::frame::HEADER;
    use super::*;
    use proptest::prelude::*;

    fn bytes(values: &[u32]) -> Vec<u8> {
        put(Builder::new(1), values).finish().expect("short")[HEADER..].to_vec()
    }

    #[test]
    fn regular_lists_take_few_bytes_and_lengths_are_bounded() {
        assert_eq!(bytes(&(7..1007).collect::<Vec<_>>()).len(), 4 + 12);
        assert_eq!(bytes(&[5; 100]).len(), 4 + 12);
        assert_eq!(bytes(&[0, 0, 0, 1, 1, 1]).len(), 4 + 24);
        let told = |first: u32, step: u32, length: u32| {
            let b = Builder::new(1).count(1).u32(first).u32(step).u32(length);
            take(&mut Fields::new(&b.finish().expect("short")[HEADER..]), "list", 100)
        };
        assert_eq!(told(3, 2, 3), Ok(vec![3, 5, 7]));
        assert!(told(0, 0, 101).is_err() && told(0, 0, u32::MAX).is_err());
        assert!(told(u32::MAX, 1, 2).is_err() && told(0, u32::MAX, 3).is_err());
    }

    proptest! {
        #[test]
        fn any_list_survives(values in prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..60)) {
            prop_assert_eq!(take(&mut Fields::new(&bytes(&values)), "list", 60), Ok(values));
        }
    }
}
