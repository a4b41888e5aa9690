import { describe, expect, test } from 'vitest';
import { Cancellation } from '../../../src/base/cancellation.ts';
import type { Log } from '../../../src/base/log.ts';
import type { Call } from '../../../src/calls/call.ts';
import { redactArguments } from '../../../src/calls/redact.ts';
import { filterResults } from '../../../src/calls/result-secrets.ts';
import type { ChildConfig } from '../../../src/config/config.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { byName, createFakePool, FakeChild } from '../../support/fake-child.ts';
import { SILENT_LOG } from '../../support/silent-log.ts';
import { GITHUB_TOKEN } from '../../support/tokens.ts';

function partsFor(config: ChildConfig) {
  const lines: string[] = [];
  const note = (line: string): void => void lines.push(line);
  const log: Log = { ...SILENT_LOG, info: note, error: note };
  const child = new FakeChild('echo');
  child.secret = 'hunter2-hunter2';
  const { pool } = createFakePool([config], async () => child);
  return { settings: { children: byName([config]) }, parts: { pool, log }, lines };
}

const callOf = (server: ChildConfig, some: Partial<Call> = {}): Call => ({
  server,
  method: 'tools/call',
  target: 'echo',
  params: Verbatim.of({ apiKey: 'canary-value', query: 'tea' }),
  context: { cancellation: new Cancellation() },
  through: 'suite',
  ...some,
});

describe('redact', () => {
  const server = childConfig({ name: 'box', redact: ['$.apiKey'] });

  test('without any, there is no interceptor', () => {
    const { settings, parts } = partsFor(childConfig({ name: 'box' }));
    expect(redactArguments(settings, parts)).toBeUndefined();
  });

  test('the server gets the arguments, and its link learns what to hide', async () => {
    const { settings, parts } = partsFor(server);
    const intercept = redactArguments(settings, parts);
    const calls: Call[] = [];
    await intercept?.(callOf(server), async (call) => {
      calls.push(call);
      return Verbatim.of({});
    });
    const [call] = calls;
    expect(call?.params.value).toEqual({ apiKey: 'canary-value', query: 'tea' });
    expect(call?.context.secrets).toEqual(['canary-value']);
  });
});

describe('results.secrets', () => {
  const answer = Verbatim.of({
    content: [{ type: 'text', text: `${GITHUB_TOKEN} hunter2-hunter2` }],
  });
  const send = async (config: ChildConfig, result = answer, some: Partial<Call> = {}) => {
    const { settings, parts, lines } = partsFor(config);
    await parts.pool.use(config.name, new Cancellation());
    const intercept = filterResults(settings, parts);
    const { value } = (await intercept?.(callOf(config, some), async () => result)) ?? result;
    return { value, lines };
  };

  test('pass: the interceptor isn’t there', () => {
    const { settings, parts } = partsFor(childConfig({ name: 'box' }));
    expect(filterResults(settings, parts)).toBeUndefined();
  });

  test('mask: tokens and configured values are gone, and the log says so', async () => {
    const { value, lines } = await send(childConfig({ name: 'box', resultSecrets: 'mask' }));
    expect(value).toEqual({ content: [{ type: 'text', text: '*** ***' }] });
    expect(lines).toEqual([
      'box: masked secrets in the result of echo: GitHub token, configured value.',
    ]);
  });

  test('note: everything is still there', async () => {
    const { value, lines } = await send(childConfig({ name: 'box', resultSecrets: 'note' }));
    expect(value).toMatchObject({
      content: [{ text: `${GITHUB_TOKEN} hunter2-hunter2` }, { type: 'text' }],
      _meta: { 'switchboard/secrets': ['GitHub token', 'configured value'] },
    });
    expect(lines).toEqual([
      'box: found secrets in the result of echo: GitHub token, configured value.',
    ]);
  });

  test('a question to the host keeps its state', async () => {
    const question = Verbatim.of({ resultType: 'input_required', requestState: GITHUB_TOKEN });
    const config = childConfig({ name: 'box', resultSecrets: 'mask' });
    expect((await send(config, question)).value).toBe(question.value);
    expect((await send(config, answer, { method: 'tasks/get' })).value).toBe(answer.value);
  });

  test('a bug in it doesn’t fail the call', async () => {
    const broken = new Verbatim('{"content":["\\q \\/' + GITHUB_TOKEN + '"]}', { content: [] });
    const config = childConfig({ name: 'box', resultSecrets: 'mask' });
    const { value, lines } = await send(config, broken);
    expect(value).toBe(broken.value);
    expect(lines.join()).toContain('SyntaxError');
  });
});
