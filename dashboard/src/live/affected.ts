import { type EventResource, resourceOf } from '../../../src/events/types.ts'

/** Which queries an event makes out of date, by the first part of its type. Names are the first part of query keys. */
const affected: Readonly<Record<EventResource, readonly string[]>> = {
  balance: ['account', 'history', 'summary'],
  topup: ['topup', 'account', 'history', 'summary'],
  payment: [
    'payment',
    'payments',
    'approval',
    'approvals',
    'inbox',
    'account',
    'history',
    'summary',
    'refusals',
    'grants',
    'grant',
    'api-keys',
    'api-key',
    'policies',
    'mandates',
    'mandate',
  ],
  payment_batch: ['payment', 'payments', 'approval', 'approvals', 'inbox'],
  approval: ['approval', 'approvals', 'inbox', 'payment', 'payments'],
  mandate: ['mandates', 'mandate'],
  beneficiary: ['beneficiaries', 'beneficiary', 'approval', 'approvals', 'inbox'],
  policy: ['policies', 'policy'],
  api_key: ['api-keys', 'api-key', 'grants', 'grant'],
  grant: ['grants', 'grant', 'api-keys', 'api-key', 'audit'],
  identity: ['account'],
  passkey: ['passkeys'],
  session: ['sessions'],
  member: ['members', 'invitations', 'workspaces', 'workspace', 'inbox'],
  workspace: ['workspace', 'workspaces', 'inbox'],
}

const isResource = (text: string): text is EventResource => Object.hasOwn(affected, text)

export const affectedBy = (type: string): readonly string[] => {
  const resource = resourceOf(type)
  return isResource(resource) ? affected[resource] : []
}
