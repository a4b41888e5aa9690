// Keeps the usable parts of an invalid file. A mistake in a server's entry disables only that server; any other
// mistake invalidates the whole file. Loaded only for such files.
import { SwitchboardError } from '../../base/errors.ts';
import type { Source } from '../files/files.ts';
import type { KeyPath } from '../files/position.ts';
import {
  CHILD_FILE,
  type CheckedChildFile,
  type CheckedConfig,
  type CheckedServers,
  type InvalidEntries,
  isChildFile,
  isConfigFile,
  isServersFile,
  SERVER,
  SUITE,
} from './check.ts';
import { fits, isPlainObject, type JsonSchema } from './fits.ts';
import { type DescribedProblem, describeProblems } from './problems.ts';
import { formatPath } from './wording.ts';

export async function salvageConfig(source: Source): Promise<CheckedConfig> {
  const problems = await describeProblems('config', source);
  const { value } = source;
  if (!isPlainObject(value)) throw invalidFile(problems);
  const { mcpServers, suites } = value;
  const config = {
    ...value,
    mcpServers: withValidKeys(SERVER, mcpServers),
    suites: withValidKeys(SUITE, suites),
  };
  if (!isConfigFile(config)) throw invalidFile(problems);
  return {
    config,
    invalidServers: invalidIn(SERVER, mcpServers, ['mcpServers'], source, problems),
    invalidSuites: invalidIn(SUITE, suites, ['suites'], source, problems),
  };
}

export async function salvageServers(source: Source, where: KeyPath): Promise<CheckedServers> {
  const problems = await describeProblems('serversFile', source, where);
  const servers = withValidKeys(SERVER, source.value);
  if (!isServersFile(servers)) throw invalidFile(problems);
  return { servers, invalid: invalidIn(SERVER, source.value, where, source, problems) };
}

export async function salvageChildFile(source: Source): Promise<CheckedChildFile> {
  const invalid = (await describeProblems('childFile', source)).map(({ line }) => line);
  const entry = validKeys(CHILD_FILE, source.value);
  return isChildFile(entry) ? { entry, invalid } : { problem: invalid.join('\n') };
}

function invalidFile(problems: readonly DescribedProblem[]): SwitchboardError {
  const lines = problems.map(({ line }) => line);
  return new SwitchboardError('CONFIG_INVALID', lines.join('\n'), {
    hint: 'For all keys and what they mean, run: switchboard config schema',
  });
}

/** Anything but an object is left as it is. */
function withValidKeys(schema: JsonSchema, entries: unknown): unknown {
  if (!isPlainObject(entries)) return entries;
  return Object.fromEntries(
    Object.entries(entries).map(([name, entry]) => [name, validKeys(schema, entry)]),
  );
}

function validKeys(schema: JsonSchema, entry: unknown): Record<string, unknown> {
  if (!isPlainObject(entry)) return {};
  const oneKey = { ...schema, required: [] };
  return Object.fromEntries(
    Object.entries(entry).filter((pair) => fits(oneKey, Object.fromEntries([pair]))),
  );
}

function invalidIn(
  schema: JsonSchema,
  entries: unknown,
  where: KeyPath,
  { file }: Source,
  problems: readonly DescribedProblem[],
): InvalidEntries {
  const invalid = new Map<string, readonly string[]>();
  for (const [name, entry] of Object.entries(isPlainObject(entries) ? entries : {})) {
    if (fits(schema, entry)) continue;
    const path = [...where, name];
    const lines = problems
      .filter((problem) => path.every((key, index) => problem.path[index] === key))
      .map(({ line }) => line);
    // zod accepts class instances, which only JavaScript files can contain.
    const instance = `${file}: ${formatPath(path)}: class instances are not allowed.`;
    invalid.set(name, lines.length > 0 ? lines : [instance]);
  }
  return invalid;
}
