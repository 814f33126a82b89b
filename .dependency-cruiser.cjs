// The arrows of the house (README): each room may import only from the rooms named after it. What is not named here is
// refused, so a new room or a new arrow is a decision, made in this file.
const rooms = {
  money: [],
  bodies: [],
  database: [],
  rails: ['database', 'money'],
  events: ['database'],
  ledger: ['database', 'events'],
  payments: ['ledger', 'rails', 'events', 'money', 'database'],
  webhooks: ['events', 'payments', 'database'],
  access: ['payments', 'ledger', 'money', 'database'],
  graphql: ['bodies', 'access', 'webhooks', 'payments', 'rails', 'events', 'money', 'database'],
  rest: ['bodies', 'access', 'webhooks', 'payments', 'rails', 'events', 'money', 'database'],
  http: ['graphql', 'rest', 'bodies', 'access', 'database'],
  work: ['webhooks', 'payments', 'events', 'database'],
};

const names = Object.keys(rooms).join('|');

module.exports = {
  forbidden: [
    ...Object.entries(rooms).map(([room, allowed]) => ({
      name: `from-${room}`,
      severity: 'error',
      from: { path: `^src/${room}/` },
      to: { path: `^src/(?!generated)`, pathNot: `^src/(${[room, ...allowed].join('|')})/` },
    })),
    {
      name: 'known-rooms-only',
      comment: 'A folder that this file does not know has no place in the house yet.',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: `^src/(${names})/` },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'prisma-moves-no-money',
      comment: 'Money is posted through pg, in one transaction (src/ledger).',
      severity: 'error',
      from: { path: '^src/ledger/' },
      to: { path: 'generated/client/client', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'src/database/generated' },
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    tsPreCompilationDeps: true,
  },
};
