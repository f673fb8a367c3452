import { effectivePermissions, type Permission, permissions, type Role, undelegable } from '../src/auth/permissions.ts'
import { roles } from '../src/db/tables/workspaces.ts'
import { mcpPath } from '../src/http/protected-resource.ts'
import type { RouteEntry } from '../src/http/route-table.ts'
import { withoutPermission } from '../src/http/without-permission.ts'

/** `●` may, `○` a key only when a person named the permission at its making, `·` may not; empty where the question doesn't arise. */
export type Mark = '●' | '○' | '·' | ''
const columns = [...roles, 'key', 'agent', 'stopped', 'frozen'] as const
export type Column = (typeof columns)[number]
export type Row = { method: string; path: string; needs: string } & Record<Column, Mark>

const yes = (holds: boolean): Mark => (holds ? '●' : '·')

/** Public routes look at no credential; optional ones at one that is sent. */
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

Written by \`npm run authorization\` from what the routes declare, and read by people: a change of it is a change of who may do what.
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

export const renderTable = (routes: readonly RouteEntry[]): string => {
  // The MCP server takes other credentials (test/mcp holds which), and its tools are calls of the routes that are here.
  const rows = routes.filter(({ path }) => path !== mcpPath).map(rowOf)
  const heads = ['Method', 'Path', 'Needs', ...columns]
  const lines = pad([
    heads,
    ...rows.map((row) => [row.method, `\`${row.path}\``, row.needs, ...columns.map((column) => row[column])]),
  ])
  return `${[about, ...roleTable(), routesAbout, ...lines, openAbout, ...openTable(routes)].join('\n')}\n`
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The rows of the file, as a reader sees them. */
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
