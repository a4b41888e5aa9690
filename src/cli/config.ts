// `switchboard config check|print|schema`: the configuration as it is understood.
import { cleanText, onOneLine } from '../base/text.ts';
import { describeConfig } from '../config/describe.ts';
import { formatRows } from './layout.ts';
import { NO_SERVERS } from './no-servers.ts';
import { isOff, offServers, printOff } from './off.ts';
import { count, createOutput } from './output.ts';
import { type CommandOptions, loadFor } from './with-switchboard.ts';

export async function checkConfig(options: CommandOptions): Promise<number> {
  const output = createOutput(options);
  const config = await loadFor(options);
  const { files, children, warnings } = config;
  const shown = [...children.values()].map(({ name, show, showBecause }) => ({
    name,
    show,
    because: showBecause,
  }));
  output.json({ ok: true, files, children: [...children.keys()], shown, warnings });
  output.line(
    files.length > 0 ? `Read ${files.join(', ')}.` : 'No configuration file; the defaults apply.',
  );
  const listed = [...children.values()].filter((child) => !isOff(child));
  const rows = listed.map(({ name, show, origin, problem }) => ({
    cells: [
      { text: onOneLine(name) },
      { text: show.padEnd(6) },
      { text: onOneLine(origin), style: 'dim' as const },
    ],
    below: problem && { text: cleanText(problem.text), style: 'yellow' as const },
  }));
  for (const line of formatRows(rows, { ...output, indent: '  ' })) output.line(line);
  printOff(offServers(config, undefined), output);
  for (const warning of warnings) output.line(output.style('yellow', `warning: ${warning}`));
  output.line(`${count(children.size, 'server')}, ${count(warnings.length, 'warning')}.`);
  if (children.size === 0) output.line(NO_SERVERS);
  return 0;
}

export async function printConfig(options: CommandOptions): Promise<number> {
  const config = await loadFor(options);
  createOutput({ json: true }).json(describeConfig(config));
  return 0;
}

export async function printSchema(): Promise<number> {
  const schema = await import('../../switchboard.config.schema.json', { with: { type: 'json' } });
  createOutput({ json: true }).json(schema.default);
  return 0;
}
