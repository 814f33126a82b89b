import { expect, test } from 'vitest';
import { type Figures, tryStranger } from '../attack/matrix/cells.ts';
import { graphqlCells } from '../attack/matrix/graphql-matrix.ts';
import { tryStreams, tryWebhooks } from '../attack/matrix/streams.ts';
import { openMatrix } from '../attack/matrix/world.ts';

const world = await openMatrix();

test('every object that a stranger names, over any transport, looks as if it never existed', async () => {
  const figures: Figures = { tried: 0, lost: [] };
  const cells = graphqlCells(world, ['JSON', 'event stream', 'socket']);
  for (const stranger of world.strangers) await tryStranger(world, stranger, cells, figures);
  await tryStreams(world, figures);
  await tryWebhooks(world, figures);
  console.log({ tried: figures.tried, lost: figures.lost.length });
  expect(figures.lost.join('\n')).toBe('');
});
