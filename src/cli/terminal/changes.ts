// Changes to files, and to Claude Code's list of servers, as lines for a person.
import type { Change } from '../../install/disk.ts';
import type { Registration } from '../../install/registration.ts';
import type { Output } from './output.ts';

const VERBS: Record<Change['action'], readonly [done: string, toDo: string]> = {
  backup: ['kept', 'keep'],
  copy: ['copied it to', 'copy it to'],
  create: ['created', 'create'],
  link: ['linked', 'link'],
  remove: ['removed', 'remove'],
  write: ['wrote', 'write'],
};

export function printChanges(changes: readonly Change[], dryRun: boolean, output: Output): void {
  for (const { action, path, to } of changes) {
    const [done, toDo] = VERBS[action];
    const target = to === undefined ? '' : ` ${action === 'link' ? 'to' : 'as'} ${to}`;
    output.line(`${dryRun ? `would ${toDo}` : done} ${path}${target}`);
  }
}

/** `aim` is what was to be done. */
export function printRegistration(
  { state, command, says, backup, isRestored }: Registration,
  { aim, dryRun, output }: { aim: 'register' | 'remove'; dryRun: boolean; output: Output },
): void {
  const byHand = `  By hand: ${command}`;
  switch (state) {
    case 'registered':
    case 'removed':
      output.line(`${dryRun ? 'would run' : 'ran'} ${command}`);
      break;
    case 'unchanged':
      output.line(
        `Switchboard is ${aim === 'register' ? 'already' : 'not'} registered with Claude Code.`,
      );
      break;
    case 'skipped':
      output.line(`Claude Code's list of servers is left alone.\n${byHand}`);
      break;
    case 'no-claude':
      output.line(`There is no program "claude" on your PATH.\n${byHand}`);
      break;
    case 'failed':
      output.line(`${output.style('red', 'claude failed:')} ${says}\n${byHand}`);
      break;
  }
  if (isRestored) output.line('Claude Code has the entry that it had before.');
  if (isRestored === false) {
    output.line(
      output.style('red', 'The entry that Claude Code had before is gone from its list.'),
    );
  }
  if (backup !== undefined) output.line(`kept the entry that Claude Code had as ${backup}`);
}
