// Secrets that are written out in configuration files, and the offer to move them.
import type { LiteralSecret } from '../../trust/secrets/literals.ts';
import { moveAndReport, nameLiteral } from '../commands/secret.ts';
import type { CommandContext } from '../commands/with-switchboard.ts';
import { askYesNo } from '../terminal/form.ts';
import { indentText } from '../terminal/layout.ts';
import type { Output } from '../terminal/output.ts';
import { isOnTerminal, withPrompter } from '../terminal/terminal-caller.ts';

export async function reportLiterals(
  literals: readonly LiteralSecret[],
  { config, cancellation }: Pick<CommandContext, 'config' | 'cancellation'>,
  output: Output,
): Promise<void> {
  if (literals.length === 0 || cancellation.reason) return;
  output.line('Secrets in configuration files:');
  for (const literal of literals) {
    const kind = literal.kind === undefined ? '' : ` (${literal.kind})`;
    const text = `${nameLiteral(literal)}${kind}`;
    for (const line of indentText({ text, style: 'yellow' }, { ...output, indent: '  ' })) {
      output.line(line);
    }
  }
  if (!literals.some(({ isMovable }) => isMovable)) return;
  if (!isOnTerminal()) {
    output.line("To move them to Switchboard's store, run: switchboard secret move");
    return;
  }
  const isWanted = await withPrompter(cancellation, (prompter) =>
    askYesNo("Move them to Switchboard's store", false, prompter),
  );
  if (isWanted) await moveAndReport(literals, config, output);
}
