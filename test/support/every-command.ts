// Every command of the program, for tests of something that must hold for all of them.
import type { Command } from 'commander';
import { buildProgram } from '../../src/cli/program.ts';

/** The full name of each command, such as `config check`; an empty string for the program itself. */
export function commandNames(): string[] {
  return ['', ...namesBelow(buildProgram(() => async () => {}))];
}

function namesBelow(command: Command): string[] {
  return command.commands.flatMap((one) => [
    one.name(),
    ...namesBelow(one).map((name) => `${one.name()} ${name}`),
  ]);
}

export interface CommandTargets {
  readonly server: string;
  readonly other: string;
  readonly remote: string;
  /** A server with an assistant. */
  readonly assisted: string;
  /** A server's own folder. */
  readonly folder: string;
  readonly agent: string;
}

/** How to run each command, so that it gets as far as it can. */
export function commandsWith(targets: CommandTargets): Record<string, readonly string[][]> {
  const { server, other, remote, assisted, folder, agent } = targets;
  return {
    '': [['--dry-run'], ['--version']],
    serve: [['serve']],
    tools: [['tools'], ['tools', server], ['tools', remote, 'x']],
    call: [
      ['call', `${server}.click`],
      ['call', `${remote}.click`],
      ['call', `${other}.click`],
    ],
    show: [
      ['show'],
      ['show', server],
      ['show', server, 'direct'],
      ['show', other, '--start', 'eager', '--user'],
    ],
    assistant: [
      ['assistant'],
      ['assistant', assisted, 'status'],
      ['assistant', other, 'on', '--dry-run'],
      ['assistant', assisted, 'off'],
    ],
    'assistant serve': [
      ['assistant', 'serve', assisted],
      ['assistant', 'serve', '--folder', folder, '--tools'],
    ],
    doctor: [['doctor'], ['doctor', server]],
    changes: [['changes'], ['changes', server]],
    'changes accept': [
      ['changes', 'accept'],
      ['changes', 'accept', server],
    ],
    scan: [['scan'], ['scan', server]],
    trust: [['trust', 'nonsense']],
    status: [['status'], ['status', server]],
    stop: [['stop'], ['stop', server], ['stop', '--all']],
    restart: [['restart'], ['restart', server]],
    logs: [['logs'], ['logs', server, '--lines', '5']],
    reload: [['reload']],
    'agent-server': [['agent-server']],
    agents: [['agents'], ['agents', '--check'], ['agents', agent]],
    run: [['run', agent, 'go']],
    login: [['login', remote, '--no-browser']],
    logout: [['logout', remote]],
    audit: [['audit'], ['audit', 'verify'], ['audit', 'export']],
    config: [['config']],
    'config check': [['config', 'check']],
    'config print': [['config', 'print']],
    'config schema': [['config', 'schema']],
    permissions: [['permissions']],
    'permissions explain': [
      ['permissions', 'explain', server, 'click'],
      ['permissions', 'explain', other, 'click'],
    ],
    secret: [['secret']],
    'secret set': [['secret', 'set', 'stolen']],
    'secret list': [['secret', 'list']],
    'secret rm': [['secret', 'rm', 'other']],
    'secret move': [
      ['secret', 'move', '--dry-run'],
      ['secret', 'move'],
    ],
    skill: [['skill']],
    'skill install': [['skill', 'install', '--no-register']],
    'skill uninstall': [['skill', 'uninstall', '--no-register']],
    import: [['import'], ['import', '.mcp.json', '--dry-run']],
    help: [['help']],
  };
}
