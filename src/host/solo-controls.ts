// How the user's other commands stop a Switchboard that serves alone, or one of its servers.
import { guard } from '../base/guard.ts';
import { type EndOutcome, type EndRequest, parseEndRequest } from '../pool/end-servers.ts';
import type { Facts } from './status-report.ts';
import {
  parseStopRequest,
  type ServerStopped,
  type SessionName,
  type Stopped,
} from './stop-request.ts';

/** The part of a Switchboard that matters here. */
interface SoloServers {
  readonly facts: Pick<Facts, 'project' | 'sessions'>;
  readonly endServer: (request: EndRequest) => Promise<EndOutcome>;
}

export class SoloControls {
  readonly #servers: SoloServers;
  readonly #stop: () => void;

  /** `stop` ends the program. */
  constructor(servers: SoloServers, stop: () => void, onBug: (error: unknown) => void) {
    this.#servers = servers;
    this.#stop = guard(onBug, stop);
  }

  stop(params: unknown): Stopped {
    const sessions = this.#sessions();
    const isStopped = sessions.length === 0 || parseStopRequest(params).force;
    if (isStopped) setImmediate(this.#stop); // the answer comes first
    return { isStopped, sessions };
  }

  async stopServer(params: unknown): Promise<ServerStopped> {
    const request = parseEndRequest(params);
    if (!request) return { ended: [], busy: [] };
    const { ended, busy } = await this.#servers.endServer(request);
    return { ended, busy: busy.length > 0 ? this.#sessions() : [] };
  }

  #sessions(): SessionName[] {
    const { project, sessions } = this.#servers.facts;
    return sessions.map(({ client }) => ({ client, project }));
  }
}
