import type { Period } from '../../../core/checks.ts';
import { whereTransactions } from '../../../domain/commands/filters.ts';
import { balanceAt, versionBefore } from '../../../domain/statements/statement.ts';
import { listRows, oneOfFew } from '../../../infra/database/list-rows.ts';
import { columnName } from '../../../infra/database/rows.ts';
import { invalidInput } from '../failure.ts';
import { type MadeRead, rowsBelow } from './kinds.ts';
import { type ArgumentsOf, byNumber, type Env, type PageRead } from './reads.ts';
import { type Piece, type Run, sql, textOfRun } from './sql.ts';

/** Defines how account statements are read: their entries and totals. */

/** Returns the SQL for a time argument, or for null if the argument is omitted. */
const moment =
  (args: ArgumentsOf, name: keyof Period) =>
  (run: Run): string =>
    `${run.bind(periodOf(args(run))[name] ?? null)}::timestamptz`;

/** @throws GraphQLError INVALID_INPUT for a period that ends before it begins */
function periodOf(args: Readonly<Record<string, unknown>>): Partial<Period> {
  const { from, to } = args as Partial<Period>;
  if (from && to && to < from) throw invalidInput('the period must not end before it begins', 'to');
  return { ...(from && { from }), ...(to && { to }) };
}

/** An account's entries, in the order in which they changed its balance. Each entry has its own account version. */
export const entriesRead: PageRead = {
  kind: 'page',
  list: 'LedgerEntry',
  model: 'Posting',
  key: () => entryOrder,
  where: () => ({}),
  within: (args) => {
    const { from, to } = periodOf(args);
    return { journal: { createdAt: { ...(from && { gte: from }), ...(to && { lt: to }) } } };
  },
  of: ({ row = '' }, alias, args) => {
    const within =
      (operator: '>' | '<=', name: keyof Period): Piece =>
      (run) =>
        periodOf(args(run))[name] === undefined
          ? ''
          : ` and ${alias}.account_version ${operator} ${versionBefore(row, moment(args, name)(run))}`;
    return [
      sql`${alias}.platform_id = ${row}.platform_id and ${oneOfFew(alias, 'account_id', `${row}.id`)}${within('>', 'from')}${within('<=', 'to')}`,
    ];
  },
};

const entryOrder = byNumber('account_version', { of: Number });

/** A statement's period, and the account's versions at its start and end. */
export const statementRow: MadeRead = () => ({
  kind: 'row',
  from: ({ row = '' }, alias, args) =>
    sql`(select ${row}.platform_id, ${row}.id, ${row}.currency, m.period_from, m.period_to,
            ${versionBefore(row, 'm.period_from')} as opening_version, ${versionBefore(row, 'm.period_to')} as closing_version
          from (select ${moment(args, 'from')} as period_from, ${moment(args, 'to')} as period_to offset 0) m offset 0) ${alias}`,
});

/** The balance of a statement's account at its opening or closing version. */
export const statementBalance =
  (version: 'openingVersion' | 'closingVersion'): MadeRead =>
  () => {
    const balance = ({ row = '' }: Env) => balanceAt(row, `${row}.${columnName(version)}`);
    return {
      kind: 'value',
      env: (env) => ({ amount: balance(env), currency: `${env.row}.currency` }),
      unless: (env) => [`${balance(env)} is null or ${env.row}.currency is null`],
    };
  };

/** The sum of a statement's incoming or outgoing entries. */
export const statementSum =
  (sign: '>' | '<'): MadeRead =>
  () => ({
    kind: 'row',
    costs: 'sums',
    from: ({ row }, alias) =>
      sql`${{
        shared: [
          `select count(*), coalesce(sum(abs(p.amount)), 0) as amount, ${row}.currency from posting p
        where p.platform_id = ${row}.platform_id and p.account_id = ${row}.id
          and p.account_version > ${row}.opening_version and p.account_version <= ${row}.closing_version and p.amount ${sign} 0`,
        ],
      }} ${alias}`,
  });

/** The totals of the related payments that the field's filter matches, by status, direction and currency. */
export const totalsOf =
  (...relations: readonly string[]): MadeRead =>
  ({ model }) => {
    const of = relations.length === 0 ? undefined : rowsBelow(model, relations);
    return {
      kind: 'values',
      costs: 'sums',
      ways: Math.max(1, relations.length),
      from: (env, alias, args) => ({
        from: sql`${{
          shared: sql`select t.status, t.type, t.currency, count(*) as count, sum(t.amount) as amount
      from (select x.status, x.type, case x.type when 'OUTGOING' then coalesce(x.sent_currency, x.received_currency) else x.received_currency end as currency,
          case x.type when 'OUTGOING' then coalesce(x.sent_amount, x.received_amount, 0) else coalesce(x.received_amount, 0) end as amount
        from ${(run) => {
          const filter = args(run).filter as Parameters<typeof whereTransactions>[1];
          const below = of?.(env, 'x').map((way) => textOfRun(way, run));
          return listRows(
            { model: 'Transaction', alias: 'x', where: whereTransactions(run.viewer, filter), below },
            run,
          );
        }}) t
      group by t.status, t.type, t.currency`,
        }} ${alias}`,
        orderBy: `${alias}.status, ${alias}.type, ${alias}.currency`,
        env: { row: alias },
      }),
    };
  };
