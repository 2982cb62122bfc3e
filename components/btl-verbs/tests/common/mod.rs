//! The device in software, as a library that the component opens.

use oxmpi_btl_conformance::Setup;

/// Path of the library, built with this test.
pub fn fake() -> String {
    let exe = std::env::current_exe().expect("the path of this test");
    let name = "liboxmpi_verbs_fake.so";
    let found = exe.ancestors().skip(1).take(2).map(|dir| dir.join(name)).find(|path| path.is_file());
    found.expect("the library beside this test").to_string_lossy().into_owned()
}

/// Jobs over it.
pub fn setup() -> Setup {
    Setup::new(btl_verbs::descriptor()).connects().param("library", &fake())
}
