import { refusalIn } from '../../core/refusal.ts';
import { commands } from '../../infra/instruments/instruments.ts';
import type { Operation } from './operations.ts';

/** Counts a command in the metrics by its outcome: done, replayed, or its refusal. */
export async function countCommand<Result extends { readonly replayed: boolean }>(
  operation: Operation,
  running: Promise<Result>,
): Promise<Result> {
  try {
    const result = await running;
    commands.inc({ operation, outcome: result.replayed ? 'replayed' : 'done' });
    return result;
  } catch (error) {
    const code = refusalIn(error)?.code;
    commands.inc({ operation, outcome: code ?? 'failed' });
    throw error;
  }
}
