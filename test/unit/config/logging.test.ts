// What the variables and `[logging]` of config.toml make of the log.
import { expect, test } from 'vitest';
import { createProject } from './temp-project.ts';

async function logging(env: Record<string, string>, toml?: string) {
  const project = createProject(
    toml === undefined ? {} : { '../home/.switchboard/config.toml': `[logging]\n${toml}` },
  );
  const { logging: settled, warnings } = await project.load({ env });
  const folder = settled.folder === undefined ? undefined : project.plain(settled.folder);
  return { ...settled, folder, warnings: warnings.map(project.plain) };
}

test.each<[Record<string, string>, string | undefined, string]>([
  [{}, undefined, 'info'],
  [{ RUST_LOG: 'warn' }, undefined, 'warn'],
  [{ RUST_LOG: '', TRACING_FILTER: ' ' }, undefined, 'info'],
  [{ RUST_LOG: 'warn', TRACING_FILTER: 'switchboard=debug' }, undefined, 'debug'],
  [{ RUST_LOG: 'debug', TRACING_FILTER: 'nonsense' }, undefined, 'info'],
  [{ TRACING_FILTER: 'debug', SWITCHBOARD_LOG: 'error' }, undefined, 'error'],
  [{ RUST_LOG: 'error', SWITCHBOARD_DEBUG: '1' }, undefined, 'debug'],
  [{}, 'level = "off"', 'off'],
  [{ RUST_LOG: 'warn' }, 'level = "off"', 'warn'],
  [{ TRACING_FILTER: 'warn' }, 'level = "off"', 'warn'],
])('with %j and %j the level is %s', async (env, toml, level) => {
  expect(await logging(env, toml)).toMatchObject({ level, warnings: [] });
});

test.each<[Record<string, string>, string | undefined, string]>([
  [{}, undefined, 'compact'],
  [{ TRACING_JSON: 'true' }, undefined, 'json'],
  [{ TRACING_PRETTY: '1' }, undefined, 'pretty'],
  [{ TRACING_COMPACT: 'off' }, undefined, 'compact'],
  [{ TRACING_PRETTY: '1', TRACING_COMPACT: '1' }, undefined, 'compact'],
  [{ TRACING_PRETTY: '1', TRACING_COMPACT: '0' }, undefined, 'pretty'],
  [{ TRACING_PRETTY: '1', TRACING_COMPACT: '1', TRACING_JSON: 'on' }, undefined, 'json'],
  [{}, 'json = true', 'json'],
  [{}, 'pretty = true\ncompact = true', 'compact'],
  [{ TRACING_JSON: 'no' }, 'json = true\npretty = true', 'pretty'],
  [{ TRACING_COMPACT: 'yes' }, 'pretty = true', 'compact'],
])('with %j and %j the format is %s', async (env, toml, form) => {
  expect(await logging(env, toml)).toMatchObject({ form, warnings: [] });
});

test.each<[Record<string, string>, string | undefined, string | undefined]>([
  [{ LOG_DIR: '/x' }, undefined, undefined],
  [{ LOG_TO_FILE: 'true' }, undefined, '<home>/.switchboard/logs'],
  [{ LOG_TO_FILE: '1', LOG_DIR: 'logs' }, undefined, '<project>/logs'],
  [{ LOG_TO_FILE: '1', LOG_DIR: '~/logs' }, 'dir = "/weaker"', '<home>/logs'],
  [{}, 'to_file = true\ndir = "/there"', '/there'],
  [{ LOG_TO_FILE: 'off' }, 'to_file = true', undefined],
])('with %j and %j the folder is %s', async (env, toml, folder) => {
  expect(await logging(env, toml)).toMatchObject({ folder, warnings: [] });
});

test('invalid values are reported and ignored', async () => {
  const env = { TRACING_JSON: 'perhaps', LOG_TO_FILE: '2' };
  const said = await logging(env, 'level = 3\ndir = []\nfile = true\n');
  expect(said).toMatchInlineSnapshot(`
    {
      "folder": undefined,
      "form": "compact",
      "level": "info",
      "warnings": [
        "<home>/.switchboard/config.toml: logging.file: unknown key (ignored). Did you mean "to_file"?",
        "<home>/.switchboard/config.toml: logging.level must be a string such as debug, info, warn, error or off. Its value is ignored.",
        "TRACING_JSON must be true or false (1 or 0, yes or no, on or off). Its value is ignored.",
        "LOG_TO_FILE must be true or false (1 or 0, yes or no, on or off). Its value is ignored.",
        "<home>/.switchboard/config.toml: logging.dir must be a string. Its value is ignored.",
      ],
    }
  `);
});
