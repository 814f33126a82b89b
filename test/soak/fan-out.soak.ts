import { test } from 'vitest';
import { measureFanOut } from '../setup/fan-out.ts';

// What the fan-out costs in Postgres, and how long it takes. The figures are on the page about streams.

const perSecond = Number(process.env.FAN_OUT_PER_SECOND ?? 500);
const seconds = Number(process.env.FAN_OUT_SECONDS ?? 30);
const instances = Number(process.env.FAN_OUT_INSTANCES ?? 3);

test(`${instances} instances fan ${perSecond} changes a second out, each once and in order`, async () => {
  console.log(JSON.stringify(await measureFanOut({ instances, perSecond, seconds })));
});
