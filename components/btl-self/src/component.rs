//! Opening: always one module, since every process can talk to itself.

use crate::module::SelfModule;
use crate::params::Settings;
use crate::queue::{self, Queue};
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Component, Host, OpenError, Params, Status};

pub struct SelfComponent;

impl Component for SelfComponent {
    type Module = BtlModule;
    const NAME: &'static str = "self";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params);
        check(&host, &settings)?;
        let queues = (0..host.num_cris())
            .map(|_| Queue::new(settings.queue_size))
            .collect::<Option<Vec<Queue>>>()
            .ok_or_else(|| {
                OpenError::new(
                    Status::OUT_OF_MEMORY,
                    format!("no memory for a queue of {} bytes (btl_self_queue_size)", settings.queue_size),
                )
            })?;
        let module = oxmpi_btl::module(SelfModule::new(host, settings, queues));
        Ok((0, vec![module.get().get_vector_if(true).put().flush().atomics().sleep().hold().build()]))
    }
}

/// Refuses settings under which a message could never be sent, instead of waiting for ever later.
fn check(host: &Host, s: &Settings) -> Result<(), OpenError> {
    let refuse = |topic, args: &[&str], message: String| {
        host.help(topic, args);
        Err(OpenError::new(Status::BAD_PARAM, message))
    };
    let need = 2 * queue::footprint(s.max_send_size);
    if s.queue_size < need {
        return refuse(
            "queue-too-small",
            &[&s.queue_size.to_string(), &s.max_send_size.to_string(), &need.to_string()],
            format!("btl_self_queue_size is {}, but at least {need} bytes are needed", s.queue_size),
        );
    }
    for (name, value) in
        [("btl_self_eager_limit", s.eager_limit), ("btl_self_rndv_eager_limit", s.rndv_eager_limit)]
    {
        if value > s.max_send_size {
            return refuse(
                "limits-out-of-order",
                &[name, &value.to_string(), &s.max_send_size.to_string()],
                format!("{name} is {value}, more than btl_self_max_send_size, which is {}", s.max_send_size),
            );
        }
    }
    Ok(())
}
