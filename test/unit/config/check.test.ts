import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

test('all mistakes in a file are reported at once, with locations', async () => {
  const project = createProject({
    'switchboard.config.json': `{
  "discoverGlobs": "x",
  "discoverGlob": [],
  "timeouts": { "rpcMs": "fast", "stopMs": 0, "childSpawnMs": 1.5, "spawnMs": 1 },
  "limits": { "messageBytes": 100 },
  "introspection": { "mode": "short", "summaryMaxChars": null },
  "environment": "none",
  "flip": { "suites": "sometimes", "suite": 1 },
  "serversFile": "",
  "results": { "wrap": "mpc", "warp": 1 },
  "suites": { "a": { "sweetName": "x", "expose": { "allow": "x", "denied": [] } } },
  "mcpServers": {
    "a": { "command": 42, "args": ["x", 1], "rpcTimeoutMs": 2147483648 },
    "b": { "command": { "cmd": 42 } },
    "c": { "command": "" },
    "d": "npx",
    "two words": { "framing": "lines" },
    "e": { "show": "tools", "start": "now", "idleMs": -1, "url": "" },
    "f": { "url": "x", "oauth": { "callbackPort": 70000, "scopes": "all" } },
    "__proto__": { "command": 42 }
  }
}`,
  });
  expect(await project.loadError()).toMatchInlineSnapshot(`
    "CONFIG_INVALID: <project>/switchboard.config.json:2:3: discoverGlobs: expected an array, got a string.
    <project>/switchboard.config.json:3:3: discoverGlob: unknown key. Did you mean "discoverGlobs"?
    <project>/switchboard.config.json:4:17: timeouts.rpcMs: expected a number, got "fast".
    <project>/switchboard.config.json:4:34: timeouts.stopMs: expected a number of at least 1, got 0.
    <project>/switchboard.config.json:4:68: timeouts.spawnMs: unknown key. Did you mean "childSpawnMs"?
    <project>/switchboard.config.json:5:15: limits.messageBytes: expected a number of at least 1024, got 100.
    <project>/switchboard.config.json:6:22: introspection.mode: expected "summary", "full" or "redacted", got "short".
    <project>/switchboard.config.json:6:39: introspection.summaryMaxChars: expected a number, got null.
    <project>/switchboard.config.json:7:3: environment: expected "inherit", "minimal" or "login", got "none".
    <project>/switchboard.config.json:8:13: flip.suites: expected "auto", "always" or "never", got "sometimes".
    <project>/switchboard.config.json:8:36: flip.suite: unknown key. Did you mean "suites"?
    <project>/switchboard.config.json:9:3: serversFile: expected a non-empty string, got an empty string.
    <project>/switchboard.config.json:10:16: results.wrap: expected "mcp" or "json", got "mpc".
    <project>/switchboard.config.json:10:31: results.warp: unknown key. Did you mean "wrap"?
    <project>/switchboard.config.json:11:22: suites.a.sweetName: unknown key. Did you mean "suiteName"?
    <project>/switchboard.config.json:11:52: suites.a.expose.allow: expected an array, got a string.
    <project>/switchboard.config.json:11:66: suites.a.expose.denied: unknown key. Did you mean "deny"?
    <project>/switchboard.config.json:13:12: mcpServers.a.command: expected a string or an object, got 42.
    <project>/switchboard.config.json:13:41: mcpServers.a.args[1]: expected a string, got 1.
    <project>/switchboard.config.json:13:45: mcpServers.a.rpcTimeoutMs: expected a number of at most 2147483647, got 2147483648.
    <project>/switchboard.config.json:14:25: mcpServers.b.command.cmd: expected a string, got 42.
    <project>/switchboard.config.json:15:12: mcpServers.c.command: expected a non-empty string, got an empty string.
    <project>/switchboard.config.json:16:5: mcpServers.d: expected an object, got a string.
    <project>/switchboard.config.json:17:20: mcpServers["two words"].framing: expected "auto", "newline" or "content-length", got "lines".
    <project>/switchboard.config.json:18:12: mcpServers.e.show: expected "suite", "flip", "direct" or "off", got "tools".
    <project>/switchboard.config.json:18:29: mcpServers.e.start: expected "lazy" or "eager", got "now".
    <project>/switchboard.config.json:18:45: mcpServers.e.idleMs: expected a number of at least 0, got -1.
    <project>/switchboard.config.json:18:59: mcpServers.e.url: expected a non-empty string, got an empty string.
    <project>/switchboard.config.json:19:35: mcpServers.f.oauth.callbackPort: expected a number of at most 65535, got 70000.
    <project>/switchboard.config.json:19:58: mcpServers.f.oauth.scopes: expected an array, got a string.
    <project>/switchboard.config.json:20:20: mcpServers.__proto__.command: expected a string or an object, got 42. For all keys and what they mean, run: switchboard config schema"
  `);
});

test('keys of nonexistent features are unknown keys', async () => {
  const project = createProject({
    'switchboard.config.json': {
      suites: {
        a: { show: 'flip', pin: true, strat: 1 },
      },
      mcpServers: { a: { command: 'x' } },
    },
  });
  expect(await project.problems()).toMatchInlineSnapshot(`
    "Server "a" has an invalid configuration:
    <project>/switchboard.config.json:5:7: suites.a.pin: unknown key. Known keys: show, start, idleMs, suiteName, description, keywords, expose, readOnly, readOnlyTool, summaryMaxChars, rpcTimeoutMs, framing, stderr, protocolVersion, environment, passEnv, share, lingerMs, maxMemoryMb, toolChanges, results, redact, sandbox, sandboxEnabled, assistant.
    <project>/switchboard.config.json:6:7: suites.a.strat: unknown key. Did you mean "start"? Fix it, then run: switchboard reload"
  `);
});

test('a value that may be a secret is not repeated', async () => {
  const project = createProject({
    'switchboard.config.json': {
      mcpServers: {
        a: { command: 'x', env: 'TOKEN=hunter2hunter2', args: '--key=hunter2hunter2' },
        b: { command: ['hunter2hunter2'], env: { A: ['hunter2hunter2'], B: null } },
        c: { url: 'https://x', headers: { A: { b: 'hunter2hunter2' } } },
        d: 'npx --key hunter2hunter2',
      },
    },
  });
  const message = await project.problems();
  expect(message).not.toContain('hunter2');
  expect(message).toMatchInlineSnapshot(`
    "Server "a" has an invalid configuration:
    <project>/switchboard.config.json:5:7: mcpServers.a.env: expected an object, got a string.
    <project>/switchboard.config.json:6:7: mcpServers.a.args: expected an array, got a string. Fix it, then run: switchboard reload
    Server "b" has an invalid configuration:
    <project>/switchboard.config.json:9:7: mcpServers.b.command: expected a string or an object, got an array.
    <project>/switchboard.config.json:13:9: mcpServers.b.env.A: expected a string, a number or a boolean, got an array.
    <project>/switchboard.config.json:16:9: mcpServers.b.env.B: expected a string, a number or a boolean, got null. Fix it, then run: switchboard reload
    Server "c" has an invalid configuration: <project>/switchboard.config.json:22:9: mcpServers.c.headers.A: expected a string, got an object. Fix it, then run: switchboard reload
    Server "d" has an invalid configuration: <project>/switchboard.config.json:27:5: mcpServers.d: expected an object, got a string. Fix it, then run: switchboard reload"
  `);
});

test('a file whose top level is not an object is rejected', async () => {
  const project = createProject({ 'switchboard.config.json': '[]' });
  expect(await project.loadError()).toMatchInlineSnapshot(
    `"CONFIG_INVALID: <project>/switchboard.config.json:1:1: expected an object, got an array. For all keys and what they mean, run: switchboard config schema"`,
  );
});

test('the user file is checked like the project file', async () => {
  const project = createProject({
    '../home/.switchboard/switchboard.config.json': { timeout: 5 },
  });
  expect(await project.loadError()).toMatchInlineSnapshot(
    `"CONFIG_INVALID: <home>/.switchboard/switchboard.config.json:2:3: timeout: unknown key. Did you mean "timeouts"? For all keys and what they mean, run: switchboard config schema"`,
  );
});

test("unknown keys of a pasted entry are warnings, both the host's and misspelt ones", async () => {
  const project = createProject({
    'switchboard.config.json': {
      $schema: './switchboard.config.schema.json',
      mcpServers: {
        a: { command: 'x', alwaysLoad: true, autoApprove: [], suitName: 'y' },
        b: { command: { cmd: 'x', arg: [] } },
        d: { url: 'https://x', serverUrl: 'https://y', oauth: { clientID: 'z' } },
      },
    },
    'mcps/c/.mcp.json': { name: 'c', command: 'x', sumaryMaxChars: 5 },
  });
  const { warnings, children } = await project.load();
  expect(children.size).toBe(4);
  expect(warnings.map(project.plain)).toMatchInlineSnapshot(`
    [
      "<project>/switchboard.config.json: mcpServers.a.alwaysLoad: unknown key (ignored).",
      "<project>/switchboard.config.json: mcpServers.a.autoApprove: unknown key (ignored).",
      "<project>/switchboard.config.json: mcpServers.a.suitName: unknown key (ignored). Did you mean "suiteName"?",
      "<project>/switchboard.config.json: mcpServers.b.command.arg: unknown key (ignored). Did you mean "args"?",
      "<project>/switchboard.config.json: mcpServers.d.serverUrl: unknown key (ignored). Did you mean "url"?",
      "<project>/switchboard.config.json: mcpServers.d.oauth.clientID: unknown key (ignored). Did you mean "clientId"?",
      "<project>/mcps/c/.mcp.json: sumaryMaxChars: unknown key (ignored). Did you mean "summaryMaxChars"?",
    ]
  `);
});
