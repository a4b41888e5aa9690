// Prints changes to files and to Claude Code's list of servers.
import type { Change } from '../../install/disk.ts';
import type { Registration } from '../../install/registration.ts';
import type { Output } from './output.ts';

const VERBS: Record<Change['action'], readonly [done: string, toDo: string]> = {
  backup: ['backed up', 'back up'],
  copy: ['copied it to', 'copy it to'],
  create: ['created', 'create'],
  link: ['linked', 'link'],
  remove: ['removed', 'remove'],
  write: ['wrote', 'write'],
};

export function printChanges(changes: readonly Change[], dryRun: boolean, output: Output): void {
  for (const { action, path, to } of changes) {
    const [done, toDo] = VERBS[action];
    const target = to === undefined ? '' : ` to ${to}`;
    output.line(`${dryRun ? `would ${toDo}` : done} ${path}${target}`);
  }
}

export function printRegistration(
  { state, command, says, backup, isRestored }: Registration,
  { aim, dryRun, output }: { aim: 'register' | 'remove'; dryRun: boolean; output: Output },
): void {
  const manually = `  To do it manually: ${command}`;
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
      output.line(`Claude Code's list of servers was not changed.\n${manually}`);
      break;
    case 'no-claude':
      output.line(`claude was not found on your PATH.\n${manually}`);
      break;
    case 'failed':
      output.line(`${output.style('red', 'claude failed:')} ${says}\n${manually}`);
      break;
  }
  if (isRestored) output.line('The previous entry in Claude Code was restored.');
  if (isRestored === false) {
    output.line(output.style('red', 'The previous entry in Claude Code could not be restored.'));
  }
  if (backup !== undefined) output.line(`backed up the previous Claude Code entry to ${backup}`);
}
