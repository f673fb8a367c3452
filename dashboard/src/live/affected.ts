/** What an event makes out of date, by the resource that its type begins with. Names are the first part of query keys. */
const affected: Readonly<Record<string, readonly string[]>> = {
  balance: ['account', 'history'],
  topup: ['topup', 'account', 'history'],
  payment: ['payment', 'payments', 'approval', 'approvals', 'account', 'history', 'grants', 'api-keys', 'mandates', 'mandate'],
  approval: ['approval', 'approvals', 'payment', 'payments'],
  mandate: ['mandates', 'mandate'],
  beneficiary: ['beneficiaries', 'beneficiary'],
  policy: ['policies', 'policy'],
  api_key: ['api-keys', 'grants'],
  grant: ['grants', 'api-keys'],
  identity: ['account'],
  session: ['sessions'],
  member: ['members', 'invitations', 'workspaces', 'workspace'],
  workspace: ['workspace', 'workspaces'],
}

export const affectedBy = (type: string): readonly string[] => affected[type.split('.')[0] ?? ''] ?? []
