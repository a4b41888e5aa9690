import { expect, test } from 'vitest';
import { Verbatim } from '../../../src/rpc/verbatim.ts';
import {
  createGatewayTools,
  gatewayAction,
  isGatewayName,
  parseServerName,
} from '../../../src/surface/gateway.ts';

const nameIn = (args: object) => parseServerName('gateway_activate', Verbatim.of(args));

test.each([
  ['gateway_activate', 'activate'],
  ['mcpflip_deactivate', 'deactivate'],
  ['gateway_status', 'status'],
])('%s means %s, and is reserved for the gateway', (name, action) => {
  expect(gatewayAction(name)).toBe(action);
  expect(isGatewayName(name)).toBe(true);
});

test.each([
  'gateway',
  'gateway_',
  'gateway_suite',
  'gateway_status_2',
  'Gateway_status',
  'x_gateway_status',
  'gateway_status\n',
  'constructor',
])('%j is not a gateway name', (name) => {
  expect(gatewayAction(name)).toBeUndefined();
  expect(isGatewayName(name)).toBe(false);
});

test('the three tools name the servers, on one line and without hidden characters', () => {
  const tools = createGatewayTools(['box', 'two\nlines', 'hid\u200bden']);
  expect(tools.map(({ name }) => name)).toEqual([
    'gateway_activate',
    'gateway_deactivate',
    'gateway_status',
  ]);
  expect(tools[0]?.['description']).toContain('Servers: "box", "two lines", "hidden".');
  for (const tool of tools) expect(tool['inputSchema']).toMatchObject({ type: 'object' });
});

test('the same servers give the same bytes', () => {
  const text = () => JSON.stringify(createGatewayTools(['a', 'b']));
  expect(text()).toBe(text());
});

test('a call names its server, or gets an error that says how', () => {
  expect(nameIn({ name: ' box ' })).toBe(' box ');
  for (const args of [{}, { name: '' }, { name: 7 }, { name: null }, { server: 'box' }, []]) {
    expect(() => nameIn(args)).toThrow('needs a server name');
  }
});
