// The user's rules for what may be used, as they are resolved for each server.
export const PERMISSIONS = ['allow', 'ask', 'deny'] as const;
export type Permission = (typeof PERMISSIONS)[number];

/** What someone wants to use. */
export interface RuleTarget {
  readonly kind: 'tool' | 'prompt' | 'resource';
  /** The tool's or prompt's name, or the resource's URI. */
  readonly name: string;
  /** A tool's annotations; undefined if they aren't known yet. */
  readonly hints?: RuleHints | undefined;
}

export interface RuleHints {
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

export interface PermissionDecision {
  readonly permission: Permission;
  /** The list with the rule, `default`, or `readOnly`. */
  readonly by: Permission | 'default' | 'readOnly';
  /** As written, if a rule decides. */
  readonly rule?: string | undefined;
  /** Undefined if no file sets anything. */
  readonly file?: string | undefined;
  /** All of this as part of a sentence: `permissions.deny "github" in <file>`. */
  readonly because: string;
}

/** The permissions of one server. Serializes to what they depend on, so that they can be compared. */
export interface ServerRules {
  /** Why nothing of the server may be used, if so. */
  readonly refusal: PermissionDecision | undefined;
  /** The file that limits it to read-only tools, if one does. */
  readonly readOnlyIn: string | undefined;
  /** Whether they may restrict prompts or resources. */
  readonly coversLibrary: boolean;
  /** Undefined if it depends on a tool's annotations, and they aren't known. */
  decide(target: RuleTarget): PermissionDecision | undefined;
  /** For the server's assistant, which applies the rules for single tools itself. */
  forAssistant(): ServerRules | undefined;
}

/** The server whose rules are wanted. */
export interface RuledServer {
  readonly name: string;
  /** The user's servers with the same command or address. Rules that restrict those apply to this one. */
  readonly aliases?: readonly string[] | undefined;
  /** It isn't the one the user declared by this name, so it gets no permissions because of its name. */
  readonly isReplaced?: boolean | undefined;
  /** The file that sets `readOnly` to true, if one does. */
  readonly readOnlyIn?: string | undefined;
}

/** The `permissions` of all files. */
export interface PermissionRules {
  /** The user's main file, for answers that are kept. It may not exist. */
  readonly usersFile: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** Undefined if none can apply. */
  rulesFor(server: RuledServer): ServerRules | undefined;
  /** The rule that means exactly this target; undefined if none can. */
  exactRule(server: string, target: string): string | undefined;
  /** Sentences about rules for names that servers don't list. `listed` has the names by server. */
  unmatched(listed: ReadonlyMap<string, readonly string[]>): string[];
}
