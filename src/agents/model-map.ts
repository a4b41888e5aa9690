// From the model that a file names to one that the engine has: the table, with the user's file over it.
// A file that is wrong, or partly wrong, leaves the rest of the map in force.
import { join } from 'node:path';
import { readTextFile } from '../base/read-text.ts';
import type { AgentSettings } from '../config/config.ts';
import type { RunFields } from './agent.ts';
import { AgentFileError, createWarnings } from './formats/draft.ts';
import { COMMAS, listOf, textOf } from './formats/fields.ts';
import { isTable, readToml, type Toml } from './formats/toml.ts';
import { MODELS, type ModelEntry, PROVIDER_ALIASES } from './model-table.ts';

interface MapEntry extends Omit<ModelEntry, 'tokens'> {
  readonly isBuiltIn: boolean;
}

export interface ModelMap {
  /** By token, lower-case. */
  readonly models: ReadonlyMap<string, MapEntry>;
  /** By alias, lower-case. */
  readonly providers: ReadonlyMap<string, string>;
  /** What is wrong with the file: sentences that name it. */
  readonly warnings: readonly string[];
}

type MapSettings = Pick<
  AgentSettings,
  'modelMapEnable' | 'modelMapStrict' | 'modelMapOverrideProvider' | 'modelMapNormalizeProvider'
>;

/** The default place may well be empty; a file that was named must be there. */
export async function loadModelMap(file: string, project: string): Promise<ModelMap> {
  const read = readTextFile(file);
  if ('problem' in read) {
    const isNormal = read.isMissing && file === join(project, '.agents', 'model-map.toml');
    return createModelMap(
      [],
      {},
      isNormal ? [] : [`${file}: ${read.problem} The built-in map holds.`],
    );
  }
  try {
    return readMap(await readToml(read.text), file);
  } catch (error) {
    if (!(error instanceof AgentFileError)) throw error;
    return createModelMap([], {}, [`${file}:${error.message} The built-in map holds.`]);
  }
}

function readMap({ table, lineOf }: Toml, file: string): ModelMap {
  const { list: warnings, add } = createWarnings();
  const warn = (key: string, says: string) => add(() => `${file}:${lineOf(key)}: ${says}`);
  const given = table['mappings'] ?? [];
  if (!Array.isArray(given)) warn('mappings', 'mappings: expected [[mappings]]. Left out.');
  const entries = (Array.isArray(given) ? given : []).flatMap((entry: unknown, index) => {
    const row = isTable(entry) ? entry : {};
    const token = textOf(row['token']);
    const model = textOf(row['to_model']);
    if (token === undefined || model === undefined) {
      warn('mappings', `mappings[${index}]: it needs a token and a to_model. Left out.`);
      return [];
    }
    const tokens = [token, ...listOf(row['aliases'], COMMAS)];
    return [{ tokens, model, provider: textOf(row['to_provider']) }];
  });
  const aliases = table['provider_aliases'] ?? {};
  if (!isTable(aliases)) warn('provider_aliases', 'provider_aliases: expected a table. Left out.');
  return createModelMap(entries, isTable(aliases) ? aliases : {}, warnings);
}

function createModelMap(
  entries: readonly ModelEntry[],
  aliases: Readonly<Record<string, unknown>>,
  warnings: readonly string[],
): ModelMap {
  const rows = [...MODELS, ...entries].flatMap(({ tokens, model, provider }, index) =>
    tokens.map((token) => {
      const isBuiltIn = index < MODELS.length;
      return [keyOf(token), { model, provider, isBuiltIn }] as const;
    }),
  );
  const providers = [...Object.entries(PROVIDER_ALIASES), ...Object.entries(aliases)].flatMap(
    ([alias, name]) => {
      const provider = textOf(name);
      return provider === undefined ? [] : [[keyOf(alias), provider] as const];
    },
  );
  return { models: new Map(rows), providers: new Map(providers), warnings };
}

/** However people space and capitalise it. */
function keyOf(token: string): string {
  return token.trim().split(/\s+/).join(' ').toLowerCase();
}

export interface MappedModel {
  readonly run: RunFields;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

/** `usersProvider` is named in the user's Codex configuration: the built-in map never overrides it. */
export function mapModel(
  run: RunFields,
  map: ModelMap,
  settings: MapSettings,
  usersProvider: string | undefined,
): MappedModel {
  if (!settings.modelMapEnable) return { run, warnings: [] };
  const given =
    run.modelProvider !== undefined && settings.modelMapNormalizeProvider
      ? (map.providers.get(keyOf(run.modelProvider)) ?? run.modelProvider)
      : run.modelProvider;
  const entry = run.model === undefined ? undefined : map.models.get(keyOf(run.model));
  const isFree = given === undefined || settings.modelMapOverrideProvider;
  const isUsers = isFree && entry?.isBuiltIn === true && usersProvider !== undefined;
  const mapped = isFree ? (entry?.provider ?? given) : given;
  const provider = isUsers ? undefined : mapped;
  const model = entry?.model ?? run.model;
  const { modelProvider: _given, ...rest } = run;
  return {
    run: {
      ...rest,
      ...(model !== undefined && { model }),
      ...(provider !== undefined && { modelProvider: provider }),
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
    const says = `model: "${token}" is not in the model map, and is left as it is.`;
    return modelMapStrict ? [says] : [];
  }
  // A model that keeps its name may well be had from whoever the file names.
  if (entry.model === token) return [];
  if (provider === undefined || entry.provider === undefined) return [];
  if (entry.provider === provider) return [];
  return [
    `model: "${token}" means "${entry.model}" of ${entry.provider}, but the file asks for the provider ${provider}. ` +
      'Leave the provider out, or set AGENTS_MODEL_MAP_OVERRIDE_PROVIDER.',
  ];
}
