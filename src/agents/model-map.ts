// Maps the model named in an agent file to one the engine has: the engine's table, overridden by the
// user's file. Mistakes in that file don't affect the rest of the map.
import { basename, join } from 'node:path';
import { readTextFile } from '../base/read-text.ts';
import type { AgentSettings } from '../config/config.ts';
import type { Gate } from '../config/files/gate.ts';
import type { RunFields } from './agent.ts';
import type { ModelEntry, ModelTable } from './engine.ts';
import { AgentFileError, createWarnings } from './formats/draft.ts';
import { COMMAS, listOf, textOf } from './formats/fields.ts';
import { isTable, readToml, type Toml } from './formats/toml.ts';
import { readApproved } from './gated.ts';

interface MapEntry extends Omit<ModelEntry, 'tokens'> {
  readonly isBuiltIn: boolean;
}

export interface ModelMap {
  /** By lower-case token. */
  readonly models: ReadonlyMap<string, MapEntry>;
  /** By lower-case alias. */
  readonly providers: ReadonlyMap<string, string>;
  /** Problems with the file: sentences that name it. */
  readonly warnings: readonly string[];
}

type MapSettings = Pick<
  AgentSettings,
  'modelMapStrict' | 'modelMapOverrideProvider' | 'modelMapNormalizeProvider'
>;

/** The default file is optional; a configured one must exist. */
export async function loadModelMap(
  file: string,
  project: string,
  table: ModelTable,
  gate?: Gate,
): Promise<ModelMap> {
  const builtIn = (...warnings: string[]) => createModelMap(table, [], {}, warnings);
  const read = gate
    ? await readApproved('model-map', basename(file), file, gate)
    : readTextFile(file);
  if (read === 'waiting') {
    return builtIn(`${file}: It needs your approval. Using the built-in map.`);
  }
  if ('problem' in read) {
    const isNormal = read.isMissing && file === join(project, '.agents', 'model-map.toml');
    return isNormal ? builtIn() : builtIn(`${file}: ${read.problem} Using the built-in map.`);
  }
  try {
    const isProjects = 'origin' in read && read.origin !== undefined;
    return readMap(await readToml(read.text), file, table, isProjects);
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    return builtIn(`${file}:${error.message} Using the built-in map.`);
  }
}

/** A project's file may map models, but the provider is the user's decision. */
function readMap(
  { table, lineOf }: Toml,
  file: string,
  builtIn: ModelTable,
  isProjects: boolean,
): ModelMap {
  const { list: warnings, add } = createWarnings();
  const warn = (key: string, says: string) => add(() => `${file}:${lineOf(key)}: ${says}`);
  const given = table['mappings'] ?? [];
  if (!Array.isArray(given)) warn('mappings', 'mappings: expected [[mappings]]. Ignored.');
  const entries = (Array.isArray(given) ? given : []).flatMap((entry: unknown, index) => {
    const row = isTable(entry) ? entry : {};
    const token = textOf(row['token']);
    const model = textOf(row['to_model']);
    if (token === undefined || model === undefined) {
      warn('mappings', `mappings[${index}]: token and to_model are required. Ignored.`);
      return [];
    }
    const tokens = [token, ...listOf(row['aliases'], COMMAS)];
    const provider = textOf(row['to_provider']);
    if (!isProjects) return [{ tokens, model, provider }];
    if (provider !== undefined && provider !== builtIn.defaultProvider) {
      warn('mappings', `mappings[${index}]: to_provider ${NOT_HERE}`);
    }
    return [{ tokens, model, provider: undefined }];
  });
  const aliases = table['provider_aliases'] ?? {};
  if (!isTable(aliases)) warn('provider_aliases', 'provider_aliases: expected a table. Ignored.');
  const isIgnored = isProjects && isTable(aliases) && Object.keys(aliases).length > 0;
  if (isIgnored) warn('provider_aliases', `provider_aliases ${NOT_HERE}`);
  const used = isTable(aliases) && !isProjects ? aliases : {};
  return createModelMap(builtIn, entries, used, warnings);
}

const NOT_HERE =
  "is ignored in a project's file. To choose a provider, set AGENTS_MODEL_MAP_FILE to a file of your own.";

function createModelMap(
  { models, providerAliases }: ModelTable,
  entries: readonly ModelEntry[],
  aliases: Readonly<Record<string, unknown>>,
  warnings: readonly string[],
): ModelMap {
  const rows = [...models, ...entries].flatMap(({ tokens, model, provider }, index) =>
    tokens.map((token) => {
      const isBuiltIn = index < models.length;
      return [keyOf(token), { model, provider, isBuiltIn }] as const;
    }),
  );
  const providers = [...Object.entries(providerAliases), ...Object.entries(aliases)].flatMap(
    ([alias, name]) => {
      const provider = textOf(name);
      return provider === undefined ? [] : [[keyOf(alias), provider] as const];
    },
  );
  return { models: new Map(rows), providers: new Map(providers), warnings };
}

/** Ignores spacing and case. */
function keyOf(token: string): string {
  return token.trim().split(/\s+/).join(' ').toLowerCase();
}

export interface MappedModel {
  readonly run: RunFields;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

/** The built-in map never overrides `usersProvider`, which the engine's own configuration names. */
export function mapModel(
  run: RunFields,
  map: ModelMap,
  settings: MapSettings,
  usersProvider: string | undefined,
): MappedModel {
  const given =
    run.provider !== undefined && settings.modelMapNormalizeProvider
      ? (map.providers.get(keyOf(run.provider)) ?? run.provider)
      : run.provider;
  const entry = run.model === undefined ? undefined : map.models.get(keyOf(run.model));
  const isFree = given === undefined || settings.modelMapOverrideProvider;
  const isUsers = isFree && entry?.isBuiltIn === true && usersProvider !== undefined;
  const mapped = isFree ? (entry?.provider ?? given) : given;
  const provider = isUsers ? undefined : mapped;
  const model = entry?.model ?? run.model;
  const { provider: _given, ...rest } = run;
  return {
    run: {
      ...rest,
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { provider }),
    },
    warnings: warningsAbout(run.model, entry, provider, settings),
  };
}

function warningsAbout(
  token: string | undefined,
  entry: MapEntry | undefined,
  provider: string | undefined,
  { modelMapStrict }: MapSettings,
): string[] {
  if (token === undefined) return [];
  if (!entry) {
    const warning = `model: "${token}" is not in the model map; it is passed to the engine unchanged.`;
    return modelMapStrict ? [warning] : [];
  }
  // Any provider may offer a model under its own name.
  if (entry.model === token) return [];
  if (provider === undefined || entry.provider === undefined) return [];
  if (entry.provider === provider) return [];
  return [
    `model: "${token}" maps to "${entry.model}" from ${entry.provider}, but the file names the provider ${provider}. ` +
      'Remove the provider, or set AGENTS_MODEL_MAP_OVERRIDE_PROVIDER.',
  ];
}
