// A home folder for the real engine, with the test's model on loopback as its only one.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface EngineHome {
  /** The program whose model list is used. */
  readonly binary: string;
  readonly folder: string;
  /** The URL of the test's model. */
  readonly url: string;
  /** Additions to the user's config.toml: keys and tables. BASE_URL becomes the model's URL. */
  readonly keys?: string | undefined;
  readonly tables?: string | undefined;
  /** Uses the engine's default provider with the model's URL. */
  readonly isOpenai?: boolean | undefined;
}

/** A model that gets its tools one by one, so that a script can call them. */
export const PLAIN_MODEL = 'plain-model';

export function writeEngineHome(home: EngineHome): void {
  mkdirSync(home.folder, { recursive: true });
  const models = JSON.stringify({ models: modelList(home.binary) });
  writeFileSync(join(home.folder, 'models.json'), models);
  writeFileSync(join(home.folder, 'config.toml'), configText(home));
}

function configText({ folder, url, keys = '', tables = '', isOpenai = false }: EngineHome): string {
  return [
    isOpenai ? `openai_base_url = "${url}"` : 'model_provider = "loopback"',
    `model = "${PLAIN_MODEL}"`,
    `model_catalog_json = "${join(folder, 'models.json')}"`,
    keys,
    '[model_providers.loopback]',
    'name = "loopback"',
    `base_url = "${url}"`,
    'wire_api = "responses"',
    'requires_openai_auth = false',
    'supports_websockets = false',
    'request_max_retries = 0',
    'stream_max_retries = 0',
    tables.replaceAll('BASE_URL', url),
  ].join('\n');
}

let known: Record<string, unknown>[] = [];

/** The engine's own models, and the plain one. */
function modelList(binary: string): Record<string, unknown>[] {
  if (known.length > 0) return known;
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-models-'));
  const text = execFileSync(binary, ['debug', 'models', '--bundled'], {
    env: { ...process.env, CODEX_HOME: folder },
    stdio: ['ignore', 'pipe', 'ignore'],
    maxBuffer: 64 << 20,
  }).toString();
  rmSync(folder, { recursive: true });
  const { models } = JSON.parse(text) as { models: Record<string, unknown>[] };
  const like = models.find((model) => model['tool_mode'] === undefined);
  known = [...models, { ...like, slug: PLAIN_MODEL, supports_search_tool: false, upgrade: null }];
  return known;
}
