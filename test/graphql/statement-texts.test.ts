import fc from 'fast-check';
import { GraphQLError } from 'graphql';
import { expect, test } from 'vitest';
import { Part, type Piece, PlanStatement, type Run, type Sql } from '../../src/api/graphql/reading/sql.ts';
import { connect, type TestPlatform, testGateway } from '../setup/gateway.ts';
import { countedGateway, often } from '../setup/statements.ts';

const t = await testGateway();
const counting = await countedGateway(t);

/** The decisions of a run, in order. */
class Decisions {
  readonly values: unknown[] = [];
  readonly #numbers: readonly number[];
  #turn = 0;

  constructor(numbers: readonly number[]) {
    this.#numbers = numbers;
  }

  of<Way>(ways: readonly Way[]): Way {
    const number = this.#numbers[this.#turn % this.#numbers.length] ?? 0;
    this.#turn += 1;
    return ways[number % ways.length] as Way;
  }

  refuse(): string {
    return 'refused';
  }
}

const refusal = () => {
  throw new GraphQLError('not so');
};

/** The possible outcomes of the guarded part. */
const ends = [() => '', () => 'refused', refusal] as const;

/** Casts a run to this test's decisions. */
const of = (run: Run) => run as unknown as Decisions;

/** A piece of SQL, and the text that it would have in a run without caches. */
interface Written {
  readonly piece: Piece;
  readonly textOf: (run: Decisions) => string;
}

const planned = (written: readonly Written[]): Sql => written.map(({ piece }) => piece);
const textOf = (written: readonly Written[], run: Decisions) => written.map((one) => one.textOf(run)).join('');

/** Words that could be confused with each other or with parts of a cache key. */
const word = fc.constantFrom('', '1', '1:1', '#1;');
const words = fc.uniqueArray(word, { minLength: 2, maxLength: 4 });

const { written } = fc.letrec<{ written: Written[]; one: Written }>((tie) => ({
  written: fc.array(tie('one'), { minLength: 2, maxLength: 5 }),
  one: fc.oneof(
    { depthSize: 'small' },
    word.map((text): Written => ({ piece: text, textOf: () => text })),
    words.map((texts): Written => ({ piece: (run) => of(run).of(texts), textOf: (run) => run.of(texts) })),
    fc.array(tie('written'), { minLength: 2, maxLength: 3 }).map((ways): Written => {
      const parts = ways.map((way) => new Part(planned(way)));
      return { piece: (run) => [of(run).of(parts)], textOf: (run) => textOf(run.of(ways), run) };
    }),
    fc.tuple(words, tie('written')).map(([around, inside]): Written => {
      const part = new Part(planned(inside));
      return {
        piece: (run) => [of(run).of(around), part, of(run).of(around)],
        textOf: (run) => {
          const [before, after] = [run.of(around), run.of(around)];
          return before + textOf(inside, run) + after;
        },
      };
    }),
    tie('written').map(
      (inside): Written => ({
        piece: new Part([...planned(inside), (run) => of(run).of(ends)()], { isGuarded: true }),
        textOf: (run) => {
          const text = textOf(inside, run);
          return run.of([text, `${text}refused`, 'refused']);
        },
      }),
    ),
  ),
}));

test('cached text equals the text that the current run would build', () => {
  const runs = fc.array(fc.array(fc.nat(5), { minLength: 2, maxLength: 6 }), { minLength: 10, maxLength: 40 });
  fc.assert(
    fc.property(written, runs, (all, decisions) => {
      const statement = new PlanStatement(planned(all));
      for (const numbers of decisions) {
        const run = new Decisions(numbers) as unknown as Run;
        expect(statement.textFor(run)).toBe(textOf(all, new Decisions(numbers)));
      }
    }),
    { numRuns: 600 },
  );
});

test('values bound in a part that is refused are not sent', () => {
  const bind = (run: Run) => `$${run.values.push('bound')}`;
  const refused = new Part([bind, refusal], { isGuarded: true });
  const run = new Decisions([0]) as unknown as Run;
  expect(new PlanStatement([bind, ', ', refused, ', ', bind]).textFor(run)).toBe('$1, refused, $2');
  expect(run.values).toEqual(['bound', 'bound']);
});

test("a list's statement text does not depend on the caller, so platforms share prepared statements", async () => {
  const query = `{ customers(first: 3) { totalCount edges { cursor node { id transactions(last: 2) { edges { cursor } pageInfo { startCursor } } } }
    pageInfo { endCursor } } }`;
  const { platformId, authorization } = await t.newPlatform('other');
  const other = connect(counting.url, platformId, authorization);
  const sent = async (platform: TestPlatform) => {
    const { statements } = await counting.statements.during(() => platform.ask(query));
    return statements;
  };
  const first = await sent(counting.platform);
  expect(first).toHaveLength(1);
  for (let again = 0; again < often; again++) expect(await sent(other)).toEqual(first);
});
