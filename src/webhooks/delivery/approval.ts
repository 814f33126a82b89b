import { z } from 'zod';
import { isPlainText } from '../../core/checks.ts';
import { Refusal } from '../../core/refusal.ts';
import type { Decision } from '../../payments/approvals/approvals.ts';
import { checkInformation } from '../../payments/information.ts';
import type { Outcome } from './sender.ts';

/** 202: decided later by approveTransaction or rejectTransaction. 409: the platform has had the question before. */
const deferring: ReadonlySet<number> = new Set([202, 409]);
const answering: ReadonlySet<number> = new Set([200, 202, 403, 409, 422]);

/** What can be stored as a reason; other text counts as none, or the rejection would be lost with it. */
const reason = z.string().max(500).refine(isPlainText).optional().catch(undefined);
const approval = z.object({ receiverCustomerInfo: z.record(z.string(), z.string()).optional() });
const rejection = z.object({ reason, message: reason });
const inquiry = z.object({ requiredFields: z.array(z.unknown()) });
/** The form of a field's name. */
const fieldName = /^[A-Za-z_]{1,64}$/;
/** How much of a list of names fits into a reason. */
const namesLength = 400;

/** Whether a status answers the question at all. */
export function isAnswer(status: number | undefined): boolean {
  return status !== undefined && answering.has(status);
}

/** Whether the answer was that the decision comes later, within the time that every question has. */
export function isDeferral(status: number | null | undefined): boolean {
  return typeof status === 'number' && deferring.has(status);
}

/**
 * Reads what the answer to a question decides (decision 33); undefined when it decides nothing: it defers the
 * decision, or there was no answer in time, and the payment's own deadline decides.
 */
export function decisionOf(outcome: Pick<Outcome, 'responseStatus' | 'timedOut' | 'answer'>): Decision | undefined {
  const { responseStatus, timedOut, answer } = outcome;
  if (isDeferral(responseStatus) || timedOut) return undefined;
  const body = jsonOf(answer);
  switch (responseStatus) {
    case 200:
      return approvalOf(body);
    case 403: {
      const { data } = rejection.safeParse(body);
      return { kind: 'reject', reason: data?.reason ?? data?.message };
    }
    case 422: {
      const fields = namesIn(inquiry.safeParse(body).data?.requiredFields ?? []);
      const needs = 'the platform needs to know more of the sender';
      return { kind: 'reject', reason: fields ? `${needs}: ${fields}` : needs };
    }
    default:
      return webhookError;
  }
}

function namesIn(fields: readonly unknown[]): string {
  const names = fields.filter((field) => typeof field === 'string' && fieldName.test(field));
  return names.join(', ').slice(0, namesLength);
}

/** An approval. One whose details cannot be read, or would be refused, is none: money must not move on a guess. */
function approvalOf(body: unknown): Decision {
  const read = approval.safeParse(body ?? {});
  if (!read.success) return webhookError;
  const info = Object.entries(read.data.receiverCustomerInfo ?? {}).map(([name, value]) => ({ name, value }));
  try {
    checkInformation(info, ['receiverCustomerInfo']);
  } catch (error) {
    if (error instanceof Refusal) return webhookError;
    throw error;
  }
  return { kind: 'approve', receiverCustomerInfo: info };
}

const webhookError: Decision = {
  kind: 'webhook-error',
  explanation: "the platform's answer to the approval question was an error",
};

/** What a question comes to whose time has passed: after a deferral a rejection; undefined after silence, as above. */
export function overdueDecision(lastStatus: number | null): Decision | undefined {
  return isDeferral(lastStatus) ? { kind: 'reject', reason: 'the platform did not decide in time' } : undefined;
}

/** An answer's JSON; undefined when it has no body, and a value that fits no form when it is not JSON. */
function jsonOf(answer: string | undefined): unknown {
  if (answer === undefined || answer.trim() === '') return undefined;
  try {
    return JSON.parse(answer);
  } catch {
    return answer;
  }
}
