//! What the tests' git asks for credentials: the library's answer behind a command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let operation = match args.as_slice() {
        [command, operation] if command == guildhall_git::CREDENTIAL_COMMAND => operation.as_str(),
        _ => return ExitCode::from(4),
    };
    let env = |name: &str| std::env::var_os(name);
    let found = guildhall_git::answer(
        operation,
        &mut std::io::stdin(),
        &env,
        &mut std::io::stdout(),
    );
    match found {
        Ok(()) | Err(guildhall_git::HelperRefusal::NotAsked) => ExitCode::SUCCESS,
        Err(refusal) => {
            eprintln!("{refusal}");
            ExitCode::from(1)
        }
    }
}
