// The form in which hosts ask about what waits: what it shows, and what an answer means.
import { expect, test } from 'vitest';
import type { JudgedSubject, Subject } from '../../../src/config/judge.ts';
import { createForm, readForm } from '../../../src/trust/approvals/form.ts';

function waiting(name: string, content: object, more: Partial<Subject> = {}): JudgedSubject {
  const subject: Subject = {
    kind: 'server',
    name,
    file: '/app/switchboard.config.json',
    origin: 'foreign',
    content: () => content,
    ...more,
  };
  return { subject, content, hash: `sha256-1-${name}`, verdict: 'pending', isLimited: false };
}

function server(name: string, ...args: string[]): JudgedSubject {
  const env = { TOKEN: '${GITHUB_TOKEN}', MODE: 'fast' };
  return waiting(name, { command: { program: 'npx', args, env }, cwd: '${project}' });
}

function fieldsOf(form: ReturnType<typeof createForm>) {
  const schema = form?.params.requestedSchema as { properties: Record<string, object> } | undefined;
  return schema?.properties;
}

test('a form shows everything that would run, with hidden characters named', () => {
  const headers = { Authorization: 'Bearer ${TOKEN}' };
  const replacing = waiting(
    'mine',
    { remote: { url: 'https://example.com/mcp', headers } },
    { touches: ['replaces your server "mine" in /home/you/.switchboard/switchboard.config.json'] },
  );
  const form = createForm([server('one', '-y', 'server\u200bone', 'a b'), replacing]);
  expect(form?.params.message).toMatchInlineSnapshot(`
    "These parts of the project need your approval. Switchboard doesn't use them until you approve them.

    1. Server "one", in /app/switchboard.config.json
        runs: npx -y "server<U+200B>one" "a b"
        in: \${project}
        sets variable TOKEN=\${GITHUB_TOKEN}
        sets variable MODE=fast
        passes your variable GITHUB_TOKEN to the program's environment

    2. Server "mine", in /app/switchboard.config.json
        replaces your server "mine" in /home/you/.switchboard/switchboard.config.json
        connects to: https://example.com/mcp
        sends header Authorization="Bearer \${TOKEN}"
        passes your variable TOKEN to a header"
  `);
  expect(fieldsOf(form)?.['part_1']).toEqual({
    type: 'string',
    title: '1. Server "one"',
    enum: ['approve', 'never', 'later'],
    enumNames: ['Approve', 'Never, and stop asking', 'Not now'],
    default: 'later',
  });
});

test("what can't be shown completely isn't offered, and the form says where to see it", () => {
  const long = server('long', 'x'.repeat(4_000));
  const form = createForm([long, server('short')]);
  expect([...(form?.offered.values() ?? [])].map(({ subject }) => subject.name)).toEqual(['short']);
  expect(form?.params.message).not.toContain('xxx');
  expect(form?.params.message).toContain(
    "One more item needs approval but can't be shown here. To see everything, run: switchboard trust",
  );
  expect(createForm([long])).toBeUndefined();
  expect(createForm([])).toBeUndefined();
});

test('a form never exceeds what hosts show', () => {
  const many = Array.from({ length: 40 }, (_, index) => server(`s${index}`, 'y'.repeat(100)));
  const form = createForm(many);
  expect(form?.offered.size).toBe(10);
  expect(form?.params.message.length).toBeLessThanOrEqual(4_200);
});

test("a name can't fake another part", () => {
  const form = createForm([server('one"\n\n2. Server "harmless')]);
  expect(form?.params.message.split('\n').filter((line) => /^\d/.test(line))).toHaveLength(1);
});

test('only a choice decides something', () => {
  const [one, two, three] = [server('one'), server('two'), server('three')];
  const form = createForm([one, two, three].flatMap((each) => each ?? []));
  if (!form) throw new Error('no form');
  const content = { part_1: 'approve', part_2: 'never', part_3: 'later', part_4: 'approve' };
  expect(readForm({ action: 'accept', content }, form)).toEqual({ approved: [one], denied: [two] });
  const nothing = { approved: [], denied: [] };
  for (const answer of [
    { action: 'decline', content },
    { action: 'cancel', content },
    { action: 'accept' },
    { action: 'accept', content: { part_1: true, part_2: 'yes', part_3: ['approve'] } },
    { content },
    null,
    'accept',
  ]) {
    expect(readForm(answer, form)).toEqual(nothing);
  }
});
