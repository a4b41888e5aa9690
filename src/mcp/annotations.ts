// Tool annotations: hosts use these hints to decide what to run without asking.
import { isObject } from '../base/object.ts';
import type { Tool } from './tools.ts';

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const;

/** A missing hint means unknown. */
export type Hints = { readonly [hint in (typeof HINTS)[number]]?: boolean };

/** The safe value of each hint. */
const SAFE: Required<Hints> = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

export const READ_ONLY: Hints = { readOnlyHint: true, destructiveHint: false };

export function hintsOf({ annotations }: Tool): Hints {
  return parseHints(annotations);
}

export function parseHints(value: unknown): Hints {
  const said = isObject(value) ? value : {};
  const known = HINTS.filter((hint) => typeof said[hint] === 'boolean');
  return Object.fromEntries(known.map((hint) => [hint, said[hint]]));
}

export function isReadOnly({ readOnlyHint, destructiveHint }: Hints): boolean {
  return readOnlyHint === true && destructiveHint !== true;
}

/**
 * Hints for a tool that can do everything these can: as safe as the least safe of them. If one hint
 * is missing, the result claims nothing, unless another is unsafe.
 */
export function weakestHints(all: readonly Hints[]): Hints {
  const complete = all.map(withImplied);
  const claims = HINTS.flatMap((hint) => {
    const values = complete.map((hints) => hints[hint]);
    if (values.includes(!SAFE[hint])) return [[hint, !SAFE[hint]] as const];
    return values.length > 0 && !values.includes(undefined) ? [[hint, SAFE[hint]] as const] : [];
  });
  return Object.fromEntries(claims);
}

/** The hints that permissions and hosts rely on. */
const GRANTING = ['readOnlyHint', 'destructiveHint', 'openWorldHint'] as const;

/** The hints without claims that grant more than the accepted ones did; undefined if there are none. */
export function withoutGrowth(accepted: Hints, now: Hints): Hints | undefined {
  const [before, after] = [withImplied(accepted), withImplied(now)];
  const grown = GRANTING.filter(
    (hint) => after[hint] === SAFE[hint] && before[hint] !== SAFE[hint],
  );
  if (grown.length === 0) return undefined;
  const earlier = Object.fromEntries(grown.map((hint) => [hint, accepted[hint]]));
  return parseHints({ ...now, ...earlier });
}

/** Read-only implies not destructive and idempotent. */
function withImplied(hints: Hints): Hints {
  const { destructiveHint, idempotentHint } = SAFE;
  if (isReadOnly(hints)) return { destructiveHint, idempotentHint, ...hints };
  return hints.readOnlyHint === true ? { ...hints, readOnlyHint: false } : hints;
}
