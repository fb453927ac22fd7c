/** The zones of the architecture (design §3): which files belong to each, and which others they may import. */

export interface Zone {
  name: string
  /**
   * The zone's files: those of a folder `x/`, of a module `x` (x.ts, x.tsx, x.test.ts), or those whose path matches a pattern.
   * A file belongs to the first zone that matches.
   */
  at: string | RegExp
  /** The zones that its files may import besides their own; `*` stands for all. */
  imports: readonly string[]
  /** Set if the zone's parts, each a folder or a file outside any folder, may not import each other. */
  isSplit?: true
  /** The only packages that its files may import; undefined if they may import any. */
  packages?: readonly string[]
  /** Tells a developer what to do instead of an import that is not allowed. */
  instead: string
}

/**
 * The server's rooms, from the bottom up. A room is a zone for one folder or module of `server/src`. It may import the rooms before it,
 * but no feature and nothing of HTTP.
 */
const rooms = [
  ['version', 'version.ts imports nothing of the product.'],
  ['calls', 'calls.ts knows the contract only.'],
  ['postgres/', 'postgres/ reaches a PostgreSQL server and knows no table.'],
  ['db/', 'db/ has the connection pools, the schema and its migrations; it knows no rule of the game.'],
  ['counters/'],
  ['audit/'],
  ['items/'],
  ['webhooks/'],
  ['mail/'],
  ['files/'],
  ['identity/'],
  ['sheets/'],
  ['lists/'],
  ['players/'],
  ['ledger/'],
  ['broadcasts/'],
  ['erasure/'],
  ['backup/'],
].map(([at = '', instead = `${at} knows the rooms below it.`]) => ({
  name: `server/${at.replace('/', '')}`,
  at: `server/src/${at}`,
  instead,
}))
const roomNames = rooms.map(({ name }) => name)
const contract = ['contract', 'contract/fields']
const belowPages = [...contract, 'web/ui', 'web/client', 'web/session']
const belowFeatures = [...belowPages, 'web/lists', 'web/versions', 'web/notes']

export const zones: readonly Zone[] = [
  {
    name: 'contract/fields',
    at: /^contract\/src\/(\w[\w-]*\/fields|team\/(missing-permission|permissions)|entity|filter-values|lists|numbers|search|text)\.ts$/,
    imports: [],
    packages: [],
    instead:
      'fields.ts is plain data, which the first page of the web app loads; a schema in it would bring zod along. Put schemas into calls.ts.',
  },
  {
    name: 'contract',
    at: 'contract/src/',
    imports: ['contract/fields'],
    packages: ['zod', '@orpc/contract'],
    instead:
      'The contract knows neither DOM nor Node, only zod and @orpc/contract. Move what needs more to the side that needs it.',
  },

  { name: 'web/testing', at: 'web/src/testing/', imports: ['*'], instead: '' },
  {
    name: 'web/ui',
    at: 'web/src/ui/',
    imports: contract,
    instead: 'ui/ knows the contract and other ui only. Take what you need as a prop.',
  },
  {
    name: 'web/lists',
    at: 'web/src/lists/',
    imports: belowPages,
    instead: 'lists/ sees the contract, ui, client/ and session.tsx only. Take what one list alone needs as an argument.',
  },
  {
    name: 'web/versions',
    at: 'web/src/versions/',
    imports: [...belowPages, 'web/lists'],
    instead: 'versions/ sees the contract, ui, lists, client/ and session.tsx only. Take what one form alone needs as a prop.',
  },
  {
    name: 'web/notes',
    at: 'web/src/notes/',
    imports: [...belowPages, 'web/lists'],
    instead: 'notes/ sees the contract, ui, lists, client/ and session.tsx only. Take what one page alone needs as a prop.',
  },
  {
    name: 'web/features',
    at: 'web/src/features/',
    imports: belowFeatures,
    isSplit: true,
    instead:
      'A feature sees the contract, ui, lists, versions, notes, client/, session.tsx and itself. Move what two features need to ui/, or join them in routes.tsx.',
  },
  { name: 'web/client', at: 'web/src/client/', imports: contract, instead: 'client/ knows the contract only.' },
  {
    name: 'web/session',
    at: 'web/src/session',
    imports: belowPages,
    instead: 'session.tsx sees the contract, ui and client/ only.',
  },
  {
    name: 'web/shell',
    at: 'web/src/shell/',
    imports: [...belowPages, 'web/lists'],
    instead: 'The shell gets pages from routes.tsx, as children.',
  },
  { name: 'web/routes', at: 'web/src/routes', imports: ['*'], instead: '' },
  { name: 'web/app', at: 'web/src/app', imports: ['*'], instead: '' },
  {
    name: 'web modules',
    at: 'web/src/',
    imports: [...belowFeatures, 'web/shell', 'web/routes', 'web/app'],
    instead: 'Only routes.tsx and app.tsx know the features, and pages import nothing from above them.',
  },

  { name: 'server/test', at: 'server/test/', imports: ['*'], instead: '' },
  { name: 'server/main', at: 'server/src/main', imports: ['*'], instead: '' },
  { name: 'server/app', at: 'server/src/app', imports: ['*'], instead: '' },
  { name: 'server/cli', at: 'server/src/cli/', imports: ['*'], instead: '' },
  {
    name: 'server/import',
    at: 'server/src/import/',
    imports: [...contract, 'server/config', ...roomNames, 'server/features'],
    instead: 'import/ loads and exports all collections. It knows neither HTTP nor the commands.',
  },
  {
    name: 'server/move-in',
    at: 'server/src/move-in/',
    imports: [...contract, 'server/config', ...roomNames, 'server/import'],
    instead:
      'move-in/ turns what Firebase wrote into rows of the import; it writes to no table itself but those of identity/ and files/.',
  },
  {
    name: 'server/http',
    at: 'server/src/http/',
    imports: [...contract, 'server/config', ...roomNames, 'server/features'],
    instead: 'app.ts hands the HTTP layer what it needs.',
  },
  {
    name: 'server/features',
    at: 'server/src/features/',
    imports: [...contract, ...roomNames],
    isSplit: true,
    instead:
      'A feature sees the contract, calls.ts, the rooms below it (such as lists/, ledger/, db/) and itself; app.ts hands it the rest. ' +
      'What two features need belongs into a room, or is a table both query.',
  },
  ...rooms.map(({ name, at, instead }, index) => ({
    name,
    at,
    imports: [...contract, 'server/config', ...roomNames.slice(0, index)],
    instead: `${instead} Make the other room import this one, or move the code.`,
  })),
  {
    name: 'server/config',
    at: /^server\/src\/(config|issuer|loopback)\b/,
    imports: contract,
    instead: 'config.ts reads the environment and knows nothing else.',
  },

  {
    name: 'e2e',
    at: 'e2e/',
    imports: [...contract, 'server/app', 'server/test'],
    instead: 'e2e uses the contract, server/src/app.ts and server/test/ only.',
  },
  {
    name: 'game',
    at: 'examples/game/',
    imports: contract,
    instead: 'The reference game knows the contract only, as a game of somebody else would.',
  },
  // A benchmark may measure the product as a whole or any module by itself.
  { name: 'bench', at: 'bench/', imports: ['*'], instead: '' },
  { name: 'scripts', at: 'scripts/', imports: [], instead: 'Scripts start the workspaces; they import nothing of them.' },
]

export const workspaces = ['contract', 'server', 'web', 'e2e', 'bench', 'scripts', 'examples/game']

/** Returns the workspace's folder that a file lies in. There `#src/` and `#test/` stand for its `src/` and `test/`. */
export function workspaceOf(file: string): string {
  return workspaces.find((folder) => file.startsWith(`${folder}/`)) ?? ''
}

export function findZone(file: string): Zone | undefined {
  return zones.find(({ at }) => (at instanceof RegExp ? at.test(file) : file.startsWith(at.endsWith('/') ? at : `${at}.`)))
}
