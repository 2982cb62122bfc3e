//! Opening: publish who we are, make the module.

use crate::communicators::inbound::Assignment;
use crate::ob1::Ob1;
use crate::params::{Config, tell};
use crate::state::instance::Instance;
use crate::wire::{self, Card};
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused};
use oxmpi_pml::{PmlModule, operations};

/// The component, for the macro in `lib.rs`.
pub struct Ob1Component;

impl Component for Ob1Component {
    type Module = PmlModule;
    const NAME: &'static str = "pml_ob1";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<PmlModule>), OpenError> {
        let config = Config::read(&params)?;
        let job = host.job();
        let numbers = Instance::assignment_of(&host) != Assignment::Stream;
        let card = Card {
            version: wire::VERSION,
            contexts: host.num_cris() as u16,
            node: job.node,
            local_rank: job.local_rank,
            eager_credit: config.eager_credit,
            flags: Card::COUNTS | if numbers { Card::NUMBERS } else { 0 },
        };
        let status = host.exchange_put(&card.encode());
        if status.is_err() {
            let why = format!("the address exchange does not take our card: {status}");
            return Err(OpenError::new(status, why));
        }
        Ok((config.priority, vec![oxmpi_pml::module(host, Ob1::new(host, config, operations::<Ob1>()))]))
    }

    fn resolve(_: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        tell(params, answers)
    }
}
