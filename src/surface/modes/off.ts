// Not shown and never started. It stays configured, so that it can be switched back on.
import type { ModeSession, ShowMode } from './mode.ts';

const SESSION: ModeSession = { listsToolsOf: () => false, listsSuiteOf: () => false };

export const off: ShowMode = {
  name: 'off',
  ownTools: 'never',
  usesSuite: false,
  needsTools: false,
  access: 'off',
  open: () => SESSION,
};
