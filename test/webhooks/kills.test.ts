import { test } from 'vitest';
import { surviveKills } from './kills.ts';

test('nothing is lost when the delivering process is killed in the middle of its work', () => surviveKills(4));
