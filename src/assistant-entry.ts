// What the small script in the folder of an assistant runs, so that updates of this program reach it.
import { fileURLToPath } from 'node:url';

/** Serves the server whose folder was laid out for an assistant, as the program itself does. */
export async function runAssistant({ folder }: { readonly folder: string }): Promise<void> {
  const program = fileURLToPath(new URL('index.js', import.meta.url));
  process.argv = [process.execPath, program, 'assistant', 'serve', '--folder', folder];
  await import('./index.ts');
}
