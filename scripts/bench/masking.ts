// Row 19: masking secrets, per megabyte: in results, with `results.secrets` set to `mask`, and in what servers print. In
// this process: only the masks are measured.
import { createLineMask } from '../../src/base/secrets.ts';
import { maskTokens } from '../../src/base/tokens.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';
import { SecretFinder } from '../../src/trust/redaction/finder.ts';
import { maskResult } from '../../src/trust/redaction/results.ts';
import { median } from './measure.ts';
import type { Bench, Row } from './row.ts';

const MEGABYTE = 1 << 20;
const VALUES = [
  'configured-value',
  'Bearer another-value-0815',
  'https://user:pass-word@host/',
  'a'.repeat(40),
];
const TOKEN = ['ghp', 'aB3dE5gH7j'.repeat(4).slice(0, 36)].join('_');

export async function measureMasking({ rounds, progress }: Bench): Promise<Row[]> {
  progress('masking results and logs');
  const finder = new SecretFinder(VALUES);
  const results = Object.entries(CORPORA).map(([what, create]): Row => {
    const text = create();
    const mask = () => maskResult(new Verbatim(text, {}), finder);
    return rowOf(`masking a result, ${what}, per MB`, text, rounds(25), mask);
  });
  const log = LINE.repeat(MEGABYTE / LINE.length);
  const lines = log.split('\n');
  const maskLine = createLineMask(VALUES);
  const maskLog = () => lines.map((line) => maskTokens(maskLine(line)));
  return [...results, rowOf('masking log lines, per MB', JSON.stringify(log), rounds(25), maskLog)];
}

function rowOf(what: string, text: string, rounds: number, work: () => unknown): Row {
  const measured = cpuPerMegabyte(text, rounds, work);
  const parsing = cpuPerMegabyte(text, rounds, () => JSON.parse(text));
  return {
    group: 19,
    what,
    measured,
    unit: 'ms',
    budget: { most: 10 },
    beside: [
      `${(measured / parsing).toFixed(1)} × the ${parsing.toFixed(1)} ms that JSON.parse takes`,
    ],
  };
}

/** Processor time, because nothing here waits. */
function cpuPerMegabyte(text: string, rounds: number, work: () => unknown): number {
  const taken = Array.from({ length: WARM_UPS + rounds }, () => {
    const begin = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(begin);
    return ((user + system) / 1_000) * (MEGABYTE / text.length);
  });
  return median(taken.slice(WARM_UPS));
}

const WARM_UPS = 5;

const LINE =
  'const total = items.filter(({ price }) => price > 10).map((item) => `${item.name}: ${item.price}`);\n';

/** A megabyte each. */
const CORPORA: Readonly<Record<string, () => string>> = {
  'one text': () => resultOf(LINE.repeat(MEGABYTE / LINE.length)),
  'one text with secrets': () =>
    resultOf(`${LINE.repeat(50)}key ${TOKEN} ${VALUES[0]}\n`.repeat(MEGABYTE / (50 * LINE.length))),
  'one text of JSON with secrets': () =>
    resultOf(
      JSON.stringify(
        Array.from({ length: 12_000 }, (_none, index) => ({
          name: `item ${index}`,
          path: `/some/folder/${index}`,
          key: index % 100 === 0 ? TOKEN : '',
        })),
      ),
    ),
  'one text with escaped slashes': () =>
    resultOf('a/path/to/some/file, '.repeat(MEGABYTE / 24)).replaceAll('/', String.raw`\/`),
  'many small strings': () =>
    resultOf(...Array.from({ length: 20_000 }, (_none, index) => `item ${index}`)),
  'many small strings with secrets': () =>
    resultOf(
      ...Array.from({ length: 20_000 }, (_none, index) =>
        index % 100 === 0 ? `key ${TOKEN}` : `item ${index}`,
      ),
    ),
};

function resultOf(...texts: string[]): string {
  return JSON.stringify({ content: texts.map((text) => ({ type: 'text', text })) });
}
