//! Texts for standard output and standard error, each written at once, and dropped where nobody reads any more: a program does not end for want of a reader of its reports, as it
//! would by `println!` and `eprintln!`, which panic.

use std::fmt::Arguments;
use std::io::Write;

/// Writes a text to standard error. Any thread may; texts of one process do not mix.
pub fn to_stderr(text: Arguments<'_>) {
    write(std::io::stderr().lock(), text);
}

/// Writes a text to standard output, behind what was printed before. Any thread may; texts of one process do not mix.
pub fn to_stdout(text: Arguments<'_>) {
    write(std::io::stdout().lock(), text);
}

fn write(mut to: impl Write, text: Arguments<'_>) {
    let text = text.to_string();
    // Nobody reads it: there is no one to tell.
    let _ = to.write_all(text.as_bytes()).and_then(|()| to.flush());
}

/// Writes a formatted text to standard error, and goes on where nobody reads it.
#[macro_export]
macro_rules! report {
    ($($text:tt)*) => { $crate::output::to_stderr(::core::format_args!($($text)*)) };
}

/// Writes a formatted line to standard error, and goes on where nobody reads it.
#[macro_export]
macro_rules! reportln {
    ($($text:tt)*) => { $crate::report!("{}\n", ::core::format_args!($($text)*)) };
}

/// Writes a formatted text to standard output, and goes on where nobody reads it.
#[macro_export]
macro_rules! answer {
    ($($text:tt)*) => { $crate::output::to_stdout(::core::format_args!($($text)*)) };
}

/// Writes a formatted line to standard output, and goes on where nobody reads it.
#[macro_export]
macro_rules! answerln {
    ($($text:tt)*) => { $crate::answer!("{}\n", ::core::format_args!($($text)*)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_text_is_written_at_once_or_dropped() {
        let mut all = Vec::new();
        write(&mut all, format_args!("{} and {}\n", 1, 2));
        assert_eq!(all, b"1 and 2\n");
        write(Closed, format_args!("nobody"));
    }
}
