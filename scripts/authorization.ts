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

/** `●` may. `○`: a key only with a permission that a person named at its creation. `·` may not. Empty: does not apply. */
export type Mark = '●' | '○' | '·' | ''
const columns = [...roles, 'key', 'agent', 'linked', 'stopped', 'frozen', 'proof'] as const
export type Column = (typeof columns)[number]
export type Row = { method: string; path: string; needs: string } & Record<Column, Mark>

const yes = (holds: boolean): Mark => (holds ? '●' : '·')

const managersInPerson = 'Owners and administrators of the workspace, in person.'

/** Public routes read no credential. Optional ones read one if it is sent. */
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

\`npm run authorization\` writes this page from the routes' declarations. Read every difference: it is a change of who may do what. The tests
try every route of the running service for every role and every kind of credential, compare the answers with this page, and fail if a route is
missing here.

\`●\` may · \`·\` may not · \`○\` in an API key only if a person named the permission when they created the key

The permissions \`account.*\`, \`key.*\` and \`grant.*\` belong to the account, whatever its role; the others depend on the role in the
workspace. A key or an agent has the permissions of its account, limited to those of its grant. A suspended member has only the account's
permissions. An account that is no longer a member has no credential in the workspace.
`

const routesAbout = `
## Routes

**owner … viewer**: a member with that role, signed in. **key**, **agent**: an API key, an OAuth access token, of a member whose role may.
**linked**: a session that began with a sign-in method which a key linked.
**stopped**: works while the workspace is frozen or suspended, or the account that holds its balance is not active. **frozen**: works while the caller's own
account is frozen. Reading always works. **proof**: a session must have proven within ten minutes who its person is, for every request (\`●\`) or where
the request adds, widens, raises or loosens something (\`○\`); a dashboard token of a session may not (an administrator's acts excepted), and a key
or an agent needs no proof. [Below](#fresh-proof) is the reason for each operation. \`public\` ignores credentials, \`optional\` reads a credential if there is one, \`authenticated\`
requires any credential, \`undelegated\` one without a grant, \`admin\` an administrator in person.
`

const openAbout = `
## Without a permission

These operations require no permission. The reasons are in \`src/http/without-permission.ts\`. With a route that is missing there, the service
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
  'A person may. A key or an agent only with `account.manage`, with no spending controls in its whole lineage, if it is not frozen, and never for an administrator’s account.'
const descendantsOnly =
  'A delegated caller changes only descendants of its own grant, and gives no permission that it does not have.'
const membership = 'The role is read again under the lock, so a caller who lost it or was suspended or removed since is refused.'
const ownWorkspace = 'A grant is bound to its workspace. The membership of a session may have ended.'

const invitedAlone = 'Without an account: as `SIGN_UP` says.'
/** The reason why a service refuses a caller that the marks allow, by operation. */
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
  'sign_in.google_callback': invitedAlone,
  'sign_in.github_callback': invitedAlone,
  'sign_in.wallet_verify': `To link: ${signInAuthority} ${invitedAlone}`,
  'sessions.revoke': signInAuthority,
  'sign_in.create_dashboard_token': 'A dashboard token cannot create another one.',
  'workspaces.current': ownWorkspace,
  'workspaces.switch': ownWorkspace,
  'workspaces.separate_balance': 'Only the owning account, whose balance it is.',
  'workspaces.confirm_separation':
    'Not the account that asked for it while another approver counts, and only a role that is older than the rule, or than 24 hours.',
  'workspaces.withdraw_separation': 'Every approver, and the account that asked for it.',
  'workspaces.unfreeze': 'A delegated caller can freeze and not unfreeze.',
  'members.update': `${membership} Only owners give and remove the role owner; a delegated caller can remove permissions and not give them.`,
  'members.remove': `${membership} Only a person in their own session can leave.`,
  'invitations.create': `${membership} An invitation gives at most the role of the caller.`,
  'invitations.preview': 'Only the addressee of the invitation: its wallet, or an account that proved its e-mail.',
  'invitations.accept': 'Only the addressee of the invitation: its wallet, or an account that proved its e-mail.',
  'notifications.stream': ownWorkspace,
  'notifications.list': ownWorkspace,
  'beneficiaries.update': 'A delegated caller can freeze a beneficiary and not unfreeze it.',
  'grants.update': `${descendantsOnly} Every caller with the permission can freeze.`,
  'workspace_grants.list': managersInPerson,
  'workspace_grants.freeze': managersInPerson,
  'workspace_grants.freeze_all': managersInPerson,
  'workspace_grants.revoke': managersInPerson,
  'api_keys.create': `${membership} ${descendantsOnly}`,
  'api_keys.update': descendantsOnly,
  'api_keys.rotate': descendantsOnly,
  'admin.create_adjustment': 'Never for the administrator’s own account.',
  'admin.confirm_adjustment': 'Not the administrator who created it, and never for the administrator’s own account.',
  'admin.reject_adjustment': 'Any administrator, also the one who created it.',
  'approvals.decide':
    'Not the initiator where duties are separated; never a credential of the lineage that initiated the payment, a session that began with a wallet that the lineage linked, or a key made in it.',
  'policies.confirm_change':
    'Not the account that asked for the change, and only where the roles of both are older than the policy, or than 24 hours.',
  'policies.withdraw_change': 'Every approver, and the account that asked for the change.',
  'approvals.decide_by_signature': 'The wallet’s account counts, and the grant that linked the wallet, like a credential.',
  'payment_batches.cancel': 'A delegated caller only what it, or a grant below it, has asked for.',
  'request_log.list': 'A delegated caller only requests with its own grant, or with one below it.',
  'payments.attention': 'A delegated caller reads of refusals only its own and those of the grants below it.',
  'payment_refusals.list': 'A delegated caller only what it, or a grant below it, was refused.',
  'payments.cancel': 'A delegated caller only what it, or a grant below it, has asked for.',
  'mandates.revoke': 'By credential with `mandate.manage`; by signature of a wallet of the account that signed.',
  'admin.resolve_payment': 'Against the organisation never for the administrator’s own account, nor for a workspace of theirs.',
  'admin.resolve_difference':
    'Accepting an outcome is resolving its payment: against the organisation never for the administrator’s own account.',
  'admin.enter_suspense_amount':
    'The whole amount of a payment credits its account: never the administrator’s own, and not above the sum of a day.',
  'admin.assign_suspense':
    'Never to the administrator, and above the sum of a day only by an adjustment that a second one confirms.',
  'admin.update_account': 'Switches nothing on again for the administrator, or for an account whose workspace they belong to.',
  'admin.reinstate_workspace': 'Never a workspace that the administrator belongs to.',
  'mcp.call': 'Only with a Host and an Origin of this service.',
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
  return pad([['Route', 'Refuses with', 'Which callers, although the marks allow them'], ...rows])
}

const beyondAbout = `
## What services refuse beyond the marks

A mark shows what the route itself requires: a credential, a permission, a role, and a state of the workspace and account. The following
refusals are decided by the service, under the account's lock. The codes are those that the routes declare, and a test fails if a service
refuses with a code that its route does not declare. [codes.md](codes.md) explains each code.
`

const proofAbout = `
## Fresh proof

Whether a session that is older than ten minutes must prove again who its person is, for each operation: with every request (\`●\`), by what the request
says (\`○\`), or not (\`·\`). An operation without a reason in \`scripts/fresh-proof.ts\` fails the tests.
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

/** The rows of the file in reading order. */
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

// Rewrites docs/authorization.md: read the difference before you commit it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { routes } = await describeService()
  writeFileSync(new URL('../docs/authorization.md', import.meta.url), renderTable(routes))
  console.log(`docs/authorization.md: ${routes.length} routes`)
}
