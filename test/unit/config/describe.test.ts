import { expect, test } from 'vitest';
import { describeConfig } from '../../../src/config/describe.ts';
import { createProject } from './temp-project.ts';

test('the output is plain JSON without secrets', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        a: { command: 'node', args: ['a.js'], env: { TOKEN: 'hunter2hunter2', B: 1 } },
        b: {},
        c: {
          url: 'https://me:hunter2hunter2@x.example/mcp?key=hunter2hunter2&plain#end',
          headers: { Authorization: 'Bearer hunter2hunter2' },
          oauth: { clientId: 'me', clientSecret: 'hunter2hunter2', scopes: ['read'] },
        },
      },
    },
  });
  const text = JSON.stringify(
    describeConfig(await project.load({ env: { AGENTS_MAX_RUNS: '2' } })),
    null,
    2,
  );
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
          "show": "suite",
          "showBecause": "default",
          "start": "lazy",
          "startBecause": "default",
          "idleMs": 600000,
          "idleBecause": "default",
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
          "readOnlyTool": false,
          "introspection": {
            "mode": "summary",
            "summaryMaxChars": 160
          },
          "toolChanges": "scan",
          "timeouts": {
            "spawnMs": 8000,
            "rpcMs": 60000,
            "stopMs": 2000
          },
          "messageBytes": 16777216,
          "messageShape": {
            "depth": 1000,
            "members": 2000000
          },
          "environment": "inherit",
          "passEnv": [],
          "share": "project",
          "shareBecause": "it isn't declared in your own files",
          "lingerMs": 0,
          "stderr": "inherit",
          "framing": "auto",
          "wrapResults": "mcp",
          "resultSecrets": "pass",
          "redact": []
        },
        {
          "name": "b",
          "origin": "<project>/switchboard.config.json",
          "show": "suite",
          "showBecause": "default",
          "start": "lazy",
          "startBecause": "default",
          "idleMs": 600000,
          "idleBecause": "default",
          "problem": {
            "code": "CHILD_NOT_CONFIGURED",
            "message": "Server \\"b\\" has neither a \\"command\\" nor a \\"url\\".",
            "hint": "Add \\"command\\" or \\"url\\" in <project>/switchboard.config.json."
          },
          "cwd": "<project>",
          "expose": {},
          "readOnlyTool": false,
          "introspection": {
            "mode": "summary",
            "summaryMaxChars": 160
          },
          "toolChanges": "scan",
          "timeouts": {
            "spawnMs": 8000,
            "rpcMs": 60000,
            "stopMs": 2000
          },
          "messageBytes": 16777216,
          "messageShape": {
            "depth": 1000,
            "members": 2000000
          },
          "environment": "inherit",
          "passEnv": [],
          "share": "project",
          "shareBecause": "it isn't declared in your own files",
          "lingerMs": 0,
          "stderr": "inherit",
          "framing": "auto",
          "wrapResults": "mcp",
          "resultSecrets": "pass",
          "redact": []
        },
        {
          "name": "c",
          "origin": "<project>/switchboard.config.json",
          "show": "suite",
          "showBecause": "default",
          "start": "lazy",
          "startBecause": "default",
          "idleMs": 600000,
          "idleBecause": "default",
          "remote": {
            "type": "http",
            "url": "https://***@x.example/mcp?key=***&plain#end",
            "headers": {
              "Authorization": "***"
            },
            "oauth": {
              "clientId": "me",
              "clientSecret": "***",
              "scopes": [
                "read"
              ]
            }
          },
          "cwd": "<project>",
          "expose": {},
          "readOnlyTool": false,
          "introspection": {
            "mode": "summary",
            "summaryMaxChars": 160
          },
          "toolChanges": "scan",
          "timeouts": {
            "spawnMs": 8000,
            "rpcMs": 60000,
            "stopMs": 2000
          },
          "messageBytes": 16777216,
          "messageShape": {
            "depth": 1000,
            "members": 2000000
          },
          "environment": "inherit",
          "passEnv": [],
          "share": "project",
          "shareBecause": "it isn't declared in your own files",
          "lingerMs": 0,
          "stderr": "inherit",
          "framing": "auto",
          "wrapResults": "mcp",
          "resultSecrets": "pass",
          "redact": []
        }
      ],
      "era": "auto",
      "questionMs": 600000,
      "introspection": {
        "mode": "summary",
        "summaryMaxChars": 160
      },
      "toolChanges": "scan",
      "stopMs": 2000,
      "flipSuites": "auto",
      "messageBytes": 16777216,
      "messageShape": {
        "depth": 1000,
        "members": 2000000
      },
      "agents": {
        "show": "direct",
        "extraFormats": false,
        "filter": [],
        "mcpDiscovery": true,
        "mcpLimitReferenced": true,
        "mcpEnumerate": true,
        "mcpEnumTimeoutMs": 4000,
        "mcpMaxServers": 128,
        "mcpEnumStrict": false,
        "mcpEnumFallback": "none",
        "mcpToolFilter": false,
        "toolmapEnable": true,
        "toolmapAllowCustomServers": true,
        "modelMapEnable": true,
        "modelMapFile": "<project>/.agents/model-map.toml",
        "modelMapStrict": false,
        "modelMapOverrideProvider": false,
        "modelMapNormalizeProvider": true,
        "builtinsDefault": "off",
        "skipSelf": true,
        "approvals": "ask",
        "timeoutMs": 1800000,
        "maxRuns": 2,
        "outputMaxChars": 1000000,
        "formats": {
          "codex": {
            "isOn": true,
            "folders": [
              "<project>/.agents",
              "<home>/.switchboard/agents",
              "<home>/.agents"
            ],
            "namedFolders": [],
            "prefix": "agent_"
          },
          "anthropic": {
            "isOn": true,
            "folders": [
              "<project>/.claude/agents",
              "<home>/.switchboard/agents",
              "<home>/.claude/agents"
            ],
            "namedFolders": [],
            "prefix": "anth_"
          },
          "vscode": {
            "isOn": true,
            "folders": [
              "<project>/.github/chatmodes",
              "<home>/.switchboard/chatmodes",
              "<home>/.chatmodes"
            ],
            "namedFolders": [],
            "prefix": "vsc_"
          }
        },
        "depth": 0
      },
      "logging": {
        "level": "info",
        "form": "compact"
      },
      "warnings": []
    }"
  `);
});
