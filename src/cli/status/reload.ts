// `switchboard reload`: makes every running Switchboard of this user reload its configuration, and prints the results.
import { isObject } from '../../base/object.ts';
import { realPathOf } from '../../base/paths.ts';
import { cleanText } from '../../base/text.ts';
import { findFolders } from '../../config/files/places.ts';
import { askRunning, type ControlAnswer } from '../../host/control-client.ts';
import type { CommandOptions } from '../commands/with-switchboard.ts';
import { createOutput } from '../terminal/output.ts';
import { workingFolder } from '../working-folder.ts';

export interface ReloadOutcome {
  readonly pid: number;
  readonly project: string;
  readonly ok: boolean;
  readonly message: string;
}

export const RELOAD_HINT =
  "\nRunning sessions apply this by themselves. If one doesn't, run: switchboard reload";

/** A JavaScript configuration may take a while. */
const LIMIT_MS = 10_000;

export async function reloadRunning(options: CommandOptions): Promise<number> {
  const output = createOutput(options);
  const { home } = findFolders({ cwd: workingFolder(), env: process.env });
  const outcomes = (await askRunning(home, 'reload', LIMIT_MS)).map(outcomeOf);
  output.json({ reloaded: outcomes });
  if (outcomes.length === 0) {
    output.line('No Switchboard is running. The next one will load the current configuration.');
  }
  for (const { pid, project, ok, message } of outcomes) {
    const sign = ok ? output.style('green', '✓') : output.style('red', '✗');
    output.line(`${sign} ${output.style('bold', project)}  pid ${pid}: ${cleanText(message)}`);
  }
  return outcomes.every(({ ok }) => ok) ? 0 : 2;
}

/** After a decision about a project: tells every running Switchboard that it concerns. */
export async function applyDecisions(home: string, project: string): Promise<ReloadOutcome[]> {
  const { Repositories } = await import('../../trust/approvals/repositories.ts');
  const repositories = new Repositories();
  const scopeOf = (folder: string) => repositories.nameOf(folder) ?? realPathOf(folder);
  const scope = scopeOf(project);
  const isMeant = (folder: string) => scopeOf(folder) === scope;
  return (await askRunning(home, 'reload', LIMIT_MS, isMeant)).map(outcomeOf);
}

/** As sentences; empty if nothing is running. */
export function describeApplied(outcomes: readonly ReloadOutcome[]): string[] {
  const applied = outcomes.filter(({ ok }) => ok).length;
  const failed = outcomes.filter(({ ok }) => !ok);
  const what = applied === 1 ? 'the running Switchboard' : `${applied} running Switchboards`;
  return [
    ...(applied > 0 ? [`Applied to ${what}.`] : []),
    ...failed.map(
      ({ pid, message }) =>
        `Not applied to the Switchboard process ${pid}: ${cleanText(message)} Try: switchboard reload`,
    ),
  ];
}

function outcomeOf({ pid, project, value, problem }: ControlAnswer): ReloadOutcome {
  const { ok, message } = isObject(value) ? value : {};
  const text = typeof message === 'string' ? message : 'sent an invalid response';
  return { pid, project, ok: ok === true, message: problem ?? text };
}
