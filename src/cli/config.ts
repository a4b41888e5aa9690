// `switchboard config check|print|schema`: the configuration as it is understood.
import { ERRORS } from '../base/errors.ts';
import { cleanText } from '../base/text.ts';
import { describeConfig } from '../config/describe.ts';
import { noServers } from './no-servers.ts';
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
  const problems = [...children.values()].flatMap(({ name, problem }) =>
    problem
      ? { child: name, code: problem.code, message: problem.message, hint: problem.hint }
      : [],
  );
  const invalid = problems.filter(({ code }) => code === 'CONFIG_INVALID').length;
  output.json({
    ok: invalid === 0,
    files,
    children: [...children.keys()],
    shown,
    problems,
    warnings,
  });
  output.line(
    files.length > 0 ? `Read ${files.join(', ')}.` : 'No configuration file; the defaults apply.',
  );
  const listed = [...children.values()].filter((child) => !isOff(child));
  const width = Math.max(0, ...listed.map(({ name }) => cleanText(name).length));
  for (const { name, show, origin, problem } of listed) {
    const title = `${cleanText(name).padEnd(width)}  ${show.padEnd(6)}`;
    output.line(`  ${title}  ${output.style('dim', origin)}`);
    if (problem) {
      output.line(output.style('yellow', `    ${problem.text.replaceAll('\n', '\n    ')}`));
    }
  }
  printOff(offServers(config, undefined), output);
  for (const warning of warnings) output.line(output.style('yellow', `warning: ${warning}`));
  const servers = `${count(children.size, 'server')}${invalid > 0 ? `, ${invalid} invalid` : ''}`;
  output.line(`${servers}, ${count(warnings.length, 'warning')}.`);
  if (children.size === 0) output.line(noServers());
  return invalid === 0 ? 0 : ERRORS.CONFIG_INVALID.exit;
}

export async function printConfig(options: CommandOptions): Promise<number> {
  const config = await loadFor(options);
  process.stdout.write(`${JSON.stringify(describeConfig(config), null, 2)}\n`);
  return 0;
}

export async function printSchema(): Promise<number> {
  const schema = await import('../../switchboard.config.schema.json', { with: { type: 'json' } });
  process.stdout.write(`${JSON.stringify(schema.default, null, 2)}\n`);
  return 0;
}
