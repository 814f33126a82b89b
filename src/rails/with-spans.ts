import { inSpan, makesSpans } from '../infra/instruments/spans.ts';
import type { Rail } from './rail.ts';

/** The parts of a rail that ask its provider. */
export const askingParts = [
  'rate',
  'lockRate',
  'paymentInstructions',
  'lookUp',
  'payOut',
  'collect',
  'giveBack',
  'checkAccount',
  'checkIdentity',
  'movements',
  'findOrder',
  'balances',
  'checkConnection',
  'deposits',
  'takeDeposit',
  'receiveWebhook',
  'readWebhook',
] as const satisfies readonly (keyof Rail)[];
const isAsking = new Set<PropertyKey>(askingParts);

/** Makes each call to a rail's provider a separate span, if tracing is on. */
export function withSpans(rail: Rail): Rail {
  if (!makesSpans()) return rail;
  return new Proxy(rail, {
    get(target, key) {
      const part: unknown = Reflect.get(target, key, target);
      if (typeof part !== 'function') return part;
      const call = (given: unknown[]) => Reflect.apply(part, target, given);
      if (key === 'forPlatform') return (...given: unknown[]) => withSpans(call(given));
      if (!isAsking.has(key)) return (...given: unknown[]) => call(given);
      const options = { kind: 'client', attributes: { 'payments.rail': target.name } } as const;
      return (...given: unknown[]) => inSpan(`rail ${String(key)}`, options, async () => call(given));
    },
  });
}
