// The prompts and resources of all servers, as last listed. They cost a model nothing until it uses one, so all of
// them are shown, in every mode. `holdings` decides who owns each; this forwards requests to the owner.
import { isObject } from '../base/object.ts';
import type { CallContext } from '../calls/call.ts';
import type { Calls } from '../calls/calls.ts';
import { isListed } from '../calls/usable.ts';
import type { ChildConfig } from '../config/config.ts';
import type { RuleTarget } from '../config/permission-rules.ts';
import { RESOURCE_NOT_FOUND } from '../mcp/eras.ts';
import type { Pool } from '../pool/pool.ts';
import { INVALID_PARAMS, RpcError } from '../rpc/message.ts';
import { Verbatim } from '../rpc/verbatim.ts';
import { Holdings, type Prompt } from './holdings.ts';

interface LibraryParts {
  readonly pool: Pool;
  readonly calls: Calls;
  /** Reports an item that several servers list. */
  readonly onConflict?: (sentence: string) => void;
}

export class Library {
  readonly #pool: Pool;
  readonly #calls: Calls;
  readonly #onConflict: (sentence: string) => void;
  readonly #told = new Set<string>();
  #children: readonly ChildConfig[];
  /** Computed on first use, then updated with each change. */
  #holdings: Holdings | undefined;

  constructor(
    children: readonly ChildConfig[],
    { pool, calls, onConflict = () => {} }: LibraryParts,
  ) {
    this.#children = children;
    this.#pool = pool;
    this.#calls = calls;
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
    const { listedPrompts, prompts } = this.#held;
    return this.#permitted(listedPrompts, (item) => {
      const prompt = prompts.get(textMember(item, 'name'));
      return prompt && { child: prompt.child, kind: 'prompt', name: prompt.own };
    });
  }

  listResources(): readonly unknown[] {
    return this.#permitted(this.#held.listedResources, (item) =>
      this.#resource(textMember(item, 'uri')),
    );
  }

  listTemplates(): readonly unknown[] {
    return this.#permitted(this.#held.listedTemplates, (item) =>
      this.#resource(textMember(item, 'uriTemplate')),
    );
  }

  /** The server that owns a resource, if one does. */
  ownerOf(uri: string): ChildConfig | undefined {
    const owner = this.#held.ownerOf(uri);
    return this.#children.find(({ name }) => name === owner);
  }

  ask(method: string, params: Verbatim, context: CallContext): Promise<Verbatim> {
    switch (method) {
      case 'prompts/get':
        return this.#getPrompt(params, context);
      case 'resources/read':
        return this.#readResource(params, context);
      default:
        return this.#complete(params, context);
    }
  }

  /** Without what the permissions deny. */
  #permitted(
    items: readonly unknown[],
    targetOf: (item: unknown) => (RuleTarget & { readonly child: string }) | undefined,
  ): readonly unknown[] {
    if (!this.#children.some(({ rules }) => rules)) return items;
    return items.filter((item) => {
      const target = targetOf(item);
      const owner = this.#children.find(({ name }) => name === target?.child);
      return target && owner && isListed(target, owner);
    });
  }

  #resource(uri: string): (RuleTarget & { readonly child: string }) | undefined {
    const child = this.#held.ownerOf(uri);
    return child === undefined ? undefined : { child, kind: 'resource', name: uri };
  }

  get #held(): Holdings {
    this.#holdings ??= this.#settle(undefined, []);
    return this.#holdings;
  }

  /** Nothing to update before first use. */
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

  async #getPrompt(params: Verbatim, context: CallContext): Promise<Verbatim> {
    const name = textMember(params.value, 'name');
    const prompt = await this.#findPrompt(name);
    const own = params.with('name', Verbatim.of(prompt.own));
    return this.#send(prompt.child, 'prompts/get', prompt.own, own, context);
  }

  async #readResource(params: Verbatim, context: CallContext): Promise<Verbatim> {
    const uri = textMember(params.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner.name, 'resources/read', uri, params, context);
  }

  async #complete(params: Verbatim, context: CallContext): Promise<Verbatim> {
    const ref = params.member('ref');
    const type = isObject(ref?.value) ? ref.value['type'] : undefined;
    if (ref && type === 'ref/prompt') {
      const name = textMember(ref.value, 'name');
      const prompt = await this.#findPrompt(name);
      const own = params.with('ref', ref.with('name', Verbatim.of(prompt.own)));
      return this.#send(prompt.child, 'completion/complete', prompt.own, own, context);
    }
    const uri = textMember(ref?.value, 'uri');
    const owner = await this.#findOwner(uri);
    return this.#send(owner.name, 'completion/complete', uri, params, context);
  }

  /** A prompt that isn't known yet may belong to a server that has just started. */
  async #findPrompt(name: string): Promise<Prompt> {
    const known = this.#held.prompts.get(name);
    if (known) return known;
    await this.#pool.learned();
    const found = this.#held.prompts.get(name);
    if (found) return found;
    throw new RpcError(INVALID_PARAMS, `Unknown prompt: "${name}".`);
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
    target: string,
    params: Verbatim,
    context: CallContext,
  ): Promise<Verbatim> {
    const server = this.#children.find(({ name }) => name === childName);
    if (!server) throw new Error(`There is no server ${childName}.`);
    return this.#calls.send({ server, method, target, params, context, through: 'tool' });
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
