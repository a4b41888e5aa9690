// Decides which items of a server's list may be shown and used. The decision is made above; the list passes through it
// as soon as it arrives, so that no path shows an item that is held.
import { isObject } from '../base/object.ts';
import type { Mask } from '../base/secrets.ts';
import type { Hints } from '../mcp/annotations.ts';
import type { RefusedTool } from '../mcp/clean-lists.ts';

export interface ScreenedList {
  readonly kind: 'tools' | 'prompts';
  /** As the server sent them, with hidden characters. */
  readonly raw: readonly unknown[];
  /** The server's instructions, which are checked along with its tools. */
  readonly instructions: string | undefined;
  /** Removes the server's secrets, which must not be stored or shown. */
  readonly mask: Mask;
}

export interface ScreenVerdict {
  /** Items that must not be listed or used. */
  readonly held: readonly HeldItem[];
  /** The hints in force of tools that now claim more than the user has accepted. */
  readonly rights: ReadonlyMap<string, Hints>;
  readonly holdsInstructions: boolean;
  readonly counts: ScreenCounts;
}

interface HeldItem {
  readonly name: string;
  readonly because: Extract<RefusedTool['where'], 'changed' | 'scan'>;
}

/** The number of held changes, for `status`. */
export interface ScreenCounts {
  readonly held: number;
  readonly rights: number;
  readonly passed: number;
}

/** Counts read back from JSON; undefined if there is nothing to count. */
export function parseCounts(value: unknown): ScreenCounts | undefined {
  if (!isObject(value)) return undefined;
  const [held, rights, passed] = ['held', 'rights', 'passed'].map((key) => Number(value[key]) || 0);
  const counts = { held: held ?? 0, rights: rights ?? 0, passed: passed ?? 0 };
  return counts.held + counts.rights + counts.passed > 0 ? counts : undefined;
}

export type Screen = (list: ScreenedList) => Promise<ScreenVerdict>;

export const NOTHING_HELD: ScreenVerdict = {
  held: [],
  rights: new Map(),
  holdsInstructions: false,
  counts: { held: 0, rights: 0, passed: 0 },
};
