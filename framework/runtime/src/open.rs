//! Opening the chosen components, and closing them.

use crate::objects::{ComponentCtx, Contexts, FileParts, Instance, Parts};
use crate::reached::Transports;
use oxmpi_btl::BtlHandle;
use oxmpi_loading::accept::accepted::{CollComponent, Framework, OscComponent, Pml};
use oxmpi_loading::accept::{FbtlComponent, FcollComponent, FsComponent};
use oxmpi_loading::accept::{
    accept_btl, accept_coll, accept_fbtl, accept_fcoll, accept_fs, accept_osc, accept_pml,
};
use oxmpi_loading::error::{Error, ErrorKind};
use oxmpi_loading::log::Logger;
use oxmpi_loading::select::Chosen;
use oxmpi_loading::values::Values;
use oxmpi_mca::abi::{OpenArgs, Opened};
use oxmpi_mca::{SliceRef, Status};
use std::sync::atomic::Ordering;

/// While opening: everything that must be closed again if the start fails.
#[derive(Default)]
struct Opening {
    contexts: Contexts,
    btls: Vec<BtlHandle>,
    /// Addresses of the states of modules whose component somebody named.
    named: Vec<usize>,
    pml: Option<(i32, Pml)>,
    colls: Vec<CollComponent>,
    oscs: Vec<OscComponent>,
    fss: Vec<FsComponent>,
    fbtls: Vec<FbtlComponent>,
    fcolls: Vec<FcollComponent>,
}

impl Parts {
    /// Opens the chosen components and keeps the best PML; the BTLs are sorted, best first. An error if a component
    /// that somebody named cannot be used, or no PML can; then all that was opened is closed again.
    pub fn open(instance: &Instance, components: Vec<(Chosen, Values)>) -> Result<Parts, Error> {
        let mut opening = Opening::default();
        let logger = instance.logger();
        let opened = opening.open_all(instance, components);
        let needless = match instance.facts().map.nodes() {
            1 => opening.needless(instance.facts().size),
            _ => Vec::new(),
        };
        let Opening { contexts, mut btls, pml, colls, oscs, .. } = opening;
        let missing = || {
            Err(Error::new(
                ErrorKind::Other,
                "no pml component can be used: is the library's directory of components complete?",
            ))
        };
        match (opened, pml) {
            (Ok(()), Some((_, pml))) => {
                // Among equals the order of opening stays.
                btls.sort_by_key(|b| (std::cmp::Reverse(b.attrs().exclusivity), b.attrs().latency));
                for (index, btl) in (0..).zip(&mut btls) {
                    btl.index = index;
                }
                let is_needless = |btl: &BtlHandle| needless.contains(&(btl.state as usize));
                for b in btls.iter().filter(|b| is_needless(b)) {
                    logger.info("btl", &format!("{} is not needed in a job of one node", b.name()));
                }
                let dormant = (0..btls.len()).filter(|&at| is_needless(&btls[at])).collect();
                Ok(Parts { contexts, btls, dormant, pml, colls, oscs })
            }
            (opened, pml) => {
                close_users(logger, pml.map(|(_, pml)| pml).as_ref(), &colls, &oscs);
                close_btls(logger, &btls);
                opened.and_then(|()| missing())
            }
        }
    }

    /// Finalizes all components, users of transports first; the libraries stay loaded. Nothing is called afterwards.
    pub fn close(&self, logger: &Logger, transports: &Transports) {
        close_users(logger, Some(&self.pml), &self.colls, &self.oscs);
        transports.close();
        close_btls(logger, &self.btls);
    }
}

impl FileParts {
    /// Opens the chosen components of the frameworks of files. An error if one that somebody named cannot be used; then all that was opened is closed
    /// again.
    pub fn open(instance: &Instance, components: Vec<(Chosen, Values)>) -> Result<FileParts, Error> {
        let of_fs = |(chosen, _): &&(Chosen, Values)| chosen.component.framework == Framework::Fs;
        let fs_is_named = components.iter().filter(of_fs).count() == 1
            && components.iter().find(of_fs).is_some_and(|(chosen, _)| chosen.named_by.is_some());
        let mut opening = Opening::default();
        let opened = opening.open_all(instance, components);
        let Opening { contexts, fss, fbtls, fcolls, .. } = opening;
        let parts = FileParts { contexts, fss, fs_is_named, fbtls, fcolls };
        match opened {
            Ok(()) => Ok(parts),
            Err(why) => {
                parts.end_components();
                // Components may have kept the addresses.
                std::mem::forget(parts);
                Err(why)
            }
        }
    }

    /// Finalizes all components; no file is open. Nothing of them is called afterwards.
    pub fn end_components(&self) {
        for c in &self.fcolls {
            (c.module.finalize)(c.module.state);
        }
        for c in &self.fbtls {
            (c.module.finalize)(c.module.state);
        }
        for c in &self.fss {
            (c.module.finalize)(c.module.state);
        }
    }
}

/// Finalizes the one-sided and collective components and then the PML, which use transports.
fn close_users(logger: &Logger, pml: Option<&Pml>, colls: &[CollComponent], oscs: &[OscComponent]) {
    for c in oscs {
        complain(logger, Framework::Osc, c.name, (c.module.finalize)(c.module.state));
    }
    for c in colls {
        (c.module.finalize)(c.module.state);
    }
    if let Some(pml) = pml {
        complain(logger, Framework::Pml, "the point-to-point layer", (pml.table.finalize)(pml.state));
    }
}

/// Finalizes BTL modules.
fn close_btls(logger: &Logger, btls: &[BtlHandle]) {
    for b in btls {
        // SAFETY: the last call; its endpoints have been given back.
        complain(logger, Framework::Btl, b.name(), unsafe { (b.finalize)(b.state) });
    }
}

/// Logs a warning if a component's `finalize` has failed.
fn complain(logger: &Logger, framework: Framework, name: &str, status: Status) {
    if status.is_err() {
        logger.warn(framework.name(), &format!("{name}: does not close: {status}"));
    }
}

impl Opening {
    /// Opens components in order and keeps their modules and contexts here, until one that somebody named cannot be
    /// used.
    fn open_all(&mut self, instance: &Instance, components: Vec<(Chosen, Values)>) -> Result<(), Error> {
        for (chosen, values) in components {
            let ctx = ComponentCtx::new(instance, &chosen.component, values);
            let answer = self.open_one(instance.logger(), &chosen, &ctx);
            if answer.is_ok() {
                let what = format!("{} is open ({})", chosen.component.name, ctx.place);
                instance.logger().info(ctx.framework.name(), &what);
            }
            // Kept in any case: a component that failed may have kept the address.
            self.contexts.push(ctx);
            if let Err(reason) = answer {
                self.refused(instance, &chosen, reason)?;
            }
        }
        Ok(())
    }

    /// Logs that a component is not used, or returns an error if somebody named it. One that opens and has no module,
    /// because there is nobody whom it would reach (alone on its node, alone in the job), may be named everywhere; so may a transport that is not
    /// available to an only process, which has no use for it before it meets another job.
    fn refused(&mut self, instance: &Instance, chosen: &Chosen, reason: UnusedReason) -> Result<(), Error> {
        let logger = instance.logger();
        let is_idle_transport = chosen.component.framework == Framework::Btl && instance.facts().size == 1;
        if reason.harmless || reason.silent && is_idle_transport {
            logger.info(
                chosen.component.framework.name(),
                &format!("{}: {}", chosen.component.name, reason.sentence),
            );
            return Ok(());
        }
        if let Some(by) = &chosen.named_by {
            let message = format!("component {by} cannot be used: {}", reason.sentence);
            return Err(Error::new(ErrorKind::Other, message));
        }
        if !reason.silent {
            let line = format!("{}: {}", chosen.component.name, reason.sentence);
            logger.warn(chosen.component.framework.name(), &line);
        }
        Ok(())
    }

    /// In a job of one node, which has `size` processes: the transports that nobody named but the best between processes and `self`, by
    /// their states. The best reaches all processes, so the others would be polled for nothing (a network: by a system call) before a process of
    /// another job comes; an only process needs none but `self` before that.
    fn needless(&self, size: u32) -> Vec<usize> {
        let between = self.btls.iter().filter(|b| b.name() != "self");
        let best = between.map(|b| b.attrs().exclusivity).max().unwrap_or(0);
        let needed = |b: &&BtlHandle| {
            size > 1 && b.attrs().exclusivity >= best
                || self.named.contains(&(b.state as usize))
                || b.name() == "self"
        };
        self.btls.iter().filter(|b| !needed(b)).map(|b| b.state as usize).collect()
    }

    /// Calls a component's `open`, checks the modules that it gives and adds them. Of several PMLs the one of the
    /// highest priority stays, and the other is finalized.
    fn open_one(&mut self, logger: &Logger, chosen: &Chosen, ctx: &ComponentCtx) -> Result<(), UnusedReason> {
        let (opened, place) = (call_open(chosen, ctx)?, ctx.place.as_str());
        ctx.modules.store(opened.modules.cast_mut(), Ordering::Relaxed);
        match ctx.framework {
            Framework::Btl => {
                // SAFETY: the component filled `opened`; its pointers are its own.
                let modules =
                    unsafe { accept_btl(&opened, ctx.name, place) }.map_err(UnusedReason::refusal)?;
                if modules.is_empty() {
                    return Err(UnusedReason { harmless: true, ..UnusedReason::nothing() });
                }
                if chosen.named_by.is_some() {
                    self.named.extend(modules.iter().map(|b| b.state as usize));
                }
                self.btls.extend(modules);
            }
            Framework::Pml => {
                // SAFETY: the component filled `opened` with a PML's pointers, which are its own.
                let pml = unsafe { accept_pml(&opened, place) }.map_err(UnusedReason::refusal)?;
                let pml = pml.ok_or_else(UnusedReason::nothing)?;
                // The first of equals stays.
                let wins = self.pml.as_ref().is_none_or(|(best, _)| opened.priority > *best);
                let loser = if wins {
                    self.pml.replace((opened.priority, pml)).map(|(_, old)| old)
                } else {
                    Some(pml)
                };
                if let Some(loser) = loser {
                    complain(
                        logger,
                        Framework::Pml,
                        "an unused component",
                        (loser.table.finalize)(loser.state),
                    );
                }
            }
            Framework::Coll => {
                // SAFETY: the component filled `opened` with a collective component's pointers, which are its own.
                let module = unsafe { accept_coll(&opened, place) }.map_err(UnusedReason::refusal)?;
                let module = module.ok_or_else(UnusedReason::nothing)?;
                self.colls.push(CollComponent { name: ctx.name, module });
            }
            Framework::Osc => {
                // SAFETY: the component filled `opened` with a one-sided component's pointers, which are its own.
                let module = unsafe { accept_osc(&opened, place) }.map_err(UnusedReason::refusal)?;
                let module = module.ok_or_else(UnusedReason::nothing)?;
                self.oscs.push(OscComponent { name: ctx.name, module });
            }
            Framework::Fs => {
                // SAFETY: the component filled `opened` with a file system component's pointers, which are its own.
                let component =
                    unsafe { accept_fs(&opened, ctx.name, place) }.map_err(UnusedReason::refusal)?;
                self.fss.push(component.ok_or_else(UnusedReason::nothing)?);
            }
            Framework::Fbtl => {
                // SAFETY: as above, with the pointers of a component that transfers.
                let component =
                    unsafe { accept_fbtl(&opened, ctx.name, place) }.map_err(UnusedReason::refusal)?;
                self.fbtls.push(component.ok_or_else(UnusedReason::nothing)?);
            }
            Framework::Fcoll => {
                // SAFETY: as above, with the pointers of a component that plans.
                let component =
                    unsafe { accept_fcoll(&opened, ctx.name, place) }.map_err(UnusedReason::refusal)?;
                self.fcolls.push(component.ok_or_else(UnusedReason::nothing)?);
            }
        }
        Ok(())
    }
}

/// Why a component is not used.
struct UnusedReason {
    sentence: String,
    /// Normal: not worth a line.
    silent: bool,
    /// It can be done without, even where it was named.
    harmless: bool,
}

impl UnusedReason {
    /// The reason of a component whose modules are refused.
    fn refusal(refusal: oxmpi_loading::accept::Refusal) -> UnusedReason {
        UnusedReason { sentence: refusal.to_string(), silent: false, harmless: false }
    }
    /// The reason of a component that opens without a module.
    fn nothing() -> UnusedReason {
        UnusedReason { sentence: "it has nothing to offer here".into(), silent: true, harmless: false }
    }
}

/// Calls a component's `open` with its host table and values. `Err`: its status and its last words.
fn call_open(chosen: &Chosen, ctx: &ComponentCtx) -> Result<Opened, UnusedReason> {
    let values = &ctx.values.values;
    let args = OpenArgs {
        size: size_of::<OpenArgs>() as u32,
        reserved: 0,
        host: &ctx.table,
        values: SliceRef { ptr: values.as_ptr(), len: values.len() },
        flags: if chosen.named_by.is_some() { OpenArgs::NAMED } else { 0 },
    };
    let mut opened = Opened {
        size: size_of::<Opened>() as u32,
        priority: 0,
        modules: std::ptr::null(),
        count: 0,
        stride: 0,
    };
    let status = (chosen.component.open)(&args, &mut opened);
    if !status.is_err() {
        return Ok(opened);
    }
    let said = ctx.last_words();
    let sentence = if said.is_empty() { status.to_string() } else { format!("{said} ({status})") };
    Err(UnusedReason { sentence, silent: status == Status::NOT_AVAILABLE, harmless: false })
}
