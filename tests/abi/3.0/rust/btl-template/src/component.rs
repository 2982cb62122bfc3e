//! Opening: which devices are there, and how do peers find them.
//!
//! `open` runs once per runtime instance, and several instances may live in one process. So there is no
//! `static` in a component: everything it knows lies behind the modules that `open` returns.

use crate::device::{Context, TemplateModule};
use crate::links::Service;
use crate::params::Settings;
use crate::sys::Socket;
use crate::wire::Address;
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};

pub struct TemplateComponent;

impl Component for TemplateComponent {
    type Module = BtlModule;
    const NAME: &'static str = "template";

    /// One module per device; here there is one. The number in front is a priority, for frameworks in
    /// which one component wins; BTLs are ranked by exclusivity, so it is 0.
    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params);

        // Values that fit each other badly are refused here, with a paragraph of help.txt for the
        // operator, and never repaired in silence.
        settings.check().inspect_err(|_| {
            let (eager, max) = (settings.eager_limit.to_string(), settings.max_send_size.to_string());
            host.help("eager-limit-too-large", &[&eager, &max]);
        })?;

        // Nobody to send to: no module, which nobody hears of. (No device is `OpenError::not_available`, which is
        // silent, too, unless the user named this component.)
        if host.job().job_size < 2 {
            return Ok((0, Vec::new()));
        }

        // The resources that one flow of messages needs to communicate alone, once per communication resource
        // (CRI) of the host: here a socket, elsewhere queue pairs, a completion queue, a fragment pool. One more
        // is the service context's, whose requests are served though nobody here makes MPI calls.
        let mut sockets = (0..host.num_cris() + 1)
            .map(|_| Socket::bind(host.job().rank))
            .collect::<Result<Vec<Socket>, _>>()
            .map_err(|e| OpenError::new(Status::INTERNAL, format!("cannot make a socket: {e}")))?;
        let Some(service) = sockets.pop() else {
            return Err(OpenError::new(Status::INTERNAL, "there is no service socket"));
        };

        // Peers find us by what we publish now: the exchange runs when all components have been opened.
        let place = crate::sys::place()
            .map_err(|e| OpenError::new(Status::INTERNAL, format!("cannot find out where it is: {e}")))?;
        let names = sockets.iter().map(|s| s.name().to_vec()).collect();
        let address = Address { place, names, service: service.name().to_vec() };
        let status = host.exchange_put(&address.encode());
        if status.is_err() {
            return Err(OpenError::new(status, "cannot publish the address"));
        }

        // Abilities of the module beyond sending are added by name: `.get()`, `.put()`, `.atomics()`,
        // `.memory()`, `.sleep()`. Each needs the trait of that name; what is not added is not offered. One-sided
        // verbs that a device lacks the host carries out by requests, where there is `.service()`.
        let contexts: Vec<Context> = sockets.into_iter().map(|s| Context::new(s, &settings)).collect();
        let service = Service::new(service, &settings);
        let module = oxmpi_btl::module(TemplateModule { host, settings, place: address.place }, contexts)
            .sleep()
            .service(service)
            .service_sleep();
        Ok((0, vec![module.build()]))
    }

    /// Values that `mpi-info --explain` and tools show. A parameter that says 0 or `auto` gets its value here by the function
    /// that `open` uses, with the reason: `answers.tell(index, value, "0: ...")`. Here all are in force as they are set.
    /// Values that `open` refuses are refused here as well: the launcher asks before it starts a process.
    fn resolve(_: &Process<'_>, params: Params<'_>, _: &mut Answers<'_>) -> Result<(), Refused> {
        Settings::of(params).check()
    }
}
