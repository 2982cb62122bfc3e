//! A model of what a message costs a network card's user: turns the events that a message takes, counted on the device in software, into a rate of the machine of
//! the paper on scalable endpoints.
//!
//! A thread pays for each of its events; what threads share (a lock, a line of memory that the card reads, the card, the bus) lets at most so many messages
//! through. The least of all is the rate. Costs and their sources stand in `bench/verbs/costs.toml`.

use std::collections::BTreeMap;

/// Events of a message, and objects, by the names that the programs of `bench/verbs` print.
pub type Counts = BTreeMap<String, f64>;

/// The model as a text that changes with it.
pub const COSTS: &str = include_str!("../../verbs/costs.toml");

/// Costs in nanoseconds, limits in messages or lines a second.
#[derive(Clone, Debug)]
pub struct CostModel {
    thread: BTreeMap<String, f64>,
    /// A line that another core wrote last.
    handover: f64,
    /// Reads of one line of memory by the card follow one another.
    line_read: f64,
    card: f64,
    bus: f64,
}

impl CostModel {
    /// The model of the file; none where a cost is missing in it.
    pub fn stated() -> Option<CostModel> {
        let costs: toml::Table = COSTS.parse().ok()?;
        let number = |value: &toml::Value| value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
        let cost = |group: &str, name: &str, unit: &str| number(costs.get(group)?.get(name)?.get(unit)?);
        let thread = costs.get("thread")?.as_table()?.keys();
        Some(CostModel {
            thread: thread
                .map(|name| Some((name.clone(), cost("thread", name, "ns")?)))
                .collect::<Option<_>>()?,
            handover: cost("shared", "handover", "ns")?,
            line_read: cost("card", "line_read", "ns")?,
            card: cost("card", "messages", "per_second")?,
            bus: cost("bus", "bytes", "per_second")? / cost("bus", "line", "bytes")?,
        })
    }

    /// Messages a second that the card takes at most.
    pub fn card(&self) -> f64 {
        self.card
    }

    /// Messages a second of `threads`, each with the events of `got`; where these have fewer queue pairs (`qps`) or completion queues (`cqs`), they share them.
    /// `None`: an event is not counted.
    pub fn rate(&self, got: &Counts, threads: f64) -> Option<f64> {
        let n = |name: &str| got.get(name).copied();
        let cost = |name: &str| self.thread.get(name).copied();
        let plain = n("doorbells")? - n("blue_flames")?;
        let posting = cost("request")? + n("blue_flames")? * cost("blue_flame")? + plain * cost("doorbell")?;
        let locks = (n("qp_locks")? + n("uuar_locks")? + n("cqe_writes")?) * cost("lock")?;
        let completing = n("cqe_writes")? * cost("completion")?;
        let pages = n("shared_pages")? * cost("shared_page")? + n("shared_doorbells")? * self.handover;
        let mut limits = vec![threads * 1e9 / (posting + locks + completing + pages), self.card];
        let (pairs, queues) = (n("qps")?, n("cqs")?);
        if pairs < threads {
            limits.push(pairs * 1e9 / (posting + n("qp_locks")? * self.handover));
        }
        if queues < threads && n("cqe_writes")? > 0.0 {
            limits.push(queues * 1e9 / (n("cqe_writes")? * (cost("completion")? + self.handover)));
        }
        let crossings = n("wqe_reads")? + n("payload_reads")? + n("cqe_writes")?;
        if crossings > 0.0 {
            limits.push(self.bus / crossings);
        }
        if n("payload_reads")? > 0.0 {
            limits.push(n("lines").unwrap_or(threads) * 1e9 / self.line_read / n("payload_reads")?);
        }
        limits.into_iter().reduce(f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(pairs: &[(&str, f64)]) -> Counts {
        let all = [
            "doorbells",
            "blue_flames",
            "shared_doorbells",
            "shared_pages",
            "wqe_reads",
            "payload_reads",
            "cqe_writes",
            "qp_locks",
            "uuar_locks",
        ];
        let zero = all.iter().map(|name| ((*name).to_owned(), 0.0));
        zero.chain(pairs.iter().map(|(name, n)| ((*name).to_owned(), *n))).collect()
    }

    #[test]
    fn costs_are_summed_and_what_is_shared_limits() {
        let model = CostModel::stated().expect("the file has every cost");
        let own = counts(&[("doorbells", 1.0), ("blue_flames", 1.0), ("qps", 1.0), ("cqs", 1.0)]);
        let alone = model.rate(&own, 1.0).expect("all is counted");
        assert!((alone - 1e9 / (28.0 + 94.0)).abs() < 1.0, "{alone}");
        // Sixteen on one pair: no faster than its posting.
        let shared = counts(&[
            ("doorbells", 1.0),
            ("blue_flames", 1.0),
            ("qp_locks", 1.0),
            ("qps", 1.0),
            ("cqs", 16.0),
        ]);
        let rate = model.rate(&shared, 16.0).expect("all is counted");
        assert!((rate - 1e9 / (28.0 + 94.0 + 70.0)).abs() < 1.0, "{rate}");
        let free = counts(&[("qps", 64.0), ("cqs", 64.0)]);
        assert_eq!(model.rate(&free, 64.0), Some(model.card()));
        // Reads of one line follow one another.
        let read = counts(&[("payload_reads", 1.0), ("lines", 1.0), ("qps", 16.0), ("cqs", 16.0)]);
        assert_eq!(model.rate(&read, 16.0), Some(1e9 / 25.0));
        assert_eq!(model.rate(&Counts::new(), 1.0), None);
    }
}
