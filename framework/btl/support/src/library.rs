//! A shared library opened at run time by libloading, and a table of its functions found by name.
//!
//! A driver of a device that few machines have must not need the device's library to be loaded. It names the functions that it
//! uses, with their types, in [`functions!`](crate::functions); opening fills the table or says what is missing.

use core::error::Error;
use libloading::os::unix::{Library as Opened, RTLD_LOCAL, RTLD_NOW};

/// An open library. It is never closed: its threads and tables may outlive every user.
pub struct Library(Opened);

impl Library {
    /// Opens the library at `path`, or of that name where the dynamic linker looks. The error is the linker's sentence.
    ///
    /// The library's constructors run; whoever names the library vouches for them.
    pub fn open(path: &str) -> Result<Library, String> {
        // SAFETY: the constructors are the library's own, which the user has chosen by its path.
        let opened = unsafe { Opened::open(Some(path), RTLD_NOW | RTLD_LOCAL) };
        // The linker's own words are the source of the error.
        opened.map(Library).map_err(|why| why.source().map_or(why.to_string(), ToString::to_string))
    }

    /// Finds a symbol; `None` where the library has none of that name.
    ///
    /// # Safety
    /// `T` is a function pointer of the symbol's own type, or a pointer to the data that it names.
    pub unsafe fn find<T: Copy>(&self, name: &str) -> Option<T> {
        // SAFETY: the caller names the type. The symbol stays valid, since the library is not closed.
        unsafe { self.0.get::<T>(name) }.ok().map(|symbol| *symbol)
    }

    /// Finds a symbol that has to be there. The error names it.
    ///
    /// # Safety
    /// As for [`Library::find`].
    pub unsafe fn need<T: Copy>(&self, name: &str) -> Result<T, String> {
        // SAFETY: the caller's promise is the same.
        unsafe { self.find(name) }.ok_or_else(|| format!("it has no function {name}"))
    }

    /// Keeps the library open to the end of the process.
    pub fn keep(self) {
        let _ = self.0.into_raw();
    }
}

/// Makes a type of a library's functions, with `open(path)`, which fills it.
///
/// ```
/// oxmpi_btl_support::functions! {
///     /// Functions of the C library.
///     pub struct Clib;
///     needed { abs("abs"): fn(i32) -> i32; }
///     optional { absent("there_is_no_such_function"): fn(); }
///     data { environ("environ"): *const *const *const core::ffi::c_char; }
/// }
/// let clib = Clib::open("libc.so.6").expect("the C library");
/// // SAFETY: a function of a number.
/// assert_eq!(unsafe { (clib.abs)(-3) }, 3);
/// assert!(clib.absent.is_none() && clib.environ.is_some());
/// ```
///
/// A function that is `needed` and missing makes `open` fail, one that is `optional` is `None`; so is missing `data`, whose type is
/// a pointer to it. The table is shared by [`std::sync::Arc`] and may be used from any thread, as far as the functions may.
#[macro_export]
macro_rules! functions {
    (
        $(#[$meta:meta])*
        pub struct $Table:ident;
        needed { $($needed:ident($needed_symbol:literal): fn($($needed_arg:ty),*) $(-> $needed_result:ty)?;)* }
        optional { $($optional:ident($optional_symbol:literal): fn($($optional_arg:ty),*) $(-> $optional_result:ty)?;)* }
        data { $($data:ident($data_symbol:literal): $data_type:ty;)* }
    ) => {
        $(#[$meta])*
        pub struct $Table {
            $(pub $needed: unsafe extern "C" fn($($needed_arg),*) $(-> $needed_result)?,)*
            $(pub $optional: Option<unsafe extern "C" fn($($optional_arg),*) $(-> $optional_result)?>,)*
            $(pub $data: Option<$data_type>,)*
        }

        // SAFETY: addresses of functions and of data that live as long as the process; each use says what it needs.
        unsafe impl Send for $Table {}
        // SAFETY: as above: nothing in the table changes.
        unsafe impl Sync for $Table {}

        impl $Table {
            /// Opens the library and finds its functions. The error says what is missing.
            pub fn open(path: &str) -> Result<std::sync::Arc<$Table>, String> {
                let library = $crate::Library::open(path)?;
                let table = $Table {
                    $($needed: {
                        const NAME: &str = $needed_symbol;
                        // SAFETY: the library's function of that name has the type of the field.
                        unsafe { library.need(NAME) }?
                    },)*
                    $($optional: {
                        const NAME: &str = $optional_symbol;
                        // SAFETY: as above.
                        unsafe { library.find(NAME) }
                    },)*
                    $($data: {
                        const NAME: &str = $data_symbol;
                        // SAFETY: the library's data of that name has the type that the field points to.
                        unsafe { library.find(NAME) }
                    },)*
                };
                library.keep();
                Ok(std::sync::Arc::new(table))
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::Library;

    crate::functions! {
        /// One that is there, one that is not.
        #[allow(dead_code, reason = "it is never whole")]
        pub struct Half;
        needed { abs("abs"): fn(i32) -> i32; absent("there_is_no_such_function"): fn(); }
        optional {}
        data {}
    }

    #[test]
    fn what_is_missing_is_named() {
        let refused = Half::open("libc.so.6").map(drop);
        assert_eq!(refused, Err("it has no function there_is_no_such_function".to_owned()));
        let refused = Half::open("/nowhere/libnothing.so").map(drop).expect_err("no such file");
        assert!(refused.contains("/nowhere/libnothing.so"), "{refused}");
        assert!(Library::open("a\0b").is_err());
    }
}
