// The files that put an assistant before a server which has a folder of its own: the server's file that
// starts the wrapper, and the wrapper itself, which only loads our runtime, so that updates reach it.
import { shortDigest } from '../base/digest.ts';
import { cleanText } from '../base/text.ts';
import { WRAPPER_END, writtenDigest } from '../config/files/laid-out.ts';
import type { ChildFile } from '../config/schema/schema.ts';

const LONGEST_NAME = 100;

/** The wrapper of a server: a name that is one file on every system. */
export function wrapperName(child: string): string {
  const safe = child.replaceAll(/[^\p{L}\p{N}_.-]+/gu, '_').replace(/^[.-]+/, '_');
  const short =
    safe.length > LONGEST_NAME ? `${safe.slice(0, LONGEST_NAME)}_${shortDigest(child)}` : safe;
  return `${short || '_'}${WRAPPER_END}`;
}

/** What has the same effect in the configuration, without files. */
export function keysFor(child: string): string {
  return JSON.stringify({ suites: Object.fromEntries([[child, { assistant: true }]]) });
}

/**
 * A conversation with a model takes longer than a call: the assistant's own limit is two minutes, and
 * it shall be the one that ends it, since it can say why.
 */
const RPC_TIMEOUT_MS = 150_000;

/**
 * The file that starts the wrapper. What the host sees of the server stays; what is about its program
 * and its tools is for the assistant, which reads it in the original.
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
    // The wrapper needs the model's key, and what the original has variables for.
    environment: 'inherit',
    rpcTimeoutMs: RPC_TIMEOUT_MS,
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/**
 * `runtime` is the address of the installed `dist/assistant.js`; `role` is what we wrote into
 * CLAUDE.md, undefined if the text there is somebody else's.
 */
export function wrapperScript(child: string, runtime: string, role: string | undefined): string {
  // Cleaned: a line separator in a name would end the comment.
  const name = JSON.stringify(cleanText(child));
  const again = `switchboard assistant ${name} on`;
  const body = `// The server ${name}, spoken to in plain language. CLAUDE.md is the assistant's role, and yours to change;
// original/.mcp.json is the server's own file. Written by \`${again}\`; \`off\` undoes it.
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
  stderr.write(${JSON.stringify(`The assistant of server ${name} needs Switchboard, which is no longer at ${runtime}. Install it, then run: ${again}\n`)});
  exit(1);
}

const { runAssistant } = await load();
await runAssistant({ folder: import.meta.dirname });
// CLAUDE.md as written: ${role === undefined ? 'not by us' : writtenDigest(role)}
`;
  return `${body}// This file as written: ${writtenDigest(body)}\n`;
}

/** Whether a role is the one that stood there when the wrapper was written. */
export function isRoleOf(script: string, role: string): boolean {
  return (
    /^\/\/ CLAUDE\.md as written: ([0-9a-f]{8})\r?$/m.exec(script)?.[1] === writtenDigest(role)
  );
}

/** What an assistant is told to be where nobody has said it: the name and what is known of it. */
export function templateRole(name: string, description: string | undefined): string {
  const about = description?.trim();
  return [
    `You are the assistant of the MCP server "${name}". You get requests in plain language from another model and`,
    "carry them out with this server's tools.",
    ...(about ? ['', `What the server is for: ${about}`] : []),
    '',
    '- Look at the tools you have and choose the ones that fit; call several where that is needed.',
    '- Use only what the tools tell you. Do not guess names, ids or paths: look them up first.',
    '- Change or delete something only if the request asks for it, and nothing more than it asks for.',
    '- If a tool fails, read what it says, correct the arguments and try once more. Then say what failed.',
    '- Answer briefly with what was asked for: facts, names and numbers, not how you found them.',
    '- If the request is not clear enough to act on, say what is missing.',
    '',
  ].join('\n');
}
