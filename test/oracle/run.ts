import fc from 'fast-check';
import { often } from '../setup/often.ts';
import { Choices } from './choices.ts';
import { differenceOf } from './differences.ts';
import { drawDocument } from './documents.ts';
import type { Expected, Operation } from './plain-executor.ts';
import type { Caller } from './scene.ts';
import type { OracleWorld, RawAnswer } from './world.ts';

/** What a run came to. */
export interface Figures {
  documents: number;
  /** Documents that some caller was answered with rows. */
  withRows: number;
  /** First answers to a caller, and those of them that had rows, had errors, or were refused before they were executed. */
  answers: number;
  answersWithRows: number;
  answersWithErrors: number;
  refused: number;
  /** All requests, repeats among them. */
  requests: number;
  /** Of documents with one root field, by that field: how many were counted, and their statements, all and at most. */
  readonly statements: Map<string, { documents: number; statements: number; most: number }>;
}

/** How long a document that shows a difference is made smaller. */
const shrinkMs = 30_000;

const numbers = fc.array(fc.nat(0x7fffffff), { minLength: 30, maxLength: 300, size: 'max' });

/**
 * Asks for random documents and holds the service's answers against the oracle's.
 * @param seed gives the same documents again; `ORACLE_SEED` in the environment gives it to a run
 * @throws Error for the first difference, shrunk to a small document: with seed, document, caller and both answers
 */
export async function runOracle(world: OracleWorld, documents: number): Promise<Figures> {
  const seed = process.env.ORACLE_SEED ? Number(process.env.ORACLE_SEED) : Date.now() & 0x7fffffff;
  const figures: Figures = {
    documents: 0,
    withRows: 0,
    answers: 0,
    answersWithRows: 0,
    answersWithErrors: 0,
    refused: 0,
    requests: 0,
    statements: new Map(),
  };
  let smallest: Error | undefined;
  let until = Number.POSITIVE_INFINITY;
  const one = async (drawn: readonly number[]) => {
    // What is still smaller when the time for it is over is not looked for.
    if (performance.now() > until) return;
    try {
      await askOne(world, new Choices(drawn), figures);
    } catch (error) {
      until = Math.min(until, performance.now() + shrinkMs);
      smallest = error instanceof Error ? error : new Error(String(error));
      throw error;
    }
  };
  try {
    await fc.assert(fc.asyncProperty(numbers, one), { numRuns: documents, seed });
  } catch (error) {
    if (!smallest) throw error;
    throw new Error(`${smallest.message}\nORACLE_SEED=${seed} asks for it again`, { cause: smallest });
  }
  return figures;
}

/** One document, asked by some callers in turn, as often as it takes to be answered in every way that the service has. */
async function askOne(world: OracleWorld, choices: Choices, figures: Figures): Promise<void> {
  const home = choices.oneIn(4) ? 1 : 0;
  const [ofHome, ofOther] = [true, false].map((is) =>
    world.callers.filter(({ platform }) => (platform === home) === is),
  );
  const callers = [choices.oneOf(ofHome ?? []), choices.oneOf(ofHome ?? [])];
  if (choices.oneIn(2)) callers.push(choices.oneOf((choices.oneIn(2) ? ofOther : ofHome) ?? []));
  const isRepeated = choices.oneIn(8);
  const { query, operationName, variables, roots } = drawDocument(world.oracle.schema, choices, world.material[home]);
  figures.documents += 1;

  const asked: Asked[] = [];
  let hasRows = false;
  for (const [at, caller] of callers.entries()) {
    const operation = { query, operationName, variables: variables[at % variables.length] ?? {} };
    const [expected, { result, statements }] = await Promise.all([
      world.oracle.execute(operation, caller.viewer),
      world.statements.during(() => world.ask(operation, caller)),
    ]);
    const answer = result.json();
    const difference = differenceOf(expected, answer);
    const isOverBudget = answer.errors?.[0]?.extensions?.code === 'COST_LIMIT_EXCEEDED';
    if (difference !== undefined && !isOverBudget) {
      throw different(difference, caller.name, operation, expected, result);
    }
    asked.push({ caller, operation, text: result.text });
    hasRows ||= expected.rows > 0;
    figures.answers += 1;
    figures.answersWithRows += expected.rows > 0 && expected.data ? 1 : 0;
    figures.answersWithErrors += answer.errors ? 1 : 0;
    figures.refused += answer.data === undefined ? 1 : 0;
    figures.requests += 1;
    const [root] = roots;
    if (root !== undefined && roots.length === 1 && expected.data) count(figures, root, statements);
  }
  figures.withRows += hasRows ? 1 : 0;
  if (!isRepeated) return;

  const again = async ({ caller, operation, text }: Asked) => {
    const answer = await world.ask(operation, caller);
    figures.requests += 1;
    if (answer.text === text) return;
    const expected = await world.oracle.execute(operation, caller.viewer);
    const difference = differenceOf(expected, answer.json());
    if (difference === undefined) return;
    const turns = `${caller.name}, in turns with ${callers.map(({ name }) => name).join('; ')}`;
    throw different(`asked again, ${difference}`, turns, operation, expected, answer);
  };
  for (let round = Math.ceil(often / callers.length); round > 0; round--) {
    // In turns, and all at once.
    if (round % 2 === 0) for (const one of asked) await again(one);
    else await Promise.all(asked.map(again));
  }
}

interface Asked {
  readonly caller: Caller;
  readonly operation: Operation;
  readonly text: string;
}

function different(what: string, caller: string, operation: Operation, expected: Expected, answer: RawAnswer): Error {
  return new Error(
    [
      `the answer of the service is not that of the oracle: ${what}`,
      `asked by ${caller}`,
      operation.query,
      `variables: ${JSON.stringify(operation.variables)}`,
      `expected: ${JSON.stringify({ data: expected.data, errors: expected.errors })}`,
      `answered: ${answer.text}`,
    ].join('\n'),
  );
}

function count({ statements: all }: Figures, root: string, statements: number): void {
  const known = all.get(root) ?? { documents: 0, statements: 0, most: 0 };
  known.documents += 1;
  known.statements += statements;
  known.most = Math.max(known.most, statements);
  all.set(root, known);
}
