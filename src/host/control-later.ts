// Opens the control endpoint once the host has got its first answers. What it needs is loaded then,
// and where it cannot be opened, serving goes on without it.
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { ControlOptions } from './control.ts';

export interface LaterOptions extends ControlOptions {
  /** Milliseconds to leave to the host before. */
  readonly afterMs: number;
}

/** Disposing of it closes the endpoint, or calls the opening off. */
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
