import type { roles } from '../db/tables/workspaces.ts'
import { memoised } from '../lib/memoised.ts'

export type Role = (typeof roles)[number]

type Row = {
  /** Every account, in any role, or the roles that have it in addition to owner and admin, which have all permissions. */
  has: 'account' | readonly Exclude<Role, 'owner' | 'admin'>[]
  /** Whether keys get it by default and agents may request it. If false, only a person can give it to a key. */
  delegable: boolean
}

const everyone = ['approver', 'member', 'viewer', 'auditor'] as const

const table = {
  'account.read': { has: 'account', delegable: true },
  'account.manage': { has: 'account', delegable: false },
  'key.manage': { has: 'account', delegable: true },
  'grant.manage': { has: 'account', delegable: false },
  'workspace.read': { has: everyone, delegable: true },
  'workspace.manage': { has: [], delegable: false },
  'beneficiary.read': { has: everyone, delegable: true },
  'beneficiary.manage': { has: ['member'], delegable: true },
  'policy.read': { has: everyone, delegable: true },
  'policy.manage': { has: [], delegable: false },
  'policy.create': { has: [], delegable: true },
  'payment.read': { has: everyone, delegable: true },
  'payment.create': { has: ['member'], delegable: true },
  'approval.read': { has: everyone, delegable: true },
  'approval.decide': { has: ['approver'], delegable: false },
  'mandate.read': { has: everyone, delegable: true },
  'mandate.manage': { has: [], delegable: false },
  'topup.read': { has: everyone, delegable: true },
  'topup.create': { has: ['member'], delegable: true },
  'audit.read': { has: ['auditor'], delegable: false },
} as const satisfies Record<string, Row>
export type Permission = keyof typeof table

export const permissions = Object.keys(table) as [Permission, ...Permission[]]

export const isPermission = (text: string): text is Permission => Object.hasOwn(table, text)

const rowOf = (permission: Permission): Row => table[permission]

const computePermissions = (role: Role | null): ReadonlySet<Permission> =>
  new Set(
    permissions.filter((permission) => {
      const { has } = rowOf(permission)
      return has === 'account' || role === 'owner' || role === 'admin' || (role !== null && has.includes(role))
    }),
  )

const permissionsByRole: Readonly<Record<Role, ReadonlySet<Permission>>> = {
  owner: computePermissions('owner'),
  admin: computePermissions('admin'),
  approver: computePermissions('approver'),
  member: computePermissions('member'),
  viewer: computePermissions('viewer'),
  auditor: computePermissions('auditor'),
}
const withoutRole = computePermissions(null)
const permissionsOf = (role: Role | null): ReadonlySet<Permission> => (role ? permissionsByRole[role] : withoutRole)

const rolesWith = (permission: Permission): readonly Role[] =>
  (Object.keys(permissionsByRole) as Role[]).filter((role) => permissionsByRole[role].has(permission))

export const decidingRoles = rolesWith('approval.decide')

export const requestingRoles = rolesWith('payment.create')

export const policyRoles = rolesWith('policy.manage')

/** Permissions that only a person in a session can give to a key. They are never OAuth scopes. */
export const undelegable: ReadonlySet<Permission> = new Set(permissions.filter((permission) => !rowOf(permission).delegable))

/** Credentials with the same permissions share one set, because each of thousands of open streams holds a reference to one. */
const delegated = memoised((text): ReadonlySet<Permission> => {
  const [role = '', ...granted] = text.split(' ')
  return new Set([...permissionsOf((role || null) as Role | null)].filter((permission) => granted.includes(permission)))
})

/** (account's ∪ role's) ∩ grant's. A suspended or removed member has only the permissions of the account. */
export const effectivePermissions = (role: Role | null, granted: readonly string[] | null): ReadonlySet<Permission> =>
  granted === null ? permissionsOf(role) : delegated([role ?? '', ...granted].join(' '))

export const defaultKeyPermissions = (creator: ReadonlySet<Permission>): Permission[] =>
  permissions.filter((permission) => creator.has(permission) && !undelegable.has(permission))
