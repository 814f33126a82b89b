import { builder } from './builder.ts';
import { FailureReason } from './enums.ts';

const SandboxDeposit = builder.enumType('SandboxDeposit', {
  description: 'How a simulated deposit for a real-time funded quote arrives.',
  values: {
    SHORT: { description: "Half of it: the payment fails, the money is in the customer's account of that currency." },
    TWICE: { description: "Two of it: the first funds the quote, the second is in the customer's account." },
    LATE: {
      description: "After the quote's expiry: it fails with QUOTE_EXPIRED, the money is in the customer's account.",
    },
  },
});

const SandboxStep = builder.enumType('SandboxStep', {
  description: 'A step of a simulated payment.',
  values: {
    PAY_REQUEST: {
      description:
        'Of sandboxReceiveUma: the sender has looked the receiver up, the payment is CREATED, and the pay request comes, fails, or does not come before the life of a quote is over (EXPIRED).',
    },
    PULL: {
      description:
        'Of a quote that is paid from an external account: the collection from it, before anything is debited or converted.',
    },
    SETTLEMENT: { description: 'The delivery or collection that ends the payment.' },
  },
});

const SandboxApproval = builder.enumType('SandboxApproval', {
  description: 'How the receiving platform decides on a simulated incoming payment.',
  values: {
    APPROVE: { description: 'It approves at once, with what it knows of its customer.' },
    REJECT: { description: 'It rejects at once: the payment ends REJECTED.' },
  },
});

export const SandboxScenarioInput = builder.inputType('SandboxScenarioInput', {
  description:
    'Sandbox only: what shall happen to a payment, for what the magic suffixes cannot say. Without it, the suffix decides.',
  fields: (t) => ({
    step: t.field({
      type: SandboxStep,
      description:
        'The step that `delayMs` and `failureReason` are about: SETTLEMENT when left out. The other fields are of the settlement.',
    }),
    delayMs: t.int({
      description: 'How long the step takes, in milliseconds, instead of the usual pace: 0 to 3600000.',
    }),
    failureReason: t.field({
      type: FailureReason,
      description:
        'After the delay it ends FAILED, for this reason. Where a deposit funds it: QUOTE_EXPIRED or QUOTE_EXECUTION_FAILED.',
    }),
    reject: t.boolean({ description: 'After the delay the receiving side refuses it: it ends REJECTED.' }),
    approval: t.field({
      type: SandboxApproval,
      description:
        'The decision of the platform, for sandboxReceiveUma: nobody need answer the approval question. A decision that comes before stands.',
    }),
    deposit: t.field({
      type: SandboxDeposit,
      description: 'How the deposit arrives. For sandboxSend, and for createQuote of a real-time funded quote.',
    }),
    refundFails: t.boolean({
      description:
        'With failureReason: the money does not come back either. It waits in SUSPENSE, visible in the ledger.',
    }),
    returnAfterMs: t.int({
      description:
        'A payment that leaves the installation completes, and so many milliseconds later the bank returns it: COMPLETED becomes REFUNDED.',
    }),
  }),
});
