// What a project's agent may ask for. A sandbox without limits, and a run without asking, need an approval that
// says so. Where the engine sends its requests is the user's decision alone.
import type { RunFields } from './agent.ts';

/** The rights of an agent that need an approval, in the words the user approves. */
export function rightsOf({ sandbox, approvals }: RunFields): string[] {
  const isOpen = sandbox === 'danger-full-access';
  const isSilent = approvals === 'never';
  if (isOpen && isSilent) return ['runs with danger-full-access, without asking'];
  if (isOpen) return ['runs with danger-full-access'];
  return isSilent ? ['runs without asking'] : [];
}

export interface LimitedRun {
  readonly run: RunFields;
  /** Complete sentences for the caller. */
  readonly limits: readonly string[];
}

/** The run without those rights. `name`: how the user approves the agent. */
export function limitRun(run: RunFields, name: string): LimitedRun {
  const limits: string[] = [];
  const limit = (key: string, wanted: string, given: string) =>
    limits.push(
      `The agent's ${key} is ${given} instead of ${wanted}, because you haven't approved that. To approve it, run: switchboard trust approve ${name}`,
    );
  const isOpen = run.sandbox === 'danger-full-access';
  if (isOpen) limit('sandbox_mode', 'danger-full-access', 'workspace-write');
  const isSilent = run.approvals === 'never';
  if (isSilent) limit('approval_policy', 'never', 'on-request');
  return {
    run: {
      ...run,
      ...(isOpen && { sandbox: 'workspace-write' }),
      ...(isSilent && { approvals: 'on-request' }),
    },
    limits,
  };
}

export interface UsersRun {
  readonly run: RunFields;
  /** Sentences without file and line. */
  readonly warnings: readonly string[];
}

/**
 * The run without an address and a provider of its own. A provider that is used anyway doesn't cause a warning;
 * `isUsual` tells.
 */
export function withoutProvider(
  { baseUrl, provider, ...run }: RunFields,
  isUsual: (provider: string) => boolean,
): UsersRun {
  const warnings: string[] = [];
  if (baseUrl !== undefined) {
    warnings.push(
      "chatgpt_base_url is ignored in a project's agent. Set it in the engine's own configuration.",
    );
  }
  if (provider !== undefined && !isUsual(provider)) {
    warnings.push(
      "model_provider is ignored in a project's agent. Set it in the engine's own configuration.",
    );
  }
  return { run, warnings };
}
