//! The list of performance variables, and the functions that show it (MPI 5.0 §15.3.7): those of `pvar`, and one for each algorithm of collectives that a component lists,
//! from the time on when components are open.
//!
//! MPI lets the number of variables grow (MPI 5.0 §15.3.7), and their indices stay. So those come behind all others, those of a later
//! start that has further components behind these. Lists that were handed out are kept, since handles refer to their variables.

use super::arguments::{at, give, name, offer, offer_text, verbosity};
use super::pvar::{Binding, ValueSource, Variable, fixed};
use super::users::{call, instance};
use crate::call::memory::{Out, Text};
use crate::constants::*;
use core::ffi::{c_char, c_int};
use oxmpi_runtime::Instance;
use parking_lot::Mutex;
use std::sync::{Arc, Weak};

/// The variables, and the instance whose algorithms are among them.
struct List {
    variables: &'static [Variable],
    of: Weak<Instance>,
}

static LIST: Mutex<List> = Mutex::new(List { variables: &[], of: Weak::new() });

/// All variables; their places are the indices.
pub fn all() -> &'static [Variable] {
    let mut list = LIST.lock();
    if list.variables.is_empty() {
        list.variables = Vec::leak(fixed());
    }
    if let Some(instance) = instance()
        && !std::ptr::eq(list.of.as_ptr(), Arc::as_ptr(&instance))
    {
        let is_new = |name: &str| list.variables.iter().all(|v| v.name != name);
        let names: Vec<&str> =
            instance.algorithms_taken().map(|(name, _)| name).filter(|name| is_new(name)).collect();
        if !names.is_empty() {
            let known = list.variables.iter().cloned();
            list.variables = Vec::leak(known.chain(names.into_iter().map(algorithm)).collect());
        }
        list.of = Arc::downgrade(&instance);
    }
    list.variables
}

/// The variable of an algorithm: `coll_`, component, operation and algorithm.
fn algorithm(name: &str) -> Variable {
    let component = name.split('_').nth(1).unwrap_or_default();
    Variable {
        name: name.into(),
        category: format!("coll_{component}").into(),
        desc: "Collective operations that went by this algorithm of the component, and plans of nonblocking and persistent ones that were made by it".into(),
        level: 5,
        class: MPI_T_PVAR_CLASS_COUNTER,
        source: ValueSource::Algorithm,
        bound: Binding::Nothing,
        readonly: false,
        continuous: false,
    }
}

mpi_fn! {
    fn MPI_T_pvar_get_num(num_pvar: Out<c_int>) -> c_int {
        call(|| give(num_pvar, all().len() as c_int))
    }
}
mpi_fn! {
    fn MPI_T_pvar_get_info(pvar_index: c_int, name: Out<c_char>, name_len: Out<c_int>, verbosity_: Out<c_int>, var_class: Out<c_int>, datatype: Out<usize>, enumtype: Out<usize>, desc: Out<c_char>, desc_len: Out<c_int>, bind: Out<c_int>, readonly: Out<c_int>, continuous: Out<c_int>, atomic: Out<c_int>) -> c_int {
        call(|| {
            let v = at(all(), pvar_index)?;
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, &v.name) };
            offer(verbosity_, verbosity(v.level));
            offer(var_class, v.class);
            offer(datatype, if v.is_int() { MPI_INT } else { MPI_UNSIGNED_LONG_LONG });
            offer(enumtype, v.enumtype());
            // SAFETY: the standard has `desc_len` say the room at `desc`.
            unsafe { offer_text(desc, desc_len, &v.desc) };
            offer(bind, match v.bound {
                Binding::Nothing => MPI_T_BIND_NO_OBJECT,
                Binding::Comm => MPI_T_BIND_MPI_COMM,
                Binding::Win => MPI_T_BIND_MPI_WIN,
            });
            offer(readonly, v.readonly.into());
            offer(continuous, v.continuous.into());
            // A reset is a matter of the handle, so reading and resetting is one step.
            offer(atomic, (!v.readonly).into());
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_pvar_get_index(name_: Text, var_class: c_int, pvar_index: Out<c_int>) -> c_int {
        call(|| {
            let wanted = name(name_)?;
            let found = all().iter().position(|v| v.name == wanted && v.class == var_class);
            give(pvar_index, found.ok_or(MPI_T_ERR_INVALID_NAME)? as c_int)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_algorithm_belongs_to_its_component() {
        let v = algorithm("coll_tuned_bcast_split_binary_tree");
        assert_eq!(
            (v.category.as_ref(), v.name.as_str()),
            ("coll_tuned", "coll_tuned_bcast_split_binary_tree")
        );
        assert!(v.counts() && !v.readonly);
    }
}
