// A server with a Child of its own, started without a pool.
import { Child } from '../../src/child/child.ts';
import type { Screen } from '../../src/child/screen.ts';
import { type StartOptions, startServer } from '../../src/child/start.ts';
import type { ChildConfig } from '../../src/config/config.ts';
import type { Catalog } from '../../src/pool/catalog.ts';
import type { StartChild, Wish } from '../../src/pool/slot.ts';
import { type StartAttempt, Starter } from '../../src/pool/starter.ts';

export async function startChild(
  config: ChildConfig,
  options: StartOptions & { readonly screen?: Screen },
): Promise<Child> {
  const started = await startServer(config, options);
  return new Child({ config, ...started, screen: options.screen });
}

/** An attempt to start a server for one session. */
export type SessionAttempt = StartAttempt & Pick<Wish, 'onNotification'>;

/** Starts each server with a Starter of its own, as processes do, but shares nothing. */
export function startAlone(
  catalog: Catalog,
  attempt: (config: ChildConfig, attempt: SessionAttempt) => Promise<Child>,
): StartChild {
  const starters = new Map<string, Starter<Child>>();
  return async (config, { onNotification, onStopping, cancellation, preferredEra }) => {
    const starter = starters.get(config.name) ?? new Starter<Child>();
    starters.set(config.name, starter);
    const request = {
      catalog,
      cancellation,
      preferredEra,
      attempt: (which: ChildConfig, how: StartAttempt) =>
        attempt(which, { ...how, onNotification }),
    };
    try {
      const child = await starter.start(config, request);
      void child.ended.then(() => starter.noteEnd(child.hasAnswered, child.stop()));
      return child;
    } catch (error) {
      onStopping(starter.stopped);
      throw error;
    }
  };
}
