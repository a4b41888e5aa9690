// The engine's list of models says of each whether it has the tool that applies patches; there is no
// other switch for it. So an agent that is to have the tool, or not to have it, is given a list that
// says so, made from the one that the engine would use.
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
  if (wish.applyPatch === undefined) return AS_IT_IS;
  try {
    return wish.applyPatch ? await withPatch(wish) : await withoutPatch(wish);
  } catch (error) {
    wish.cancellation?.throwIfCancelled();
    const state = wish.applyPatch ? 'on' : 'off';
    const warning = `apply_patch could not be switched ${state}: ${(error as Error).message}.`;
    return { file: undefined, warning };
  }
}

async function withoutPatch(wish: CatalogWish): Promise<Catalog> {
  const file = join(wish.folder, `${keyOf(wish)}-no-patch.json`);
  if (readKept(file)) return { ...AS_IT_IS, file };
  const models = await readModels(wish);
  for (const model of models) model['apply_patch_tool_type'] = null;
  write(file, models);
  return { ...AS_IT_IS, file };
}

async function withPatch(wish: CatalogWish): Promise<Catalog> {
  const { model } = wish;
  if (model === undefined) return AS_IT_IS; // the engine's default has it
  const models = await readModels(wish);
  const known = models.find(({ slug }) => slug === model);
  if (known && typeof known['apply_patch_tool_type'] === 'string') return AS_IT_IS;
  const file = join(wish.folder, `${keyOf(wish)}-patch-${shortDigest(model)}.json`);
  const entry = { ...(known ?? inventEntry(model, models)), apply_patch_tool_type: 'freeform' };
  const others = models.filter(({ slug }) => slug !== model);
  if (!readKept(file)) write(file, [...others, entry]);
  return { file, warning: known ? undefined : unknownModel(model) };
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
function inventEntry(slug: string, models: readonly Model[]): Model {
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
    support_verbosity: false,
    default_verbosity: null,
    additional_speed_tiers: [],
    service_tiers: [],
  };
}

type ModelsSource = Omit<CatalogWish, 'applyPatch' | 'model'>;

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
