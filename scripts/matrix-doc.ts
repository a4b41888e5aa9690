// docs/matrix.md: what works between hosts and servers of either era, from the file that the tests
// of the matrix are made from.
import {
  type Cell,
  COMBINATIONS,
  FEATURES,
  type Feature,
  type Group,
  type Outcome,
} from '../test/e2e/matrix/cells.ts';

const INTRODUCTION = `# Hosts and servers of different eras

Written by \`npm run generate\` from \`test/e2e/matrix/cells.ts\`. Every cell is a test, with the official
SDKs' clients as hosts and their servers as servers (\`test/e2e/matrix\`).

Until 2025-11-25 a connection of MCP begins with a handshake, and either side may ask the other. Since
2026-07-28 ("modern") every request stands by itself, and a server that needs something answers so.
Switchboard speaks with each host and each server in its own era.`;

const MEANINGS: Record<Outcome, string> = {
  same: 'passes as it is, as if the host were connected with the server itself',
  bridged: 'the host gets the same by the means of its own era',
  differs: 'works, though not quite alike',
  refused: 'the host is told that it cannot be had',
  none: 'one of the two eras has no such thing',
};

const MARKS: Record<Outcome, string> = {
  same: '✓',
  bridged: '⇄',
  differs: '≈',
  refused: '✗',
  none: '–',
};

const TITLES: Record<Group, string> = {
  tools: 'Tools',
  questions: 'Questions of a server',
  refusals: 'Hosts that cannot be asked',
  endings: 'Questions that end otherwise',
  logging: 'Log messages',
  prompts: 'Prompts',
  resources: 'Resources',
  changes: 'Lists that change',
};

export function formatMatrix(): string {
  const legend = Object.entries(MEANINGS).map(
    ([outcome, meaning]) => `- ${MARKS[outcome as Outcome]} ${meaning}`,
  );
  const groups = Object.entries(TITLES).map(([group, title]) => formatGroup(group, title));
  return [INTRODUCTION, legend.join('\n'), ...groups].join('\n\n').concat('\n');
}

function formatGroup(group: string, title: string): string {
  const features: Feature[] = Object.values(FEATURES);
  const notes: string[] = [];
  const rows = features
    .filter((feature) => feature.group === group)
    .map(({ title: what, cells }) => {
      const marks = COMBINATIONS.map((combination) => formatCell(cells[combination], notes));
      return `| ${[what, ...marks].join(' | ')} |`;
    });
  const header = ['from host to server:', ...COMBINATIONS.map((pair) => pair.replace('/', ' → '))];
  const table = [
    `| ${header.join(' | ')} |`,
    `|---|${COMBINATIONS.map(() => ':-:|').join('')}`,
    ...rows,
  ];
  const footnotes = notes.map((note, index) => `${index + 1}. ${sentence(note)}`);
  return [`## ${title}`, table.join('\n'), footnotes.join('\n')].filter(Boolean).join('\n\n');
}

/** The mark, with the number of its note; the same note has one number. */
function formatCell({ outcome, note }: Cell, notes: string[]): string {
  if (note === undefined) return MARKS[outcome];
  if (!notes.includes(note)) notes.push(note);
  return `${MARKS[outcome]} <sup>${notes.indexOf(note) + 1}</sup>`;
}

function sentence(note: string): string {
  return `${note.slice(0, 1).toUpperCase()}${note.slice(1)}.`;
}
