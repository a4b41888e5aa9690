// How the program judges the files of a project. The judge reads nothing before the first such file.
import { isFolder } from '../../base/make-folder.ts';
import type { Config } from '../../config/config.ts';
import type { OpenJudge, TrustedPart } from '../../config/judge.ts';
import { FileJudge, type JudgeOptions } from './judge.ts';
import { beginTrustStore } from './store.ts';

export function judgeOpener(options: JudgeOptions = {}): OpenJudge {
  return async (settings, folders) => new FileJudge(settings, folders, options);
}

/**
 * Records and returns what was trusted without asking. What runs without a question from now on must not look later as if it had run before
 * there were approvals, so the records begin even if there is nothing to record.
 */
export function saveJudged(
  { gate, home }: Pick<Config, 'gate' | 'home'>,
  { announces = false }: Pick<JudgeOptions, 'announces'> = {},
): readonly TrustedPart[] {
  if (!gate) return [];
  const trusted = gate.judge?.save() ?? [];
  // A command that only looks creates no folder.
  if (announces || gate.trustsAll || isFolder(home)) beginTrustStore(home);
  return trusted;
}
