import { expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe.ts';
import { createProject } from './temp-project.ts';

test('the picture is plain JSON and shows no value of an environment variable', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        a: { command: 'node', args: ['a.js'], env: { TOKEN: 'hunter2hunter2', B: 1 } },
        b: {},
      },
    },
  });
  const text = JSON.stringify(describeConfig(await project.load()), null, 2);
  expect(text).not.toContain('hunter2');
  expect(project.plain(text)).toMatchInlineSnapshot(`
    "{
      "project": "<project>",
      "home": "<home>/.switchboard",
      "files": [
        "<project>/switchboard.config.json"
      ],
      "children": [
        {
          "name": "a",
          "origin": "<project>/switchboard.config.json",
          "command": {
            "cmd": "node",
            "args": [
              "a.js"
            ],
            "env": {
              "TOKEN": "***",
              "B": "***"
            }
          },
          "cwd": "<project>",
          "expose": {},
          "introspection": {
            "mode": "summary",
            "summaryMaxChars": 160
          },
          "timeouts": {
            "spawnMs": 8000,
            "rpcMs": 60000,
            "stopMs": 2000
          },
          "messageBytes": 16777216,
          "environment": "inherit",
          "stderr": "inherit",
          "framing": "auto",
          "wrapResults": "mcp"
        },
        {
          "name": "b",
          "origin": "<project>/switchboard.config.json",
          "problem": {
            "code": "CHILD_NOT_CONFIGURED",
            "message": "Server \\"b\\" has no command.",
            "hint": "Add \\"command\\" to it in <project>/switchboard.config.json."
          },
          "cwd": "<project>",
          "expose": {},
          "introspection": {
            "mode": "summary",
            "summaryMaxChars": 160
          },
          "timeouts": {
            "spawnMs": 8000,
            "rpcMs": 60000,
            "stopMs": 2000
          },
          "messageBytes": 16777216,
          "environment": "inherit",
          "stderr": "inherit",
          "framing": "auto",
          "wrapResults": "mcp"
        }
      ],
      "messageBytes": 16777216,
      "warnings": []
    }"
  `);
});
