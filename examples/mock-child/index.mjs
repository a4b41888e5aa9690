// A tiny MCP server without dependencies, to see the bare protocol on stdin and stdout.
//
// It accepts one JSON message per line, or an LSP-style `Content-Length` header before each message,
// and answers in the framing of the request. It exits when stdin closes.

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
    description: 'Type text into an element',
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
    // Long on purpose, like in real servers, to show how a suite shortens it.
    description:
      'Open a URL in the current tab and wait until the page has loaded.\n\n' +
      'The URL must include its scheme. Up to twenty redirects are followed, and the result contains ' +
      'the final URL. If the page starts a download, the tab stays where it was. Pages that never ' +
      'stop loading time out after thirty seconds, and whatever is there by then counts as loaded. ' +
      'To check whether this server is alive, use `echo` instead.',
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
    description: 'Return the arguments',
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
  // A bare object instead of MCP's `content`, to show that Switchboard forwards it.
  'tools/call': ({ name, arguments: args = {} } = {}) => ({ ok: true, name, args }),
};

/** The response to a message, or undefined for notifications. */
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
 * Takes the first complete message from the buffer, or returns undefined if it hasn't fully arrived.
 * At the end of the input, the last line doesn't need a newline.
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
