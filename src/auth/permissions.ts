import type { roles } from '../db/tables/workspaces.ts'

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

/** (account's ∪ role's) ∩ grant's. With a suspended or missing membership only the account's permissions remain. */
export const effectivePermissions = (role: Role | null, granted: readonly string[] | null): ReadonlySet<Permission> => {
  const own = new Set<Permission>([...ofAccount, ...(role ? ofRole[role] : [])])
  return granted === null ? own : new Set([...own].filter((permission) => granted.includes(permission)))
}

export const defaultKeyPermissions = (creator: ReadonlySet<Permission>): Permission[] =>
  permissions.filter((permission) => creator.has(permission) && !undelegable.has(permission))
