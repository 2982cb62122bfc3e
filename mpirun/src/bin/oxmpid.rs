//! The node daemon. `mpirun` starts it; by itself it is of no use.

fn main() -> std::process::ExitCode {
    oxmpi_mpirun::daemon::main()
}
