// What a server asks while it works: of the user, of the host's model, of the host. In one era it
// sends a request, in the other it answers that it needs something; a host sees its own era alone,
// and the server gets the same answers.
import { expect } from 'vitest';
import type { Host, Message, Question } from './hosts.ts';
import { withoutSigner } from './hosts.ts';
import { describeMatrix } from './matrix.ts';
import type { Place } from './places.ts';
import { jsonOf, lastErrorOf, rootsOf, textOf } from './results.ts';
import { waitFor } from './wait.ts';

const NAME_QUESTION = {
  mode: 'form',
  message: 'What is your name?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string', title: 'Name' }, age: { type: 'integer' } },
    required: ['name'],
  },
};
const PAGE_QUESTION = {
  mode: 'url',
  message: 'Please sign in.',
  url: 'https://example.com/sign-in?for=fixture',
};
const SAID = {
  role: 'assistant',
  model: 'model-of-the-host',
  stopReason: 'endTurn',
  content: { type: 'text', text: 'hello' },
};
const ROOTS = { roots: [{ uri: 'file:///project', name: 'project' }] };

describeMatrix('questions', ['direct', 'switchboard', 'suite', 'http'], (tryCell) => {
  tryCell('form-accept', async ({ host, place }) => {
    const asked = noteQuestions(host);
    const content = { name: 'žluť', age: 7 };
    host.answers.elicit = () => ({ action: 'accept', content });
    expect(jsonOf(await host.callTool('ask_form'))).toEqual({ action: 'accept', content });
    expect(asked()).toEqual([signed(place, NAME_QUESTION)]);
  });

  tryCell('form-decline', async ({ host }) => {
    host.answers.elicit = () => ({ action: 'decline' });
    expect(jsonOf(await host.callTool('ask_form'))).toEqual({ action: 'decline' });
  });

  tryCell('form-cancel', async ({ host }) => {
    host.answers.elicit = () => ({ action: 'cancel' });
    expect(jsonOf(await host.callTool('ask_form'))).toEqual({ action: 'cancel' });
  });

  tryCell('url', async ({ host, place }) => {
    const asked = noteQuestions(host);
    expect(jsonOf(await host.callTool('ask_url'))).toEqual({ action: 'accept' });
    const [question, ...more] = asked();
    expect(more).toEqual([]);
    const { elicitationId, ...rest } = question ?? {};
    expect(rest).toEqual(signed(place, PAGE_QUESTION));
    expect(typeof elicitationId).toBe(place.driver.era === 'modern' ? 'undefined' : 'string');
  });

  tryCell('url-done', async ({ host, place, outcome }) => {
    const from = host.received.length;
    await host.callTool('ask_url');
    const messages = host.received.slice(from);
    const done = messages.filter(({ method }) => method === 'notifications/elicitation/complete');
    // The SDK's server of both eras does not send it.
    if (outcome === 'none' || place.server === 'both') {
      expect(done).toEqual([]);
      return;
    }
    const question = messages.find(({ method }) => method === 'elicitation/create');
    expect(question?.params?.['elicitationId']).toEqual(expect.any(String));
    expect(done.map(({ params }) => params)).toEqual([
      { elicitationId: question?.params?.['elicitationId'] },
    ]);
  });

  tryCell('url-first', async ({ host, place }) => {
    const asked = noteQuestions(host);
    const call = () => host.callTool('need_url', { key: 'page-1' });
    if (place.driver.era === 'handshake' && place.server === 'handshake') {
      await expect(call()).rejects.toMatchObject({ code: -32_042 });
      expect(lastErrorOf(host)?.data).toEqual({
        elicitations: [{ ...signed(place, PAGE_QUESTION), elicitationId: 'page-1' }],
      });
      expect(jsonOf(await call())).toEqual({ action: 'accept' });
      expect(asked()).toEqual([]);
      return;
    }
    expect(jsonOf(await call())).toEqual({ action: 'accept' });
    expect(asked()).toEqual([expect.objectContaining(signed(place, PAGE_QUESTION))]);
  });

  tryCell('sampling', async ({ host, place }) => {
    const asked = noteQuestions(host);
    expect(jsonOf(await host.callTool('sample'))).toEqual(SAID);
    expect(asked()).toEqual([
      {
        messages: [{ role: 'user', content: { type: 'text', text: 'Say hello.' } }],
        systemPrompt:
          place.route === 'direct'
            ? 'Be brief.'
            : 'This request comes from the MCP server "eras".\n\nBe brief.',
        maxTokens: 50,
      },
    ]);
  });

  tryCell('roots', async ({ host, place, project }) => {
    // Between two modern sides, roots belong to one call.
    const isOneCall = host.era === 'modern' && place.server === 'modern';
    const isShared = place.route === 'http' && !isOneCall;
    expect(jsonOf(await host.callTool('roots'))).toEqual(isShared ? rootsOf(project) : ROOTS);
    const roots = [{ uri: 'file:///other', name: 'other' }];
    host.answers.roots = () => roots;
    expect(jsonOf(await host.callTool('roots'))).toEqual(isShared ? rootsOf(project) : { roots });
  });

  tryCell('two-questions', async ({ host, place }) => {
    const asked = noteQuestions(host);
    expect(jsonOf(await host.callTool('ask_two'))).toEqual({
      name: { action: 'accept', content: { name: 'Ada' } },
      color: { action: 'accept', content: { color: 'green' } },
    });
    const questions = ['What is your name?', 'Which color?'].map((message) => ({ message }));
    expect(asked().map(({ message }) => ({ message }))).toEqual(
      questions.map((question) => signed(place, question)),
    );
  });

  tryCell('mixed-questions', async ({ host, place, project }) => {
    const isRelayed = host.era === 'modern' && place.server === 'modern';
    expect(jsonOf(await host.callTool('ask_mixed'))).toEqual({
      name: { action: 'accept', content: { name: 'Ada' } },
      said: SAID,
      roots: place.route === 'http' && !isRelayed ? rootsOf(project) : ROOTS,
    });
  });

  tryCell('questions-in-turn', async ({ host }) => {
    const asked = noteQuestions(host);
    const [fromSent, fromReceived] = [host.sent.length, host.received.length];
    const call = host.callTool(
      'ask_repeatedly',
      { times: 3, label: 'turn' },
      { onProgress: () => {} },
    );
    expect(jsonOf(await call)).toEqual(['to turn 1', 'to turn 2', 'to turn 3']);
    expect(asked().map(({ message }) => withoutSigner(message))).toEqual([
      'turn 1',
      'turn 2',
      'turn 3',
    ]);
    // Each round of a modern call has a token of its own; progress comes under the one of its round.
    const tokens = host.sent.slice(fromSent).flatMap(progressTokenOf);
    expect(tokens).toHaveLength(host.era === 'modern' ? 4 : 1);
    const progress = host.received
      .slice(fromReceived)
      .filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params)).toEqual(
      [1, 2, 3].map((step) => ({
        progress: step,
        total: 4,
        progressToken: tokens[host.era === 'modern' ? step - 1 : 0],
      })),
    );
  });

  tryCell('questions-at-once', async ({ host, place }) => {
    const from = host.received.length;
    const labels = ['red', 'green', 'blue'];
    const results = await Promise.all(
      labels.map((label) => host.callTool('ask_repeatedly', { times: 2, label })),
    );
    expect(results.map(jsonOf)).toEqual(labels.map((label) => [`to ${label} 1`, `to ${label} 2`]));
    // A server of the older era does not say to which call a question belongs.
    if (place.server === 'modern' && host.era === 'modern') {
      for (const answer of host.received.slice(from)) {
        const label = labelOf(host, answer);
        for (const message of questionsOf(answer)) expect(message).toContain(label);
      }
    }
  });
});

// A suite is tools alone.
describeMatrix('questions', ['direct', 'switchboard', 'http'], (tryCell) => {
  tryCell('prompt-question', async ({ host, place }) => {
    await waitFor(async () => (await host.listPrompts()).length, 2);
    const asked = noteQuestions(host);
    expect(await host.getPrompt('interview')).toEqual({
      description: 'A prompt.',
      messages: [{ role: 'user', content: { type: 'text', text: 'Interview Ada.' } }],
    });
    expect(asked()).toEqual([signed(place, NAME_QUESTION)]);
  });

  tryCell('resource-question', async ({ host, place }) => {
    await waitFor(async () => (await host.listResources()).length, 4);
    const asked = noteQuestions(host);
    const { contents } = await host.readResource('fixture://asks');
    expect(contents).toEqual([{ uri: 'fixture://asks', mimeType: 'text/plain', text: 'for Ada' }]);
    expect(asked()).toEqual([signed(place, NAME_QUESTION)]);
    expect(textOf(await host.callTool('echo', { text: 'still here' }))).toBe('still here');
  });
});

/** A question as it reaches the host: through Switchboard, with the name of the server that asks. */
function signed<T extends { readonly message: string }>({ route }: Place, question: T): T {
  if (route === 'direct') return question;
  return { ...question, message: `Server "eras" asks: ${question.message}` };
}

/** Gives what was asked since. */
function noteQuestions({ asked }: Host): () => Question[] {
  const from = asked.length;
  return () => asked.slice(from).map(({ params }) => params);
}

function progressTokenOf({ params }: Message): unknown[] {
  const token = (params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken;
  return token === undefined ? [] : [token];
}

/** The label of the call that a message answers. */
function labelOf(host: Host, { id }: Message): string {
  const call = host.sent.find((message) => message.id === id);
  return JSON.stringify(call?.params?.['arguments'] ?? {}).match(/"label":"(\w+)"/)?.[1] ?? '';
}

function questionsOf({ result }: Message): string[] {
  const wanted = (result?.['inputRequests'] ?? {}) as Record<string, { params: Question }>;
  return Object.values(wanted).map(({ params }) => params.message ?? '');
}
