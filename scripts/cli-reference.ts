// Generates docs/cli.md: the help of every command, as the program prints it.
import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';

const INTRODUCTION = `# Commands

Generated from \`switchboard --help\` by \`npm run generate\`.

Every command except \`help\` accepts \`--config <file>\`, \`--servers <file>\` and \`--json\` (with \`config\`, \`secret\`
and \`skill\`, after the subcommand). With \`--json\`, results are one JSON document on stdout and errors are one JSON object on stderr.
Set \`NO_COLOR\` to disable colors. For log levels and formats, see [logging.md](logging.md).
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
  const below = visibleIn(command).flatMap((child) => commandsOf(child, [...path, child.name()]));
  return [path, ...below];
}

function helpOf(path: readonly string[]): string {
  let text = '';
  const program = buildProgram(() => async () => {});
  const collect = (command: Command): void => {
    command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => 100 });
    for (const child of visibleIn(command)) collect(child);
  };
  collect(program);
  try {
    program.parse([...path, '--help'], { from: 'user' });
  } catch {
    // commander throws once the help is written
  }
  return text;
}

/** Without commands that only the program itself starts. */
function visibleIn(command: Command): readonly Command[] {
  const shown = new Set(command.createHelp().visibleCommands(command));
  return command.commands.filter((child) => shown.has(child));
}
