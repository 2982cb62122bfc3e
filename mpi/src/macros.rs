//! How a function of the C interface is defined.
//!
//! `mpi_fn!` makes two exported functions of one body, `MPI_X` and `PMPI_X`; the compiler folds them
//! to one address, and a tool that defines `MPI_X` still finds the library's under `PMPI_X`. The
//! form with brackets makes the plain and the large-count function of one body; the type in
//! brackets stands for the placeholder in angle brackets. Inside a body `NAME` is the function's
//! name. Lines `fn MPI_…` in here are what `cargo xtask generate` counts as implemented.

/// What every function does where it enters (`counting`).
macro_rules! count_call {
    ($name:ident) => {
        const COUNTER: Option<crate::counting::Counter> = crate::counting::at_entry($name);
        if let Some(counter) = COUNTER {
            crate::counting::call(counter);
        }
    };
}

macro_rules! mpi_fn {
    ($(#[$m:meta])* fn $name:ident ($($a:ident : $t:ty),* $(,)?) -> $r:ty $body:block) => {
        const _: () = {
            #[allow(dead_code, reason = "not every function can fail")]
            const NAME: &str = stringify!($name);
            $(#[$m])*
            // SAFETY: the name is the standard's; nothing else in the process may define it but a
            // tool that interposes on purpose.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the standard's name")]
            pub unsafe extern "C-unwind" fn $name($($a: $t),*) -> $r { count_call!(NAME); $body }
            $(#[$m])*
            // SAFETY: as above.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            pub unsafe extern "C-unwind" fn profiled($($a: $t),*) -> $r { count_call!(NAME); $body }
        };
    };
    ($(#[$m:meta])* fn $($name:ident [$c:ty]),+ <$n:ident> ($($a:ident : $t:ty),* $(,)?) -> $r:ty $body:block) => {
        mpi_fn!(@each [$(#[$m])*] [$($name [$c])+] $n ($($a : $t),*) -> $r $body);
    };
    (@each $m:tt [] $n:ident $args:tt -> $r:ty $body:block) => {};
    (@each [$($m:tt)*] [$name:ident [$c:ty] $($rest:tt)*] $n:ident ($($a:ident : $t:ty),*) -> $r:ty $body:block) => {
        const _: () = {
            #[allow(dead_code, reason = "not every function can fail")]
            const NAME: &str = stringify!($name);
            type $n = $c;
            $($m)*
            // SAFETY: as above.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case, reason = "the standard's name")]
            #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
            pub unsafe extern "C-unwind" fn $name($($a: $t),*) -> $r { count_call!(NAME); $body }
            $($m)*
            // SAFETY: as above.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
            pub unsafe extern "C-unwind" fn profiled($($a: $t),*) -> $r { count_call!(NAME); $body }
        };
        mpi_fn!(@each [$($m)*] [$($rest)*] $n ($($a : $t),*) -> $r $body);
    };
}

/// Functions of later work, one per line, with the object whose error handler hears of it.
macro_rules! unsupported {
    ($($name:ident ($($a:ident : $t:ty),*) [$($object:tt)*];)*) => { $(
        mpi_fn! {
            #[allow(unused_variables, reason = "nothing is done with them yet")]
            fn $name($($a: $t),*) -> c_int { unsupported!(@raise $($object)*) }
        }
    )* };
    (@raise comm $c:ident) => { crate::error::unsupported(NAME, Some($c)) };
    (@raise win $w:ident) => { crate::error::unsupported_on(NAME, $w) };
    (@raise none) => { crate::error::unsupported(NAME, None) };
    (@raise tool) => { crate::constants::MPI_T_ERR_NOT_SUPPORTED };
}
