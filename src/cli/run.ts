// argv → command → exit status. The only place that prints errors to stderr and maps them to an exit status.
import type { Installation } from '../background/join-or-start.ts';
import { ERRORS, SwitchboardError } from '../base/errors.ts';
import { maskValue } from '../base/secrets.ts';
import { cleanText, escapeHidden } from '../base/text.ts';
import { maskTokens } from '../base/tokens.ts';
import { VERSION } from '../base/version.ts';
import type { GivenLink } from './serve/linked.ts';
import { serve } from './serve/serve.ts';

/** What the entry has for us. */
export interface Given {
  /** A session that it can't share. */
  readonly link?: GivenLink;
  /** Set if a command may join the background process. */
  readonly installation?: Installation;
}

/** Returns the exit status. Anything but a SwitchboardError is a bug (status 1). */
export async function run(
  args: readonly string[],
  { link, installation }: Given = {},
): Promise<number> {
  try {
    if (link) return await (await import('./serve/linked.ts')).serveLinked(link);
    // The usual way hosts start it. Skips the parser, which takes milliseconds to load.
    if (args.length === 0 && !process.env['TRANSPORT']) return await serve({});
    if (args[0] === 'background') {
      return await (await import('./commands/background.ts')).backgroundCommand(args.slice(1));
    }
    // EPIPE: the reader closed the pipe (`switchboard tools | head`).
    process.stdout.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit();
      process.stderr.write(`switchboard: cannot write output: ${error.message}\n`);
      process.exit(1);
    });
    if (args.length === 1 && args[0] === '--version') {
      process.stdout.write(`${VERSION}\n`);
      return 0;
    }
    return await (await import('./program.ts')).runCommand(args, installation);
  } catch (error) {
    return reportError(error, wantsJson(args));
  }
}

/** Words after `--` aren't options. */
function wantsJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return args.slice(0, end < 0 ? undefined : end).includes('--json');
}

function reportError(error: unknown, asJson: boolean): number {
  if (!(error instanceof SwitchboardError)) throw error;
  const { code, message, hint, data } = error;
  if (asJson) {
    const document = JSON.stringify(
      maskValue({ error: { code, message, hint, data } }, maskTokens),
    );
    process.stderr.write(`${escapeHidden(document)}\n`);
  } else {
    const text = `switchboard: ${message}\n${hint === undefined ? '' : `${hint}\n`}`;
    process.stderr.write(cleanText(text));
  }
  return ERRORS[code].exit;
}
