//! Opening, and the module of an instance, which makes windows.

use crate::params::{AGGREGATION, PRIORITY, Settings};
use crate::state::Common;
use crate::window::Pt2ptWindow;
use core::sync::atomic::AtomicU32;
use oxmpi_mca::{Answers, Component, Entry, Host, OpenError, Params, Process, Refused, Status};
use oxmpi_osc::{Osc, OscModule, Vouched, WinDesc};
use oxmpi_osc_support::RequestPool;
use std::sync::{Arc, Mutex};

pub struct Pt2ptComponent;

/// The reason for which a window is served, and how its ranks are reached (counted by `Osc::paths`).
const WAY: &str = "a window is served by the component of the highest priority that reaches all its ranks; this one reaches each by messages, over any transport, or by requests that the transport's service links carry to it, \
                   which osc_win_ranks_by_messages and osc_win_ranks_by_requests of MPI_T count for a window";

impl Component for Pt2ptComponent {
    type Module = OscModule;
    const NAME: &'static str = "pt2pt";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<OscModule>), OpenError> {
        let settings = Settings::of(params);
        let common = Common {
            host,
            settings,
            // SAFETY: `Common` goes with the last of the component's state and its windows, each of which has a share of it; who has requests is a window.
            pool: unsafe { RequestPool::new(host) },
            windows: Mutex::default(),
            known: AtomicU32::new(0),
        };
        Ok((settings.priority, vec![oxmpi_osc::module(host, Pt2pt(Arc::new(common)))]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        answers.as_set(PRIORITY, WAY);
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

struct Pt2pt(Arc<Common>);

impl Osc for Pt2pt {
    type Window = Pt2ptWindow;

    fn query(&self, _: Vouched<'_, WinDesc>) -> Option<i32> {
        Some(self.0.settings.priority)
    }

    fn create(&self, entry: &mut Entry, desc: Vouched<'_, WinDesc>) -> Result<Box<Pt2ptWindow>, Status> {
        Pt2ptWindow::create(&self.0, entry, desc).map(Box::new)
    }
}
