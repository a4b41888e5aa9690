// Bundles the program: a small dist/index.js that holds what serving over stdio needs, and chunks
// that are loaded when a command or a rare situation asks for them. Dependencies are included, so
// that `npx` fetches one package and a host's start reads few files.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

rmSync('dist', { recursive: true, force: true });
await build({
  entryPoints: ['src/index.ts'],
  outdir: 'dist',
  bundle: true,
  splitting: true,
  platform: 'node',
  mainFields: ['module', 'main'], // jsonc-parser's `main` cannot be bundled
  format: 'esm',
  target: 'node20.19',
  minify: true,
  legalComments: 'linked',
  define: { __VERSION__: JSON.stringify(version) },
  banner: {
    // CommonJS packages inside the bundle call require() for Node's own modules.
    js: "#!/usr/bin/env node\nimport { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
  },
  chunkNames: 'chunks/[name]-[hash]',
  logLevel: 'warning',
});

// The same program under the name that does not end in `.js`, for hosts configured that way.
writeFileSync('dist/switchboard', "#!/usr/bin/env node\nimport './index.js';\n");
for (const file of ['dist/index.js', 'dist/switchboard']) chmodSync(file, 0o755);
