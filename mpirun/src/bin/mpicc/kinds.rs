//! Flags of Fortran compilers that change what the interfaces mean: refused where the library would be called wrongly, part
//! of a module set's key where the set alone becomes another.

use std::ffi::OsString;

/// The library takes INTEGER of 4 bytes; such a flag makes it of another size.
const INTEGERS: &str = "-fdefault-integer-8 -finteger-4-integer-8 -i8 -i2 -integer-size=16 -integer-size=64 -integer_size=64 \
    -qintsize=8 -qintsize=2 -CcdII8 -CcdII4I8 -sinteger64 -sdefault64 -s=integer64 -s=default64";

/// The library's names are in lower case with one underscore behind; such a flag makes the compiler call others.
const NAMES: &str = "-fno-underscoring -fsecond-underscore -fleading-underscore -assume=nounderscore -assume=2underscores \
    -names=uppercase -names=as_is -nus -uppercase -Mupcase -Msecond_underscore";

/// Beginnings of flags that change kinds, layouts or names inside modules, so that these need a set of their own.
const OWN_SET: &str = "-fdefault-real- -fdefault-double- -freal- -r4 -r8 -r16 -real-size= -double-size= -autodouble -kind= -double \
    -Mr8 -fpscomp= -standard-semantics -assume= -sreal -s=real -qrealsize= -CcdRR8 -m32 -mx32 -target= --target=";

/// Flags whose value may be the next argument.
const WITH_VALUE: [&str; 8] =
    ["-assume", "-names", "-integer-size", "-real-size", "-double-size", "-fpscomp", "-s", "-target"];

/// The flags among a command's arguments for which the modules are compiled apart.
///
/// # Errors
/// A sentence that says why a flag cannot be used with this library.
pub fn own_set(arguments: &[OsString]) -> Result<Vec<OsString>, String> {
    let mut own = Vec::new();
    let arguments = with_lists(arguments);
    let mut rest = arguments.iter().peekable();
    while let Some(argument) = rest.next() {
        let mut plain = vec![argument.to_string_lossy().into_owned()];
        let mut value = None;
        if WITH_VALUE.contains(&plain[0].as_str()) {
            // Of `-s` only the words that are known: with most compilers it stands alone.
            let is_value = |v: &&OsString| {
                plain[0] != "-s" || ["integer64", "default64", "real64"].iter().any(|w| v == w)
            };
            value = rest.next_if(|v| is_value(v));
            let words = value.map(|v| v.to_string_lossy().into_owned()).unwrap_or_default();
            plain = words.split(',').map(|word| format!("{}={word}", plain[0])).collect();
        }
        for flag in &plain {
            refuse(flag)?;
        }
        if plain.iter().any(|flag| OWN_SET.split_whitespace().any(|start| flag.starts_with(start))) {
            own.push(argument.clone());
            own.extend(value.cloned());
        }
    }
    Ok(own)
}

fn refuse(flag: &str) -> Result<(), String> {
    let is_in = |list: &str| list.split_whitespace().any(|known| known == flag);
    let shown = flag.replacen(
        '=',
        " ",
        usize::from(WITH_VALUE.iter().any(|name| flag.starts_with(&format!("{name}=")))),
    );
    if is_in(INTEGERS) {
        return Err(format!(
            "{shown} changes the size of INTEGER, and the standard ABI's Fortran library takes INTEGER arguments of 4 bytes: \
             a call would read and write the wrong bytes. Compile without it, and declare the integers that need 8 bytes with a kind"
        ));
    }
    if is_in(NAMES) {
        return Err(format!(
            "{shown} changes the names of external procedures, and the library has them in lower case with one underscore \
             behind, such as mpi_send_: the program would not link. Compile without it"
        ));
    }
    Ok(())
}

/// The arguments, with those that stand in a list (`@FILE`) in its place. A list that cannot be read is the compiler's to report.
fn with_lists(arguments: &[OsString]) -> Vec<OsString> {
    let mut all = Vec::new();
    for argument in arguments {
        let list = argument.to_str().and_then(|text| text.strip_prefix('@'));
        match list.and_then(|path| std::fs::read_to_string(path).ok()).and_then(|text| shlex::split(&text)) {
            Some(words) => all.extend(words.into_iter().map(OsString::from)),
            None => all.push(argument.clone()),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(arguments: &[&str]) -> Result<Vec<String>, String> {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        own_set(&arguments).map(|own| own.iter().map(|a| a.to_string_lossy().into_owned()).collect())
    }

    #[test]
    fn flags_that_the_library_cannot_meet_are_refused() {
        for flags in
            [&["-O2", "-fdefault-integer-8"][..], &["-i8"], &["-integer-size", "64"], &["-s", "integer64"]]
        {
            assert!(sorted(flags).unwrap_err().contains("INTEGER arguments of 4 bytes"), "{flags:?}");
        }
        for flags in
            [&["-fsecond-underscore"][..], &["-fno-underscoring"], &["-assume", "realloc_lhs,nounderscore"]]
        {
            assert!(sorted(flags).unwrap_err().contains("one underscore"), "{flags:?}");
        }
        assert!(sorted(&["-integer-size", "64"]).unwrap_err().starts_with("-integer-size 64 "));
    }

    #[test]
    fn flags_that_change_kinds_are_in_the_key() {
        assert_eq!(
            sorted(&["-O2", "-fdefault-real-8", "a.f90", "-real-size", "64", "-s", "a.o"]).unwrap(),
            ["-fdefault-real-8", "-real-size", "64"]
        );
        assert_eq!(sorted(&["-integer-size", "32", "-funderscoring", "-g"]).unwrap(), [""; 0]);
    }

    #[test]
    fn flags_in_a_list_count() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("flags");
        std::fs::write(&list, "-g -fdefault-real-8\n'a b.f90'\n").unwrap();
        assert_eq!(sorted(&[&format!("@{}", list.display())]).unwrap(), ["-fdefault-real-8"]);
    }
}
