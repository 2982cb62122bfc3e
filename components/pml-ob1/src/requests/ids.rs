//! Ids by which peers quote requests: slot and generation of a table, of which each CRI has one.

use crate::requests::request::Request;

/// Slots behind the request ids that peers quote: slot and generation, never a pointer.
#[derive(Default)]
pub struct IdTable {
    slots: Vec<IdSlot>,
    free: Vec<u32>,
}

/// A slot of the table of request ids: its generation, and the request that has the id.
pub struct IdSlot {
    generation: u32,
    req: Option<&'static Request>,
}

impl IdTable {
    /// Gives a request an id, never 0, which peers may quote.
    pub fn insert(&mut self, req: &'static Request) -> u64 {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(IdSlot { generation: 1, req: None });
            self.slots.len() as u32 - 1
        });
        let s = &mut self.slots[slot as usize];
        s.req = Some(req);
        (s.generation as u64) << 32 | slot as u64
    }
    /// Finds the request with an id. `None`: there is no such request, whatever a peer says.
    pub fn get(&self, id: u64) -> Option<&'static Request> {
        let s = self.slots.get(id as u32 as usize)?;
        if s.generation == (id >> 32) as u32 { s.req } else { None }
    }
    /// Frees an id; a peer that quotes it later finds no request.
    pub fn remove(&mut self, id: u64) {
        if self.get(id).is_some() {
            let s = &mut self.slots[id as u32 as usize];
            s.req = None;
            s.generation = s.generation.wrapping_add(1).max(1);
            self.free.push(id as u32);
        }
    }
    /// Lists the requests with ids, those in a rendezvous, of which `is_it` says yes.
    pub fn those(&self, is_it: impl Fn(&Request) -> bool) -> Vec<&'static Request> {
        self.slots.iter().filter_map(|s| s.req).filter(|req| is_it(req)).collect()
    }
}
