// `switchboard doctor [server]`: starts all servers at once and reports what works, what doesn't and why, as soon
// as each result is known. Ctrl-C keeps the results so far.
import { ERRORS } from '../../base/errors.ts';
import { cleanText, formatDuration, printable } from '../../base/text.ts';
import { VERSION } from '../../base/version.ts';
import { isUsable } from '../../calls/usable.ts';
import type { Child } from '../../child/child.ts';
import type { ChildConfig, Config, Share } from '../../config/config.ts';
import { isDescribed, rememberDerived } from '../../config/server/derived-descriptions.ts';
import { describeServer } from '../../mcp/describe-server.ts';
import type { Tool } from '../../mcp/tools.ts';
import { findLiteralSecrets } from '../../trust/secrets/literals.ts';
import { noServers } from '../commands/no-servers.ts';
import { offServers, printOff } from '../commands/off.ts';
import { describeLiteral } from '../commands/secret.ts';
import {
  type CommandContext,
  type CommandOptions,
  chosenChildren,
  withSwitchboard,
} from '../commands/with-switchboard.ts';
import { describeFailure, type Failure } from '../terminal/failure.ts';
import { formatRows, indentText } from '../terminal/layout.ts';
import { count, createOutput, type Output, type Style } from '../terminal/output.ts';
import { downloadNote, Progress } from '../terminal/progress.ts';
import { describeShare } from '../terminal/sharing.ts';
import { adviceOnConfig, adviceOnTools } from './advice.ts';
import { inspectAgentFiles, printAgentFiles } from './agent-files.ts';
import { adviceOnApart, findApart } from './apart.ts';
import { askAboutWaiting } from './ask-trust.ts';
import { reportLiterals } from './literal-secrets.ts';

interface Finding {
  readonly name: string;
  readonly origin: string;
  readonly ok: boolean;
  /** Milliseconds from the start to the end of the handshake, and of the list after it. */
  readonly startMs: number | undefined;
  readonly listMs: number | undefined;
  readonly server: string | undefined;
  readonly revision: string | undefined;
  readonly tools: number | undefined;
  readonly allowedTools: number | undefined;
  /** Derived from its title and tools, unless the user has described it. */
  readonly description: string | undefined;
  /** Which sessions share its process, and why. */
  readonly share: Share;
  readonly shareBecause: string;
  readonly advice: readonly string[];
  readonly error: Failure | undefined;
}

export async function doctor(
  childName: string | undefined,
  options: CommandOptions,
): Promise<number> {
  const output = createOutput(options);
  const own = { ...options, assistants: false, warnings: 'shown' } as const;
  await askAboutWaiting(options);
  return withSwitchboard(own, async (context) => {
    const { config, cancellation } = context;
    const children = chosenChildren(config, childName);
    const off = offServers(config, childName);
    printSurroundings(config, output);
    const findings = await examineAll(children, context, output);
    const isNews = keepDescriptions(config, findings, output);
    const agentFiles = childName === undefined ? await inspectAgentFiles(config) : undefined;
    const literals = findLiteralSecrets(children);
    const { files, project, home, warnings } = config;
    output.json({
      version: VERSION,
      node: process.version,
      project,
      home,
      files,
      warnings,
      interrupted: cancellation.reason !== undefined,
      children: findings,
      off,
      agents: agentFiles,
      secrets: literals.map(describeLiteral),
    });
    printOff(off, output);
    if (agentFiles) printAgentFiles(agentFiles, output);
    if (isNews) for (const line of indentText({ text: NEWS }, output)) output.line(line);
    const works = findings.filter(({ ok }) => ok).length;
    output.line(
      findings.length + off.length === 0
        ? noServers()
        : `Working servers: ${works} of ${findings.length}.`,
    );
    if (!output.isJson) await reportLiterals(literals, context, output);
    return works < findings.length ? ERRORS.CHILD_START_FAILED.exit : 0;
  });
}

const NEWS =
  'New descriptions take effect when a host starts Switchboard, or after: switchboard reload';

/** Stores derived descriptions; returns whether any is new. */
function keepDescriptions(
  { children, home }: Config,
  findings: readonly Finding[],
  output: Output,
): boolean {
  const news = findings.flatMap(({ name, description }) => {
    const child = children.get(name);
    const isNew = child && description && child.derivedDescription !== description;
    return isNew ? [[child, description] as const] : [];
  });
  try {
    if (news.length > 0) rememberDerived(home, news);
    return news.length > 0;
  } catch (error) {
    const text = `warning: could not store derived descriptions: ${String(error)}`;
    output.line(output.style('yellow', text));
    return false;
  }
}

/** Prints each finding as it arrives; returns them in the order of the configuration. */
async function examineAll(
  children: readonly ChildConfig[],
  context: CommandContext,
  output: Output,
): Promise<Finding[]> {
  using progress = new Progress(output);
  const apart = await findApart(context.config.home);
  return await Promise.all(
    children.map(async (child) => {
      const examined = examine(child, context, apart.get(child.name));
      const finding = await progress.during(child.name, examined, downloadNote(child));
      progress.clear();
      printFinding(finding, output);
      return finding;
    }),
  );
}

async function examine(
  config: ChildConfig,
  { switchboard, cancellation }: CommandContext,
  apart: readonly string[] | undefined,
): Promise<Finding> {
  const { name, origin, share, shareBecause } = config;
  const advice = [...adviceOnConfig(config), ...adviceOnApart(name, apart)];
  const about = { name, origin, share, shareBecause, advice };
  const begin = performance.now();
  try {
    const child = await switchboard.pool.use(name, cancellation);
    const startMs = Math.round(performance.now() - begin);
    const tools = await switchboard.board.calls.listTools(config, { cancellation });
    const { serverName, serverVersion, revision } = child.greeting;
    const allowed = tools.filter((tool) => isUsable(tool, config, switchboard.pool));
    return {
      ...about,
      advice: [...about.advice, ...adviceOnTools(config, allowed, child)],
      ok: true,
      startMs,
      listMs: Math.round(performance.now() - begin) - startMs,
      server: child.masked([serverName, serverVersion].filter(Boolean).join(' ')),
      revision,
      tools: tools.length,
      allowedTools: allowed.length,
      description: isDescribed(config) ? undefined : descriptionFor(child, allowed),
      error: undefined,
    };
  } catch (error) {
    return { ...about, ...NOTHING, ok: false, error: describeFailure(error) };
  }
}

/** Undefined if it would contain a secret: it is written to disk and shown to models. */
function descriptionFor(child: Child, tools: readonly Tool[]): string | undefined {
  const { serverTitle: title, serverName } = child.greeting;
  const names = tools.map((tool) => tool.name);
  const line = describeServer({ title, name: serverName, tools: names });
  return line === undefined || child.holdsSecret(line) ? undefined : line;
}

const NOTHING = {
  startMs: undefined,
  listMs: undefined,
  server: undefined,
  revision: undefined,
  tools: undefined,
  allowedTools: undefined,
  description: undefined,
};

function printSurroundings({ files, project, warnings }: Config, output: Output): void {
  output.line(`switchboard ${VERSION}, node ${process.version}, project ${project}`);
  output.line(
    files.length > 0
      ? `configuration: ${files.join(', ')}`
      : 'configuration: none (using defaults)',
  );
  if (process.version.startsWith('v20.')) {
    output.line(
      output.style('yellow', 'Node 20 no longer gets security fixes. Use Node 22 or later.'),
    );
  }
  for (const warning of warnings)
    output.line(output.style('yellow', `warning: ${warning.replaceAll('\n', '\n  ')}`));
  output.line();
}

function printFinding(finding: Finding, output: Output): void {
  const { ok, server, revision, description, error, advice, origin } = finding;
  const { share, shareBecause } = finding;
  if (ok) {
    printHeading(finding, ['✓', 'green'], describeTools(finding), output);
    printBelow(printable(`${server}, MCP ${revision}`), 'dim', output);
    printBelow(printable(describeShare(share, shareBecause)), 'dim', output);
    if (description !== undefined)
      printBelow(`described to hosts as: ${description}`, 'dim', output);
  } else if (error?.code === 'CANCELLED') {
    printHeading(finding, ['?', 'yellow'], 'unknown: still starting when interrupted', output);
  } else {
    printHeading(finding, ['✗', 'red'], printable(error?.message ?? ''), output);
    if (error?.hint !== undefined) printBelow(cleanText(error.hint), undefined, output);
    printBelow(`declared in ${printable(origin)}`, 'dim', output);
  }
  for (const sentence of advice) printBelow(`note: ${cleanText(sentence)}`, 'yellow', output);
}

function describeTools({ tools = 0, allowedTools, startMs = 0, listMs = 0 }: Finding): string {
  const allowed = tools === allowedTools ? '' : ` (${allowedTools} allowed)`;
  const times = `started in ${formatDuration(startMs)}, listed in ${formatDuration(listMs)}`;
  return `${count(tools, 'tool')}${allowed}, ${times}`;
}

function printHeading(
  { name }: Finding,
  [sign, colour]: readonly [string, Style],
  about: string,
  output: Output,
): void {
  const cells = [{ text: printable(name), style: 'bold' as const }, { text: about }];
  const lines = formatRows([{ cells }], { ...output, width: output.width - 2 });
  for (const [index, line] of lines.entries()) {
    output.line(`${index === 0 ? output.style(colour, sign) : ' '} ${line}`);
  }
}

function printBelow(text: string, style: Style | undefined, output: Output): void {
  for (const line of indentText({ text, style }, { ...output, indent: '  ' })) output.line(line);
}
