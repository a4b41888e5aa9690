// What the configuration means once every file has been read and settled. The rest of the program
// sees only these types; how things may be written is the business of schema.ts.
import type { SwitchboardError } from '../base/errors.ts';

export interface Config {
  /** The folder that relative paths of the configuration are meant from. */
  readonly project: string;
  /** Switchboard's own folder, `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** The main files and `servers.json` that were read, strongest first; not the child files. */
  readonly files: readonly string[];
  /** Children by name, in the order they are shown. */
  readonly children: ReadonlyMap<string, ChildConfig>;
  /** Which eras hosts are offered; `auto` depends on whether there are flip children. */
  readonly era: 'auto' | 'handshake' | 'modern';
  /** Milliseconds until a question of a child's must be answered. */
  readonly questionMs: number;
  /** Whether flip children are listed as suites, too. */
  readonly flipSuites: 'auto' | 'always' | 'never';
  /** The longest message that is accepted from a host or a child, in bytes. */
  readonly messageBytes: number;
  /** What was wrong but did not stop us: sentences for stderr and `config check`. */
  readonly warnings: readonly string[];
}

export const SHOWS = ['suite', 'flip', 'direct', 'off'] as const;
export type Show = (typeof SHOWS)[number];

export const STARTS = ['lazy', 'eager'] as const;
type Start = (typeof STARTS)[number];

export interface ChildConfig {
  readonly name: string;
  /** The file that declares it. */
  readonly origin: string;
  readonly show: Show;
  /** What decided that: a key and its file, or the rule that holds without one. */
  readonly showBecause: string;
  readonly start: Start;
  readonly startBecause: string;
  /** Milliseconds without a call after which it is stopped; 0 for never. */
  readonly idleMs: number;
  readonly idleBecause: string;
  /** What to start. As written: `${VAR}` is filled in when the child is started. */
  readonly command: Command | undefined;
  /** The server's address, where it is reached over the network instead. As written. */
  readonly remote: Remote | undefined;
  /** Why it cannot be started, where that is known beforehand. It is listed all the same. */
  readonly problem: SwitchboardError | undefined;
  /** Absolute. */
  readonly cwd: string;
  readonly description: string | undefined;
  readonly switchboardDescription: string | undefined;
  readonly suiteName: string | undefined;
  /** Words by which hosts that hide tools find its suite. */
  readonly keywords: readonly string[] | undefined;
  /** `suites.<name>.description`: takes the place of the suite's whole description. */
  readonly suiteDescription: string | undefined;
  readonly expose: Expose;
  readonly introspection: Introspection;
  readonly timeouts: Timeouts;
  readonly messageBytes: number;
  readonly environment: 'inherit' | 'minimal';
  readonly stderr: 'inherit' | 'log' | 'drop';
  readonly framing: 'auto' | 'newline' | 'content-length';
  /** The revision to offer in the handshake instead of the newest. */
  readonly protocolVersion: string | undefined;
  /** How results are handed on: as MCP tool results, or as JSON inside one text. */
  readonly wrapResults: 'mcp' | 'json';
}

export interface Command {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

export interface Remote {
  /** `http` is tried as Streamable HTTP first and as the older HTTP+SSE after that. */
  readonly type: 'http' | 'sse' | 'ws';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
}

/** What a user may settle beforehand about signing in; the rest is found out. */
export interface OAuthSettings {
  /** Where the issuer does not register programs by itself. */
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
  readonly scopes?: readonly string[] | undefined;
  /** Where the issuer accepts only one address to come back to. */
  readonly callbackPort?: number | undefined;
}

/** Which subtools are shown and may be called; names or globs such as `browser_*`. */
export interface Expose {
  readonly allow: readonly string[] | undefined;
  readonly deny: readonly string[] | undefined;
}

export interface Introspection {
  readonly mode: 'summary' | 'full' | 'redacted';
  readonly summaryMaxChars: number;
}

interface Timeouts {
  /** Milliseconds until the handshake must be done. */
  readonly spawnMs: number;
  /** Milliseconds until a request must be answered. */
  readonly rpcMs: number;
  /** Milliseconds to wait after each step of stopping: end of input, SIGTERM. */
  readonly stopMs: number;
}
