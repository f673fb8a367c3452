import type { Permission } from '../auth/permissions.ts'

/** `undelegated`: only a person may read the resource, as on the routes whose access is `undelegated`. */
type Row = { permission: Permission; undelegated?: true }

const resources = {
  balance: { permission: 'account.read', verbs: ['updated', 'short'] },
  topup: { permission: 'topup.read', verbs: ['succeeded', 'failed', 'expired'] },
  payment: {
    permission: 'payment.read',
    verbs: [
      'created',
      'processing',
      'succeeded',
      'failed',
      'rejected',
      'cancelled',
      'expired',
      'unknown',
      'returned',
      'late_success',
      'refused',
    ],
  },
  payment_batch: {
    permission: 'payment.read',
    verbs: ['created', 'processing', 'completed', 'failed', 'rejected', 'expired', 'cancelled'],
  },
  approval: {
    permission: 'approval.read',
    verbs: ['requested', 'approved', 'rejected', 'expired', 'cancelled', 'decision_voided'],
  },
  mandate: { permission: 'mandate.read', verbs: ['created', 'exhausted', 'expired', 'revoked'] },
  beneficiary: { permission: 'beneficiary.read', verbs: ['created', 'updated', 'archived'] },
  policy: { permission: 'policy.read', verbs: ['created', 'updated', 'archived', 'change_requested', 'change_withdrawn'] },
  api_key: { permission: 'account.read', verbs: ['created', 'rotated', 'revoked'] },
  grant: { permission: 'account.read', verbs: ['created', 'updated', 'revoked'] },
  identity: { permission: 'account.read', verbs: ['linked', 'unlinked'] },
  passkey: { permission: 'account.read', undelegated: true, verbs: ['added', 'removed'] },
  session: { permission: 'account.manage', verbs: ['created', 'revoked'] },
  member: { permission: 'workspace.read', verbs: ['invited', 'joined', 'updated', 'removed'] },
  workspace: {
    permission: 'workspace.read',
    verbs: ['frozen', 'unfrozen', 'updated', 'separation_requested', 'separated', 'separation_withdrawn'],
  },
} as const satisfies Record<string, Row & { verbs: readonly string[] }>

export type EventResource = keyof typeof resources
export type EventType = {
  [Resource in EventResource]: `${Resource}.${(typeof resources)[Resource]['verbs'][number]}`
}[EventResource]

export const eventResources = Object.keys(resources) as EventResource[]
export const eventTypes: readonly EventType[] = eventResources.flatMap((resource) =>
  resources[resource].verbs.map((verb) => `${resource}.${verb}` as EventType),
)

export const resourceOf = (type: string): string => type.split('.')[0] ?? ''

const rowOf = (type: string): Row | undefined => {
  const known: Readonly<Record<string, Row>> = resources
  return known[resourceOf(type)]
}

export const isUndelegated = (type: string): boolean => rowOf(type)?.undelegated === true

/** `ofTeam`: the event concerns a team's balance, not a person's. */
export const permissionToRead = (type: string, { ofTeam = false } = {}): Permission | undefined => {
  if (ofTeam && resourceOf(type) === 'balance') return 'payment.read'
  // Only members who can create invitations receive this event.
  return type === 'member.invited' ? 'workspace.manage' : rowOf(type)?.permission
}

/** An event for the service itself, which no reader gets: the account's keys or agents were disabled. */
export const accessDisabled = 'account.access_disabled'

/** Event types that change what the event's own account may read. Its open streams then check their credential again. */
export const mayChangeAccess = (type: string): boolean =>
  type === accessDisabled || /^(api_key|grant|member)\.|^session\.revoked$/.test(type)

/** `.*` matches all types of a resource. */
export type TypePattern = EventType | `${EventResource}.*`

export const typePatterns: readonly TypePattern[] = [...eventTypes, ...eventResources.map((resource) => `${resource}.*` as const)]

export type TypeFilter = (type: string) => boolean

/** Null: every type. */
export const filterOf = (patterns: readonly TypePattern[] | undefined): TypeFilter | null => {
  if (patterns === undefined) return null
  const exact = new Set<string>(patterns)
  return (type) => exact.has(type) || exact.has(`${resourceOf(type)}.*`)
}
