// Three kinds of tests: `unit` runs functions and objects in this process, `e2e` runs the built
// program as a host would, with real child servers. `npm test` builds first, then runs both.
// `engine` runs agents with the real Codex: `npm run test:engine` fetches it and builds first.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,arch}/**/*.test.ts'],
          testTimeout: 20_000,
          maxWorkers: 2, // vitest wants the same number for both
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'engine',
          include: ['test/engine/**/*.test.ts'],
          testTimeout: 120_000,
          hookTimeout: 120_000,
          maxWorkers: 2,
        },
      },
    ],
  },
});
