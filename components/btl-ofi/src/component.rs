//! The component: whether it opens, by which domains, what it publishes, and what is told of that.

use crate::library::{Api, LIBRARY};
use crate::opening::{Opened, Opening};
use crate::params::{Settings, index};
use crate::provider::{Candidate, candidates, missing, rails};
use crate::rail::Rail;
use crate::sys::has_card;
use crate::wire::{Card, publish};
use oxmpi_btl::BtlModule;
use oxmpi_mca::{Answers, Component, Host, OpenError, Params, Process, Refused, Status};
use std::sync::Arc;

pub struct OfiComponent;

impl Component for OfiComponent {
    type Module = BtlModule;
    const NAME: &'static str = "ofi";

    fn open(host: Host, params: Params<'_>) -> Result<(i32, Vec<BtlModule>), OpenError> {
        let settings = Settings::of(params).map_err(|refused| {
            host.help("bad-value", &[&refused.why]);
            OpenError::new(refused.status, refused.why)
        })?;
        let job = host.job();
        let is_named = host.is_named() || !settings.include.is_empty();
        // Nobody to talk to; or nobody who is not nearer by shared memory or as near by TCP, and looking takes a while. A job that this one
        // starts or meets is reached by a provider where that is named.
        if !is_named && (job.local_size == job.job_size || !has_card()) {
            return Ok((0, Vec::new()));
        }
        let api = library(&host, &settings)?;
        let chosen = providers(&host, &api, &settings, is_named)?;
        let name = Rail::name_of(&host, job.rank)
            .ok_or_else(|| OpenError::new(Status::INTERNAL, "this process has no name"))?;
        let opened = open_rails(&host, &api, &settings, &chosen)?;
        let cards: Vec<&Card> = opened.iter().map(|one| &one.card).collect();
        let status = host.exchange_put(&publish(&cards));
        if status.is_err() {
            return Err(OpenError::new(status, "cannot publish the address"));
        }
        let rails = opened.len();
        let module = |one: Opened| one.module(host, api.clone(), settings.clone(), (name, rails));
        Ok((0, opened.into_iter().map(module).collect()))
    }

    fn resolve(process: &Process<'_>, params: Params<'_>, answers: &mut Answers<'_>) -> Result<(), Refused> {
        let settings = Settings::of(params)?;
        // As in `open`: looking takes a while.
        if process.job.local_size < process.job.job_size {
            let (value, because) = survey(&settings);
            answers.tell(index::PROVIDER_INCLUDE, value, because);
        } else {
            answers.as_set(
                index::PROVIDER_INCLUDE,
                "all processes are on this node, so no provider is looked at",
            );
        }
        for (index, because) in [
            (index::PROVIDER_EXCLUDE, "empty: no provider is left out"),
            (index::DOMAIN, "empty: one, the first that does not loop back"),
        ] {
            if params.text(index).is_empty() {
                answers.as_set(index, because);
            }
        }
        for (index, value) in
            [(index::EAGER_LIMIT, settings.eager_limit), (index::RNDV_EAGER_LIMIT, settings.rndv_eager_limit)]
        {
            if params.size(index) == 0 {
                let because = "0: a buffer of btl_ofi_max_send_size less the head of a message";
                answers.tell(index, oxmpi_mca::resolve::bytes(value as u64), because);
            }
        }
        for (index, because) in [
            (index::NUM_CONTEXTS, "0: as many as there are CRIs"),
            (index::EXCLUSIVITY, "0: by the network behind the provider"),
            (index::LATENCY, "0: by the network behind the provider"),
            (index::BANDWIDTH, "0: what the provider says of the card, else 1000"),
        ] {
            if params.int(index) == 0 {
                answers.as_set(index, because);
            }
        }
        Ok(())
    }
}

/// Opens the library. Where it is missing and was not asked for by name nobody hears of that.
fn library(host: &Host, settings: &Settings) -> Result<Arc<Api>, OpenError> {
    Api::load(&settings.library).map_err(|why| {
        let text = format!("the library {} cannot be used: {why}", settings.library);
        if host.is_named() || settings.library != LIBRARY {
            host.help("no-library", &[&settings.library, &why]);
        }
        match settings.library == LIBRARY {
            true => OpenError::not_available(text),
            false => OpenError::new(Status::NOT_FOUND, text),
        }
    })
}

/// Opens the rails. One that does not open is told, and the others are used.
fn open_rails(
    host: &Host,
    api: &Arc<Api>,
    settings: &Settings,
    chosen: &[(u16, Candidate)],
) -> Result<Vec<Opened>, OpenError> {
    let (mut opened, mut failed) = (Vec::new(), Vec::new());
    for (number, chosen) in chosen {
        match (Opening { host, api, settings, chosen, number: *number }).open() {
            Ok(one) => {
                host.info(&format!("provider {}, domain {}", chosen.provider, chosen.domain));
                opened.push(one);
            }
            Err(why) => failed.push((chosen, why)),
        }
    }
    let is_whole = opened.is_empty();
    for (chosen, why) in &failed {
        match is_whole {
            true => host.help("not-opened", &[&chosen.provider, &chosen.domain, why]),
            false => host.help("no-domain", &[&chosen.domain, why]),
        }
    }
    match failed.first().filter(|_| is_whole) {
        Some((chosen, why)) => {
            let text = format!("provider {}, domain {}: {why}", chosen.provider, chosen.domain);
            Err(OpenError::new(Status::NO_RESOURCE, text))
        }
        None => Ok(opened),
    }
}

/// Chooses the domains that are used, each with its number. There is at least one.
fn providers(
    host: &Host,
    api: &Arc<Api>,
    settings: &Settings,
    is_named: bool,
) -> Result<Vec<(u16, Candidate)>, OpenError> {
    let all = candidates(api, settings, is_named)
        .map_err(|code| OpenError::new(Status::INTERNAL, format!("listing providers: {}", api.text(code))))?;
    let chosen = rails(&all, settings);
    if chosen.is_empty() {
        let why = refusals(&all);
        if is_named {
            host.help("no-provider", &[&why]);
        }
        let text = format!("no provider of libfabric is used: {why}");
        return Err(match settings.include.is_empty() && settings.domains.is_empty() {
            true => OpenError::not_available(text),
            // Somebody has asked for one.
            false => OpenError::new(Status::NOT_FOUND, text),
        });
    }
    for name in missing(&all, &chosen, settings) {
        let why = format!("provider {} has none of that name here", all[chosen[0].1].provider);
        host.help("no-domain", &[name, &why]);
    }
    let number_of = |n: usize| chosen.iter().find(|(_, at)| *at == n).map(|(number, _)| *number);
    let all = all.into_iter().enumerate().filter_map(|(n, one)| Some((number_of(n)?, one)));
    let mut chosen: Vec<_> = all.collect();
    chosen.sort_by_key(|(number, _)| *number);
    if settings.scales {
        chosen.iter_mut().for_each(|(_, one)| one.names_contexts());
    }
    Ok(chosen)
}

/// Why none of the domains is used: each reason once, behind the domains that it holds for.
fn refusals(all: &[Candidate]) -> String {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for candidate in all {
        let why = candidate.against.as_deref().unwrap_or("not chosen");
        let at = reasons.iter().position(|(known, _)| *known == why).unwrap_or_else(|| {
            reasons.push((why, Vec::new()));
            reasons.len() - 1
        });
        let domain = format!("{} ({})", candidate.provider, candidate.domain);
        if !reasons[at].1.contains(&domain) {
            reasons[at].1.push(domain);
        }
    }
    if reasons.is_empty() {
        return "it has none with reliable messages in order".into();
    }
    let lines = reasons.iter().map(|(why, domains)| format!("{}: {why}", domains.join(", ")));
    lines.collect::<Vec<_>>().join("; ")
}

/// The provider that would be used where this component is named, and all there are, as parts of a sentence.
fn survey(settings: &Settings) -> (String, String) {
    let api = match Api::load(&settings.library) {
        Ok(api) => api,
        Err(why) => {
            return (String::new(), format!("the library {} cannot be used: {why}", settings.library));
        }
    };
    let release = api.release();
    let mut told = vec![format!("libfabric {}.{} ({})", release >> 16, release & 0xffff, settings.library)];
    let look = |is_named| candidates(&api, settings, is_named);
    let (all, named) = match (look(false), look(true)) {
        (Ok(all), Ok(named)) => (all, named),
        (Err(code), _) | (_, Err(code)) => {
            return (String::new(), format!("listing its providers fails: {}", api.text(code)));
        }
    };
    let positions = |all: &[Candidate]| rails(all, settings).iter().map(|(_, n)| *n).collect::<Vec<_>>();
    let (chosen, if_named) = (positions(&all), positions(&named));
    for (n, candidate) in all.iter().enumerate() {
        let has = match (candidate.rma, candidate.atomics) {
            (_, true) => "messages, remote memory, atomics",
            (true, _) => "messages, remote memory",
            _ => "messages",
        };
        let verdict = match (&candidate.against, chosen.contains(&n), if_named.contains(&n)) {
            (_, true, _) => "used".to_owned(),
            (Some(why), _, true) => format!("first choice where named, but {why}"),
            (Some(why), ..) => why.clone(),
            (None, ..) => "another one comes first".to_owned(),
        };
        let line = format!("{}, domain {} ({has}): {verdict}", candidate.provider, candidate.domain);
        // A domain comes once for each of its addresses.
        if !told.contains(&line) {
            told.push(line);
        }
    }
    if all.is_empty() {
        told.push("it has no provider with reliable messages in order".into());
    }
    let value = if_named.first().map_or(String::new(), |n| named[*n].provider.clone());
    (value, told.join("; "))
}
