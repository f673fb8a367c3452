import { effectivePermissions, type Permission, permissions, type Role, undelegable } from '../src/auth/permissions.ts'
import { roles } from '../src/db/tables/workspaces.ts'
import { mcpPath } from '../src/http/protected-resource.ts'
import type { RouteEntry } from '../src/http/route-table.ts'
import { withoutPermission } from '../src/http/without-permission.ts'
import { catalogue, type ErrorCode } from '../src/lib/errors.ts'

/** `●` may, `○` a key only when a person named the permission at its creation, `·` may not; empty where the question does not arise. */
export type Mark = '●' | '○' | '·' | ''
const columns = [...roles, 'key', 'agent', 'stopped', 'frozen'] as const
export type Column = (typeof columns)[number]
export type Row = { method: string; path: string; needs: string } & Record<Column, Mark>

const yes = (holds: boolean): Mark => (holds ? '●' : '·')

/** Public routes read no credential; optional ones read one if it is sent. */
const isOpen = ({ rule }: RouteEntry): boolean => rule === 'public' || rule === 'optional'

const roleMay = (route: RouteEntry, role: Role): boolean => {
  if (route.rule === 'admin') return false
  if (route.role !== null && route.role !== role) return false
  const held = effectivePermissions(role, null)
  return route.permissions.length === 0 || route.permissions.some((permission) => held.has(permission))
}

const grantMay = (route: RouteEntry, has: (permission: Permission) => boolean): boolean =>
  route.rule !== 'admin' && route.rule !== 'undelegated' && (route.permissions.length === 0 || route.permissions.some(has))

const byDefault = (permission: Permission): boolean => !undelegable.has(permission)

const rowOf = (route: RouteEntry): Row => {
  const write = route.method !== 'GET'
  const ofWorkspace = route.permissions.length > 0 && !route.permissions[0]?.startsWith('account.')
  const marks = Object.fromEntries(roles.map((role) => [role, yes(roleMay(route, role))])) as Record<Role, Mark>
  return {
    method: route.method,
    path: route.path,
    needs: route.access,
    ...marks,
    key: grantMay(route, byDefault) ? '●' : grantMay(route, () => true) ? '○' : '·',
    agent: yes(grantMay(route, byDefault)),
    stopped: write && !isOpen(route) ? yes(route.whileFrozen || !ofWorkspace) : '',
    frozen: write && !isOpen(route) ? yes(route.whileFrozen) : '',
  }
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`

const pad = (rows: readonly (readonly string[])[]): string[] => {
  const widths = (rows[0] ?? []).map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0)))
  const padded = rows.map((row) => line(row.map((cell, index) => cell.padEnd(widths[index] ?? 0))))
  return [padded[0] ?? '', line(widths.map((width) => '-'.repeat(width))), ...padded.slice(1)]
}

const roleTable = (): string[] =>
  pad([
    ['Permission', ...roles, 'in a key', 'OAuth scope'],
    ...permissions.map((permission) => [
      `\`${permission}\``,
      ...roles.map((role) => yes(effectivePermissions(role, null).has(permission))),
      byDefault(permission) ? '●' : '○',
      yes(byDefault(permission)),
    ]),
  ])

const about = `# Who may do what

Written by \`npm run authorization\` from what the routes declare and are held to, and read by people: a change of it is a change of who may do what.
The tests walk every route of the running service against this file, for every role and every kind of credential, and fail when a
route is missing here.

\`●\` may · \`·\` may not · \`○\` in an API key only when a person named it at the key's making

What begins with \`account.\`, \`key.\` and \`grant.\` comes from being the account, whatever the role; the role in the workspace governs
the rest. A key or an agent has what its account has there, less what its grant doesn't carry. A suspended member has what comes from
being the account alone; an account that is no member any more has no credential there.
`

const routesAbout = `
## Routes

**owner … viewer**: a member of that role, signed in. **key**, **agent**: an API key, an OAuth access token, of a member whose role may.
**stopped**: goes on while the workspace is frozen, suspended or its owning account is not active. **frozen**: goes on while the
caller's own account is frozen. Neither stops reading. \`public\` looks at no credential, \`optional\` at one that is there,
\`authenticated\` asks for any, \`undelegated\` for one without a grant, \`admin\` for an administrator in person.
`

const openAbout = `
## Without a permission

Why each of these operations asks for none: \`src/http/without-permission.ts\`. A route that is not there keeps the service from starting.
`

const openTable = (routes: readonly RouteEntry[]): string[] =>
  pad([
    ['Operation', 'Access', 'Why'],
    ...routes.flatMap(({ operation }) => {
      const [access, reason] = withoutPermission[operation] ?? []
      return access === undefined || reason === undefined ? [] : [[`\`${operation}\``, access, reason]]
    }),
  ])

const signInAuthority =
  'A person may. A key or an agent only with `account.manage`, with no spending controls in its whole lineage, never frozen, and never for an administrator’s account.'
const descendantsOnly = 'A delegated caller changes what stands strictly below its own grant, and gives no more than it has.'
const membership = 'The role is read again under the lock: who was lowered, suspended or removed meanwhile is refused.'
const ownWorkspace = 'A grant is bound to its workspace. A session may have lost its membership since.'

/** Why a service refuses a caller that the marks allow: by operation. */
const reasons: Readonly<Record<string, string>> = {
  'oauth.get_authorization': 'Only in the browser session that opened the request.',
  'oauth.decide_authorization':
    'Only in the browser session that opened the request, with no more than the person has in the workspace.',
  'oauth.get_device': 'Only a person.',
  'oauth.decide_device': 'Only a person, with no more than they have in the workspace.',
  'identities.link': signInAuthority,
  'identities.unlink': signInAuthority,
  'sign_in.google_start': signInAuthority,
  'sign_in.github_start': signInAuthority,
  'sign_in.wallet_verify': `As a link: ${signInAuthority}`,
  'sessions.revoke': signInAuthority,
  'sign_in.create_dashboard_token': 'A dashboard token makes no other one.',
  'workspaces.current': ownWorkspace,
  'workspaces.switch': ownWorkspace,
  'workspaces.unfreeze': 'A delegated caller stops, and does not restart.',
  'members.update': `${membership} The role owner is given and taken by owners; a delegated caller takes rights away and gives none.`,
  'members.remove': `${membership} To leave takes the person.`,
  'invitations.create': `${membership} Nobody invites to more than their own role.`,
  'invitations.preview': 'Only whom the invitation is for: its wallet, or an account that proved its e-mail.',
  'invitations.accept': 'Only whom the invitation is for: its wallet, or an account that proved its e-mail.',
  'notifications.stream': ownWorkspace,
  'notifications.list': ownWorkspace,
  'beneficiaries.update': 'A delegated caller freezes a beneficiary, and does not restart it.',
  'grants.update': `${descendantsOnly} To freeze is open to all.`,
  'workspace_grants.list': 'Owners only, in person.',
  'workspace_grants.revoke': 'Owners only, in person.',
  'api_keys.create': `${membership} ${descendantsOnly}`,
  'api_keys.update': descendantsOnly,
  'api_keys.rotate': descendantsOnly,
  'admin.create_adjustment': 'Never for an account of one’s own.',
  'admin.confirm_adjustment': 'Another administrator than the one who asked, and never for an account of one’s own.',
  'admin.reject_adjustment': 'Another administrator, or the one who asked.',
  'approvals.decide':
    'Not the initiator where duties are separated; never a credential of the lineage that initiated the payment.',
  'approvals.decide_by_signature': 'As by credential: the wallet’s account counts.',
  'mandates.revoke': 'By credential with `mandate.manage`; by signature of a wallet of the account that signed.',
  'mcp.call': 'Only under the name that the service has.',
}
const explained: readonly ErrorCode[] = ['forbidden', 'separation_of_duties']

const refusedBeyond = (routes: readonly RouteEntry[]): string[] => {
  const rows = routes.flatMap(({ method, path, operation, refuses }) => {
    const codes = refuses.filter((code) => catalogue[code][0] === 403)
    const why = reasons[operation]
    if (why === undefined && codes.some((code) => explained.includes(code)))
      throw new Error(`${operation} refuses with ${codes.join(', ')}: say why in scripts/authorization-table.ts`)
    return codes.length === 0 && why === undefined
      ? []
      : [[`${method} \`${path}\``, codes.map((code) => `\`${code}\``).join(', '), why ?? '']]
  })
  const unknown = Object.keys(reasons).filter((operation) => !routes.some((route) => route.operation === operation))
  if (unknown.length > 0) throw new Error(`these are no operations: ${unknown.join(', ')}`)
  return pad([['Route', 'Refuses with', 'Whom the marks let through and the service does not'], ...rows])
}

const beyondAbout = `
## What services refuse beyond the marks

A mark says what the route itself asks: a credential, a permission, a role, a standing. What follows is decided by the service, behind the
account's lock, from what it finds there. Every code is one that the route declares, and a test fails where a service refuses with one that
its route does not declare. What each code means is in [codes.md](codes.md).
`

export const renderTable = (routes: readonly RouteEntry[]): string => {
  // The MCP server accepts other credentials (tested in test/mcp), and its tools call the routes in this table.
  const rows = routes.filter(({ path }) => path !== mcpPath).map(rowOf)
  const heads = ['Method', 'Path', 'Needs', ...columns]
  const lines = pad([
    heads,
    ...rows.map((row) => [row.method, `\`${row.path}\``, row.needs, ...columns.map((column) => row[column])]),
  ])
  const parts = [
    about,
    ...roleTable(),
    routesAbout,
    ...lines,
    beyondAbout,
    ...refusedBeyond(routes),
    openAbout,
    ...openTable(routes),
  ]
  return `${parts.join('\n')}\n`
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The rows of the file, in the order in which they are read. */
export const parseTable = (text: string): Row[] =>
  text.split('\n').flatMap((each) => {
    const [method = '', path = '', needs = '', ...marks] = each
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim())
    if (!methods.includes(method)) return []
    const cells = Object.fromEntries(columns.map((column, index) => [column, marks[index] ?? ''])) as Record<Column, Mark>
    return [{ method, path: path.replaceAll('`', ''), needs, ...cells }]
  })
