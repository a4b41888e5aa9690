// A session's environment, which arrives in two steps: the variables that configuration files depend on, and the
// others if something needs them. It records which ones were read before they were there.
import { minimalNames } from '../base/process.ts';
import { type Config, isOff } from '../config/config.ts';
import { expandableStrings, secretReferences, variablesIn } from '../config/server/expand.ts';
import type { Loaded } from '../project.ts';
import type { WantedNames } from './hello.ts';

export class SessionEnvironment {
  /** What the session's project gets. */
  readonly variables: NodeJS.ProcessEnv;
  readonly #values: NodeJS.ProcessEnv;
  readonly #missed = new Set<string>();
  #isListed = false;
  #isComplete = false;

  constructor(values: Readonly<Record<string, string>>) {
    this.#values = { ...values };
    this.variables = new Proxy(this.#values, {
      get: (target, name) => {
        this.#note(name);
        return Reflect.get(target, name) as unknown;
      },
      has: (target, name) => {
        this.#note(name);
        return Reflect.has(target, name);
      },
      getOwnPropertyDescriptor: (target, name) => {
        this.#note(name);
        return Reflect.getOwnPropertyDescriptor(target, name);
      },
      ownKeys: (target) => {
        this.#isListed = true;
        return Reflect.ownKeys(target);
      },
    });
  }

  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** The variables that were read in vain. */
  get missed(): WantedNames {
    return this.#isListed ? 'all' : [...this.#missed];
  }

  /** Adds variables. Returns whether any of them would have been read before. */
  add(values: Readonly<Record<string, string>>, names: WantedNames): boolean {
    const isLate = (name: string): boolean =>
      (this.#isListed || this.#missed.has(name)) && this.#values[name] === undefined;
    const wasMissed = Object.keys(values).some(isLate);
    Object.assign(this.#values, values);
    this.#missed.clear();
    this.#isListed = false;
    this.#isComplete ||= names === 'all';
    return wasMissed;
  }

  #note(name: string | symbol): void {
    if (this.#isComplete || typeof name === 'symbol') return;
    if (this.#values[name] === undefined) this.#missed.add(name);
  }
}

/** Proxies and certificates, for servers that are reached over HTTP. */
const NETWORK = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY'].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** The variables that a project's servers and agents need. */
export function namesFor({ config, found }: Loaded): WantedNames {
  const used = [...config.children.values()].filter((child) => !isOff(child));
  const inherits = used.some(({ command, environment }) => command && environment !== 'minimal');
  const runsPrograms =
    config.hooks !== undefined || used.some((child) => secretReferences(child).length > 0);
  if (inherits || runsPrograms || found.agents.length > 0 || hasAssistants(config)) return 'all';
  const declared = used.flatMap((child) =>
    expandableStrings(child).flatMap(([, text]) => variablesIn(text)),
  );
  return [...new Set([...minimalNames(), ...NETWORK, ...declared])];
}

function hasAssistants({ children }: Config): boolean {
  return [...children.values()].some(({ behind }) => behind !== undefined);
}
