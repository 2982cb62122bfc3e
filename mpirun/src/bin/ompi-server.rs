//! `ompi-server`.

fn main() -> std::process::ExitCode {
    oxmpi_mpirun::name_server::main()
}
