/**
 * The laws of price rounding, as theorems about all amounts, rates and fees. `npm run soak -- proofs` has the solver
 * prove each one by showing that no numbers satisfy its assumptions and violate its claim. `npm test` evaluates each
 * one with the results of priceQuote and of src/core/fraction.ts. The expressions are in SMT-LIB and use the
 * definitions in pricing.smt2.
 */
export interface Theorem {
  readonly name: string;
  /** The variables that the proof treats as integers, and the variables that can be any real number. */
  readonly whole: readonly string[];
  readonly real: readonly string[];
  readonly given: readonly string[];
  readonly claim: string;
}

/** A theorem about a quote, or about two quotes with the same terms. `alike` says how the second is derived. */
export interface QuoteTheorem extends Theorem {
  readonly locked: 'SENDING' | 'RECEIVING';
  readonly alike?: 'MORE' | 'BACK';
}

const greatestAmount = '9000000000000000';

// ------------------------------------------------------------------------------------------------------- the roundings

const fraction = { whole: ['n', 'd'], real: [], given: ['(> d 0)'] };

/** Each rounding function of src/core/fraction.ts, applied to n/d, does what its name says. */
export const roundings: readonly Theorem[] = [
  [
    'roundDown is the greatest whole number not above the value',
    '(and (<= (* (round_down n d) d) n) (< n (* (+ (round_down n d) 1) d)))',
  ],
  [
    'roundUp is the least whole number not below the value',
    '(and (< (* (- (round_up n d) 1) d) n) (<= n (* (round_up n d) d)))',
  ],
  [
    'roundHalfUp is the nearest whole number, or the greater of two that are equally near',
    '(and (<= (* 2 (round_half_up n d) d) (+ (* 2 n) d)) (< (+ (* 2 n) d) (* 2 (+ (round_half_up n d) 1) d)))',
  ],
].map(([name = '', claim = '']) => ({ ...fraction, name, claim }));

/** Theorems linking integer numerators and denominators to exact values, so that the others need only exact values. */
export const bridges: readonly Theorem[] = [
  ...(
    [
      ['roundDown', 'rounded_down', '(<= (* w d) n)', '(< n (* (+ w 1) d))'],
      ['roundUp', 'rounded_up', '(< (* (- w 1) d) n)', '(<= n (* w d))'],
      ['roundHalfUp', 'rounded_half_up', '(<= (* 2 w d) (+ (* 2 n) d))', '(< (+ (* 2 n) d) (* 2 (+ w 1) d))'],
    ] as const
  ).map(([round, rounded, ...given]) => ({
    name: `${round}, stated in terms of the exact value`,
    whole: [],
    real: ['n', 'd', 'w', 'x'],
    given: ['(> d 0)', '(= (* x d) n)', ...given],
    claim: `(${rounded} w x)`,
  })),
  ...['rounded_down', 'rounded_up', 'rounded_half_up'].map((rounding) => ({
    name: `${rounding} gives exactly one whole number, and never a smaller one for a greater value`,
    whole: ['v', 'w'],
    real: ['x', 'y'],
    given: [`(${rounding} v x)`, `(${rounding} w y)`, '(<= x y)'],
    claim: '(and (<= v w) (=> (= x y) (= v w)))',
  })),
  ...(
    [
      ['add', '(= (* (+ x y) (* b d)) (+ (* a d) (* c b)))'],
      ['multiply', '(= (* x y (* b d)) (* a c))'],
      ['divide', '(=> (> c 0) (= (* x (* b c)) (* y (* a d))))'],
      ['isLess', '(= (ite (< x y) 1 0) (ite (< (* a d) (* c b)) 1 0))'],
    ] as const
  ).map(([operation, claim]) => ({
    name: `${operation} of fractions is exact`,
    whole: [],
    real: ['a', 'b', 'c', 'd', 'x', 'y'],
    given: ['(> b 0)', '(> d 0)', '(= (* x b) a)', '(= (* y d) c)'],
    claim,
  })),
];

// ---------------------------------------------------------------------------------------------------------- the quotes

const terms = ['fixed', 'units_bought', 'platform', 'service'];
const soundTerms = '(sound_terms fixed units_bought platform service)';
const parts = ['send', 'receive', 'platform_part', 'service_part', 'fees'];
const both = `(and (>= receive 1) (<= receive ${greatestAmount}) (> send fixed) (<= send ${greatestAmount}))`;

const sending = {
  locked: 'SENDING',
  whole: [],
  real: [...terms, ...parts],
  given: [
    soundTerms,
    both,
    '(sending_locked send receive fixed units_bought platform service platform_part service_part fees)',
  ],
} as const;
const receiving = {
  locked: 'RECEIVING',
  whole: [],
  real: [...terms, ...parts, 'taken'],
  given: [
    soundTerms,
    both,
    '(receiving_locked send receive fixed units_bought platform service platform_part service_part fees taken)',
  ],
} as const;

/** Restricts a theorem's amounts to integers. Most theorems do not need this, and the solver is faster with reals. */
function wholeAmounts<T extends Theorem>(theorem: T): T {
  const amounts = theorem.real.filter((name) => !['units_bought', 'platform', 'service'].includes(name));
  return { ...theorem, whole: amounts, real: theorem.real.filter((name) => !amounts.includes(name)) };
}

const exactReceive = '(* (- send fixed) (- 1 platform service) units_bought)';
/** The value of half a receiving unit, before variable fees. */
const halfUnit = '(/ 1 (* 2 units_bought (- 1 platform service)))';
const allIsPaid = `(and (>= platform_part 0) (>= service_part 0) (>= (- send fees) 0) (<= fees ${greatestAmount}))`;

export const quotes: readonly QuoteTheorem[] = [
  {
    ...sending,
    name: 'SENDING: the received amount is the nearest to the exact one, and exceeds it by at most half a unit',
    claim: `(and (<= (- receive ${exactReceive}) 0.5) (< (- ${exactReceive} receive) 0.5))`,
  },
  {
    ...sending,
    name: 'SENDING: the rate law holds within half a receiving unit and one sending unit',
    claim: `(let ((difference (- (* (- send fees) units_bought) receive)))
      (and (<= difference (+ 0.5 units_bought)) (>= difference (- (+ 0.5 units_bought)))))`,
  },
  ...(['platform', 'service'] as const).map((absent) =>
    wholeAmounts({
      ...sending,
      name: `SENDING, without the ${absent}'s variable fee: the rate law holds within one unit of one currency`,
      given: [...sending.given, `(= ${absent} 0)`],
      claim: '(rate_law send fees receive units_bought)',
    }),
  ),
  wholeAmounts({
    ...sending,
    name: 'SENDING: no fee is negative, and the fees never exceed the sent amount',
    claim: allIsPaid,
  }),
  wholeAmounts({
    ...sending,
    alike: 'MORE',
    name: 'SENDING: sending more never delivers less',
    real: [...terms, 'send', 'receive', 'send2', 'receive2'],
    given: [
      soundTerms,
      '(to_receiving send fixed units_bought platform service receive)',
      '(to_receiving send2 fixed units_bought platform service receive2)',
      '(<= send send2)',
    ],
    claim: '(<= receive receive2)',
  }),
  ...(['platform', 'service'] as const).map((earner) =>
    wholeAmounts({
      ...sending,
      alike: 'MORE',
      name: `SENDING: sending more never lowers the variable fee for the ${earner}`,
      real: ['fixed', earner, 'send', 'send2', `${earner}_part`, `${earner}_part2`],
      given: [
        `(and (>= ${earner} 0) (< ${earner} 1) (<= send send2))`,
        `(variable_fee (- send fixed) ${earner} ${earner}_part)`,
        `(variable_fee (- send2 fixed) ${earner} ${earner}_part2)`,
      ],
      claim: `(<= ${earner}_part ${earner}_part2)`,
    }),
  ),
  {
    ...receiving,
    name: 'RECEIVING: the sent amount pays for the received amount, and one unit less would not',
    claim: `(and (>= ${exactReceive} receive) (> receive (* (- (- send 1) fixed) (- 1 platform service) units_bought)))`,
  },
  {
    ...receiving,
    name: 'RECEIVING: the rate law holds within one unit of one currency',
    claim: '(rate_law send fees receive units_bought)',
  },
  wholeAmounts({
    ...receiving,
    name: 'RECEIVING: a surplus is one unit, and is taken only if the platform or the service charges a variable fee',
    claim: '(or (= taken 0) (and (= taken 1) (> (+ platform service) 0)))',
  }),
  {
    ...receiving,
    name: 'RECEIVING: the sent amount exceeds fees and price by less than two units, and falls short by at most one',
    claim: `(let ((left (surplus send fees receive units_bought))) (and (>= left (- 1)) (< left 2)))`,
  },
  wholeAmounts({
    ...receiving,
    name: 'RECEIVING: no fee is negative, and the fees never exceed the sent amount',
    claim: allIsPaid,
  }),
  wholeAmounts({
    ...receiving,
    alike: 'MORE',
    name: 'RECEIVING: delivering more never requires sending less',
    real: [...receiving.real, 'receive2', 'send2'],
    given: [
      ...receiving.given,
      '(to_sending receive2 fixed units_bought platform service send2)',
      '(<= receive receive2)',
    ],
    claim: '(<= send send2)',
  }),
  wholeAmounts({
    ...receiving,
    alike: 'BACK',
    name: 'SENDING the amount quoted for RECEIVING delivers at least as much, and less than half a unit beyond what one more unit buys',
    real: [...receiving.real, 'receive2'],
    given: [...receiving.given, '(to_receiving send fixed units_bought platform service receive2)'],
    claim: '(and (>= receive2 receive) (< receive2 (+ receive 0.5 (* units_bought (- 1 platform service)))))',
  }),
  {
    ...sending,
    alike: 'BACK',
    name: 'RECEIVING the amount that SENDING delivered costs the same, to within half a receiving unit, rounded up',
    real: [...sending.real, 'send2'],
    given: [...sending.given, '(to_sending receive fixed units_bought platform service send2)'],
    claim: `(and (> send2 (- send ${halfUnit})) (< send2 (+ send ${halfUnit} 1)))`,
  },
];

/** The counterparty's fee, before it is added to the fixed fees. */
export const convertedFee: Theorem = wholeAmounts({
  name: "the counterparty's fee is converted to the nearest unit, and is not negative",
  whole: [],
  real: ['fee', 'amount', 'units_bought'],
  given: ['(>= fee 0)', '(> units_bought 0)', '(converted_fee fee units_bought amount)'],
  claim: '(and (>= amount 0) (<= (- amount (/ fee units_bought)) 0.5) (< (- (/ fee units_bought) amount) 0.5))',
});

export const allTheorems: readonly Theorem[] = [...roundings, ...bridges, convertedFee, ...quotes];

/** A wrong rounding in the model. `npm run soak -- planted` plants the same mistakes in the source. */
export interface WrongRounding {
  readonly wrong: string;
  /** In pricing.smt2. */
  readonly find: string;
  readonly put: string;
  /** The theorem that it makes false. */
  readonly breaks: QuoteTheorem;
}

function named(begin: string): QuoteTheorem {
  const theorem = quotes.find(({ name }) => name.startsWith(begin));
  if (!theorem) throw new Error(`there is no theorem ${begin}`);
  return theorem;
}

export const wrongRoundings: readonly WrongRounding[] = [
  {
    wrong: 'the received amount is rounded up',
    find: '(rounded_half_up receive',
    put: '(rounded_up receive',
    breaks: named('SENDING: the received amount is the nearest'),
  },
  {
    wrong: 'the amount to send is rounded half up',
    find: '(rounded_up send',
    put: '(rounded_half_up send',
    breaks: named('RECEIVING: the sent amount pays'),
  },
  {
    wrong: 'variable fees are rounded up',
    find: '(rounded_half_up amount (* charged rate))',
    put: '(rounded_up amount (* charged rate))',
    breaks: named('SENDING: no fee is negative'),
  },
  {
    wrong: 'the surplus is never taken as a fee',
    find: '(ite (or (<= surplus 1) (<= (* surplus units_bought) 1)) 0.0 1.0)',
    put: '0.0',
    breaks: named('RECEIVING: the rate law'),
  },
  {
    wrong: 'a unit is taken even if the surplus exceeds one unit in only one currency',
    find: '(or (<= surplus 1) (<= (* surplus units_bought) 1))',
    put: '(and (<= surplus 1) (<= (* surplus units_bought) 1))',
    breaks: named('RECEIVING: a surplus is one unit'),
  },
];
