// The commands: what they print, on which stream, and the status they end with.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect } from 'vitest';
import { type RunOptions, runSwitchboard } from '../support/command.ts';
import { eventually, processesWith } from '../support/processes.ts';
import { createProject, PROGRAM, type Project } from '../support/project.ts';
import { MOCK_CHILD, testServer } from '../support/servers.ts';
import { slow, test } from '../support/slow.ts';
import { runOnTerminal } from '../support/terminal.ts';

const projects: Project[] = [];

afterEach(async () => {
  for (const { dir } of projects.splice(0)) {
    expect(await eventually(() => processesWith(dir).length === 0)).toBe(true);
  }
});

/** A project whose folder stands on the command line of each of its test servers. */
function createCliProject(servers: Record<string, object> = {}, more: object = {}): Project {
  const project = createProject();
  projects.push(project);
  const marked = Object.entries({
    toolbox: { ...testServer('toolbox'), expose: { deny: ['exit'] } },
    ...servers,
  }).map(([name, entry]) => {
    const { args = [] } = entry as { args?: string[] };
    return [name, { ...entry, args: [...args, project.dir] }] as const;
  });
  project.write('switchboard.config.json', { mcpServers: Object.fromEntries(marked), ...more });
  return project;
}

const BROKEN = { command: 'sh', args: ['-c', 'echo no licence >&2; exit 3'] };

/** Runs a command; what differs between machines and runs is made the same. */
async function run(project: Project, args: readonly string[], options: RunOptions = {}) {
  const { status, stdout, stderr } = await runSwitchboard(project, args, options);
  const steady = (text: string) =>
    text
      .replaceAll(project.dir, '<project>')
      .replaceAll(/\b[\d.]+ m?s\b/g, '<time>')
      .replaceAll(/node v[\d.]+/g, 'node <version>')
      .replaceAll(/switchboard \d+\.\d+\.\d+\S*?(?=,|\n|$)/g, 'switchboard <version>')
      .replace(/^Node 20 no longer.*\n/m, '');
  return { status, stdout: steady(stdout), stderr: steady(stderr) };
}

async function runJson(project: Project, args: readonly string[]): Promise<unknown> {
  const { stdout } = await runSwitchboard(project, [...args, '--json']);
  return JSON.parse(stdout) as unknown;
}

describe('--version and --help', () => {
  test.each(['--version', '-V'])('%s prints the version', async (flag) => {
    const outcome = await runSwitchboard(createCliProject(), [flag]);
    expect(outcome).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/),
      stderr: '',
    });
  });

  test('--help shows every command and option, and the exit statuses', async () => {
    const { status, stdout, stderr } = await run(createCliProject(), ['--help']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    expect(stdout).toMatchInlineSnapshot(`
      "Usage: switchboard [options] [command]

      One MCP server in front of all your others, with one small tool for each.

      Options:
        -V, --version                         print the version
        --dry-run                             list the tools of all servers, or just one (same as \`tools\`)
        --alone                               serve from a process of its own, without the background
                                              process (or: SWITCHBOARD_ALONE=1)
        --config <file>                       use this configuration file instead of the project's
        --servers <file>                      use this servers.json instead of the default ones
        --trust <mode>                        which project files need approval: repository, ask or all
        --json                                print JSON
        -h, --help                            show help

      Commands:
        serve [options]                       serve MCP over stdin and stdout (for hosts), or over HTTP
        tools [options] [server] [tool]       list the tools of all servers, or show one in full
        call [options] <tool> [arguments...]  call a tool and print its result
        show [options] [server] [how]         show or change how hosts see each server
        assistant [options] [server] [state]  show which servers have an assistant, or turn one on or off
        doctor [options] [server]             start each server and report problems
        changes [options] [server]            show which tools servers have changed
        scan [options] [server]               start each server and scan its tools for attacks
        trust [options] [action] [names...]   list and decide what needs approval in a project
        status [options] [server]             show the running Switchboard processes and their servers
        stop [options] [server]               stop the background process, or one server wherever it runs
        restart [options] [server]            restart the background process, or one server wherever it
                                              runs
        logs [options] [server]               show a server's log, or the background process's
        reload [options]                      reload the configuration of running Switchboard processes
        agents [options] [agent]              list agents, what each runs with, and any problems
        run [options] <agent> <task>          run an agent ("-" reads the task from stdin)
        login [options] <server>              sign in to a server in your browser
        logout [options] <server>             sign out of a server and revoke its tokens
        audit [options] [action]              show, verify or export the audit log
        config [command]                      inspect the configuration
        permissions [command]                 show which tools can be used
        secret [command]                      manage the secrets that configuration files refer to
        skill [command]                       manage the /switchboard command in Claude Code
        import [options] [file]               import servers from a host's file or mcpflip ("-" for stdin)
        help [command...]                     show help for a command

      Examples:
        switchboard                                   serve MCP, as hosts start it
        switchboard doctor                            start each server and report problems
        switchboard tools memory                      list the tools of one server
        switchboard call memory.read_graph            call a tool
        switchboard call memory.search_nodes query=tea
        switchboard status                            see what is running
        switchboard show memory flip                  list its tools only while it is activated
        switchboard agents                            list agents and what they may use
        switchboard run agent_review "Review the last commit"
        switchboard assistant memory on               talk to it in plain language

      Exit status: 0 success, 1 bug, 2 usage or configuration error, 3 server error, 4 tool error,
      5 agent error, 130 interrupted.
      Files: switchboard.config.json in the project and in $SWITCHBOARD_HOME (~/.switchboard).

      "
    `);
  });

  test.each([
    'serve',
    'tools',
    'call',
    'show',
    'doctor',
    'status',
    'reload',
    'login',
    'logout',
    'config',
    'skill',
    'import',
  ])('%s --help prints help', async (command) => {
    const { status, stdout } = await run(createCliProject(), [command, '--help']);
    expect(status).toBe(0);
    expect(stdout).toContain(`Usage: switchboard ${command}`);
  });

  slow.each([
    [['help'], ['--help']],
    [
      ['help', 'tools'],
      ['tools', '--help'],
    ],
    [
      ['help', 'config', 'check'],
      ['config', 'check', '--help'],
    ],
    [
      ['help', 'help'],
      ['help', '--help'],
    ],
  ])('%j is the same as %j', async (words, options) => {
    const project = createCliProject();
    const help = await run(project, words);
    expect(help).toEqual({ status: 0, stdout: expect.any(String), stderr: '' });
    expect(help).toEqual(await run(project, options));
  });
});

describe('usage errors exit with 2 and a hint', () => {
  test.each([
    [['tols'], 'Unknown command: tols\nDid you mean: switchboard tools\n'],
    [['tail'], 'Unknown command: tail\nDid you mean: switchboard logs\n'],
    [['add'], 'switchboard import <file>'],
    [['add', 'memory', '--', 'npx'], 'Unknown command: add\n'],
    [['add', 'memory', '--env', 'KEY=1'], 'Unknown command: add\n'],
    [['config', 'get', 'a', 'b'], 'Unknown command: config get\n'],
    [['--dry-run', 'toolbox', 'b'], 'Too many arguments'],
    [['assistant', 'toolbox', 'on', 'b'], 'Too many arguments'],
    [['ls'], 'switchboard show\n'],
    [['config', 'validate'], 'Did you mean: switchboard config check\n'],
    [['help', 'start'], 'Did you mean: switchboard serve\n'],
    [['nothing-like-it'], 'See: switchboard --help\n'],
    [['--nope'], "Unknown option '--nope'"],
    [['tools', '--jsn'], '--json'],
    [['tools', 'toolbox', 'echo', 'c'], 'Too many arguments'],
    [['tools', 'toolbox.echo', 'c'], 'Too many arguments'],
    [['call'], "Missing required argument 'tool'.\nSee: switchboard call --help\n"],
    [['config', 'check', '--nope'], 'See: switchboard config check --help\n'],
    [['config', 'nothing-like-it'], 'See: switchboard config --help\n'],
    [['help', 'nope'], 'Unknown command: nope\n'],
    [['help', 'config', 'chek'], 'Did you mean: switchboard config check'],
    [['config', 'chek'], 'check'],
    [['skill', 'instal'], 'Did you mean: switchboard skill install'],
    [['tools', 'toolbx'], 'Did you mean toolbox?'],
    [['doctor', 'toolbx'], 'Did you mean toolbox?'],
    [['tools', '--config', 'nowhere.json'], 'nowhere.json'],
  ])('%j', async (args, says) => {
    const { status, stdout, stderr } = await run(createCliProject(), args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe('tools', () => {
  test.each([['tools'], ['--dry-run']])(
    '%s lists the subtools of every server',
    async (command) => {
      const { status, stdout, stderr } = await run(createCliProject({ mock: MOCK_CHILD }), [
        command,
      ]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatchInlineSnapshot(`
        "toolbox  7 tools, <time>
          echo()
            Gives its arguments back.
          where_am_i()
            Gives the pid, folder, arguments and environment.
          say()
            Prints a text on stderr.
          complain()
            Answers with a result that is an error.
          fail()
            Answers with a JSON-RPC error.
          wait()
            Answers after some milliseconds.
          exit()
            (not allowed) Ends the process with a code, before it answers.

        mock  4 tools, <time>
          click(selector: string)
            Click a selector
          type_text(selector: string, text: string, submit?: boolean = false)
            Type text into an element
          navigate(url: string, waitUntil?: "load" | "domcontentloaded" | "networkidle")
            Open a URL in the current tab and wait until the page has loaded. The URL must include its scheme.
          echo(message?: string)
            Return the arguments

        "
      `);
    },
  );

  test('of one server lists only those', async () => {
    const { stdout } = await run(createCliProject({ mock: MOCK_CHILD }), ['tools', 'mock']);
    expect(stdout).toContain('click');
    expect(stdout).not.toContain('where_am_i');
  });

  test('--dry-run also lists one server', async () => {
    const { status, stdout } = await run(createCliProject({ mock: MOCK_CHILD }), [
      '--dry-run',
      'mock',
    ]);
    expect(status).toBe(0);
    expect(stdout).toContain('Click a selector');
    expect(stdout).not.toContain('where_am_i');
  });

  test('shows the others if one does not start, and exits with 3', async () => {
    const { status, stdout } = await run(createCliProject({ broken: BROKEN }), ['tools']);
    expect(status).toBe(3);
    expect(stdout).toContain('  echo()\n    Gives its arguments back.');
    expect(stdout.slice(stdout.indexOf('broken'))).toMatchInlineSnapshot(`
      "broken  failed after <time>
        Child MCP broken exited with code 3 while starting.
        It restarts the next time it's used. Its last output:
        no licence

      "
    `);
  });

  test('--json prints the same as a document', async () => {
    expect(await runJson(createCliProject({ broken: BROKEN }), ['tools'])).toEqual({
      children: [
        {
          name: 'toolbox',
          ms: expect.any(Number),
          tools: expect.arrayContaining([
            {
              name: 'echo',
              signature: 'echo()',
              summary: 'Gives its arguments back.',
              allowed: true,
            },
            { name: 'exit', signature: 'exit()', summary: expect.any(String), allowed: false },
          ]),
        },
        {
          name: 'broken',
          ms: expect.any(Number),
          tools: [],
          error: {
            code: 'CHILD_EXITED',
            message: expect.stringContaining('Child MCP broken exited with code 3'),
            hint: expect.stringContaining('no licence'),
          },
        },
      ],
      off: [],
    });
  });

  describe('of one tool', () => {
    const ISSUE = {
      name: 'create_issue',
      description: 'Opens an issue.\nIt needs a title.',
      inputSchema: {
        type: 'object',
        properties: {
          state: { type: 'string', enum: ['open', 'closed'], default: 'open' },
          title: { type: 'string' },
        },
        required: ['title'],
      },
    };
    const SIGNATURE = 'create_issue(title: string, state?: "open" | "closed" = "open")';
    const tracker = () =>
      createCliProject({
        tracker: {
          ...testServer('lists', JSON.stringify([ISSUE, { name: 'drop.all' }])),
          expose: { deny: ['drop.all'] },
        },
      });

    test('show its signature, its whole description and its schema', async () => {
      const { status, stdout, stderr } = await run(tracker(), ['tools', 'tracker', ISSUE.name]);
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toMatchInlineSnapshot(`
        "tracker.create_issue
          create_issue(title: string, state?: "open" | "closed" = "open")

          Opens an issue.
          It needs a title.

          Input schema
          {
            "type": "object",
            "properties": {
              "state": {
                "type": "string",
                "enum": [
                  "open",
                  "closed"
                ],
                "default": "open"
              },
              "title": {
                "type": "string"
              }
            },
            "required": [
              "title"
            ]
          }
        "
      `);
    });

    test('--json includes the tool as its server lists it', async () => {
      expect(await runJson(tracker(), ['tools', 'tracker.create_issue'])).toEqual({
        child: 'tracker',
        name: 'create_issue',
        signature: SIGNATURE,
        allowed: true,
        tool: ISSUE,
      });
      expect(await runJson(tracker(), ['tools', 'tracker', 'drop.all'])).toMatchObject({
        allowed: false,
        signature: 'drop.all()',
      });
    });

    test('that does not exist exit with 4 and a suggestion', async () => {
      const { status, stdout, stderr } = await run(tracker(), ['tools', 'tracker', 'create_isue']);
      expect({ status, stdout }).toEqual({ status: 4, stdout: '' });
      expect(stderr).toContain('Did you mean "create_issue"?');
    });

    test('are listed with their signatures', async () => {
      const { stdout } = await run(tracker(), ['tools', 'tracker']);
      expect(stdout).toContain(`  ${SIGNATURE}\n    Opens an issue. It needs a title.\n`);
      expect(stdout).toContain('  drop.all()\n    (not allowed)');
    });
  });

  test('without any server says so', async () => {
    const project = createProject();
    const { status, stdout } = await run(project, ['tools']);
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "No servers are configured. Add one under "mcpServers" in switchboard.config.json,
      or import a host's: switchboard import <file>
      "
    `);
  });
});

describe('call', () => {
  const call = (project: Project, words: readonly string[], options?: RunOptions) =>
    run(project, ['call', ...words], options);

  test('prints the text of the result', async () => {
    const project = createCliProject();
    expect(await call(project, ['toolbox', 'echo', '{"a": [1.0, "ž"]}'])).toEqual({
      status: 0,
      stdout: '{"a":[1,"ž"]}\n',
      stderr: '',
    });
    expect((await call(project, ['toolbox', 'echo'])).stdout).toBe('{}\n');
  });

  test('reads the arguments from stdin for "-"', async () => {
    const options = { input: '{\n  "from": "stdin"\n}\n' };
    const { status, stdout } = await call(createCliProject(), ['toolbox', 'echo', '-'], options);
    expect({ status, stdout }).toEqual({ status: 0, stdout: '{"from":"stdin"}\n' });
  });

  test('--json prints the result exactly as it arrived', async () => {
    const result = '{"content":[{"type":"image","data":"AAAA","mimeType":"image/png"}],"n":1.0}';
    const project = createCliProject();
    project.write('switchboard.config.json', {
      mcpServers: { rec: testServer('recording', join(project.dir, 'rec.txt'), result) },
    });
    expect((await call(project, ['rec', 'other', '{}', '--json'])).stdout).toBe(`${result}\n`);
    expect((await call(project, ['rec', 'other'])).stdout).toBe('[image image/png 3 bytes]\n');
  });

  test.each([
    ['{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"tea"}}]}', 'tea\n'],
    ['{"content":[],"structuredContent":{"tea":1}}', '{"tea":1}\n'],
  ])('prints the result %s', async (result, text) => {
    const project = createCliProject();
    project.write('switchboard.config.json', {
      mcpServers: { rec: testServer('recording', join(project.dir, 'rec.txt'), result) },
    });
    expect((await call(project, ['rec', 'other'])).stdout).toBe(text);
  });

  test.each([
    [['toolbox', 'echo', '{a}'], 'The arguments are not valid JSON'],
    [['toolbox', 'echo', '[1]'], 'The arguments must be a JSON object.'],
    [['toolbx', 'echo'], 'No server is named "toolbx".\nDid you mean toolbox?'],
  ])('%j is a usage error: 2', async (words, says) => {
    const { status, stdout, stderr } = await call(createCliProject(), words);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(says);
  });

  slow.each([
    [['toolbox', 'complain', '{"text":"No tea left."}'], 'No tea left.\n', ''],
    [['toolbox', 'fail', '{"code":-32001,"message":"No tea."}'], '', 'No tea. (server "toolbox"'],
    [['toolbox', 'ecko'], '', 'Did you mean "echo"?'],
    [['toolbox', 'exit'], '', "Subtool 'exit' not allowed"],
  ])('%j is a tool failure: 4', async (words, stdout, says) => {
    const outcome = await call(createCliProject(), words);
    expect(outcome).toMatchObject({ status: 4, stdout });
    expect(outcome.stderr).toContain(says);
  });

  test('for a server that does not start exits with 3', async () => {
    const outcome = await call(createCliProject({ broken: BROKEN }), ['broken', 'x']);
    expect({ status: outcome.status, stdout: outcome.stdout }).toEqual({ status: 3, stdout: '' });
    expect(outcome.stderr).toMatchInlineSnapshot(`
      "switchboard: Child MCP broken exited with code 3 while starting.
      It restarts the next time it's used. Its last output:
      no licence
      "
    `);
  });

  test('--json prints a failure as a document on stderr', async () => {
    const project = createCliProject({ broken: BROKEN });
    const { status, stdout, stderr } = await call(project, ['broken', 'x', '--json']);
    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: 'CHILD_EXITED',
        message: 'Child MCP broken exited with code 3 while starting.',
        hint: expect.stringContaining('no licence'),
        data: { child: 'broken', exitCode: 3, signal: null },
      },
    });
  });
});

describe('doctor', () => {
  test('reports what works and what fails, and exits with 3 on any failure', async () => {
    const project = createCliProject({
      broken: BROKEN,
      unset: { command: 'x', env: { TOKEN: '${NO_SUCH_TOKEN}' } },
    });
    const { status, stdout, stderr } = await run(project, ['doctor']);
    expect({ status, stderr }).toEqual({ status: 3, stderr: '' });
    // Whichever is known first is printed first.
    const [head = '', ...findings] = stdout.split(/^(?=[✓✗])/m);
    const [last = ''] = /^New descriptions.*\nWorking servers.*$/m.exec(stdout) ?? [];
    const sorted = findings.map((finding) => finding.replace(`${last}\n`, '')).sort();
    expect([head, ...sorted, last].join('')).toMatchInlineSnapshot(`
      "switchboard <version>, node <version>, project <project>
      configuration: <project>/switchboard.config.json

      ✓ toolbox  7 tools (6 allowed), started in <time>, listed in <time>
        test-server 1.0.0, MCP 2025-11-25
        shared by the sessions in this project (it isn't declared in your own files)
        described to hosts as: test: echo, where am i, say, complain, fail, wait
      ✗ broken  Child MCP broken exited with code 3 while starting.
        It restarts the next time it's used. Its last output:
        no licence
        declared in <project>/switchboard.config.json
      ✗ unset  Server "unset" needs the environment variable NO_SUCH_TOKEN, which is not set (env.TOKEN in <project>/switchboard.config.json).
        Set it in the environment the host starts Switchboard in, or use \${NO_SUCH_TOKEN:-default}.
        declared in <project>/switchboard.config.json
      New descriptions take effect when a host starts Switchboard, or after: switchboard reload
      Working servers: 1 of 3."
    `);
  });

  test('exits with 0 if all is well, and can check a single server', async () => {
    const project = createCliProject({ broken: BROKEN });
    const { status, stdout } = await run(project, ['doctor', 'toolbox']);
    expect(status).toBe(0);
    expect(stdout).toContain('✓ toolbox  7 tools (6 allowed)');
    expect(stdout).not.toContain('broken');
  });

  test('warns if a child file’s description makes the configuration’s useless', async () => {
    const project = createCliProject({}, { suites: { own: { description: 'b' } } });
    project.write('mcps/own/.mcp.json', {
      name: 'own',
      switchboardDescription: 'a',
      command: { cmd: process.execPath, args: [testServer('toolbox').args[0]] },
    });
    const { stdout } = await run(project, ['doctor', 'own']);
    expect(stdout).toContain('note: suites.own.description is not used');
  });

  test('--json prints the same as a document', async () => {
    const project = createCliProject({ broken: BROKEN });
    expect(await runJson(project, ['doctor'])).toMatchObject({
      version: expect.any(String),
      node: process.version,
      project: project.dir,
      files: [join(project.dir, 'switchboard.config.json')],
      warnings: [],
      children: [
        { name: 'toolbox', ok: true, tools: 7, allowedTools: 6, revision: '2025-11-25' },
        { name: 'broken', ok: false, error: { code: 'CHILD_EXITED' } },
      ],
    });
  });
});

describe('config', () => {
  test('check lists files, servers and warnings', async () => {
    const project = createCliProject({ bare: { discription: 'x' } });
    const { status, stdout } = await run(project, ['config', 'check']);
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Read <project>/switchboard.config.json.
        toolbox  suite   <project>/switchboard.config.json
        bare     suite   <project>/switchboard.config.json
          Server "bare" has neither a "command" nor a "url". Add "command" or "url" in <project>/switchboard.config.json.
      warning: <project>/switchboard.config.json: mcpServers.bare.discription: unknown key (ignored). Did you mean "description"?
      2 servers, 1 warning.
      "
    `);
  });

  test('check lists unset variables by server', async () => {
    const project = createCliProject({
      github: { command: 'x', env: { TOKEN: '${GITHUB_TOKEN}' }, args: ['${REPO}', '${SET}'] },
      remote: { url: 'https://${HOST}/', headers: { A: '${KEY:-none}' } },
      unused: { command: '${NEVER}', disabled: true },
    });
    const env = { SET: 'yes' };
    const { status, stdout } = await run(project, ['config', 'check'], { env });
    expect(status).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "Read <project>/switchboard.config.json.
        toolbox  suite   <project>/switchboard.config.json
        github   suite   <project>/switchboard.config.json
          Environment variables not set here: REPO, GITHUB_TOKEN
        remote   suite   <project>/switchboard.config.json
          Environment variables not set here: HOST
      off: unused ("disabled": true in <project>/switchboard.config.json)
      4 servers, 0 warnings.
      "
    `);
    const json = await run(project, ['config', 'check', '--json'], { env });
    expect(JSON.parse(json.stdout)).toMatchObject({
      ok: true,
      unsetVariables: { github: ['REPO', 'GITHUB_TOKEN'], remote: ['HOST'] },
      missingSecrets: {},
    });
  });

  test('check suggests args for a command line, but not for an existing program', async () => {
    const project = createCliProject({
      line: { command: 'npx -y foo --key sk-canary-123456' },
      file: { command: './my server' },
    });
    project.write('my server', '');
    const { stdout } = await run(project, ['config', 'check']);
    expect(stdout).toMatchInlineSnapshot(`
      "Read <project>/switchboard.config.json.
        toolbox  suite   <project>/switchboard.config.json
        line     suite   <project>/switchboard.config.json
          The command contains spaces, and there is no program with that name. Set "command" to only "npx", and put each argument in "args".
        file     suite   <project>/switchboard.config.json
      3 servers, 0 warnings.
      "
    `);
  });

  test('check of an invalid file exits with 2 and explains the problem', async () => {
    const project = createProject({ 'switchboard.config.json': { timeouts: { rpcms: 1 } } });
    const { status, stdout, stderr } = await run(project, ['config', 'check']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatchInlineSnapshot(`
      "switchboard: <project>/switchboard.config.json:3:5: timeouts.rpcms: unknown key. Did you mean "rpcMs"?
      For all keys and what they mean, run: switchboard config schema
      "
    `);
    const asJson = await run(project, ['config', 'check', '--json']);
    expect(JSON.parse(asJson.stderr)).toMatchObject({ error: { code: 'CONFIG_INVALID' } });
  });

  test('check --json prints a document', async () => {
    const project = createCliProject();
    expect(await runJson(project, ['config', 'check'])).toEqual({
      ok: true,
      files: [join(project.dir, 'switchboard.config.json')],
      children: ['toolbox'],
      shown: [{ name: 'toolbox', show: 'suite', because: 'default' }],
      problems: [],
      unsetVariables: {},
      missingSecrets: {},
      warnings: [],
    });
  });

  test('print shows the resolved configuration without secrets', async () => {
    const project = createCliProject({
      secret: { command: 'x', env: { KEY: 'sk-canary-123456' } },
    });
    const { status, stdout } = await run(project, ['config', 'print']);
    expect(status).toBe(0);
    expect((await run(project, ['config', 'print', '--json'])).stdout).toBe(stdout);
    expect(stdout).not.toContain('canary');
    expect(JSON.parse(stdout)).toMatchObject({
      project: '<project>',
      children: [
        {
          name: 'toolbox',
          timeouts: { spawnMs: 8_000, rpcMs: 60_000, stopMs: 2_000 },
          introspection: { mode: 'summary', summaryMaxChars: 160 },
          expose: { deny: ['exit'] },
        },
        { name: 'secret', command: { cmd: 'x', env: { KEY: '***' } } },
      ],
    });
  });

  slow('schema prints a JSON Schema that accepts what the program accepts', async () => {
    const { status, stdout } = await run(createCliProject(), ['config', 'schema']);
    expect(status).toBe(0);
    expect(await runJson(createCliProject(), ['config', 'schema'])).toEqual(JSON.parse(stdout));
    const validate = new Ajv2020({ strict: false }).compile(JSON.parse(stdout) as object);
    expect(validate({ mcpServers: { a: { command: 'x' } }, timeouts: { rpcMs: 5 } })).toBe(true);
    expect(validate({ mcpServer: {} })).toBe(false);
    expect(validate({ discoverGlobs: 'x' })).toBe(false);
  });
});

describe('servers that are off', () => {
  const OFF = { never: { ...BROKEN, disabled: true }, rarely: { ...BROKEN, show: 'off' } };
  const LINES = [
    'off: never ("disabled": true in <project>/switchboard.config.json)',
    'off: rarely ("show" in <project>/switchboard.config.json)',
  ];

  test.each([[['tools']], [['doctor']], [['config', 'check']]])(
    'are left out by %j, with a reason',
    async (words) => {
      const { status, stdout } = await run(createCliProject(OFF), words);
      expect(status).toBe(0);
      expect(stdout).toContain('toolbox');
      expect(stdout.split('\n').filter((line) => /never|rarely/.test(line))).toEqual(LINES);
    },
  );

  test('are in the JSON output', async () => {
    const project = createCliProject(OFF);
    const off = [
      { name: 'never', because: `"disabled": true in ${project.dir}/switchboard.config.json` },
      { name: 'rarely', because: `"show" in ${project.dir}/switchboard.config.json` },
    ];
    for (const words of [['tools'], ['doctor']]) {
      expect(await runJson(project, words)).toMatchObject({ children: [{ name: 'toolbox' }], off });
    }
    expect(await runJson(project, ['config', 'check'])).toMatchObject({
      children: ['toolbox', 'never', 'rarely'],
      shown: [{ show: 'suite' }, { show: 'off', ...off[0] }, { show: 'off', ...off[1] }],
    });
  });

  test('still count if there is no other, or if one is named', async () => {
    const project = createCliProject({ never: { ...MOCK_CHILD, disabled: true } });
    project.write('switchboard.config.json', {
      mcpServers: { never: { ...MOCK_CHILD, disabled: true } },
    });
    for (const words of [['tools'], ['doctor']]) {
      const { status, stdout } = await run(project, words);
      expect({ status, says: /No servers are configured/.test(stdout) }).toEqual({
        status: 0,
        says: false,
      });
      expect(stdout).toContain(LINES[0]);
    }
    const { status, stdout } = await run(project, ['tools', 'never']);
    expect(status).toBe(0);
    expect(stdout).toContain('Click a selector');
    expect(stdout).not.toContain('off:');
  });
});

describe('without a terminal', () => {
  slow('has no colours and no animation', async () => {
    const project = createCliProject({ broken: BROKEN });
    for (const args of [['tools'], ['doctor'], ['config', 'check'], ['--help']]) {
      const { stdout, stderr } = await run(project, args, { env: { TERM: 'xterm-256color' } });
      expect(stdout + stderr).not.toContain('\u001b');
    }
  });
});

describe('an interruption', () => {
  slow.each([[['tools']], [['doctor']], [['call', 'slow', 'echo']]])(
    'of %j while a server starts exits with 130 and leaves nothing',
    async (args) => {
      const project = createCliProject({ slow: testServer('starts-slowly', '600000') });
      const program = spawn(process.execPath, [PROGRAM, ...args], {
        cwd: project.dir,
        env: project.env,
        stdio: 'ignore',
      });
      const ended = once(program, 'exit');
      expect(await eventually(() => processesWith(`600000 ${project.dir}`).length > 0)).toBe(true);
      program.kill('SIGINT');
      expect(await ended).toEqual([130, null]);
      expect(processesWith(`600000 ${project.dir}`)).toEqual([]);
    },
  );
});

describe('on a terminal', () => {
  const COMMAND = [process.execPath, PROGRAM];
  // oxlint-disable-next-line no-control-regex -- colours are control sequences
  const COLOUR = /\u001b\[[\d;]*m/;

  test('the server explains itself and exits', async () => {
    const { dir, env } = createCliProject();
    const { status, screen } = await runOnTerminal(COMMAND, { cwd: dir, env });
    expect(status).toBe(0);
    expect(screen.replaceAll('\r\n', '\n').replaceAll(PROGRAM, '<program>')).toMatchInlineSnapshot(`
      "Switchboard is an MCP server: a host such as Claude Code, Codex or Cursor starts it and
      talks to it over stdin. This is a terminal, so there is no host to talk to.

      To use it, add it to your host, for example
        claude mcp add --scope user switchboard -- node <program>
      or, in a host's configuration file
        {"mcpServers":{"switchboard":{"command":"node","args":["<program>"]}}}

      To look at your servers from here
        node <program> doctor        start each server and report problems
        node <program> tools         list the tools of all servers
        node <program> --help        all commands
      "
    `);
  });

  test('doctor shows what it is waiting for while a server starts, and colours its findings', async () => {
    const project = createCliProject();
    const gate = join(project.dir, 'gate');
    project.write('switchboard.config.json', {
      mcpServers: { slow: testServer('waits-for-file', `${gate}-own`, gate) },
    });
    const { status, screen } = await runOnTerminal([...COMMAND, 'doctor'], {
      cwd: project.dir,
      env: project.env,
      keys(screen) {
        if (screen.includes('waiting for slow')) writeFileSync(gate, '');
        return undefined; // nothing is typed
      },
    });
    expect(screen).toMatch(/waiting for slow \d+ s/);
    expect(screen).toMatch(COLOUR);
    expect(screen).toContain('Working servers: 1 of 1.');
    expect(status).toBe(0);
  });

  test('call also shows what it is waiting for', async () => {
    const project = createCliProject();
    const command = [...COMMAND, 'call', 'toolbox', 'wait', '{"ms": 600000}'];
    const { status, screen } = await runOnTerminal(command, {
      cwd: project.dir,
      env: project.env,
      keys: (screen) => (/waiting for toolbox wait/.test(screen) ? '\u0003' : undefined),
    });
    expect(screen).toMatch(/waiting for toolbox wait \d+ s/);
    expect(status).toBe(130);
  });

  test.each([{ NO_COLOR: '1' }, { TERM: 'dumb' }])('has no colours with %j', async (more) => {
    const { dir, env } = createCliProject();
    const options = { cwd: dir, env: { ...env, ...more } };
    const { status, screen } = await runOnTerminal([...COMMAND, 'doctor'], options);
    expect(status).toBe(0);
    expect(screen).toContain('✓ toolbox');
    expect(screen).not.toMatch(COLOUR);
  });

  slow('Ctrl-C stops a waiting command, with 130', async () => {
    const project = createCliProject({ slow: testServer('starts-slowly', '600000') });
    const { status } = await runOnTerminal([...COMMAND, 'doctor'], {
      cwd: project.dir,
      env: project.env,
      keys: (screen) => (screen.includes('waiting for slow') ? '\u0003' : undefined),
    });
    expect(status).toBe(130);
  });
});
