//! Opening: always one module, since every process can talk to itself.

use crate::module::SelfModule;
use crate::params::{Settings, index};
use crate::queue::{self, Queue};
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};

pub struct SelfComponent;

impl Component for SelfComponent {
    type Module = BtlModule;
    const NAME: &'static str = "self";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params);
        check(&settings).map_err(|(refused, topic, args)| {
            host.help(topic, &args.iter().map(String::as_str).collect::<Vec<_>>());
            refused
        })?;
        let queues = (0..host.num_cris())
            .map(|_| Queue::new(settings.queue_size))
            .collect::<Option<Vec<Queue>>>()
            .ok_or_else(|| {
                OpenError::new(
                    Status::OUT_OF_MEMORY,
                    format!("no memory for a queue of {} bytes (btl_self_queue_size)", settings.queue_size),
                )
            })?;
        let module = oxmpi_btl::module(SelfModule::new(host, settings), queues);
        Ok((0, vec![module.get().get_vector_if(true).put().flush().atomics().sleep().hold().build()]))
    }

    /// All values are in force as they are set.
    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let settings = Settings::of(params);
        if settings.latency == 0 {
            answers.as_set(index::LATENCY, "0: no transport is ranked before this one by its latency");
        }
        check(&settings).map_err(|(refused, ..)| refused)
    }
}

/// Refuses settings under which a message could never be sent, instead of waiting for ever later; with the paragraph of
/// `help.txt` that says so.
fn check(s: &Settings) -> Result<(), (Refused, &'static str, Vec<String>)> {
    let need = 2 * queue::footprint(s.max_send_size);
    if s.queue_size < need {
        let why = format!("btl_self_queue_size is {}, but at least {need} bytes are needed", s.queue_size);
        let args = [s.queue_size, s.max_send_size, need].map(|n| n.to_string());
        return Err((Refused::bad(index::QUEUE_SIZE, why), "queue-too-small", args.into()));
    }
    for (param, name, value) in [
        (index::EAGER_LIMIT, "btl_self_eager_limit", s.eager_limit),
        (index::RNDV_EAGER_LIMIT, "btl_self_rndv_eager_limit", s.rndv_eager_limit),
    ] {
        if value > s.max_send_size {
            let why =
                format!("{name} is {value}, more than btl_self_max_send_size, which is {}", s.max_send_size);
            let args = vec![name.to_owned(), value.to_string(), s.max_send_size.to_string()];
            return Err((Refused::bad(param, why), "limits-out-of-order", args));
        }
    }
    Ok(())
}
