// What may end the whole program: a bug of its own, and nothing that a server or the network does.
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { signInFile, writeSignIn } from '../../src/child/sign-in/token-store.ts';
import { startAuthorizationServer } from '../support/authorization-server.ts';
import { withFaults } from '../support/faults.ts';
import { FIXTURES } from '../support/project.ts';

const preload = (fixture: string) => ({
  env: { NODE_OPTIONS: `--require ${join(FIXTURES, fixture)}` },
});

test('a sign-in service that refuses connections fails only its server’s calls', async () => {
  const issuer = 'https://issuer.localhost';
  const server = await startAuthorizationServer({
    resourceMetadata: { authorization_servers: [issuer] },
  });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { serverUrl } = server;
  await withFaults(
    { far: { url: serverUrl } },
    async (trial) => {
      const file = await signInFile(join(trial.project.dir, 'home/.switchboard/tokens'), serverUrl);
      writeSignIn(file, {
        version: 1,
        serverUrl,
        resource: serverUrl,
        issuer,
        client: { client_id: 'switchboard' },
        accessToken: 'expired',
        refreshToken: 'refresh',
        expiresAt: 1,
      });
      for (let attempt = 1; attempt <= 2; attempt++) {
        const failure = trial.failure(await trial.host.call('far', 'any'));
        expect(failure).toContain('issuer.localhost could not be reached (ENETUNREACH)');
        await trial.askNeighbour();
      }
    },
    { host: preload('unreachable-issuer.cjs') },
  );
});

test('a bug exits the program with an exit status and leaves no server behind', async () => {
  await withFaults(
    {},
    async (trial) => {
      await trial.askNeighbour();
      const { code } = await trial.end(({ process }) => process.kill('SIGUSR2'));
      expect(code).not.toBe(0);
      expect(trial.host.stderr).toContain('a bug outside every guarded callback');
    },
    { host: preload('bug-on-signal.cjs') },
  );
});
