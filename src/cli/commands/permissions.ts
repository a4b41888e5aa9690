// `switchboard permissions explain <server> <tool>`: whether a tool can be used, and which rule applies.
import { isObject } from '../../base/object.ts';
import { didYouMean, printable } from '../../base/text.ts';
import { type ChildConfig, type Config, isOff } from '../../config/config.ts';
import { type Permission, type RuleTarget } from '../../config/permission-rules.ts';
import { isExposed } from '../../config/server/expose.ts';
import type { Hints } from '../../mcp/annotations.ts';
import type { Lists } from '../../pool/catalog.ts';
import { openCatalog } from '../../switchboard.ts';
import { createOutput } from '../terminal/output.ts';
import { downloadNote, Progress } from '../terminal/progress.ts';
import {
  type CommandContext,
  type CommandOptions,
  chosenChild,
  printWarnings,
  withSwitchboard,
} from './with-switchboard.ts';

interface Explanation {
  readonly server: string;
  readonly tool: string;
  readonly kind: RuleTarget['kind'];
  readonly permission: Permission;
  /** What decides: a list of rules, `default`, `readOnly`, `expose` or `show`. */
  readonly by: string;
  readonly rule: string | null;
  readonly file: string | null;
  readonly because: string;
  /** The tool's annotations; null if unknown. */
  readonly annotations: Hints | null;
  /** Null if the server's list isn't known. */
  readonly listed: boolean | null;
}

export async function explainPermission(
  server: string,
  tool: string,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const { explanation, hint, warnings } = await withSwitchboard(
    { ...options, assistants: false },
    async (context) => {
      const child = chosenChild(context.config, server);
      using progress = new Progress(output);
      const explained = await progress.during(
        child.name,
        explain(child, tool, context),
        downloadNote(child),
      );
      return { ...explained, warnings: unmatchedRules(context.config) };
    },
  );
  output.json({ ...explanation, warnings });
  const { permission, because, annotations, kind, listed } = explanation;
  output.line(
    `${printable(server)} ${printable(tool)}: ${output.style(STYLES[permission], permission)}`,
  );
  output.line(`  ${because}`);
  if (kind === 'tool' && annotations) output.line(`  ${describeHints(annotations)}`);
  if (listed === false) output.line(`  The server doesn't list it. ${hint}`.trimEnd());
  if (!output.isJson) printWarnings(warnings);
  return 0;
}

const STYLES = { allow: 'green', ask: 'yellow', deny: 'red' } as const;

/** Rules for tools that no server lists, as far as their lists are cached. */
export function unmatchedRules(config: Config): string[] {
  const { permissions, children } = config;
  if (!permissions) return [];
  const catalog = openCatalog(config, () => {});
  const listed = [...children.values()].flatMap((child): [string, string[]][] => {
    const { lists } = catalog.get(child.behind ?? child);
    return lists.tools ? [[child.name, namesIn(lists)]] : [];
  });
  return permissions.unmatched(new Map(listed));
}

async function explain(child: ChildConfig, name: string, context: CommandContext) {
  const { switchboard, cancellation } = context;
  const { pool, board } = switchboard;
  const { rules } = child;
  const early = rules?.refusal ?? rules?.decide({ kind: 'tool', name });
  // The server is started only if the answer depends on its annotations.
  const isDecided = !rules || early?.permission === 'deny' || isOff(child);
  if (!isDecided && !namesIn(pool.lists(child.name)).includes(name)) {
    await board.calls.listTools(child, { cancellation });
  }
  const lists = pool.lists(child.name);
  const hints = pool.toolHints(child.name, name);
  const kind = hints ? 'tool' : kindIn(lists, name);
  const listed = lists.tools ? namesIn(lists).includes(name) : null;
  const explanation: Explanation = {
    server: child.name,
    tool: name,
    kind,
    ...decide(child, { kind, name, hints: hints ?? (listed === false ? {} : undefined) }),
    annotations: hints ?? null,
    listed,
  };
  return { explanation, hint: didYouMean(name, namesIn(lists)) };
}

function decide(
  child: ChildConfig,
  target: RuleTarget,
): Pick<Explanation, 'permission' | 'by' | 'rule' | 'file' | 'because'> {
  const none = { rule: null, file: null };
  if (isOff(child)) {
    return { ...none, permission: 'deny', by: 'show', because: `off: ${child.showBecause}` };
  }
  if (target.kind === 'tool' && !isExposed(target.name, child.expose)) {
    return { ...none, permission: 'deny', by: 'expose', because: 'expose hides it' };
  }
  const { rules } = child;
  const decision = rules?.refusal ?? rules?.decide(target);
  if (!decision) return { ...none, permission: 'allow', by: 'default', because: 'no rule applies' };
  const { permission, by, rule = null, file = null, because } = decision;
  return { permission, by, rule, file, because };
}

function namesIn({ tools = [], prompts = [], resources = [] }: Lists): string[] {
  const named = [...tools, ...prompts].map((item) => (isObject(item) ? item['name'] : undefined));
  const addressed = resources.map((item) => (isObject(item) ? item['uri'] : undefined));
  return [...named, ...addressed].filter((name) => typeof name === 'string');
}

function kindIn({ prompts = [] }: Lists, name: string): RuleTarget['kind'] {
  if (prompts.some((item) => isObject(item) && item['name'] === name)) return 'prompt';
  return /^[a-z][a-z0-9+.-]*:/i.test(name) ? 'resource' : 'tool';
}

function describeHints({ readOnlyHint, destructiveHint, openWorldHint }: Hints): string {
  if (readOnlyHint && !destructiveHint) {
    return `Annotated as read-only${openWorldHint === false ? '' : '; may reach external systems'}.`;
  }
  const parts = [
    'writes',
    ...(destructiveHint === false ? [] : ['may be destructive']),
    ...(openWorldHint === false ? [] : ['may reach external systems']),
  ];
  return `Annotations (or their defaults): ${parts.join(', ')}.`;
}
