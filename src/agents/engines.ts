// The one place that chooses the engine.
import type { Engine, EngineParts } from './engine.ts';

/** Loaded with the first run, so that a host that only lists tools doesn't wait for it. */
export async function openEngine(parts: EngineParts): Promise<Engine> {
  const { createCodexEngine } = await import('./codex/engine.ts');
  return createCodexEngine(parts);
}

/** For an agent without a description. Listing uses it, so it must not load the engine. */
export function defaultDescription(agentName: string): string {
  return `Agent '${agentName}': Execute tasks via Codex`;
}
