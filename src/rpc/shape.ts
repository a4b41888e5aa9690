// Counts how deep a JSON text nests and how many members it has, without parsing it. For a few megabytes of
// brackets, JSON.parse takes seconds and more than a gigabyte, and blocks everything else meanwhile.

/** Set by `limits` in the configuration. Members are array elements and object members. */
export interface ShapeLimits {
  readonly depth: number;
  readonly members: number;
}

/** A limit that a message exceeds. */
export interface ExceededLimit {
  readonly name: 'messageBytes' | 'depth' | 'members';
  readonly most: number;
}

/** The error for the sender of such a message. */
export function describeExceeded({ name, most }: ExceededLimit): string {
  const allowed = {
    messageBytes: `have at most ${most} bytes`,
    depth: `nest at most ${most} levels deep`,
    members: `have at most ${most} array elements and object members`,
  };
  return `A message may ${allowed[name]} (limits.${name}).`;
}

/** A placeholder for a value that exceeds a limit and wasn't parsed. */
export class TooComplex implements ExceededLimit {
  readonly name: 'depth' | 'members';
  readonly most: number;
  readonly bytes: number;
  /** The beginning and the end of the text. */
  readonly head: string;
  readonly tail: string;

  constructor(name: 'depth' | 'members', limits: ShapeLimits, json: Buffer) {
    this.name = name;
    this.most = limits[name];
    this.bytes = json.length;
    this.head = json.toString('utf8', 0, KEPT_BYTES);
    this.tail = json.toString('utf8', Math.max(0, json.length - KEPT_BYTES));
  }

  /** Whether "jsonrpc" appears near its beginning or end, as in a message. */
  get isMarked(): boolean {
    return this.head.includes('"jsonrpc"') || this.tail.includes('"jsonrpc"');
  }
}

const KEPT_BYTES = 4 * 1024;
/** Messages up to this size are not checked: they can't do much harm, and most are smaller. */
export const SMALL_BYTES = 64 * 1024;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const SPACE = 0x20;

/** Takes linear time and stops at the first limit that is exceeded. */
export function findExceeded(json: Buffer, limits: ShapeLimits): TooComplex | undefined {
  if (json.length <= SMALL_BYTES) return undefined;
  const name = exceededName(json, limits);
  return name && new TooComplex(name, limits, json);
}

/** Whether a text of any size exceeds a limit. */
export function exceedsShape(json: Buffer, limits: ShapeLimits): boolean {
  return exceededName(json, limits) !== undefined;
}

function exceededName(json: Buffer, limits: ShapeLimits): TooComplex['name'] | undefined {
  let depth = 0;
  let members = 0;
  for (let at = 0; at < json.length; at++) {
    const byte = json[at];
    if (byte === QUOTE) at = closingQuote(json, at + 1);
    else if (byte === COMMA) {
      if (++members > limits.members) return 'members';
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > limits.depth) return 'depth';
      // Its first member has no comma before it.
      if (!isEmpty(json, at) && ++members > limits.members) return 'members';
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
  }
  return undefined;
}

/** Beyond this many bytes, a native search for the end of a string is faster than a loop. */
const NEAR_BYTES = 256;

/** The closing quote of the string whose first character is at `start`. */
function closingQuote(json: Buffer, start: number): number {
  let at = start;
  while (at < json.length) {
    const near = Math.min(at + NEAR_BYTES, json.length);
    for (; at < near; at++) {
      if (json[at] === QUOTE) return at;
      if (json[at] === BACKSLASH) at += 1;
    }
    const quote = json.indexOf(QUOTE, at);
    if (quote === -1) break;
    if (!isEscaped(json, quote, at)) return quote;
    at = quote + 1;
  }
  return json.length;
}

function isEscaped(json: Buffer, quote: number, start: number): boolean {
  let before = quote - 1;
  while (before >= start && json[before] === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}

function isEmpty(json: Buffer, open: number): boolean {
  let next = open + 1;
  while ((json[next] ?? CLOSE_BRACE) <= SPACE) next += 1;
  return json[next] === CLOSE_BRACE || json[next] === CLOSE_BRACKET;
}
