import { builder, enumOf } from './builder.ts';
import { FailureReason } from './enums.ts';

const SandboxDeposit = enumOf('SandboxDeposit', 'How the simulated deposit for a real-time funded quote arrives.', {
  SHORT: "Half of the amount arrives: the payment fails, and the customer's account is credited.",
  TWICE: "Two deposits arrive: the first funds the quote, the second is credited to the customer's account.",
  LATE: "The deposit arrives after the quote has expired: the payment fails with QUOTE_EXPIRED, and the money is credited to the customer's account.",
});

const SandboxStep = enumOf('SandboxStep', 'A step of a simulated payment.', {
  PAY_REQUEST:
    "For sandboxReceiveUma: the sender has looked up the receiver and the payment is CREATED. Next, the sender's pay request arrives, fails, or does not arrive within the lifetime of a quote (EXPIRED).",
  PULL: 'For a quote paid from an external account: the money is pulled, before anything is debited.',
  SETTLEMENT: 'The delivery or collection that ends the payment.',
});

const SandboxApproval = enumOf('SandboxApproval', "The platform's decision on a simulated incoming payment.", {
  APPROVE: 'The platform approves immediately, with the information in the customer record.',
  REJECT: 'The platform rejects immediately: the payment becomes REJECTED.',
});

export const SandboxScenarioInput = builder.inputType('SandboxScenarioInput', {
  description:
    'Sandbox only: how a payment turns out, for cases that the magic suffixes cannot express. Without a scenario, the suffixes decide.',
  fields: (t) => ({
    step: t.field({
      type: SandboxStep,
      description: 'The step that `delayMs` and `failureReason` apply to; SETTLEMENT by default.',
    }),
    delayMs: t.int({
      description:
        'The duration of the step in milliseconds, 0 to 3600000. When left out, the step takes its usual time.',
    }),
    failureReason: t.field({
      type: FailureReason,
      description:
        'The payment fails with this reason, after the delay. If a deposit funds it, only QUOTE_EXPIRED and QUOTE_EXECUTION_FAILED are possible.',
    }),
    reject: t.boolean({ description: 'The receiving side rejects the payment after the delay: it becomes REJECTED.' }),
    approval: t.field({
      type: SandboxApproval,
      description:
        "For sandboxReceiveUma: the platform's decision, so that no approval request has to be answered. A decision that was made earlier stands.",
    }),
    deposit: t.field({
      type: SandboxDeposit,
      description: 'How the deposit arrives. For sandboxSend, and for createQuote with a real-time funded source.',
    }),
    refundFails: t.boolean({
      description:
        'With `failureReason`: the refund fails, too, and the money stays in SUSPENSE, as the ledger entries show.',
    }),
    returnAfterMs: t.int({
      description:
        'The payment completes, and the bank returns it this many milliseconds later: COMPLETED becomes REFUNDED. Only for payments that leave the service.',
    }),
  }),
});
