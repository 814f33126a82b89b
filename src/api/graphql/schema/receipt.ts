import { accountPublicId, publicId } from '../../../core/ids.ts';
import { type Operation, operationNames } from '../../../domain/access/operations.ts';
import { type Receipt, readReceipt } from '../../../domain/commands/command.ts';
import { executedRead } from '../reading/derive.ts';
import { readNode } from '../reading/planned.ts';
import { builder, enumOf, required } from './builder.ts';
import { nodeTypes } from './nouns.ts';
import { RefusalCode } from './refusals.ts';

const MutationOutcome = enumOf('MutationOutcome', 'The outcome of the first call with an idempotency key.', {
  NONE: 'No mutation with this key has taken effect or been refused. A call whose response was lost less than 20 seconds ago may still be in progress.',
  SUCCEEDED: 'The mutation took effect.',
  REFUSED: 'The mutation was refused and changed nothing; `code` says why.',
} satisfies Record<Receipt['outcome'], string>);

/** Converts a camel-case name to an enum value, such as createQuote to CREATE_QUOTE. */
const inCapitals = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

const MutationName = builder.enumType('MutationName', {
  description: 'The name of a mutation.',
  values: Object.fromEntries(
    operationNames.map((name) => [inCapitals(name), { value: name, description: `The mutation ${name}.` }]),
  ) as { readonly [Name in string]: { readonly value: Operation; readonly description: string } },
});

const MutationReceipt = builder.objectRef<Receipt>('MutationReceipt').implement({
  description: 'The outcome of the first call with an idempotency key, for clients that did not receive the response.',
  fields: (t) => ({
    operation: t.expose('operation', { type: MutationName, description: 'The name of the mutation.' }),
    idempotencyKey: t.exposeString('idempotencyKey', { description: "The call's idempotency key." }),
    outcome: t.expose('outcome', { type: MutationOutcome, description: 'Whether the mutation took effect.' }),
    code: t.optional('code', RefusalCode, { description: 'Why the mutation was refused; null if it was not.' }),
    createdAt: t.optional('createdAt', 'DateTime', {
      description: 'When the key was first used; null if it has never been used.',
    }),
    result: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      extensions: { costs: 'read' },
      description:
        'The current state of the object that the mutation created or changed; null if the caller may not see it.',
      resolve: (receipt, _args, context, info) => {
        if (!receipt.result) return null;
        const { type, row } = receipt.result;
        const id = type === 'Account' ? accountPublicId(row.kind ?? 'INTERNAL', row.id) : publicId(type, row.id);
        return readNode(id, nodeTypes, context, info);
      },
    }),
  }),
});

builder.queryField('mutationReceipt', (t) =>
  t.field({
    type: MutationReceipt,
    ...executedRead,
    description:
      "Whether the mutation with this idempotency key took effect. If this query itself fails with an error, the mutation's outcome is still unknown.",
    args: {
      operation: t.arg(required(MutationName, 'The name of the mutation.')),
      idempotencyKey: t.arg.string({
        required: true,
        description: 'The idempotency key that the mutation was called with.',
      }),
    },
    resolve: (_root, { operation, idempotencyKey }, { payments, viewer }) =>
      readReceipt(payments, viewer, operation, idempotencyKey),
  }),
);
