// The test suites. `npm test` builds, then runs `unit` and `e2e`. `npm run test:all` runs the others too.
//
// - `unit` runs functions and objects in this process.
// - `e2e` runs the built program the way hosts do, with real servers behind it.
// - `thorough` runs what takes long: faults, every flag, published servers, the rest of the matrix.
// - `shared` runs some tests of `e2e` and `thorough` again, with sessions that share a background process.
// - `sandbox` starts servers in bubblewrap, which `scripts/setup-debian.sh` installs (`npm run test:sandbox`).
// - `engine` runs agents with the real Codex, `hosts` uses Switchboard from real hosts.
//   `npm run test:engine` and `npm run test:hosts` download and build first.
//
// Time limits stop tests that hang. They don't measure anything: on a busy machine a test that takes a
// second may take half a minute. Nothing is retried: fix a flaky test.
import { availableParallelism } from 'node:os';
import { configDefaults, defineConfig } from 'vitest/config';

const COMMON = {
  // Longer than every wait inside a test, so that the failed wait names what it waited for.
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 60_000 } },
  // Tests mostly wait for processes, so three per core keep a machine busy. Vitest wants one number for all.
  maxWorkers: 3 * availableParallelism(),
  // Loading the modules anew for every file would take longer than many tests.
  isolate: false,
};

/** Tests that `npm test` leaves out. */
const THOROUGH = [
  'test/e2e/faults-*.test.ts', // servers, hosts and files that misbehave
  'test/e2e/{assistant,flip,reload}-faults.test.ts',
  'test/e2e/{audit,background}-chaos.test.ts', // kill servers and Switchboard itself during many calls
  'test/e2e/{suites,flip}-in-full.test.ts', // `npm test` has one of each, and the rest with a fake server
  'test/e2e/{flip-replay,sdk-clients,status-real}.test.ts', // published servers, official clients
  'test/e2e/name-variants.test.ts', // 1,000 spellings of denied names
  'test/e2e/{canaries,examples}.test.ts', // every command with secrets everywhere, every example
  'test/e2e/hostile-commands.test.ts', // every command in a hostile repository
  'test/e2e/assistant-switch.test.ts', // writes and restores files in every layout
  'test/e2e/{compiled-start,http-many,install-script,package,safe-output}.test.ts',
  'test/e2e/{agent-flags,agent-settings,assistant-claude,assistant-rules}.test.ts', // every flag and setting
  'test/e2e/{json-output,log,nearest,odd-places,odd-servers,old-node,skill,warnings}.test.ts',
  'test/e2e/{agent-nesting,agent-rules,assistant-config,assistant-folder,back-pressure}.test.ts',
  'test/e2e/{call,doctor,eras,idle,import,line-breaks,login,network}.test.ts',
  'test/e2e/{direct,large-results,show,signatures,starting,tasks,terminal}.test.ts',
  'test/e2e/not-shared.test.ts', // copies the program, and waits for time limits
  'test/e2e/background.test.ts',
  'test/e2e/background-{call,death,http,servers}.test.ts', // start many programs
  'test/e2e/runners.test.ts', // installs packages with npx
  'test/e2e/matrix/{strangers,two-hosts}.test.ts',
  'test/unit/child/remote/{certificates,faults-remote,remote-children}.test.ts',
  'test/unit/host/{control,http/handshake,http/limits}.test.ts', // wait for time limits
  'test/unit/agents/{codex/approvals,codex/engine,servers/enumerator}.test.ts', // start real programs
  'test/unit/conformance/fixture.test.ts',
  'test/unit/trust/swaps.test.ts', // replaces files a thousand times while they are read
  'test/unit/{agents/any-text,child/sign-in/credentials}.test.ts',
  'test/unit/rpc/framer.fuzz.test.ts',
];
/** Tests that `npm test` runs in part, and `thorough` the rest of: see `slow.ts` in test/support, `places.ts` in test/e2e. */
const IN_PART = [
  'test/e2e/assistant.test.ts',
  'test/e2e/matrix/{changes,endings,logging,prompts,questions,refusals,resources,tools}.test.ts',
  'test/e2e/{approvals,audit,hooks,hostile-repository,permissions,redaction,secrets,tool-changes}.test.ts',
  'test/e2e/{agents,children,cli,status}.test.ts',
  'test/unit/{rpc/framer,mcp/signature}.test.ts',
];

/** Tests of whole sessions, which hosts must not be able to tell from sessions alone. */
const SHARED = [
  'test/e2e/{suites,flip,direct,eras,tasks,reload,approvals,permissions,hooks}.test.ts',
  'test/e2e/{back-pressure,end-of-input,protocol,sdk-clients,tool-changes}.test.ts',
  'test/e2e/{flip,reload}-faults.test.ts',
  'test/e2e/faults-{call,host,size,stop}.test.ts',
  'test/e2e/matrix/*.test.ts',
];

const NO_BACKGROUND_LEFT = 'test/support/background-check-global.ts';
const CHECKED = {
  globalSetup: NO_BACKGROUND_LEFT,
  setupFiles: 'test/support/background-check.ts',
};
const SESSIONS = {
  ...CHECKED,
  globalSetup: ['test/support/bundle-servers.ts', NO_BACKGROUND_LEFT],
};
/** For programs that tests start with their own environment. */
const ALONE = { SWITCHBOARD_ALONE: '1' };

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/{unit,arch,contract}/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...THOROUGH],
          env: { PLACES: 'core', ...ALONE },
          ...COMMON,
        },
      },
      {
        test: {
          name: 'e2e',
          include: ['test/e2e/**/*.test.ts'],
          exclude: [...configDefaults.exclude, ...THOROUGH],
          env: { PLACES: 'core', ...ALONE },
          ...SESSIONS,
          ...COMMON,
        },
      },
      {
        test: {
          name: 'thorough',
          include: [...THOROUGH, ...IN_PART],
          env: ALONE,
          ...SESSIONS,
          ...COMMON,
        },
      },
      {
        test: {
          name: 'shared',
          include: SHARED,
          env: { PLACES: 'core', TEST_SHARED: '1' },
          ...SESSIONS,
          ...COMMON,
        },
      },
      {
        test: {
          name: 'sandbox',
          include: ['test/sandbox/**/*.test.ts'],
          ...CHECKED,
          globalSetup: ['test/sandbox/requirements.ts', NO_BACKGROUND_LEFT],
          env: ALONE,
          ...COMMON,
        },
      },
      { test: { name: 'engine', include: ['test/engine/**/*.test.ts'], ...CHECKED, ...COMMON } },
      {
        test: {
          name: 'hosts',
          include: ['test/hosts/**/*.test.ts'],
          env: { TEST_SHARED: '1' },
          ...CHECKED,
          ...COMMON,
        },
      },
    ],
  },
});
