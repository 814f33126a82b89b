import type { FieldMap, InputFieldMap, InputShapeFromFields, TypeParam } from '@pothos/core';
import type { GraphQLResolveInfo } from 'graphql';
import { type FieldPath, Refusal, refusalIn } from '../../../core/refusal.ts';
import type { Viewer } from '../../../domain/access/caller.ts';
import { authorize, changesRecord, type Operation, showsExisting } from '../../../domain/access/operations.ts';
import type { Validated } from '../../../domain/commands/command.ts';
import type { Quote as QuoteRow } from '../../../infra/database/generated/client/client.ts';
import { readClock } from '../../../infra/database/transaction.ts';
import type { Context } from '../context.ts';
import { abandoned } from '../failure.ts';
import { findFurtherRead } from '../reading/planned.ts';
import { wrongValuesRefusal } from '../wrong-value.ts';
import { builder, enumOf, type InputBuilder, type Types } from './builder.ts';
import { FailureReason } from './enums.ts';
import { argumentPath } from './input-paths.ts';
import { edges, type Identified, type ListEdge } from './list.ts';
import { Transaction } from './nouns.ts';
import { asUserError, type MemberName, memberNameOf, memberTypes } from './refusals.ts';

/** Defines a field that returns the service's current time, for types with a time that apps may count down to. */
export const serverTime = {
  type: 'DateTime',
  extensions: { costs: 'read' },
  description:
    "The service's current time. The service's clock determines what has expired, so base countdowns on this time rather than on the device's clock.",
  resolve: async (_parent: unknown, _args: object, { payments }: Context) =>
    (await readClock(payments.database.pool)).now,
} as const;

const SandboxDeposit = enumOf('SandboxDeposit', 'How the simulated deposit for a real-time funded quote arrives.', {
  SHORT: "Half of the amount arrives: the payment fails, and the customer's account is credited.",
  TWICE: "Two deposits arrive: the first funds the quote, and the second is credited to the customer's account.",
  LATE: "The deposit arrives after the quote has expired: the payment fails with QUOTE_EXPIRED, and the money is credited to the customer's account.",
});

const SandboxStep = enumOf('SandboxStep', 'A step of a simulated payment.', {
  PAY_REQUEST:
    "For sandboxReceiveUma: the sender's pay request. The payment stays CREATED until the request arrives or fails, and becomes EXPIRED if neither happens within a quote's lifetime.",
  PULL: 'For a quote paid from an external account: the collection of the money, which precedes settlement.',
  SETTLEMENT: 'The final step: the delivery or collection of the money.',
});

const SandboxApproval = enumOf('SandboxApproval', "The platform's decision on a simulated incoming payment.", {
  APPROVE: 'The platform approves the payment immediately, with the information in the customer record.',
  REJECT: 'The platform rejects the payment immediately, and it becomes REJECTED.',
});

export const SandboxScenarioInput = builder.inputType('SandboxScenarioInput', {
  description:
    'Sandbox only: how a payment turns out, for cases that the magic suffixes cannot express. If omitted, the suffixes determine the outcome.',
  fields: (t) => ({
    step: t.field({
      type: SandboxStep,
      description: 'The step that `delayMs` and `failureReason` apply to; SETTLEMENT by default.',
    }),
    delayMs: t.int({
      description: 'The duration of `step` in milliseconds, 0 to 3600000. If omitted, the step takes its usual time.',
    }),
    failureReason: t.field({
      type: FailureReason,
      description:
        'Makes the payment fail with this reason after the delay. If the payment is funded by a deposit, only QUOTE_EXPIRED and QUOTE_EXECUTION_FAILED are possible.',
    }),
    reject: t.boolean({ description: 'Makes the receiving side reject the payment (REJECTED) after the delay.' }),
    approval: t.field({
      type: SandboxApproval,
      description:
        'For sandboxReceiveUma: the decision that the sandbox makes for the platform, so that you need not respond to the approval request. If you also respond, the first decision counts.',
    }),
    deposit: t.field({
      type: SandboxDeposit,
      description: 'How the deposit arrives. For sandboxSend, and for createQuote with real-time funding.',
    }),
    refundFails: t.boolean({
      description:
        'If `failureReason` is given, makes the refund fail as well. The money then stays in SUSPENSE, as the ledger entries show.',
    }),
    returnAfterMs: t.int({
      description:
        'Makes the bank return the payment this many milliseconds after it has completed, so that it changes from COMPLETED to REFUNDED. Only for payments that leave the service.',
    }),
  }),
});

type IdempotencyKey = string | null | undefined;

/** Converts a path in the command's input to one in the mutation's arguments. */
type ArgumentOf = (path: FieldPath) => FieldPath;

type Resolve<Input, Success> = (
  input: Input,
  context: Context,
  key: IdempotencyKey,
  argumentOf: ArgumentOf,
) => Promise<Success>;

interface MutationOptions<Fields extends InputFieldMap, Success extends Replayable> {
  readonly description: string;
  /** The input's fields, except `idempotencyKey` and `expectedVersion`, which are added automatically. */
  readonly input: (t: InputBuilder) => Fields;
  /** The success payload's fields, except `replayed` and the edges of listed rows, which are added automatically. */
  readonly success: { readonly [Name in Exclude<keyof Success, 'replayed'>]: SuccessField };
  /** Whether the mutation supports a dry run: `validateOnly` in the input, and a ValidatedPayment in the union. */
  readonly validates?: true;
  /** The description of the sandbox scenario, if the mutation takes one as a second argument. */
  readonly scenario?: string;
  /** Requires an idempotency key, because nothing else distinguishes a retry from a second payment. */
  readonly isKeyRequired?: true;
  /** Whether the input refers to no other object, so that a NotFoundError is impossible. */
  readonly namesNothing?: true;
  /** The possible refusals, in addition to the common ones (input, key, permission, load) and NotFoundError. */
  readonly refusals?: readonly MemberName[];
  readonly resolve: Resolve<
    InputShapeFromFields<Fields> & {
      readonly expectedVersion?: number | null | undefined;
      readonly sandboxScenario?: typeof SandboxScenarioInput.$inferInput | null | undefined;
    },
    Success
  >;
}

interface SuccessField {
  /** The field's name in the schema, if it differs from the name in the command's result. */
  readonly as?: string;
  readonly type: TypeParam<Types>;
  readonly description: string;
  readonly nullable?: boolean;
}

/**
 * Builds a success payload's fields: its values, the edge of each row that belongs to a list, and the edge of a quote's
 * payment.
 */
function successFields<Success>(
  t: PothosSchemaTypes.ObjectFieldBuilder<Types, Success>,
  success: Readonly<Record<string, SuccessField>>,
): FieldMap {
  const fields: FieldMap = {};
  for (const [field, { as = field, type, description, nullable = false }] of Object.entries(success)) {
    // Each name is a field of the success type, and only fields with rows have an edge. The compiler cannot infer this
    // through the loop.
    const valueIn = (result: Success) => result[field as keyof Success] as never;
    fields[as] = t.field({ type, description, nullable, resolve: valueIn });
    const edge = edges.get(type);
    if (!edge) continue;
    const resolve = (result: Success, _args: unknown, { payments }: Context) => {
      const node: Identified | null | undefined = valueIn(result);
      return node && { cursor: edge.cursorOf(payments, node), node };
    };
    fields[`${as}Edge`] = t.field({ ...edge.options, nullable, resolve } as never);
    const ofPayments = as === 'quote' && edges.get(Transaction);
    if (ofPayments) fields.transactionEdge = t.field(paymentEdge(ofPayments) as never);
  }
  return fields;
}

/** Builds the edge of the payment that was created or changed with its quote. Reads `node` only if selected. */
const paymentEdge = ({ options, cursorOf }: ListEdge) => ({
  ...options,
  description: "The quote's payment as a list edge, ready to be inserted into a cached list.",
  resolve: ({ row: quote }: { readonly row: QuoteRow }, _args: unknown, { payments }: Context) => {
    const payment = { platformId: quote.platformId, id: quote.transactionId };
    return {
      cursor: cursorOf(payments, payment),
      get node() {
        return payments.database.prisma.transaction.findFirstOrThrow({ where: payment });
      },
    };
  },
});

interface Replayable {
  readonly replayed: boolean;
}

const commonRefusals: readonly MemberName[] = [
  'InvalidInputError',
  'IdempotencyMismatchError',
  'ConflictError',
  'ForbiddenError',
  'UnavailableError',
  'OutcomeUnknownError',
];

const validateOnly =
  'Whether to only validate the payment: the service makes it, rolls it back and returns a ValidatedPayment or the refusal. Nothing changes, and the idempotency key remains unused. If the key has been used before, the original result is returned.';

/** The result of a dry run: the payment that would have been made. Its fields are in payments/validated-payment.ts. */
export const ValidatedPayment = builder.objectRef<Validated>('ValidatedPayment');

/** Adds a mutation: `name(input: NameInput!): NameResult!`, whose result is a union of the success and the refusals. */
export function mutation<Fields extends InputFieldMap, Success extends Replayable>(
  name: Operation,
  options: MutationOptions<Fields, Success>,
): void {
  const typeName = name.charAt(0).toUpperCase() + name.slice(1);

  const input = builder.inputType(`${typeName}Input`, {
    description: `The input of ${name}.`,
    fields: (t) => ({
      ...options.input(t),
      ...(changesRecord(name) && {
        expectedVersion: t.int({
          description:
            "The record's version when you last read it. If the record has changed since, the mutation is refused with a ConflictError, whose `existing` is the current record.",
        }),
      }),
      ...(options.validates && { validateOnly: t.boolean({ defaultValue: false, description: validateOnly }) }),
      idempotencyKey: t.string({
        required: options.isKeyRequired ?? false,
        description:
          'Makes retries safe: however often the same key is sent with the same input, the mutation takes effect once and returns the same response. 1 to 255 printable ASCII characters without spaces.',
      }),
    }),
  });

  const success = builder.objectRef<Success>(`${typeName}Success`).implement({
    description: `The success payload of ${name}.`,
    fields: (t) => ({
      ...successFields(t, options.success),
      replayed: t.boolean({
        description: 'Whether this response repeats the response to an earlier request with the same idempotency key.',
        resolve: (result) => result.replayed,
      }),
      serverTime: t.field(serverTime),
    }),
  });

  const found: readonly MemberName[] = options.namesNothing ? [] : ['NotFoundError'];
  const refusals = [...new Set([...found, ...(options.refusals ?? []), ...commonRefusals])];
  const result = builder.unionType(`${typeName}Result`, {
    description: `The result of ${name}, or the error that explains why it was refused.`,
    types: [
      success,
      ...(options.validates ? [ValidatedPayment] : []),
      ...refusals.map((member) => memberTypes[member]),
    ],
    resolveType: (value) =>
      memberNameOf(value) ??
      ('limits' in value && 'approvalDueAt' in value ? 'ValidatedPayment' : `${typeName}Success`),
  });

  builder.mutationField(name, (t) =>
    t.field({
      type: result,
      description: options.description,
      args: {
        input: t.arg({ type: input, required: true, description: `The input of ${name}.` }),
        ...(options.scenario && {
          sandboxScenario: t.arg({ type: SandboxScenarioInput, description: `Sandbox only: ${options.scenario}` }),
        }),
      },
      // The value is a member of the result's union. The compiler cannot infer this through the table of refusals.
      resolve: resolverOf(name, options.resolve) as never,
    }),
  );
}

function resolverOf<Input, Success>(name: Operation, resolve: Resolve<Input, Success>) {
  return async (
    _root: unknown,
    args: {
      input: Input & { readonly validateOnly?: boolean | null; readonly idempotencyKey?: IdempotencyKey };
      sandboxScenario?: object | null;
    },
    context: Context,
    info: GraphQLResolveInfo,
  ) => {
    // Mutations run in sequence. Once the client has disconnected or the operation has timed out, no more are started.
    if (context.isAbandoned()) throw abandoned();
    const argumentOf = (path: FieldPath) => argumentPath(info.schema, name, path, args.input);
    try {
      authorize(context.viewer, name);
      requireViewForFurtherRead(context.viewer, name, info);
      const wrong = wrongValuesRefusal(args);
      if (wrong) {
        context.outcome = 'REFUSED';
        return asUserError(wrong, (path) => path);
      }
      const { validateOnly, idempotencyKey, ...input } = args.input;
      const { sandboxScenario } = args;
      const asked = { ...input, ...(sandboxScenario && { sandboxScenario }) } as Input;
      if (!validateOnly) return await resolve(asked, context, idempotencyKey, argumentOf);
      let validated: Validated | undefined;
      const payments = {
        ...context.payments,
        validateOnly: (made: Validated) => {
          validated = made;
          context.outcome = 'VALIDATED';
        },
      };
      const earlier = await resolve(asked, { ...context, payments }, idempotencyKey, argumentOf);
      return validated ?? earlier;
    } catch (error) {
      const refusal = refusalIn(error);
      if (!refusal) throw error;
      context.outcome = 'REFUSED';
      return asUserError(refusal, argumentOf);
    }
  };
}

/**
 * Refuses a viewer without VIEW who selects more than the mutation creates or changes. The check runs
 * before the mutation, because a refusal after the mutation has taken effect would hide its result.
 * @throws Refusal FORBIDDEN
 */
function requireViewForFurtherRead({ permissions }: Viewer, name: Operation, info: GraphQLResolveInfo): void {
  if (permissions.includes('VIEW')) return;
  const field = findFurtherRead(info, showsExisting(name));
  if (field !== undefined) {
    throw new Refusal('FORBIDDEN', `this token lacks the permission VIEW, which ${field} needs`);
  }
}
