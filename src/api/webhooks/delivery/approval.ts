import { z } from 'zod';
import { parseJson } from '../../../core/json.ts';
import { Refusal } from '../../../core/refusal.ts';
import { canonicalText, longest, textFault } from '../../../core/texts.ts';
import type { Decision } from '../../../domain/approvals/approvals.ts';
import { checkInformation } from '../../../domain/commands/information.ts';
import type { Outcome } from './sender.ts';

/** 202: approveTransaction or rejectTransaction decides later. 409: the platform has received the request before. */
const deferring: ReadonlySet<number> = new Set([202, 409]);
const answering: ReadonlySet<number> = new Set([200, 202, 403, 409, 422]);

/** A reason that can be stored; other text is dropped, so that the rejection still counts. */
const reason = z
  .string()
  .transform(canonicalText)
  .refine((text) => textFault(text, longest.memo) === undefined)
  .optional()
  .catch(undefined);
const approval = z.object({ receiverCustomerInfo: z.record(z.string(), z.string()).optional() });
const rejection = z.object({ reason, message: reason });
const inquiry = z.object({ requiredFields: z.array(z.unknown()) });
const fieldName = /^[A-Za-z_]{1,64}$/;
/** The maximum length of a list of names in a reason, in characters. */
const namesLength = 400;

/** Returns whether the status of a response is an answer to an approval request. */
export function isAnswer(status: number | undefined): boolean {
  return status !== undefined && answering.has(status);
}

/** The response to an approval request: a decision, or `defer` if a command decides later. */
type QuestionAnswer = Decision | { readonly kind: 'defer' };

/**
 * Reads the response to an approval request (decision 33). Undefined if there was none: the deadline ends the
 * payment.
 */
export function questionAnswer(
  outcome: Pick<Outcome, 'responseStatus' | 'timedOut' | 'answer'>,
  now: Date,
): QuestionAnswer | undefined {
  const { responseStatus, timedOut, answer } = outcome;
  if (timedOut) return undefined;
  if (responseStatus !== undefined && deferring.has(responseStatus)) return { kind: 'defer' };
  const body = jsonOf(answer);
  switch (responseStatus) {
    case 200:
      return approvalOf(body, now);
    case 403: {
      const { data } = rejection.safeParse(body);
      return { kind: 'reject', reason: data?.reason ?? data?.message };
    }
    case 422: {
      const fields = namesIn(inquiry.safeParse(body).data?.requiredFields ?? []);
      const needs = 'the platform needs more information about the sender';
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

/** Reads an approval. Unreadable or unacceptable details count as an error: money must not move on a guess. */
function approvalOf(body: unknown, now: Date): Decision {
  const parsed = approval.safeParse(body ?? {});
  if (!parsed.success) return webhookError;
  const info = Object.entries(parsed.data.receiverCustomerInfo ?? {}).map(([name, value]) => ({ name, value }));
  try {
    checkInformation(info, ['receiverCustomerInfo'], now);
  } catch (error) {
    if (error instanceof Refusal) return webhookError;
    throw error;
  }
  return { kind: 'approve', receiverCustomerInfo: info };
}

const webhookError: Decision = {
  kind: 'webhook-error',
  explanation: "the platform's answer to the approval request was an error",
};

/**
 * Parses the body of a response; undefined if it is empty. Text that is not exact JSON is returned: it fits no
 * schema.
 */
function jsonOf(answer: string | undefined): unknown {
  if (answer === undefined || answer.trim() === '') return undefined;
  try {
    return parseJson(answer);
  } catch {
    return answer;
  }
}
