// What `switchboard status` reports for servers that aren't running: their configuration, and the catalog's data.
import { type ChildConfig, type Config, isOff } from '../config/config.ts';
import type { Catalog } from '../pool/catalog.ts';
import type { ChildStatus } from './status-report.ts';

export interface OfflineReport {
  readonly project: string;
  readonly files: readonly string[];
  readonly children: readonly OfflineChild[];
  /** Why servers may be missing. */
  readonly missing: readonly string[];
}

export interface OfflineChild extends ChildStatus {
  /** When its tools were last listed, ISO. */
  readonly listedAt: string | undefined;
}

export function createOfflineReport(config: Config, catalog: Pick<Catalog, 'get'>): OfflineReport {
  const children = [...config.children.values()].map((child) => describeChild(child, catalog));
  const { project, files, missing = [] } = config;
  return { project, files, children, missing };
}

function describeChild(child: ChildConfig, catalog: Pick<Catalog, 'get'>): OfflineChild {
  const { show } = child;
  const { lists, refused, listedAt, changes } = catalog.get(child);
  return {
    name: child.name,
    show,
    state: isOff(child) ? 'off' : child.problem ? 'error' : 'idle',
    pid: undefined,
    memoryBytes: undefined,
    uptimeMs: undefined,
    calls: 0,
    tools: lists.tools?.length,
    ...(refused.length > 0 && { refusedTools: refused }),
    ...(changes && { changes }),
    lastError: child.problem?.message,
    listedAt,
  };
}
