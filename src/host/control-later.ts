// Opens the control endpoint once the host has its first answers. Lazy: its modules are loaded only then. If it
// can't be opened, serving continues without it.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { ControlOptions } from './control.ts';

export interface LaterOptions extends ControlOptions {
  /** Milliseconds to wait before opening it. */
  readonly afterMs: number;
}

/** Disposing of it closes the endpoint, or cancels the opening. */
export function openControlLater({ afterMs, ...options }: LaterOptions): AsyncDisposable {
  let control: Promise<AsyncDisposable | undefined> | undefined;
  const begin = guard(
    (error) => options.log.error(describeBug(error)),
    () => {
      control = open(options);
    },
  );
  const timer = setTimeout(begin, afterMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearTimeout(timer);
      await (await control)?.[Symbol.asyncDispose]();
    },
  };
}

async function open(options: ControlOptions): Promise<AsyncDisposable | undefined> {
  try {
    const { openControl } = await import('./control.ts');
    return await openControl(options);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    options.log.warn(`"switchboard status" will not see this run: ${reason}`);
    return undefined;
  }
}
