// What an agent is called with: what is to be done, and in which folder. Both are a model's words, so
// what is wrong with them is said in a way that it can mend.
import { isAbsolute } from 'node:path';
import { SwitchboardError } from '../base/errors.ts';
import { isFolder } from '../base/process.ts';
import { excerpt } from '../base/text.ts';

export interface Task {
  readonly task: string;
  /** An absolute path of a folder that exists. */
  readonly cwd: string;
}

/** The same for every agent. */
export const TASK_SCHEMA = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'What the agent should do, in plain words.' },
    cwd: { type: 'string', description: 'The folder to work in, as an absolute path.' },
  },
  required: ['task', 'cwd'],
};

export function parseTask(args: Readonly<Record<string, unknown>>): Task {
  const { task, cwd } = args;
  if (typeof task !== 'string' || task.trim() === '') {
    throw wrong("missing required 'task' string", 'Say in plain words what the agent is to do.');
  }
  if (typeof cwd !== 'string' || cwd === '') {
    throw wrong(
      "missing required 'cwd' string",
      'Give the folder to work in, as an absolute path.',
    );
  }
  if (!isAbsolute(cwd) || cwd.includes('\0')) {
    const given = excerpt(cwd, LONGEST_QUOTE);
    throw wrong(`invalid 'cwd': got '${given}', expected an absolute path`, '');
  }
  if (!isFolder(cwd)) {
    throw wrong(`invalid 'cwd': there is no folder '${excerpt(cwd, LONGEST_QUOTE)}'`, '');
  }
  return { task, cwd };
}

const LONGEST_QUOTE = 200;

function wrong(what: string, hint: string): SwitchboardError {
  return new SwitchboardError('TOOL_ARGUMENTS', `${what}.`, { hint: hint || undefined });
}
