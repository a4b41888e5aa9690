// The schemas of what protects the user: `permissions`, `sandbox`, `audit`, `hooks` and `trust`.
import * as z from 'zod/mini';
import { DEFAULTS } from '../defaults.ts';
import { TRUST_MODES } from '../judge.ts';
import { PERMISSIONS } from '../permission-rules.ts';
import { atLeastOne, key, MOST_BYTES, milliseconds, nonEmpty, strings } from './schema-parts.ts';

export const permissionsSchema = z.strictObject({
  default: key(
    z.enum(PERMISSIONS),
    'What to do if no rule matches: `allow`, `ask` the user, or `deny`.',
    DEFAULTS.permission,
  ),
  allow: key(strings, 'Use these without asking.', []),
  ask: key(
    strings,
    'Ask the user before each use. Takes precedence over `allow`. `!` in front of a rule excludes what it matches; Switchboard writes such a rule when you answer "always".',
    [],
  ),
  deny: key(
    strings,
    'Hide these and refuse to use them. Takes precedence over `ask` and `allow`. Case is ignored, and `-`, `_` and spaces are equivalent.',
    [],
  ),
});

const sandboxPaths = z.array(nonEmpty);
export const sandboxSchema = z.strictObject({
  filesystem: key(
    z.strictObject({
      allowWrite: key(
        sandboxPaths,
        'Additional files and folders the server can change. Relative paths are relative to the project; `~/` and variables work.',
        [],
      ),
      denyWrite: key(sandboxPaths, "Files and folders the server can't change.", []),
      allowRead: key(
        sandboxPaths,
        'Files and folders to show, although they are hidden by default.',
        [],
      ),
      denyRead: key(sandboxPaths, 'Additional files and folders to hide from the server.', []),
    }),
    'Which files the server can read and change.',
  ),
  network: key(
    z.union([
      z.boolean(),
      z.strictObject({
        allowedDomains: key(
          strings,
          "Not supported, except for an empty list, which turns the network off. A server with a domain list doesn't start.",
        ),
        deniedDomains: key(strings, "Not supported. A server with a domain list doesn't start."),
      }),
    ]),
    'Whether the server can use the network.',
    true,
  ),
});

export const auditSchema = z.strictObject({
  required: key(
    z.boolean(),
    "Refuse calls while the log can't be written. Otherwise Switchboard logs an error and continues.",
    DEFAULTS.audit.required,
  ),
  maxFileBytes: key(
    z.int().check(z.minimum(4096), z.maximum(MOST_BYTES)),
    'Start a new file when one gets larger than this, in bytes.',
    DEFAULTS.audit.maxFileBytes,
  ),
  keepDays: key(atLeastOne, 'Delete files older than this many days.', DEFAULTS.audit.keepDays),
});

const hookList = z.array(
  z.strictObject({
    command: nonEmpty.check(
      z.meta({
        description:
          "Program to run, without a shell. Relative paths are relative to the configuration file's folder.",
      }),
    ),
    args: key(strings, 'Arguments for the program.', []),
    tools: key(
      strings,
      'Tools it runs for: `server` or `server__tool`, where `*` matches any characters. Case is ignored, and `-`, `_` and spaces are equivalent. Default: all tools.',
    ),
    timeoutMs: key(milliseconds, 'Time limit for the program, in milliseconds.', DEFAULTS.hookMs),
  }),
);

export const hooksSchema = z.strictObject({
  beforeCall: key(
    hookList,
    'Programs to run before a tool call. They can allow or deny it, change its arguments, or send it to another tool.',
    [],
  ),
  afterCall: key(
    hookList,
    'Programs to run after a tool call. They can add a note to its result.',
    [],
  ),
});

export const trustSchema = z.strictObject({
  mode: key(
    z.enum(TRUST_MODES),
    "Which of a project's files need your approval before they can start programs, connect to servers or change what models read. `repository`: files that a git repository tracks or that are marked as downloaded. `ask`: all of them. `all`: none. Can also be set with `SWITCHBOARD_TRUST` or `--trust`.",
    'repository',
  ),
  directories: key(
    strings,
    'Folders whose files are used even if they belong to another user or are writable by everyone. `~/` works.',
    [],
  ),
  elicitation: key(
    z.boolean(),
    "Whether hosts that support elicitation ask you to approve pending items. Switchboard can't know whether a person answers.",
    true,
  ),
});
