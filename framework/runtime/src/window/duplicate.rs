//! A second window on the memory of one: the component makes it from its own module of the first, so registrations and what is attached are shared.
//! The memory stays until the last window on it goes.

use super::hints::Hints;
use super::select::adopt;
use super::services;
use crate::info::Info;
use crate::objects::{Window, WindowData};
use oxmpi_loading::error::Error;
use oxmpi_mca::{Entry, Status};
use std::sync::{Arc, OnceLock};

impl Window {
    /// Makes a window on the memory of this one, with what the info object says and else its hints; called by all its ranks. Both are
    /// windows like any other from then on.
    pub fn dup(&self, entry: &mut Entry, info: &Info) -> Result<Arc<Window>, Error> {
        let not_there = || Error::status(Status::NOT_SUPPORTED, "the window's component makes no duplicates");
        let verbs = self.verbs().ok_or_else(not_there)?;
        let first = &self.inner;
        let comm = first.comm.dup(None)?;
        let instance = comm.shared_instance().clone();
        let hints = Hints::of_duplicate(self.in_force(), info);
        let all = comm.tell_all(entry, &hints.words())?;
        let hints = Hints::agreed(all.chunks(Hints::WORDS));
        let inner = Box::new(WindowData {
            comm,
            memory: first.memory.clone(),
            flavor: first.flavor,
            own: first.own,
            first: first.first,
            seen: OnceLock::new(),
        });
        // SAFETY: of a window that is ours, which is dropped behind its module.
        let made = unsafe { verbs.dup(&inner.desc(&hints, services::services()), entry) };
        instance.renew(entry);
        let made = made.and_then(|made| adopt(verbs.component(), &made));
        let own = made.as_ref().err().copied().unwrap_or(Status::OK);
        if own == Status::PANICKED {
            instance.component_panicked("osc", verbs.component(), "duplicating a window");
        }
        let least = inner.comm.least(entry, own)?;
        match made {
            Ok(verbs) if !least.is_err() => Ok(Window::adopt(inner, Some(verbs), hints, &instance, entry)),
            Ok(verbs) => {
                let _ = verbs.free(entry, true);
                Err(Error::status(least, "the window cannot be duplicated"))
            }
            Err(_) if least == Status::NOT_SUPPORTED => Err(not_there()),
            Err(_) => Err(Error::status(least, "the window cannot be duplicated")),
        }
    }
}
