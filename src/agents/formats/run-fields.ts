// What an agent may say about its run, as a table: the key in a file, the field it becomes, and what can be
// its value. A wrong value costs that field and nothing else.
import type { RunFields } from '../agent.ts';
import { describeValue } from './fields.ts';

interface Field {
  readonly field: keyof RunFields;
  readonly accepts: 'text' | 'word' | 'switch' | readonly string[];
}

const FIELDS = new Map<string, Field>([
  ['model', { field: 'model', accepts: 'text' }],
  ['model_provider', { field: 'modelProvider', accepts: 'text' }],
  [
    'approval_policy',
    { field: 'approvalPolicy', accepts: ['untrusted', 'on-failure', 'on-request', 'never'] },
  ],
  ['disable_response_storage', { field: 'disableResponseStorage', accepts: 'switch' }],
  ['model_reasoning_effort', { field: 'modelReasoningEffort', accepts: 'word' }],
  [
    'model_reasoning_summary',
    { field: 'modelReasoningSummary', accepts: ['auto', 'concise', 'detailed', 'none'] },
  ],
  ['model_verbosity', { field: 'modelVerbosity', accepts: ['low', 'medium', 'high'] }],
  ['chatgpt_base_url', { field: 'chatgptBaseUrl', accepts: 'text' }],
  [
    'sandbox_mode',
    { field: 'sandboxMode', accepts: ['read-only', 'workspace-write', 'danger-full-access'] },
  ],
  ['include_plan_tool', { field: 'includePlanTool', accepts: 'switch' }],
  ['include_apply_patch_tool', { field: 'includeApplyPatchTool', accepts: 'switch' }],
  ['include_view_image_tool', { field: 'includeViewImageTool', accepts: 'switch' }],
  ['tools_web_search_request', { field: 'toolsWebSearchRequest', accepts: 'switch' }],
]);

export const RUN_KEYS: readonly string[] = [...FIELDS.keys()];

/** The fields of a table; keys that are no such fields are passed over. `warn` is told of wrong values. */
export function runFieldsOf(
  table: Readonly<Record<string, unknown>>,
  warn: (key: string, says: string) => void,
): RunFields {
  const fields: Record<string, unknown> = {};
  for (const [key, { field, accepts }] of FIELDS) {
    const value = table[key];
    if (value === undefined) continue;
    if (isAccepted(value, accepts)) fields[field] = value;
    else
      warn(key, `expected ${describe(accepts)}, got ${describeWrong(value, accepts)}. Left out.`);
  }
  return fields; // each was checked against its row of the table
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
  if (accepts === 'text') return 'a text that is not empty';
  if (accepts === 'word') return 'one word';
  return accepts.map((one) => `"${one}"`).join(', ');
}

function describeWrong(value: unknown, accepts: Field['accepts']): string {
  const isHarmless = typeof value === 'string' && accepts !== 'text' && value.length <= 60;
  return isHarmless ? JSON.stringify(value) : describeValue(value);
}
