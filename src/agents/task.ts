// An agent's arguments: the task, and the folder to work in. A model writes them, so the errors say how to correct
// them.
import { isAbsolute } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder } from '../base/make-folder.ts';
import { excerpt } from '../base/text.ts';

export interface AgentTask {
  readonly task: string;
  /** The absolute path to an existing folder. */
  readonly cwd: string;
}

/** The same for every agent. */
export const TASK_SCHEMA = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What the agent should do, in plain language.' },
    cwd: { type: 'string', description: 'The folder to work in, as an absolute path.' },
  },
  required: ['task', 'cwd'],
};

export function parseTask(args: Readonly<Record<string, unknown>>): AgentTask {
  const { task, cwd } = args;
  if (typeof task !== 'string' || task.trim() === '') {
    throw invalid("missing required 'task' string", 'Describe the task in plain language.');
  }
  if (typeof cwd !== 'string' || cwd === '') {
    throw invalid(
      "missing required 'cwd' string",
      'Pass the absolute path to the folder to work in.',
    );
  }
  if (!isAbsolute(cwd) || cwd.includes('\0')) {
    const given = excerpt(cwd, LONGEST_QUOTE);
    throw invalid(`invalid 'cwd': got '${given}', expected an absolute path`, '');
  }
  if (!isFolder(cwd)) {
    throw invalid(`invalid 'cwd': there is no folder '${excerpt(cwd, LONGEST_QUOTE)}'`, '');
  }
  return { task, cwd };
}

const LONGEST_QUOTE = 200;

function invalid(what: string, hint: string): SwitchboardError {
  return new SwitchboardError('TOOL_ARGUMENTS', `${what}.`, { hint: hint || undefined });
}
