// `switchboard import [file]`: imports servers from mcpflip, a host's file or any `servers.json`. Prints only aliases,
// because entries may contain secrets.
import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { SwitchboardError } from '../../base/errors.ts';
import { printable } from '../../base/text.ts';
import { type ImportedServer, type ImportSource, importServers } from '../../install/import.ts';
import { findInstallPlaces, type InstallPlaces } from '../../install/places.ts';
import { printChanges } from '../terminal/changes.ts';
import { type Cell, formatRows } from '../terminal/layout.ts';
import { count, createOutput } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';
import { selfPath } from './skill.ts';
import type { CommandOptions } from './with-switchboard.ts';

export interface ImportCommandOptions extends CommandOptions {
  readonly dryRun?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly only?: readonly string[] | undefined;
}

export async function importCommand(
  file: string | undefined,
  options: ImportCommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const { dryRun = false, force = false, only } = options;
  const places = findInstallPlaces(workingFolder(), process.env);
  const source = readSource(file, places);
  const { servers, changes } = await importServers(source, {
    places,
    program: selfPath(),
    only,
    force,
    dryRun,
  });
  const next = nextSteps(source.file, places);
  output.json({
    dryRun,
    source: source.file,
    serversFile: places.serversFile,
    servers,
    changes,
    next,
  });

  output.line(`From ${source.file}:`);
  const rows = servers.map((server) => ({ cells: describeServer(server, dryRun) }));
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
  printChanges(changes, dryRun, output);
  const imported = servers.filter(({ state }) => state === 'added' || state === 'replaced').length;
  output.line(
    `${dryRun ? 'Would import' : 'Imported'} ${imported} of ${count(servers.length, 'server')}.`,
  );
  if (imported > 0 && !dryRun) {
    output.line('\nNext:');
    const steps = next.map(({ run, why }) => ({ cells: [{ text: run }, { text: why }] }));
    for (const line of formatRows(steps, { ...output, indent: '  ' })) output.line(line);
  }
  return 0;
}

function readSource(file: string | undefined, { mcpflipServers }: InstallPlaces): ImportSource {
  if (file === '-') return { file: 'stdin', text: readText(0, 'stdin') };
  const path = file === undefined ? mcpflipServers : resolve(workingFolder(), file);
  if (file === undefined && !existsSync(path)) {
    throw new SwitchboardError('USAGE', `No mcpflip installation found: ${path} does not exist.`, {
      hint: 'To import from another file, name it. For example: switchboard import ~/.claude.json',
    });
  }
  return { file: path, text: readText(path, path) };
}

function readText(file: string | 0, name: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new SwitchboardError('USAGE', `Cannot read ${name}.`, {
      hint: `${(cause as Error).message}.`,
      cause,
    });
  }
}

const RESULTS: Record<ImportedServer['state'], string> = {
  added: 'added',
  replaced: 'replaced',
  same: 'already present',
  differs: 'skipped: another server has this alias (--force replaces it)',
  gateway: 'skipped: it is Switchboard or a similar gateway',
  unusable: 'skipped: no "command" or "url", or an invalid value',
};

function describeServer({ alias, state, as }: ImportedServer, dryRun: boolean): Cell[] {
  const isImported = state === 'added' || state === 'replaced';
  const result = `${dryRun && isImported ? 'would be ' : ''}${RESULTS[state]}${as === undefined ? '' : ` as ${printable(as)}`}`;
  const isOdd = state === 'differs' || state === 'unusable';
  return [
    { text: printable(alias) },
    { text: printable(result), style: isOdd ? 'yellow' : undefined },
  ];
}

function nextSteps(
  source: string,
  { mcpflipServers }: InstallPlaces,
): { run: string; why: string }[] {
  const steps = [
    { run: 'switchboard skill install', why: "if Claude Code doesn't have Switchboard yet" },
    { run: 'switchboard reload', why: 'if Switchboard is running' },
    { run: 'switchboard show', why: 'to check how hosts see each server' },
  ];
  if (source !== mcpflipServers) return steps;
  return [...steps, { run: 'claude mcp remove mcpflip -s user', why: 'so no server runs twice' }];
}
