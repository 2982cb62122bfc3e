//! The functions of events (MPI 5.0 §15.3.8).

use super::arguments::{at, give, name, offer, offer_text, verbosity};
use super::event::{self, REGISTRATIONS, Registration, SAFETIES, TYPES, Target, Type};
use super::users::{Res, call};
use crate::call::memory::{Address, Out, Text, slice_mut};
use crate::constants::*;
use crate::info;
use crate::types::{Aint, Count, Info};
use core::ffi::{c_char, c_int, c_void};
use core::sync::atomic::Ordering;
use std::sync::Arc;

fn registration(number: usize) -> Res<Arc<Registration>> {
    REGISTRATIONS.get(number).ok_or(MPI_T_ERR_INVALID_HANDLE)
}

fn instance(handle: usize) -> Res<(&'static event::Instance, &'static Type)> {
    let event = event::instance(handle).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
    Ok((event, &TYPES[event.kind as usize]))
}

fn source(index: c_int) -> Res {
    if index == 0 { Ok(()) } else { Err(MPI_T_ERR_INVALID_INDEX) }
}

/// Hints are looked at and none is used, so what is in use is none.
fn look_at(hints: Info) -> Res {
    info::optional(hints).map(drop).map_err(|_| MPI_T_ERR_INVALID)
}

fn give_hints(at: Out<Info>) -> Res {
    if at.is_null() {
        return Err(MPI_T_ERR_INVALID);
    }
    give(at, info::adopt(oxmpi_runtime::Info::new()).map_err(|_| MPI_T_ERR_MEMORY)?)
}

fn place_of(safety: c_int) -> Res<usize> {
    SAFETIES.iter().position(|s| *s == safety).ok_or(MPI_T_ERR_INVALID)
}

mpi_fn! {
    fn MPI_T_source_get_num(num_sources: Out<c_int>) -> c_int {
        call(|| give(num_sources, 1))
    }
}
mpi_fn! {
    fn MPI_T_source_get_info(source_index: c_int, name: Out<c_char>, name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, ordering: Out<c_int>, ticks_per_second: Out<Count>, max_ticks: Out<Count>, info: Out<Info>) -> c_int {
        call(|| {
            source(source_index)?;
            if !info.is_null() {
                give_hints(info)?;
            }
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, "mpi") };
            // SAFETY: the standard has `desc_len` say the room at `desc`.
            unsafe { offer_text(desc, desc_len, "The library's functions, in the thread that calls them; time is that of the monotonic clock") };
            offer(ordering, MPI_T_SOURCE_UNORDERED);
            offer(ticks_per_second, event::TICKS);
            offer(max_ticks, Count::MAX);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_source_get_timestamp(source_index: c_int, timestamp: Out<Count>) -> c_int {
        call(|| {
            source(source_index)?;
            give(timestamp, event::now())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_get_num(num_events: Out<c_int>) -> c_int {
        call(|| give(num_events, TYPES.len() as c_int))
    }
}
mpi_fn! {
    fn MPI_T_event_get_info(event_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity_: Out<c_int>, array_of_datatypes: Out<usize>, array_of_displacements: Out<Aint>, num_elements: Out<c_int>, enumtype: Out<usize>, info: Out<Info>, desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>) -> c_int {
        call(|| {
            let t = at(&TYPES, event_index)?;
            if !info.is_null() {
                give_hints(info)?;
            }
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, t.name) };
            offer(verbosity_, verbosity(t.level));
            if let Some(room) = num_elements.get() {
                for i in 0..t.elements.min(usize::try_from(room).unwrap_or(0)) {
                    // SAFETY: the standard has `num_elements` say the length of both arrays.
                    unsafe {
                        offer(array_of_datatypes.at(i), MPI_INT);
                        offer(array_of_displacements.at(i), (i * size_of::<c_int>()) as Aint);
                    }
                }
                offer(num_elements, t.elements as c_int);
            }
            offer(enumtype, MPI_T_ENUM_NULL);
            // SAFETY: the standard has `desc_len` say the room at `desc`.
            unsafe { offer_text(desc, desc_len, t.desc) };
            offer(bind, MPI_T_BIND_NO_OBJECT);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_get_index(name_: Text, event_index: Out<c_int>) -> c_int {
        call(|| {
            let wanted = name(name_)?;
            let found = TYPES.iter().position(|t| t.name == wanted);
            give(event_index, found.ok_or(MPI_T_ERR_INVALID_NAME)? as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_T_event_handle_alloc(event_index: c_int, obj_handle: *mut c_void, info: Info, event_registration: Out<usize>) -> c_int {
        // No type is bound to an object.
        let _ = obj_handle;
        call(|| {
            at(&TYPES, event_index)?;
            look_at(info)?;
            if event_registration.is_null() {
                return Err(MPI_T_ERR_INVALID);
            }
            let number = REGISTRATIONS.insert(Registration::new(event_index));
            registration(number)?.number.store(number as u64, Ordering::Relaxed);
            event::listen();
            give(event_registration, number)
        })
    }
}
mpi_fn! {
    fn MPI_T_event_handle_set_info(event_registration: usize, info: Info) -> c_int {
        call(|| registration(event_registration).and_then(|_| look_at(info)))
    }
}
mpi_fn! {
    fn MPI_T_event_handle_get_info(event_registration: usize, info_used: Out<Info>) -> c_int {
        call(|| registration(event_registration).and_then(|_| give_hints(info_used)))
    }
}
mpi_fn! {
    /// A null function takes a callback away.
    fn MPI_T_event_register_callback(event_registration: usize, cb_safety: c_int, info: Info, user_data: *mut c_void, event_cb_function: Option<unsafe extern "C-unwind" fn(usize, usize, c_int, *mut c_void)>) -> c_int {
        call(|| {
            let registration = registration(event_registration)?;
            let place = place_of(cb_safety)?;
            look_at(info)?;
            registration.callbacks.lock()[place] = event_cb_function.map(|f| Target::new(f, user_data.expose_provenance()));
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_callback_set_info(event_registration: usize, cb_safety: c_int, info: Info) -> c_int {
        call(|| {
            registration(event_registration)?;
            place_of(cb_safety)?;
            look_at(info)
        })
    }
}
mpi_fn! {
    fn MPI_T_event_callback_get_info(event_registration: usize, cb_safety: c_int, info_used: Out<Info>) -> c_int {
        call(|| {
            registration(event_registration)?;
            place_of(cb_safety)?;
            give_hints(info_used)
        })
    }
}
mpi_fn! {
    /// The callback runs when no other callback of the registration is under way: mostly within this call.
    fn MPI_T_event_handle_free(event_registration: usize, user_data: *mut c_void, free_cb_function: Option<unsafe extern "C-unwind" fn(usize, c_int, *mut c_void)>) -> c_int {
        call(|| {
            let registration = REGISTRATIONS.remove(event_registration).ok_or(MPI_T_ERR_INVALID_HANDLE)?;
            *registration.at_end.lock() = free_cb_function.map(|f| Target::new(f, user_data.expose_provenance()));
            event::listen();
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_set_dropped_handler(event_registration: usize, dropped_cb_function: Option<unsafe extern "C-unwind" fn(Count, usize, c_int, c_int, *mut c_void)>) -> c_int {
        call(|| {
            *registration(event_registration)?.dropped_handler.lock() = dropped_cb_function;
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_read(event_instance: usize, element_index: c_int, buffer: Address) -> c_int {
        call(|| {
            let (event, t) = instance(event_instance)?;
            debug_assert_eq!(event.values.len(), t.elements);
            // SAFETY: the standard has the caller pass a place for an element, which is an int.
            give(unsafe { buffer.place_of::<c_int>() }, *at(&event.values, element_index)?)
        })
    }
}
mpi_fn! {
    fn MPI_T_event_copy(event_instance: usize, buffer: Address) -> c_int {
        call(|| {
            let (event, t) = instance(event_instance)?;
            // SAFETY: the standard has the caller pass room for all elements, which are ints.
            let places = unsafe { slice_mut(buffer.place_of::<c_int>(), t.elements, "") };
            places.map_err(|_| MPI_T_ERR_INVALID)?.copy_from_slice(&event.values);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_event_get_timestamp(event_instance: usize, event_timestamp: Out<Count>) -> c_int {
        call(|| instance(event_instance).and_then(|(event, _)| give(event_timestamp, event.ticks)))
    }
}
mpi_fn! {
    fn MPI_T_event_get_source(event_instance: usize, source_index: Out<c_int>) -> c_int {
        call(|| instance(event_instance).and_then(|_| give(source_index, 0)))
    }
}
