// The folders to search for agents: the documented ones, then Claude Code's own files in them, then (unless
// the user replaced the defaults) the folders where other programs keep agents of the same kind today.
import { join, resolve, sep } from 'node:path';
import type { AgentSettings } from '../config/config.ts';
import type { AgentKind, Dialect } from './agent.ts';

export interface AgentPlace {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  /** Absolute. */
  readonly folder: string;
  /** Lower-case. */
  readonly ending: string;
  /** Files with that ending that aren't agents. */
  readonly except?: RegExp;
  /** Whether to search its subfolders. */
  readonly isNested: boolean;
  /** Whether the user configured it, so it should exist. */
  readonly isNamed: boolean;
  /** The host that reads these files itself. */
  readonly host?: string | undefined;
}

export interface AgentRoots {
  readonly project: string;
  /** What `~` expands to. */
  readonly homeFolder: string;
}

type Root = keyof AgentRoots;

interface Format {
  readonly kind: AgentKind;
  readonly dialect: Dialect;
  readonly ending: string;
  readonly extra: readonly {
    readonly root: Root;
    readonly folder: string;
    readonly ending: string;
    /** The documented folder it accompanies: if the user replaced that one, skip this one. */
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

/** Folders whose path tells the format, no matter which setting lists them. */
const BY_FOLDER: readonly { readonly end: string; readonly dialect: Dialect }[] = [
  { end: '.codex/agents', dialect: 'codex-toml' },
  { end: '.github/agents', dialect: 'copilot' },
  { end: '.copilot/agents', dialect: 'copilot' },
];

export function agentPlaces(
  { formats, extraFormats }: Pick<AgentSettings, 'formats' | 'extraFormats'>,
  roots: AgentRoots,
): AgentPlace[] {
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

/** Instructions of TOML agents, and chat modes, which may be in the same folder. */
const OTHER_MARKDOWN = /\.(?:prompt|chatmode)\.md$/i;

/** Claude Code's own agents end in plain `.md`, in folders of any depth. */
function claudeCodePlace(place: AgentPlace, { project, homeFolder }: AgentRoots): AgentPlace[] {
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

function documentedPlace(folder: string, format: Format, isNamed: boolean): AgentPlace {
  const { kind, ending } = format;
  const dialect = dialectIn(folder, format);
  // Custom agents end in `.md`, not `.chatmode.md`.
  const isCustom = kind === 'vscode' && dialect === 'copilot';
  return { kind, dialect, folder, ending: isCustom ? '.md' : ending, isNested: false, isNamed };
}

function extraPlaces(
  documented: readonly string[],
  format: Format,
  roots: AgentRoots,
): AgentPlace[] {
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
