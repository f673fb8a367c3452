import { eventTypes } from '../events/types.ts'
import type { EventFamily } from './types.ts'

const about = (...resources: string[]): string[] => eventTypes.filter((type) => resources.includes(type.split('.')[0] ?? ''))

/** An event's type names its kind of resource; `data` is that resource as REST returns it. */
export const eventFamilies: readonly EventFamily[] = [
  { name: 'BalanceEvent', types: about('balance'), data: 'Account', description: 'The balance of the account changed.' },
  { name: 'TopupEvent', types: about('topup'), data: 'Topup', description: 'A top-up ended.' },
  {
    name: 'PaymentEvent',
    types: about('payment'),
    data: 'Payment',
    description: 'A payment was created, or its status changed.',
  },
  {
    name: 'ApprovalEvent',
    types: about('approval'),
    data: 'Approval',
    description: 'An approval was requested or decided.',
  },
  { name: 'MandateEvent', types: about('mandate'), data: 'IntentMandate', description: 'A mandate began or ended.' },
  {
    name: 'BeneficiaryEvent',
    types: about('beneficiary'),
    data: 'Beneficiary',
    description: 'A beneficiary was created or changed.',
  },
  {
    name: 'PolicyEvent',
    types: about('policy'),
    data: 'SpendingPolicy',
    description: 'A spending policy was created or changed.',
  },
  { name: 'ApiKeyEvent', types: about('api_key'), data: 'ApiKey', description: 'An API key was created, rotated or revoked.' },
  {
    name: 'GrantEvent',
    types: about('grant'),
    data: 'Grant',
    description: 'A grant was created, changed or revoked.',
  },
  {
    name: 'IdentityEvent',
    types: about('identity'),
    data: 'Identity',
    description: 'A sign-in method was linked or unlinked.',
  },
  { name: 'SessionEvent', types: about('session'), data: 'Session', description: 'A browser signed in, or was signed out.' },
  {
    name: 'InvitationEvent',
    types: ['member.invited'],
    data: 'Invitation',
    description: 'An account was invited to the workspace.',
  },
  {
    name: 'MemberEvent',
    types: about('member').filter((type) => type !== 'member.invited'),
    data: 'Member',
    description: 'A membership began, changed or ended.',
  },
  {
    name: 'WorkspaceEvent',
    types: about('workspace'),
    data: 'Workspace',
    description: 'The workspace was frozen, freed or changed.',
  },
]
