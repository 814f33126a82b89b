import { deleteExternalAccount, updateExternalAccount } from '../../../../domain/accounts/external-account-changes.ts';
import { mutation } from '../mutation.ts';
import { ExternalAccount } from '../nouns.ts';
import { changedMetadata, MetadataInput, metadataOf } from '../values/metadata.ts';

mutation('updateExternalAccount', {
  description:
    "Changes the platform's own id of an external account, its metadata, and whether incoming UMA payments of its customer go to it. To change what identifies it at its bank, register another account.",
  input: (t) => ({
    accountId: t.id({ required: true, description: 'The account to change: ExternalAccount:…' }),
    platformAccountId: t.string({
      description: "The platform's own id for the account; null removes it, and it stays when left out.",
    }),
    defaultUmaDepositAccount: t.boolean({
      description:
        'True: incoming UMA payments of the customer go to this account instead of the earlier default. False: they go to its internal account. Left out: no change.',
    }),
    metadata: t.field({ type: [MetadataInput], description: changedMetadata }),
  }),
  success: { account: { type: ExternalAccount, description: 'The account as it is now.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, metadata, ...given }, { payments, viewer }) => {
    const input = { ...given, metadata: metadataOf(metadata) };
    const result = await updateExternalAccount(payments, viewer, input, idempotencyKey);
    return { account: result.row, replayed: result.replayed };
  },
});

mutation('deleteExternalAccount', {
  description:
    'Deletes an external account: it becomes INACTIVE for good, and lists leave it out. Old payments still show it, payments in progress continue, and no new payment can use it. The same bank account or wallet can be registered again.',
  input: (t) => ({ accountId: t.id({ required: true, description: 'The account to delete: ExternalAccount:…' }) }),
  success: { account: { type: ExternalAccount, description: 'The deleted account.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await deleteExternalAccount(payments, viewer, input, idempotencyKey);
    return { account: result.row, replayed: result.replayed };
  },
});
