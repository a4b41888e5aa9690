// Prompts and resources of all children, as they were last listed. They cost a model nothing until
// they are used, so all are shown, whatever way the tools of their child are. A prompt's name is changed only where
// another child has the same; addresses of resources stay, and lead to the child that listed them.
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { matchesPattern } from '../config/expose.ts';
import { RESOURCE_NOT_FOUND } from '../mcp/eras.ts';
import type { Pool } from '../pool/pool.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { useChild } from './starting.ts';
import type { SurfaceOptions } from './surface.ts';

interface Prompt {
  readonly config: ChildConfig;
  /** What the child calls it. */
  readonly own: string;
  readonly listed: unknown;
}

export class Library {
  readonly #children: readonly ChildConfig[];
  readonly #pool: Pool;

  constructor(children: readonly ChildConfig[], pool: Pool) {
    this.#children = children;
    this.#pool = pool;
  }

  listPrompts(): readonly unknown[] {
    return [...this.#prompts().values()].map(({ listed }) => listed);
  }

  listResources(): readonly unknown[] {
    return [...this.#byUri('resources', 'uri').values()].map(({ listed }) => listed);
  }

  listTemplates(): readonly unknown[] {
    return [...this.#byUri('templates', 'uriTemplate').values()].map(({ listed }) => listed);
  }

  /** The child that has a resource; undefined where none is known to. */
  ownerOf(uri: string): ChildConfig | undefined {
    const listed = this.#byUri('resources', 'uri').get(uri);
    if (listed) return listed.config;
    for (const [template, { config }] of this.#byUri('templates', 'uriTemplate')) {
      if (uri === template || matchesPattern(uri, template.replaceAll(/\{[^}]*\}/g, '*'))) {
        return config;
      }
    }
    return this.#onlyOneWithScheme(uri);
  }

  ask(method: string, params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    switch (method) {
      case 'prompts/get':
        return this.#getPrompt(params, options);
      case 'resources/read':
        return this.#readResource(params, options);
      default:
        return this.#complete(params, options);
    }
  }

  async #getPrompt(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const name = textMember(params.value, 'name');
    const prompt = await this.#findPrompt(name);
    const own = params.with('name', Verbatim.of(prompt.own));
    return this.#send(prompt.config, 'prompts/get', own, options, `prompt "${prompt.own}"`);
  }

  async #readResource(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const uri = textMember(params.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner, 'resources/read', params, options, `resource "${uri}"`);
  }

  async #complete(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const ref = params.member('ref');
    const type = isObject(ref?.value) ? ref.value['type'] : undefined;
    if (ref && type === 'ref/prompt') {
      const name = textMember(ref.value, 'name');
      const prompt = await this.#findPrompt(name);
      const own = params.with('ref', ref.with('name', Verbatim.of(prompt.own)));
      return this.#send(prompt.config, 'completion/complete', own, options, 'a completion');
    }
    const uri = textMember(ref?.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner, 'completion/complete', params, options, 'a completion');
  }

  /** What is not known may be on its way: a child has just been started. */
  async #findPrompt(name: string): Promise<Prompt> {
    const known = this.#prompts().get(name);
    if (known) return known;
    await this.#pool.learned();
    const found = this.#prompts().get(name);
    if (found) return found;
    throw new RpcError(INVALID_PARAMS, `There is no prompt "${name}".`);
  }

  async #findOwner(uri: string): Promise<ChildConfig> {
    const known = this.ownerOf(uri);
    if (known) return known;
    await this.#pool.learned();
    const found = this.ownerOf(uri);
    if (found) return found;
    throw notFound(uri);
  }

  async #send(
    config: ChildConfig,
    method: string,
    params: Verbatim,
    options: SurfaceOptions,
    task: string,
  ): Promise<Verbatim> {
    const child = await useChild(this.#pool, config, options);
    const result = await child.ask(method, params, options, task);
    if (isObject(result.value)) return result;
    throw new RpcError(
      INTERNAL_ERROR,
      `Server "${config.name}" answered for ${task} with no result.`,
    );
  }

  /** The prompts by the names they are listed under. */
  #prompts(): Map<string, Prompt> {
    const prompts = new Map<string, Prompt>();
    for (const config of this.#children) {
      for (const item of this.#pool.lists(config.name).prompts ?? []) {
        const own = isObject(item) ? item['name'] : undefined;
        if (typeof own !== 'string') continue;
        const name = prompts.has(own) ? `${config.name}_${own}` : own;
        if (prompts.has(name)) continue;
        const listed = name === own ? item : { ...(item as object), name };
        prompts.set(name, { config, own, listed });
      }
    }
    return prompts;
  }

  /** Resources or templates by address; of two with the same, the first counts. */
  #byUri(kind: 'resources' | 'templates', key: 'uri' | 'uriTemplate') {
    const found = new Map<string, { config: ChildConfig; listed: unknown }>();
    for (const config of this.#children) {
      for (const listed of this.#pool.lists(config.name)[kind] ?? []) {
        const uri = isObject(listed) ? listed[key] : undefined;
        if (typeof uri === 'string' && !found.has(uri)) found.set(uri, { config, listed });
      }
    }
    return found;
  }

  /** An address that nobody has listed belongs to the one child whose addresses begin like it. */
  #onlyOneWithScheme(uri: string): ChildConfig | undefined {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(uri)?.[0].toLowerCase();
    const owners = new Set<ChildConfig>();
    for (const [known, { config }] of [
      ...this.#byUri('resources', 'uri'),
      ...this.#byUri('templates', 'uriTemplate'),
    ]) {
      if (scheme !== undefined && known.toLowerCase().startsWith(scheme)) owners.add(config);
    }
    const [owner] = owners;
    return owners.size === 1 ? owner : undefined;
  }
}

function textMember(value: unknown, key: string): string {
  const member = isObject(value) ? value[key] : undefined;
  if (typeof member === 'string') return member;
  throw new RpcError(INVALID_PARAMS, `"${key}" must be a string.`);
}

function notFound(uri: string): RpcError {
  return new RpcError(RESOURCE_NOT_FOUND, `Resource not found: ${uri}`, Verbatim.of({ uri }));
}
