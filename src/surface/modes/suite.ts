// One tool for the whole server, whose subtools are called through it. The default.
import type { ModeSession, ShowMode } from './mode.ts';

const SESSION: ModeSession = { listsToolsOf: () => false, listsSuiteOf: () => true };

export const suite: ShowMode = {
  name: 'suite',
  ownTools: 'never',
  usesSuite: true,
  needsTools: false,
  access: 'its suite',
  open: () => SESSION,
};
