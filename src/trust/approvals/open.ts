// How the program judges the files of a project. The judge itself is loaded with the first such file.
import type { OpenJudge } from '../../config/judge.ts';
import type { JudgeOptions } from './judge.ts';

export function judgeOpener(options: JudgeOptions = {}): OpenJudge {
  return async (settings, folders) => {
    const { FileJudge } = await import('./judge.ts');
    return new FileJudge(settings, folders, options);
  };
}
