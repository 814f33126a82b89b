import { writeFileSync } from 'node:fs';
import { parse } from 'graphql';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentBudget } from '../../src/api/graphql/limits/budget.ts';
import { measureDocument } from '../../src/api/graphql/limits/document-size.ts';
import { requestsForCost } from '../../src/api/graphql/server/cost-report.ts';
import { schema } from '../../src/api/graphql/server/schema.ts';
import { OracleWorld } from '../oracle/world.ts';
import { connect, type TestPlatform } from '../setup/gateway.ts';
import type { Parents } from '../setup/plans.ts';
import { type Asked, askedFields } from './cost/documents.ts';
import { emptyPlatform, fillPlatform } from './cost/many-rows.ts';
import { processorTime } from './cost/processor.ts';

// What is compared, and why:
//
// - The time is the processor time of Postgres' processes, without waits for a processor.
// - The price is what the limits count: whole requests (docs/limits.md).
// - The time of a document is the median of five runs, after seven: Postgres has planned its statement by then, and keeps
//   the plan. Beyond the limit it is measured again: then the median of fifteen counts, whether it is lower or higher.
// - The median of all documents is that of the fields without filters, each once. Combinations of filters are far more
//   numerous, and priced for the worst rows: the more of them it included, the lower and less meaningful it would be.
// - There are so many rows that examining all of them takes some twenty milliseconds, a hundred times what a page takes.
//   Each of them has the values of one half (cost/halves.ts): one filter leaves many rows, and two filters none.

/**
 * The number of payments, quotes, customers, accounts, deliveries and events of the platform, and of entries of one
 * account.
 */
const rows = Number(process.env.COST_ROWS ?? 30_000);
/** The highest ratio of a document's time per price to the median of all. */
const limit = 5;

let world: OracleWorld;
let platform: TestPlatform;
let parents: Parents;
beforeAll(async () => {
  world = await OracleWorld.open();
  const [caller] = world.callers;
  if (!caller) throw new Error('nobody asks');
  platform = connect(world.gateway.url, caller.platformId, caller.authorization);
  parents = await fillPlatform(world.gateway, platform, rows);
}, 1_800_000);
afterAll(async () => {
  await emptyPlatform(world.gateway);
  await world.close();
}, 1_800_000);

interface Measured {
  readonly name: string;
  readonly query: string;
  readonly cost: number;
  /** The processor time of Postgres, in microseconds. */
  readonly time: number;
}

const costOf = (query: string) => measureDocument({ schema, document: parse(query) }).size.cost;

/**
 * Writes a document in which the field costs more than the rest of the request: it has the field as often as allowed,
 * on twenty rows if possible.
 */
function largest({ document }: Asked): string {
  for (const of of [20, 2, 1])
    for (let times: number = documentBudget.aliases; times > 0; times -= 1)
      if (costOf(document(times, of)) <= documentBudget.cost) return document(times, of);
  return document(1, 1);
}

async function measure(query: string, times: number): Promise<number> {
  for (let planned = 0; planned < 7; planned += 1) await platform.ask(query);
  const taken: number[] = [];
  while (taken.length < times) taken.push(await processorTime(world.gateway, () => platform.ask(query)));
  return middle(taken);
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

const forPrice = ({ time, cost }: Measured) => time / requestsForCost(cost);

test('no field or filter costs Postgres more than five times the median for its price', async () => {
  const measured: Measured[] = [];
  const refused: string[] = [];
  for (const asked of askedFields(schema, world.material[0], parents)) {
    const query = largest(asked);
    try {
      measured.push({ name: asked.name, query, cost: costOf(query), time: await measure(query, 5) });
    } catch (error) {
      refused.push(`${query}: ${error}`);
    }
  }
  const median = middle(measured.filter(({ name }) => !name.includes('(')).map(forPrice));
  for (const [at, one] of measured.entries())
    if (forPrice(one) > limit * median) measured[at] = { ...one, time: await measure(one.query, 15) };
  const dearest = measured.toSorted((a, b) => forPrice(b) - forPrice(a));
  const line = (one: Measured) =>
    `${(forPrice(one) / median).toFixed(2)} times the median: ${one.name} (cost ${one.cost}, ${(one.time / 1_000).toFixed(1)} ms)`;
  console.log(
    `${measured.length} documents; of the fields alone the median takes ${median.toFixed(0)} µs for each request that it counts as`,
  );
  for (const one of dearest.slice(0, 10)) console.log(line(one));
  if (process.env.COST_FIGURES) writeFileSync(process.env.COST_FIGURES, dearest.map(line).join('\n'));
  expect(refused).toEqual([]);
  expect(dearest.filter((one) => forPrice(one) > limit * median).map(line)).toEqual([]);
});
