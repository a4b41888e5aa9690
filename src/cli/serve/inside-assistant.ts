// Assistants of a session in the background process. They run in the session, and use the same processes of servers as
// everyone else.
import { expandCommand } from '../../config/server/expand.ts';
import { AssistantSurface } from '../../surface/assistant.ts';
import { type OpenAssistant, Switchboard } from '../../switchboard.ts';
import { createAssistant, serverOf, toolServerFor } from '../assistant-parts.ts';
import type { OwnCommandOptions } from '../own-program.ts';

/** `own` starts this program again, for a provider's program that uses the tools by itself. */
export function assistantOpener(own: OwnCommandOptions, hosts: 'one' | 'many'): OpenAssistant {
  return (child, { config, send, ...parts }) => {
    // The wrapper in a server's folder can have variables of its own.
    const env = { ...own.env, ...(child.command && expandCommand(child, own.env).env) };
    const server = serverOf(child, env, false);
    const inner = new Switchboard({
      ...parts,
      config: { ...config, children: new Map([[server.name, server]]) },
      environment: env,
      isAssistant: true,
    });
    const assistant = createAssistant(inner, server, {
      env,
      toolServer: toolServerFor(server.name, config, { ...own, env }, { isShared: true }),
      log: parts.log,
      hasConversation: hosts === 'one',
    });
    const { session, setFull, close } = inner.openSession({
      openSurface: () => new AssistantSurface(server, inner.pool, assistant),
      send: (json) => send(json),
    });
    return {
      receive: (text) => session.receive({ text, value: JSON.parse(text), framing: 'newline' }),
      setFull,
      report: () => inner.pool.report(server.name),
      async [Symbol.asyncDispose]() {
        close();
        assistant[Symbol.dispose]();
        await inner[Symbol.asyncDispose]();
      },
    };
  };
}
