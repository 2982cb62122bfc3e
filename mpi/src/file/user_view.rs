//! A view as the program set it: the runtime keeps it beside the types as they are in the file.

use super::object::FileObject;
use super::representation::Representation;
use crate::constants::*;
use crate::datatype::Part;
use crate::types::Datatype;

/// A view as the program set it.
#[derive(Clone)]
pub struct UserView {
    pub displacement: i64,
    pub etype: Part,
    pub filetype: Part,
    pub representation: Representation,
}

/// The view of a file; before MPI_File_set_view its bytes.
pub fn of(object: &FileObject) -> UserView {
    let view = object.file.view();
    let set = view.user.as_ref().and_then(|any| any.downcast_ref::<UserView>());
    set.cloned().unwrap_or_else(|| {
        let byte = || Part::Predefined(Datatype(MPI_BYTE));
        UserView { displacement: 0, etype: byte(), filetype: byte(), representation: Representation::NATIVE }
    })
}
