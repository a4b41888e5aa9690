// What the user's other commands can ask the background process: one endpoint for all its sessions.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import { isObject } from '../base/object.ts';
import { EACH_SESSION, SESSION_PROJECTS } from '../host/background-methods.ts';
import { createBackgroundReport, nameSession } from '../host/background-report.ts';
import type { ControlMethods, ControlOptions } from '../host/control.ts';
import { openControlLater } from '../host/control-later.ts';
import {
  parseStopRequest,
  type ServerStopped,
  type SessionName,
  type Stopped,
} from '../host/stop-request.ts';
import { endServers, parseEndRequest } from '../pool/end-servers.ts';
import type { Processes } from '../pool/processes.ts';
import type { Background } from './server.ts';
import type { ServedSession } from './session-parts.ts';

export interface BackgroundControlOptions extends Pick<ControlOptions, 'home' | 'log'> {
  readonly version: string;
  readonly processes: Processes;
}

/** The session that is waiting for this process comes first. */
const CONTROL_AFTER_MS = 100;
/** The requests that are passed on to every session. */
const PASSED_ON = ['status', 'reload', 'recheck'];

export function openBackgroundControl(
  background: Background,
  { home, log, version, processes }: BackgroundControlOptions,
): AsyncDisposable {
  const onBug = (error: unknown): void => log.error(describeBug(error));
  const methods = controlsOf(background, processes, onBug);
  return openControlLater({
    afterMs: CONTROL_AFTER_MS,
    home,
    log,
    project: '',
    background: version,
    methods,
  });
}

function controlsOf(
  background: Background,
  processes: Processes,
  onBug: (error: unknown) => void,
): ControlMethods {
  const sessions = (): ServedSession[] => [...background.sessions];
  return {
    status: () => {
      const { startedAt, isAccepting } = background;
      return createBackgroundReport({
        startedAt,
        isAccepting,
        sessions: sessions().map(({ project, startedAt: since, entry, command }) => ({
          startedAt: since,
          entry,
          command,
          numbers: project.sessionNumbers,
          facts: project.facts,
        })),
        running: processes.running(),
      });
    },
    [SESSION_PROJECTS]: () => [...new Set(sessions().map(({ project }) => project.config.project))],
    [EACH_SESSION]: (params) => askEach(sessions(), params),
    stop: (params): Stopped => {
      const { force, again } = parseStopRequest(params);
      const cut = sessions().map(nameOf);
      const isStopped = cut.length === 0 || force;
      const stop = guard(onBug, () => void background.stop({ again }).catch(onBug));
      if (isStopped) setImmediate(stop); // the answer comes first
      return { isStopped, sessions: cut };
    },
    'stop-server': async (params): Promise<ServerStopped> => {
      const request = parseEndRequest(params);
      if (!request) return { ended: [], busy: [] };
      const { ended, busy } = await endServers(processes, request);
      const isBusy = ({ project }: ServedSession): boolean =>
        project.sessionNumbers.some((number) => busy.includes(number));
      return { ended, busy: sessions().filter(isBusy).map(nameOf) };
    },
  };
}

function nameOf({ project, command }: ServedSession): SessionName {
  const { sessions, project: folder } = project.facts;
  return { client: nameSession(command, sessions), project: folder };
}

async function askEach(sessions: readonly ServedSession[], params: unknown): Promise<unknown> {
  const { method, projects } = isObject(params) ? params : {};
  const asked = PASSED_ON.find((one) => one === method);
  if (asked === undefined) return [];
  const meant = sessions.filter(
    ({ project }) => !Array.isArray(projects) || projects.includes(project.config.project),
  );
  return Promise.all(
    meant.map(async ({ project: { config, controls } }) => ({
      project: config.project,
      value: await controls[asked]?.(undefined),
    })),
  );
}
