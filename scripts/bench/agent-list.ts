// Row 17: from the start of the process to the answer to tools/list, in a project with agents.
import { compare, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { settle, timeToList } from './startup.ts';
import { numberedServers } from './workspace.ts';

export async function measureAgentStartup({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const ten = workspace.switchboard('agents-none', numberedServers(10));
  const few = workspace.switchboardWithAgents('agents-10', 10);
  const many = workspace.switchboardWithAgents('agents-500', 500);
  const unknown = () => workspace.withNewHome(many);
  progress('starting, with 10 and with 500 agents');
  await settle([ten, few, many]);
  const ms = await takeTurns(
    {
      ten: () => timeToList(ten),
      few: () => timeToList(few),
      many: () => timeToList(many),
      unknown: () => timeToList(unknown()),
    },
    { rounds: rounds(31) },
  );
  const against = { what: '10 servers', value: median(ms.ten) };
  const cold = `the first time, when none of them is remembered: ${median(ms.unknown).toFixed(1)} ms`;
  return [
    {
      group: 17,
      what: 'start → tools/list, 10 agents',
      measured: median(ms.few),
      unit: 'ms',
      against,
      ratio: compare(ms.few, ms.ten),
      budget: { most: 1.5 },
      beside: [],
    },
    {
      group: 17,
      what: 'start → tools/list, 500 agents',
      measured: median(ms.many),
      unit: 'ms',
      against,
      ratio: compare(ms.many, ms.ten),
      budget: { most: 1.5 },
      beside: [cold],
    },
  ];
}
