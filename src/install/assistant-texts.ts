// The files that put an assistant in front of a server with its own folder: the `.mcp.json` that starts the wrapper, and
// the wrapper itself, which only loads the installed runtime, so updates apply to it.
import { shortDigest } from '../base/digest.ts';
import { cleanText } from '../base/text.ts';
import { WRAPPER_END, writtenDigest } from '../config/files/assistant-folder.ts';
import type { ChildFile } from '../config/schema/schema.ts';

const LONGEST_NAME = 100;

/** A file name that is valid on every system. */
export function wrapperName(child: string): string {
  const safe = child.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_').replace(/^[.-]+/, '_');
  const short =
    safe.length > LONGEST_NAME ? `${safe.slice(0, LONGEST_NAME)}_${shortDigest(child)}` : safe;
  return `${short || '_'}${WRAPPER_END}`;
}

/** The configuration with the same effect. */
export function keysFor(child: string): string {
  return JSON.stringify({ suites: Object.fromEntries([[child, { assistant: true }]]) });
}

/** Longer than the assistant's own limit of two minutes, so that the assistant can report the timeout itself. */
const RPC_TIMEOUT_MS = 150_000;

/**
 * The file that starts the wrapper. It keeps everything hosts see of the server; the assistant reads the rest from
 * the original.
 */
export function wrapperFile(original: ChildFile): string {
  const { name, description, switchboardDescription, suiteName, keywords } = original;
  const { show, start, idleMs, disabled, results } = original;
  const file = {
    name,
    description,
    switchboardDescription,
    suiteName,
    keywords,
    show,
    start,
    idleMs,
    disabled,
    results,
    command: { cmd: 'node', args: [wrapperName(name)] },
    // The wrapper needs the API key and the variables that the original refers to.
    environment: 'inherit',
    rpcTimeoutMs: RPC_TIMEOUT_MS,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** `runtime` is the URL of the installed `dist/assistant.js`; `role` is what we wrote to CLAUDE.md, if we did. */
export function wrapperScript(child: string, runtime: string, role: string | undefined): string {
  // A line separator in the name would end the comment.
  const name = JSON.stringify(cleanText(child));
  const again = `switchboard assistant ${name} on`;
  const body = `// Assistant for the server ${name}. CLAUDE.md is its role, which you can edit; original/.mcp.json is the server's own
// file. Written by \`${again}\`; \`off\` undoes it.
import { exit, stderr } from 'node:process';

const PLACES = ${JSON.stringify([runtime, 'switchboard/assistant'])};

async function load() {
  for (const place of PLACES) {
    try {
      return await import(place);
    } catch (error) {
      if (!['ERR_MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'].includes(error.code)) throw error;
    }
  }
  stderr.write(${JSON.stringify(`The assistant for server ${name} needs Switchboard, which was not found at ${runtime}. Install Switchboard, then run: ${again}\n`)});
  exit(1);
}

const { runAssistant } = await load();
await runAssistant({ folder: import.meta.dirname });
// CLAUDE.md as written: ${role === undefined ? 'by the user' : writtenDigest(role)}
`;
  return `${body}// This file as written: ${writtenDigest(body)}\n`;
}

/** Whether a role is unmodified since the wrapper was written. */
export function isRoleOf(script: string, role: string): boolean {
  return (
    /^\/\/ CLAUDE\.md as written: ([0-9a-f]{8})\r?$/m.exec(script)?.[1] === writtenDigest(role)
  );
}

/** The default role. */
export function templateRole(name: string, description: string | undefined): string {
  const about = description?.trim();
  return [
    `You are the assistant for the MCP server "${name}". Another model sends you requests in plain language. Carry them`,
    "out with this server's tools.",
    ...(about ? ['', `What the server is for: ${about}`] : []),
    '',
    '- Look at your tools and choose the ones that fit. Call several if needed.',
    '- Rely only on tool results. Never guess names, IDs or paths: look them up first.',
    '- Change or delete only what the request explicitly asks for.',
    '- If a tool fails, read the error, correct the arguments and retry once. If it fails again, report the error.',
    '- Answer briefly with the facts, names and numbers that were asked for, not how you found them.',
    '- If the request is too unclear to act on, say what is missing.',
    '',
  ].join('\n');
}
