// Row 19: masking secrets in a result, with `results.secrets` set to `mask`, per megabyte of JSON. In this process: only
// the filter is measured.
import { Verbatim } from '../../src/rpc/verbatim.ts';
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
  progress('masking results');
  return Object.entries(CORPORA).map(([what, create]) => {
    const text = create();
    const perMegabyte = Array.from({ length: rounds(25) }, () => {
      const result = new Verbatim(text, {});
      const begin = performance.now();
      maskResult(result, VALUES);
      return ((performance.now() - begin) * MEGABYTE) / text.length;
    });
    return {
      group: 19,
      what: `masking a result, ${what}, per MB`,
      measured: median(perMegabyte),
      unit: 'ms',
      budget: { most: 10 },
      beside: [],
    };
  });
}

const LINE =
  'const total = items.filter(({ price }) => price > 10).map((item) => `${item.name}: ${item.price}`);\n';

/** A megabyte each. */
const CORPORA: Readonly<Record<string, () => string>> = {
  'one text': () => resultOf(LINE.repeat(MEGABYTE / LINE.length)),
  'one text with secrets': () =>
    resultOf(`${LINE.repeat(50)}key ${TOKEN} ${VALUES[0]}\n`.repeat(MEGABYTE / (50 * LINE.length))),
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
