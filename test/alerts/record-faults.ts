import { makeScene } from '../setup/scene.ts';
import { bySql, type StagedFault } from './staged-fault.ts';

/** A comparison with a provider, finished this long ago. */
const comparison = (age: string) => `insert into reconciliation (platform_id, period_from, period_to, finished_at)
  select id, now() - interval '${age}', now() - interval '${age}' + interval '1 hour', now() - interval '${age}' from platform`;

const spoil = (accountId: string, by: string) => `begin; set local session_replication_role = replica;
  update account set posted = posted ${by} where id = '${accountId}'; commit`;

/** Findings of audits and reconciliations. */
export const recordFaults: Readonly<Record<string, StagedFault>> = {
  'corrupted balance': {
    staged:
      'the owner changes a balance, bypassing the ledger, and `ops audit` runs; ended by restoring the balance and running the audit again',
    alerts: ['PaymentsLedgerBroken'],
    async stage({ other, own, ops }) {
      const { usd } = await makeScene(other);
      const id = usd.replace('InternalAccount:', '');
      await own(spoil(id, '+ 1'));
      await ops('audit');
      return {
        async end() {
          await own(spoil(id, '- 1'));
          await ops('audit');
        },
      };
    },
  },
  'no audit': {
    staged: 'the last audit is nine days old; ended by `ops audit`',
    alerts: ['PaymentsAuditLate'],
    async stage({ own, ops }) {
      await own(`insert into audit_run (finished_at, rules, broken) values (now() - interval '9 days', 1, '{}')`);
      return { end: () => ops('audit') };
    },
  },
  'no audit of all rows': {
    staged:
      'the last audit of all rows is six weeks old, and later ones continued from it; ended by `ops audit --full`',
    alerts: ['PaymentsFullAuditLate'],
    async stage({ own, ops }) {
      await own(`insert into audit_run (finished_at, rules, broken) values (now() - interval '6 weeks', 1, '{}')`);
      await own(`insert into audit_run (rules, broken, covers_from) values (1, '{}', now() - interval '1 day')`);
      return { end: () => ops('audit', '--full') };
    },
  },
  'difference with a provider': {
    staged: 'a difference is stored as a comparison would store it; ended by `ops reconcile close`',
    alerts: ['PaymentsReconciliationDiffers'],
    async stage({ own, ops }) {
      const [{ id }] =
        await own(`insert into reconciliation_difference (platform_id, fault, period_from, period_to, same_as)
        select id, 'MISSING_THERE', now() - interval '1 day', now(), 'staged' from platform limit 1 returning id`);
      const said = ['--by', 'Ada Lovelace', '--reason', 'it was staged'];
      return { end: () => ops('reconcile', 'close', `ReconciliationDifference:${id}`, ...said) };
    },
  },
  'no comparison': bySql(
    'the last comparison with a provider is three days old; ended by another one',
    ['PaymentsReconciliationLate'],
    `delete from reconciliation; ${comparison('3 days')}`,
    comparison('1 second'),
  ),
};
