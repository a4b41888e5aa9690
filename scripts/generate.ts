// Generates files from the sources: switchboard.config.schema.json, a version without descriptions for the program
// itself, the marked parts of docs/configuration.md, docs/agents.md, docs/logging.md and docs/hosts.md, docs/cli.md
// and docs/matrix.md. With --check it writes nothing and fails if one of them is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod/mini';
import type { JsonSchema } from '../src/config/schema/fits.ts';
import {
  childFileSchema,
  configSchema,
  serverSchema,
  suiteSchema,
} from '../src/config/schema/schema.ts';
import { formatCliReference } from './cli-reference.ts';
import { formatHosts } from './hosts-doc.ts';
import { formatMatrix } from './matrix-doc.ts';
import { formatAgentSettings, formatLogSettings } from './settings-doc.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Each generated file of the project, with its content. */
export function generateFiles(): Map<string, string> {
  return new Map([
    ['switchboard.config.schema.json', `${JSON.stringify(formatSchema(), null, 2)}\n`],
    ['src/config/schema/shape.json', `${JSON.stringify(withoutWords(formatSchema()))}\n`],
    ['docs/configuration.md', fillIn('docs/configuration.md', { reference: formatReference() })],
    ['docs/agents.md', fillIn('docs/agents.md', { agents: formatAgentSettings() })],
    ['docs/logging.md', fillIn('docs/logging.md', { log: formatLogSettings() })],
    ['docs/hosts.md', fillIn('docs/hosts.md', { tested: formatHosts() })],
    ['docs/cli.md', formatCliReference()],
    ['docs/matrix.md', formatMatrix()],
  ]);
}

export function findStale(): string[] {
  return [...generateFiles()].flatMap(([file, content]) =>
    readOrNothing(join(ROOT, file)) === content ? [] : [file],
  );
}

function formatSchema(): object {
  const { $schema, ...rest } = z.toJSONSchema(configSchema);
  const { $schema: _unused, ...childFile } = z.toJSONSchema(childFileSchema);
  return {
    $schema,
    title: 'Switchboard configuration',
    description: 'switchboard.config.json of a project or a user. See docs/configuration.md.',
    ...rest,
    $defs: { childFile: { title: 'Switchboard child file', ...childFile } },
  };
}

/** The schema that every start validates with. The descriptions would be most of its size. */
function withoutWords(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutWords);
  if (typeof schema !== 'object' || schema === null) return schema;
  const isWord = ([key, value]: [string, unknown]): boolean =>
    ['description', 'title', 'default'].includes(key) && !isSchema(value);
  const entries = Object.entries(schema).filter((entry) => !isWord(entry));
  return Object.fromEntries(entries.map(([key, value]) => [key, withoutWords(value)]));
}

/** A key of the configuration may have that name, too. */
function isSchema(value: unknown): boolean {
  return typeof value === 'object' && value !== null && ('type' in value || 'anyOf' in value);
}

function formatReference(): string {
  const suiteKeys = schemaOf(suiteSchema);
  const entryKeys = without(schemaOf(serverSchema), suiteKeys);
  const fileKeys = without(without(schemaOf(childFileSchema), suiteKeys), entryKeys);
  return [
    '### Top level',
    formatTable(withoutAgentSettings(schemaOf(configSchema))),
    '### Server entries and `suites.<name>`',
    formatTable(suiteKeys),
    '### Server entries only',
    formatTable(entryKeys),
    '### Child files only',
    formatTable(fileKeys),
  ].join('\n\n');
}

/** docs/agents.md lists the settings for agents. */
function withoutAgentSettings(schema: JsonSchema): JsonSchema {
  const agents = { ...schema.properties?.['agents'], properties: {} };
  return { ...schema, properties: { ...schema.properties, agents } };
}

function schemaOf(schema: z.core.$ZodType): JsonSchema {
  const plain: JsonSchema = JSON.parse(JSON.stringify(z.toJSONSchema(schema)));
  return plain;
}

function without(schema: JsonSchema, known: JsonSchema): JsonSchema {
  const rest = Object.entries(schema.properties ?? {}).filter(
    ([key]) => !Object.hasOwn(known.properties ?? {}, key),
  );
  return { ...schema, properties: Object.fromEntries(rest) };
}

function formatTable(schema: JsonSchema): string {
  const rows = rowsOf(schema, '').map((cells) => `| ${cells.join(' | ')} |`);
  return ['| key | value | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

function rowsOf(schema: JsonSchema, prefix: string): string[][] {
  const rows: string[][] = [];
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const key = `${prefix}${name}`;
    const standard =
      property.default === undefined ? '' : `\`${JSON.stringify(property.default)}\``;
    // The keys of an object say more than the object itself.
    const isGroup = Object.keys(property.properties ?? {}).length > 0;
    if (!isGroup)
      rows.push([`\`${key}\``, formatType(property), standard, property.description ?? '']);
    // Only one of the forms has keys.
    const form = property.anyOf?.find(({ properties }) => properties) ?? property;
    rows.push(...rowsOf(form, `${key}.`), ...rowsOf(property.items ?? {}, `${key}[].`));
  }
  return rows;
}

function formatType(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.anyOf) return schema.anyOf.map(formatType).join(' or ');
  if (schema.type === 'array') return `${formatType(schema.items ?? {})}[]`;
  if (schema.type === 'integer') return `integer${formatRange(schema)}`;
  return String(schema.type);
}

function formatRange({ minimum, maximum }: JsonSchema): string {
  return maximum === undefined || maximum === Number.MAX_SAFE_INTEGER
    ? ` ≥ ${minimum}`
    : `, ${minimum}–${maximum}`;
}

/** A page with each content between `<!-- name: … -->` and `<!-- end of name -->`. */
function fillIn(page: string, contents: Readonly<Record<string, string>>): string {
  let text = readFileSync(join(ROOT, page), 'utf8');
  for (const [name, content] of Object.entries(contents)) {
    const place = new RegExp(`(<!-- ${name}: [^\n]* -->\n).*?(<!-- end of ${name} -->)`, 's');
    if (!place.test(text)) throw new Error(`${page} lacks a place for "${name}".`);
    text = text.replace(place, (_, begin: string, end: string) => `${begin}\n${content}\n\n${end}`);
  }
  return text;
}

function readOrNothing(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    // Missing, so it's out of date.
    return undefined;
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv.includes('--check')) {
    const stale = findStale();
    for (const file of stale) console.error(`${file} is stale. Run "npm run generate".`);
    process.exitCode = stale.length > 0 ? 1 : 0;
  } else {
    for (const [file, content] of generateFiles()) writeFileSync(join(ROOT, file), content);
  }
}
