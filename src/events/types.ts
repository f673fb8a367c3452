import type { Permission } from '../auth/permissions.ts'

/** The permission that a reader needs, by the resource with which a type begins. */
export const eventPermissions = {
  balance: 'account.read',
  topup: 'topup.read',
  payment: 'payment.read',
  payment_batch: 'payment.read',
  approval: 'approval.read',
  mandate: 'mandate.read',
  beneficiary: 'beneficiary.read',
  policy: 'policy.read',
  api_key: 'account.read',
  grant: 'account.read',
  identity: 'account.read',
  passkey: 'account.read',
  session: 'account.manage',
  member: 'workspace.read',
  workspace: 'workspace.read',
} as const satisfies Record<string, Permission>

/** What a type is about: its part before the dot. */
export type EventResource = keyof typeof eventPermissions

export const eventTypes = [
  'balance.updated',
  'topup.succeeded',
  'topup.failed',
  'topup.expired',
  'payment.created',
  'payment.processing',
  'payment.succeeded',
  'payment.failed',
  'payment.rejected',
  'payment.cancelled',
  'payment.expired',
  'payment.unknown',
  'payment.returned',
  'payment.late_success',
  'payment.refused',
  'payment_batch.created',
  'payment_batch.processing',
  'payment_batch.completed',
  'payment_batch.failed',
  'payment_batch.rejected',
  'payment_batch.expired',
  'payment_batch.cancelled',
  'approval.requested',
  'approval.approved',
  'approval.rejected',
  'approval.expired',
  'approval.cancelled',
  'approval.decision_voided',
  'mandate.created',
  'mandate.exhausted',
  'mandate.expired',
  'mandate.revoked',
  'beneficiary.created',
  'beneficiary.updated',
  'beneficiary.archived',
  'policy.created',
  'policy.updated',
  'policy.archived',
  'policy.change_requested',
  'policy.change_withdrawn',
  'api_key.created',
  'api_key.rotated',
  'api_key.revoked',
  'grant.created',
  'grant.updated',
  'grant.revoked',
  'identity.linked',
  'identity.unlinked',
  'passkey.added',
  'passkey.removed',
  'session.created',
  'session.revoked',
  'member.invited',
  'member.joined',
  'member.updated',
  'member.removed',
  'workspace.frozen',
  'workspace.unfrozen',
  'workspace.updated',
] as const satisfies readonly `${EventResource}.${string}`[]
export type EventType = (typeof eventTypes)[number]

/** `payment.created` is about a payment: `payment.read` is needed to read it. */
export const resourceOf = (type: string): string => type.split('.')[0] ?? ''

const permissionOf: Readonly<Record<string, Permission | undefined>> = eventPermissions
/** About an invitation: only readers who may create one get it. */
const stricter: Readonly<Partial<Record<string, Permission>>> = { 'member.invited': 'workspace.manage' }

export const permissionToRead = (type: string): Permission | undefined => stricter[type] ?? permissionOf[resourceOf(type)]

/** Types after which the event's own account may read less or more than before: its open streams check their credential again. */
export const changesReader = (type: string): boolean => /^(api_key|grant|member)\.|^session\.revoked$/.test(type)

/** The types that a reader asks for: single ones, or all of a resource. */
export type TypePattern = EventType | `${keyof typeof eventPermissions}.*`

export const typePatterns: readonly TypePattern[] = [
  ...eventTypes,
  ...Object.keys(eventPermissions).map((resource) => `${resource}.*` as TypePattern),
]

export type TypeFilter = (type: string) => boolean

/** Null: every type. */
export const filterOf = (patterns: readonly TypePattern[] | undefined): TypeFilter | null => {
  if (patterns === undefined) return null
  const exact = new Set<string>(patterns)
  return (type) => exact.has(type) || exact.has(`${resourceOf(type)}.*`)
}
