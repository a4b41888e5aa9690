// The commands and their options. Loaded only when there are arguments.
import { Command, CommanderError, Option } from 'commander';
import { VERSION } from '../base/version.ts';
import type { CommandOptions } from './with-switchboard.ts';

const EXAMPLES = `
Examples:
  switchboard                                   serve, as a host starts it
  switchboard doctor                            start each server and say what works
  switchboard tools memory                      list the tools of one server
  switchboard call memory read_graph            call a tool
  switchboard call memory search_nodes '{"query": "tea"}'

Exit status: 0 success, 1 a bug, 2 usage or configuration, 3 a server, 4 a tool, 130 interrupted.
Files: switchboard.config.json in the project, the same in $SWITCHBOARD_HOME (~/.switchboard).
`;

/** Runs the command that the arguments name; gives the exit status. */
export async function runProgram(args: readonly string[]): Promise<number> {
  let status = 0;
  const program = buildProgram((result) => {
    status = result;
  });
  try {
    await program.parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    // commander has printed what is wrong, or the help that was asked for.
    return error.exitCode === 0 ? 0 : 2;
  }
}

function buildProgram(finish: (status: number) => void): Command {
  const program = new Command('switchboard')
    .description('One MCP server in front of all your others: one small tool for each of them.')
    .version(VERSION, '-V, --version', 'print the version')
    .addOption(new Option('--dry-run', 'list the subtools of every server, like `tools`'))
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError()
    .showHelpAfterError('(see: switchboard --help)')
    .enablePositionalOptions()
    .exitOverride();
  withCommonOptions(program).action(async (options: CommandOptions & { dryRun?: boolean }) => {
    if (options.dryRun)
      return finish(await (await import('./tools.ts')).listTools(undefined, options));
    finish(await (await import('./serve.ts')).serve({ configFile: options.config }));
  });

  const command = (usage: string, description: string): Command =>
    withCommonOptions(program.command(usage).description(description));

  command('serve', 'serve MCP over stdin and stdout; what a host runs').action(
    async (options: CommandOptions) =>
      finish(await (await import('./serve.ts')).serve({ configFile: options.config })),
  );
  command('tools [server]', 'list the subtools of every server, or of one').action(
    async (server: string | undefined, options: CommandOptions) =>
      finish(await (await import('./tools.ts')).listTools(server, options)),
  );
  command(
    'call <server> <subtool> [json]',
    'call one subtool; "-" reads the arguments from stdin',
  ).action(
    async (server: string, subtool: string, json: string | undefined, options: CommandOptions) =>
      finish(await (await import('./call.ts')).callSubtool(server, subtool, json, options)),
  );
  command('doctor [server]', 'start each server and say what works, what does not and why').action(
    async (server: string | undefined, options: CommandOptions) =>
      finish(await (await import('./doctor.ts')).doctor(server, options)),
  );

  const config = program.command('config').description('look at the configuration').exitOverride();
  const configCommand = (name: string, description: string): Command =>
    withCommonOptions(config.command(name).description(description));
  configCommand('check', 'say whether the files are sound, and what they add up to').action(
    async (options: CommandOptions) =>
      finish(await (await import('./config.ts')).checkConfig(options)),
  );
  configCommand('print', 'print the settled configuration as JSON, without secrets').action(
    async (options: CommandOptions) =>
      finish(await (await import('./config.ts')).printConfig(options)),
  );
  configCommand('schema', 'print the JSON Schema of the configuration file').action(async () =>
    finish(await (await import('./config.ts')).printSchema()),
  );
  return program;
}

function withCommonOptions(command: Command): Command {
  return command
    .option('--config <file>', "use this configuration file instead of the project's")
    .option('--json', 'print JSON')
    .exitOverride();
}
