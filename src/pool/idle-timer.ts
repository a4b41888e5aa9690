// Notices when a running child hasn't been used for a while.
import { guard } from '../base/guard.ts';
import type { Child } from '../child/child.ts';

export interface IdleTimerOptions {
  /** Whether it must keep running although nobody calls it. */
  readonly isNeeded: () => boolean;
  readonly onIdle: (child: Child) => void;
  readonly onBug: (error: unknown) => void;
}

export class IdleTimer {
  readonly #options: IdleTimerOptions;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: IdleTimerOptions) {
    this.#options = options;
  }

  /** Watches this child instead of an earlier one; with 0 ms, none. */
  watch(child: Child, idleMs: number): void {
    this.stop();
    if (idleMs === 0) return;
    const { isNeeded, onIdle, onBug } = this.#options;
    const look = (): void => {
      // Check and stop run in one turn, so no call can come between them.
      if (child.idleMs + 1 >= idleMs && !isNeeded()) onIdle(child);
      else this.watch(child, idleMs);
    };
    const waitMs = isNeeded() ? idleMs : Math.max(1, idleMs - child.idleMs);
    this.#timer = setTimeout(guard(onBug, look), waitMs).unref();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
