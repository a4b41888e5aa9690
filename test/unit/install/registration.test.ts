import { expect, test } from 'vitest';
import { findInstallPlaces } from '../../../src/install/places.ts';
import { register } from '../../../src/install/registration.ts';
import { createClaude } from '../../support/claude.ts';
import { eventually, processesWith } from '../../support/processes.ts';
import { createProject } from '../../support/project.ts';

test('a claude that does not end is ended, and the command to run by hand is right for a shell', async () => {
  const project = createProject();
  const claude = createClaude(project);
  const env = { ...project.env, ...claude.env, CLAUDE_FAILS: 'hang' };

  const registration = await register(['/n', "/it's here/index.js"], {
    places: findInstallPlaces(project.dir, env),
    cwd: project.dir,
    env,
    isWanted: true,
    dryRun: false,
    limitMs: 500,
  });

  expect(registration).toEqual({
    state: 'failed',
    command: String.raw`claude mcp add -s user switchboard -- /n '/it'\''s here/index.js'`,
    says: 'it did not end within 0.5 seconds',
  });
  expect(await eventually(() => processesWith(project.dir).length === 0)).toBe(true);
});
