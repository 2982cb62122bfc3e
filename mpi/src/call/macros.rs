//! How a function of the C interface is defined.
//!
//! `mpi_fn!` makes two exported functions of one body, `MPI_X` and `PMPI_X`; the compiler folds them
//! to one address, and a tool that defines `MPI_X` still finds the library's under `PMPI_X`. The
//! form with brackets makes the plain and the large-count function of one body; the type in
//! brackets stands for the letter in angle brackets. Inside a body `NAME` is the function's
//! name. Lines `fn MPI_…` in here are what `cargo xtask generate` counts as implemented, also behind
//! `any_time` and `hot`; `gate` says what these two are, `entry` finds who calls. A body may have a parameter more,
//! named between bars: that of a plain function the proof of being inside ([`Inside`](crate::call::entry::Inside)), that of a hot one also the context of the call,
//! or none where the way of unusual calls is to be taken (`process::quick`). Functions for any time have none.

/// Steps of every function where it is inside (`counting`).
macro_rules! count_call {
    // Counts stand in the thread's context, which is found inside only.
    (any_time $name:ident) => {
        const COUNTER: Option<crate::call::counting::Counter> = crate::call::counting::at_entry($name);
        if let Some(counter) = COUNTER
            && crate::call::counting::on()
        {
            let marked = crate::call::entry::enter();
            crate::call::counting::call(counter);
            crate::call::gate::leave_own(marked);
        }
    };
    ($form:ident $name:ident) => {
        const COUNTER: Option<crate::call::counting::Counter> = crate::call::counting::at_entry($name);
        if let Some(counter) = COUNTER {
            crate::call::counting::call(counter);
        }
    };
}

/// The record of a call that is under way (`watching`). A hot function that finds somebody to act for has none.
macro_rules! watch_call {
    (plain [$($here:ident)?] $name:ident ($($a:ident),*) $watched:ident) => {
        let _inside = crate::call::watching::on()
            .then(|| crate::call::watching::enter($name, &[$((stringify!($a), crate::call::watching::word(&$a))),*]));
    };
    (hot [$here:ident] $name:ident ($($a:ident),*) $watched:ident) => {
        if $here.is_unusual() && crate::call::watching::on() {
            // SAFETY: the caller's promises.
            return unsafe { $watched($($a),*) };
        }
    };
    (any_time [] $name:ident $arguments:tt $watched:ident) => {};
}

macro_rules! mpi_fn {
    ($(#[$m:meta])* fn $($rest:tt)*) => { mpi_fn!(@read plain [$(#[$m])*] $($rest)*); };
    ($(#[$m:meta])* any_time fn $($rest:tt)*) => { mpi_fn!(@read any_time [$(#[$m])*] $($rest)*); };
    ($(#[$m:meta])* hot fn $($rest:tt)*) => { mpi_fn!(@read hot [$(#[$m])*] $($rest)*); };

    (@read $form:ident $m:tt $name:ident ($($a:ident : $t:ty),* $(,)?) -> $r:ty $(|$here:ident|)? $body:block) => {
        mpi_fn!(@make $form $m [] $name ($($a : $t),*) -> $r, [$($here)?] $body);
    };
    (@read $form:ident $m:tt $($name:ident [$c:ty]),+ <$n:ident> ($($a:ident : $t:ty),* $(,)?) -> $r:ty $(|$here:ident|)? $body:block) => {
        mpi_fn!(@each $form $m [$($name [$c])+] $n ($($a : $t),*) -> $r, [$($here)?] $body);
    };
    (@each $form:ident $m:tt [] $n:ident $args:tt -> $r:ty, $here:tt $body:block) => {};
    (@each $form:ident $m:tt [$name:ident [$c:ty] $($rest:tt)*] $n:ident $args:tt -> $r:ty, $here:tt $body:block) => {
        mpi_fn!(@make $form $m [type $n = $c;] $name $args -> $r, $here $body);
        mpi_fn!(@each $form $m [$($rest)*] $n $args -> $r, $here $body);
    };

    (@make $form:ident [$($m:tt)*] [$($width:tt)*] $name:ident ($($a:ident : $t:ty),*) -> $r:ty, [$($here:ident)?] $body:block) => {
        const _: () = {
            #[allow(dead_code, reason = "not every function can fail")]
            const NAME: &str = stringify!($name);
            $($width)*
            $($m)*
            #[inline(always)]
            #[allow(clippy::too_many_arguments, reason = "the standard's")]
            #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
            #[allow(non_snake_case, reason = "the standard's name, which stacks show whatever way led here")]
            unsafe fn $name($($here: mpi_fn!(@here $form),)? $($a: $t),*) -> $r {
                count_call!($form NAME);
                watch_call!($form [$($here)?] NAME ($($a),*) watched);
                $body
            }
            mpi_fn!(@watched $form [$($here)?] ($($a : $t),*) -> $r, $body);
            mpi_fn!(@longer $form $name ($($a : $t),*) -> $r);
            $($m)*
            // SAFETY: the name is the standard's; nothing else in the process may define it but a
            // tool that interposes on purpose.
            #[unsafe(export_name = stringify!($name))]
            pub unsafe extern "C-unwind" fn called($($a: $t),*) -> $r { mpi_fn!(@run $form [$($here)?] $name ($($a),*)) }
            $($m)*
            // SAFETY: the name is the standard's for tools; nothing else in the process may define it.
            #[unsafe(export_name = concat!("P", stringify!($name)))]
            pub unsafe extern "C-unwind" fn profiled($($a: $t),*) -> $r { mpi_fn!(@run $form [$($here)?] $name ($($a),*)) }
        };
    };

    // The body once more where calls are recorded.
    (@watched hot [$here:ident] ($($a:ident : $t:ty),*) -> $r:ty, $body:block) => {
        #[cold]
        #[inline(never)]
        #[allow(clippy::unnecessary_cast, clippy::useless_conversion, reason = "one body for two widths")]
        unsafe extern "C-unwind" fn watched($($a: $t),*) -> $r {
            let _inside =
                $crate::call::watching::enter(NAME, &[$((stringify!($a), $crate::call::watching::word(&$a))),*]);
            // SAFETY: the function that was entered has given its own up, and the thread is marked, or let in with all others.
            let $here = unsafe { $crate::call::entry::recorded() };
            $body
        }
    };
    (@watched $form:ident $here:tt $arguments:tt -> $r:ty, $body:block) => {};

    (@longer hot $name:ident ($($a:ident : $t:ty),*) -> $r:ty) => {
        /// Where there are several threads.
        #[inline(never)]
        unsafe extern "C-unwind" fn longer($($a: $t),*) -> $r {
            if $crate::call::gate::is_open_to_all() {
                // SAFETY: the caller's promises; all are let in, and this is the call's one proof.
                return unsafe { $name($crate::call::entry::one_of_several(), $($a),*) };
            }
            // SAFETY: the caller's promises.
            unsafe { longest($($a),*) }
        }
        #[allow(dead_code, reason = "only for functions with many arguments")]
        #[inline(never)]
        unsafe extern "C-unwind" fn shortest($($a: $t),*) -> $r {
            mpi_fn!(@short $name ($($a),*))
        }
        /// Where a thread that is not the owner leaves a mark, or there is no MPI.
        #[inline(never)]
        unsafe extern "C-unwind" fn longest($($a: $t),*) -> $r {
            let marked = $crate::call::entry::enter_as_newcomer();
            // SAFETY: the caller's promises; the thread was let in, and this is the call's one proof.
            let result = unsafe { $name($crate::call::entry::newcomer(), $($a),*) };
            $crate::call::gate::leave(marked);
            result
        }
    };
    (@longer $form:ident $name:ident $args:tt -> $r:ty) => {};

    (@here plain) => { $crate::call::entry::Inside };
    (@here hot) => { $crate::call::entry::Admission };
    // The call's one proof, behind `enter`.
    (@inside $here:ident) => { $crate::call::entry::Inside::new() };

    (@run any_time [] $name:ident ($($a:ident),*)) => {
        // SAFETY: the caller's promises.
        unsafe { $name($($a),*) }
    };
    (@run plain [$($here:ident)?] $name:ident ($($a:ident),*)) => {{
        let marked = $crate::call::entry::enter();
        // SAFETY: the caller's promises; the thread was let in.
        let result = unsafe { $name($(mpi_fn!(@inside $here),)? $($a),*) };
        $crate::call::gate::leave_own(marked);
        result
    }};
    // No closures: they would put all arguments on the stack. With `longer` and `longest` apart the first is a jump, and
    // who is not the owner saves no registers for the owner's way: of itself with up to six arguments. With one on
    // the stack the owner's way is a function, too; a single call, or the compiler copies that argument.
    (@run hot [$here:ident] $name:ident ($a:ident, $b:ident, $c:ident, $d:ident, $e:ident, $f:ident, $($g:ident),+)) => {{
        let way = if $crate::call::gate::is_owner() { shortest } else { longer };
        // SAFETY: the caller's promises.
        unsafe { way($a, $b, $c, $d, $e, $f, $($g),+) }
    }};
    (@run hot [$here:ident] $name:ident ($($a:ident),*)) => {{
        if !$crate::call::gate::is_owner() {
            // SAFETY: the caller's promises.
            return unsafe { longer($($a),*) };
        }
        mpi_fn!(@short $name ($($a),*))
    }};

    // The way of who was the owner just now.
    (@short $name:ident ($($a:ident),*)) => {{
        if !$crate::call::gate::enter_as_owner() {
            // SAFETY: the caller's promises.
            return unsafe { longest($($a),*) };
        }
        // SAFETY: the caller's promises; the thread is marked as the owner, and this is the call's one proof.
        let result = unsafe { $name($crate::call::entry::owner(), $($a),*) };
        $crate::call::gate::leave(true);
        result
    }};
}
