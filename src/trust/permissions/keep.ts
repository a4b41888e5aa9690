// Writes the answer "always" to the user's file, as rules the user could have written.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { setKey } from '../../config/change/edit.ts';
import { rewriteFile } from '../../config/change/rewrite.ts';
import { isScript, parseJsonc, withoutByteOrderMark } from '../../config/files/files.ts';
import type { PermissionDecision, PermissionRules } from '../../config/permission-rules.ts';
import { checkConfigFile } from '../../config/schema/check.ts';

/** What to add to which file, as a sentence; undefined if no rule means exactly this target. */
export function lineToAdd(
  permissions: PermissionRules,
  server: string,
  target: string,
  decision: PermissionDecision,
): string | undefined {
  const rule = permissions.exactRule(server, target);
  if (rule === undefined) return undefined;
  const { usersFile } = permissions;
  const lists = JSON.stringify(additionsFor(rule, decision, usersFile));
  return `add "permissions": ${lists} to ${usersFile}.`;
}

/** Returns the file. Throws if it can't be written. */
export async function keepAnswer(
  permissions: PermissionRules,
  server: string,
  target: string,
  decision: PermissionDecision,
): Promise<string> {
  const { usersFile: file, home } = permissions;
  const rule = permissions.exactRule(server, target);
  if (rule === undefined) throw new Error('There is no such rule.');
  const additions = additionsFor(rule, decision, file);
  if (isScript(file)) {
    throw new SwitchboardError(
      'CONFIG_NOT_CHANGED',
      `${file} is JavaScript, which Switchboard can't edit.`,
      { hint: `Add to its export: ${JSON.stringify({ permissions: additions })}`, data: { file } },
    );
  }
  const edit = (text: string | undefined): Promise<string> =>
    addRules(file, text ?? '{}\n', additions);
  await rewriteFile(file, edit, { home, mode: 0o600 });
  return file;
}

interface Additions {
  readonly ask?: readonly string[];
  readonly allow: readonly string[];
}

/** `allow` is enough if only the default of the user's file asks. A rule that asks needs an exception. */
function additionsFor(
  rule: string,
  { by, file }: PermissionDecision,
  usersFile: string,
): Additions {
  const isDefault = by === 'default' && file === usersFile;
  return isDefault ? { allow: [rule] } : { ask: [`!${rule}`], allow: [rule] };
}

async function addRules(file: string, text: string, additions: Additions): Promise<string> {
  const json = withoutByteOrderMark(text);
  const parsed = await parseJsonc(json);
  if ('problem' in parsed) {
    throw new SwitchboardError('CONFIG_INVALID', `${file}:${parsed.problem}`, {
      hint: 'Nothing was changed. Fix the file.',
    });
  }
  // It may have changed since it was loaded, and only valid files can be edited.
  const { config } = await checkConfigFile({ file, value: parsed.value, text: json });
  const present = isObject(config.permissions) ? config.permissions : {};
  let changed = text;
  for (const [list, rules] of Object.entries(additions) as ['ask' | 'allow', readonly string[]][]) {
    const all = [...new Set([...(present[list] ?? []), ...rules])];
    changed = await setKey(changed, ['permissions', list], all);
  }
  return changed;
}
