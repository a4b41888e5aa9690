// The server behind every measurement: MCP by hand, one JSON text per line, no dependencies. It does as little as
// possible, so that the path to it is what's measured. `echo` returns a string; `large` returns a string of the
// given size, built before its first use and then only written; `life` reports its process and how often it was
// initialized. With `--modern` it uses the era without handshakes, and marks each result as complete.
import { onLine } from './lines.mjs';

const TOOLS = [
  {
    name: 'echo',
    description: 'Give back a text.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
  },
  {
    name: 'large',
    description: 'Give a text of so many bytes.',
    inputSchema: {
      type: 'object',
      properties: { bytes: { type: 'integer' }, letter: { type: 'string' } },
    },
  },
  {
    name: 'life',
    description: 'Tell which process this is.',
    inputSchema: { type: 'object' },
  },
];

const MODERN = process.argv.includes('--modern') ? { resultType: 'complete' } : undefined;

let handshakes = 0;

const DISCOVERY = {
  supportedVersions: ['2026-07-28'],
  capabilities: { tools: {} },
  resultType: 'complete',
};

/** Results of `large` as JSON text, by their arguments. */
const prepared = new Map();

/** The result of a request, as JSON text. */
function answer(method, params) {
  switch (method) {
    case 'initialize':
      if (MODERN) throw new Error('Greeted, as no modern server should be.'); // not measured
      handshakes++;
      return JSON.stringify({
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'bench-child', version: '1.0.0' },
      });
    case 'server/discover':
      return JSON.stringify(MODERN ? DISCOVERY : {});
    case 'tools/list':
      return JSON.stringify({ tools: TOOLS, ...MODERN });
    case 'tools/call':
      return call(params.name, params.arguments);
    default:
      return '{}';
  }
}

function call(name, args) {
  switch (name) {
    case 'large':
      return large(args);
    case 'life':
      return text(JSON.stringify({ pid: process.pid, handshakes }));
    default:
      return text(args.message);
  }
}

function text(value) {
  return JSON.stringify({ content: [{ type: 'text', text: value }], ...MODERN });
}

function large({ bytes, letter }) {
  const key = `${bytes} ${letter}`;
  const times = Math.ceil(bytes / Buffer.byteLength(letter));
  if (!prepared.has(key)) prepared.set(key, text(letter.repeat(times)));
  return prepared.get(key);
}

onLine(process.stdin, (line) => {
  const { id, method, params } = JSON.parse(line.toString());
  if (id === undefined) return;
  process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${answer(method, params)}}\n`);
});
