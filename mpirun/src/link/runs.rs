//! Places and processes of a node's ranks in runs: neighbours mostly differ by the same step, so a node's part of a job takes a few bytes whatever
//! the number of its ranks.

use super::fields::put_list;
use super::place::Place;
use oxmpi_wireup::frame::{Builder, Fields, Malformed};
use oxmpi_wireup::runs;

/// More ranks than a node has: what a peer's numbers may make this end keep.
const MOST: usize = 1 << 20;

/// The step from a place to the next: of each of its processors. None: there is no one step.
fn step(from: &Place, to: &Place) -> Option<u32> {
    if from.program != to.program || from.processors.len() != to.processors.len() {
        return None;
    }
    let mut steps = from.processors.iter().zip(&to.processors).map(|(a, b)| b.checked_sub(*a));
    let first = steps.next().unwrap_or(Some(0))?;
    steps.all(|other| other == Some(first)).then_some(first)
}

/// Appends the places of a node's ranks.
pub(super) fn put_places(b: Builder, places: &[Place]) -> Builder {
    let mut runs: Vec<(&Place, u32, u32)> = Vec::new();
    for (at, next) in places.iter().enumerate() {
        let last = at.checked_sub(1).and_then(|before| step(&places[before], next));
        match (runs.last_mut(), last) {
            (Some((_, count, by)), Some(step)) if *count == 1 || *by == step => {
                (*count, *by) = (*count + 1, step)
            }
            _ => runs.push((next, 1, 0)),
        }
    }
    put_list(b, &runs, |b, (place, count, by)| {
        put_list(b.u32(*count).u32(*by).u32(place.program), &place.processors, |b, cpu| b.u32(*cpu))
    })
}

/// Reads the places of a node's ranks.
pub(super) fn take_places(f: &mut Fields<'_>) -> Result<Vec<Place>, Malformed> {
    let mut places = Vec::new();
    // A bound on what is kept: processors, and places without any.
    let mut kept = 0;
    f.list("places", 16, |f| {
        let (count, step, program) = (f.u32("count")?, f.u32("step")?, f.u32("program of a place")?);
        let first = f.list("processors", 4, |f| f.u32("processor"))?;
        kept += (count as usize).saturating_mul(first.len() + 1);
        if kept > MOST {
            return Err(Malformed::Value { field: "places", value: kept as u64 });
        }
        for n in 0..count {
            let by = n.checked_mul(step);
            let processor = |cpu: &u32| by.and_then(|by| cpu.checked_add(by));
            let processors: Option<Vec<u32>> = first.iter().map(processor).collect();
            let value = u64::from(n) * u64::from(step);
            let processors = processors.ok_or(Malformed::Value { field: "processor", value })?;
            places.push(Place { program, processors });
        }
        Ok(())
    })?;
    Ok(places)
}

/// Appends ranks, ascending, and their processes.
pub(super) fn put_started(b: Builder, all: &[(u32, u32)]) -> Builder {
    let ranks: Vec<u32> = all.iter().map(|(rank, _)| *rank).collect();
    put_list(runs::put(b, &ranks), all, |b, (_, pid)| b.u32(*pid))
}

/// Reads ranks and their processes.
pub(super) fn take_started(f: &mut Fields<'_>) -> Result<Vec<(u32, u32)>, Malformed> {
    let ranks = runs::take(f, "ranks", MOST)?;
    let pids = f.list("processes", 4, |f| f.u32("pid"))?;
    match pids.len() == ranks.len() {
        true => Ok(ranks.into_iter().zip(pids).collect()),
        false => Err(Malformed::Value { field: "processes", value: pids.len() as u64 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oxmpi_wireup::frame::HEADER;
    use proptest::prelude::*;

    fn bytes(b: Builder) -> Vec<u8> {
        b.finish().expect("short")[HEADER..].to_vec()
    }

    fn place(program: u32, processors: &[u32]) -> Place {
        Place { program, processors: processors.to_vec() }
    }

    #[test]
    fn regular_nodes_take_few_bytes() {
        let bound: Vec<Place> = (0..64).map(|core| place(0, &[core, core + 64])).collect();
        assert_eq!(bytes(put_places(Builder::new(1), &bound)).len(), 4 + 16 + 8);
        let started: Vec<(u32, u32)> = (0..64).map(|n| (640 + n, 7000 + 3 * n)).collect();
        assert_eq!(bytes(put_started(Builder::new(1), &started)).len(), 4 + 12 + 4 + 64 * 4);
        let dealt: Vec<(u32, u32)> = (0..64).map(|n| (3 + 100 * n, 7)).collect();
        assert_eq!(bytes(put_started(Builder::new(1), &dealt)).len(), 4 + 12 + 4 + 64 * 4);
    }

    #[test]
    fn numbers_of_a_peer_are_bounded() {
        let put = |count: u32, step: u32, processors: &[u32]| {
            let b = Builder::new(1).count(1).u32(count).u32(step).u32(0);
            bytes(put_list(b, processors, |b, cpu| b.u32(*cpu)))
        };
        assert!(take_places(&mut Fields::new(&put(u32::MAX, 0, &[]))).is_err());
        assert!(take_places(&mut Fields::new(&put(3, u32::MAX, &[1]))).is_err());
        assert!(take_places(&mut Fields::new(&put(2, 1, &[u32::MAX]))).is_err());
        assert_eq!(take_places(&mut Fields::new(&put(2, 1, &[4]))), Ok(vec![place(0, &[4]), place(0, &[5])]));
        let ranks = bytes(runs::put(Builder::new(1), &[1, 2]).count(1).u32(7));
        assert!(take_started(&mut Fields::new(&ranks)).is_err());
    }

    proptest! {
        #[test]
        fn any_places_and_processes_survive(
            places in prop::collection::vec((0u32..3, prop::collection::vec(0u32..9, 0..3)), 0..40),
            started in prop::collection::vec((0u32..50, any::<u32>()), 0..40),
        ) {
            let places: Vec<Place> = places.iter().map(|(program, all)| place(*program, all)).collect();
            let there = bytes(put_places(Builder::new(1), &places));
            prop_assert_eq!(take_places(&mut Fields::new(&there)), Ok(places));
            let there = bytes(put_started(Builder::new(1), &started));
            prop_assert_eq!(take_started(&mut Fields::new(&there)), Ok(started));
        }
    }
}
