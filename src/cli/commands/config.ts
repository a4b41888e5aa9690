// `switchboard config check|print|schema`: the configuration as Switchboard resolves it.
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { ERRORS } from '../../base/errors.ts';
import { isOnPath } from '../../base/find-program.ts';
import { cleanText, printable } from '../../base/text.ts';
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { describeConfig } from '../../config/describe.ts';
import { programBeforeArguments, suggestArgs } from '../../config/server/command.ts';
import { secretReferences, unsetVariables } from '../../config/server/expand.ts';
import { openSecrets } from '../../trust/secrets/open.ts';
import { formatRows } from '../terminal/layout.ts';
import { count, createOutput } from '../terminal/output.ts';
import { noServers } from './no-servers.ts';
import { offServers, printOff } from './off.ts';
import { unmatchedRules } from './permissions.ts';
import { type CommandOptions, loadFor } from './with-switchboard.ts';

export async function checkConfig(options: CommandOptions): Promise<number> {
  const output = createOutput(options);
  const config = await loadFor(options);
  const { files, children } = config;
  const warnings = [...config.warnings, ...unmatchedRules(config)];
  const shown = [...children.values()].map(({ name, show, showBecause }) => ({
    name,
    show,
    because: showBecause,
  }));
  const problems = [...children.values()].flatMap(({ name, problem }) =>
    problem
      ? { child: name, code: problem.code, message: problem.message, hint: problem.hint }
      : [],
  );
  const unsetIn = findUnset(config);
  const missingIn = findMissingSecrets(config);
  const invalid = problems.filter(({ code }) => code === 'CONFIG_INVALID').length;
  output.json({
    ok: invalid === 0,
    files,
    children: [...children.keys()],
    shown,
    problems,
    unsetVariables: Object.fromEntries(unsetIn),
    missingSecrets: Object.fromEntries(missingIn),
    warnings,
  });
  output.line(
    files.length > 0 ? `Read ${files.join(', ')}.` : 'No configuration file found; using defaults.',
  );
  const listed = [...children.values()].filter((child) => !isOff(child));
  const rows = listed.map((child) => ({
    cells: [
      { text: printable(child.name) },
      { text: child.show.padEnd(6) },
      { text: printable(child.origin), style: 'dim' as const },
    ],
    below: notesOn(child, unsetIn.get(child.name), missingIn.get(child.name)),
  }));
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
  printOff(offServers(config, undefined), output);
  for (const warning of warnings)
    output.line(output.style('yellow', `warning: ${warning.replaceAll('\n', '\n  ')}`));
  const servers = `${count(children.size, 'server')}${invalid > 0 ? `, ${invalid} invalid` : ''}`;
  output.line(`${servers}, ${count(warnings.length, 'warning')}.`);
  if (children.size === 0) output.line(noServers());
  return invalid === 0 ? 0 : ERRORS.CONFIG_INVALID.exit;
}

/** Variables that servers need and that aren't set here; they may be set in the host's environment. */
function findUnset({ children }: Config): Map<string, string[]> {
  const used = [...children.values()].filter((child) => !isOff(child));
  const unset = used.map(({ name, behind, ...child }): [string, string[]] => [
    name,
    unsetVariables(behind ?? child, process.env),
  ]);
  return new Map(unset.filter(([, variables]) => variables.length > 0));
}

/** Secrets that servers refer to and that aren't stored. */
function findMissingSecrets(config: Config): Map<string, string[]> {
  const used = [...config.children.values()].filter((child) => !isOff(child));
  const wanted = used.flatMap(({ name, behind, ...child }) => {
    const references = secretReferences(behind ?? child).filter(({ kind }) => kind === 'secret');
    return references.length > 0 ? [[name, references.map(({ target }) => target)] as const] : [];
  });
  if (wanted.length === 0) return new Map();
  const { store } = openSecrets(config, process.env);
  const stored = new Set(store.list().map(({ name }) => name));
  const missing = wanted.map(([name, targets]): [string, string[]] => [
    name,
    [...new Set(targets)].filter((target) => !stored.has(target)),
  ]);
  return new Map(missing.filter(([, targets]) => targets.length > 0));
}

/** Notes below a server's row, one per line. */
function notesOn(
  child: ChildConfig,
  unset: readonly string[] | undefined,
  missing: readonly string[] | undefined,
) {
  const notes = [
    adviceOnCommand(child),
    unset && `Environment variables not set here: ${unset.join(', ')}`,
    missing && `Secrets not stored: ${missing.join(', ')}. Run: switchboard secret set NAME`,
    child.problem?.text,
  ].filter((note) => note !== undefined);
  return notes.length === 0
    ? undefined
    : { text: cleanText(notes.join('\n')), style: 'yellow' as const };
}

/** A whole command line instead of a program. */
function adviceOnCommand(child: ChildConfig): string | undefined {
  const { command, cwd } = child.behind ?? child;
  const cmd = command?.cmd ?? '';
  const program = programBeforeArguments(cmd);
  if (program === undefined || existsSync(resolve(cwd, cmd)) || isOnPath(cmd, process.env)) {
    return undefined;
  }
  return `The command contains spaces, and there is no program with that name. ${suggestArgs(program)}.`;
}

export async function printConfig(options: CommandOptions): Promise<number> {
  const config = await loadFor(options);
  createOutput({ json: true }).json(describeConfig(config));
  return 0;
}

export async function printSchema(): Promise<number> {
  const schema = await import('../../../switchboard.config.schema.json', {
    with: { type: 'json' },
  });
  createOutput({ json: true }).json(schema.default);
  return 0;
}
