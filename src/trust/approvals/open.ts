// How the program judges the files of a project. The judge reads nothing before the first such file.
import type { OpenJudge } from '../../config/judge.ts';
import { FileJudge, type JudgeOptions } from './judge.ts';

export function judgeOpener(options: JudgeOptions = {}): OpenJudge {
  return async (settings, folders) => new FileJudge(settings, folders, options);
}
