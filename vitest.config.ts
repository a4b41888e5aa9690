// Four kinds of tests: `unit` runs functions and objects in this process, `e2e` runs the built
// program as a host would, with real child servers. `npm test` builds first, then runs both.
// `engine` runs agents with the real Codex: `npm run test:engine` fetches it and builds first. `hosts`
// uses the built program from real hosts: `npm run test:hosts` does the same for these.
//
// The limits end what hangs, and measure nothing: on a machine with much else to do, a test that takes a
// second may take half a minute. Nothing is tried twice: what fails now and then is to be mended.
import { defineConfig } from 'vitest/config';

const COMMON = {
  // Longer than anything inside a test waits for a condition: who has waited in vain says for what.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  maxWorkers: 2, // vitest wants the same number for all
};

export default defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['test/{unit,arch,contract}/**/*.test.ts'], ...COMMON } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...COMMON } },
      { test: { name: 'engine', include: ['test/engine/**/*.test.ts'], ...COMMON } },
      { test: { name: 'hosts', include: ['test/hosts/**/*.test.ts'], ...COMMON } },
    ],
  },
});
