import { roles } from '../db/tables/workspaces.ts'
import { memoised } from '../lib/memoised.ts'

export type Role = (typeof roles)[number]

type Row = {
  /** Who has it: the account, whatever its role in the workspace, or the roles, beside owner and admin, who have everything. */
  has: 'account' | readonly Exclude<Role, 'owner' | 'admin'>[]
  /** Whether a key has it by default, and an agent may ask for it. Else only a key for which a person in their own session names it. */
  delegable: boolean
}

const everyone = ['approver', 'member', 'viewer'] as const

/** Every permission. A new one does not compile until it says who has it and whether it may be delegated. */
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
} as const satisfies Record<string, Row>
export type Permission = keyof typeof table

export const permissions = Object.keys(table) as [Permission, ...Permission[]]

export const isPermission = (text: string): text is Permission => Object.hasOwn(table, text)

const rowOf = (permission: Permission): Row => table[permission]

const has = (role: Role, permission: Permission): boolean => {
  const row = rowOf(permission)
  return role === 'owner' || role === 'admin' || (row.has !== 'account' && row.has.includes(role))
}

const rolesWith = (permission: Permission): readonly Role[] => roles.filter((role) => has(role, permission))

export const decidingRoles = rolesWith('approval.decide')

export const requestingRoles = rolesWith('payment.create')

export const policyRoles = rolesWith('policy.manage')

/** Never in a key unless a person in their own session names them, and never an OAuth scope. */
export const undelegable: ReadonlySet<Permission> = new Set(permissions.filter((permission) => !rowOf(permission).delegable))

/** Permissions of the account itself do not depend on the role in the workspace. */
const own = (role: Role | null): ReadonlySet<Permission> =>
  new Set(permissions.filter((permission) => rowOf(permission).has === 'account' || (role !== null && has(role, permission))))

const withoutRole = own(null)
const byRole = new Map<string, ReadonlySet<Permission>>(roles.map((role) => [role, own(role)]))
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
