// Decides what a project may do. Everything in a project that starts a program, names an address, is code, or
// changes what models are told is judged before it is used. This file has only the interface: the layer `trust`
// implements it, and the code that loads a configuration passes it in.
import type { OpenedFile } from '../base/read-text.ts';
import type { ChildConfig } from './config.ts';
import type { Folders } from './files/places.ts';

export const TRUST_MODES = ['repository', 'ask', 'all'] as const;
export type TrustMode = (typeof TRUST_MODES)[number];

export interface TrustSettings {
  readonly mode: TrustMode;
  /** Absolute. Files below them are used no matter who owns them. */
  readonly directories: readonly string[];
  /** Whether hosts may ask the user to approve pending items; undefined means yes. */
  readonly elicitation?: boolean | undefined;
}

/**
 * Where a file comes from. `user`: not from a project. `yours`: created on this machine. `foreign`: came with a
 * repository. `refused`: it belongs to another user, or everyone can change it.
 */
export type FileOrigin = 'user' | 'yours' | 'foreign' | 'refused';

export type Verdict = 'approved' | 'pending' | 'denied' | 'changed';

type SubjectKind =
  | 'server'
  | 'settings'
  | 'hooks'
  | 'script'
  | 'descriptions'
  | 'role'
  | 'agent'
  | 'instructions'
  | 'model-map'
  | 'agent-server'
  | 'runner';

/** What a file contains. */
export interface BasisText {
  readonly text: string;
  /** Tells whether the file is still the same, without its text; undefined if it was changed just now. */
  readonly stamp?: string | undefined;
}

export type Basis = readonly BasisText[];

/** Something in a project that needs the user's consent. */
export interface Subject {
  readonly kind: SubjectKind;
  /** As the project writes it: it may contain anything. */
  readonly name: string;
  readonly file: string;
  readonly origin: 'yours' | 'foreign';
  /** It always needs the user's decision, even if the file was created on this machine. */
  readonly needsDecision?: boolean | undefined;
  /** What the approval is bound to: a server as the project declares it, or any JSON value. */
  readonly content: () => ChildConfig | object;
  /** The texts that everything about it follows from. Subjects with the same texts share one array. */
  readonly basis?: Basis | undefined;
  /** What it would do to the user's own servers, in words. Then it's never trusted without an approval. */
  readonly touches?: readonly string[] | undefined;
  /** Rights that count only if the user approved it with these lines shown. They follow from the content. */
  readonly rights?: readonly string[] | undefined;
  /** The user has consented to it in the program whose file this is. */
  readonly isConsented?: boolean | undefined;
}

export interface JudgedSubject {
  readonly subject: Subject;
  /** As hashed. */
  readonly content: object;
  readonly hash: string;
  readonly verdict: Verdict;
  /** It's used, but without the rights that the user hasn't seen. */
  readonly isLimited: boolean;
}

/** Something that was approved without asking: at first sight, or because it was in use before an update. */
export interface TrustedPart extends Pick<JudgedSubject, 'subject' | 'hash'> {
  readonly by: string;
}

export interface Judge {
  /** `isNamed`: a project's file names it, wherever it is. */
  originOf(file: string, opened: OpenedFile, isNamed?: boolean): FileOrigin;
  /** Whether the folder's content may have come with a repository. */
  isForeignFolder(folder: string): boolean;
  /** These files will be read next: some questions are cheaper for many at once. */
  expect?(files: readonly string[]): void;
  decide(subject: Subject): Verdict;
  /** Whether the user has approved it with its rights shown. */
  grants(subject: Subject): boolean;
  /** Records what was trusted without asking, and returns it. */
  save(): readonly TrustedPart[];
  /** Everything that was judged so far. */
  readonly judged: readonly JudgedSubject[];
  /** The number of pending items. */
  readonly waiting: number;
  /** The user's files that were just trusted at first sight. */
  readonly trusted: readonly string[];
  /** Why nothing is approved, if the user's decisions can't be read. */
  readonly problem?: string | undefined;
  /** Pending items the user hasn't been told about yet. */
  readonly newlyWaiting: readonly JudgedSubject[];
}

/** Loads the implementation: only projects that have files need it. */
export type OpenJudge = (settings: TrustSettings, folders: Folders) => Promise<Judge>;

export function isWaiting(verdict: Verdict): boolean {
  return verdict === 'pending' || verdict === 'changed';
}

export const WAITING_TEXT = 'Waiting for approval. Run: switchboard trust';

/** A name for something that isn't approved: nothing in it can be mistaken for anything else. */
export function harmlessName(name: string, taken: { has(name: string): boolean }): string {
  const plain = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 32);
  let distinct = plain;
  for (let number = 2; taken.has(distinct); number++) distinct = `${plain}_${number}`;
  return distinct;
}
