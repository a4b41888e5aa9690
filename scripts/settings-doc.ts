// The tables of docs/agents.md: every setting for agents and for the log, from the tables that the program
// itself reads them by.
import { AGENT_KEYS } from '../src/config/settings/agent-keys.ts';
import { LOG_KEYS } from '../src/config/settings/logging.ts';
import type { Setting, SettingValue } from '../src/config/settings/said.ts';

type Settings = Readonly<Record<string, Setting<SettingValue>>>;

export function formatAgentSettings(): string {
  return formatTable(
    ['variable', 'key in `agents`', 'key in config.toml', 'default', 'meaning'],
    Object.entries<Setting<SettingValue>>(AGENT_KEYS).map(([key, setting]) => [
      code(setting.variable),
      code(key),
      code(setting.toml ?? setting.tomlAdds),
      formatStandard(setting),
      setting.says,
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
      formatStandard(setting),
      setting.says,
    ]),
  );
}

function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const [first, ...others] = [head, ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return [first, `|${'---|'.repeat(head.length)}`, ...others].join('\n');
}

/** As one writes it in a variable. */
function formatStandard({ standard }: Setting<SettingValue>): string {
  if (standard === undefined || (Array.isArray(standard) && standard.length === 0)) return '';
  return code(String(standard));
}

function code(text: string | undefined): string {
  return text === undefined ? '' : `\`${text}\``;
}
