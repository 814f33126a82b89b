// Who may import whom (the README draws it): each module may import itself and the modules named after it, nothing else. A
// module is a folder without the modules inside it. What is not named here is refused, so a new module or a new direction is a
// decision, made in this file.
// What everything of the domain stands on.
const base = ['core', 'database', 'database/connections', 'database/replicas', 'instruments'];
const domain = ['payments', 'access', 'ledger', 'rails', 'events', ...base];
// The folders of payments: a noun or an act each.
const acts = ['accounts', 'approvals', 'customers', 'orders', 'platforms', 'pricing', 'providers', 'quotes', 'receivers', 'sandbox', 'reconciliation', 'settlement', 'statements', 'transfers'];
const allOfPayments = [...acts.map((act) => `payments/${act}`), ...domain];
// Webhooks, all of it.
const hooks = ['webhooks', 'webhooks/endpoints', 'webhooks/delivery'];
// The folders of the schema, one for each kind of noun.
const nouns = ['customers', 'payments', 'platform', 'streams', 'values', 'webhooks'].map((noun) => `graphql/schema/${noun}`);
// Who may come in, and how fast: for the APIs.
const gate = ['access/tokens', 'access/limits'];
const apis = ['bodies', 'documents', ...gate, ...hooks, 'records', ...allOfPayments];

const modules = {
  // For apps: nothing of the service.
  client: ['client/generated'],
  'client/generated': ['client'],
  'client/build': ['client'],
  // What all count for the operator.
  instruments: [],
  database: ['database/connections', 'instruments'],
  'database/connections': ['instruments'],
  'database/replicas': ['database', 'database/connections', 'instruments'],
  'database/embedded': ['database'],
  'database/migrations': ['database/embedded', 'database', 'database/connections'],
  core: ['database', 'instruments'],
  bodies: [],
  outside: [],
  events: base,
  rails: base,
  // The simulation: the domain reaches it through the rail's interface, so only the files at the root of src import it.
  'rails/sandbox': ['rails', 'rails/conformance', ...base],
  // Another service of the specified REST interface.
  'rails/upstream': ['rails', ...base],
  // What anyone can try a rail with.
  'rails/conformance': ['rails', ...base],
  ledger: ['events', ...base],
  access: base,
  documents: ['access', ...base],
  'access/limits': ['access', ...base],
  'access/tokens': ['access/limits', 'access', ...base],
  payments: domain,
  'payments/orders': domain,
  'payments/pricing': ['payments/orders', ...domain],
  'payments/accounts': ['payments/orders', ...domain],
  'payments/customers': ['payments/accounts', 'payments/orders', ...domain],
  'payments/platforms': ['payments/customers', 'payments/accounts', 'access/tokens', ...domain],
  'payments/providers': ['payments/customers', 'payments/orders', ...domain],
  'payments/receivers': ['payments/orders', 'payments/pricing', ...domain],
  'payments/transfers': ['payments/accounts', 'payments/approvals', 'payments/orders', ...domain],
  'payments/quotes': ['payments/accounts', 'payments/orders', 'payments/pricing', 'payments/receivers', ...domain],
  'payments/approvals': ['payments/orders', ...domain],
  'payments/settlement': ['payments/approvals', 'payments/orders', 'payments/quotes', 'payments/transfers', ...domain],
  'payments/reconciliation': ['payments/orders', ...domain],
  'payments/statements': domain,
  'payments/sandbox': ['payments/accounts', 'payments/approvals', 'payments/customers', 'payments/orders', 'payments/quotes', ...domain],
  records: allOfPayments,
  webhooks: ['webhooks/delivery', 'records', 'outside', ...allOfPayments],
  'webhooks/endpoints': ['webhooks', 'webhooks/delivery', 'outside', 'access/tokens', ...allOfPayments],
  'webhooks/delivery': ['webhooks', 'webhooks/endpoints', 'records', 'outside', ...allOfPayments],
  graphql: [...gate, ...hooks, ...domain],
  'graphql/limits': ['graphql', ...base],
  'graphql/reading': ['graphql/limits', 'graphql', 'access', ...base],
  'graphql/schema': ['graphql/reading', 'graphql', ...hooks, ...allOfPayments],
  ...Object.fromEntries(
    nouns.map((noun) => [noun, [...nouns, 'graphql/schema', 'graphql/reading', 'graphql', 'access/tokens', ...hooks, ...allOfPayments]]),
  ),
  'graphql/server': [...nouns, 'graphql/schema', 'graphql/limits', 'graphql/reading', 'graphql', ...apis],
  'graphql/transports': ['graphql/server', 'graphql/schema', 'graphql/limits', 'graphql/reading', 'graphql', ...apis],
  // What an operator sees. `root`, below, is the files at the root of src; these themselves may import all.
  observe: ['instruments', 'database/migrations', 'access/tokens', ...domain],
  rest: ['rest/endpoints', 'rest/schemas', ...apis],
  'rest/schemas': ['records', ...allOfPayments],
  'rest/endpoints': ['rest', 'rest/schemas', ...apis],
  // Runs in browsers.
  lab: ['client', 'client/generated'],
  console: [],
  wallet: ['client', 'client/generated'],
  // A client of the APIs that runs in a terminal: the commands of developers, and what all commands are made of.
  terminal: ['client', 'client/generated'],
  pages: ['bodies'],
  http: ['pages', 'observe', 'graphql/transports', 'graphql/server', 'graphql', 'rest', ...apis],
  work: [...hooks, ...allOfPayments],
  start: ['root', 'pages', 'database/embedded', 'database/migrations', 'graphql/server', ...allOfPayments],
  cli: ['root', 'terminal', 'documents', 'start', 'rails/conformance', 'access/tokens', ...hooks, 'database/embedded', 'database/migrations', 'graphql/server', ...allOfPayments],
};

/** The files of a module, in a regular expression. A folder that is no module of its own belongs to the module around it. */
function filesOf(name) {
  if (name === 'root') return '^src/[^/]+$';
  const inside = Object.keys(modules).filter((other) => other.startsWith(`${name}/`));
  const without = inside.map((other) => `(?!${other.slice(name.length + 1)}/)`).join('');
  return `^src/${name}/${without}`;
}

/** What runs in browsers, and what makes it. */
const bundled = '^src/(lab/|console/|wallet/|pages/build\\.ts$)';

module.exports = {
  forbidden: [
    ...Object.entries(modules).map(([name, allowed]) => ({
      name: `from-${name.replaceAll('/', '-')}`,
      severity: 'error',
      from: { path: filesOf(name) },
      to: { path: '^src/', pathNot: [name, ...allowed].map(filesOf) },
    })),
    {
      name: 'known-modules-only',
      comment: 'This file names every folder of src that others import.',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: Object.keys(modules).map(filesOf) },
    },
    {
      name: 'apis-have-viewers',
      comment: 'A command that comes through an API runs for the viewer who sent it, never for the platform itself.',
      severity: 'error',
      from: { path: '^src/(graphql|rest|http)/' },
      to: { path: '^src/access/platform-itself.ts' },
    },
    {
      name: 'commands-load-the-service-late',
      comment: 'The commands of developers know the service by its public API alone: only those of operators load it.',
      severity: 'error',
      from: { path: '^src/commands[.]ts$' },
      to: { path: '^src/', pathNot: '^src/terminal/', dynamic: false },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'packages-of-a-production-install',
      comment: 'What src imports must be there after `npm ci --omit=dev`: a dependency of package.json.',
      severity: 'error',
      // An app brings what the client package imports: its peers are packages of development here.
      from: { path: '^src/', pathNot: [bundled, '^src/client/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'packages-of-pages',
      comment: 'What is bundled for browsers, and the bundler, may be missing where no pages are shown: optional dependencies.',
      severity: 'error',
      from: { path: bundled },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
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
    // Its parser reads no JSX: there Biome checks the imports (biome.json).
    exclude: { path: 'src/database/generated|[.]tsx$' },
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    tsPreCompilationDeps: true,
  },
};
