//! The thread level of an instance, and the change from one thread to several ([`oxmpi_waiting::gate`]).

use crate::objects::Instance;
use oxmpi_loading::Level;
use oxmpi_mca::Status;
use oxmpi_system::membarrier::can_stop;
use std::sync::atomic::Ordering;

impl Instance {
    /// The provided thread level.
    pub fn level(&self) -> Level {
        Level::from_number(self.levels().level.load(Ordering::Acquire))
    }
    /// Raises the thread level to `level` if that is more, and returns the level that is then provided. The caller is
    /// not inside the gate; other threads that call this instance are.
    pub fn raise_level(&self, level: Level) -> Level {
        let _one_at_a_time = self.levels().raising.lock();
        let now = self.level();
        if level <= now {
            return now;
        }
        if level < Level::Multiple {
            self.levels().level.store(level as u32, Ordering::Release);
            return level;
        }
        // With a gate of the host's threads ask before they come.
        let guarded = !self.waiting().has_own_gate() && can_stop() && self.gate().guard();
        match guarded || self.begin_threads() {
            true => self.levels().level.store(Level::Multiple as u32, Ordering::Release),
            false => {
                self.levels().level.fetch_max(Level::Serialized as u32, Ordering::AcqRel);
            }
        }
        self.level()
    }

    /// Sets the flag `threaded` without changing the level, so that a completion tells whatever is attached to the
    /// request. The caller is not inside the gate; other threads that call this instance are. False: this kernel or the
    /// point-to-point layer cannot.
    pub fn act_threaded(&self) -> bool {
        let _one_at_a_time = self.levels().raising.lock();
        self.begin_threads()
    }

    /// Stops the gate, tells the components that several threads come, and sets the flag `threaded`. The caller holds
    /// `raising`. False: the gate cannot be stopped, or a component refuses.
    fn begin_threads(&self) -> bool {
        self.waiting().begin_threads(|| !self.tell_threads_begin().is_err())
    }

    /// Tells the components, the point-to-point layer last: where one of them refuses, that one has changed nothing.
    pub(crate) fn tell_threads_begin(&self) -> Status {
        for osc in self.osc_components() {
            let began = (osc.module.threads_begin)(osc.module.state);
            if began.is_err() {
                return began;
            }
        }
        self.pml().map_or(Status::OK, |pml| (pml.table.threads_begin)(pml.state))
    }
}
