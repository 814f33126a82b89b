import { z } from 'zod';
import type { FailureReason } from '../../database/generated/client/client.ts';
import type { Outcome } from './sender.ts';

/** A pending incoming payment that a platform was asked about. */
export interface PendingPayment {
  readonly platformId: string;
  /** The bare uuid. */
  readonly transactionId: string;
}

/** What a platform's answer means for a pending incoming payment (decision 33). */
export type Decision =
  | { readonly kind: 'APPROVED'; readonly receiverCustomerInfo: Readonly<Record<string, string>> }
  | { readonly kind: 'REJECTED'; readonly reason: string | undefined }
  /** The platform needs to know more about the other side before it can approve. */
  | { readonly kind: 'MORE_INFORMATION_NEEDED'; readonly requiredFields: readonly string[] }
  | {
      readonly kind: 'FAILED';
      readonly failureReason: Extract<FailureReason, 'PAYMENT_APPROVAL_WEBHOOK_ERROR' | 'PAYMENT_APPROVAL_TIMED_OUT'>;
    };

/**
 * Carries a decision out. Called at least once for each question, and perhaps again after a crash: a payment that is no
 * longer pending is left as it is.
 */
export type Decide = (payment: PendingPayment, decision: Decision) => Promise<void>;

/** 202: decided later by approveTransaction or rejectTransaction. 409: the platform has had the question before. */
const deferring: ReadonlySet<number> = new Set([202, 409]);
const answering: ReadonlySet<number> = new Set([200, 202, 403, 409, 422]);

const text = z.string().max(500);
const approval = z.object({ receiverCustomerInfo: z.record(z.string().max(100), text).optional() });
const rejection = z.object({ reason: text.optional(), message: text.optional() });
const inquiry = z.object({ requiredFields: z.array(z.string().max(100)).max(100).optional() });

/** Whether a status answers the question at all. */
export function isAnswer(status: number | undefined): boolean {
  return status !== undefined && answering.has(status);
}

/** Whether the answer was that the decision comes later, within the time that every question has. */
export function isDeferral(status: number | null | undefined): boolean {
  return typeof status === 'number' && deferring.has(status);
}

/** What the answer to a question decides; undefined when it defers the decision. */
export function decisionOf(outcome: Pick<Outcome, 'responseStatus' | 'timedOut' | 'answer'>): Decision | undefined {
  const { responseStatus, timedOut, answer } = outcome;
  if (isDeferral(responseStatus)) return undefined;
  if (timedOut) return { kind: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' };
  const body = jsonOf(answer);
  switch (responseStatus) {
    case 200: {
      // An approval whose details cannot be read is not one: money must not move on a guess.
      const read = approval.safeParse(body ?? {});
      return read.success
        ? { kind: 'APPROVED', receiverCustomerInfo: read.data.receiverCustomerInfo ?? {} }
        : { kind: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' };
    }
    case 403: {
      const { data } = rejection.safeParse(body);
      return { kind: 'REJECTED', reason: data?.reason ?? data?.message };
    }
    case 422:
      return { kind: 'MORE_INFORMATION_NEEDED', requiredFields: inquiry.safeParse(body).data?.requiredFields ?? [] };
    default:
      return { kind: 'FAILED', failureReason: 'PAYMENT_APPROVAL_WEBHOOK_ERROR' };
  }
}

/** What a question comes to whose time has passed: after a deferral a rejection, after silence a failure. */
export function overdueDecision(lastStatus: number | null): Decision {
  return isDeferral(lastStatus)
    ? { kind: 'REJECTED', reason: 'the platform did not decide in time' }
    : { kind: 'FAILED', failureReason: 'PAYMENT_APPROVAL_TIMED_OUT' };
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
