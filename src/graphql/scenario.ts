import { builder } from './builder.ts';
import { FailureReason } from './enums.ts';

export const SandboxScenarioInput = builder.inputType('SandboxScenarioInput', {
  description:
    'Sandbox only: what shall happen to a payment, for what the magic suffixes cannot say. Without it, the suffix decides.',
  fields: (t) => ({
    delayMs: t.int({
      description:
        'How long the delivery or collection takes, in milliseconds, instead of the usual pace: 0 to 3600000.',
    }),
    failureReason: t.field({ type: FailureReason, description: 'After the delay it ends FAILED, for this reason.' }),
    reject: t.boolean({ description: 'After the delay the receiving side refuses it: it ends REJECTED.' }),
    refundFails: t.boolean({
      description:
        'With failureReason: the money does not come back either. It waits in SUSPENSE, visible in the ledger.',
    }),
    returnAfterMs: t.int({
      description: 'It completes, and so many milliseconds later the bank returns it: COMPLETED becomes REFUNDED.',
    }),
  }),
});
