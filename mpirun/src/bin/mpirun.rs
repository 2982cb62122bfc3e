//! `mpirun` and, under another name, `mpiexec`.

fn main() -> std::process::ExitCode {
    oxmpi_mpirun::launcher::main()
}
