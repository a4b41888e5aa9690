// The server's own tools, always listed. Its suite fills in until they are known.
import type { ShowMode } from './mode.ts';

export const direct: ShowMode = {
  name: 'direct',
  ownTools: 'always',
  usesSuite: false,
  needsTools: true,
  access: 'its own tools',
  open: ({ parts }) => ({
    listsToolsOf: () => true,
    // Some hosts fetch the list only once, so a server without known tools must be in it.
    listsSuiteOf: ({ name }) => parts().pool.tools(name) === undefined,
  }),
};
