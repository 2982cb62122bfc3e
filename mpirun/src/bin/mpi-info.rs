//! `mpi-info` and, under another name, `ompi_info`.

fn main() -> std::process::ExitCode {
    oxmpi_mpirun::info::main()
}
