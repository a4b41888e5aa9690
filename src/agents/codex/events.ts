// Turns Codex's notifications into progress for people.
import { isObject } from '../../base/object.ts';
import type { Mask } from '../../base/secrets.ts';
import { cleanText, excerpt } from '../../base/text.ts';
import type { EngineEvent } from '../engine.ts';
import { commandOf } from './shell-words.ts';
import { visible } from './visible.ts';

const LONGEST = 300;
/** Chunks come in any size. */
const LONGEST_PIECE = 16_384;

/** Undefined for notifications we don't report. */
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
      return { kind: 'text', text: cleanText(stringOf(params['delta'])).slice(0, LONGEST_PIECE) };
    case 'item/completed':
      return describeMessage(params['item']);
    case 'error':
      return describeRetry(params, mask);
    case 'warning':
      return warning(params['message'], mask);
    case 'mcpServer/startupStatus/updated':
      return params['status'] === 'failed'
        ? warning(
            `server ${stringOf(params['name'])} did not start: ${stringOf(params['error'])}`,
            mask,
          )
        : undefined;
    default:
      return undefined;
  }
}

function describeStep(item: unknown, mask: Mask): EngineEvent | undefined {
  if (!isObject(item)) return undefined;
  const words = stepWords(item);
  return words === undefined ? undefined : { kind: 'step', text: excerpt(words, LONGEST, mask) };
}

function stepWords(item: Record<string, unknown>): string | undefined {
  switch (item['type']) {
    case 'commandExecution':
      return `running: ${visible(commandOf(item['command']))}`;
    case 'fileChange':
      return `editing ${changedFiles(item['changes'])}`;
    case 'mcpToolCall':
      return `calling ${stringOf(item['server'])}.${stringOf(item['tool'])}`;
    case 'dynamicToolCall':
      return `calling ${stringOf(item['tool'])}`;
    case 'webSearch': {
      const query = stringOf(item['query']);
      return query === '' ? 'searching the web' : `searching the web for ${query}`;
    }
    case 'imageView':
      return `viewing ${stringOf(item['path'])}`;
    case 'plan':
      return 'planning';
    case 'contextCompaction':
      return 'compacting the conversation';
    default:
      return undefined;
  }
}

function changedFiles(changes: unknown): string {
  const files = Array.isArray(changes) ? changes.filter(isObject) : [];
  return files.map(({ path }) => visible(stringOf(path))).join(', ') || 'files';
}

function describeMessage(item: unknown): EngineEvent | undefined {
  if (!isObject(item) || item['type'] !== 'agentMessage') return undefined;
  return { kind: 'message', text: cleanText(stringOf(item['text']).slice(0, LONGEST_PIECE)) };
}

/** The final error is the result; the earlier ones explain the delay. */
function describeRetry(params: Record<string, unknown>, mask: Mask): EngineEvent | undefined {
  const { error, willRetry } = params;
  if (willRetry !== true || !isObject(error)) return undefined;
  const details = stringOf(error['additionalDetails']);
  return warning(`${stringOf(error['message'])}${details === '' ? '' : ` (${details})`}`, mask);
}

function warning(text: unknown, mask: Mask): EngineEvent | undefined {
  const words = excerpt(stringOf(text), LONGEST, mask);
  return words === '' ? undefined : { kind: 'warning', text: words };
}

export function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
