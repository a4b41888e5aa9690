// Settings that are read only from the user's own file. A project must not be able to turn off the user's audit log, or
// to run a program by declaring a hook.
import { dirname, isAbsolute, resolve } from 'node:path';
import { type AuditSettings, auditFolder, type HookConfig, type HookSettings } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
import { expandHome } from '../files/globs.ts';
import type { Layer } from '../files/layers.ts';
import type { Places } from '../files/places.ts';
import type { ConfigFile } from '../schema/schema.ts';

type Warn = (sentence: string) => void;

/** Undefined if the audit log is off. */
export function resolveAudit(
  layers: readonly Layer[],
  places: Places,
  warn: Warn,
): AuditSettings | undefined {
  const audit = fromUser('audit', layers, places, warn);
  if (audit === undefined || audit === false) return undefined;
  const {
    required = DEFAULTS.audit.required,
    maxFileBytes = DEFAULTS.audit.maxFileBytes,
    keepDays = DEFAULTS.audit.keepDays,
  } = audit === true ? {} : audit;
  return { folder: auditFolder(places), required, maxFileBytes, keepDays };
}

/** Undefined if there are none. */
export function resolveHooks(
  layers: readonly Layer[],
  places: Places,
  warn: Warn,
): HookSettings | undefined {
  const { beforeCall = [], afterCall = [] } = fromUser('hooks', layers, places, warn) ?? {};
  if (beforeCall.length + afterCall.length === 0) return undefined;
  const resolveHook = (written: WrittenHook): HookConfig => describeHook(written, places);
  return { beforeCall: beforeCall.map(resolveHook), afterCall: afterCall.map(resolveHook) };
}

type WrittenHook = NonNullable<NonNullable<ConfigFile['hooks']>['beforeCall']>[number];

/** Relative to the user's file, never to the project: a project could contain a program with that name. */
function describeHook(written: WrittenHook, { homeFolder, home, userFile }: Places): HookConfig {
  const { args = [], tools = ['*'], timeoutMs = DEFAULTS.hookMs } = written;
  const cwd = userFile === undefined ? home : dirname(userFile);
  const command = expandHome(written.command, homeFolder);
  const isPath = isAbsolute(command) || /[/\\]/.test(command);
  return { command: isPath ? resolve(cwd, command) : command, args, cwd, tools, timeoutMs };
}

function fromUser<Key extends 'audit' | 'hooks'>(
  key: Key,
  layers: readonly Layer[],
  { home, userFile }: Places,
  warn: Warn,
): ConfigFile[Key] | undefined {
  const place = userFile ?? resolve(home, 'switchboard.config.json');
  for (const { file, config } of layers) {
    if (file === userFile || config[key] === undefined) continue;
    warn(`${file}: "${key}" is ignored here. Set it in ${place}.`);
  }
  return layers.find(({ file }) => file === userFile)?.config[key];
}
