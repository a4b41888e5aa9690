// What surrounds the code: files that people and services look for, links in the documentation, the
// workflows, and what npm would publish. `npm test` builds first, which the last test relies on.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findMissing, LOCK_FILES, readLock } from '../../scripts/complete-lock.ts';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Job {
  readonly 'runs-on': string;
  readonly strategy?: { readonly matrix: Readonly<Record<string, unknown>> };
  readonly steps: readonly Step[];
}

interface Workflow {
  readonly on: unknown;
  readonly permissions: Readonly<Record<string, string>>;
  readonly jobs: Readonly<Record<string, Job>>;
}

interface ReleaseConfig {
  readonly plugins: readonly (string | [string, Record<string, unknown>])[];
}

const SEMANTIC_RELEASE =
  'npx --yes -p semantic-release@25.0.9 -p @semantic-release/changelog@7.0.0 -p @semantic-release/git@11.0.1 -p conventional-changelog-conventionalcommits@9.3.1 semantic-release';

function readJson(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function readPlugins(): (readonly [name: string, options: Readonly<Record<string, unknown>>])[] {
  const { plugins }: ReleaseConfig = JSON.parse(readFileSync('.releaserc.json', 'utf8'));
  return plugins.map((plugin) => (typeof plugin === 'string' ? [plugin, {}] : plugin));
}

function readWorkflow(name: string): Workflow {
  return parse(readFileSync(`.github/workflows/${name}`, 'utf8'));
}

/** How a workflow names a secret. */
function secret(name: string): string {
  return `\${{ secrets.${name} }}`;
}

/** The steps of a job, each as the one thing that it does. */
function stepsOf(job: Job | undefined): (string | undefined)[] | undefined {
  return job?.steps.map((step) => step.run ?? step.uses?.replace(/@.*/, ''));
}

describe('the repository', () => {
  it.each([
    '.ci/run',
    '.github/workflows/ci.yml',
    '.github/workflows/release.yml',
    '.releaserc.json',
    'AGENTS.md',
    'ARCHITECTURE.md',
    'CHANGELOG.md',
    'CODE_OF_CONDUCT.md',
    'CONTRIBUTING.md',
    'LICENSE',
    'README.md',
    'SECURITY.md',
    'docs/configuration.md',
    'docs/decisions',
    'examples/agents/README.md',
    'examples/filesystem-and-memory/README.md',
    'examples/filesystem-and-memory/switchboard.config.json',
    'examples/host.mjs',
    'examples/mock-child/.mcp.json',
    'examples/mock-child/README.md',
    'examples/mock-child/index.mjs',
    'examples/playwright/.switchboard/mcps/playwright/.mcp.json',
    'examples/playwright/README.md',
    'examples/playwright/switchboard.config.json',
    'install.sh',
    'skill/SKILL.md',
    'switchboard.config.schema.json',
  ])('has %s', (path) => {
    expect(existsSync(path)).toBe(true);
  });

  it('has one page for coding assistants, short, under both of its names', () => {
    expect(readlinkSync('CLAUDE.md')).toBe('AGENTS.md');
    expect(readFileSync('AGENTS.md', 'utf8').split('\n').length).toBeLessThan(60);
  });

  it('has the Contributor Covenant with a way to reach the maintainers', () => {
    const text = readFileSync('CODE_OF_CONDUCT.md', 'utf8');
    expect(text).toMatch(/^# Contributor Covenant Code of Conduct\n/);
    expect(text).toContain('version/2/1/code_of_conduct.html');
    expect(text).not.toContain('INSERT CONTACT METHOD');
  });
});

describe('the release', () => {
  const workflow = readWorkflow('release.yml');
  const job = workflow.jobs['release'];

  it('comes with each push to main, and may do what it needs and no more', () => {
    expect(workflow.on).toEqual({ push: { branches: ['main'] } });
    expect(workflow.permissions).toEqual({
      contents: 'write',
      issues: 'write',
      'pull-requests': 'write',
      'id-token': 'write',
    });
  });

  it('is preceded by lint, tests and build', () => {
    expect(stepsOf(job)).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'scripts/setup-debian.sh',
      'npm ci',
      'npm run lint',
      'npm run test:all',
      'npm run build',
      SEMANTIC_RELEASE,
    ]);
  });

  it('has a Node that semantic-release accepts, all commits, and the tokens', () => {
    expect(job?.steps[0]?.with).toMatchObject({ 'fetch-depth': 0 });
    expect(job?.steps[1]?.with).toEqual({ 'node-version': '24.21.0' });
    expect(job?.steps.at(-1)?.env).toEqual({
      GITHUB_TOKEN: secret('GITHUB_TOKEN'),
      NPM_TOKEN: secret('NPM_TOKEN'),
    });
  });

  it('names an exact version of everything it runs', () => {
    expect(job?.['runs-on']).toMatch(/-[\d.]+$/);
    const actions = job?.steps.flatMap(({ uses }) => uses ?? []) ?? [];
    expect(actions).toHaveLength(2);
    for (const action of actions) expect(action).toMatch(/@[0-9a-f]{40}$/);
    const packages = [...SEMANTIC_RELEASE.matchAll(/-p (\S+)/g)].map(([, name]) => name);
    expect(packages).toHaveLength(4);
    for (const name of packages) expect(name).toMatch(/.@\d+\.\d+\.\d+$/);
  });

  it('begins with 1.0.0, as semantic-release does, and package.json says so', () => {
    const { name, version } = readJson('package.json') as { name: string; version: string };
    expect(name).toBe('switchboard');
    expect(version).toMatch(/^[1-9]\d*\.\d+\.\d+$/);
    const lock = readJson('package-lock.json') as { version: string };
    expect(lock.version).toBe(version);
  });

  it('is the same by hand', () => {
    expect(readJson('package.json')).toMatchObject({ scripts: { release: SEMANTIC_RELEASE } });
  });

  it('writes notes and changelog before it publishes and commits', () => {
    expect(readPlugins().map(([name]) => name)).toEqual([
      '@semantic-release/commit-analyzer',
      '@semantic-release/release-notes-generator',
      '@semantic-release/changelog',
      '@semantic-release/npm',
      '@semantic-release/git',
      '@semantic-release/github',
    ]);
    expect(readPlugins()[4]?.[1]).toEqual({
      assets: ['CHANGELOG.md', 'package.json', 'package-lock.json'],
    });
  });

  it('reads commit messages by the one convention, in both places', () => {
    const [analyzer, notes] = readPlugins();
    expect(analyzer?.[1]).toMatchObject({ preset: 'conventionalcommits' });
    expect(notes?.[1]).toMatchObject({ preset: 'conventionalcommits' });
  });

  it('puts new notes below the introduction of the changelog', () => {
    const title = String(readPlugins()[2]?.[1]['changelogTitle']);
    expect(readFileSync('CHANGELOG.md', 'utf8').slice(0, title.length)).toBe(title);
  });
});

describe('continuous integration', () => {
  const { on, jobs } = readWorkflow('ci.yml');

  it('runs for pull requests and for main', () => {
    expect(on).toEqual({ pull_request: null, push: { branches: ['main'] } });
  });

  it('does everything on Linux with each supported Node', () => {
    expect(jobs['linux']?.strategy?.matrix).toEqual({ node: [20, 22, 24] });
    expect(stepsOf(jobs['linux'])).toEqual([
      'actions/checkout',
      'actions/setup-node',
      'scripts/setup-debian.sh',
      'npm ci',
      'npm run check',
      'npm run test:all',
    ]);
  });

  it('tests on macOS, and on Windows sees the program start', () => {
    expect(jobs['macos']?.['runs-on']).toBe('macos-latest');
    expect(stepsOf(jobs['macos'])?.slice(2)).toEqual(['npm ci', 'npm test']);
    expect(jobs['windows']?.['runs-on']).toBe('windows-latest');
    expect(stepsOf(jobs['windows'])?.slice(2)).toEqual([
      'npm ci',
      'npm run build',
      'node dist/index.js --version',
    ]);
  });
});

describe('the documentation', () => {
  const pages = globSync('**/*.md', {
    dot: true,
    ignore: ['**/node_modules/**', '.git/**', 'dist/**'],
  }).sort();

  it.each(pages)('%s has no link to a file that is not there', (page) => {
    const missing = relativeLinksOf(readFileSync(page, 'utf8')).filter(
      (link) => !existsSync(resolve(dirname(page), link)),
    );
    expect(missing).toEqual([]);
  });

  it.each(pages.filter((page) => /^examples\/.*README\.md$/.test(page)))(
    'the JSON in %s is JSON',
    (page) => {
      const blocks = jsonBlocksOf(page);
      expect(blocks.length).toBeGreaterThan(0);
      for (const block of blocks) expect(() => JSON.parse(block) as unknown).not.toThrow();
    },
  );

  it.each([
    'examples/mock-child/.mcp.json',
    'examples/playwright/.switchboard/mcps/playwright/.mcp.json',
    'examples/playwright/switchboard.config.json',
    'examples/filesystem-and-memory/switchboard.config.json',
  ])('%s is quoted as it is in the page that explains it', (path) => {
    const page = path.replace(/^(examples\/[^/]+)\/.*/, '$1/README.md');
    const quoted = jsonBlocksOf(page).map((block) => JSON.parse(block) as unknown);
    expect(quoted).toContainEqual(readJson(path));
  });
});

describe('the package', () => {
  it('holds the program and what explains it, not its sources', () => {
    // Without scripts: `prepack` would build again, under the feet of tests that run dist/.
    const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const [packed]: { files: { path: string }[] }[] = JSON.parse(output);
    const paths = packed?.files.map((file) => file.path) ?? [];
    expect(paths).toEqual(
      expect.arrayContaining([
        'LICENSE',
        'README.md',
        'dist/index.js',
        'install.sh',
        'package.json',
        'skill/SKILL.md',
        'switchboard.config.schema.json',
      ]),
    );
    expect(
      paths.filter((path) => /^(src|test|scripts|examples|conformance|\.)/.test(path)),
    ).toEqual([]);
  });
});

/** Targets of links and images that are neither on the web nor inside the same page. */
function relativeLinksOf(markdown: string): string[] {
  const text = markdown.replace(/^ *(```|~~~)[\s\S]*?^ *\1/gm, '').replace(/`[^`\n]*`/g, '`code`');
  const inline = text.matchAll(/\]\(<?([^)>\s]+)>?(?:\s+"[^"]*")?\)/g);
  const reference = text.matchAll(/^ *\[[^\]]+\]:\s*<?([^>\s]+)>?/gm);
  return [...inline, ...reference]
    .map((match) => (match[1] ?? '').replace(/[#?].*$/, ''))
    .filter((target) => target !== '' && !/^[a-z][a-z0-9+.-]*:/i.test(target))
    .map((target) => decodeURIComponent(target));
}

function jsonBlocksOf(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  return [...text.matchAll(/^ *```json\n([\s\S]*?)^ *```/gm)].map((match) => match[1] ?? '');
}

it('has lock files with every optional package, so that npm ci accepts them everywhere', () => {
  // If not: npx tsx scripts/complete-lock.ts
  for (const file of LOCK_FILES) expect([...findMissing(readLock(file)).keys()]).toEqual([]);
});
