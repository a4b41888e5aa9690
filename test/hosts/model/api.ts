// The conversation between a host and its model, independent of the API the host uses.
import type { ServerResponse } from 'node:http';
import type { ModelAnswer } from '../../support/model-server.ts';

export type Json = Record<string, unknown>;

/** One request from the host: what should happen next? */
export interface Turn {
  readonly tools: readonly OfferedTool[];
  /** The result of the last tool call; undefined in the first request. */
  readonly result: ToolResult | undefined;
}

export interface OfferedTool {
  readonly name: string;
  /** The model sees only the name until it searches for the tool. */
  readonly isDeferred: boolean;
}

export interface ToolResult {
  readonly text: string;
  readonly images: readonly Image[];
  /** Undefined if the API doesn't say. */
  readonly isError: boolean | undefined;
}

export interface Image {
  readonly mimeType: string;
  readonly data: string;
}

export type Answer = Extract<ModelAnswer, { kind: 'says' | 'calls' | 'searches' }>;

export interface ModelApi {
  /** Undefined for a request outside the conversation, such as one for a title. */
  read(body: Json, path: string): Turn | undefined;
  write(response: ServerResponse, answer: Answer, number: number): void;
}

/** The parts of a message's content. */
export function parts(content: unknown): Json[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? (content as Json[]) : [];
}

/** All text, and the names of tools that a search found. */
export function textOf(content: unknown): string {
  const texts = parts(content).map(({ text, tool_name: found }) => text ?? found);
  return texts.filter((text) => typeof text === 'string').join('\n');
}

/** An image given as a `data:` URL. */
export function imageOf(url: unknown): Image[] {
  const [, mimeType, data] = /^data:([^;,]+);base64,(.*)$/s.exec(String(url)) ?? [];
  return mimeType === undefined || data === undefined ? [] : [{ mimeType, data }];
}

export function sendEvents(response: ServerResponse, events: readonly Json[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const { type } = event;
    const name = typeof type === 'string' ? `event: ${type}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}
