// Describes how a project's settings would weaken the default protection. The user's own restrictions stick
// even if these are approved.
import { isObject } from '../../base/object.ts';

type Describe = (value: unknown) => string | undefined;

const KEYS: Readonly<Record<string, Describe>> = {
  sandbox: (value) => (value === false ? 'no sandbox' : undefined),
  sandboxEnabled: (value) => (value === false ? 'no sandbox' : undefined),
  environment: (value) => (value === 'inherit' ? 'servers get your whole environment' : undefined),
  toolChanges: (value) =>
    value === 'off' ? 'changed tools are neither checked nor held' : undefined,
  readOnly: (value) => (value === false ? 'tools that are not read-only can be called' : undefined),
  results: (value) =>
    isObject(value) && value['secrets'] === 'pass'
      ? 'secrets in results are not masked'
      : undefined,
  expose: (value) => exposes(value),
  permissions: (value) => allows(value),
  start: (value) => (value === 'eager' ? 'starts before its first use' : undefined),
};

/** One line for each key that weakens something, such as `weakens: no sandbox`. `whose` names the server. */
export function describeWeakening(keys: Record<string, unknown>, whose = ''): string[] {
  return Object.entries(KEYS).flatMap(([key, describe]) => {
    const text = Object.hasOwn(keys, key) ? describe(keys[key]) : undefined;
    return text === undefined ? [] : [`weakens${whose}: ${text}`];
  });
}

function exposes(value: unknown): string | undefined {
  const allowed: unknown = isObject(value) ? value['allow'] : undefined;
  return Array.isArray(allowed) && allowed.length > 0
    ? `exposes the tools ${JSON.stringify(allowed)}`
    : undefined;
}

function allows(value: unknown): string | undefined {
  if (!isObject(value)) return undefined;
  if (value['default'] === 'allow') return 'calls are allowed unless a rule says otherwise';
  const allowed: unknown = value['allow'];
  return Array.isArray(allowed) && allowed.length > 0
    ? `calls are allowed without asking: ${JSON.stringify(allowed)}`
    : undefined;
}
