// Runs with every test file, and fails it if a background process of one of its projects is still there.
import { afterAll, expect } from 'vitest';
import { eventually, processesWith } from './processes.ts';
import { projectFolders } from './project.ts';

function leftBehind(): string[] {
  const found = processesWith(' background ').map(({ command }) => command);
  return found.filter((command) =>
    [...projectFolders].some((folder) => command.includes(` background ${folder}/`)),
  );
}

afterAll(async () => {
  // Those whose home is gone end within a second.
  await eventually(() => leftBehind().length === 0, 20_000);
  expect(leftBehind(), 'background processes that were left behind').toEqual([]);
  projectFolders.clear();
});
