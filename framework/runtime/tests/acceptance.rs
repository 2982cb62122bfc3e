//! Components that the host refuses, with which sentence, and what it accepts from components that are older
//! than it. Descriptors are made by hand, as no macro would make them.

mod common;

use common::{Form, alone, config};
use oxmpi_btl::{BtlAttrs, BtlModule, BtlTable, Endpoint, ProcList, SendDesc, cap};
use oxmpi_loading::accept::{Framework, Promise, Refusal, accept, accept_btl, accept_coll, accept_pml};
use oxmpi_loading::loader::{Found, load};
use oxmpi_mca::abi::{OpenArgs, Opened, TARGET};
use oxmpi_mca::{
    ABI_MAJOR, ABI_MINOR, Cri, Descriptor, LOCK_PROTOCOL, MAGIC, ParamDecl, ParamKind, SliceRef, Status,
    StrRef, Version,
};
use oxmpi_pml::PmlTable;
use oxmpi_runtime::{Error, Level};
use proptest::prelude::*;
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::ptr::{null, null_mut};

extern "C" fn never(_: *const OpenArgs, _: *mut Opened) -> Status {
    unreachable!("nothing of a component is called before it is accepted")
}

fn good() -> Descriptor {
    Descriptor {
        magic: MAGIC,
        abi_major: ABI_MAJOR,
        abi_minor: ABI_MINOR,
        size: size_of::<Descriptor>() as u32,
        target: StrRef::new(TARGET),
        framework: StrRef::new("btl"),
        framework_version: oxmpi_btl::VERSION,
        name: StrRef::new("made_by_hand"),
        version: Version { major: 3, minor: 1, patch: 4 },
        aliases: SliceRef::new(&[]),
        params: SliceRef::new(&[]),
        help: StrRef::EMPTY,
        open: never,
        lock_protocol: LOCK_PROTOCOL,
        cri_stride: size_of::<Cri>() as u32,
        resolve: None,
        table_version: oxmpi_btl::TABLE_VERSION,
        reserved: 0,
    }
}

fn check(d: &Descriptor) -> Result<(), Refusal> {
    let promise = Promise { framework: Framework::Btl, name: "made_by_hand" };
    // SAFETY: a descriptor of this test, whose pointers are to statics, null, or refused by length.
    unsafe { accept(d, Some(promise), "/there/libbtl_made_by_hand.so") }.map(|_| ())
}

/// The sentence names the field, both values and the file.
fn refused(field: &str, theirs: &str, ours: &str, change: impl FnOnce(&mut Descriptor)) {
    let mut d = good();
    change(&mut d);
    let refusal = check(&d).expect_err(field);
    let sentence = refusal.to_string();
    for part in [field, theirs, ours, "/there/libbtl_made_by_hand.so"] {
        assert!(sentence.contains(part), "{part:?} is missing in: {sentence}");
    }
    assert_eq!(refusal.field, field, "{sentence}");
}

#[test]
fn every_field_is_looked_at() {
    assert_eq!(check(&good()), Ok(()));
    refused("magic number", "0x0000000000000007", "0x504d4349504d584f", |d| d.magic = 7);
    refused("ABI version", "4.0", "3.x", |d| d.abi_major = 4);
    refused("ABI version", "2.0", "3.x", |d| d.abi_major = 2);
    // One of that time takes the word of a CRI's lock by itself, and would wait for ever while a thread owns it.
    refused("ABI version", "1.1", "3.x", |d| (d.abi_major, d.abi_minor) = (1, 1));
    refused("ABI version", "3.9", "3.0 or older", |d| d.abi_minor = 9);
    refused("descriptor size", "159 bytes", "160 to", |d| d.size = 159);
    refused("descriptor size", "4294967295 bytes", "160 to", |d| d.size = u32::MAX);
    let mut older = good();
    older.table_version = 0;
    assert_eq!(check(&older), Ok(()), "one that does not tell its table's version");
    refused("table version", "1", "2", |d| d.table_version = 1);
    let protocol = LOCK_PROTOCOL + 1;
    refused("lock protocol", &protocol.to_string(), &LOCK_PROTOCOL.to_string(), |d| {
        d.lock_protocol = protocol;
    });
    refused("CRI stride", "64", "256", |d| d.cri_stride = 64);
    refused("target", "32-be-line128", TARGET, |d| d.target = StrRef::new("32-be-line128"));
    refused("framework", "\"pml\"", "\"btl\", as the file's name says", |d| {
        d.framework = StrRef::new("pml");
    });
    let ours = format!("btl 3.{}", oxmpi_btl::VERSION.minor);
    refused("framework version", "btl 3.7", &format!("{ours} or an older minor"), |d| {
        d.framework_version.minor = 7
    });
    let newer = format!("btl 4.{}", oxmpi_btl::VERSION.minor);
    refused("framework version", &newer, &ours, |d| d.framework_version.major = 4);
    // The first edition, whose verbs had other arguments.
    refused("framework version", "btl 1.2", &ours, |d| {
        d.framework_version = Version { major: 1, minor: 2, patch: 0 };
    });
    refused("name", "\"other\"", "\"made_by_hand\", as the file's name says", |d| {
        d.name = StrRef::new("other");
    });
    refused("name", "\"\"", "small letters", |d| d.name = StrRef::EMPTY);
    refused("name", "\"a/b\"", "small letters", |d| d.name = StrRef::new("a/b"));
}

#[test]
fn lengths_and_texts_are_looked_at() {
    const NULL: StrRef = StrRef { ptr: null(), len: 3 };
    const LONG: StrRef = StrRef { ptr: null(), len: usize::MAX };
    static LATIN: [u8; 3] = [b'a', 0xe4, b'b'];
    refused("name", "a null pointer to 3 bytes", "text", |d| d.name = NULL);
    refused("target", "18446744073709551615 bytes", "at most 64 bytes", |d| d.target = LONG);
    refused("name", "not UTF-8", "UTF-8 text", |d| d.name = StrRef { ptr: LATIN.as_ptr(), len: 3 });
    refused("help text", "bytes", "at most 1048576 bytes", |d| d.help = LONG);
    refused("aliases", "entries", "at most 4096", |d| {
        d.aliases = SliceRef { ptr: null(), len: 1 << 40 };
    });
    refused("aliases", "1 entries at 0x0", "not null", |d| d.aliases = SliceRef { ptr: null(), len: 1 });
    refused("parameters", "2 entries at 0x1", "aligned", |d| {
        d.params = SliceRef { ptr: std::ptr::without_provenance(1), len: 2 };
    });
    static BAD: [ParamDecl; 1] = [{
        let mut p = ParamDecl::new("p", ParamKind::INT, 5, "1", "help");
        p.default = NULL;
        p
    }];
    refused("parameter default", "a null pointer", "text", |d| d.params = SliceRef::new(&BAD));
    // SAFETY: null and misaligned addresses are refused before they are read.
    let nowhere = |d| unsafe { accept(d, None, "x") }.expect_err("no descriptor").field;
    assert_eq!(nowhere(null()), "descriptor");
    assert_eq!(nowhere(std::ptr::without_provenance(4097)), "descriptor");
    let mut no_open = good();
    // SAFETY: overwrites the bytes of the field; the value is not used as a function.
    unsafe { (&raw mut no_open.open).cast::<usize>().write(0) };
    assert_eq!(check(&no_open).expect_err("no open").field, "open function");
}

proptest! {
    /// The answer is an answer, whatever stands in the numbers and lengths. (Pointers stay what they
    /// are or become null: what a pointer points to cannot be checked.)
    #[test]
    fn damage_is_refused_or_harmless(at in 0usize..152, bits in 1u8..=255, also in 0usize..152) {
        let mut d = good();
        let bytes = (&raw mut d).cast::<u8>();
        let pointers = [16, 32, 56, 80, 96, 112, 128, 144];
        for at in [at, also] {
            let word = at / 8 * 8;
            if pointers.contains(&word) {
                // SAFETY: inside the descriptor.
                unsafe { bytes.add(word).cast::<usize>().write(0) };
            } else if [88, 104].contains(&word) {
                // Longer lists than the one that is there are a lie nobody can see, absurd ones are not.
                // SAFETY: as above.
                unsafe { bytes.add(word).cast::<usize>().write(4097 + bits as usize) };
            } else if ![24, 40, 64, 120].contains(&word) {
                // SAFETY: as above; lengths of texts that are there may shrink only, below.
                unsafe { *bytes.add(at) ^= bits };
            } else {
                // SAFETY: as above.
                unsafe {
                    let len = bytes.add(word).cast::<usize>();
                    *len = if bits & 1 == 0 { len.read() / 2 } else { usize::MAX / bits as usize };
                }
            }
        }
        let _ = check(&d);
    }
}

// ------------------------------------------------------------------ modules and tables

extern "C" fn add_procs(_: *mut c_void, procs: ProcList, out: *mut *mut Endpoint) -> Status {
    for i in 0..procs.len {
        // SAFETY: the host's array has `len` entries.
        unsafe { *out.add(i) = null_mut() };
    }
    Status::OK
}
extern "C" fn send(_: *mut c_void, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
    Status::NO_RESOURCE
}
extern "C" fn progress(_: *mut c_void, _: u32) -> i32 {
    0
}

fn basic_table() -> BtlTable {
    BtlTable { add_procs: Some(add_procs), send: Some(send), progress: Some(progress), ..BtlTable::EMPTY }
}

fn module(table: &BtlTable, attrs: &BtlAttrs) -> BtlModule {
    BtlModule { size: size_of::<BtlModule>() as u32, reserved: 0, state: null_mut(), table, attrs }
}

fn opened<T>(modules: &[T]) -> Opened {
    Opened {
        size: size_of::<Opened>() as u32,
        priority: 0,
        modules: modules.as_ptr().cast(),
        count: modules.len(),
        stride: size_of::<T>(),
    }
}

fn take(o: &Opened) -> Result<Vec<oxmpi_btl::BtlHandle>, Refusal> {
    // SAFETY: modules and tables of this test, alive during the call.
    unsafe { accept_btl(o, "old", "libbtl_old.so") }
}

/// A component from the time when a table ended behind `progress` and attributes behind the limits.
#[test]
fn an_older_component_gets_real_functions_for_what_it_lacks() {
    let mut table = basic_table();
    table.size = 48;
    // Bytes behind the end of its table are not its table.
    // SAFETY: overwrites the bytes of a slot that must not be looked at.
    unsafe { (&raw mut table.get).cast::<usize>().write(0xdead_beef) };
    let mut attrs = BtlAttrs::new();
    attrs.size = 24;
    attrs.eager_limit = 1234;
    attrs.max_send_size = 5;
    attrs.exclusivity = 5;
    let handles = take(&opened(&[module(&table, &attrs)])).expect("older, not wrong");
    let h = &handles[0];
    assert_eq!((h.caps, h.attrs().eager_limit), (0, 1234));
    let defaults = BtlAttrs::new();
    assert_eq!(
        (h.attrs().max_send_size, h.attrs().exclusivity),
        (defaults.max_send_size, defaults.exclusivity),
        "what it does not say keeps its default"
    );
    // SAFETY: the host's own functions in the place of missing verbs, and the `send` above: they look at none of their arguments.
    unsafe {
        assert_eq!((h.get)(null_mut(), null_mut(), 0, null()), Status::NOT_SUPPORTED);
        assert_eq!((h.put)(null_mut(), null_mut(), 0, null()), Status::NOT_SUPPORTED);
        assert_eq!((h.flush)(null_mut(), null_mut(), 0, null()), Status::NOT_SUPPORTED);
        assert_eq!((h.atomic)(null_mut(), null_mut(), 0, null()), Status::NOT_SUPPORTED);
        assert_eq!((h.arm)(null_mut(), 0, null_mut()), Status::NOT_SUPPORTED);
        assert_eq!((h.finalize)(null_mut()), Status::OK);
        assert_eq!((h.send)(null_mut(), null_mut(), 0, null()), Status::NO_RESOURCE, "its own");
    }
}

extern "C" fn rma(_: *mut c_void, _: *mut Endpoint, _: u32, _: *const oxmpi_btl::RmaDesc) -> Status {
    Status::PENDING
}
extern "C" fn disarm(_: *mut c_void, _: u32) {}

extern "C" fn open_service(_: *mut c_void) -> Status {
    Status::OK
}
extern "C" fn request(_: *mut c_void, _: *mut Endpoint, _: u32, _: *const SendDesc) -> Status {
    Status::OK
}
extern "C" fn serve(_: *mut c_void) -> i32 {
    0
}
extern "C" fn reply(_: *mut c_void, _: u64, _: *const SendDesc) -> Status {
    Status::OK
}

/// Capabilities are what the slots and the attributes say.
#[test]
fn capabilities_are_computed() {
    let (mut table, mut attrs) = (basic_table(), BtlAttrs::new());
    let caps = |t: &BtlTable, a: &BtlAttrs| take(&opened(&[module(t, a)])).expect("acceptable")[0].caps;
    table.get = Some(rma);
    table.disarm = Some(disarm);
    assert_eq!(caps(&table, &attrs), cap::GET, "disarm without arm is nothing");
    table.service_open = Some(open_service);
    table.service_request = Some(request);
    table.service_progress = Some(serve);
    attrs.service_limit = 4096;
    assert_eq!(caps(&table, &attrs), cap::GET, "requests without replies are nothing");
    table.service_reply = Some(reply);
    assert_eq!(caps(&table, &attrs), cap::GET | cap::SERVICE);
    attrs.service_limit = 0;
    assert_eq!(caps(&table, &attrs), cap::GET, "links that carry nothing are none");
}

#[test]
fn damaged_modules_and_tables_are_refused() {
    let field = |o: &Opened| take(o).err().map(|r| r.field);
    let (table, attrs) = (basic_table(), BtlAttrs::new());
    let m = [module(&table, &attrs)];
    let good = opened(&m);
    assert_eq!(field(&good), None);
    assert_eq!(take(&Opened { count: 0, ..good }).map(|h| h.len()).ok(), Some(0));
    assert_eq!(field(&Opened { count: 5000, ..good }), Some("module count"));
    assert_eq!(field(&Opened { modules: null(), ..good }), Some("modules"));
    assert_eq!(field(&Opened { stride: 8, ..good }), Some("module stride"));
    assert_eq!(field(&Opened { stride: 153, ..good }), Some("module stride"));
    let with_module = |change: &dyn Fn(&mut BtlModule)| {
        let mut m = module(&table, &attrs);
        change(&mut m);
        field(&opened(&[m]))
    };
    assert_eq!(with_module(&|m| m.size = 20), Some("module size"));
    assert_eq!(with_module(&|m| m.size = 1000), Some("module size"));
    assert_eq!(with_module(&|m| m.table = null()), Some("table"));
    assert_eq!(with_module(&|m| m.attrs = null()), Some("attributes"));
    assert_eq!(with_module(&|m| m.attrs = m.attrs.wrapping_byte_add(1)), Some("attributes"));
    let with_attrs = |change: &dyn Fn(&mut BtlAttrs)| {
        let mut a = BtlAttrs::new();
        change(&mut a);
        field(&opened(&[module(&table, &a)]))
    };
    assert_eq!(with_attrs(&|a| a.size = 1 << 20), Some("attributes size"));
    assert_eq!(with_attrs(&|a| a.size = 4), Some("attributes size"));
    assert_eq!(with_attrs(&|a| a.contexts = 0), Some("contexts"));
    let too_large = oxmpi_btl::HANDLE_LIMIT as u32 + 1;
    let field = with_attrs(&|a| a.registration_handle_size = too_large);
    assert_eq!(field, Some("registration handle size"));
    let with_table = |change: &dyn Fn(&mut BtlTable)| {
        let mut t = basic_table();
        change(&mut t);
        take(&opened(&[module(&t, &attrs)])).err().map(|r| r.field)
    };
    assert_eq!(with_table(&|t| t.size = 40), Some("table size"));
    assert_eq!(with_table(&|t| t.size = u32::MAX), Some("table size"));
    assert_eq!(with_table(&|t| t.version = 1), Some("table version"));
    assert_eq!(with_table(&|t| t.send = None), Some("table"));
    assert_eq!(with_table(&|t| t.progress = None), Some("table"));
}

/// Bytes of a PML's table that every PML has.
const MANDATORY_PML: usize = std::mem::offset_of!(PmlTable, counts);

#[test]
fn a_pml_and_a_coll_need_every_function() {
    let mut words = vec![0usize; size_of::<PmlTable>() / 8];
    words[0] = MANDATORY_PML | (oxmpi_pml::TABLE_VERSION as usize) << 32;
    let at = words.as_ptr();
    let m = [i32::MAX as usize * (1 << 32) + 24, 0, at as usize];
    // SAFETY: words laid out as module and table; refused before any is taken as a function.
    let pml = |o: &Opened| unsafe { accept_pml(o, "libpml_x.so") };
    let refusal = pml(&opened(&[m])).err().expect("no functions");
    assert_eq!((refusal.field, refusal.theirs.as_str()), ("table", "null at byte 8"));
    let short = [words[0] - 8, 0];
    let m = [m[0], 0, short.as_ptr() as usize];
    assert_eq!(pml(&opened(&[m])).err().expect("short").field, "table size");
    assert!(pml(&Opened { count: 0, ..opened(&[m]) }).is_ok_and(|p| p.is_none()));
    let m = [40usize, 0, 1, 0, 1];
    // SAFETY: as above.
    let coll = unsafe { accept_coll(&opened(&[m]), "libcoll_x.so") };
    assert_eq!(coll.err().expect("no comm_free").theirs, "null at byte 24");
}

extern "C" fn some_verb() -> Status {
    Status::OK
}

/// A PML from before counts and changes of assertions: it is used, and says that it has neither.
#[test]
fn an_older_pml_gets_real_functions_for_what_it_lacks() {
    let mut words = [some_verb as extern "C" fn() -> Status as usize; MANDATORY_PML / 8];
    words[0] = MANDATORY_PML | (oxmpi_pml::TABLE_VERSION as usize) << 32;
    let m = [i32::MAX as usize * (1 << 32) + 24, 0, words.as_ptr() as usize];
    // SAFETY: words laid out as module and table, every slot with a function, of which none is called.
    let pml = unsafe { accept_pml(&opened(&[m]), "libpml_x.so") };
    let Ok(Some(pml)) = pml else { panic!("older, not wrong") };
    assert_eq!((pml.table.counts)(null_mut(), null_mut(), null_mut()), Status::NOT_SUPPORTED);
    assert_eq!((pml.table.set_flags)(null_mut(), null_mut(), 1), Status::NOT_SUPPORTED);
    assert_eq!((pml.table.measure)(null_mut(), 1), Status::NOT_SUPPORTED);
}

// ------------------------------------------------------------------ through a start

extern "C" fn not_here(_: *const OpenArgs, _: *mut Opened) -> Status {
    Status::NOT_AVAILABLE
}
extern "C" fn broken(_: *const OpenArgs, _: *mut Opened) -> Status {
    Status::INTERNAL
}
extern "C" fn open_old(_: *const OpenArgs, out: *mut Opened) -> Status {
    let mut table = basic_table();
    table.size = 48;
    let table: &'static BtlTable = Box::leak(Box::new(table));
    let attrs: &'static BtlAttrs = Box::leak(Box::new(BtlAttrs::new()));
    let modules: &'static [BtlModule] = Box::leak(Box::new([module(table, attrs)]));
    // SAFETY: the host's out pointer.
    unsafe { *out = opened(modules) };
    Status::OK
}

fn with(
    open: extern "C" fn(*const OpenArgs, *mut Opened) -> Status,
    params: &[(&str, &str)],
) -> Result<(), Error> {
    let mut d = good();
    d.open = open;
    let mut c = config(Form::LinkedIn, Level::Single, params);
    c.builtin.push(Box::leak(Box::new(d)));
    alone(c)?.finalize()
}

#[test]
fn a_named_component_must_be_usable_and_others_need_not() {
    assert_eq!(with(not_here, &[]), Ok(()));
    assert_eq!(with(broken, &[]), Ok(()));
    for open in [not_here as extern "C" fn(_, _) -> _, broken] {
        assert_eq!(with(open, &[("btl", "^made_by_hand")]), Ok(()));
    }
    let e = with(broken, &[("btl", "self,made_by_hand")]).expect_err("named").message;
    assert!(e.contains("made_by_hand") && e.contains("cannot be used"), "{e}");
    // One process is all that there is of this job, and needs no network; of several each would (jobs, `spawn`).
    assert_eq!(with(not_here, &[("btl", "self,made_by_hand")]), Ok(()));
    let e = with(not_here, &[("btl", "self,made_by_hadn")]).expect_err("missing").message;
    assert!(e.contains("made_by_hadn") && e.contains("did you mean made_by_hand?"), "{e}");
    assert_eq!(with(open_old, &[("btl", "self,made_by_hand")]), Ok(()), "an older one is used");
    let e = with(not_here, &[("pml", "^ob1")]).expect_err("no pml").message;
    assert!(e.contains("no pml component"), "{e}");
    let e = with(not_here, &[("btl_shm_eager_limit", "many")]).expect_err("a wrong value").message;
    assert!(e.contains("btl_shm_eager_limit") && e.contains("many"), "{e}");
}

// ------------------------------------------------------------------ files

fn found(path: &Path, name: &str) -> Found {
    Found { framework: Framework::Btl, name: name.into(), path: path.to_path_buf() }
}

fn cc(dir: &Path, out: &str, source: &str, more: &[&str]) -> PathBuf {
    let (c, so) = (dir.join(format!("{out}.c")), dir.join(out));
    std::fs::write(&c, source).expect("a file");
    let status = Command::new("cc")
        .args(["-shared", "-fPIC", "-o"])
        .args([&so, &c])
        .args(more)
        .status()
        .expect("a C compiler (gcc is needed to build this library)");
    assert!(status.success(), "cc {out}");
    so
}

#[test]
fn files_that_are_no_components() {
    let tmp = tempfile::tempdir().expect("a directory");
    let empty = cc(tmp.path(), "libbtl_empty.so", "int x;", &[]);
    let why = load(&found(&empty, "empty")).expect_err("no symbol");
    assert!(why.contains("does not export oxmpi_component_btl_empty") && why.contains("libbtl_empty.so"));
    let null = "void *oxmpi_component_btl_null(void) { return 0; }";
    let why = load(&found(&cc(tmp.path(), "libbtl_null.so", null, &[]), "null")).expect_err("null");
    assert!(why.contains("descriptor") && why.contains("libbtl_null.so"), "{why}");
    let future = "unsigned long long d[32] = { 0x504d4349504d584fULL, 0x000000a000090003ULL };
        void *oxmpi_component_btl_future(void) { return d; }";
    let why = load(&found(&cc(tmp.path(), "libbtl_future.so", future, &[]), "future")).expect_err("3.9");
    assert!(why.contains("ABI version") && why.contains("3.9") && why.contains("libbtl_future.so"), "{why}");
}

/// `dlsym` would find the function in a library that the file depends on.
#[test]
fn the_function_must_be_in_the_file_itself() {
    let tmp = tempfile::tempdir().expect("a directory");
    let dir = tmp.path();
    let source = "void *oxmpi_component_btl_borrowed(void) { return 0; }";
    cc(dir, "libowner.so", source, &[]);
    let here = dir.to_str().expect("a path in UTF-8");
    let rpath = format!("-Wl,-rpath,{here}");
    let more = ["-L", here, "-Wl,--no-as-needed", "-lowner", &rpath];
    let borrower = cc(dir, "libbtl_borrowed.so", "int y;", &more);
    let why = load(&found(&borrower, "borrowed")).expect_err("another file's");
    assert!(why.contains("comes from another file"), "{why}");
}

#[test]
fn a_real_component_loads_from_its_file() {
    let path = common::component_dir().join("libbtl_self.so");
    let a = load(&found(&path, "self")).expect("a component");
    assert_eq!((a.framework, a.name), (Framework::Btl, "self"));
    // The same file under another name is another promise.
    let tmp = tempfile::tempdir().expect("a directory");
    let copy = tmp.path().join("libbtl_shm.so");
    std::fs::copy(&path, &copy).expect("a copy");
    let why = load(&found(&copy, "shm")).expect_err("not shm");
    assert!(why.contains("does not export oxmpi_component_btl_shm"), "{why}");
}
