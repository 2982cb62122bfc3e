//! A procedure of Fortran is defined by the C function, its name, and the kinds of its dummies.
//!
//! `procedure!` makes two exported functions of one body: `mpi_x_`, which calls `MPI_X`, so that a tool which defines that sees calls from Fortran, too, and `pmpi_x_`,
//! which calls `PMPI_X` (MPI 5.0 §15.2); and both once more under the names of module `mpi_f08`, `mpi_x_f08_` (Table 19.1), whose arguments are the same: a handle there is a
//! structure of one INTEGER. With `alone` in front a procedure has no second names. Compilers write names in lower case with one underscore behind, and pass a hidden length for each CHARACTER behind all arguments.
//! An array has its length in brackets: an expression of the arguments as they came. `ierror` is null where an optional one is absent.

macro_rules! procedure {
    ($c:ident $f:ident ($($a:ident : $t:ty $([$len:expr])?),* $(,)?) $(($($hidden:ident),+))?) => {
        procedure! { @of "" $c $f ($($a : $t $([$len])?),*) $(($($hidden),+))? }
        procedure! { @of "f08_" $c $f ($($a : $t $([$len])?),*) $(($($hidden),+))? }
    };
    ($c:ident $f:ident ($($a:ident : $t:ty $([$len:expr])? $(as $d:ident)?),* $(,)?) $(($($hidden:ident : $of:ident),+))?
        on $object:ident ($($o:ident)?) { $($rules:tt)* }) => {
        procedure! { @of "" $c $f ($($a : $t $([$len])?),*) $(($($hidden),+))? }
        procedure! { @of "f08_" $c $f ($($a : $t $([$len])?),*) $(($($hidden),+))? }
        described! { $c $f ($($a : $t $([$len])? $(as $d)?),*) $(($($hidden : $of),+))? on $object ($($o)?) { $($rules)* } }
    };
    (alone $($rest:tt)*) => {
        procedure! { @of "" $($rest)* }
    };
    (@of $suffix:literal $c:ident $f:ident ($($a:ident : $t:ty $([$len:expr])?),* $(,)?) $(($($hidden:ident),+))?) => {
        const _: () = {
            type Callee = unsafe extern "C" fn($(<$t as Dummy>::Passed),*) -> c_int;
            unsafe extern "C" {
                #[link_name = stringify!($c)]
                fn callee($($a: <$t as Dummy>::Passed),*) -> c_int;
                #[link_name = concat!("P", stringify!($c))]
                fn profiled_callee($($a: <$t as Dummy>::Passed),*) -> c_int;
            }
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            #[allow(unused_mut, unused_variables, unused_unsafe, clippy::unused_unit, reason = "not every procedure has arguments, or arrays")]
            unsafe fn run(callee: Callee, $($a: <$t as Dummy>::Given,)* ierror: *mut Fint $($(, $hidden: usize)+)?) {
                // SAFETY: the arguments of a procedure, whose caller promises what the standard asks.
                let ($(mut $a,)*) = unsafe { ($(<$t as Dummy>::take($a, procedure!(@len $($len)?)),)*) };
                // SAFETY: the function's arguments, of which each stays until behind the call.
                let code = unsafe { callee($($a.pass()),*) };
                $($a.give_back(code);)*
                // SAFETY: null, or the caller's place.
                if let Some(place) = unsafe { ierror.as_mut() } {
                    *place = code;
                }
            }
            // SAFETY: the name is the standard's; nobody else defines it but a tool that interposes on purpose.
            #[unsafe(export_name = concat!(stringify!($f), $suffix))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn called($($a: <$t as Dummy>::Given,)* ierror: *mut Fint $($(, $hidden: usize)+)?) {
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a,)* ierror $($(, $hidden)+)?) }
            }
            // SAFETY: the name is the standard's for tools.
            #[unsafe(export_name = concat!("p", stringify!($f), $suffix))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn profiled($($a: <$t as Dummy>::Given,)* ierror: *mut Fint $($(, $hidden: usize)+)?) {
                // SAFETY: the caller's promises.
                unsafe { run(profiled_callee, $($a,)* ierror $($(, $hidden)+)?) }
            }
        };
    };
    (@len) => { 0 };
    (@len $len:expr) => { $len };
}

/// A procedure once more under the name for descriptors, `mpi_x_f08ts_` (Table 19.1): arguments with `as descriptor` are the address of one, `ierror` is null where it is
/// absent, and there are no hidden lengths, since module `mpi_f08` has an interface with `bind(C)` then. Where all buffers are contiguous it is the procedure for addresses; else the rules say which
/// arguments are about which buffer (`sections::strided`). `on`: the object whose error handler is called if the call cannot be made.
macro_rules! described {
    ($c:ident $f:ident ($($a:ident : $t:ty $([$len:expr])? $(as $d:ident)?),*) $(($($hidden:ident : $of:ident),+))?
        on $object:ident ($($o:ident)?) { $($([$when:ident($($w:ident),*)])? $rule:ident($($r:ident),* $(; $how:ident($($h:ident),*))?);)* }) => {
        const _: () = {
            type Callee = unsafe extern "C" fn($(<$t as Dummy>::Passed),*) -> c_int;
            unsafe extern "C" {
                #[link_name = stringify!($c)]
                fn callee($($a: <$t as Dummy>::Passed),*) -> c_int;
                #[link_name = concat!("P", stringify!($c))]
                fn profiled_callee($($a: <$t as Dummy>::Passed),*) -> c_int;
            }
            /// # Safety
            /// The caller of a procedure promises what the standard asks of its arguments.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            #[allow(unused_mut, reason = "not every argument is passed by a place")]
            unsafe fn run(callee: Callee, $($a: <$t as Dummy>::Given,)* $($($hidden: usize,)+)?) -> c_int {
                // SAFETY: as in `procedure`.
                unsafe {
                    let ($(mut $a,)*) = ($(<$t as Dummy>::take($a, procedure!(@len $($len)?)),)*);
                    let code = callee($($a.pass()),*);
                    $($a.give_back(code);)*
                    code
                }
            }
            /// `run` for libraries whose handles have to be asked for.
            ///
            /// # Safety
            /// As above.
            #[cold]
            #[inline(never)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            unsafe fn run_over_another(callee: Callee, $($a: <$t as Dummy>::Given,)* $($($hidden: usize,)+)?) -> c_int {
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a,)* $($($hidden,)+)?) }
            }
            /// # Safety
            /// As above.
            #[cold]
            #[inline(never)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            #[allow(unused_mut, reason = "not every argument is replaced")]
            unsafe fn strided(callee: Callee, $($a: described!(@given $t $(as $d)?),)* $($($hidden: usize,)+)?) -> c_int {
                // SAFETY: the caller's promises; what rules put in place of arguments is there until the end.
                unsafe {
                    $(let mut $a = described!(@actual $a $(as $d)?);)*
                    let mut all = Strided::default();
                    $(if true $(&& $when($($w),*))? {
                        all.$rule($(&mut $r),* $(, $how($($h),*))?);
                    })*
                    if let Some(code) = all.begin() {
                        return refusal::$object(code $(, $o)?);
                    }
                    let code = run(callee, $(described!(@passed $a $(as $d)?),)* $($($hidden,)+)?);
                    all.done(code);
                    code
                }
            }
            /// # Safety
            /// As above.
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            unsafe fn answer(callee: Callee, $($a: described!(@given $t $(as $d)?),)* ierror: *mut Fint) {
                // SAFETY: as above; null, or the caller's place.
                unsafe {
                    $($(let $hidden = descriptor::element($of);)+)?
                    let code = if true $($(&& described!(@contiguous $a $d))?)* {
                        // Asked here once, so that the questions in `run` are answered.
                        if crate::optional::is_ours() {
                            run(callee, $(described!(@address $a $(as $d)?),)* $($($hidden,)+)?)
                        } else {
                            run_over_another(callee, $(described!(@address $a $(as $d)?),)* $($($hidden,)+)?)
                        }
                    } else {
                        strided(callee, $($a,)* $($($hidden,)+)?)
                    };
                    if let Some(place) = ierror.as_mut() {
                        *place = code;
                    }
                }
            }
            // SAFETY: the name is the standard's; nobody else defines it but a tool that interposes on purpose.
            #[unsafe(export_name = concat!(stringify!($f), "f08ts_"))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn called($($a: described!(@given $t $(as $d)?),)* ierror: *mut Fint) {
                // SAFETY: the caller's promises.
                unsafe { answer(callee, $($a,)* ierror) }
            }
            // SAFETY: the name is the standard's for tools.
            #[unsafe(export_name = concat!("p", stringify!($f), "f08ts_"))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn profiled($($a: described!(@given $t $(as $d)?),)* ierror: *mut Fint) {
                // SAFETY: the caller's promises.
                unsafe { answer(profiled_callee, $($a,)* ierror) }
            }
        };
    };
    (@given $t:ty) => { <$t as Dummy>::Given };
    (@given $t:ty as $d:ident) => { *const descriptor::Descriptor };
    (@actual $a:ident) => { $a };
    (@actual $a:ident as $d:ident) => { Actual::of($a) };
    (@passed $a:ident) => { $a };
    (@passed $a:ident as $d:ident) => { $a.address.cast() };
    (@address $a:ident) => { $a };
    (@address $a:ident as $d:ident) => { descriptor::address($a).cast() };
    (@contiguous $a:ident $d:ident) => { descriptor::is_contiguous($a) };
}

/// A procedure whose body is written out: the C function with its type, the name, the arguments as they come, and a body that answers with the error code.
macro_rules! written {
    ($c:ident: $callee_type:ty, $f:ident ($($a:ident : $t:ty),* $(,)?) |$callee:ident| $body:block) => {
        written!(@of "" $c: $callee_type, $f ($($a: $t),*) () |$callee| $body);
        written!(@of "f08_" $c: $callee_type, $f ($($a: $t),*) () |$callee| $body);
    };
    ($c:ident: $callee_type:ty, $f:ident ($($a:ident : $t:ty),* $(,)?) ($($hidden:ident),+) |$callee:ident| $body:block) => {
        written!(@of "" $c: $callee_type, $f ($($a: $t),*) ($($hidden),+) |$callee| $body);
        written!(@of "f08_" $c: $callee_type, $f ($($a: $t),*) ($($hidden),+) |$callee| $body);
    };
    (@of $suffix:literal $c:ident: $callee_type:ty, $f:ident ($($a:ident : $t:ty),*) ($($hidden:ident),*) |$callee:ident| $body:block) => {
        const _: () = {
            type Callee = $callee_type;
            unsafe extern "C" {
                #[link_name = stringify!($c)]
                fn callee_symbol();
                #[link_name = concat!("P", stringify!($c))]
                fn profiled_symbol();
            }
            /// # Safety
            /// The caller of a procedure promises what the standard asks of its arguments.
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            unsafe fn run($callee: Callee, $($a: $t,)* ierror: *mut Fint $(, $hidden: usize)*) {
                let code: c_int = $body;
                // SAFETY: null, or the caller's place.
                if let Some(place) = unsafe { ierror.as_mut() } {
                    *place = code;
                }
            }
            // SAFETY: the name is the standard's; nobody else defines it but a tool that interposes on purpose.
            #[unsafe(export_name = concat!(stringify!($f), $suffix))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn called($($a: $t,)* ierror: *mut Fint $(, $hidden: usize)*) {
                // SAFETY: the caller's promises; the function has this type.
                unsafe {
                    run(core::mem::transmute::<unsafe extern "C" fn(), Callee>(callee_symbol), $($a,)* ierror $(, $hidden)*)
                }
            }
            // SAFETY: the name is the standard's for tools.
            #[unsafe(export_name = concat!("p", stringify!($f), $suffix))]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            pub unsafe extern "C" fn profiled($($a: $t,)* ierror: *mut Fint $(, $hidden: usize)*) {
                // SAFETY: as above.
                unsafe {
                    run(core::mem::transmute::<unsafe extern "C" fn(), Callee>(profiled_symbol), $($a,)* ierror $(, $hidden)*)
                }
            }
        };
    };
}

/// A procedure over a function that not every library has: the function's name, the procedure's, and the arguments.
macro_rules! extension {
    ($c:literal $f:ident ($($a:ident : $t:ty $([$len:expr])?),* $(,)?)) => {
        const _: () = {
            type Callee = unsafe extern "C" fn($(<$t as Dummy>::Passed),*) -> c_int;
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the function's")]
            unsafe fn run(callee: Option<Callee>, $($a: <$t as Dummy>::Given,)* ierror: *mut Fint) {
                let Some(callee) = callee else {
                    // SAFETY: null, or the caller's place.
                    return unsafe { crate::optional::refuse(ierror) };
                };
                // SAFETY: the arguments of a procedure, whose caller promises what the function asks.
                #[allow(unused_mut, reason = "not every argument is written")]
                let ($(mut $a,)*) = unsafe { ($(<$t as Dummy>::take($a, procedure!(@len $($len)?)),)*) };
                // SAFETY: the function's arguments, of which each stays until behind the call.
                let code = unsafe { callee($($a.pass()),*) };
                $($a.give_back(code);)*
                // SAFETY: null, or the caller's place.
                if let Some(place) = unsafe { ierror.as_mut() } {
                    *place = code;
                }
            }
            // SAFETY: a name of module `mpi_ext_f08`.
            #[unsafe(export_name = stringify!($f))]
            #[allow(clippy::too_many_arguments, reason = "the function's")]
            pub unsafe extern "C" fn called($($a: <$t as Dummy>::Given,)* ierror: *mut Fint) {
                let callee = optional_function!($c, Callee);
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a,)* ierror) }
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("p", stringify!($f)))]
            #[allow(clippy::too_many_arguments, reason = "the function's")]
            pub unsafe extern "C" fn profiled($($a: <$t as Dummy>::Given,)* ierror: *mut Fint) {
                let callee = optional_function!(concat!("P", $c), Callee);
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a,)* ierror) }
            }
        };
    };
}

/// One whose body is written out: the C function with its type, the name, the arguments as they come, the place for the error code, and a body that calls the function.
macro_rules! written_extension {
    ($c:literal: $callee_type:ty, $f:ident ($($a:ident : $t:ty),* $(,)?), $ierror:expr, |$callee:ident| $body:block) => {
        const _: () = {
            /// # Safety
            /// The caller of a procedure promises what the function asks of its arguments.
            unsafe fn run(callee: Option<$callee_type>, $($a: $t),*) {
                match callee {
                    Some($callee) => $body,
                    // SAFETY: null, or the caller's place.
                    None => unsafe { crate::optional::refuse($ierror) },
                }
            }
            // SAFETY: a name of module `mpi_ext_f08`.
            #[unsafe(export_name = stringify!($f))]
            pub unsafe extern "C" fn called($($a: $t),*) {
                let callee = optional_function!($c, $callee_type);
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a),*) }
            }
            // SAFETY: as above.
            #[unsafe(export_name = concat!("p", stringify!($f)))]
            pub unsafe extern "C" fn profiled($($a: $t),*) {
                let callee = optional_function!(concat!("P", $c), $callee_type);
                // SAFETY: the caller's promises.
                unsafe { run(callee, $($a),*) }
            }
        };
    };
}
