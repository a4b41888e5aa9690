// What goes on beside serving, whichever way hosts reach us: other commands of the user are answered, a
// signal has the configuration read again, what a killed run has left is ended, and what was compiled at
// the start is kept for the next one. None of it is for the host, so all of it begins when the host has got
// its first answers.
import type { Log } from '../../base/log.ts';
import type { Config } from '../../config/config.ts';
import { openControlLater } from '../../host/control-later.ts';
import { createReport, type SessionStatus } from '../../host/status-report.ts';
import type { Switchboard } from '../../switchboard.ts';
import { keepCompiledStart } from '../compiled-start.ts';
import { createReload, type Loaded } from './serving.ts';

export interface AccompanyOptions {
  readonly config: Config;
  readonly load: () => Promise<Loaded>;
  readonly log: Log;
  /** The hosts that are connected now. */
  readonly sessions: () => readonly SessionStatus[];
}

const COMPILED_AFTER_MS = 1_000;
/** `status` and `reload` are to find us soon. */
const CONTROL_AFTER_MS = 200;

/** Goes on until it is disposed of. */
export function accompany(switchboard: Switchboard, options: AccompanyOptions): AsyncDisposable {
  const { config, load, log, sessions } = options;
  const orphans = endOrphansSoon(switchboard, config);
  const compiled = setTimeout(() => keepCompiledStart(log), COMPILED_AFTER_MS).unref();
  const reload = createReload(switchboard, load, log);
  const control = openControlLater({
    afterMs: CONTROL_AFTER_MS,
    home: config.home,
    project: config.project,
    log,
    methods: {
      status: () => createReport({ ...switchboard.facts, sessions: sessions() }),
      reload,
    },
  });
  // Listened to until the very end: without a listener it would end us at once.
  process.on('SIGHUP', () => void reload());
  return {
    async [Symbol.asyncDispose]() {
      orphans[Symbol.dispose]();
      clearTimeout(compiled);
      await control[Symbol.asyncDispose]();
    },
  };
}

/** What a killed run has left gets SIGTERM and `stopMs` to go, and is to be gone within twice that time. */
const ORPHANS_AFTER_MS = 1_000;

/** Begins when the host has its first answers; at the end of a run that is over before. */
export function endOrphansSoon(switchboard: Switchboard, { stopMs }: Config): Disposable {
  const end = (): void => void switchboard.endOrphans();
  const timer = setTimeout(end, Math.min(ORPHANS_AFTER_MS, stopMs / 4)).unref();
  return {
    [Symbol.dispose]() {
      clearTimeout(timer);
      end();
    },
  };
}
