// Tools of children that are listed as they are, and under which names. A name that hosts do not
// accept is made one that they do, and one that is taken already becomes `<child>_<tool>`. Once a host was shown a tool under a name, that name means this
// tool for as long as it is listed: a call must never reach another child than the one it was for.
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { isExposed } from '../config/server/expose.ts';
import { acceptableName, freeName, toToolName } from '../mcp/names.ts';
import type { Tool } from '../mcp/tools.ts';
import { isGatewayName } from './gateway.ts';

export interface ListedChild {
  readonly config: ChildConfig;
  readonly tools: readonly Tool[];
}

export interface OwnTool {
  readonly config: ChildConfig;
  /** What the child calls it. */
  readonly subtool: string;
  /** As listed: with the name under which it is called here. */
  readonly tool: Tool;
}

export class OwnTools {
  /** The names that were given, by child and tool. */
  #given = new Map<string, string>();

  /** The tools of these children by the names to list them under, in the order to list them in. */
  arrange(
    children: readonly ListedChild[],
    isReserved: (name: string) => boolean,
  ): Map<string, OwnTool> {
    const wanted = children.flatMap(({ config, tools }) =>
      usableTools(config, tools).map((tool) => ({ config, tool, key: keyOf(config, tool) })),
    );
    const given = new Map<string, string>();
    const names = new Set<string>();
    // Hosts turn dots into underscores, so such names collide.
    const taken = {
      has: (name: string) => {
        const shown = inHosts(name);
        return names.has(shown) || isGatewayName(shown) || isReserved(shown);
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
    for (const { config, tool, key } of wanted) {
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

/** A name in hosts that don't allow dots. */
function inHosts(name: string): string {
  return name.replaceAll('.', '_');
}

/** A tool that does not say what it takes would make hosts refuse the whole list. */
function withSchema(tool: Tool): Tool {
  return isObject(tool['inputSchema']) ? tool : { ...tool, inputSchema: { type: 'object' } };
}

/** What a tool is called whose own name is taken. */
export function prefixedName(childName: string, subtool: string): string {
  return toToolName(`${childName}_${subtool}`);
}

/** What may be shown of a child's tools, each name once, in an order that does not change. */
function usableTools({ expose }: ChildConfig, tools: readonly Tool[]): Tool[] {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    if (isExposed(tool.name, expose) && !byName.has(tool.name)) byName.set(tool.name, tool);
  }
  return [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function keyOf({ name }: ChildConfig, tool: Tool): string {
  return JSON.stringify([name, tool.name]);
}
