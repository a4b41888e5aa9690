// A tiny MCP server to try things on. It has no dependencies and does nothing but answer, so that
// what you see on stdin and stdout is the protocol itself.
//
// Both ways of marking where a message ends are understood: one JSON text on a line, and an LSP
// style `Content-Length` header in front of the JSON. An answer comes in the manner of its request.
// The program ends when its input ends.

const KNOWN_VERSIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'];

const TOOLS = [
  {
    name: 'click',
    description: 'Click a selector',
    inputSchema: {
      type: 'object',
      properties: { selector: { type: 'string', description: 'CSS selector of the element' } },
      required: ['selector'],
    },
  },
  {
    name: 'type_text',
    description: 'Type text into the element that a selector finds',
    inputSchema: {
      type: 'object',
      properties: {
        selector: { type: 'string', description: 'CSS selector of the input' },
        text: { type: 'string' },
        submit: { type: 'boolean', description: 'Press Enter afterwards', default: false },
      },
      required: ['selector', 'text'],
    },
  },
  {
    name: 'navigate',
    // Long on purpose: real servers write like this, and it shows how a suite shortens it.
    description:
      'Open an address in the current tab and wait until the page has finished loading.\n\n' +
      'The address has to be complete, with its scheme. Redirects are followed, up to twenty of ' +
      'them, and the answer names the address at which they ended. When the page asks for a ' +
      'download the tab stays where it was. Pages that never stop loading are given thirty ' +
      'seconds, after which whatever is there counts as loaded. Use `echo` instead if all you ' +
      'want to know is whether this server is alive.',
    inputSchema: {
      type: 'object',
      properties: {
        url: { type: 'string', format: 'uri' },
        waitUntil: { type: 'string', enum: ['load', 'domcontentloaded', 'networkidle'] },
      },
      required: ['url'],
    },
  },
  {
    name: 'echo',
    description: 'Give back the arguments',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } } },
  },
];

const METHODS = {
  initialize: ({ protocolVersion } = {}) => ({
    protocolVersion: KNOWN_VERSIONS.includes(protocolVersion) ? protocolVersion : KNOWN_VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: 'mock-child', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS }),
  // Not the `content` that MCP describes but a bare object, to show that a gateway in front of this
  // server hands on what it is given.
  'tools/call': ({ name, arguments: args = {} } = {}) => ({ ok: true, name, args }),
};

/** The answer to one message, or undefined for those that want none. */
function answer(text) {
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    return failure(null, -32700, 'Parse error');
  }
  const { id, method, params } = message ?? {};
  if (id === undefined) return undefined;
  if (!Object.hasOwn(METHODS, method)) return failure(id, -32601, `Method not found: ${method}`);
  return { jsonrpc: '2.0', id, result: METHODS[method](params) };
}

function failure(id, code, message) {
  return { jsonrpc: '2.0', id, error: { code, message } };
}

/**
 * Cuts the first whole message off the bytes that have arrived. `undefined` means: not all here yet.
 * At the end of the input a last line counts as whole even without its newline.
 */
function takeMessage(bytes, { atEnd }) {
  const start = bytes.findIndex((byte) => byte > 0x20);
  if (start < 0) return undefined;
  const rest = bytes.subarray(start);

  if (/^[A-Za-z-]+:/.test(rest.toString('latin1', 0, 80))) {
    const headerEnd = rest.indexOf('\r\n\r\n');
    if (headerEnd < 0) return undefined;
    const header = rest.toString('latin1', 0, headerEnd);
    const length = Number(/^content-length:\s*(\d+)/im.exec(header)?.[1] ?? 0);
    const body = headerEnd + 4;
    if (rest.length < body + length) return undefined;
    return {
      framing: 'header',
      text: rest.toString('utf8', body, body + length),
      rest: rest.subarray(body + length),
    };
  }

  const newline = rest.indexOf('\n');
  if (newline < 0 && !atEnd) return undefined;
  const end = newline < 0 ? rest.length : newline;
  return { framing: 'line', text: rest.toString('utf8', 0, end), rest: rest.subarray(end) };
}

function send(message, framing) {
  const json = JSON.stringify(message);
  const header = `Content-Length: ${Buffer.byteLength(json)}\r\n\r\n`;
  process.stdout.write(framing === 'header' ? header + json : `${json}\n`);
}

let pending = Buffer.alloc(0);

function drain(options) {
  let message = takeMessage(pending, options);
  while (message !== undefined) {
    pending = message.rest;
    const reply = answer(message.text);
    if (reply !== undefined) send(reply, message.framing);
    message = takeMessage(pending, options);
  }
}

process.stdin.on('data', (chunk) => {
  pending = Buffer.concat([pending, chunk]);
  drain({ atEnd: false });
});
process.stdin.on('end', () => drain({ atEnd: true }));
