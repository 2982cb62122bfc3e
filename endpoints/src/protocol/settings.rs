//! Environment variables, read once in each process.

use std::sync::OnceLock;

/// Where the proxies of a node run (OXMPI_EP_PROXY_CPUS).
#[derive(Debug, PartialEq, Eq)]
pub enum Cpus {
    /// Wherever the system has them.
    Any,
    /// On the last processors, one each, where there is one for each thread with an endpoint besides.
    Last,
    /// On these, dealt out in turn.
    List(Vec<usize>),
}

impl Cpus {
    /// The processor of a proxy that has `before` in front of it, of `all` on its node, and may use `allowed`; none where it is not pinned.
    pub fn of(&self, before: usize, all: usize, allowed: &[usize]) -> Option<usize> {
        match self {
            Cpus::Any => None,
            Cpus::Last => allowed.iter().rev().nth(before).copied().filter(|_| allowed.len() >= 2 * all),
            Cpus::List(list) => Some(list[before % list.len()]),
        }
    }

    fn read(text: &str) -> Result<Cpus, String> {
        let wrong =
            |c: &str| format!("OXMPI_EP_PROXY_CPUS: {c:?} is neither auto nor the number of a processor");
        let number = |c: &str| {
            c.parse::<usize>().ok().filter(|cpu| *cpu < libc::CPU_SETSIZE as usize).ok_or_else(|| wrong(c))
        };
        let list = text.split(',').map(str::trim).filter(|c| !c.is_empty()).map(number);
        match text.trim() {
            "auto" => Ok(Cpus::Last),
            _ => match list.collect::<Result<Vec<_>, _>>()? {
                none if none.is_empty() => Ok(Cpus::Any),
                list => Ok(Cpus::List(list)),
            },
        }
    }
}

/// See docs/endpoints-by-proxies.md for what each does.
#[derive(Debug)]
pub struct Settings {
    /// Proxies poll for pending operations without being asked (OXMPI_EP_PROGRESS=async), or in calls only (call).
    pub asynchronous: bool,
    /// Looks at a word before the first yield (OXMPI_EP_SPIN); by default as many as cores allow.
    pub spin: Option<u32>,
    /// Bytes of the shared heap (OXMPI_EP_HEAP_MB).
    pub heap: usize,
    /// From this many bytes on a buffer outside of the heap is read and written by the proxy (OXMPI_EP_CMA_MIN).
    pub cma_min: usize,
    /// OXMPI_EP_CMA=0: never.
    pub cma: bool,
    /// Allocations of at least this many bytes come from the shared heap (OXMPI_EP_MALLOC_MIN); none by default.
    pub malloc_min: usize,
    /// The proxies' processors on each node.
    pub cpus: Cpus,
    /// MPI_COMM_WORLD is a communicator of one endpoint for each process (OXMPI_EP_WORLD=1).
    pub world: bool,
    /// Every process prints what it counted (OXMPI_EP_REPORT=1).
    pub report: bool,
}

/// The settings, or which variable is wrong.
pub fn settings() -> &'static Result<Settings, String> {
    static SETTINGS: OnceLock<Result<Settings, String>> = OnceLock::new();
    SETTINGS.get_or_init(|| read(|name| std::env::var(name).ok()))
}

fn read(get: impl Fn(&str) -> Option<String>) -> Result<Settings, String> {
    let number = |name: &str, default: usize| match get(name).as_deref() {
        None | Some("") => Ok(default),
        Some(text) => text.trim().parse::<usize>().map_err(|_| format!("{name}: {text:?} is not a number")),
    };
    let switch = |name: &str, default: bool| match get(name).as_deref() {
        None | Some("") => Ok(default),
        Some("0") => Ok(false),
        Some("1") => Ok(true),
        Some(text) => Err(format!("{name}: {text:?} is neither 0 nor 1")),
    };
    let asynchronous = match get("OXMPI_EP_PROGRESS").as_deref() {
        None | Some("" | "async") => true,
        Some("call") => false,
        Some(text) => return Err(format!("OXMPI_EP_PROGRESS: {text:?} is neither async nor call")),
    };
    let spin = match number("OXMPI_EP_SPIN", usize::MAX)? {
        usize::MAX => None,
        spin => Some(u32::try_from(spin).map_err(|_| format!("OXMPI_EP_SPIN: {spin} is too large"))?),
    };
    let megabytes = number("OXMPI_EP_HEAP_MB", 4096)?;
    if !(1..=1 << 20).contains(&megabytes) {
        return Err(format!("OXMPI_EP_HEAP_MB: {megabytes} is not between 1 and 1048576"));
    }
    Ok(Settings {
        asynchronous,
        spin,
        heap: megabytes << 20,
        cma_min: number("OXMPI_EP_CMA_MIN", 16384)?,
        cma: switch("OXMPI_EP_CMA", true)?,
        malloc_min: number("OXMPI_EP_MALLOC_MIN", usize::MAX)?,
        cpus: Cpus::read(&get("OXMPI_EP_PROXY_CPUS").unwrap_or_default())?,
        world: switch("OXMPI_EP_WORLD", false)?,
        report: switch("OXMPI_EP_REPORT", false)?,
    })
}

#[cfg(test)]
mod tests {
    use super::{Cpus, read};

    #[test]
    fn wrong_values_are_named() {
        assert!(read(|_| None).is_ok());
        for (name, value) in [
            ("OXMPI_EP_PROGRESS", "sometimes"),
            ("OXMPI_EP_SPIN", "-1"),
            ("OXMPI_EP_HEAP_MB", "0"),
            ("OXMPI_EP_CMA", "maybe"),
            ("OXMPI_EP_PROXY_CPUS", "1,x"),
        ] {
            let error = read(|asked| (asked == name).then(|| value.to_owned())).unwrap_err();
            assert!(error.starts_with(name), "{error}");
        }
        let cpus = |text: &str| {
            read(|asked| (asked == "OXMPI_EP_PROXY_CPUS").then(|| text.to_owned())).unwrap().cpus
        };
        assert_eq!(cpus("3, 5"), Cpus::List(vec![3, 5]));
        assert_eq!((cpus(""), cpus(" auto")), (Cpus::Any, Cpus::Last));
    }

    #[test]
    fn the_last_processors_are_taken_where_there_are_two_for_each_endpoint() {
        let allowed = [0, 1, 4, 5];
        assert_eq!([0, 1].map(|before| Cpus::Last.of(before, 2, &allowed)), [Some(5), Some(4)]);
        assert_eq!(Cpus::Last.of(0, 3, &allowed), None);
        assert_eq!(Cpus::Any.of(0, 1, &allowed), None);
        assert_eq!(
            [0, 1, 2].map(|before| Cpus::List(vec![7, 3]).of(before, 3, &allowed)),
            [Some(7), Some(3), Some(7)]
        );
    }
}
