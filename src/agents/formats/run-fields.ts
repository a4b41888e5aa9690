// The `[run]` keys of an agent file: the field each one sets, and the values it accepts. A wrong value affects only
// its own field.
import { BUILTIN_TOOLS, type Builtins, type BuiltinTool, type RunFields } from '../agent.ts';
import { describeValue } from './fields.ts';

interface Field {
  readonly field: Exclude<keyof RunFields, 'builtins'> | BuiltinTool;
  readonly accepts: 'text' | 'word' | 'switch' | readonly string[];
}

const FIELDS = new Map<string, Field>([
  ['model', { field: 'model', accepts: 'text' }],
  ['model_provider', { field: 'provider', accepts: 'text' }],
  [
    'approval_policy',
    { field: 'approvals', accepts: ['untrusted', 'on-failure', 'on-request', 'never'] },
  ],
  ['disable_response_storage', { field: 'disableStorage', accepts: 'switch' }],
  ['model_reasoning_effort', { field: 'effort', accepts: 'word' }],
  [
    'model_reasoning_summary',
    { field: 'summary', accepts: ['auto', 'concise', 'detailed', 'none'] },
  ],
  ['model_verbosity', { field: 'verbosity', accepts: ['low', 'medium', 'high'] }],
  ['chatgpt_base_url', { field: 'baseUrl', accepts: 'text' }],
  [
    'sandbox_mode',
    { field: 'sandbox', accepts: ['read-only', 'workspace-write', 'danger-full-access'] },
  ],
  ['include_plan_tool', { field: 'plan', accepts: 'switch' }],
  ['include_apply_patch_tool', { field: 'apply_patch', accepts: 'switch' }],
  ['include_view_image_tool', { field: 'view_image', accepts: 'switch' }],
  ['tools_web_search_request', { field: 'web_search', accepts: 'switch' }],
]);

export const RUN_KEYS: readonly string[] = [...FIELDS.keys()];

/** Reads the run fields of a table and ignores its other keys. `warn` gets wrong values. */
export function runFieldsOf(
  table: Readonly<Record<string, unknown>>,
  warn: (key: string, problem: string) => void,
): RunFields {
  const fields: Record<string, unknown> = {};
  const builtins: Record<string, unknown> = {};
  for (const [key, { field, accepts }] of FIELDS) {
    const value = table[key];
    if (value === undefined) continue;
    if (isAccepted(value, accepts)) (isBuiltin(field) ? builtins : fields)[field] = value;
    else warn(key, `expected ${describe(accepts)}, got ${describeWrong(value, accepts)}. Ignored.`);
  }
  return withBuiltins(fields, builtins); // each value was checked against its row of the table
}

/** Adds built-in tools that `run` itself doesn't mention. */
export function withBuiltins(run: RunFields, more: Builtins): RunFields {
  const builtins = { ...more, ...run.builtins };
  return Object.keys(builtins).length === 0 ? run : { ...run, builtins };
}

/** The fields under the names of their keys, in camel case: the form `--json` prints. */
export function formatRunFields(run: RunFields): Record<string, unknown> {
  const values = [...FIELDS].map(([key, { field }]) => [
    key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    isBuiltin(field) ? run.builtins?.[field] : run[field],
  ]);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined));
}

function isBuiltin(field: Field['field']): field is BuiltinTool {
  return BUILTIN_TOOLS.some((tool) => tool === field);
}

function isAccepted(value: unknown, accepts: Field['accepts']): boolean {
  if (accepts === 'switch') return typeof value === 'boolean';
  if (typeof value !== 'string') return false;
  if (accepts === 'text') return value.trim() !== '';
  if (accepts === 'word') return /^[A-Za-z][\w-]*$/.test(value);
  return accepts.includes(value);
}

function describe(accepts: Field['accepts']): string {
  if (accepts === 'switch') return 'true or false';
  if (accepts === 'text') return 'a non-empty string';
  if (accepts === 'word') return 'one word';
  return accepts.map((one) => `"${one}"`).join(', ');
}

function describeWrong(value: unknown, accepts: Field['accepts']): string {
  const isHarmless = typeof value === 'string' && accepts !== 'text' && value.length <= 60;
  return isHarmless ? JSON.stringify(value) : describeValue(value);
}
