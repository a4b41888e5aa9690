// Names for servers' own tools in the host's list. A name that hosts don't accept is changed to one they
// do, and a name that is taken becomes `<server>_<tool>`. Once a host has seen a tool under a name, the
// name means that tool for as long as it's listed: a call must never reach another server.
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { acceptableName, freeName, toToolName } from '../mcp/names.ts';
import type { Tool } from '../mcp/tools.ts';

export interface ListedChild {
  readonly config: ChildConfig;
  readonly tools: readonly Tool[];
}

export interface OwnTool {
  readonly config: ChildConfig;
  /** Its name at the server. */
  readonly subtool: string;
  /** As listed, with the name hosts call it by. */
  readonly tool: Tool;
}

export class OwnTools {
  /** Names given so far, by server and tool. */
  #given = new Map<string, string>();

  /** The tools by the names to list them under, in the order to list them in. */
  arrange(
    children: readonly ListedChild[],
    isReserved: (name: string) => boolean,
  ): Map<string, OwnTool> {
    const wanted = children.flatMap(({ config, tools }) =>
      distinctTools(tools).map((tool) => ({ config, tool, key: keyOf(config, tool) })),
    );
    const given = new Map<string, string>();
    const names = new Set<string>();
    // Hosts turn dots into underscores, so such names collide.
    const taken = {
      has: (name: string) => {
        const shown = inHosts(name);
        return names.has(shown) || isReserved(shown);
      },
    };
    const give = (key: string, name: string): void => {
      given.set(key, name);
      names.add(inHosts(name));
    };
    for (const { key } of wanted) {
      const before = this.#given.get(key);
      if (before !== undefined && !taken.has(before)) give(key, before);
    }
    // A project's server can't take the name of a tool that the user has in every project.
    const usersFirst = [
      ...wanted.filter(({ config }) => config.isUsers),
      ...wanted.filter(({ config }) => !config.isUsers),
    ];
    for (const { config, tool, key } of usersFirst) {
      if (given.has(key)) continue;
      const wish = acceptableName(tool.name);
      const isFree = !taken.has(wish);
      give(key, isFree ? wish : freeName(prefixedName(config.name, wish), taken));
    }
    this.#given = given;
    return new Map(
      wanted.map(({ config, tool, key }) => {
        const name = given.get(key) ?? tool.name;
        const listed = name === tool.name ? withSchema(tool) : { ...withSchema(tool), name };
        return [name, { config, subtool: tool.name, tool: listed }];
      }),
    );
  }
}

/** The name as hosts that don't allow dots write it. */
function inHosts(name: string): string {
  return name.replaceAll('.', '_');
}

/** Hosts reject the whole list if one tool has no input schema. */
function withSchema(tool: Tool): Tool {
  return isObject(tool['inputSchema']) ? tool : { ...tool, inputSchema: { type: 'object' } };
}

/** The name for a tool whose own name is taken. */
export function prefixedName(childName: string, subtool: string): string {
  return toToolName(`${childName}_${subtool}`);
}

/** Each name once, in a stable order. */
function distinctTools(tools: readonly Tool[]): Tool[] {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (!byName.has(tool.name)) byName.set(tool.name, tool);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function keyOf({ name }: ChildConfig, tool: Tool): string {
  return JSON.stringify([name, tool.name]);
}
