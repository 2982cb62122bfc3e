//! Opening, and the progress function that serves all windows of an instance.
//!
//! The function is registered while there are windows, since waits sleep less long where the host has to call one.
//! Nothing of ours is locked while the host is called to register it, and the function itself takes locks only if they are
//! free: it runs inside of other calls, those on windows included.

use crate::params::{AGGREGATION, Settings};
use crate::request::Pool;
use crate::state::Core;
use crate::window::Pt2ptWindow;
use core::ffi::c_void;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status, ThreadCtx};
use oxmpi_osc::{Osc, OscModule, WinDesc};
use std::sync::{Arc, Mutex, PoisonError};

pub struct Pt2ptComponent;

impl Component for Pt2ptComponent {
    type Module = OscModule;
    const NAME: &'static str = "pt2pt";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<OscModule>), OpenError> {
        let settings = Settings::of(params);
        let common = Common {
            host,
            settings,
            pool: Pool::new(host),
            windows: Mutex::default(),
            known: Mutex::default(),
        };
        Ok((settings.priority, vec![oxmpi_osc::module(Pt2pt(Arc::new(common)))]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let settings = Settings::of(params);
        let batch = settings.batch(settings.message);
        if settings.aggregation == 0 {
            answers.as_set(AGGREGATION, "0: each operation is sent at once");
        } else if batch < settings.aggregation {
            answers.tell(AGGREGATION, batch, "not more than osc_pt2pt_message_size, which they are sent in");
        }
        Ok(())
    }
}

/// State that all windows of an instance share.
pub struct Common {
    pub host: Host,
    pub settings: Settings,
    pub pool: Pool,
    /// Those that are served.
    windows: Mutex<Vec<Arc<Core>>>,
    /// How many there are for the host, which calls [`progress`] while there are any.
    known: Mutex<usize>,
}

impl Common {
    fn context(&self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }

    /// From now on progress serves the window.
    pub fn enlist(&self, window: Arc<Core>) -> Status {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if *known == 0 {
            let status = self.host.progress_register(progress, self.context(), true);
            if status.is_err() {
                return status;
            }
        }
        *known += 1;
        self.windows.lock().unwrap_or_else(PoisonError::into_inner).push(window);
        Status::OK
    }

    /// The window is served no more.
    pub fn strike(&self, window: &Arc<Core>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = {
            let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
            let at = windows.iter().position(|w| Arc::ptr_eq(w, window));
            at.map(|at| windows.swap_remove(at))
        };
        if gone.is_none() {
            return;
        }
        *known -= 1;
        if *known == 0 {
            self.host.progress_unregister(progress, self.context());
        }
    }
}

extern "C" fn progress(ctx: *mut c_void, thread: *mut ThreadCtx) -> i32 {
    // SAFETY: registered with the component's state, which lives until it is finalized, without windows.
    let common = unsafe { &*ctx.cast::<Common>() };
    let Ok(windows) = common.windows.try_lock() else { return 0 };
    windows.iter().map(|window| window.poll(thread)).sum()
}

struct Pt2pt(Arc<Common>);

impl Osc for Pt2pt {
    type Window = Pt2ptWindow;

    fn query(&self, _desc: &WinDesc) -> Option<i32> {
        Some(self.0.settings.priority)
    }

    fn create(&self, desc: &WinDesc, thread: *mut ThreadCtx) -> Result<Box<Pt2ptWindow>, Status> {
        Pt2ptWindow::create(&self.0, desc, thread).map(Box::new)
    }
}
