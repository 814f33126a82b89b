import { expect, test } from 'vitest';
import { pay } from '../setup/acts.ts';
import { testGateway } from '../setup/gateway.ts';
import { makeScene } from '../setup/scene.ts';
import { sequenced } from '../setup/streams.ts';

const t = await testGateway({ SANDBOX_PACE_MS: 0 });

test('the feed of each platform has every number from 1 to its end, despite concurrent writes', async () => {
  const platforms = [await t.newPlatform('one'), await t.newPlatform('other')];
  const scenes = await Promise.all(platforms.map((platform) => makeScene(platform, 100_000n)));
  await Promise.all(
    scenes.flatMap((scene, at) => [1, 2, 3].map((amount) => pay(platforms[at] ?? t.platform, scene, amount))),
  );
  const { pool } = t.gateway.payments.database;
  for (const { platformId } of platforms) {
    await sequenced(t);
    const { rows } = await pool.query(
      `select array_agg(sequence order by sequence) as numbers, (select sequence from feed_head where platform_id = $1) as head
       from event where platform_id = $1`,
      [platformId],
    );
    const { numbers, head } = rows[0];
    expect(numbers.length).toBeGreaterThan(6);
    expect(numbers.map(Number)).toEqual(Array.from({ length: Number(head) }, (_, index) => index + 1));
  }
});
