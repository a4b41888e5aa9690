// The text of the skill, put in by the build from skill/SKILL.md.
import { readFileSync } from 'node:fs';

declare const __SKILL__: string | undefined;

export const SKILL: string =
  typeof __SKILL__ === 'string'
    ? __SKILL__
    : readFileSync(new URL('../../skill/SKILL.md', import.meta.url), 'utf8');
