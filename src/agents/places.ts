// Where agents are looked for. The documented folders come first, then Claude Code's own files in them; where
// they were not replaced, the folders in which other programs keep agents today follow those of the same kind.
import { join, resolve, sep } from 'node:path';
import type { AgentSettings } from '../config/config.ts';
import type { AgentKind, Dialect } from './agent.ts';

export interface Place {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  /** Absolute. */
  readonly folder: string;
  /** How names of files end that count, lower-case. */
  readonly ending: string;
  /** Names with that ending which are something else. */
  readonly except?: RegExp;
  /** Whether folders in it are looked into. */
  readonly isNested: boolean;
  /** Whether the user has named it, and so means it to be there. */
  readonly isNamed: boolean;
  /** The name of the host that reads these files itself. */
  readonly host?: string | undefined;
}

export interface Roots {
  readonly project: string;
  /** What `~` stands for. */
  readonly homeFolder: string;
}

type Root = keyof Roots;

interface Format {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  readonly ending: string;
  readonly extra: readonly {
    readonly root: Root;
    readonly folder: string;
    readonly ending: string;
    /** The documented folder that it stands beside: who replaced that one wants this one no more. */
    readonly beside: string;
  }[];
}

const FORMATS: readonly Format[] = [
  {
    kind: 'codex',
    dialect: 'switchboard-toml',
    ending: '.toml',
    extra: [
      { root: 'project', folder: '.codex/agents', ending: '.toml', beside: '.agents' },
      { root: 'homeFolder', folder: '.codex/agents', ending: '.toml', beside: '.agents' },
    ],
  },
  {
    kind: 'anthropic',
    dialect: 'claude',
    ending: '.agent.md',
    extra: [],
  },
  {
    kind: 'vscode',
    dialect: 'chatmode',
    ending: '.chatmode.md',
    extra: [
      { root: 'project', folder: '.github/agents', ending: '.md', beside: '.github/chatmodes' },
      { root: 'homeFolder', folder: '.copilot/agents', ending: '.md', beside: '.chatmodes' },
    ],
  },
];

/** Folders whose name says how what lies in them is written, whoever has listed them. */
const BY_FOLDER: readonly { readonly end: string; readonly dialect: Dialect }[] = [
  { end: '.codex/agents', dialect: 'codex-toml' },
  { end: '.github/agents', dialect: 'copilot' },
  { end: '.copilot/agents', dialect: 'copilot' },
];

export function agentPlaces(
  { formats, extraFormats }: Pick<AgentSettings, 'formats' | 'extraFormats'>,
  roots: Roots,
): Place[] {
  const isOn = ({ kind }: Format) => formats[kind].isOn;
  return FORMATS.filter(isOn).flatMap((format) => {
    const { folders: given, namedFolders } = formats[format.kind];
    const folders = given.map((folder) => resolve(folder));
    const isNamed = (folder: string) => namedFolders.some((one) => resolve(one) === folder);
    const documented = folders.map((folder) => documentedPlace(folder, format, isNamed(folder)));
    return documented.concat(
      documented.flatMap((place) => claudeCodePlace(place, roots)),
      extraFormats ? extraPlaces(folders, format, roots) : [],
    );
  });
}

/** Instructions of TOML agents, and chat modes, which may lie beside agents. */
const OTHER_MARKDOWN = /\.(?:prompt|chatmode)\.md$/i;

/** Claude Code's own agents end in `.md` alone, and lie in folders of any depth. */
function claudeCodePlace(place: Place, { project, homeFolder }: Roots): Place[] {
  if (place.dialect !== 'claude') return [];
  const isOwn = [project, homeFolder].some(
    (root) => place.folder === resolve(root, '.claude/agents'),
  );
  return [
    {
      ...place,
      ending: '.md',
      except: OTHER_MARKDOWN,
      isNested: isOwn,
      host: isOwn ? 'claude-code' : undefined,
    },
  ];
}

function documentedPlace(folder: string, format: Format, isNamed: boolean): Place {
  const { kind, ending } = format;
  const dialect = dialectIn(folder, format);
  // What a folder of custom agents has does not end as a chat mode does.
  const isCustom = kind === 'vscode' && dialect === 'copilot';
  return { kind, dialect, folder, ending: isCustom ? '.md' : ending, isNested: false, isNamed };
}

function extraPlaces(documented: readonly string[], format: Format, roots: Roots): Place[] {
  const { kind, extra } = format;
  return extra
    .filter(({ root, beside }) => documented.includes(resolve(roots[root], beside)))
    .map(({ root, folder: name, ending }) => {
      const folder = join(roots[root], name);
      const dialect = dialectIn(folder, format);
      return { kind, dialect, folder, ending, isNested: false, isNamed: false };
    });
}

function dialectIn(folder: string, { kind, dialect }: Format): Dialect {
  const path = folder.split(sep).join('/');
  const named = BY_FOLDER.find(({ end }) => path.endsWith(`/${end}`))?.dialect;
  const isToml = named === 'codex-toml';
  return named !== undefined && isToml === (kind === 'codex') ? named : dialect;
}
