import { type Answer, listed } from '../apps/terminal/answer.ts';
import type { Program } from '../apps/terminal/program.ts';
import { formatMajor, requiredCurrency } from '../core/currencies.ts';
import { publicId } from '../core/ids.ts';
import type { LimitState } from '../domain/ledger/commit.ts';
import { limitsOfPolicies, type StoredApproval } from '../domain/policies/policies.ts';
import { trustedJson } from '../infra/database/rows.ts';
import { platformNamed } from './platforms.ts';
import { type Tools, withDatabase } from './tools.ts';

export function addPolicies(program: Program): void {
  const policy = program.command('policy').description('the policies of a platform, and the payments that they hold');
  const platform = ['<platform>', 'the name of the platform'] as const;
  policy
    .command('list')
    .description('list the policies of a platform, and how much is left of their limits')
    .argument(...platform)
    .action(withDatabase(list));
  policy
    .command('held')
    .description('list the payments of a platform that await approval by a second person, oldest first')
    .argument(...platform)
    .action(withDatabase(held));
}

async function list({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const policies = await database.prisma.policy.findMany({ where: { platformId }, orderBy: { id: 'asc' } });
  const limits = await limitsOfPolicies(database, platformId);
  const rows = policies.map((policy) => ({
    subject: `${policy.subjectType}:${policy.subjectId}`,
    left: (limits.get(policy.id) ?? []).map(leftOf),
    kinds: policy.kinds,
    receivers: [...policy.receiverAccountIds, ...policy.receiverCountries, ...policy.receiverUmaAddresses],
    hours: policy.hoursFrom === null ? null : `${policy.hoursFrom}-${policy.hoursTo}`,
    timeZone: policy.timeZone,
    approval: approvalOf(trustedJson<StoredApproval | null>(policy.approval)),
    updatedAt: policy.updatedAt,
  }));
  return listed(rows, `The platform ${name} has no policy.`);
}

function leftOf({ period, currency, amount, leftAmount, payments, leftPayments }: LimitState): string {
  return currency === null
    ? `${period} ${leftPayments} of ${payments} payments`
    : `${period} ${major(leftAmount, currency)} of ${major(amount, currency)}`;
}

const major = (digits: string | bigint | null, currency: string | null) =>
  formatMajor(BigInt(digits ?? 0), requiredCurrency(currency ?? ''));

function approvalOf(approval: StoredApproval | null): string[] {
  if (!approval) return [];
  return [
    ...(approval.always ? ['always'] : []),
    ...approval.above.map(({ amount, currency }) => `above ${major(amount, currency)}`),
    ...(approval.newReceivers ? ['new receivers'] : []),
  ];
}

async function held({ database }: Tools, name: string): Promise<Answer> {
  const { platformId } = await platformNamed(database, name);
  const payments = await database.prisma.transaction.findMany({
    where: { platformId, status: 'CREATED', approvalDueAt: { not: null } },
    orderBy: { id: 'asc' },
  });
  const rows = payments.map((payment) => ({
    transaction: publicId('Transaction', payment.id),
    amount: major(payment.sentAmount, payment.sentCurrency),
    customer: payment.customerId && publicId('Customer', payment.customerId),
    askedBy: payment.createdBy,
    until: payment.approvalDueAt,
  }));
  return listed(rows, `No payment of the platform ${name} waits for an approval.`);
}
