//! A proxy's part in agreements on new communicators: which creation it is reserved for, and when it makes one.

use crate::abi::*;
use crate::agreement::{Creation, Phase, Step};
use crate::protocol::record::{Record, op};
use crate::state::Server;

impl Server {
    /// A command that makes a communicator: it waits until all members agree.
    pub fn agree(&mut self, index: u32, record: &mut Record) {
        let listed = matches!(record.op, op::COMM_CREATE_GROUP | op::ENDPOINTS);
        let members = if listed { self.ints(record, 0, record.args[0]) } else { Vec::new() };
        let Some(scope) = self.creations.scope(record, &members) else {
            // Wrong arguments, which the function names.
            return self.carry_out(index, record, 0);
        };
        let creations = &mut self.creations;
        creations.clock += 1;
        let proposal = creations.clock * creations.world_ranks.len() as i64 + creations.rank;
        let mut creation = Creation {
            record: index,
            scope,
            phase: Phase::Order,
            key: 0,
            mine: Box::new([0; 2]),
            came: Box::new([0; 2]),
            requests: [REQUEST_NULL; 2],
            step: 0,
        };
        creation.begin(Phase::Order, proposal);
        creations.list.push(creation);
        self.turn_creations();
    }

    /// Lets every creation go on as far as it can. Says whether one did.
    pub fn turn_creations(&mut self) -> bool {
        let mut moved = false;
        let mut at = 0;
        while at < self.creations.list.len() {
            let (proxies, limit) = (self.creations.proxies, self.creations.tag_limit);
            // SAFETY: the record is pending, so it is the proxy's.
            let record = unsafe { &mut *self.record(self.creations.list[at].record) };
            let creation = &mut self.creations.list[at];
            let index = creation.record;
            if creation.phase == Phase::Ready {
                self.try_one(at);
                continue;
            }
            let result = creation.go_on(proxies, limit);
            moved |= !matches!(result, Ok(Step::Waits));
            match result {
                Ok(Step::Done(result)) if self.agreed(at, result) => {
                    let key = self.creations.list.swap_remove(at).key;
                    self.carry_out(index, record, key);
                    self.creations.reserved = None;
                }
                // Even a round that ended: the others' creations and the commands come first.
                Ok(_) => at += 1,
                Err(class) => {
                    self.creations.list.swap_remove(at);
                    if self.creations.reserved == Some(index) {
                        self.creations.reserved = None;
                    }
                    self.complete(index, class);
                }
            }
        }
        moved
    }

    /// A round's result is there. Says whether the communicator may be made now.
    fn agreed(&mut self, at: usize, result: i64) -> bool {
        let creations = &mut self.creations;
        let proxies = creations.world_ranks.len() as i64;
        let creation = &mut creations.list[at];
        if creation.phase == Phase::Order {
            creation.key = result;
            creations.clock = creations.clock.max(result / proxies);
        } else if result == 1 {
            return true;
        } else if creations.reserved == Some(creation.record) {
            creations.reserved = None;
        }
        creation.phase = Phase::Ready;
        false
    }

    /// Begins a try: with a yes for the creation with the smallest key, if this proxy is free.
    fn try_one(&mut self, at: usize) {
        let creations = &mut self.creations;
        let known = creations.list.iter().filter(|c| c.phase != Phase::Order);
        let first = known.min_by_key(|c| c.key).map(|c| c.record);
        let creation = &mut creations.list[at];
        let yes = creations.reserved.is_none() && first == Some(creation.record);
        if yes {
            creations.reserved = Some(creation.record);
        }
        creation.begin(Phase::Try, yes.into());
    }
}
