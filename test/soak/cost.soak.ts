import { writeFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentBudget } from '../../src/graphql/limits/budget.ts';
import { costOfRequest } from '../../src/graphql/server/cost-report.ts';
import { schema } from '../../src/graphql/server/schema.ts';
import { OracleWorld } from '../oracle/world.ts';
import { connect, type Data, type TestPlatform } from '../setup/gateway.ts';
import { askedFields } from './cost/documents.ts';
import { emptyPlatform, fillPlatform } from './cost/many-rows.ts';
import { Sessions } from './cost/processor.ts';

/** How many payments, customers, accounts and deliveries the platform has, and one account entries. */
const rows = Number(process.env.COST_ROWS ?? 30_000);

let world: OracleWorld;
let platform: TestPlatform;
beforeAll(async () => {
  world = await OracleWorld.open();
  const [caller] = world.callers;
  if (!caller) throw new Error('nobody asks');
  platform = connect(world.gateway.url, caller.viewer.platformId, caller.authorization);
  await fillPlatform(world.gateway, platform, rows);
}, 1_800_000);
afterAll(async () => {
  await emptyPlatform(world.gateway);
  await world.close();
}, 1_800_000);

interface Measured {
  readonly name: string;
  /** What the service says that the document costs. */
  readonly cost: number;
  /** The processor time of Postgres. */
  readonly microseconds: number;
  readonly query: string;
}

async function ask(query: string): Promise<number> {
  const response = await fetch(`${world.gateway.url}/graphql`, {
    method: 'POST',
    headers: { authorization: platform.authorization, 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ query, extensions: { cost: true } }),
  });
  const { errors, extensions }: Data = await response.json();
  if (errors) throw new Error(`${query}\n${JSON.stringify(errors)}`);
  return extensions.cost.cost;
}

/** Measures a document: the least of five times, since what others do on the machine makes them only longer. */
async function measure(name: string, query: string): Promise<Measured> {
  for (let prepared = 0; prepared < 2; prepared += 1) await ask(query);
  const cost = await ask(query);
  const sessions = await Sessions.of(world.gateway);
  const taken: number[] = [];
  for (let time = 0; time < 5; time += 1) {
    const before = sessions.microseconds;
    await ask(query);
    taken.push(sessions.microseconds - before);
  }
  return { name, query, cost, microseconds: Math.min(...taken) };
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

test('no field of the schema, and no filter of a list, costs Postgres more than five times as much for its price as the median', async () => {
  const measured: Measured[] = [];
  const unanswered: string[] = [];
  for (const { name, document } of askedFields(schema, world.material[0])) {
    // So often that it counts and not the request: as often as a document may have it, of twenty rows where so many are allowed.
    for (const of of [20, 2, 1]) {
      const one = await ask(document(1, of)).catch((error: Error) => error.message);
      if (typeof one === 'string') {
        if (of === 1) unanswered.push(one);
        continue;
      }
      const times = Math.max(1, Math.min(documentBudget.aliases, Math.floor(documentBudget.cost / one) - 1));
      measured.push(await measure(name, document(times, of)));
      break;
    }
  }
  // A request has a price of its own: its number is limited, too.
  const forPrice = ({ cost, microseconds }: Measured) => microseconds / (costOfRequest + cost);
  const median = middle(measured.map(forPrice));
  // What the machine did meanwhile has made some of them longer: these are measured again.
  for (const [at, one] of measured.entries()) {
    if (forPrice(one) <= 4 * median) continue;
    const again = await measure(one.name, one.query);
    if (again.microseconds < one.microseconds) measured[at] = again;
  }
  const worst = measured.toSorted((a, b) => forPrice(b) - forPrice(a));
  const line = (one: Measured) =>
    `${(forPrice(one) / median).toFixed(2)} times the median: ${one.name} (cost ${one.cost}, ${(one.microseconds / 1_000).toFixed(1)} ms)`;
  console.log(`${measured.length} documents, the median takes ${median.toFixed(2)} µs`);
  for (const one of worst.slice(0, 10)) console.log(line(one));
  if (process.env.COST_FIGURES) writeFileSync(process.env.COST_FIGURES, worst.map(line).join('\n'));
  expect(unanswered).toEqual([]);
  expect(worst.filter((one) => forPrice(one) > 5 * median).map(line)).toEqual([]);
});
