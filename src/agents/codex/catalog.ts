// Codex's model catalog decides which models get apply_patch and a verbosity; there's no other switch for either.
// So an agent that sets one gets its own catalog, derived from the one Codex would use.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomically } from '../../base/atomic-file.ts';
import type { Cancellation } from '../../base/cancellation.ts';
import { shortDigest } from '../../base/digest.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject } from '../../base/object.ts';
import { readTextFile } from '../../base/read-text.ts';
import { outputOf } from './output-of.ts';
import { readUserConfig } from './user-config.ts';

export interface CatalogOptions {
  readonly binary: string;
  readonly env: NodeJS.ProcessEnv;
  /** The cache: creating a catalog takes longer than all our other work in a run. */
  readonly folder: string;
  /** The user's own catalog, which replaces Codex's. */
  readonly usersCatalog: string | undefined;
  /** Undefined to leave it unchanged. */
  readonly applyPatch: boolean | undefined;
  /** Whether the agent sets a verbosity. */
  readonly hasVerbosity: boolean;
  /** Undefined for Codex's default. */
  readonly model: string | undefined;
  readonly cancellation?: Cancellation | undefined;
  readonly onProcess: (pid: number) => void;
}

export interface ModelCatalog {
  /** The catalog to use; undefined for Codex's default. */
  readonly file: string | undefined;
  readonly warning: string | undefined;
}

/** An entry. Members we don't recognize stay unchanged. */
interface Model extends Record<string, unknown> {
  readonly slug: string;
}

const UNCHANGED: ModelCatalog = { file: undefined, warning: undefined };
/** Several times the size of Codex's own catalog. */
const MOST_BYTES = 16 << 20;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Rejects only if cancelled. */
export async function prepareCatalog(options: CatalogOptions): Promise<ModelCatalog> {
  try {
    return await makeCatalog(options);
  } catch (error) {
    options.cancellation?.throwIfCancelled();
    const what = options.applyPatch === undefined ? 'model_verbosity' : 'apply_patch';
    const state = options.applyPatch === false ? 'off' : 'on';
    const warning = `${what} could not be turned ${state}: ${(error as Error).message}.`;
    return { file: undefined, warning };
  }
}

async function makeCatalog(options: CatalogOptions): Promise<ModelCatalog> {
  const { model, applyPatch, hasVerbosity } = options;
  const usual = () => (applyPatch === false ? withoutPatch(options) : UNCHANGED);
  // Codex's default model has both.
  if (model === undefined || (applyPatch !== true && !hasVerbosity)) return usual();
  const models = await readModels(options);
  const known = models.find(({ slug }) => slug === model);
  if (!known)
    return withEntry(inventEntry(model, models, options), models, options, unknownModel(model));
  const isMute = hasVerbosity && known['support_verbosity'] !== true;
  const warning = isMute ? `Codex does not send model_verbosity to the model ${model}.` : undefined;
  const lacksPatch = applyPatch === true && typeof known['apply_patch_tool_type'] !== 'string';
  if (lacksPatch) return withEntry(known, models, options, warning);
  return { ...(await usual()), warning };
}

async function withoutPatch(options: CatalogOptions): Promise<ModelCatalog> {
  const file = join(options.folder, `${keyOf(options)}-no-patch.json`);
  if (readKept(file)) return { ...UNCHANGED, file };
  const models = await readModels(options);
  for (const model of models) model['apply_patch_tool_type'] = null;
  write(file, models);
  return { ...UNCHANGED, file };
}

/** A catalog in which the run's model has what the agent wants. */
function withEntry(
  entry: Model,
  models: readonly Model[],
  options: CatalogOptions,
  warning: string | undefined,
): ModelCatalog {
  const { applyPatch, folder } = options;
  const patch = applyPatch === true ? 'freeform' : null;
  const verbosity = entry['support_verbosity'] === true ? '-verbosity' : '';
  const kind = `${patch === null ? 'no-' : ''}patch${verbosity}`;
  const file = join(folder, `${keyOf(options)}-${kind}-${shortDigest(entry.slug)}.json`);
  const others = models.filter(({ slug }) => slug !== entry.slug);
  if (!readKept(file)) write(file, [...others, { ...entry, apply_patch_tool_type: patch }]);
  return { file, warning };
}

export function unknownModel(model: string): string {
  return `Codex does not know the model ${model} and uses defaults for it.`;
}

export interface ModelsOptions
  extends Pick<CatalogOptions, 'binary' | 'env' | 'folder' | 'cancellation' | 'onProcess'> {
  readonly codexHome: string;
}

/** Whether a model is in the catalog Codex would use. True if we can't find out. */
export async function knowsModel(model: string, options: ModelsOptions): Promise<boolean> {
  try {
    const { modelCatalog: usersCatalog } = await readUserConfig(options.codexHome);
    const models = await readModels({ ...options, usersCatalog });
    return models.some(({ slug }) => slug === model);
  } catch {
    return true; // a run explains better what's wrong with Codex
  }
}

/** Based on a model with individually listed tools, without features others may not support. */
function inventEntry(
  slug: string,
  models: readonly Model[],
  { hasVerbosity }: CatalogOptions,
): Model {
  const like = models.find((model) => model['tool_mode'] === undefined) ?? models[0];
  if (!like) throw new Error('the model catalog is empty');
  return {
    ...like,
    slug,
    display_name: slug,
    description: slug,
    upgrade: null,
    tool_mode: undefined,
    use_responses_lite: false,
    supports_search_tool: false,
    default_reasoning_level: undefined,
    supported_reasoning_levels: [],
    support_verbosity: hasVerbosity,
    default_verbosity: null,
    additional_speed_tiers: [],
    service_tiers: [],
  };
}

type ModelsSource = Omit<CatalogOptions, 'applyPatch' | 'hasVerbosity' | 'model'>;

async function readModels(options: ModelsSource): Promise<Model[]> {
  const { usersCatalog, binary, env, folder, cancellation, onProcess } = options;
  if (usersCatalog !== undefined) return parseModels(readText(usersCatalog));
  const file = join(folder, `${keyOf(options)}-bundled.json`);
  const kept = readKept(file);
  if (kept) return kept;
  makeFolder(folder);
  const about = { cwd: folder, env, cancellation, onProcess };
  const printed = await outputOf(binary, ['debug', 'models', '--bundled'], about);
  const models = parseModels(printed);
  write(file, models);
  return models;
}

/** A cached catalog; undefined if it's missing or damaged. */
function readKept(file: string): Model[] | undefined {
  try {
    const models = parseModels(readText(file));
    return models.length === 0 ? undefined : models;
  } catch {
    return undefined;
  }
}

function readText(file: string): string {
  const read = readTextFile(file, MOST_BYTES);
  if ('problem' in read) throw new Error(`${file}: ${read.problem.replace(/\.$/, '')}`);
  return read.text;
}

function parseModels(text: string): Model[] {
  const list: unknown = JSON.parse(text);
  const models = isObject(list) ? list['models'] : undefined;
  if (!Array.isArray(models)) throw new Error('the model catalog is invalid');
  return models.filter((model): model is Model => isObject(model) && 'slug' in model);
}

/** Another program, or another version of it, has another catalog. */
function keyOf({ binary, usersCatalog }: ModelsSource): string {
  const source = usersCatalog ?? binary;
  const { mtimeMs, size } = statSync(source);
  return shortDigest(`${source} ${mtimeMs} ${size}`);
}

function write(file: string, models: readonly Model[]): void {
  const folder = join(file, '..');
  makeFolder(folder);
  removeOld(folder);
  if (!isFile(file)) rmSync(file, { recursive: true, force: true });
  writeAtomically(file, JSON.stringify({ models }), { mode: 0o600 });
}

/** Catalogs of replaced programs. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name);
    const stat = statSync(file, { throwIfNoEntry: false });
    if (stat && Date.now() - stat.mtimeMs > KEPT_MS) {
      rmSync(file, { recursive: true, force: true });
    }
  }
}

function isFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
