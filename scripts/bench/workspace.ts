// A temporary folder for one run: projects with servers, a separate HOME, and the programs that are started there.
// All of them get the same environment.
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Program } from './client.ts';

const pathOf = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

export const BUILT_PROGRAM = pathOf('../../dist/index.js');
export const CHILD = pathOf('./child.mjs');
/** The same server, in the modern era. */
export const MODERN_CHILD = [CHILD, '--modern'];
export const SDK_SERVER = pathOf('./sdk-server.mjs');
const RELAY = pathOf('./relay.mjs');
const FLOOR = pathOf('./floor.mjs');
const PACKAGES = pathOf('../../node_modules/');

/** A server as declared in a project: its purpose, and its Node arguments. */
export interface Server {
  readonly name: string;
  readonly description: string;
  readonly args: readonly string[];
  /** Its show mode and when it is started, if not the defaults. */
  readonly show?: 'suite' | 'flip' | 'direct';
  readonly start?: 'lazy' | 'eager';
  /** Whether it has an assistant. */
  readonly assistant?: boolean;
  readonly sandbox?: boolean | object;
}

export class Workspace implements Disposable {
  readonly dir = mkdtempSync(join(tmpdir(), 'switchboard-bench-'));
  readonly #program: string;

  constructor(program: string) {
    this.#program = program;
    this.write('home/.keep', '');
  }

  [Symbol.dispose](): void {
    rmSync(this.dir, { recursive: true, force: true });
  }

  /** Writes a file in the folder and returns its path; objects become JSON. */
  write(path: string, content: string | object): string {
    const file = join(this.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    return file;
  }

  /** A node script with its arguments. */
  script(...args: string[]): Program {
    return { args, cwd: this.dir, env: this.#env };
  }

  relay(...args: string[]): Program {
    return this.script(RELAY, ...args);
  }

  floor(resultsFile: string): Program {
    return this.script(FLOOR, resultsFile);
  }

  /** Switchboard in a project with a child file for each server. */
  switchboard(project: string, servers: readonly Server[]): Program {
    for (const [index, { args, ...keys }] of servers.entries()) {
      this.write(`${project}/mcps/${index}/.mcp.json`, {
        ...keys,
        command: { cmd: process.execPath, args },
      });
    }
    return this.#switchboardIn(project);
  }

  /** Switchboard in a project with its servers in the main file. */
  switchboardWithMainFile(project: string, servers: readonly Server[]): Program {
    const entries = servers.map(({ name, ...keys }) => [
      name,
      { ...keys, command: process.execPath },
    ]);
    const content = { mcpServers: Object.fromEntries(entries) };
    this.write(`${project}/switchboard.config.json`, content);
    return this.#switchboardIn(project);
  }

  /** Switchboard in a project with agents in all three formats and no servers. */
  switchboardWithAgents(project: string, count: number): Program {
    const ways = [
      (name: string) => [
        `.agents/${name}.toml`,
        `name = "${name}"\ndescription = "Does ${name}"\n`,
      ],
      (name: string) => [`.claude/agents/${name}.agent.md`, `---\nname: ${name}\n---\nDo it.\n`],
      (name: string) => [
        `.github/chatmodes/${name}.chatmode.md`,
        `---\ndescription: Does ${name}\ntools: [edit]\n---\nDo it.\n`,
      ],
    ];
    for (let index = 0; index < count; index++) {
      const [path = '', text = ''] = ways[index % ways.length]?.(`agent-${index}`) ?? [];
      this.write(`${project}/${path}`, text);
    }
    return this.#switchboardIn(project);
  }

  /** Switchboard in a project with one remote server. */
  switchboardWithRemote(project: string, name: string, url: string): Program {
    const description = 'measurements';
    const content = { mcpServers: { [name]: { type: 'http', url, description } } };
    this.write(`${project}/switchboard.config.json`, content);
    return this.#switchboardIn(project);
  }

  /** The same program, with nothing saved from an earlier run. */
  withNewHome(program: Program): Program {
    const home = mkdtempSync(join(this.dir, 'home-'));
    return { ...program, env: { ...program.env, SWITCHBOARD_HOME: home } };
  }

  /** The same from a fresh copy of the program, so it's always the first run. */
  withNewProgram(program: Program): Program {
    const folder = mkdtempSync(join(this.dir, 'program-'));
    const dist = dirname(this.#program);
    cpSync(join(dist, '../package.json'), join(folder, 'package.json'));
    cpSync(dist, join(folder, 'dist'), { recursive: true, filter: (file) => !isKept(file) });
    return { ...program, args: [join(folder, 'dist', basename(this.#program))] };
  }

  /** The same program, with its sessions in a background process, and nothing saved from an earlier run. */
  withBackground(program: Program): Program & { readonly home: string } {
    const { SWITCHBOARD_ALONE: _, ...env } = program.env;
    const home = mkdtempSync(join(this.dir, 'shared-'));
    return { ...program, env: { ...env, SWITCHBOARD_HOME: home }, home };
  }

  #switchboardIn(project: string): Program {
    mkdirSync(join(this.dir, project), { recursive: true });
    return { args: [this.#program], cwd: join(this.dir, project), env: this.#env };
  }

  get #env(): Record<string, string> {
    const { PATH = '' } = process.env;
    return {
      PATH,
      HOME: join(this.dir, 'home'),
      SWITCHBOARD_ALONE: '1', // so that every row measures the same, unless it's about sharing
      MEMORY_FILE_PATH: join(this.dir, 'memory.jsonl'), // server-memory keeps its graph there
    };
  }
}

/** Compiled code that the program saves next to itself. */
function isKept(file: string): boolean {
  return /start-\w+\.txt\../.test(file);
}

/** Servers that differ only in name. Servers that are only listed, such as suites, never start. */
export function numberedServers(count: number, show?: Server['show']): Server[] {
  return Array.from({ length: count }, (_, index) => ({
    name: `server-${index}`,
    description: `the things that server number ${index} is good for`,
    args: [CHILD],
    ...(show && { show }),
  }));
}

/** One of the official servers, from node_modules. */
export function realServer(
  name: 'memory' | 'filesystem' | 'everything',
  ...more: string[]
): Server {
  const folder = join(PACKAGES, `@modelcontextprotocol/server-${name}`);
  const { description, bin } = JSON.parse(
    readFileSync(join(folder, 'package.json'), 'utf8'),
  ) as PackageFile;
  const [script = ''] = Object.values(bin);
  return { name, description, args: [join(folder, script), ...more] };
}

interface PackageFile {
  readonly description: string;
  readonly bin: Readonly<Record<string, string>>;
}
