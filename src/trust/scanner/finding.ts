// What the scanner reports about one item that a server lists.
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';

/** `hard`: almost certainly an attack. `soft`: worth a look, but honest servers do it. */
type Severity = 'hard' | 'soft';

/**
 * `hidden`: characters nobody sees. `payload`: encoded text. `clone`: a copy of another server's tool.
 * `conceal`: an order to keep something from the user. `secrets`: an order to read secrets. `length`: more than is
 * scanned.
 */
const RULES = ['hidden', 'payload', 'clone', 'conceal', 'secrets', 'length'] as const;
type Rule = (typeof RULES)[number];

export interface Finding {
  readonly rule: Rule;
  readonly severity: Severity;
  /** The part of the definition, such as `description` or `inputSchema.properties.path.description`. */
  readonly where: string;
  /** One sentence that quotes what was found. */
  readonly detail: string;
}

export function isHard({ severity }: Finding): boolean {
  return severity === 'hard';
}

/** The findings that an earlier version didn't have. */
export function newFindings(before: readonly Finding[], now: readonly Finding[]): Finding[] {
  const known = new Set(before.map(keyOf));
  return now.filter((finding) => !known.has(keyOf(finding)));
}

/** What was found may be a secret. */
export function maskFinding<Found extends Finding & { readonly name?: string }>(
  finding: Found,
  mask: Mask,
): Found {
  const { name, where, detail } = finding;
  const masked = { ...finding, where: mask(where), detail: mask(detail) };
  return name === undefined ? masked : { ...masked, name: mask(name) };
}

/** Without the place: moving a sentence isn't news. */
function keyOf({ rule, severity, detail }: Finding): string {
  return JSON.stringify([rule, severity, detail]);
}

/** Findings read back from JSON. */
export function parseFindings(value: unknown): Finding[] {
  const items = Array.isArray(value) ? value.filter(isObject) : [];
  return items.flatMap(({ rule: named, severity, where, detail }) => {
    const rule = RULES.find((known) => known === named);
    if (!rule || typeof where !== 'string' || typeof detail !== 'string') return [];
    return [{ rule, severity: severity === 'hard' ? 'hard' : 'soft', where, detail } as const];
  });
}
