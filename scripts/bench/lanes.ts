// Three paths to the same server: directly, through a bare relay, and through Switchboard. They run side by side,
// each with its own server process, and take turns.
import { Client, type Program } from './client.ts';
import { type HostEra, paramsOf } from './host.ts';
import type { Workspace } from './workspace.ts';

export interface Lane {
  readonly client: Client;
  /** A call to the server's tool, as JSON. */
  readonly format: (tool: string, args: object) => string;
}

export type LaneName = 'direct' | 'relay' | 'switchboard';

export class Lanes implements AsyncDisposable {
  readonly #era: HostEra;
  readonly direct: Lane;
  readonly relay: Lane;
  readonly switchboard: Lane;

  /** `args` is the server's script and its arguments. */
  constructor(workspace: Workspace, era: HostEra, ...args: string[]) {
    this.#era = era;
    const name = 'bench';
    const server = { name, description: 'measurements', args };
    this.direct = openPlain(workspace.script(...args), era);
    this.relay = openPlain(workspace.relay(...args), era);
    this.switchboard = openSuite(workspace.switchboard('lanes', [server]), era, `${name}_suite`);
  }

  /**
   * Completes the handshake on each lane that has one, makes a first call, and fails unless all answers are the
   * same. For a modern host Switchboard adds its identity, so only the content is compared.
   */
  async prepare(): Promise<void> {
    const results: string[] = [];
    for (const { client, format } of this.all) {
      if (this.#era === 'handshake') await client.shakeHands();
      const line = await client.exchange(format('echo', { message: 'ready' }));
      const { result } = JSON.parse(line.toString()) as Answer;
      results.push(JSON.stringify(this.#era === 'modern' ? result?.content : result));
    }
    if (new Set(results).size !== 1) throw new Error(`The lanes differ:\n${results.join('\n')}`);
  }

  /** The same for each lane, by its name. */
  each<T>(make: (lane: Lane, name: LaneName) => T): Record<LaneName, T> {
    return {
      direct: make(this.direct, 'direct'),
      relay: make(this.relay, 'relay'),
      switchboard: make(this.switchboard, 'switchboard'),
    };
  }

  get all(): readonly Lane[] {
    return [this.direct, this.relay, this.switchboard];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.all.map(({ client }) => client[Symbol.asyncDispose]()));
  }
}

interface Answer {
  readonly result?: { readonly content: unknown };
}

function openPlain(program: Program, era: HostEra): Lane {
  const client = new Client(program);
  return {
    client,
    format: (tool, args) =>
      client.format('tools/call', paramsOf(era, { name: tool, arguments: args })),
  };
}

export function openSuite(program: Program, era: HostEra, name: string): Lane {
  const client = new Client(program);
  return {
    client,
    format: (subtool, args) => {
      const params = { name, arguments: { action: 'call', subtool, args } };
      return client.format('tools/call', paramsOf(era, params));
    },
  };
}
