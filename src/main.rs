//! `sim`: the command line of shadowtime.

use std::process::ExitCode;

use shadowtime::cli;

fn main() -> ExitCode {
    match cli::run(std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if cli::is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            cli::print_error(format_args!("{error:#}"));
            ExitCode::from(cli::exit_code(&error))
        }
    }
}
