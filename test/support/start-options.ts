// How a server is started, for tests that care about only part of it.
import { Cancellation } from '../../src/base/cancellation.ts';
import type { StartOptions } from '../../src/child/start.ts';

const nothing = (): void => {};

export function startOptions(some: Partial<StartOptions> = {}): StartOptions {
  return {
    framing: 'newline',
    nextFraming: undefined,
    env: process.env,
    mark: {},
    cancellation: new Cancellation(),
    onStarting: nothing,
    onProcess: nothing,
    onStopping: nothing,
    onStderr: nothing,
    onNotification: nothing,
    onBug: nothing,
    era: 'handshake',
    preferredEra: 'handshake',
    served: { project: '/project', isShared: false },
    askOutside: () => Promise.reject(new Error('Nobody is there.')),
    ...some,
  };
}
