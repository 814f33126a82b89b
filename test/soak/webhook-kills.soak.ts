import { test } from 'vitest';
import { surviveKills } from '../webhooks/kills.ts';

test('no webhook is lost over 50 kills of the delivering process', { timeout: 900_000 }, () => surviveKills(50));
