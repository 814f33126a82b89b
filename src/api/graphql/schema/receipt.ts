import { accountPublicId, publicId } from '../../../core/ids.ts';
import { type Operation, operationNames } from '../../../domain/access/operations.ts';
import { type Receipt, readReceipt } from '../../../domain/commands/receipts.ts';
import { executedRead } from '../reading/derive.ts';
import { readNode } from '../reading/planned.ts';
import { builder } from './builder.ts';
import { inCapitals } from './enums.ts';
import { nodeTypes } from './node.ts';
import { RefusalCode } from './refusal-code.ts';

const MutationOutcome = builder.enumType('MutationOutcome', {
  description: 'What came of the first call with an idempotency key.',
  values: {
    NONE: {
      description:
        'Nothing was done or refused under the key. A call whose answer was lost less than 20 seconds ago may still be under way.',
    },
    SUCCEEDED: { description: 'It took effect.' },
    REFUSED: { description: '`code` says why. Nothing has changed.' },
  } satisfies Record<Receipt['outcome'], object>,
});

const MutationName = builder.enumType('MutationName', {
  description: 'A mutation.',
  values: Object.fromEntries(
    operationNames.map((name) => [inCapitals(name), { value: name, description: `The mutation ${name}.` }]),
  ) as { readonly [Name in string]: { readonly value: Operation; readonly description: string } },
});

const MutationReceipt = builder.objectRef<Receipt>('MutationReceipt').implement({
  description: 'What came of the first call with an idempotency key: for a client that lost the answer.',
  fields: (t) => ({
    operation: t.expose('operation', { type: MutationName, description: 'The mutation.' }),
    idempotencyKey: t.exposeString('idempotencyKey', { description: 'The key.' }),
    outcome: t.expose('outcome', { type: MutationOutcome, description: 'Whether it took effect.' }),
    code: t.expose('code', {
      type: RefusalCode,
      nullable: true,
      description: 'Why it was refused; null where it was not.',
    }),
    createdAt: t.expose('createdAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the key was first used; null where it was not.',
    }),
    result: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      extensions: { costs: 'read' },
      description: 'What it made or changed, as it is now.',
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
      'Did it happen? What came of a mutation, by its idempotency key. An error of this field says nothing about the mutation.',
    args: {
      operation: t.arg({ type: MutationName, required: true, description: 'The mutation.' }),
      idempotencyKey: t.arg.string({ required: true, description: 'The key that it was called with.' }),
    },
    resolve: (_root, { operation, idempotencyKey }, { payments, viewer }) =>
      readReceipt(payments, viewer, operation, idempotencyKey),
  }),
);
