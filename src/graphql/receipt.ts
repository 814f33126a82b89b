import { isOperation } from '../access/operations.ts';
import { isIdempotencyKey } from '../payments/command.ts';
import { accountPublicId, publicId } from '../payments/ids.ts';
import { type Receipt, readReceipt } from '../payments/receipts.ts';
import { builder } from './builder.ts';
import { invalidInput } from './failure.ts';
import { loadNode, nodeTypes } from './node.ts';

const MutationReceipt = builder.objectRef<Receipt>('MutationReceipt').implement({
  description: 'What came of the first call with an idempotency key: for a client that lost the answer.',
  fields: (t) => ({
    operation: t.exposeString('operation', { description: "The mutation's name." }),
    idempotencyKey: t.exposeString('idempotencyKey', { description: 'The key.' }),
    succeeded: t.boolean({ description: 'Whether it took effect.', resolve: (receipt) => receipt.code === null }),
    code: t.exposeString('code', { nullable: true, description: 'Why it was refused, or null.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the key was first used.' }),
    result: t.field({
      type: builder.nodeInterfaceRef(),
      nullable: true,
      description: 'What it made or changed, as it is now.',
      resolve: (receipt, _args, context, info) => {
        if (!receipt.result) return null;
        const { type, row } = receipt.result;
        const id =
          'kind' in row
            ? accountPublicId(row.kind, row.id)
            : publicId(type === 'Account' ? 'InternalAccount' : type, row.id);
        return loadNode(id, context, info, nodeTypes);
      },
    }),
  }),
});

builder.queryField('mutationReceipt', (t) =>
  t.field({
    type: MutationReceipt,
    nullable: true,
    description: 'Did it happen? What came of a mutation, by its idempotency key; null when nothing did.',
    args: {
      operation: t.arg.string({ required: true, description: "The mutation's name, such as executeQuote." }),
      idempotencyKey: t.arg.string({ required: true, description: 'The key that it was called with.' }),
    },
    resolve: (_root, { operation, idempotencyKey }, { payments, viewer }) => {
      if (!isOperation(operation)) throw invalidInput(`there is no mutation ${JSON.stringify(operation)}`, 'operation');
      return isIdempotencyKey(idempotencyKey) ? readReceipt(payments, viewer, operation, idempotencyKey) : undefined;
    },
  }),
);
