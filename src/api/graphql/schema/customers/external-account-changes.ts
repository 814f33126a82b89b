import { deleteExternalAccount, updateExternalAccount } from '../../../../domain/accounts/external-account-changes.ts';
import { mutation } from '../mutation.ts';
import { ExternalAccount } from '../nouns.ts';
import { changedMetadata, MetadataInput, metadataOf } from '../values/metadata.ts';

mutation('updateExternalAccount', {
  description:
    "Changes the platform's own id of an external account, its metadata, and whether incoming UMA payments of its customer go to it. What names it at its bank does not change: register another account for that.",
  input: (t) => ({
    accountId: t.id({ required: true, description: 'ExternalAccount:…' }),
    platformAccountId: t.string({
      description: "The platform's own id of it; null takes it away, and it stays when left out.",
    }),
    defaultUmaDepositAccount: t.boolean({
      description:
        'true: incoming UMA payments of the customer go here, and no longer to the default before. false: they go to its internal account. It stays when left out.',
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
    'Deletes an external account: it is INACTIVE for ever, and lists leave it out. Old payments still show it, a payment that has begun goes on, and no new one takes it. The same account can be registered again.',
  input: (t) => ({ accountId: t.id({ required: true, description: 'ExternalAccount:…' }) }),
  success: { account: { type: ExternalAccount, description: 'The account, deleted.' } },
  refusals: ['NotFoundError'],
  resolve: async ({ idempotencyKey, ...input }, { payments, viewer }) => {
    const result = await deleteExternalAccount(payments, viewer, input, idempotencyKey);
    return { account: result.row, replayed: result.replayed };
  },
});
