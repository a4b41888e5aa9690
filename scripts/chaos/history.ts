// What hosts and servers have recorded in a schedule, and what must be true of it whatever was killed.

type RequestId = string | number;

export interface SentRequest {
  readonly id: RequestId;
  readonly method: string;
  /** For a call of the counting server: its own number. */
  readonly number?: string;
}

export interface ReceivedResponse {
  readonly id: RequestId;
  /** The text of an error, whether of the protocol or in a result. */
  readonly error?: string;
  /** The text of a result. */
  readonly text?: string;
}

export interface HostHistory {
  readonly name: string;
  /** Its entry was killed, so it may lack responses. */
  readonly isKilled: boolean;
  /** The exit status of its entry, or the signal that ended it. */
  readonly exit: number | string;
  readonly requests: readonly SentRequest[];
  readonly responses: readonly ReceivedResponse[];
  /** Output that isn't a message. */
  readonly impure: readonly string[];
}

export interface History {
  readonly hosts: readonly HostHistory[];
  /** The number of every call that a counting server has begun to execute. */
  readonly executed: readonly string[];
  /** Processes that are still there at the end. */
  readonly left: readonly string[];
}

/** What a host may be told when something was killed. Other errors are faults. */
const EXPECTED_ERRORS = [
  /^The background process of Switchboard ended before it responded\. The call may or may not have run\.$/,
  // A server was killed while it worked or started, or too often.
  /^Child MCP \w+ (?:was killed \(SIGKILL\)|closed its (?:input|output)) /,
  /^Server "\w+" was started five times within ten seconds and is parked /,
];

/** A sentence for everything that is wrong. */
export function findFaults({ hosts, executed, left }: History): string[] {
  const executions = countEach(executed);
  const known = new Set(
    hosts.flatMap(({ requests }) => requests.flatMap((one) => one.number ?? [])),
  );
  const repeated = [...executions].filter(([, count]) => count > 1);
  const unknown = [...executions.keys()].filter((number) => !known.has(number));
  return [
    ...hosts.flatMap((host) => faultsOf(host, executions)),
    ...repeated.map(([number, count]) => `Call ${number} was executed ${count} times.`),
    ...unknown.map((number) => `Call ${number} was executed, but no host has made it.`),
    ...left.map((process) => `A process is left: ${process}`),
  ];
}

function faultsOf(host: HostHistory, executions: ReadonlyMap<string, number>): string[] {
  const { name, isKilled, exit, requests, responses, impure } = host;
  const asked = new Map(requests.map((request) => [request.id, request]));
  const answers = countEach(responses.map(({ id }) => id));
  const faults = impure.map((text) => `${name} received something that isn't a message: ${text}`);
  if (!isKilled && exit !== 0) faults.push(`The entry of ${name} ended with ${exit}.`);
  for (const { id, method, number = '' } of requests) {
    const count = answers.get(id) ?? 0;
    const isMissing = count === 0 && !isKilled;
    if (isMissing || count > 1) {
      faults.push(`${name}: request ${id} (${method} ${number}) has ${count} responses.`);
    }
  }
  for (const { id, error, text } of responses) {
    const request = asked.get(id);
    if (!request) faults.push(`${name} received a response to ${id}, which it never sent.`);
    else if (error !== undefined) {
      if (!EXPECTED_ERRORS.some((pattern) => pattern.test(error))) {
        faults.push(`${name}: request ${id} (${request.method}) failed: ${error}`);
      }
    } else if (request.number !== undefined) {
      if (text !== request.number) faults.push(`${name}: call ${request.number} returned ${text}.`);
      if (!executions.has(request.number)) {
        faults.push(`${name}: call ${request.number} has a result, but was never executed.`);
      }
    }
  }
  return faults;
}

function countEach<T>(values: readonly T[]): Map<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
