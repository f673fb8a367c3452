import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { effectivePermissions, type Permission, permissions, type Role, undelegable } from '../src/auth/permissions.ts'
import { roles } from '../src/db/tables/workspaces.ts'
import { type ErrorCode, errorRow } from '../src/errors/catalogue.ts'
import { mcpPath } from '../src/http/app-type.ts'
import type { RouteEntry } from '../src/http/route-table.ts'
import { withoutPermission } from '../src/http/without-permission.ts'
import { describeService } from './describe-service.ts'
import { proofReason } from './fresh-proof.ts'

/** `●`: allowed. `○`: a key only with a permission that a person gave it by name. `·`: not allowed. Empty: does not apply. */
export type Mark = '●' | '○' | '·' | ''
const columns = [...roles, 'key', 'agent', 'linked', 'stopped', 'frozen', 'proof'] as const
export type Column = (typeof columns)[number]
export type Row = { method: string; path: string; needs: string } & Record<Column, Mark>

const yes = (holds: boolean): Mark => (holds ? '●' : '·')

const managersInPerson = 'Only owners and administrators of the workspace, in their own session.'

/** Public routes read no credential. Optional routes read one if it was sent. */
const isOpen = ({ rule }: RouteEntry): boolean => rule === 'public' || rule === 'optional'

const roleMay = (route: RouteEntry, role: Role): boolean => {
  if (route.rule === 'admin') return false
  const held = effectivePermissions(role, null)
  return route.permissions.length === 0 || route.permissions.some((permission) => held.has(permission))
}

const grantMay = (route: RouteEntry, has: (permission: Permission) => boolean): boolean =>
  route.rule !== 'admin' && route.rule !== 'undelegated' && (route.permissions.length === 0 || route.permissions.some(has))

const byDefault = (permission: Permission): boolean => !undelegable.has(permission)

const proofMarks = { always: '●', by_content: '○', never: '' } as const

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
    linked: isOpen(route) ? '' : yes(route.rule !== 'undelegated' && route.rule !== 'admin'),
    stopped: write && !isOpen(route) ? yes(route.whileFrozen || !ofWorkspace) : '',
    frozen: write && !isOpen(route) ? yes(route.whileFrozen) : '',
    proof: proofMarks[route.freshProof ?? 'never'],
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

\`npm run authorization\` writes this page from the routes' declarations. Review every difference: it changes an access right. The tests
try every route of the running service with every role and every kind of credential, compare the answers with this page, and fail if a route is
missing here.

\`●\` allowed · \`·\` not allowed · \`○\` for an API key only if a person granted the permission explicitly when they created the key

The permissions \`account.*\`, \`key.*\` and \`grant.*\` belong to the account, whatever its role; the others depend on the role in the
workspace. A key or an agent has the permissions of its account, limited to those of its grant. A suspended member has only the account's
permissions. An account that is no longer a member has no credential in the workspace.
`

const routesAbout = `
## Routes

- **owner … viewer**: a signed-in member with that role.
- **key**, **agent**: an API key, an OAuth access token, of a member whose role is allowed.
- **linked**: a session that began with a sign-in method that a key linked.
- **stopped**: works while the workspace is frozen or suspended, or the account that holds its balance is not active. Reading always works.
- **frozen**: works while the caller's own account is frozen. Reading always works.
- **proof**: a session needs a [fresh proof](#fresh-proof), for every request (\`●\`) or only if the request adds or loosens something (\`○\`). A dashboard
  token cannot make such a request, except an administrator's; a key or an agent needs no proof.

\`public\` ignores credentials, \`optional\` reads a credential if one is sent, \`authenticated\`
requires any credential, \`undelegated\` one without a grant, \`admin\` an administrator's own session.
`

const openAbout = `
## Without a permission

These operations require no permission. The reasons are in \`src/http/without-permission.ts\`. If a route is missing there, the service
does not start.
`

const openTable = (routes: readonly RouteEntry[]): string[] =>
  pad([
    ['Operation', 'Access', 'Why'],
    ...routes.flatMap(({ operation, rule }) => {
      const reason = rule === null || rule === 'admin' ? undefined : withoutPermission[rule][operation]
      return rule === null || reason === undefined ? [] : [[`\`${operation}\``, rule, reason]]
    }),
  ])

const signInAuthority =
  'Every person. A key or an agent only with `account.manage`, without spending controls in its whole lineage, if it is not frozen, and never for an administrator’s account.'
const descendantsOnly =
  'A delegated caller changes only descendants of its own grant, and cannot give a permission that it lacks. A session that began with a sign-in method of a key widens, unfreezes and rotates only what derives from that key.'
const membership =
  'The role is read again under the lock: a caller who has since lost it, or was suspended or removed, is rejected.'
const ownWorkspace = 'A grant is bound to its workspace. The membership of a session may have ended.'

const invitedAlone = 'Without an account: `SIGN_UP` decides.'
/** Why a service may refuse a caller that the table allows, by operation. */
const reasons: Readonly<Record<string, string>> = {
  'oauth.get_authorization': 'Only a person. A request that another account opened is not found.',
  'oauth.decide_authorization':
    'Only in the browser session that opened the request, with no more than the person has in the workspace.',
  'oauth.get_device': 'Only a person.',
  'oauth.decide_device': 'Only a person, with no more than they have in the workspace.',
  'accounts.update': 'A key or an agent cannot rename an administrator’s account.',
  'identities.link': signInAuthority,
  'identities.unlink': signInAuthority,
  'sign_in.google_start': signInAuthority,
  'sign_in.github_start': signInAuthority,
  'sign_in.google_callback': invitedAlone,
  'sign_in.github_callback': invitedAlone,
  'sign_in.wallet_verify': `To link: ${signInAuthority} ${invitedAlone}`,
  'sessions.revoke': signInAuthority,
  'sign_in.logout': 'A key or an agent has no session to end.',
  'sign_in.create_dashboard_token': 'A dashboard token cannot create another one.',
  'workspaces.current': ownWorkspace,
  'workspaces.switch': ownWorkspace,
  'workspaces.separate_balance': 'Only the owning account, whose balance it is.',
  'workspaces.confirm_separation':
    'Not the requester while there is another eligible approver. The role must be older than the rule, or than 24 hours.',
  'workspaces.withdraw_separation': 'Every approver, and the requester.',
  'workspaces.unfreeze': 'A delegated caller can freeze, but not unfreeze.',
  'members.update': `${membership} Only owners give and remove the role owner. A delegated caller, or a session that began with a sign-in method of a key, can remove permissions, but not give them.`,
  'members.remove': `${membership} Only a person in their own session can leave.`,
  'invitations.create': `${membership} An invitation gives at most the role of the caller.`,
  'invitations.preview': 'Only the addressee of the invitation: its wallet, or an account that proved its e-mail.',
  'invitations.accept': 'Only the addressee of the invitation: its wallet, or an account that proved its e-mail.',
  'notifications.stream': ownWorkspace,
  'notifications.list': ownWorkspace,
  'beneficiaries.update': 'A delegated caller can freeze a beneficiary, but not unfreeze it.',
  'grants.update': `${descendantsOnly} Every caller with the permission can freeze.`,
  'workspace_grants.list': managersInPerson,
  'workspace_grants.freeze': managersInPerson,
  'workspace_grants.freeze_all': managersInPerson,
  'workspace_grants.revoke': managersInPerson,
  'api_keys.create': `${membership} ${descendantsOnly}`,
  'api_keys.update': descendantsOnly,
  'api_keys.rotate': descendantsOnly,
  'admin.create_adjustment': 'An administrator cannot create an adjustment for their own account.',
  'admin.confirm_adjustment': 'A second administrator must confirm it, and cannot do so for their own account.',
  'admin.reject_adjustment':
    'Any administrator can reject it, even the one who created it, except another administrator’s for their own account.',
  'approvals.decide':
    'Not the initiator if duties are separated. Never a credential of the lineage that initiated the payment, a session that began with a wallet linked by that lineage, or a key created in such a session.',
  'policies.confirm_change': 'Not the requester. The roles of both must be older than the policy, or than 24 hours.',
  'policies.withdraw_change': 'Every approver, and the requester.',
  'approvals.decide_by_signature': 'The rules apply to the wallet’s account, and to the grant that linked the wallet.',
  'payment_batches.cancel': 'A delegated caller is limited to requests of its own grant or one below it.',
  'request_log.list': 'A delegated caller is limited to requests of its own grant or one below it.',
  'payments.attention': 'A delegated caller is limited to refusals of its own grant or one below it.',
  'payment_refusals.list': 'A delegated caller is limited to refusals of its own grant or one below it.',
  'payments.cancel': 'A delegated caller is limited to requests of its own grant or one below it.',
  'mandates.revoke': 'A credential with `mandate.manage`, or a signature by a wallet of the account that signed the mandate.',
  'admin.resolve_payment':
    'An administrator cannot resolve a payment of their own account or workspaces at the organisation’s expense.',
  'admin.resolve_difference':
    'Accepting an outcome resolves its payment. An administrator cannot do so for their own account at the organisation’s expense.',
  'admin.enter_suspense_amount':
    'The amount credits the payment’s account. This cannot be the administrator’s own, nor may the amount exceed their daily limit.',
  'admin.assign_suspense':
    'An administrator cannot assign it to their own account. An amount above their daily limit needs an adjustment that a second administrator confirms.',
  'admin.update_account':
    'An administrator cannot enable anything for themselves, or for an account with a workspace of which they are a member.',
  'admin.reinstate_workspace': 'An administrator cannot reinstate a workspace of which they are a member.',
  'mcp.call': 'Only with this service’s Host and Origin.',
}
const explained: readonly ErrorCode[] = ['forbidden', 'separation_of_duties']

const refusedBeyond = (routes: readonly RouteEntry[]): string[] => {
  const rows = routes.flatMap(({ method, path, operation, refuses }) => {
    const codes = refuses.filter((code) => errorRow(code).status === 403)
    const why = reasons[operation]
    if (why === undefined && codes.some((code) => explained.includes(code)))
      throw new Error(`${operation} refuses with ${codes.join(', ')}: add the reason to scripts/authorization.ts`)
    return codes.length === 0 && why === undefined
      ? []
      : [[`${method} \`${path}\``, codes.map((code) => `\`${code}\``).join(', '), why ?? '']]
  })
  const unknown = Object.keys(reasons).filter((operation) => !routes.some((route) => route.operation === operation))
  if (unknown.length > 0) throw new Error(`unknown operations: ${unknown.join(', ')}`)
  return pad([['Route', 'Error codes', 'Rule'], ...rows])
}

const beyondAbout = `
## Rules beyond the marks

A mark shows what the route itself requires: a credential, a permission, a role, and a state of the workspace and account. The service checks
the following rules under the account's lock. A test fails if a service answers with a code that its route does not declare.
[codes.md](codes.md) explains each code.
`

const proofAbout = `
## Fresh proof

A fresh proof is a confirmation of the person's identity in the last ten minutes ([sign-in.md](sign-in.md#fresh-proof)). A session needs it for every
request (\`●\`), for some requests (\`○\`), or for none (\`·\`). An operation without a reason in \`scripts/fresh-proof.ts\` fails the tests.
`

const proofTable = (routes: readonly RouteEntry[]): string[] =>
  pad([
    ['Operation', 'Proof', 'Why'],
    ...routes.map((route) => [`\`${route.operation}\``, proofMarks[route.freshProof ?? 'never'] || '·', proofReason(route)]),
  ])

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
    proofAbout,
    ...proofTable(routes),
  ]
  return `${parts.join('\n')}\n`
}

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

/** The rows of the file, in reading order. */
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

// Rewrites docs/authorization.md. Review the difference before you commit it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { routes } = await describeService()
  writeFileSync(new URL('../docs/authorization.md', import.meta.url), renderTable(routes))
  console.log(`docs/authorization.md: ${routes.length} routes`)
}
