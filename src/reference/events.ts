import { type EventResource, type EventType, eventTypes, resourceOf } from '../events/types.ts'
import type { EventFamily } from './types.ts'

type Family = Omit<EventFamily, 'types'>

/** An event's type names its kind of resource; `data` is that resource as REST returns it. */
const ofResource: Readonly<Record<EventResource, Family>> = {
  balance: { name: 'BalanceEvent', data: 'Account', description: 'The balance of the account changed.' },
  topup: { name: 'TopupEvent', data: 'Topup', description: 'A top-up ended.' },
  payment: { name: 'PaymentEvent', data: 'Payment', description: 'A payment was created, or its status changed.' },
  payment_batch: {
    name: 'PaymentBatchEvent',
    data: 'PaymentBatch',
    description: 'A batch of payments was created, or its status changed.',
  },
  approval: { name: 'ApprovalEvent', data: 'Approval', description: 'An approval was requested or decided.' },
  mandate: { name: 'MandateEvent', data: 'IntentMandate', description: 'A mandate began or ended.' },
  beneficiary: { name: 'BeneficiaryEvent', data: 'Beneficiary', description: 'A beneficiary was created or changed.' },
  policy: { name: 'PolicyEvent', data: 'SpendingPolicy', description: 'A spending policy was created or changed.' },
  api_key: { name: 'ApiKeyEvent', data: 'ApiKey', description: 'An API key was created, rotated or revoked.' },
  grant: { name: 'GrantEvent', data: 'Grant', description: 'A grant was created, changed or revoked.' },
  identity: { name: 'IdentityEvent', data: 'Identity', description: 'A sign-in method was linked or unlinked.' },
  passkey: { name: 'PasskeyEvent', data: 'Passkey', description: 'A passkey was added to the account, or removed.' },
  session: { name: 'SessionEvent', data: 'Session', description: 'A browser signed in, or was signed out.' },
  member: { name: 'MemberEvent', data: 'Member', description: 'A membership began, changed or ended.' },
  workspace: { name: 'WorkspaceEvent', data: 'Workspace', description: 'The workspace was frozen, unfrozen or changed.' },
}

/** Types whose `data` is another resource. */
const ofType: Readonly<Partial<Record<EventType, Family>>> = {
  'payment.refused': {
    name: 'PaymentRefusedEvent',
    data: 'RefusedPayment',
    description: 'A payment was asked for and refused: no money moved.',
  },
  'member.invited': { name: 'InvitationEvent', data: 'Invitation', description: 'An account was invited to the workspace.' },
}

const resources = Object.keys(ofResource) as EventResource[]

export const eventFamilies: readonly EventFamily[] = [
  ...resources.map((resource) => ({
    ...ofResource[resource],
    types: eventTypes.filter((type) => resourceOf(type) === resource && !ofType[type]),
  })),
  ...Object.entries(ofType).map(([type, family]) => ({ ...family, types: [type] })),
]
