// The engine's list of models says which of them have the tool that applies patches, and to which it may send a
// verbosity; there is no other switch for either. So an agent that says something about them is given a list
// of its own, made from the one that the engine would use.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Cancellation } from '../../base/cancellation.ts';
import { shortDigest } from '../../base/digest.ts';
import { makeFolder } from '../../base/make-folder.ts';
import { isObject } from '../../base/object.ts';
import { readTextFile } from '../../base/read-text.ts';
import { writeWhole } from '../../base/whole-file.ts';
import { outputOf } from './output-of.ts';
import { readUserConfig } from './user-config.ts';

export interface CatalogWish {
  readonly binary: string;
  readonly env: NodeJS.ProcessEnv;
  /** Where lists are kept: making one anew takes longer than all else that we do in a run. */
  readonly folder: string;
  /** The user's own list, in place of the engine's. */
  readonly usersCatalog: string | undefined;
  /** Undefined to leave it as it is. */
  readonly applyPatch: boolean | undefined;
  /** Whether the model is to be sent a verbosity. */
  readonly hasVerbosity: boolean;
  /** Undefined for the engine's default. */
  readonly model: string | undefined;
  readonly cancellation?: Cancellation | undefined;
  /** Told of a process that is started for the list. */
  readonly onProcess: (pid: number) => void;
}

export interface Catalog {
  /** The list to use; undefined for the one that the engine uses anyway. */
  readonly file: string | undefined;
  /** What the user should know about it. */
  readonly warning: string | undefined;
}

/** An entry of the list. What we do not know of it stays as it is. */
interface Model extends Record<string, unknown> {
  readonly slug: string;
}

const AS_IT_IS: Catalog = { file: undefined, warning: undefined };
/** Several times what the engine's own list has. */
const MOST_BYTES = 16 << 20;
const KEPT_MS = 30 * 24 * 3_600_000;

/** Rejects only with the reason when it is called off. */
export async function prepareCatalog(wish: CatalogWish): Promise<Catalog> {
  try {
    return await makeCatalog(wish);
  } catch (error) {
    wish.cancellation?.throwIfCancelled();
    const what = wish.applyPatch === undefined ? 'model_verbosity' : 'apply_patch';
    const state = wish.applyPatch === false ? 'off' : 'on';
    const warning = `${what} could not be switched ${state}: ${(error as Error).message}.`;
    return { file: undefined, warning };
  }
}

async function makeCatalog(wish: CatalogWish): Promise<Catalog> {
  const { model, applyPatch, hasVerbosity } = wish;
  const usual = () => (applyPatch === false ? withoutPatch(wish) : AS_IT_IS);
  // The engine's default has patches and a verbosity.
  if (model === undefined || (applyPatch !== true && !hasVerbosity)) return usual();
  const models = await readModels(wish);
  const known = models.find(({ slug }) => slug === model);
  if (!known) return withEntry(inventEntry(model, models, wish), models, wish, unknownModel(model));
  const isMute = hasVerbosity && known['support_verbosity'] !== true;
  const warning = isMute ? `Codex sends no model_verbosity to the model ${model}.` : undefined;
  const lacksPatch = applyPatch === true && typeof known['apply_patch_tool_type'] !== 'string';
  if (lacksPatch) return withEntry(known, models, wish, warning);
  return { ...(await usual()), warning };
}

async function withoutPatch(wish: CatalogWish): Promise<Catalog> {
  const file = join(wish.folder, `${keyOf(wish)}-no-patch.json`);
  if (readKept(file)) return { ...AS_IT_IS, file };
  const models = await readModels(wish);
  for (const model of models) model['apply_patch_tool_type'] = null;
  write(file, models);
  return { ...AS_IT_IS, file };
}

/** A list in which the run's model can do what is wished. */
function withEntry(
  entry: Model,
  models: readonly Model[],
  wish: CatalogWish,
  warning: string | undefined,
): Catalog {
  const { applyPatch, folder } = wish;
  const patch = applyPatch === true ? 'freeform' : null;
  const verbosity = entry['support_verbosity'] === true ? '-verbosity' : '';
  const kind = `${patch === null ? 'no-' : ''}patch${verbosity}`;
  const file = join(folder, `${keyOf(wish)}-${kind}-${shortDigest(entry.slug)}.json`);
  const others = models.filter(({ slug }) => slug !== entry.slug);
  if (!readKept(file)) write(file, [...others, { ...entry, apply_patch_tool_type: patch }]);
  return { file, warning };
}

export function unknownModel(model: string): string {
  return `Codex does not know the model ${model}; it is run with what holds for models of its kind.`;
}

export interface ModelsWish
  extends Pick<CatalogWish, 'binary' | 'env' | 'folder' | 'cancellation' | 'onProcess'> {
  readonly codexHome: string;
}

/** Whether a model is in the list that the engine would use; taken to be, where there is no telling. */
export async function knowsModel(model: string, wish: ModelsWish): Promise<boolean> {
  try {
    const { modelCatalog: usersCatalog } = await readUserConfig(wish.codexHome);
    const models = await readModels({ ...wish, usersCatalog });
    return models.some(({ slug }) => slug === model);
  } catch {
    return true; // a run says better what is wrong with the engine
  }
}

/** Made from a model that is given its tools one by one, without what others may not understand. */
function inventEntry(slug: string, models: readonly Model[], { hasVerbosity }: CatalogWish): Model {
  const like = models.find((model) => model['tool_mode'] === undefined) ?? models[0];
  if (!like) throw new Error('the list of models is empty');
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

type ModelsSource = Omit<CatalogWish, 'applyPatch' | 'hasVerbosity' | 'model'>;

async function readModels(wish: ModelsSource): Promise<Model[]> {
  const { usersCatalog, binary, env, folder, cancellation, onProcess } = wish;
  if (usersCatalog !== undefined) return parseModels(readText(usersCatalog));
  const file = join(folder, `${keyOf(wish)}-bundled.json`);
  const kept = readKept(file);
  if (kept) return kept;
  makeFolder(folder);
  const about = { cwd: folder, env, cancellation, onProcess };
  const printed = await outputOf(binary, ['debug', 'models', '--bundled'], about);
  const models = parseModels(printed);
  write(file, models);
  return models;
}

/** A list of ours; undefined where it is not there, or is damaged and must be made anew. */
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
  if (!Array.isArray(models)) throw new Error('the list of models cannot be read');
  return models.filter((model): model is Model => isObject(model) && 'slug' in model);
}

/** Another program, or another version of it, has another list. */
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
  writeWhole(file, JSON.stringify({ models }), { mode: 0o600 });
}

/** Lists of programs that were replaced since are not wanted again. */
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
