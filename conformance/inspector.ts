// MCP Inspector's command line as a host: it lists and calls in both eras, over stdio and HTTP, and is strict about
// tool schemas.
import { join } from 'node:path';
import type { Tools } from './install.ts';
import { type Outcome, runToEnd } from './programs.ts';
import type { Call, Place, Subject } from './subject.ts';
import type { Row } from './suite.ts';

const ERAS = ['legacy', 'modern'] as const;
const CALL_MS = 60_000;

export async function inspect(tools: Tools, subject: Subject, place: Place): Promise<Row[]> {
  const { dir, project, env } = place;
  const ways = {
    stdio: [process.execPath, ...subject.stdio, '--cwd', project],
    http: ['--server-url', subject.url, '--transport', 'http'],
  };
  const rows: Row[] = [];
  for (const [way, target] of Object.entries(ways)) {
    for (const era of ERAS) {
      const ask = (...request: string[]): Promise<Outcome> => {
        const options = ['--protocol-era', era, '--format', 'json', ...request];
        const args = [tools.inspector, '--cli', ...target, ...options];
        const logFile = join(dir, 'inspector.log');
        return runToEnd({ command: tools.node, args, cwd: project, env, logFile }, CALL_MS);
      };
      const list = await ask('--method', 'tools/list', '--strict');
      rows.push(toRow(`tools/list ${way} ${era}`, whyNotListed(list, subject.calls)));
      for (const call of subject.calls) {
        const { tool, args } = call;
        const what = ['--tool-name', tool, '--tool-args-json', JSON.stringify(args)];
        const answer = await ask('--method', 'tools/call', ...what);
        rows.push(toRow(`tools/call ${tool} ${way} ${era}`, whyNotCalled(answer, call)));
      }
    }
  }
  return rows;
}

function whyNotListed(outcome: Outcome, calls: readonly Call[]): string | undefined {
  if (outcome.status !== 0) return describe(outcome);
  const { tools = [] } = resultOf(outcome) as { tools?: { name: string }[] };
  const missing = calls.filter(({ tool }) => !tools.some(({ name }) => name === tool));
  if (missing.length === 0) return undefined;
  return `Not listed: ${missing.map(({ tool }) => tool).join(', ')}.`;
}

function whyNotCalled(outcome: Outcome, { text }: Call): string | undefined {
  if (outcome.status !== 0) return describe(outcome);
  const { content = [] } = resultOf(outcome) as { content?: { text?: string }[] };
  if (text.test(content[0]?.text ?? '')) return undefined;
  return `Another answer than ${String(text)}: ${outcome.stdout.slice(0, 200)}`;
}

function resultOf({ stdout }: Outcome): object {
  return (JSON.parse(stdout) as { result: object }).result;
}

function describe({ status, stdout, stderr }: Outcome): string {
  return `Exit status ${status}: ${(stderr || stdout).trim().slice(0, 500)}`;
}

function toRow(name: string, failure: string | undefined): Row {
  return failure === undefined
    ? { name, passed: 1, failures: [], warnings: [] }
    : { name, passed: 0, failures: [failure], warnings: [] };
}
