// The tables of agent and log settings in the docs, generated from the tables the program reads them with.
import { AGENT_KEYS } from '../src/config/settings/agent-keys.ts';
import { LOG_KEYS } from '../src/config/settings/logging.ts';
import type { Setting, SettingValue } from '../src/config/settings/sources.ts';

type Settings = Readonly<Record<string, Setting<SettingValue>>>;

export function formatAgentSettings(): string {
  return formatTable(
    ['variable', 'key in `agents`', 'key in config.toml', 'default', 'meaning'],
    Object.entries<Setting<SettingValue>>(AGENT_KEYS).map(([key, setting]) => [
      code(setting.variable),
      code(key),
      code(setting.toml ?? setting.tomlAdds),
      formatDefault(setting),
      setting.description,
    ]),
  );
}

export function formatLogSettings(): string {
  const settings: Settings = LOG_KEYS;
  return formatTable(
    ['variable', 'key in config.toml', 'default', 'meaning'],
    Object.values(settings).map((setting) => [
      code(setting.variable),
      code(setting.toml),
      formatDefault(setting),
      setting.description,
    ]),
  );
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n');
}

/** As it would be written in a variable. */
function formatDefault({ default: usual }: Setting<SettingValue>): string {
  if (usual === undefined || (Array.isArray(usual) && usual.length === 0)) return '';
  return code(String(usual));
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
