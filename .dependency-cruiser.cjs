// The import rules, drawn in ARCHITECTURE.md. Each layer of src may import the layers listed with it. `modules` has the
// stricter rules inside a layer.
const layers = {
  apps: [],
  ops: ['server', 'api', 'domain', 'rails', 'core', 'infra'],
  server: ['api', 'domain', 'rails', 'core', 'infra'],
  api: ['domain', 'rails', 'core', 'infra'],
  domain: ['rails', 'core', 'infra'],
  rails: ['core', 'infra'],
  core: ['infra'],
  infra: [],
};

// The modules that all other folders of the domain may import.
const ledger = ['domain/commands', 'domain/access', 'domain/ledger', 'domain/events'];
const hooks = ['api/webhooks', 'api/webhooks/endpoints', 'api/webhooks/delivery'];
// The folders of the schema, one for each subject.
const subjects = ['customers', 'payments', 'platform', 'streams', 'values', 'webhooks'].map((subject) => `api/graphql/schema/${subject}`);
const schema = ['api/graphql/schema', 'api/graphql/reading', 'api/graphql', ...hooks];

// A module is a folder without the modules inside it. It may import itself, the modules of its layer that are listed
// with it, and the layers below its own. A folder that is not named here belongs to the module around it.
const modules = {
  // The code of apps.
  'apps/client': ['apps/client/generated'],
  'apps/client/generated': ['apps/client'],
  'apps/client/build': ['apps/client'],
  'apps/lab': ['apps/client', 'apps/client/generated'],
  'apps/console': [],
  'apps/wallet': ['apps/client', 'apps/client/generated'],
  'apps/terminal': ['apps/client', 'apps/client/generated'],
  // Commands, tables and failures have the same form for developers and for operators.
  ops: ['apps/terminal'],
  server: ['server/start', 'server/workers', 'server/observe'],
  'server/start': ['server'],
  'server/workers': [],
  'server/observe': [],
  'api/http': ['api/pages', 'api/graphql/transports', 'api/graphql/server', 'api/graphql', 'api/rest', 'api/http/bodies', ...hooks],
  'api/pages': ['api/http/bodies'],
  'api/rest': ['api/rest/endpoints', 'api/rest/schemas', 'api/http/bodies', 'api/records', ...hooks],
  'api/rest/endpoints': ['api/rest', 'api/rest/schemas', 'api/graphql/documents', 'api/http/bodies', 'api/records', ...hooks],
  'api/rest/schemas': ['api/records', 'api/webhooks'],
  'api/graphql/transports': [...schema, 'api/graphql/server', 'api/graphql/limits', 'api/graphql/documents', 'api/http/bodies'],
  'api/graphql/server': [...subjects, ...schema, 'api/graphql/limits', 'api/graphql/documents', 'api/http/bodies', 'api/records'],
  ...Object.fromEntries(subjects.map((subject) => [subject, [...subjects, ...schema]])),
  'api/graphql/schema': ['api/graphql/reading', 'api/graphql', ...hooks],
  'api/graphql/reading': ['api/graphql/limits', 'api/graphql', ...hooks],
  'api/graphql/limits': ['api/graphql'],
  'api/graphql/documents': [],
  'api/graphql': hooks,
  'api/webhooks': ['api/webhooks/delivery', 'api/records'],
  'api/webhooks/endpoints': ['api/webhooks', 'api/webhooks/delivery'],
  'api/webhooks/delivery': ['api/webhooks', 'api/webhooks/endpoints', 'api/records'],
  'api/records': [],
  'api/http/bodies': [],
  'domain/sandbox': ['domain/accounts', 'domain/approvals', 'domain/customers', 'domain/orders', 'domain/quotes', ...ledger],
  'domain/settlement': ['domain/approvals', 'domain/orders', 'domain/quotes', 'domain/transfers', ...ledger],
  'domain/reconciliation': ['domain/orders', ...ledger],
  'domain/platforms': ['domain/customers', 'domain/accounts', 'domain/pricing', 'domain/access/tokens', ...ledger],
  'domain/providers': ['domain/customers', 'domain/orders', ...ledger],
  'domain/quotes': ['domain/accounts', 'domain/orders', 'domain/pricing', 'domain/receivers', ...ledger],
  'domain/customers': ['domain/accounts', 'domain/orders', ...ledger],
  'domain/transfers': ['domain/accounts', 'domain/approvals', 'domain/orders', ...ledger],
  'domain/receivers': ['domain/orders', 'domain/pricing', ...ledger],
  'domain/accounts': ['domain/orders', ...ledger],
  'domain/pricing': ['domain/orders', ...ledger],
  'domain/approvals': ['domain/orders', ...ledger],
  'domain/policies': ledger,
  'domain/statements': ledger,
  'domain/orders': ledger,
  'domain/commands': ['domain/access', 'domain/ledger', 'domain/events'],
  'domain/ledger': ['domain/events'],
  'domain/access/tokens': ['domain/access/limits', 'domain/access'],
  'domain/access/limits': ['domain/access'],
  'domain/access': [],
  'domain/events': [],
  // The simulation, and a client of another service with the same REST interface. The domain reaches both only through the port.
  'rails/sandbox': ['rails', 'rails/conformance'],
  'rails/upstream': ['rails'],
  'rails/conformance': ['rails'],
  rails: [],
  core: [],
  'infra/health': [
    'infra/database/migrations',
    'infra/database/connections',
    'infra/database',
    'infra/instruments',
  ],
  'infra/database/migrations': ['infra/database/embedded', 'infra/database', 'infra/database/connections'],
  'infra/database/embedded': ['infra/database'],
  'infra/database/replicas': ['infra/database', 'infra/database/connections', 'infra/instruments'],
  'infra/database': ['infra/database/connections', 'infra/instruments'],
  'infra/database/connections': ['infra/instruments'],
  'infra/instruments': [],
  'infra/net': [],
};

/** The files of a module, in a regular expression. */
function filesOf(name) {
  const inside = Object.keys(modules).filter((other) => other.startsWith(`${name}/`));
  return `^src/${name}/${inside.map((other) => `(?!${other.slice(name.length + 1)}/)`).join('')}`;
}

const layerOf = (name) => name.split('/')[0];
/** The code for browsers, and its bundler. */
const bundled = '^src/(apps/(lab|console|wallet)/|api/pages/build\\.ts$)';

module.exports = {
  forbidden: [
    ...Object.entries(modules).map(([name, allowed]) => ({
      name: `from-${name.replaceAll('/', '-')}`,
      severity: 'error',
      from: { path: filesOf(name) },
      to: { path: '^src/', pathNot: [...[name, ...allowed].map(filesOf), ...layers[layerOf(name)].map((layer) => `^src/${layer}/`)] },
    })),
    {
      name: 'known-modules-only',
      comment: 'This file names every folder of src that others import.',
      severity: 'error',
      from: {},
      to: { path: '^src/[^/]+/', pathNot: Object.keys(modules).map(filesOf) },
    },
    {
      name: 'simulation-behind-the-rail',
      comment: 'Only the server and operator commands load a rail: everything else reaches it through its interface.',
      severity: 'error',
      from: { path: '^src/(api|domain)/' },
      to: { path: '^src/rails/(sandbox|upstream|conformance)/' },
    },
    {
      name: 'apis-have-viewers',
      comment: 'A command that comes through an API runs for the viewer who sent it, never for the platform itself.',
      severity: 'error',
      from: { path: '^src/api/(graphql|rest|http)/' },
      to: { path: '^src/domain/access/platform-itself.ts' },
    },
    {
      name: 'commands-load-the-service-late',
      comment: 'Developer commands use only the public API of the service; only operator commands load the service.',
      severity: 'error',
      from: { path: '^src/commands[.]ts$' },
      to: { path: '^src/', pathNot: '^src/apps/terminal/', dynamic: false },
    },
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'packages-of-a-production-install',
      comment: 'Packages that src imports must be installed by `npm ci --omit=dev`, so they are dependencies.',
      severity: 'error',
      // Apps install the peers of the client package, which are devDependencies here.
      from: { path: '^src/', pathNot: [bundled, '^src/apps/client/'] },
      to: { dependencyTypes: ['npm-dev', 'npm-optional', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'packages-of-pages',
      comment: 'Packages that are bundled for browsers, and the bundler, are optional: an instance without pages does not need them.',
      severity: 'error',
      from: { path: bundled },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
    {
      name: 'prisma-moves-no-money',
      comment: 'Money is posted through pg, in one transaction (src/domain/ledger).',
      severity: 'error',
      from: { path: '^src/domain/ledger/' },
      to: { path: 'generated/client/client', dependencyTypesNot: ['type-only'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Its parser does not read JSX; Biome checks the imports of those files (biome.json).
    exclude: { path: 'src/infra/database/generated|[.](tsx|css)$' },
    tsConfig: { fileName: 'tsconfig.json' },
    parser: 'swc',
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default'] },
    tsPreCompilationDeps: true,
  },
};
