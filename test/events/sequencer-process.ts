/** A separate process that sequences a feed, so that a test can kill or pause it. */
import { pino } from 'pino';
import { Sequencer } from '../../src/domain/events/sequencer.ts';
import { openDatabase } from '../../src/infra/database/database.ts';
import { startLoop } from '../../src/server/workers/loop.ts';
import { sequencerPauses } from '../../src/server/workers/workers.ts';

// The parent process has exited, so this one is no longer needed.
process.on('disconnect', () => process.exit());

const database = openDatabase({ url: process.env.TEST_DATABASE_URL ?? '', role: 'gateway_work', poolSize: 1 });
const sequencer = new Sequencer(database);
const pauseAfter = sequencerPauses();
let isAsked = false;
process.on('message', () => {
  isAsked = true;
});
startLoop('sequencer', pino({ level: 'silent' }), async () => {
  const wasAsked = isAsked;
  const count = await sequencer.step();
  if (wasAsked && count !== undefined) {
    isAsked = false;
    process.send?.('has made a step');
  }
  return pauseAfter(count);
});
