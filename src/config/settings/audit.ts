// The audit log's settings, which are read only from the user's own file: a project must not be able to turn it off.
import { resolve } from 'node:path';
import { type AuditSettings, auditFolder } from '../config.ts';
import { DEFAULTS } from '../defaults.ts';
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
  const audit = fromUser(layers, places, warn);
  if (audit === undefined || audit === false) return undefined;
  const {
    required = DEFAULTS.audit.required,
    maxFileBytes = DEFAULTS.audit.maxFileBytes,
    keepDays = DEFAULTS.audit.keepDays,
  } = audit === true ? {} : audit;
  return { folder: auditFolder(places), required, maxFileBytes, keepDays };
}

function fromUser(
  layers: readonly Layer[],
  { home, userFile }: Places,
  warn: Warn,
): ConfigFile['audit'] {
  const place = userFile ?? resolve(home, 'switchboard.config.json');
  for (const { file, config } of layers) {
    if (file === userFile || config.audit === undefined) continue;
    warn(`${file}: "audit" is ignored here. Set it in ${place}.`);
  }
  return layers.find(({ file }) => file === userFile)?.config.audit;
}
