// An empty surface. Tests override the parts they need.
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
