// A script of the user's runs as the text that was judged, and can still do what scripts can.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runOwnScript } from '../../../src/config/files/files.ts';
import { createProject } from './temp-project.ts';

const OTHER = "throw new Error('the file has changed')";

test.each([
  ['config.cjs', "module.exports = { era: 'modern' };"],
  ['config.cjs', "#!/usr/bin/env node\nexports.era = 'modern';"],
  ['config.cjs', "module.exports = { era: require('./more.cjs').era };"],
  ['config.cjs', "module.exports = require(require('node:path').join(__dirname, 'more.cjs'));"],
  ['config.cjs', "module.exports = async () => (await import('./more.mjs')).default;"],
  ['config.js', "module.exports = { era: 'modern' };"],
  ['config.mjs', "export default { era: 'modern' };"],
  ['config.mjs', "import { join } from 'node:path';\nexport default { era: join('modern') };"],
])('%s: %s', async (name, text) => {
  const project = createProject({
    [name]: OTHER,
    'more.cjs': "exports.era = 'modern';",
    'more.mjs': "export default { era: 'modern' };",
  });
  const { value } = await runOwnScript(join(project.folder, name), text);
  expect({ ...(value as object) }).toEqual({ era: 'modern' });
});

test('an ES module that loads other files is imported from its place', async () => {
  const text = "import more from './more.mjs';\nexport default more;";
  const project = createProject({ 'more.mjs': "export default { era: 'modern' };" });
  const file = join(project.folder, 'config.mjs');
  writeFileSync(file, text);
  const { value } = await runOwnScript(file, text);
  expect(value).toEqual({ era: 'modern' });
});

test('an error names the file', async () => {
  const file = join(createProject().folder, 'config.cjs');
  await expect(runOwnScript(file, "throw new Error('oops')")).rejects.toThrow(
    `${file} failed: oops.`,
  );
});
