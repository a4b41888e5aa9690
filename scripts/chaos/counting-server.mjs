// counting-server.mjs FILE: a server whose tool `count` writes its argument `number` to FILE before it does anything
// else, waits `ms` milliseconds, and returns the number. So FILE tells how often every call was executed.
import { appendFileSync } from 'node:fs';

const [, , file] = process.argv;

const TOOLS = [
  {
    name: 'count',
    description: 'Write a number down and give it back.',
    inputSchema: {
      type: 'object',
      properties: { number: { type: 'string' }, ms: { type: 'integer' } },
    },
  },
];

function send(id, content) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...content })}\n`);
}

function receive({ id, method, params }) {
  if (id === undefined) return;
  switch (method) {
    case 'initialize':
      return send(id, {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: 'counting-server', version: '1.0.0' },
        },
      });
    case 'ping':
      return send(id, { result: {} });
    case 'tools/list':
      return send(id, { result: { tools: TOOLS } });
    case 'tools/call': {
      const { number, ms = 0 } = params.arguments;
      appendFileSync(file, `${number}\n`);
      const answer = () => send(id, { result: { content: [{ type: 'text', text: number }] } });
      return ms === 0 ? answer() : setTimeout(answer, ms);
    }
    default:
      return send(id, { error: { code: -32601, message: `Method not found: ${method}` } });
  }
}

let unread = '';
process.stdin.setEncoding('utf8').on('data', (text) => {
  const lines = (unread + text).split('\n');
  unread = lines.pop();
  for (const line of lines) receive(JSON.parse(line));
});
process.stdin.on('end', () => process.exit());
