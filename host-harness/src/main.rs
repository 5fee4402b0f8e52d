//! The command line tool `compact-review`: everything is in [`host_harness::cli`].

#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    host_harness::cli::main()
}
