// For files with slow tests: `npm test` skips those, and the thorough suite runs nothing else of the file.
import { test as anyTest } from 'vitest';

export const IS_THOROUGH = process.env['PLACES'] !== 'core';

/** A test that only the thorough suite runs. */
export const slow = IS_THOROUGH ? anyTest : anyTest.skip;

/** A test that only `npm test` runs. */
export const test = IS_THOROUGH ? anyTest.skip : anyTest;
