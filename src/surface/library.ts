// Prompts and resources of all children, as they were last listed. They cost a model nothing until
// they are used, so all are shown, however the child's tools are shown. `holdings` says who owns which;
// this forwards requests to the owner.
import { isObject } from '../base/object.ts';
import type { ChildConfig } from '../config/config.ts';
import { RESOURCE_NOT_FOUND } from '../mcp/eras.ts';
import type { Pool } from '../pool/pool.ts';
import { INTERNAL_ERROR, INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { Holdings, type Prompt } from './holdings.ts';
import { useChild } from './starting.ts';
import type { SurfaceOptions } from './surface.ts';

export class Library {
  readonly #pool: Pool;
  readonly #onConflict: (sentence: string) => void;
  readonly #told = new Set<string>();
  #children: readonly ChildConfig[];
  /** Computed on first use, then updated with each change. */
  #holdings: Holdings | undefined;

  constructor(
    children: readonly ChildConfig[],
    pool: Pool,
    onConflict: (sentence: string) => void = () => {},
  ) {
    this.#children = children;
    this.#pool = pool;
    this.#onConflict = onConflict;
  }

  /** Applies a new configuration. */
  update(children: readonly ChildConfig[]): void {
    const before = new Set(this.#children.map(({ name }) => name));
    const added = children.map(({ name }) => name).filter((name) => !before.has(name));
    this.#children = children;
    this.#settleAgain(added);
  }

  /** A child has listed something new. */
  learn(childName: string): void {
    this.#settleAgain([childName]);
  }

  listPrompts(): readonly unknown[] {
    return this.#held.listedPrompts;
  }

  listResources(): readonly unknown[] {
    return this.#held.listedResources;
  }

  listTemplates(): readonly unknown[] {
    return this.#held.listedTemplates;
  }

  /** The child that has a resource; undefined where none is known to. */
  ownerOf(uri: string): ChildConfig | undefined {
    const owner = this.#held.ownerOf(uri);
    return this.#children.find(({ name }) => name === owner);
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

  get #held(): Holdings {
    this.#holdings ??= this.#settle(undefined, []);
    return this.#holdings;
  }

  /** Until someone has looked, there is nothing to keep. */
  #settleAgain(newcomers: readonly string[]): void {
    if (this.#holdings) this.#holdings = this.#settle(this.#holdings, newcomers);
  }

  #settle(before: Holdings | undefined, newcomers: readonly string[]): Holdings {
    const lists = this.#children.map(({ name }) => ({ name, lists: this.#pool.lists(name) }));
    const holdings = new Holdings(lists, before, new Set(newcomers));
    for (const conflict of holdings.conflicts) this.#tell(conflict);
    return holdings;
  }

  /** Reports each conflict once, and a bounded number of them. */
  #tell(conflict: string): void {
    if (this.#told.has(conflict) || this.#told.size >= MOST_TOLD) return;
    this.#told.add(conflict);
    this.#onConflict(conflict);
  }

  async #getPrompt(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const name = textMember(params.value, 'name');
    const prompt = await this.#findPrompt(name);
    const own = params.with('name', Verbatim.of(prompt.own));
    return this.#send(prompt.child, 'prompts/get', own, options, `prompt "${prompt.own}"`);
  }

  async #readResource(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const uri = textMember(params.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner.name, 'resources/read', params, options, `resource "${uri}"`);
  }

  async #complete(params: Verbatim, options: SurfaceOptions): Promise<Verbatim> {
    const ref = params.member('ref');
    const type = isObject(ref?.value) ? ref.value['type'] : undefined;
    if (ref && type === 'ref/prompt') {
      const name = textMember(ref.value, 'name');
      const prompt = await this.#findPrompt(name);
      const own = params.with('ref', ref.with('name', Verbatim.of(prompt.own)));
      return this.#send(prompt.child, 'completion/complete', own, options, 'a completion');
    }
    const uri = textMember(ref?.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner.name, 'completion/complete', params, options, 'a completion');
  }

  /** What is not known may be on its way: a child has just been started. */
  async #findPrompt(name: string): Promise<Prompt> {
    const known = this.#held.prompts.get(name);
    if (known) return known;
    await this.#pool.learned();
    const found = this.#held.prompts.get(name);
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
    childName: string,
    method: string,
    params: Verbatim,
    options: SurfaceOptions,
    task: string,
  ): Promise<Verbatim> {
    const config = this.#children.find(({ name }) => name === childName);
    if (!config) throw new Error(`There is no server ${childName}.`);
    const child = await useChild(this.#pool, config, options);
    const result = await child.ask(method, params, options, task);
    if (isObject(result.value)) return result;
    throw new RpcError(
      INTERNAL_ERROR,
      `Server "${childName}" answered for ${task} with no result.`,
    );
  }
}

const MOST_TOLD = 100;

function textMember(value: unknown, key: string): string {
  const member = isObject(value) ? value[key] : undefined;
  if (typeof member === 'string') return member;
  throw new RpcError(INVALID_PARAMS, `"${key}" must be a string.`);
}

function notFound(uri: string): RpcError {
  return new RpcError(RESOURCE_NOT_FOUND, `Resource not found: ${uri}`, Verbatim.of({ uri }));
}
