// The commands and their options. Loaded only when there are arguments.
import { Command, CommanderError, Option } from 'commander';
import type { HttpFlags } from '../background/hello.ts';
import type { Installation } from '../background/join-or-start.ts';
import { SwitchboardError } from '../base/errors.ts';
import { VERSION } from '../base/version.ts';
import { showAgents } from './commands/agents.ts';
import type { AssistantFlags } from './commands/assistant.ts';
import { isSwitchOfServe, switchAssistant } from './commands/assistant-switch.ts';
import type { AuditOptions } from './commands/audit.ts';
import { acceptCommand, showChanges } from './commands/changes.ts';
import { checkConfig, printConfig, printSchema } from './commands/config.ts';
import { importCommand } from './commands/import.ts';
import { login, logout } from './commands/login.ts';
import { explainPermission } from './commands/permissions.ts';
import { runAgent } from './commands/run-agent.ts';
import { scan } from './commands/scan.ts';
import { listSecrets, moveSecretsCommand, removeSecret, setSecret } from './commands/secret.ts';
import { type ShowOptions, show } from './commands/show.ts';
import { installSkillCommand, uninstallSkillCommand } from './commands/skill.ts';
import { doctor } from './doctor/doctor.ts';
import {
  ABOUT_AGENTS,
  ABOUT_ALONE,
  ABOUT_ASSISTANT,
  ABOUT_AUDIT,
  ABOUT_CALL,
  ABOUT_CHANGES,
  ABOUT_EXPLAIN,
  ABOUT_RUN,
  ABOUT_SCAN,
  ABOUT_SHOW,
  ABOUT_STOP,
  ABOUT_TOOLS,
  ABOUT_TRUST,
  EXAMPLES,
} from './help-texts.ts';
import { refuseHttpFlags, wantsHttp } from './serve/http-options.ts';
import { serve } from './serve/serve.ts';
import { showLogs } from './status/logs.ts';
import { reloadRunning } from './status/reload.ts';
import { showStatus } from './status/status.ts';
import { stopCommand } from './status/stop.ts';
import { call } from './tools/call.ts';
import { listTools } from './tools/tools.ts';
import { adviceFor } from './unknown-command.ts';

/** Runs a command; returns the exit status. With `installation`, it may join the background process. */
export async function runCommand(
  args: readonly string[],
  installation?: Installation,
): Promise<number> {
  let status = 0;
  /** Wraps a command, which returns the exit status, as a commander action. */
  const action: Action =
    (start) =>
    async (...given) => {
      const command = given.pop() as Command;
      const operands = given.slice(0, -1).flat() as (string | undefined)[];
      status = await start(command.optsWithGlobals(), ...operands);
    };
  try {
    await buildProgram(action, installation).parseAsync([...args], { from: 'user' });
    return status;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode; // --help or --version
    throw error;
  }
}

interface Options extends Omit<ShowOptions, 'project'>, HttpFlags, AssistantFlags, AuditOptions {
  /** Only the program's first file looks at it: then, nothing here can join the background process. */
  readonly alone?: boolean;
  readonly all?: boolean;
  /** A flag of `show`, a folder for `trust`. */
  readonly project?: boolean | string;
  readonly browser?: boolean;
  readonly check?: boolean;
  readonly cwd?: string;
  readonly dryRun?: boolean;
  readonly follow?: boolean;
  readonly force?: boolean;
  readonly keychain?: boolean;
  readonly lines?: string;
  readonly only?: readonly string[];
  readonly register?: boolean;
  readonly watch?: boolean;
}
type Start = (options: Options, ...operands: (string | undefined)[]) => Promise<number>;
type Action = (start: Start) => (...given: unknown[]) => Promise<void>;

export function buildProgram(action: Action, installation?: Installation): Command {
  const program = new Command('switchboard')
    .description('One MCP server in front of all your others, with one small tool for each.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--dry-run', 'list the tools of all servers, or just one (same as `tools`)')
    .option('--alone', ABOUT_ALONE)
    .argument('[command]')
    .usage('[options] [command]')
    .addHelpText('after', EXAMPLES)
    .showSuggestionAfterError()
    .configureOutput({ getOutHelpWidth: helpWidth, outputError: () => {} })
    .enablePositionalOptions();
  withCommonOptions(program).action(
    action(async (options, operand) => {
      if (options.dryRun) return listTools(operand === undefined ? [] : [operand], options);
      if (operand !== undefined) throw unknownCommand(operand, program);
      return serveWith(options, installation);
    }),
  );

  const command = (usage: string, description: string): Command =>
    withCommonOptions(program.command(usage).description(description));
  command('serve', 'serve MCP over stdin and stdout (for hosts), or over HTTP')
    .option('--alone', ABOUT_ALONE)
    .option('--http', 'serve over HTTP at http://127.0.0.1:8081/mcp (or: TRANSPORT=http)')
    .option('--host <address>', 'address to listen on (or: HOST)')
    .option('--port <number>', 'port to listen on, 0 for a free one (or: PORT)')
    .option('--no-auth', "don't require a token; 127.0.0.1 only (or: SWITCHBOARD_NO_AUTH=1)")
    .option(
      '--allow-remote',
      'allow connections from other machines (or: SWITCHBOARD_ALLOW_REMOTE=1)',
    )
    .option(
      '--allow-host <name>',
      'host name that clients may use; repeatable (or: SWITCHBOARD_ALLOW_HOST)',
      collect,
    )
    .action(action(async (options) => serveWith(options, installation)));
  command('tools [server] [tool]', 'list the tools of all servers, or show one in full')
    .addHelpText('after', ABOUT_TOOLS)
    .action(action(async (options, ...words) => listTools(words.filter(isWord), options)));
  command('call <tool> [arguments...]', 'call a tool and print its result')
    .addHelpText('after', ABOUT_CALL)
    .action(action(async (options, ...words) => call(words.filter(isWord), options)));
  command('show [server] [how]', 'show or change how hosts see each server')
    .addHelpText('after', ABOUT_SHOW)
    .option('--start <when>', 'when to start the server: lazy or eager')
    .option('--idle-ms <ms>', 'stop the server after this many idle milliseconds (0 = never)')
    .option('--project', "write to the project's file")
    .option('--user', "write to the user's file, which applies to every project")
    .action(
      action(async ({ project, ...options }, server, how) =>
        show(server, how, { ...options, project: project === true }),
      ),
    );
  const assistant = command(
    'assistant [server] [state]',
    'show which servers have an assistant, or turn one on or off',
  )
    .option('--dry-run', 'only print what would be done')
    .addHelpText('after', ABOUT_ASSISTANT)
    .helpCommand(false)
    .action(action(async (options, server, state) => switchAssistant(server, state, options)));
  withCommonOptions(assistant.command('serve [server]'))
    .description('serve one server as the tool natural_language, backed by a model')
    .option('--folder <folder>', 'folder of a server that was set up for an assistant')
    .option('--no-conversation', "don't remember earlier queries")
    .option('--tools', "serve the server's own tools instead (only those allowed)")
    .addOption(new Option('--shared').hideHelp()) // see background/hello.ts
    // In case a server is named "serve".
    .addOption(new Option('--dry-run').hideHelp())
    .action(
      action(async (options, server) =>
        (await isSwitchOfServe(server, options))
          ? switchAssistant('serve', server, options)
          : (await import('./commands/assistant.ts')).serveAssistant(server, options),
      ),
    );
  // Only agents' engines start it.
  withCommonOptions(program.command('agent-server', { hidden: true })).action(
    action(async (options) => (await import('./commands/agent-server.ts')).serveGuarded(options)),
  );
  command('doctor [server]', 'start each server and report problems').action(
    action(async (options, server) => doctor(server, options)),
  );
  const changes = command('changes [server]', 'show which tools servers have changed')
    .addHelpText('after', ABOUT_CHANGES)
    .helpCommand(false)
    .action(action(async (options, server) => showChanges(server, options)));
  withCommonOptions(changes.command('accept [server] [tool]'))
    .description("accept held changes: all of them, one server's, or one tool's")
    .action(action(async (options, server, tool) => acceptCommand(server, tool, options)));
  command('scan [server]', 'start each server and scan its tools for attacks')
    .addHelpText('after', ABOUT_SCAN)
    .action(action(async (options, server) => scan(server, options)));
  command('trust [action] [names...]', 'list and decide what needs approval in a project')
    .option('--all', 'all pending items; for revoke, all decisions')
    .option('--project <folder>', 'project folder (default: the current folder)')
    .addHelpText('after', ABOUT_TRUST)
    .action(
      action(async ({ project, ...options }, verb, ...names) => {
        const folder = typeof project === 'string' ? project : undefined;
        return (await import('./commands/trust.ts')).trust(verb, names.filter(isWord), {
          ...options,
          folder,
        });
      }),
    );
  command('status [server]', 'show the running Switchboard processes and their servers')
    .option('--watch', 'refresh every second until Ctrl-C')
    .action(action(async (options, server) => showStatus(server, options)));
  command('stop [server]', 'stop the background process, or one server wherever it runs')
    .option('--force', 'also if that interrupts sessions or calls')
    .option('--all', 'also stop other versions, and sessions that serve alone')
    .addHelpText('after', ABOUT_STOP)
    .action(action(async (options, server) => stopCommand('stop', server, options)));
  command('restart [server]', 'restart the background process, or one server wherever it runs')
    .option('--force', 'also if that interrupts sessions or calls')
    .action(action(async (options, server) => stopCommand('restart', server, options)));
  command('logs [server]', "show a server's log, or the background process's")
    .option('-f, --follow', 'print new lines as they come, until Ctrl-C')
    .option('-n, --lines <count>', 'how many of the last lines to print (default: 100)')
    .action(action(async (options, server) => showLogs(server, options)));
  command('reload', 'reload the configuration of running Switchboard processes').action(
    action(async (options) => reloadRunning(options)),
  );
  command('agents [agent]', 'list agents, what each runs with, and any problems')
    .option('--check', 'start the servers agents may use, and show which agent gets which')
    .addHelpText('after', ABOUT_AGENTS)
    .action(action(async (options, agent) => showAgents(agent, options)));
  command('run <agent> <task>', 'run an agent ("-" reads the task from stdin)')
    .option('--cwd <folder>', 'folder to work in (default: the current one)')
    .addHelpText('after', ABOUT_RUN)
    .action(action(async (options, agent = '', task = '') => runAgent(agent, task, options)));
  command('login <server>', 'sign in to a server in your browser')
    .option('--no-browser', 'only print the URL to sign in at')
    .action(action(async (options, server = '') => login(server, options)));
  command('logout <server>', 'sign out of a server and revoke its tokens').action(
    action(async (options, server = '') => logout(server, options)),
  );

  command('audit [action]', 'show, verify or export the audit log')
    .option('--since <date>', 'only entries since this date or time (not with verify)')
    .addHelpText('after', ABOUT_AUDIT)
    .action(
      action(async (options, what) =>
        (await import('./commands/audit.ts')).auditCommand(what, options),
      ),
    );

  const config = withSubcommands(program.command('config'), 'inspect the configuration');
  const configCommand = (name: string, description: string): Command =>
    withCommonOptions(config.command(name).description(description));
  configCommand('check', 'validate the configuration and print the result').action(
    action(async (options) => checkConfig(options)),
  );
  configCommand('print', 'print the resolved configuration as JSON, without secrets').action(
    action(async (options) => printConfig(options)),
  );
  configCommand('schema', 'print the JSON Schema of the configuration file').action(
    action(async () => printSchema()),
  );

  const permissions = withSubcommands(
    program.command('permissions'),
    'show which tools can be used',
  );
  withCommonOptions(permissions.command('explain <server> <tool>'))
    .description('show whether a tool can be used, and which rule applies')
    .addHelpText('after', ABOUT_EXPLAIN)
    .action(
      action(async (options, server = '', tool = '') => explainPermission(server, tool, options)),
    );

  const secret = withSubcommands(
    program.command('secret'),
    'manage the secrets that configuration files refer to',
  );
  const secretCommand = (usage: string, description: string): Command =>
    withCommonOptions(secret.command(usage).description(description));
  secretCommand('set <name>', 'store a secret; the value is read from stdin or a hidden prompt')
    .option('--keychain', 'store the encryption key in the system keychain from now on')
    .option('--no-keychain', 'store the encryption key in a file that only you can read')
    .action(action(async (options, name = '') => setSecret(name, options)));
  secretCommand('list', 'list the names of stored secrets').action(
    action(async (options) => listSecrets(options)),
  );
  secretCommand('rm <name>', 'remove a secret').action(
    action(async (options, name = '') => removeSecret(name, options)),
  );
  secretCommand('move', 'move secrets from configuration files to the store')
    .option('--dry-run', 'only print what would be done')
    .action(action(async (options) => moveSecretsCommand(options)));

  const skill = withSubcommands(
    program.command('skill'),
    'manage the /switchboard command in Claude Code',
  );
  const skillCommand = (name: string, description: string): Command =>
    withCommonOptions(skill.command(name).description(description))
      .option('--no-register', "don't change Claude Code's list of servers")
      .option('--dry-run', 'only print what would be done');
  skillCommand('install', 'install the skill and register Switchboard with Claude Code').action(
    action(async (options) => installSkillCommand(options)),
  );
  skillCommand(
    'uninstall',
    'uninstall the skill and unregister Switchboard (servers.json is kept)',
  ).action(action(async (options) => uninstallSkillCommand(options)));

  command('import [file]', 'import servers from a host\'s file or mcpflip ("-" for stdin)')
    .option('--only <alias>', 'import only this server; repeatable', collect)
    .option('--force', 'replace servers with the same alias (a backup is kept)')
    .option('--dry-run', 'only print what would be done')
    .action(action(async (options, file) => importCommand(file, options)));
  withOwnErrors(program.command('help [command...]'))
    .description('show help for a command')
    .action((words: readonly string[]) => commandOf(words, program).outputHelp());
  return program;
}

/** Lazy: a host that starts Switchboard over stdio doesn't need the HTTP server. */
async function serveWith(options: Options, installation?: Installation): Promise<number> {
  const { config: configFile, servers: serversFile, trust } = options;
  const files = { configFile, serversFile, trust };
  if (!wantsHttp(options, process.env)) {
    refuseHttpFlags(options);
    return serve(files);
  }
  return (await import('./serve/serve-http.ts')).serveHttp(files, options, installation);
}

/** Turns commander's `error: unknown option '--x'` and its suggestion into sentences. */
function sentenceOf({ message }: CommanderError): string {
  const [first = '', suggestion = ''] = message.replace(/^error: /, '').split('\n');
  const text = `${first.charAt(0).toUpperCase()}${first.slice(1)}`.replace(/\.?$/, '.');
  return suggestion === '' ? text : `${text} ${suggestion.replaceAll(/[()]/g, '')}`;
}

/** Without a terminal, the width is fixed: docs/cli.md is generated from the help. */
function helpWidth(): number {
  return process.stdout.isTTY ? process.stdout.columns : 100;
}

function withCommonOptions(command: Command): Command {
  return withOwnErrors(command)
    .option('--config <file>', "use this configuration file instead of the project's")
    .option('--servers <file>', 'use this servers.json instead of the default ones')
    .option('--trust <mode>', 'which project files need approval: repository, ask or all')
    .option('--json', 'print JSON');
}

/** Usage errors point to the command's own help. */
function withOwnErrors(command: Command): Command {
  return command.exitOverride((error) => {
    if (error.exitCode === 0) throw error; // --help or --version
    const word = unknownWord(command);
    if (word !== undefined) throw unknownCommand(word, command);
    throw new SwitchboardError('USAGE', sentenceOf(error), { hint: seeHelpOf(command) });
  });
}

/** The first word, if it isn't a command. Then other mistakes don't matter. */
function unknownWord(command: Command): string | undefined {
  const [word] = command.args;
  const isGroup = command.registeredArguments.some((argument) => argument.name() === 'command');
  if (!isGroup || word === undefined || word.startsWith('-')) return undefined;
  const isKnown = command.commands.some((known) => known.name() === word);
  return isKnown || command.opts<Options>().dryRun ? undefined : word;
}

function seeHelpOf(command: Command): string {
  return `See: ${fullNameOf(command)} --help`;
}

/** Such as `switchboard config check`. */
function fullNameOf(command: Command): string {
  return command.parent ? `${fullNameOf(command.parent)} ${command.name()}` : command.name();
}

/** Finds a command by its path. */
function commandOf(words: readonly string[], program: Command): Command {
  return words.reduce((parent, word) => {
    const command = parent.commands.find((each) => each.name() === word);
    if (command) return command;
    throw unknownCommand(word, parent);
  }, program);
}

function isWord(word: string | undefined): word is string {
  return word !== undefined;
}

/** For repeatable options. */
function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

/** A command with subcommands shows its help if run without one. */
function withSubcommands(group: Command, description: string): Command {
  return withOwnErrors(group)
    .description(description)
    .helpCommand(false)
    .argument('[command]')
    .usage('[options] [command]')
    .action((unknown: string | undefined) => {
      if (unknown !== undefined) throw unknownCommand(unknown, group);
      group.outputHelp();
    });
}

function unknownCommand(word: string, parent: Command): SwitchboardError {
  const words = parent.parent ? [parent.name(), word] : [word];
  const commands = parent.commands.map((command) => command.name());
  return new SwitchboardError('USAGE', `Unknown command: ${words.join(' ')}`, {
    hint: adviceFor(words, commands) ?? seeHelpOf(parent),
  });
}
