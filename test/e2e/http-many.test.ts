// Many hosts at once: each gets its own answers, and all of them.
import { expect, test } from 'vitest';
import { configWith, createProject } from '../support/project.ts';
import { connectV1, connectV2, startServing } from '../support/serve-http.ts';
import { testServer } from '../support/servers.ts';

const echo = (text: string) => ({ action: 'call', subtool: 'echo', args: { text } });

test('fifty hosts with two hundred calls each get only their own answers', async () => {
  const serving = await startServing(createProject(configWith({ box: testServer('toolbox') })));
  const hosts = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      (index % 2 === 0 ? connectV1 : connectV2('legacy'))(serving),
    ),
  );
  const foreign: string[] = [];
  let calls = 0;
  await Promise.all(
    hosts.map(async (host, index) => {
      for (let count = 0; count < 200; count++) {
        const mine = `<host ${index}, call ${count}>`;
        const result = await host.callTool('box_suite', echo(mine));
        calls++;
        const text = JSON.stringify(result);
        const found = text.match(/<host \d+, call \d+>/g) ?? [];
        if (found.length === 0 || found.some((marker) => marker !== mine)) foreign.push(text);
      }
    }),
  );
  expect(foreign).toEqual([]);
  expect(calls).toBe(10_000);
  expect(serving.stderr()).not.toContain('error');
});

test('a hundred hosts connect at once, and all are served', async () => {
  const serving = await startServing(createProject(configWith({ box: testServer('toolbox') })));
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const host = await connectV2('legacy')(serving);
      expect(await host.toolNames()).toEqual(['box_suite']);
      const result = await host.callTool('box_suite', echo(`<host ${index}>`));
      expect(JSON.stringify(result)).toContain(`<host ${index}>`);
    }),
  );
  expect(serving.stderr()).not.toContain('were refused');
});
