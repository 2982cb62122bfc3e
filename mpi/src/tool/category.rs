//! Categories (MPI 5.0 §15.3.10): one for each framework, one for each of its components below it. They come in
//! the order in which variables name them first, so their indices do not change.

use super::arguments::{at, give, name, offer, offer_indices, offer_text};
use super::users::{Res, call};
use super::{cvar, event, pvar, pvar_list};
use crate::call::memory::{Out, Text};
use crate::constants::*;
use core::ffi::{c_char, c_int};
use core::ops::Range;

struct Category {
    name: String,
    desc: String,
    parent: Option<usize>,
    cvars: Vec<usize>,
    pvars: Vec<usize>,
    events: Vec<usize>,
}

struct Categories {
    list: Vec<Category>,
    /// The number that changes when something is added.
    stamp: usize,
}

impl Categories {
    fn now() -> Categories {
        let mut all = Categories { list: Vec::new(), stamp: 0 };
        let pvars = pvar_list::all();
        let fixed = pvars.len() - pvars.iter().filter(|v| v.source == pvar::ValueSource::Algorithm).count();
        all.add_pvars(pvars, 0..fixed);
        for (i, t) in event::TYPES.iter().enumerate() {
            let place = all.place(t.category, "");
            all.list[place].events.push(i);
        }
        let names = cvar::names();
        all.stamp = names.len();
        for (i, name) in names.iter().enumerate() {
            let Some(d) = cvar::resolved(name).map(|r| r.declaration) else { continue };
            let component = if d.component == "base" { "" } else { &d.component };
            let framework = if d.framework.is_empty() { "mpi" } else { &d.framework };
            let place = all.place(framework, component);
            all.list[place].cvars.push(i);
        }
        // Behind all others, since they are added when MPI starts.
        all.add_pvars(pvars, fixed..pvars.len());
        all.stamp += pvars.len();
        all
    }

    fn add_pvars(&mut self, pvars: &[pvar::Variable], which: Range<usize>) {
        for i in which {
            let category = &*pvars[i].category;
            let (framework, component) = category.split_once('_').unwrap_or((category, ""));
            let place = self.place(framework, component);
            self.list[place].pvars.push(i);
        }
    }

    /// The place of a category; it is made where it is missing, and the one above it, too.
    fn place(&mut self, framework: &str, component: &str) -> usize {
        let name = match component {
            "" => framework.to_owned(),
            component => format!("{framework}_{component}"),
        };
        if let Some(place) = self.list.iter().position(|c| c.name == name) {
            return place;
        }
        let (parent, desc) = match component {
            "" => (None, format!("All of {framework}")),
            _ => (Some(self.place(framework, "")), format!("The part {component} of {framework}")),
        };
        self.list.push(Category {
            name,
            desc,
            parent,
            cvars: Vec::new(),
            pvars: Vec::new(),
            events: Vec::new(),
        });
        self.list.len() - 1
    }

    fn below(&self, index: c_int) -> Vec<usize> {
        let is_below = |c: &Category| c.parent.is_some_and(|p| p as c_int == index);
        (0..self.list.len()).filter(|i| is_below(&self.list[*i])).collect()
    }
}

fn with(index: c_int, body: impl FnOnce(&Categories, &Category) -> Res) -> c_int {
    call(|| {
        let all = Categories::now();
        body(&all, at(&all.list, index)?)
    })
}

mpi_fn! {
    fn MPI_T_category_get_num(num_cat: Out<c_int>) -> c_int {
        call(|| give(num_cat, Categories::now().list.len() as c_int))
    }
}
mpi_fn! {
    fn MPI_T_category_get_info(cat_index: c_int, name: Out<c_char>, name_len: Out<c_int>, desc: Out<c_char>, desc_len: Out<c_int>, num_cvars: Out<c_int>, num_pvars: Out<c_int>, num_categories: Out<c_int>) -> c_int {
        with(cat_index, |all, category| {
            // SAFETY: the standard has `name_len` say the room at `name`.
            unsafe { offer_text(name, name_len, &category.name) };
            // SAFETY: the standard has `desc_len` say the room at `desc`.
            unsafe { offer_text(desc, desc_len, &category.desc) };
            offer(num_cvars, category.cvars.len() as c_int);
            offer(num_pvars, category.pvars.len() as c_int);
            offer(num_categories, all.below(cat_index).len() as c_int);
            Ok(())
        })
    }
}
mpi_fn! {
    fn MPI_T_category_get_num_events(cat_index: c_int, num_events: Out<c_int>) -> c_int {
        with(cat_index, |_, category| give(num_events, category.events.len() as c_int))
    }
}
mpi_fn! {
    fn MPI_T_category_get_index(name_: Text, cat_index: Out<c_int>) -> c_int {
        call(|| {
            let wanted = name(name_)?;
            let found = Categories::now().list.iter().position(|c| c.name == wanted);
            give(cat_index, found.ok_or(MPI_T_ERR_INVALID_NAME)? as c_int)
        })
    }
}
mpi_fn! {
    fn MPI_T_category_get_cvars(cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        // SAFETY: the standard has `len` say the room at `indices`.
        with(cat_index, |_, category| unsafe { offer_indices(&category.cvars, len, indices) })
    }
}
mpi_fn! {
    fn MPI_T_category_get_pvars(cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        // SAFETY: the standard has `len` say the room at `indices`.
        with(cat_index, |_, category| unsafe { offer_indices(&category.pvars, len, indices) })
    }
}
mpi_fn! {
    fn MPI_T_category_get_events(cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        // SAFETY: the standard has `len` say the room at `indices`.
        with(cat_index, |_, category| unsafe { offer_indices(&category.events, len, indices) })
    }
}
mpi_fn! {
    fn MPI_T_category_get_categories(cat_index: c_int, len: c_int, indices: Out<c_int>) -> c_int {
        // SAFETY: the standard has `len` say the room at `indices`.
        with(cat_index, |all, _| unsafe { offer_indices(&all.below(cat_index), len, indices) })
    }
}
mpi_fn! {
    fn MPI_T_category_changed(update_number: Out<c_int>) -> c_int {
        call(|| give(update_number, Categories::now().stamp as c_int))
    }
}
