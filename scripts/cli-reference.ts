// docs/cli.md: the help of every command, as the program prints it.
import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';

const INTRODUCTION = `# Commands

Written by \`npm run generate\` from the program's own help.

Every command takes \`--config <file>\`, \`--servers <file>\` and \`--json\`, but for \`config\`, \`skill\` and \`help\`, which only lead to
others. With \`--json\` stdout gets one JSON document, and a
failure is one JSON object on stderr. Colours and the line that shows what is being waited for appear
only on a terminal; \`NO_COLOR\` turns colours off. \`SWITCHBOARD_DEBUG=1\` (or \`SWITCHBOARD_LOG=debug\`, \`info\`,
\`warn\`, \`error\`, \`off\`) says how much is logged on stderr; [agents.md](agents.md#the-log) has its forms.
`;

export function formatCliReference(): string {
  const root = buildProgram(() => async () => {});
  const sections = commandsOf(root, []).map((path) => {
    const title = ['switchboard', ...path].join(' ');
    return `## ${title}\n\n\`\`\`\n${helpOf(path).trim()}\n\`\`\`\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function commandsOf(command: Command, path: string[]): string[][] {
  const below = command.commands.flatMap((child) => commandsOf(child, [...path, child.name()]));
  return [path, ...below];
}

function helpOf(path: readonly string[]): string {
  let text = '';
  const program = buildProgram(() => async () => {});
  const collect = (command: Command): void => {
    command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
    for (const child of command.commands) collect(child);
  };
  collect(program);
  try {
    program.parse([...path, '--help'], { from: 'user' });
  } catch {
    // commander leaves by an error once the help is written
  }
  return text;
}
