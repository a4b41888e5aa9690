// Which servers run several times because sessions have different variables, as the running Switchboards report.
import { askRunning } from '../../host/control-client.ts';
import { parseReport } from '../../host/parse-report.ts';
import { explainApart } from '../terminal/sharing.ts';

const LIMIT_MS = 1_000;

/** The names of these variables, by server. */
export async function findApart(home: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const answers = await askRunning(home, 'status', LIMIT_MS);
  const servers = answers.flatMap(({ value }) => parseReport(value)?.children ?? []);
  const found = new Map<string, Set<string>>();
  for (const { name, apart = [] } of servers) {
    if (apart.length > 0) found.set(name, new Set([...(found.get(name) ?? []), ...apart]));
  }
  return new Map([...found].map(([name, variables]) => [name, [...variables].sort()]));
}

/** Which variables keep sessions apart, and both ways to share one process. */
export function adviceOnApart(name: string, variables: readonly string[] = []): string[] {
  return explainApart(variables).map(
    (sentence) =>
      `${sentence} To share one process, set suites.${name}.environment to "login" (the variables of your login shell) or to "minimal" (none of these; add those it needs to passEnv).`,
  );
}
