//! Lines on standard error, each by one write: a process that is ended meanwhile has said all of a line or nothing of it.

/// Says a line under the library's name.
macro_rules! report {
    ($($words:tt)*) => {{
        use std::io::Write;
        let line = format!("oxmpi-ep: {}\n", format_args!($($words)*));
        // There is nobody to be told of a closed standard error.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }};
}
