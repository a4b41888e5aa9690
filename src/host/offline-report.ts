// What `switchboard status` can say of children that nobody runs: what the configuration has, and what
// is remembered of them.
import type { ChildConfig, Config } from '../config/config.ts';
import type { ChildStatus, Show } from './status-report.ts';

export interface OfflineReport {
  readonly project: string;
  readonly files: readonly string[];
  readonly children: readonly OfflineChild[];
}

export interface OfflineChild extends ChildStatus {
  /** When its tools were listed last, ISO. */
  readonly listedAt: string | undefined;
}

/** What is known of children beside how they are started. */
export interface ChildKnowledge {
  readonly knownTools: (child: ChildConfig) => KnownTools | undefined;
  readonly showOf: (child: ChildConfig) => Show;
}

interface KnownTools {
  readonly count: number;
  readonly listedAt: string;
}

export const NOTHING_KNOWN: ChildKnowledge = {
  knownTools: () => undefined,
  showOf: () => 'suite',
};

export function createOfflineReport(config: Config, knowledge: ChildKnowledge): OfflineReport {
  const children = [...config.children.values()].map((child) => describeChild(child, knowledge));
  return { project: config.project, files: config.files, children };
}

function describeChild(child: ChildConfig, { knownTools, showOf }: ChildKnowledge): OfflineChild {
  const show = showOf(child);
  const known = knownTools(child);
  return {
    name: child.name,
    show,
    state: show === 'off' ? 'off' : child.problem ? 'error' : 'idle',
    pid: undefined,
    memoryBytes: undefined,
    uptimeMs: undefined,
    calls: 0,
    tools: known?.count,
    lastError: child.problem?.message,
    listedAt: known?.listedAt,
  };
}
