// Runs cells of the matrix: for each place one connection, on which the cells of a group are tried
// one after the other, and at its end the two questions that every connection has to answer: did
// the host hear its own era alone, and is no process left?
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { eventually, serversWith } from '../../support/processes.ts';
import { type Cell, cellOf, FEATURES, type FeatureId, type Group } from './cells.ts';
import { createAnswers, TEST_MS } from './hosts.ts';
import {
  eraOf,
  type Place,
  placesOn,
  type Route,
  titleOf,
  type Visit,
  type VisitOptions,
  visit,
} from './places.ts';
import { findStrangers } from './strangers.ts';

export interface Trial extends Visit {
  readonly place: Place;
  readonly outcome: Cell['outcome'];
}

/** Tries one feature in the place at hand. */
export type TryCell = (id: FeatureId, body: (trial: Trial) => Promise<void>) => void;

export function describeMatrix(
  group: Group,
  routes: readonly Route[],
  define: (tryCell: TryCell) => void,
  options: VisitOptions = {},
): void {
  describe.each(placesOn(...routes).map((place) => [titleOf(place), place] as const))(
    '%s',
    (_title, place) => {
      const leave: (() => void | Promise<void>)[] = [];
      let visited: Visit;

      beforeAll(async () => {
        visited = await visit(place, (step) => leave.push(step), options);
      });

      afterEach(() => {
        Object.assign(visited.host.answers, createAnswers());
      });

      const leaveAll = async (): Promise<void> => {
        for (const step of leave.splice(0).toReversed()) await step();
      };
      afterAll(leaveAll);

      define((id, body) => {
        const { title, outcome } = cellIn(group, id, place);
        test(`${title}: ${outcome}`, { timeout: TEST_MS }, async () => {
          expect.hasAssertions();
          await body({ ...visited, place, outcome });
        });
      });

      test('the host sees only its own era, and every request is answered once', () => {
        expect(findStrangers(visited.host)).toEqual([]);
      });

      test('no process is left', async () => {
        await leaveAll();
        expect(await eventually(() => serversWith(visited.project.dir).length === 0)).toBe(true);
      });
    },
  );
}

/** What is expected in a place, by the name under which a group tries it. */
export function cellIn(group: Group, id: FeatureId, place: Place): Cell & { title: string } {
  const feature = FEATURES[id];
  if (feature.group !== group) throw new Error(`"${id}" belongs to "${feature.group}".`);
  const cell = cellOf(id, place.driver.era, eraOf(place));
  return { ...cell, title: feature.title };
}
