//! Texts that hints are written in: lists of hosts for collective buffering (`cb_config_list`), and files of hints (ROMIO_HINTS).

/// A `cb_config_list`: how many ranks of which host may transfer for others.
///
/// Entries are parted by commas: `host`, `host:n` or `host:*`, and `*` for every host that no entry before names. Without a number one rank is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigList(Vec<(Option<String>, u32)>);

impl ConfigList {
    /// Reads one; `None`: it is not a list.
    pub fn parse(text: &str) -> Option<ConfigList> {
        let entries = text.split(',').map(|entry| {
            let (host, most) = entry.trim().split_once(':').unwrap_or((entry.trim(), "1"));
            let most = match most.trim() {
                "*" => u32::MAX,
                number => number.parse().ok()?,
            };
            let host = host.trim();
            (!host.is_empty()).then(|| ((host != "*").then(|| host.to_string()), most))
        });
        entries.collect::<Option<Vec<_>>>().map(ConfigList)
    }

    /// How many ranks of that host it allows.
    pub fn most(&self, host: &str) -> u32 {
        let named = self.0.iter().find(|(name, _)| name.as_deref() == Some(host));
        let found = named.or_else(|| self.0.iter().find(|(name, _)| name.is_none()));
        found.map_or(0, |(_, most)| *most)
    }
}

/// The hints of a ROMIO_HINTS file, in order: a key and a value on each line, parted by blanks. Lines that begin with `#`, and lines of another form, are passed over.
/// A hint of the program's own goes before one of the file.
pub fn hints_file(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (key, value) = (words.next()?, words.next()?);
        (!key.starts_with('#') && words.next().is_none()).then_some((key, value))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_hosts() {
        let list = ConfigList::parse("big:4, small:*, *:1").unwrap();
        assert_eq!(["big", "small", "other"].map(|host| list.most(host)), [4, u32::MAX, 1]);
        let list = ConfigList::parse("*:2,a").unwrap();
        assert_eq!((list.most("a"), list.most("b")), (1, 2));
        assert_eq!(ConfigList::parse("a:0").unwrap().most("a"), 0);
        assert_eq!(ConfigList::parse("a").unwrap().most("b"), 0);
        for wrong in ["", "a:", "a:x", ":3", "a,,b", "a:-1"] {
            assert_eq!(ConfigList::parse(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn files_of_hints() {
        let text =
            "# of the site\ncb_nodes 4\n\n  romio_cb_write\tenable  \nalone\ntoo many words\n#cb_nodes 2\n";
        let found: Vec<_> = hints_file(text).collect();
        assert_eq!(found, [("cb_nodes", "4"), ("romio_cb_write", "enable")]);
    }
}
