/* A process of its own that runs an instance's background work, to be killed. */
import { pino } from 'pino';
import { openDatabase } from '../../src/database/database.ts';
import { Sequencer } from '../../src/events/sequencer.ts';
import { startLoop } from '../../src/work/loop.ts';
import { pauseAfterStep } from '../../src/work/workers.ts';

// Whoever started it is gone: so is the reason to be.
process.on('disconnect', () => process.exit());

const database = openDatabase({ url: process.env.TEST_DATABASE_URL ?? '', poolSize: 1 });
const sequencer = new Sequencer(database);
let leads = false;
let standsBy = false;
startLoop('sequencer', pino({ level: 'silent' }), async () => {
  const count = await sequencer.step();
  if (count !== undefined && !leads) {
    leads = true;
    process.send?.('leads');
  } else if (count === undefined && !standsBy) {
    standsBy = true;
    process.send?.('stands by');
  }
  return pauseAfterStep(count);
});
