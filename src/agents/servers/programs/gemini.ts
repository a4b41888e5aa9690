// Gemini CLI: `mcpServers` in `settings.json`. A `url` there is the older HTTP with server-sent events
// unless its type says otherwise, `httpUrl` is Streamable HTTP, and `$VAR` is as good as `${VAR}`.
import { join } from 'node:path';
import { isObject } from '../../../base/object.ts';
import { withPlainVariables } from '../../../config/files/servers-file.ts';
import { isServerEntry } from '../../../config/schema/check.ts';
import { type Listing, listServers, mapEntries } from '../listing.ts';
import { readJsonSettings, type Settings, type SettingsFile } from '../settings-file.ts';
import type { ProgramPlaces } from './places.ts';

/** Strongest first. */
export async function readGemini({ project, homeFolder }: ProgramPlaces): Promise<Listing[]> {
  const [ofProject, ofUser] = await Promise.all([
    readJsonSettings(join(project, '.gemini', 'settings.json')),
    readJsonSettings(join(homeFolder, '.gemini', 'settings.json')),
  ]);
  return [listFile(ofProject, project), listFile(ofUser, undefined)];
}

function listFile(file: SettingsFile, cwd: string | undefined): Listing {
  const isAllowed = allowance(file.settings);
  return mapEntries(listServers(file, 'mcpServers', cwd), (entry, key) =>
    isAllowed(key) ? translate(entry) : undefined,
  );
}

function allowance({ mcp }: Settings): (key: string) => boolean {
  const { allowed, excluded } = isObject(mcp) ? mcp : {};
  return (key) =>
    !(Array.isArray(excluded) && excluded.includes(key)) &&
    (!Array.isArray(allowed) || allowed.includes(key));
}

function translate(entry: unknown): unknown {
  if (!isObject(entry)) return entry;
  const { httpUrl, url, type, includeTools: allow, excludeTools: deny, ...others } = entry;
  const translated = {
    ...others,
    ...(url !== undefined && { url, type: type ?? 'sse' }),
    ...(httpUrl !== undefined && { url: httpUrl, type: 'http' }),
    expose: { allow, deny },
  };
  return isServerEntry(translated) ? withPlainVariables(translated) : translated;
}
