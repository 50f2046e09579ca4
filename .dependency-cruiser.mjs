/**
 * The import table. One row per folder: what a file in it may import besides files of its own folder. Another folder
 * is entered only through its public face. Everything that a row does not name is an error; `npm run lint` checks it.
 */
const face = (folder) => `^src/main/${folder}/index\\.ts$`;
/** A package, whether it is installed (a path in node_modules) or cannot be resolved (its bare name). */
const npm = (...names) => `^(?:node_modules/)?(?:${names.join('|')})(?:/|$)`;
const services = '^src/main/services/(?:index|interfaces)\\.ts$';
/** lib is a shelf of single helpers and has no face. */
const pageFaces = '^src/renderer/(?:ui|state)/index\\.tsx?$';
const anyPackage = '^node_modules/(?!electron/|node-llama-cpp/|hono/|@hono/)';

/** node: = whether Node's own modules are allowed; types = what only `import type` may reach. */
const rows = [
  { row: 'contract', from: '^src/main/contract/', may: [npm('zod')], node: false },
  { row: 'base', from: '^src/main/base/', may: [], node: true },
  {
    row: 'engine',
    from: '^src/main/engine/(?!llama-)',
    self: '^src/main/engine/',
    may: [face('base'), face('contract')],
    node: true,
  },
  {
    row: 'engine-llama',
    from: '^src/main/engine/llama-[^/]*\\.ts$',
    self: '^src/main/engine/',
    may: [face('base'), face('contract'), npm('node-llama-cpp')],
    node: true,
  },
  {
    row: 'remote',
    from: '^src/main/remote/',
    may: [face('base'), face('contract')],
    types: [face('engine')],
    node: true,
  },
  { row: 'telemetry', from: '^src/main/telemetry/', may: [face('base'), face('contract')], node: true },
  {
    row: 'store',
    from: '^src/main/store/',
    may: [face('base'), face('contract'), npm('electron-log', 'write-file-atomic', 'zod')],
    node: true,
  },
  {
    row: 'services',
    from: '^src/main/services/',
    may: [face('base'), face('contract'), face('(?:engine|remote|store|telemetry)')],
    node: true,
  },
  {
    row: 'server',
    from: '^src/main/server/',
    may: [face('base'), face('contract'), services, npm('hono', '@hono/node-server', 'zod')],
    node: true,
  },
  {
    row: 'ipc',
    from: '^src/main/ipc/',
    may: [face('base'), face('contract'), services, npm('zod')],
    types: [npm('electron')],
    node: true,
  },
  {
    row: 'shell',
    from: '^src/main/shell/',
    may: [face('base'), face('contract')],
    types: [npm('electron')],
    node: true,
  },
  { row: 'preload', from: '^src/main/preload/', may: [npm('electron')], types: [face('contract')], node: false },
  // The composition root knows everybody's face, and nobody's insides.
  {
    row: 'entries',
    from: '^src/main/(?!main\\.ts$)[^/]+\\.ts$',
    self: '^src/main/[^/]+\\.ts$',
    may: [face('[^/]+'), services, npm('open')],
    node: true,
  },
  // Only the desktop entry imports Electron's values: everything else gets them handed in, so that tests can give a fake.
  {
    row: 'desktop-entry',
    from: '^src/main/main\\.ts$',
    self: '^src/main/[^/]+\\.ts$',
    may: [face('[^/]+'), services, npm('electron')],
    node: true,
  },
  { row: 'ui', from: '^src/renderer/ui/', may: ['^src/renderer/lib/', anyPackage], node: false },
  { row: 'lib', from: '^src/renderer/lib/', may: [anyPackage], node: false },
  {
    row: 'state',
    from: '^src/renderer/state/(?!bridge|http-bridge)',
    self: '^src/renderer/state/',
    may: ['^src/renderer/lib/', anyPackage, '^src/main/contract/flags\\.ts$'],
    types: [face('contract')],
    node: false,
  },
  {
    // The transport needs the names of headers and paths, which are values.
    row: 'state-bridge',
    from: '^src/renderer/state/(?:http-)?bridge[^/]*$',
    self: '^src/renderer/state/',
    may: ['^src/renderer/lib/', anyPackage, '^src/main/contract/(?:index|http|events|flags)\\.ts$'],
    node: false,
  },
  {
    row: 'features',
    from: '^src/renderer/features/([^/]+)/',
    self: '^src/renderer/features/$1/',
    may: [pageFaces, '^src/renderer/lib/', anyPackage, '^src/main/contract/flags\\.ts$'],
    types: [face('contract')],
    node: false,
  },
  {
    row: 'app',
    from: '^src/renderer/(?:app/|[^/]+\\.tsx?$)',
    self: '^src/renderer/(?:app/|[^/]+\\.tsx?$)',
    may: [
      pageFaces,
      '^src/renderer/(?:lib|styles)/',
      '^src/renderer/features/[^/]+/index\\.tsx?$',
      '^assets/',
      anyPackage,
    ],
    types: [face('contract')],
    node: false,
  },
];

/** A row as dependency-cruiser rules: nothing beyond the row, and what is for types only comes by `import type`. */
function rulesOf({ row, from, self = from, may, types = [], node }) {
  const core = node ? { dependencyTypesNot: ['core'] } : {};
  const common = { severity: 'error', from: { path: from } };
  const limit = {
    ...common,
    name: row,
    comment: `${row} may not import this: see the import table in .dependency-cruiser.mjs`,
    to: { pathNot: [self, ...may, ...types], ...core },
  };
  if (types.length === 0) return [limit];
  const typesOnly = {
    ...common,
    name: `${row}-types`,
    comment: `${row} may import this only with "import type"`,
    to: { path: types, dependencyTypesNot: ['type-only'] },
  };
  return [limit, typesOnly];
}

export default {
  forbidden: [
    ...rows.flatMap(rulesOf),
    {
      name: 'no-row',
      severity: 'error',
      comment: 'a folder under src needs a row in .dependency-cruiser.mjs before its files may import anything',
      from: { path: '^src/', pathNot: rows.map(({ from }) => from) },
      to: {},
    },
    {
      name: 'no-circular',
      severity: 'error',
      comment: 'two files that need each other belong together, or need a third',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(?:build|coverage)/' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.tsx', '.mjs', '.js', '.css', '.json', '.svg'] },
  },
};
