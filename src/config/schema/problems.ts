// Explains what is wrong with an invalid file: where, which key, what was expected, what was found, and which key
// was probably meant. Loaded only for such files, because zod takes a while to load.
import * as z from 'zod/mini';
import { isObject } from '../../base/object.ts';
import type { Source } from '../files/files.ts';
import { createLocator, type KeyPath, lineAndColumn } from '../files/position.ts';
import {
  childFileSchema,
  configSchema,
  serverSchema,
  serversFileSchema,
  suiteSchema,
} from './schema.ts';
import { describeActual, describeExpected, describeUnknown, formatPath } from './wording.ts';

interface Problem {
  readonly path: KeyPath;
  readonly message: string;
}

type Schema = z.core.$ZodType;

const SCHEMAS = {
  config: configSchema,
  childFile: childFileSchema,
  serversFile: serversFileSchema,
};

export interface DescribedProblem {
  readonly path: KeyPath;
  /** Such as `/p/switchboard.config.json:3:5: timeouts.rpcMs: expected …`. */
  readonly line: string;
}

/** In file order. `where` is the path to the value, if it isn't the whole file. */
export async function describeProblems(
  kind: keyof typeof SCHEMAS,
  { file, value, text }: Source,
  where: KeyPath = [],
): Promise<DescribedProblem[]> {
  const problems = problemsOf(SCHEMAS[kind], value).map(({ path, message }) => ({
    path: [...where, ...path],
    message,
  }));
  // zod accepts class instances, which only JavaScript files can contain.
  if (problems.length === 0)
    return [{ path: where, line: `${file}: class instances are not allowed.` }];
  if (text === undefined) {
    return problems.map((problem) => ({
      path: problem.path,
      line: `${file}: ${formatProblem(problem)}`,
    }));
  }
  const locate = await createLocator(text);
  return problems
    .map((problem) => ({ problem, offset: locate(problem.path) }))
    .sort((a, b) => a.offset - b.offset)
    .map(({ problem, offset }) => ({
      path: problem.path,
      line: `${file}:${lineAndColumn(text, offset)}: ${formatProblem(problem)}`,
    }));
}

function formatProblem({ path, message }: Problem): string {
  return path.length === 0 ? message : `${formatPath(path)}: ${message}`;
}

function problemsOf(schema: Schema, value: unknown): Problem[] {
  const result = z.safeParse(schema, value);
  const problems = result.success
    ? []
    : result.error.issues.flatMap((issue) => problemsIn(issue, schema, value));
  return [...problems, ...problemsOfProto(schema, value)];
}

/** zod ignores the key `__proto__`, but a server may have that name. */
function problemsOfProto(schema: Schema, value: unknown): Problem[] {
  if (!isObject(value)) return [];
  if (schema === serversFileSchema) return problemsOfNamed(serverSchema, value, []);
  if (schema !== configSchema) return [];
  return [
    ...problemsOfNamed(serverSchema, value['mcpServers'], ['mcpServers']),
    ...problemsOfNamed(suiteSchema, value['suites'], ['suites']),
  ];
}

function problemsOfNamed(schema: Schema, named: unknown, where: KeyPath): Problem[] {
  if (!isObject(named) || !Object.hasOwn(named, '__proto__')) return [];
  return problemsOf(schema, named['__proto__']).map(({ path, message }) => ({
    path: [...where, '__proto__', ...path],
    message,
  }));
}

function problemsIn(issue: z.core.$ZodIssue, schema: Schema, root: unknown): Problem[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  if (issue.code === 'unrecognized_keys') {
    const known = keysAt(schema, path);
    return issue.keys.map((key) => ({
      path: [...path, key],
      message: describeUnknown(key, known),
    }));
  }
  if (issue.code === 'invalid_union') {
    // If the outer type of an option matches, that option was meant, and the mistake is inside it.
    const meant = issue.errors.find((inner) => inner.every((one) => one.path.length > 0));
    if (meant) {
      return meant.flatMap((one) =>
        problemsIn({ ...one, path: [...issue.path, ...one.path] }, schema, root),
      );
    }
  }
  return [
    {
      path,
      message: `expected ${describeExpected(issue)}, got ${describeActual(valueAt(root, path), issue)}.`,
    },
  ];
}

/** The keys the schema allows at a path. */
function keysAt(schema: Schema, path: KeyPath): string[] {
  let here: Schema | undefined = schema;
  for (const key of path) here = here && stepInto(inside(here), key);
  const end = here && inside(here);
  return end instanceof z.ZodMiniObject ? Object.keys(end.def.shape) : [];
}

function stepInto(schema: Schema, key: string | number): Schema | undefined {
  if (schema instanceof z.ZodMiniRecord) return schema.def.valueType;
  if (schema instanceof z.ZodMiniObject) return schema.def.shape[key];
  return undefined;
}

function inside(schema: Schema): Schema {
  if (schema instanceof z.ZodMiniOptional) return inside(schema.def.innerType);
  if (!(schema instanceof z.ZodMiniUnion)) return schema;
  // Only one of the options has keys.
  return schema.def.options.find((form) => form instanceof z.ZodMiniObject) ?? schema;
}

function valueAt(root: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>((value, key) => {
    const member =
      typeof value === 'object' && value !== null
        ? Object.getOwnPropertyDescriptor(value, key)
        : undefined;
    return member?.value as unknown;
  }, root);
}
