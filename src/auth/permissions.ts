import type { roles } from '../db/tables/workspaces.ts'
import { memoised } from '../lib/memoised.ts'

export const permissions = [
  'account.read',
  'account.manage',
  'key.manage',
  'grant.manage',
  'workspace.read',
  'workspace.manage',
  'beneficiary.read',
  'beneficiary.manage',
  'policy.read',
  'policy.manage',
  'policy.create',
  'payment.read',
  'payment.create',
  'approval.read',
  'approval.decide',
  'mandate.read',
  'mandate.manage',
  'topup.read',
  'topup.create',
] as const
export type Permission = (typeof permissions)[number]
export type Role = (typeof roles)[number]

export const isPermission = (text: string): text is Permission => (permissions as readonly string[]).includes(text)

/** Permissions of the account itself. They do not depend on the role in the workspace. */
const ofAccount: readonly Permission[] = ['account.read', 'account.manage', 'key.manage', 'grant.manage']
const reads: readonly Permission[] = [
  'workspace.read',
  'beneficiary.read',
  'policy.read',
  'payment.read',
  'approval.read',
  'mandate.read',
  'topup.read',
]

const ofRole: Readonly<Record<Role, readonly Permission[]>> = {
  owner: permissions,
  admin: permissions,
  approver: [...reads, 'approval.decide'],
  member: [...reads, 'payment.create', 'topup.create', 'beneficiary.manage'],
  viewer: reads,
}

/** Roles whose members may decide approvals. */
export const decidingRoles: readonly Role[] = (Object.keys(ofRole) as Role[]).filter((role) =>
  ofRole[role].includes('approval.decide'),
)

/** Never in a key unless a person in their own session names them, and never an OAuth scope. */
export const undelegable: ReadonlySet<Permission> = new Set([
  'account.manage',
  'grant.manage',
  'workspace.manage',
  'policy.manage',
  'mandate.manage',
  'approval.decide',
])

const ownPermissions = (role: Role | null): ReadonlySet<Permission> => new Set([...ofAccount, ...(role ? ofRole[role] : [])])

const withoutRole = ownPermissions(null)
const byRole = new Map<string, ReadonlySet<Permission>>(
  (Object.keys(ofRole) as Role[]).map((role) => [role, ownPermissions(role)]),
)
/** `role`: empty for none. */
const heldBy = (role: string): ReadonlySet<Permission> => byRole.get(role) ?? withoutRole

/** Credentials with the same permissions share one set: of the thousands of open streams each keeps one. */
const delegated = memoised((text): ReadonlySet<Permission> => {
  const [role = '', ...granted] = text.split(' ')
  return new Set([...heldBy(role)].filter((permission) => granted.includes(permission)))
})

/** (account's ∪ role's) ∩ grant's. With a suspended or missing membership only the account's permissions remain. */
export const effectivePermissions = (role: Role | null, granted: readonly string[] | null): ReadonlySet<Permission> =>
  granted === null ? heldBy(role ?? '') : delegated([role ?? '', ...granted].join(' '))

export const defaultKeyPermissions = (creator: ReadonlySet<Permission>): Permission[] =>
  permissions.filter((permission) => creator.has(permission) && !undelegable.has(permission))
