//! Functions of sessions and of their process sets, and those that make communicators of groups.

use super::object::{SessionObject, TABLE, WORLD, get, require};
use crate::call::memory::{Out, Text, read, text, write, write_made, write_text};
use crate::call::{leftovers, users};
use crate::comm::lifetime::adopt_with;
use crate::constants::*;
use crate::environment::{level_name, make};
use crate::error::handler::{self, Handler, HandlerKind};
use crate::error::{ErrorObject, Failure, Res, call_on, raise_without_call};
use crate::types::{Comm, Errhandler, Group, Info, Session};
use crate::{buffered, group, info};
use core::ffi::{c_char, c_int};
use core::sync::atomic::{AtomicU64, Ordering};
use oxmpi_runtime::Level;
use parking_lot::Mutex;
use std::sync::Arc;

static NEXT: AtomicU64 = AtomicU64::new(WORLD + 1);

const LEVEL_KEY: &str = "thread_level";
const KINDS_KEY: &str = "mpi_memory_alloc_kinds";

/// The level a session's hints ask for. Without one a session has one thread.
fn level_of(hints: &oxmpi_runtime::Info) -> Res<Level> {
    match hints.get(LEVEL_KEY) {
        None | Some("MPI_THREAD_SINGLE") => Ok(Level::Single),
        Some("MPI_THREAD_FUNNELED") => Ok(Level::Funneled),
        Some("MPI_THREAD_SERIALIZED") => Ok(Level::Serialized),
        Some("MPI_THREAD_MULTIPLE") => Ok(Level::Multiple),
        Some(other) => Failure::err(MPI_ERR_INFO_VALUE, format!("{LEVEL_KEY} is {other}, no thread level")),
    }
}

/// Kinds of memory that may be given to MPI: what was asked for of those we know, and always the two
/// every library knows (MPI 5.0 §11.4.3).
pub fn memory_kinds(asked: Option<&str>) -> String {
    let asked = asked.unwrap_or("").split(',').map(str::trim);
    let known = |kind: &&str| matches!(kind.split(':').next(), Some("mpi" | "system"));
    let mut kinds: Vec<&str> = asked.filter(known).collect();
    for always in ["mpi", "system"] {
        if !kinds.contains(&always) {
            kinds.push(always);
        }
    }
    kinds.join(",")
}

/// One more session.
fn init(hints: Info, handler: Handler) -> Res<Session> {
    let mut info = info::optional(hints)?.unwrap_or_default();
    let level = level_of(&info)?;
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let process = users::enter(number, level, make)?;
    // The level it gets, which is what the process has by now (MPI 5.0 §11.3.1: "actually provided").
    info.set(LEVEL_KEY, level_name(process.level()));
    info.set(KINDS_KEY, &memory_kinds(info.get(KINDS_KEY)));
    let object = SessionObject { number, info, handler: Mutex::new(handler), buffer: Arc::default() };
    match TABLE.insert(Box::new(object)) {
        Some(handle) => Ok(Session(handle)),
        None => {
            users::leave_at_once(process, number);
            Failure::err(MPI_ERR_NO_MEM, "too many sessions")
        }
    }
}

mpi_fn! {
    /// May be called at any time and by several threads at once.
    any_time fn MPI_Session_init(info: Info, errhandler: Errhandler, session: Out<Session>) -> c_int {
        let handler = match handler::get(errhandler, HandlerKind::Session) {
            Ok(handler) => handler,
            Err(failure) => return raise_without_call(NAME, ErrorObject::Nothing, failure),
        };
        if session.is_null() {
            return raise_without_call(NAME, ErrorObject::Handler(handler), Failure::new(MPI_ERR_ARG, "session is a null pointer"));
        }
        match init(info, handler.clone()).and_then(|made| write(session, "session", made)) {
            Ok(()) => MPI_SUCCESS,
            Err(failure) => raise_without_call(NAME, ErrorObject::Handler(handler), failure),
        }
    }
}
mpi_fn! {
    fn MPI_Session_finalize(session: Out<Session>) -> c_int |here| {
        // The handler outlives the session that it hears of.
        let on = session.get().and_then(get).map_or(ErrorObject::Nothing, |object| ErrorObject::Handler(object.handler()));
        call_on(here, NAME, on, |process, entry| {
            let handle = read(session, "session")?;
            require(handle)?;
            let Some(object) = TABLE.remove(handle.0) else { return require(handle).map(|_| ()) };
            object.buffer.empty(process, entry);
            buffered::finish(process, entry, object.number);
            let ended = users::leave(process, entry, object.number, |last| {
                leftovers::take_down(process, object.number, last);
            });
            write(session, "session", Session(MPI_SESSION_NULL))?;
            ended
        })
    }
}
mpi_fn! {
    fn MPI_Session_get_info(session: Session, info_used: Out<Info>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |_, _| {
            let object = require(session)?;
            if info_used.is_null() {
                return Failure::err(MPI_ERR_ARG, "info_used is a null pointer");
            }
            write_made(info_used, "info_used", || info::adopt(object.info.clone()))
        })
    }
}
mpi_fn! {
    fn MPI_Session_get_num_psets(session: Session, info: Info, npset_names: Out<c_int>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, _| {
            require(session)?;
            info::optional(info)?;
            write(npset_names, "npset_names", process.instance.psets().len() as c_int)
        })
    }
}
mpi_fn! {
    /// `pset_len` counts the terminator; with room for nothing it only tells how much is needed.
    fn MPI_Session_get_nth_pset(session: Session, info: Info, n: c_int, pset_len: Out<c_int>, pset_name: Out<c_char>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, _| {
            require(session)?;
            info::optional(info)?;
            let all = process.instance.psets();
            let Some(name) = usize::try_from(n).ok().and_then(|n| all.get(n)) else {
                return Failure::err(MPI_ERR_ARG, format!("n is {n}, there are {} process sets", all.len()));
            };
            let room = read(pset_len, "pset_len")?;
            let Ok(room) = usize::try_from(room) else {
                return Failure::err(MPI_ERR_ARG, format!("pset_len is {room}"));
            };
            if room > 0 {
                // SAFETY: the standard has the caller pass `pset_name` with room for `room` bytes.
                unsafe { write_text(pset_name, "pset_name", name, room) }?;
            }
            write(pset_len, "pset_len", name.len() as c_int + 1)
        })
    }
}

fn no_pset(name: &str) -> Failure {
    Failure::new(MPI_ERR_ARG, format!("pset_name is {name:?}, and there is no such process set"))
}

mpi_fn! {
    fn MPI_Session_get_pset_info(session: Session, pset_name: Text, info: Out<Info>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, _| {
            let object = require(session)?;
            let name = text(pset_name, "pset_name")?;
            if info.is_null() {
                return Failure::err(MPI_ERR_ARG, "info is a null pointer");
            }
            let group = process.instance.pset(&name, object.number).ok_or_else(|| no_pset(&name))?;
            let mut facts = oxmpi_runtime::Info::new();
            facts.set("mpi_size", &group.size().to_string());
            write_made(info, "info", || info::adopt(facts))
        })
    }
}
mpi_fn! {
    /// Of a name that is none: MPI_GROUP_NULL, and an error.
    fn MPI_Group_from_session_pset(session: Session, pset_name: Text, newgroup: Out<Group>) -> c_int |here| {
        call_on(here, NAME, ErrorObject::Session(session), |process, _| {
            let object = require(session)?;
            let name = text(pset_name, "pset_name")?;
            match process.instance.pset(&name, object.number) {
                Some(group) => {
                    if newgroup.is_null() {
                        return Failure::err(MPI_ERR_ARG, "newgroup is a null pointer");
                    }
                    write_made(newgroup, "newgroup", || group::adopt(group))
                }
                None => {
                    write(newgroup, "newgroup", Group(MPI_GROUP_NULL))?;
                    Err(no_pset(&name))
                }
            }
        })
    }
}

/// A tag between processes that share no communicator.
fn string_tag(tag: Text) -> Res<String> {
    let tag = text(tag, "stringtag")?;
    match tag.len() < MPI_MAX_STRINGTAG_LEN as usize {
        true => Ok(tag),
        false => Failure::err(MPI_ERR_ARG, format!("stringtag has {} characters", tag.len())),
    }
}

mpi_fn! {
    /// Local: the group and the tag give all members the same id. Nobody is waited for.
    fn MPI_Comm_create_from_group(group: Group, stringtag: Text, info: Info, errhandler: Errhandler, newcomm: Out<Comm>) -> c_int |here| {
        let handler = match handler::get(errhandler, HandlerKind::Comm) {
            Ok(handler) => handler,
            Err(failure) => return raise_without_call(NAME, ErrorObject::Nothing, failure),
        };
        call_on(here, NAME, ErrorObject::Handler(handler.clone()), |process, entry| {
            let group = group::require(group)?;
            let tag = string_tag(stringtag)?;
            let hints = info::optional(info)?.unwrap_or_default();
            if newcomm.is_null() {
                return Failure::err(MPI_ERR_ARG, "newcomm is a null pointer");
            }
            if group.size() == 0 {
                return write(newcomm, "newcomm", Comm(MPI_COMM_NULL));
            }
            let made = process.instance.communicator_from_group(&group, &tag, hints)?;
            write(newcomm, "newcomm", adopt_with(entry, handler, made)?)
        })
    }
}

/// A rank in a group, from C.
fn leader(rank: c_int, group: &oxmpi_runtime::Group, what: &str) -> Res<u32> {
    match u32::try_from(rank).ok().filter(|r| *r < group.size()) {
        Some(rank) => Ok(rank),
        None => {
            Failure::err(MPI_ERR_RANK, format!("{what} is {rank}, the group has {} members", group.size()))
        }
    }
}

mpi_fn! {
    /// The remote group and its leader count at the local leader only.
    fn MPI_Intercomm_create_from_groups(local_group: Group, local_leader: c_int, remote_group: Group, remote_leader: c_int, stringtag: Text, info: Info, errhandler: Errhandler, newintercomm: Out<Comm>) -> c_int |here| {
        let handler = match handler::get(errhandler, HandlerKind::Comm) {
            Ok(handler) => handler,
            Err(failure) => return raise_without_call(NAME, ErrorObject::Nothing, failure),
        };
        call_on(here, NAME, ErrorObject::Handler(handler.clone()), |process, entry| {
            let local = group::require(local_group)?;
            let lead = leader(local_leader, &local, "local_leader")?;
            let remote = match local.rank() == Some(lead) {
                true => Some(group::require(remote_group)?),
                false => None,
            };
            if let Some(remote) = &remote {
                leader(remote_leader, remote, "remote_leader")?;
                if local.intersection(remote).size() > 0 {
                    return Failure::err(MPI_ERR_GROUP, "the two groups have a member in common");
                }
            }
            let tag = string_tag(stringtag)?;
            let hints = info::optional(info)?.unwrap_or_default();
            if newintercomm.is_null() {
                return Failure::err(MPI_ERR_ARG, "newintercomm is a null pointer");
            }
            let made = process.instance.intercommunicator_from_groups(entry, &local, lead, remote.as_ref(), &tag, hints)?;
            write(newintercomm, "newintercomm", adopt_with(entry, handler, made)?)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_kinds_are_those_we_know() {
        assert_eq!(memory_kinds(None), "mpi,system");
        assert_eq!(memory_kinds(Some("system, cuda:device ,mpi:alloc_mem")), "system,mpi:alloc_mem,mpi");
    }
}
