// A surface on which there is nothing: what a test wants to be there is put over it.
import { Verbatim } from '../../src/rpc/verbatim.ts';
import type { Surface } from '../../src/surface/surface.ts';

export const EMPTY_SURFACE: Surface = {
  instructions: '',
  active: [],
  listTools: () => [],
  listPrompts: () => [],
  listResources: () => [],
  listTemplates: () => [],
  callTool: async () => Verbatim.of({ content: [] }),
  ask: async () => Verbatim.of({}),
  watch: async () => {},
  setLogLevel: () => {},
  close: () => {},
};
