import { expect, test } from 'vitest';
import { createMask } from '../../../src/base/secrets.ts';
import { Child } from '../../../src/child/child.ts';
import { HandshakeConversation } from '../../../src/child/conversation/handshake.ts';
import { LinkEnded } from '../../../src/child/link.ts';
import { NOTHING_HELD, type Screen, type ScreenedList } from '../../../src/child/screen.ts';
import { projectRoots } from '../../../src/mcp/roots.ts';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import { childConfig } from '../../support/child-config.ts';
import { createScriptedPeer } from '../../support/scripted-peer.ts';

function createChild(screen?: Screen) {
  const { peer, last, receive } = createScriptedPeer();
  const config = childConfig({ name: 'box' });
  const link = {
    peer,
    pid: undefined,
    ended: new Promise<never>(() => {}),
    hasSpoken: true,
    lastOutput: '',
    mask: createMask(['a-secret-value']),
    secrets: ['a-secret-value'],
    hide: () => {},
    endOutput: () => {},
    pause: () => {},
    resume: () => {},
    stop: async () => {},
  };
  const conversation = new HandshakeConversation({
    name: 'box',
    peer,
    capabilities: {},
    timeoutMs: 1_000,
    roots: { project: projectRoots('/project'), isShared: false },
    askOutside: () => Promise.reject(new Error('Nobody is there.')),
  });
  const greeting = {
    era: 'handshake',
    revision: '2025-11-25',
    serverName: undefined,
    serverVersion: undefined,
    capabilities: {},
    instructions: 'Be brief.',
  } as const;
  const child = new Child({ config, link, greeting, conversation, screen });
  return { child, peer, last, receive };
}

test('a refused subscription is reported with the server’s name, and without secrets', async () => {
  const { child, last, receive } = createChild();
  const watched = child.watch(new Set(['a:1']));
  const { id } = last('resources/subscribe');
  receive({ id, error: { code: -32601, message: 'Not with a-secret-value' } });
  const message = 'Not with *** (server "box", a subscription)';
  await expect(watched).rejects.toMatchObject({ code: -32601, message });
});

test('a subscription during which the server exits is a server failure', async () => {
  const { child, peer } = createChild();
  const watched = child.watch(new Set(['a:1']));
  peer.close(new LinkEnded({ kind: 'exited', code: 4, signal: null }));
  await expect(watched).rejects.toMatchObject({ code: 'CHILD_EXITED' });
});

test('a result that needs input, and an error that sends the user to a page, name the server', async () => {
  const { child, last, receive } = createChild();
  const ask = (answer: object) => {
    const asked = child.ask('prompts/get', Verbatim.of({ name: 'p' }), {}, 'prompt "p"');
    receive({ id: last('prompts/get').id, ...answer });
    return asked;
  };
  const question = { method: 'elicitation/create', params: { message: 'Who?' } };
  const wanted = { resultType: 'input_required', inputRequests: { who: question } };
  expect((await ask({ result: wanted })).value).toMatchObject({
    inputRequests: { who: { params: { message: 'Server "box" asks: Who?' } } },
  });
  const data = { elicitations: [{ message: 'Sign in.' }] };
  await expect(ask({ error: { code: -32042, message: 'First', data } })).rejects.toMatchObject({
    data: { value: { elicitations: [{ message: 'Server "box" asks: Sign in.' }] } },
  });
});

test('every list passes through the screen unchanged, except for held tools', async () => {
  const screened: ScreenedList[] = [];
  const { child, last, receive } = createChild(async (list) => {
    screened.push(list);
    return {
      ...NOTHING_HELD,
      held: [{ name: 'held', because: 'changed' }],
      holdsInstructions: true,
    };
  });
  const items = [{ name: 'held' }, { name: 'fine', description: 'F\u200bine.' }];
  const answer = (method: string, key: string) =>
    receive({ id: last(method).id, result: { [key]: items } });

  expect(child.instructions).toBe('Be brief.');
  const tools = child.listTools();
  answer('tools/list', 'tools');
  expect(await tools).toEqual([{ name: 'fine', description: 'Fine.' }]);
  expect(child.refusedTools).toEqual([{ name: 'held', where: 'changed' }]);
  expect(child.toolNames).toEqual(['fine']);
  expect(child.instructions).toBeUndefined();

  const prompts = child.list('prompts');
  answer('prompts/list', 'prompts');
  expect(await prompts).toEqual([{ name: 'fine', description: 'Fine.' }]);
  expect(child.heldPrompts).toEqual(['held']);
  expect(screened).toMatchObject([
    { kind: 'tools', raw: items, instructions: 'Be brief.' },
    { kind: 'prompts', raw: items },
  ]);
});
