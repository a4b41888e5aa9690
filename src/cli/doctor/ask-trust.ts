// The part of `doctor` that asks, on a terminal, about everything in the project that is pending.
import { Cancellation } from '../../base/cancellation.ts';
import { nameHidden } from '../../base/text.ts';
import { isWaiting } from '../../config/judge.ts';
import { type CommandOptions, judgedFor } from '../commands/with-switchboard.ts';
import { applyDecisions, describeApplied } from '../status/reload.ts';
import { withAudit } from '../terminal/audited.ts';
import type { Prompter } from '../terminal/form.ts';
import { isOnTerminal, withPrompter } from '../terminal/terminal-caller.ts';

const QUESTION = 'Approve it? (y: yes, n: never, Enter: decide later) ';

export async function askAboutWaiting(options: CommandOptions): Promise<void> {
  if (options.json || !isOnTerminal()) return;
  const { config, judged } = await judgedFor(options);
  const waiting = judged.filter(({ verdict }) => isWaiting(verdict));
  if (waiting.length === 0) return;
  const [{ recordDecisions }, { describeSubject }] = await Promise.all([
    import('../../trust/approvals/decide.ts'),
    import('../../trust/approvals/describe.ts'),
  ]);
  await withPrompter(new Cancellation(), async (prompter) => {
    prompter.say('These parts of the project need your approval:');
    let decisions = 0;
    for (const one of waiting) {
      const { kind, name, file } = one.subject;
      prompter.say(`\n${kind} ${nameHidden(name)} (${nameHidden(file)})`);
      for (const line of describeSubject(one)) prompter.say(`    ${line}`);
      const decision = await askOnce(prompter);
      if (decision === 'stop') break;
      if (!decision) continue;
      await withAudit(config, (audit) =>
        recordDecisions(config.home, [one], decision, 'user', audit),
      );
      decisions++;
    }
    prompter.say('');
    if (decisions === 0) return;
    const applied = describeApplied(await applyDecisions(config.home, config.project));
    for (const line of applied) prompter.say(`${line}\n`);
  });
}

/** Undefined to decide later; `stop` after Ctrl-D. */
async function askOnce(prompter: Prompter) {
  const answer = await prompter.ask(QUESTION);
  if (answer === undefined) return 'stop';
  const word = answer.trim().toLowerCase();
  if (word === 'y' || word === 'yes') return 'approved';
  return word === 'n' || word === 'no' || word === 'never' ? 'denied' : undefined;
}
