// Redraws the screen every second until Ctrl-C. Uses the terminal's alternate screen, and prints the last state when it
// ends.
import { Cancellation } from '../../base/cancellation.ts';
import { pause } from '../../base/time.ts';
import { onEndSignal } from '../signals.ts';

const EVERY_MS = 1_000;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const TOP = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** `look` returns the lines to draw. If the first call throws, nothing is drawn. */
export async function watchLines(look: () => Promise<readonly string[]>): Promise<void> {
  const { stdout } = process;
  const end = new Cancellation();
  onEndSignal(() => end.cancel(new Error('Ctrl-C')), 0);
  let lines = await look();
  stdout.write(ENTER);
  try {
    while (!end.reason) {
      const shown = lines.slice(0, Math.max(1, (stdout.rows || 24) - 1));
      stdout.write(`${TOP}${shown.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`);
      await pause(EVERY_MS, end);
      lines = await end.race(look());
    }
  } catch (error) {
    if (error !== end.reason) throw error;
  } finally {
    stdout.write(`${LEAVE}${lines.map((line) => `${line}\n`).join('')}`);
  }
}
