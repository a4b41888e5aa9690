import { describe, expect, test } from 'vitest';
import type {
  PermissionDecision,
  RuleHints,
  RuleTarget,
} from '../../../src/config/permission-rules.ts';
import { Permissions, type PermissionsFile } from '../../../src/config/server/permissions.ts';
import { variantsOf } from '../../support/name-variants.ts';

const PLACE = { usersFile: '/home/me/.switchboard/switchboard.config.json', home: '/home/me' };
const PROJECT = '/project/switchboard.config.json';
const NAMES = ['github', 'git', 'git__hub', 'my-files', 'mcp'];

type Lists = Omit<PermissionsFile, 'file' | 'isUsers'>;

function permissionsOf(users: Lists | undefined, project?: Lists, names = NAMES): Permissions {
  const files = [
    ...(project ? [{ ...project, file: PROJECT, isUsers: false }] : []),
    ...(users ? [{ ...users, file: PLACE.usersFile, isUsers: true }] : []),
  ];
  return new Permissions(files, { users: names, all: names }, PLACE);
}

const READS: RuleHints = { readOnlyHint: true };
const WRITES: RuleHints = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

/** What is decided about a tool, written as `server tool`. */
function decide(permissions: Permissions, text: string, hints: RuleHints = WRITES): string {
  const [name = '', tool = ''] = text.split(' ');
  const rules = permissions.rulesFor({ name });
  const decision = rules ? rules.decide({ kind: 'tool', name: tool, hints }) : undefined;
  return decision?.permission ?? 'allow';
}

describe('what a rule means', () => {
  test.each([
    ['github', 'github create_issue', true],
    ['github', 'git create_issue', false],
    ['github__create_issue', 'github create_issue', true],
    ['github__create_issue', 'github delete_issue', false],
    ['github__*', 'github create_issue', true],
    ['github__create_*', 'github create_issue', true],
    ['github__create_*', 'github recreate_issue', false],
    ['git*', 'github create_issue', true],
    ['git*__delete_*', 'github delete_repo', true],
    ['git*__delete_*', 'my-files delete_repo', false],
    ['*__delete_*', 'my-files delete_repo', true],
    ['*', 'my-files x', true],
    ['mcp__github', 'github create_issue', true],
    ['mcp__github__create_issue', 'github create_issue', true],
    ['mcp__github__*', 'github create_issue', true],
    // A server that is really named "mcp".
    ['mcp__create', 'mcp create', true],
    ['mcp', 'mcp create', true],
    // The longest server name takes precedence.
    ['git__hub__push', 'git__hub push', true],
    ['git__hub__push', 'git hub__push', false],
    ['git__hub', 'git__hub push', true],
    ['git__hub', 'git hub', false],
    ['git__pull', 'git pull', true],
    ['my-files__x', 'my-files x', true],
  ])('%s, for %s: %s', (rule, target, isMatch) => {
    expect(decide(permissionsOf({ deny: [rule] }), target)).toBe(isMatch ? 'deny' : 'allow');
    expect(decide(permissionsOf({ ask: [rule] }), target)).toBe(isMatch ? 'ask' : 'allow');
    const allowed = permissionsOf({ default: 'deny', allow: [rule] });
    expect(decide(allowed, target)).toBe(isMatch ? 'allow' : 'deny');
  });

  test.each([
    ['@read', READS, true],
    ['@read', { readOnlyHint: true, destructiveHint: true }, false],
    ['@read', {}, false],
    ['@write', READS, false],
    ['@write', {}, true],
    ['@write', WRITES, true],
    ['@destructive', WRITES, false],
    ['@destructive', {}, true],
    ['@destructive', READS, false],
    ['@destructive', { readOnlyHint: false, destructiveHint: true }, true],
    ['@open', WRITES, false],
    ['@open', {}, true],
    ['@open', { openWorldHint: true }, true],
    ['@open', { ...READS, openWorldHint: false }, false],
  ])('%s, for a tool with %o: %s', (group, hints, isMatch) => {
    for (const rule of [group, `github__${group}`, `mcp__github__${group}`, `*__${group}`]) {
      const permissions = permissionsOf({ deny: [rule] });
      expect(decide(permissions, 'github x', hints)).toBe(isMatch ? 'deny' : 'allow');
    }
    expect(decide(permissionsOf({ deny: [`github__${group}`] }), 'git x', hints)).toBe('allow');
  });

  test('prompts and resources only read, and go by their names', () => {
    const rules = permissionsOf({
      default: 'deny',
      allow: ['@read'],
      deny: ['git__secret', 'git__file:///etc/*'],
    }).rulesFor({ name: 'git' });
    const ask = (kind: RuleTarget['kind'], name: string) =>
      rules?.decide({ kind, name })?.permission;
    expect(ask('prompt', 'summary')).toBe('allow');
    expect(ask('prompt', 'Secret')).toBe('deny');
    expect(ask('resource', 'file:///home/x')).toBe('allow');
    expect(ask('resource', 'file:///etc/passwd')).toBe('deny');
    for (const uri of [
      'FILE:///etc/passwd',
      'file:///tmp/../etc/passwd',
      'file:///%65tc/passwd',
      'file:///tmp/%2e%2e/etc/passwd',
    ]) {
      expect(ask('resource', uri)).toBe('deny');
    }
  });

  test.each(['?', '#', '/', '//', '?a=b', '#top', ' ', '\n', '/?'])(
    'a denied resource is denied with %j at its end',
    (end) => {
      const rules = permissionsOf({ deny: ['git__box://secret'] }).rulesFor({ name: 'git' });
      const on = (name: string) => rules?.decide({ kind: 'resource', name })?.permission;
      expect(on(`box://secret${end}`)).toBe('deny');
      expect(on(`box://secrets${end}`)).toBe('allow');
    },
  );

  test('a pattern for resources permits no way out of a folder', () => {
    const permissions = permissionsOf({ default: 'deny', allow: ['git__file:///home/*'] });
    const rules = permissions.rulesFor({ name: 'git' });
    const on = (name: string) => rules?.decide({ kind: 'resource', name })?.permission;
    expect(on('file:///home/a%20b')).toBe('allow');
    for (const way of ['file:///home/../etc', 'file:///home/%2e%2e/etc', 'file:///home/..%2fetc']) {
      expect(on(way)).toBe('deny');
    }
  });

  test('annotations are needed only if a rule depends on them', () => {
    const undecided = (lists: Lists) =>
      permissionsOf(lists).rulesFor({ name: 'git' })?.decide({ kind: 'tool', name: 'x' });
    expect(undecided({ deny: ['git__@write'] })).toBeUndefined();
    expect(undecided({ deny: ['git__@write', 'git__x'] })).toMatchObject({ permission: 'deny' });
    expect(undecided({ ask: ['git__x'] })).toMatchObject({ permission: 'ask' });
    expect(undecided({ ask: ['git__@open'], deny: ['git__y'] })).toBeUndefined();
  });
});

test('deny comes first, then ask, then allow, then the default', () => {
  const all = { allow: ['git__*'], ask: ['git__a*'], deny: ['git__ab'] };
  const permissions = permissionsOf({ ...all, default: 'deny' });
  expect(decide(permissions, 'git ab')).toBe('deny');
  expect(decide(permissions, 'git ac')).toBe('ask');
  expect(decide(permissions, 'git c')).toBe('allow');
  expect(decide(permissions, 'github c')).toBe('deny');
  expect(decide(permissionsOf({ ask: ['git__x'], allow: ['git__x'] }), 'git x')).toBe('ask');
});

test('across files the strictest decision counts, in whichever it is', () => {
  const strict = { default: 'deny', allow: ['git', 'github'], ask: ['github__ask'] } as const;
  const loose = { allow: ['git', 'mcp', 'github__ask', 'github__no'], deny: ['github__no'] };
  for (const [users, project] of [
    [strict, loose],
    [loose, strict],
  ] as const) {
    const permissions = permissionsOf(users, project);
    expect(decide(permissions, 'git x')).toBe('allow');
    expect(decide(permissions, 'mcp x')).toBe('deny');
    expect(decide(permissions, 'github ask')).toBe('ask');
    expect(decide(permissions, 'github no')).toBe('deny');
  }
});

describe('exceptions from ask', () => {
  test("the user's apply to every file, and answer the default", () => {
    const users = { default: 'ask', ask: ['git', '!git__pull', '!github__x'] } as const;
    expect(decide(permissionsOf(users), 'git pull')).toBe('allow');
    expect(decide(permissionsOf(users), 'git push')).toBe('ask');
    expect(decide(permissionsOf(users), 'github x')).toBe('allow');
    expect(decide(permissionsOf(users, { ask: ['git__pull'] }), 'git pull')).toBe('allow');
    expect(decide(permissionsOf(users, { default: 'ask' }), 'git pull')).toBe('allow');
    expect(decide(permissionsOf(users, { deny: ['git__pull'] }), 'git pull')).toBe('deny');
  });

  test("a project's apply only to its own", () => {
    const project = { ask: ['git', '!git__pull'] };
    expect(decide(permissionsOf(undefined, project), 'git pull')).toBe('allow');
    expect(decide(permissionsOf({ ask: ['git'] }, project), 'git pull')).toBe('ask');
    expect(decide(permissionsOf({ default: 'ask' }, project), 'git pull')).toBe('ask');
  });

  test('are exact', () => {
    const permissions = permissionsOf({ ask: ['git', '!git__pull'] });
    expect(decide(permissions, 'git Pull')).toBe('ask');
  });
});

test('a decision says what it comes from', () => {
  const decisionOn = (permissions: Permissions, name: string): PermissionDecision | undefined =>
    permissions.rulesFor({ name, readOnlyIn: PROJECT })?.decide({
      kind: 'tool',
      name: 'x',
      hints: READS,
    });
  expect(decisionOn(permissionsOf({ deny: ['mcp__git'] }), 'git')).toEqual({
    permission: 'deny',
    by: 'deny',
    rule: 'mcp__git',
    file: PLACE.usersFile,
    because: `permissions.deny "mcp__git" in ${PLACE.usersFile}`,
  });
  expect(decisionOn(permissionsOf({ default: 'ask' }), 'git')).toEqual({
    permission: 'ask',
    by: 'default',
    file: PLACE.usersFile,
    because: `permissions.default in ${PLACE.usersFile}`,
  });
  expect(decisionOn(permissionsOf({}), 'git')).toMatchObject({
    permission: 'allow',
    by: 'readOnly',
  });
});

test('readOnly permits only tools that are marked as read-only', () => {
  const rules = permissionsOf({}).rulesFor({ name: 'git', readOnlyIn: PROJECT });
  const on = (hints?: RuleHints) => rules?.decide({ kind: 'tool', name: 'x', hints })?.permission;
  expect([on(READS), on(WRITES), on({}), on()]).toEqual(['allow', 'deny', 'deny', undefined]);
  expect(rules?.decide({ kind: 'resource', name: 'a:b' })?.permission).toBe('allow');
});

test('without a rule that can apply there are no rules', () => {
  expect(permissionsOf({ deny: ['github'] }).rulesFor({ name: 'git' })).toBeUndefined();
  expect(permissionsOf({ allow: ['github'] }).rulesFor({ name: 'github' })).toBeUndefined();
  expect(permissionsOf({}).rulesFor({ name: 'git' })).toBeUndefined();
});

test('a server of which nothing may be used is known as such', () => {
  const refused = (lists: Lists) =>
    permissionsOf(lists).rulesFor({ name: 'git' })?.refusal?.because;
  expect(refused({ deny: ['git'] })).toContain('permissions.deny "git"');
  expect(refused({ deny: ['git__*'] })).toContain('permissions.deny');
  expect(refused({ default: 'deny', allow: ['github'] })).toContain('permissions.default');
  expect(refused({ default: 'deny', allow: ['git__x'] })).toBeUndefined();
  expect(refused({ default: 'deny', ask: ['git__x'] })).toBeUndefined();
  expect(refused({ deny: ['git__x'] })).toBeUndefined();
});

describe('names', () => {
  const variants = variantsOf('delete_file');

  test('no spelling that a server may take for a denied name is permitted', () => {
    expect(variants.length).toBeGreaterThan(1_000);
    const folded = /^delete_file$/;
    const alike = variants.filter((name) =>
      folded.test(
        name
          .normalize('NFKC')
          .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, '')
          .trim()
          .toLowerCase()
          .replaceAll(/[-\s]/g, '_'),
      ),
    );
    expect(alike.length).toBeGreaterThan(500);
    for (const rule of [
      'my-files__delete_file',
      'my-files__delete_*',
      'mcp__my-files__Delete-File',
    ]) {
      const permissions = permissionsOf({ deny: [rule] });
      expect(alike.filter((name) => !isDenied(permissions, name))).toEqual([]);
    }
  });

  test('no other spelling is allowed', () => {
    const permissions = permissionsOf({ default: 'deny', allow: ['my-files__delete_file'] });
    expect(variants.filter((name) => !isDenied(permissions, name))).toEqual([]);
    expect(isDenied(permissions, 'delete_file')).toBe(false);
  });

  test('a rule that restricts matches other spellings of the server, one that permits does not', () => {
    expect(decide(permissionsOf({ deny: ['My_Files__x'] }), 'my-files x')).toBe('deny');
    const allowing = permissionsOf({ default: 'deny', allow: ['My_Files__x'] });
    expect(decide(allowing, 'my-files x')).toBe('deny');
  });

  function isDenied(permissions: Permissions, name: string): boolean {
    const rules = permissions.rulesFor({ name: 'my-files' });
    return rules?.decide({ kind: 'tool', name, hints: {} })?.permission === 'deny';
  }
});

describe("a project's servers", () => {
  const names = { users: ['github'], all: ['github', 'github__delete_repo', 'gh'] };
  const withUsers = (users: Lists) =>
    new Permissions([{ ...users, file: PLACE.usersFile, isUsers: true }], names, PLACE);
  const hints = WRITES;

  test("don't change what the user's rules mean", () => {
    const permissions = withUsers({ deny: ['github__delete_repo', 'shell__rm'] });
    expect(decide(permissions, 'github delete_repo')).toBe('deny');
    // A server that only an agent brings along.
    const more = new Permissions(
      [{ deny: ['shell__rm'], file: PLACE.usersFile, isUsers: true }],
      { users: ['github'], all: ['github', 'shell__rm'] },
      PLACE,
    );
    expect(decide(more, 'shell rm')).toBe('deny');
  });

  test('are bound by rules for a server with the same command, but get no permission from them', () => {
    const denying = withUsers({ deny: ['github__x'] }).rulesFor({
      name: 'gh',
      aliases: ['github'],
    });
    expect(denying?.decide({ kind: 'tool', name: 'x', hints })?.permission).toBe('deny');
    const allowing = withUsers({ default: 'ask', allow: ['github'] });
    const rules = allowing.rulesFor({ name: 'gh', aliases: ['github'] });
    expect(rules?.decide({ kind: 'tool', name: 'x', hints })?.permission).toBe('ask');
  });

  test("that replace the user's get no permission because of the name", () => {
    const permissions = withUsers({ default: 'ask', allow: ['github'], ask: ['!github__y'] });
    const on = (name: string, isReplaced: boolean) =>
      permissions.rulesFor({ name: 'github', isReplaced })?.decide({ kind: 'tool', name, hints })
        ?.permission;
    expect([on('x', false), on('y', false)]).toEqual(['allow', 'allow']);
    expect([on('x', true), on('y', true)]).toEqual(['ask', 'ask']);
  });
});

describe('warnings', () => {
  test('name the nearest server or group', () => {
    const deny = [
      'githb',
      'githb__x',
      'github__@reed',
      'nothing-like-it',
      'github',
      'git*',
      '*__x',
      '@open',
    ];
    expect(permissionsOf({ deny, allow: ['GitHub'], ask: ['!githb__x'] }).warnings).toEqual(
      [
        'permissions.deny: "githb" matches no server. Did you mean "github"?',
        'permissions.deny: "githb__x" matches no server. Did you mean "github"?',
        'permissions.deny: "github__@reed": unknown tool group. Did you mean "@read"?',
        'permissions.deny: "nothing-like-it" matches no server.',
        'permissions.ask: "!githb__x" matches no server. Did you mean "github"?',
        'permissions.allow: "GitHub" matches no server. Did you mean "github"?',
      ].map((warning) => `${PLACE.usersFile}: ${warning}`),
    );
  });

  test('name the nearest tool, once a server has listed its tools', () => {
    const permissions = permissionsOf({
      deny: ['github__creat_issue', 'github__create_*', 'github', 'git__x', 'Github__CREATE-issue'],
      allow: ['mcp__github__Create_issue'],
    });
    const listed = new Map([['github', ['create_issue', 'list_issues']]]);
    expect(permissions.unmatched(listed)).toEqual([
      `${PLACE.usersFile}: permissions.deny: "github__creat_issue" matches no tool, prompt or resource. Did you mean "github__create_issue"?`,
      `${PLACE.usersFile}: permissions.allow: "mcp__github__Create_issue" matches no tool, prompt or resource. Did you mean "github__create_issue"?`,
    ]);
  });
});

test('an exact rule means one target and nothing else', () => {
  const permissions = permissionsOf({});
  expect(permissions.exactRule('git', 'push')).toBe('git__push');
  expect(permissions.exactRule('git', 'file:///a b')).toBe('git__file:///a b');
  // It would mean the tool "push" of the server "git__hub".
  expect(permissions.exactRule('git', 'hub__push')).toBeUndefined();
  for (const odd of ['a*', '@read', '']) expect(permissions.exactRule('git', odd)).toBeUndefined();
});

test('rules can be compared and printed', () => {
  const rules = permissionsOf({ deny: ['git__x'], ask: ['!git__y'] }).rulesFor({ name: 'git' });
  expect(JSON.parse(JSON.stringify(rules))).toEqual({
    files: [
      { file: PLACE.usersFile, default: 'allow', deny: ['git__x'], ask: ['!git__y'], allow: [] },
    ],
  });
});
