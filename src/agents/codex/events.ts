// What the engine tells of a run, in words for people who watch it.
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { cleanText, excerpt } from '../../base/text.ts';
import type { EngineEvent } from '../engine.ts';
import { commandOf } from './shell-words.ts';
import { visible } from './visible.ts';

const LONGEST = 300;
/** Pieces of what the agent says come in any size. */
const LONGEST_PIECE = 16_384;

/** Undefined for what nobody needs to know. */
export function describeNotification(
  method: string,
  params: unknown,
  mask: Mask,
): EngineEvent | undefined {
  if (!isObject(params)) return undefined;
  switch (method) {
    case 'item/started':
      return describeStep(params['item'], mask);
    case 'item/agentMessage/delta':
      return { kind: 'text', text: cleanText(textOf(params['delta'])).slice(0, LONGEST_PIECE) };
    case 'item/completed':
      return describeMessage(params['item']);
    case 'error':
      return describeRetry(params, mask);
    case 'warning':
      return warning(params['message'], mask);
    case 'mcpServer/startupStatus/updated':
      return params['status'] === 'failed'
        ? warning(
            `server ${textOf(params['name'])} did not start: ${textOf(params['error'])}`,
            mask,
          )
        : undefined;
    default:
      return undefined;
  }
}

/** What the agent begins to do. */
function describeStep(item: unknown, mask: Mask): EngineEvent | undefined {
  if (!isObject(item)) return undefined;
  const words = stepWords(item);
  return words === undefined ? undefined : { kind: 'step', text: excerpt(words, LONGEST, mask) };
}

function stepWords(item: Record<string, unknown>): string | undefined {
  switch (item['type']) {
    case 'commandExecution':
      return `runs: ${visible(commandOf(item['command']))}`;
    case 'fileChange':
      return `changes ${changedFiles(item['changes'])}`;
    case 'mcpToolCall':
      return `calls ${textOf(item['server'])}.${textOf(item['tool'])}`;
    case 'dynamicToolCall':
      return `calls ${textOf(item['tool'])}`;
    case 'webSearch': {
      const query = textOf(item['query']);
      return query === '' ? 'searches the web' : `searches the web for ${query}`;
    }
    case 'imageView':
      return `looks at ${textOf(item['path'])}`;
    case 'plan':
      return 'makes a plan';
    case 'contextCompaction':
      return 'sums up what was said so far';
    default:
      return undefined;
  }
}

/** The files that a patch is about, each of them. */
function changedFiles(changes: unknown): string {
  const files = Array.isArray(changes) ? changes.filter(isObject) : [];
  return files.map(({ path }) => visible(textOf(path))).join(', ') || 'files';
}

function describeMessage(item: unknown): EngineEvent | undefined {
  if (!isObject(item) || item['type'] !== 'agentMessage') return undefined;
  return { kind: 'message', text: cleanText(textOf(item['text']).slice(0, LONGEST_PIECE)) };
}

/** The last error is the result; those before it are why it takes so long. */
function describeRetry(params: Record<string, unknown>, mask: Mask): EngineEvent | undefined {
  const { error, willRetry } = params;
  if (willRetry !== true || !isObject(error)) return undefined;
  const details = textOf(error['additionalDetails']);
  return warning(`${textOf(error['message'])}${details === '' ? '' : ` (${details})`}`, mask);
}

function warning(text: unknown, mask: Mask): EngineEvent | undefined {
  const words = excerpt(textOf(text), LONGEST, mask);
  return words === '' ? undefined : { kind: 'warning', text: words };
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
