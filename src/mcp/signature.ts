// Formats a tool and its parameters on one line, in TypeScript's notation:
// `create_issue(title: string, labels?: string[], state?: "open" | "closed" = "open")`. Anything left out for
// length is marked with "…".
import { escapeHidden } from '../base/text.ts';
import { type Member, type ObjectType, type Type, typeOfSchema } from './schema-type.ts';
import type { Tool } from './tools.ts';

/** Longer signatures lose deeply nested parts first, then optional parameters. */
const LONGEST = 4_000;
const DEPTHS = [Infinity, 3, 2, 1, 0];
/** Characters of enum values; the rest are counted. */
const LONGEST_ENUM = 160;
const LONGEST_DEFAULT = 160;

export function signatureOf({ name, inputSchema }: Tool): string {
  return `${formatName(name)}(${formatParameters(typeOfSchema(inputSchema))})`;
}

function formatParameters(type: Type): string {
  for (const depth of DEPTHS) {
    const text = formatRoot(type, depth);
    if (text.length <= LONGEST) return text;
  }
  return type.kind === 'object' ? shorten(formatMembers(type, 0)) : '…';
}

/** Arguments are always an object, so its braces are left out. */
function formatRoot(type: Type, depth: number): string {
  if (type.kind === 'object') return formatMembers(type, depth).join(', ');
  return type.kind === 'union' || type.kind === 'all' ? formatType(type, depth) : '';
}

function shorten(members: readonly string[]): string {
  let size = 0;
  const fitting = members.filter((text) => (size += text.length + 2) <= LONGEST);
  return [...fitting, `… ${members.length - fitting.length} more`].join(', ');
}

/** Formats a type with `depth` levels of nested objects. */
export function formatType(type: Type, depth = 1): string {
  switch (type.kind) {
    case 'any':
    case 'never':
      return type.kind;
    case 'cut':
      return '…';
    case 'plain':
      return type.name;
    case 'literals':
      return formatLiterals(type.values);
    case 'array':
      return `${formatOperand(type.items, depth)}[]`;
    case 'tuple': {
      const items = type.items.map((item) => formatType(item, depth));
      const rest = type.rest ? [`...${formatOperand(type.rest, depth)}[]`] : [];
      return `[${[...items, ...rest].join(', ')}]`;
    }
    case 'object':
      return formatObject(type, depth);
    case 'union':
      return joinOnce(
        type.of.map((one) => formatOperand(one, depth, 'union')),
        ' | ',
      );
    case 'all':
      return joinOnce(
        type.of.map((one) => formatOperand(one, depth)),
        ' & ',
      );
  }
}

/** Types that look the same at this depth are shown once. */
function joinOnce(texts: readonly string[], operator: string): string {
  return [...new Set(texts)].join(operator);
}

/** Adds parentheses where TypeScript needs them. */
function formatOperand(type: Type, depth: number, inside?: 'union'): string {
  const text = formatType(type, depth);
  const isCompound =
    type.kind === 'union' ||
    type.kind === 'all' ||
    (type.kind === 'literals' && type.values.length > 1);
  return isCompound && inside !== 'union' ? `(${text})` : text;
}

function formatObject(type: ObjectType, depth: number): string {
  if (type.members.length === 0 && type.others === undefined) return 'object';
  return depth === 0 ? '{…}' : `{${formatMembers(type, depth - 1).join(', ')}}`;
}

function formatMembers({ members, others }: ObjectType, depth: number): string[] {
  const named = members.map((member) => formatMember(member, depth));
  return others === undefined ? named : [...named, `[key]: ${formatType(others, depth)}`];
}

function formatMember({ name, type, isRequired, default: initial }: Member, depth: number): string {
  const value = initial === undefined ? '' : ` = ${formatDefault(initial)}`;
  return `${formatName(name)}${isRequired ? '' : '?'}: ${formatType(type, depth)}${value}`;
}

function formatLiterals(values: readonly unknown[]): string {
  let size = 0;
  const texts = values.map(formatJson);
  const cut = texts.findIndex((text) => (size += text.length) > LONGEST_ENUM);
  if (cut < 0) return texts.join(' | ');
  return [...texts.slice(0, cut), `… ${texts.length - cut} more`].join(' | ');
}

function formatDefault(value: unknown): string {
  const text = formatJson(value);
  return text.length > LONGEST_DEFAULT ? '…' : text;
}

function formatJson(value: unknown): string {
  return escapeHidden(JSON.stringify(value));
}

/** Quoted if it could be misread. */
function formatName(name: string): string {
  return /^[\p{L}\p{N}_$][\p{L}\p{N}_$.@/-]*$/u.test(name) ? name : formatJson(name);
}
