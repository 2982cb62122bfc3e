//! The hints of info objects: which keys are known, in which spellings values are accepted, what is in force.
//!
//! Keys are those that MPI reserves (MPI 5.0 §14.2.8), ROMIO's and Open MPI's, by name. A key that nobody knows, and a value in no accepted spelling, are passed over
//! (MPI 5.0 §10). Values are kept as the user wrote them, since MPI_File_get_info tells them so.

/// How the value of a key is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A number from 0 on.
    Number,
    /// `automatic`, `enable` or `disable`.
    Switch,
    /// `true` or `false`.
    Flag,
    /// A number from 0 on in octal, at most 7777.
    Octal,
    /// Anything.
    Text,
    /// Told by MPI_File_get_info only; what the user gives is passed over.
    ReadOnly,
}

use Form::{Flag, Number, Octal, ReadOnly, Switch, Text};

/// Key, form, and the key that it is another name of.
type Row = (&'static str, Form, Option<&'static str>);

/// Every known key, by name.
const KEYS: &[Row] = &[
    ("OMPIO_SHAREDFP_RELAXED_ORDERING", Flag, None),
    ("access_style", Text, None),
    ("cb_block_size", Number, None),
    ("cb_buffer_size", Number, None),
    ("cb_config_list", Text, None),
    ("cb_nodes", Number, None),
    ("chunked", Text, None),
    ("chunked_item", Text, None),
    ("chunked_size", Text, None),
    ("collective_buffering", Flag, None),
    ("direct_read", Flag, None),
    ("direct_write", Flag, None),
    ("file_perm", Octal, None),
    ("filename", ReadOnly, None),
    ("ind_rd_buffer_size", Number, None),
    ("ind_wr_buffer_size", Number, None),
    ("io_node_list", Text, None),
    ("nb_proc", Number, None),
    ("num_io_nodes", Number, None),
    ("romio_aggregator_list", ReadOnly, None),
    ("romio_cb_alltoall", Switch, None),
    ("romio_cb_ds_threshold", Number, None),
    ("romio_cb_fr_alignment", Number, None),
    ("romio_cb_fr_type", Text, None),
    ("romio_cb_fr_types", Text, Some("romio_cb_fr_type")),
    ("romio_cb_pfr", Switch, None),
    ("romio_cb_read", Switch, None),
    ("romio_cb_write", Switch, None),
    ("romio_ds_read", Switch, None),
    ("romio_ds_write", Switch, None),
    ("romio_filesystem_type", ReadOnly, None),
    ("romio_lustre_cb_lock_ahead_flags", Number, None),
    ("romio_lustre_cb_lock_ahead_num_extents", Number, None),
    ("romio_lustre_cb_lock_ahead_read", Number, None),
    ("romio_lustre_cb_lock_ahead_write", Number, None),
    ("romio_lustre_co_ratio", Number, None),
    ("romio_lustre_coll_threshold", Number, None),
    ("romio_lustre_ds_in_coll", Switch, None),
    ("romio_min_fdomain_size", Number, None),
    ("romio_no_indep_rw", Flag, None),
    ("romio_synchronized_flush", Switch, None),
    ("romio_visibility_immediate", ReadOnly, None),
    ("start_iodevice", Number, None),
    ("stripe_size", Number, Some("striping_unit")),
    ("stripe_width", Number, Some("striping_factor")),
    ("striping_factor", Number, None),
    ("striping_unit", Number, None),
];

/// The names and forms of all keys, for tools that list them.
pub fn keys() -> impl Iterator<Item = (&'static str, Form)> {
    KEYS.iter().map(|(name, form, _)| (*name, *form))
}

/// Value of a [`Form::Switch`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The library decides.
    Automatic,
    /// Always.
    Enable,
    /// Never.
    Disable,
}

/// The answer to a hint that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It is kept.
    Kept,
    /// Nobody knows the key.
    Unknown,
    /// The key is known, the value is in no spelling that it has.
    Malformed,
    /// The key is told by the library only.
    ReadOnly,
}

/// The hints of a file that the user has given, in the order of their first mention.
#[derive(Clone, Debug, Default)]
pub struct Hints {
    given: Vec<(&'static Row, String)>,
}

fn row(key: &str) -> Option<&'static Row> {
    KEYS.binary_search_by(|row| row.0.cmp(key)).ok().map(|at| &KEYS[at])
}

/// The key that a row means.
fn meaning(row: &'static Row) -> &'static str {
    row.2.unwrap_or(row.0)
}

fn number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|n| *n <= i64::MAX as u64)
}

fn octal(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("0o").unwrap_or(text);
    u32::from_str_radix(digits, 8).ok().filter(|mode| *mode <= 0o7777)
}

fn flag(text: &str) -> Option<bool> {
    match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    }
}

fn choice(text: &str) -> Option<Choice> {
    match text.to_ascii_lowercase().as_str() {
        "automatic" => Some(Choice::Automatic),
        "enable" => Some(Choice::Enable),
        "disable" => Some(Choice::Disable),
        _ => None,
    }
}

fn fits(form: Form, text: &str) -> bool {
    match form {
        Number => number(text).is_some(),
        Switch => choice(text).is_some(),
        Flag => flag(text).is_some(),
        Octal => octal(text).is_some(),
        Text => true,
        ReadOnly => false,
    }
}

impl Hints {
    /// Takes a hint; one that was given before, under this name or another, is replaced. Blanks around a value are not part of it.
    pub fn set(&mut self, key: &str, value: &str) -> Taken {
        let Some(row) = row(key) else { return Taken::Unknown };
        if row.1 == ReadOnly {
            return Taken::ReadOnly;
        }
        if !fits(row.1, value.trim()) {
            return Taken::Malformed;
        }
        match self.given.iter_mut().find(|(known, _)| meaning(known) == meaning(row)) {
            Some(known) => *known = (row, value.trim().into()),
            None => self.given.push((row, value.trim().into())),
        }
        Taken::Kept
    }

    /// Takes a hint of the site's (a file of hints), which the user's own go before.
    pub fn set_default(&mut self, key: &str, value: &str) -> Taken {
        let known = row(key).is_some_and(|row| self.text(meaning(row)).is_some());
        if known { Taken::Kept } else { self.set(key, value) }
    }

    /// The text of a hint, by its first name.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.given.iter().find(|(row, _)| meaning(row) == key).map(|(_, text)| text.as_str())
    }

    /// A number; `None`: not given.
    pub fn number(&self, key: &str) -> Option<u64> {
        self.text(key).and_then(number)
    }

    /// A number above 0: where 0 leaves the choice to the library.
    pub fn positive(&self, key: &str) -> Option<u64> {
        self.number(key).filter(|n| *n > 0)
    }

    /// A flag; `None`: not given.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.text(key).and_then(flag)
    }

    /// A choice; `None`: not given.
    pub fn choice(&self, key: &str) -> Option<Choice> {
        self.text(key).and_then(choice)
    }

    /// Permissions of a new file (`file_perm`).
    pub fn permissions(&self) -> Option<u32> {
        self.text("file_perm").and_then(octal)
    }

    /// Whether writes are to read what lies between their pieces, and write it back: only where `romio_ds_write` says `enable`.
    pub fn sieve_writes(&self) -> bool {
        self.choice("romio_ds_write") == Some(Choice::Enable)
    }

    /// Whether accesses of that direction are to go by aggregators: `romio_cb_read`, `romio_cb_write`, and where these are not given `collective_buffering`.
    pub fn collective(&self, writes: bool) -> Choice {
        let own = self.choice(if writes { "romio_cb_write" } else { "romio_cb_read" });
        own.unwrap_or(match self.flag("collective_buffering") {
            Some(true) => Choice::Enable,
            Some(false) => Choice::Disable,
            None => Choice::Automatic,
        })
    }

    /// The hints in force, for MPI_File_get_info: `actual` are values that the library uses, by first name. A hint of the user's that says the same stays in the user's
    /// spelling and under the user's name; one that says something else gives way. Other hints that were taken are told as they were given.
    ///
    /// `romio_visibility_immediate` is told as `true` or not at all: programs refuse independent writes where it is `false`.
    pub fn in_force(&self, actual: &[(&'static str, String)]) -> Vec<(String, String)> {
        let mut told: Vec<(String, String)> = Vec::new();
        for (row, text) in &self.given {
            let used = actual.iter().find(|(key, _)| *key == meaning(row));
            let value = match used {
                Some((_, used)) if !same(row.1, text, used) => used.clone(),
                _ => text.clone(),
            };
            told.push((row.0.into(), value));
        }
        let given = |key: &str| self.given.iter().any(|(row, _)| meaning(row) == key);
        let further = actual
            .iter()
            .filter(|(key, _)| !given(key))
            .filter(|(key, value)| *key != "romio_visibility_immediate" || value == "true");
        told.extend(further.map(|(key, value)| ((*key).into(), value.clone())));
        told
    }
}

/// Whether two texts of a form mean the same.
fn same(form: Form, one: &str, other: &str) -> bool {
    match form {
        Number => number(one) == number(other),
        Octal => octal(one) == octal(other),
        Switch => choice(one) == choice(other),
        Flag => flag(one) == flag(other),
        Text | ReadOnly => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_in_order_and_second_names_lead_to_first_ones() {
        assert!(KEYS.is_sorted_by(|a, b| a.0 < b.0));
        for (_, form, first) in KEYS.iter().filter(|row| row.2.is_some()) {
            let first = row(first.unwrap()).unwrap();
            assert!(first.2.is_none() && first.1 == *form);
        }
    }

    #[test]
    fn values_in_their_spellings() {
        let mut hints = Hints::default();
        for (key, value, taken) in [
            ("cb_nodes", " 4 ", Taken::Kept),
            ("cb_nodes", "-4", Taken::Malformed),
            ("cb_buffer_size", "16M", Taken::Malformed),
            ("cb_buffer_size", "99999999999999999999", Taken::Malformed),
            ("romio_cb_write", "ENABLE", Taken::Kept),
            ("romio_cb_read", "true", Taken::Malformed),
            ("collective_buffering", "false", Taken::Kept),
            ("direct_read", "TRUE", Taken::Kept),
            ("file_perm", "0640", Taken::Kept),
            ("file_perm", "9", Taken::Malformed),
            ("romio_visibility_immediate", "false", Taken::ReadOnly),
            ("mine", "1", Taken::Unknown),
        ] {
            assert_eq!(hints.set(key, value), taken, "{key} {value}");
        }
        assert_eq!((hints.number("cb_nodes"), hints.number("cb_buffer_size")), (Some(4), None));
        assert_eq!((hints.collective(true), hints.collective(false)), (Choice::Enable, Choice::Disable));
        assert_eq!((hints.flag("direct_read"), hints.permissions()), (Some(true), Some(0o640)));
        assert_eq!(Hints::default().collective(true), Choice::Automatic);
    }

    #[test]
    fn what_is_in_force_keeps_the_users_spelling() {
        let mut hints = Hints::default();
        hints.set("stripe_size", "065536");
        hints.set("cb_nodes", "99");
        hints.set("access_style", "random");
        assert_eq!(hints.set_default("striping_unit", "1"), Taken::Kept);
        assert_eq!(hints.set_default("ind_rd_buffer_size", "5"), Taken::Kept);
        let actual = [
            ("striping_unit", "65536".to_string()),
            ("cb_nodes", "2".into()),
            ("cb_buffer_size", "1024".into()),
            ("romio_visibility_immediate", "false".into()),
        ];
        let told = hints.in_force(&actual);
        let told: Vec<_> = told.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let expected = [
            ("stripe_size", "065536"),
            ("cb_nodes", "2"),
            ("access_style", "random"),
            ("ind_rd_buffer_size", "5"),
            ("cb_buffer_size", "1024"),
        ];
        assert_eq!(told, expected);
    }
}
