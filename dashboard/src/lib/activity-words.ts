/** What is done to what, for the lists of a workspace's activity. An action that isn't here is told by its parts. */
const words: Readonly<Record<string, string>> = {
  'api_key.create': 'created an API key',
  'api_key.revoke': 'revoked an API key',
  'api_key.rotate': 'rotated an API key',
  'approval.approve': 'approved a payment',
  'approval.reject': 'rejected a payment',
  'approval.refused': 'was not allowed to decide a payment',
  'approval.cancelled': 'cancelled an approval',
  'approval.expired': 'An approval expired',
  'beneficiary.create': 'added a beneficiary',
  'beneficiary.update': 'changed a beneficiary',
  'beneficiary.archive': 'archived a beneficiary',
  'dashboard_token.create': 'created a dashboard token',
  'grant.create': 'gave access',
  'grant.revoke': 'revoked access',
  'grant.update': 'changed limits',
  'invitation.accept': 'accepted an invitation',
  'invitation.create': 'invited someone',
  'invitation.revoke': 'cancelled an invitation',
  'mandate.create': 'signed a mandate',
  'mandate.revoked': 'revoked a mandate',
  'mandate.expired': 'A mandate expired',
  'mandate.exhausted': 'A mandate was used up',
  'mandate.refused': 'was not allowed to sign a mandate',
  'member.leave': 'left the workspace',
  'member.remove': 'removed a member',
  'member.update': 'changed a member',
  'oauth_consent.approve': 'connected an agent',
  'oauth_consent.deny': 'denied an agent',
  'payment.create': 'created a payment',
  'payment.cancelled': 'cancelled a payment',
  'payment.denied': 'tried a payment that was refused',
  'payment.expired': 'A payment expired',
  'payment.failed': 'A payment failed',
  'payment.rejected': 'A payment was rejected',
  'payment.returned': 'A payment was returned',
  'payment.succeeded': 'A payment succeeded',
  'payment.unknown': 'A payment is being checked',
  'policy.archive': 'archived a policy',
  'policy.create': 'added a policy',
  'policy.update': 'changed a policy',
  'topup.initiate': 'started a top-up',
  'topup.expired': 'A top-up expired',
  'topup.failed': 'A top-up failed',
  'topup.succeeded': 'A top-up succeeded',
  'workspace.create': 'created the workspace',
  'workspace.freeze': 'froze the workspace',
  'workspace.unfreeze': 'unfroze the workspace',
  'workspace.update': 'changed the workspace',
}

/** "Amina approved a payment"; what the service did by itself stands without a person. */
export const activityWords = (action: string, actor: string | null): string => {
  const said = words[action] ?? action.replaceAll(/[._]/g, ' ')
  const alone = /^[A-Z]/.test(said)
  return alone ? said : `${actor ?? 'The service'} ${said}`
}

export const activityGroups: readonly { value: string; label: string }[] = [
  { value: '', label: 'All activity' },
  { value: 'payment.', label: 'Payments' },
  { value: 'approval.', label: 'Approvals' },
  { value: 'beneficiary.', label: 'Beneficiaries' },
  { value: 'policy.', label: 'Policies' },
  { value: 'mandate.', label: 'Mandates' },
  { value: 'api_key.', label: 'API keys' },
  { value: 'grant.', label: 'Agents and limits' },
  { value: 'member.', label: 'Members' },
  { value: 'invitation.', label: 'Invitations' },
  { value: 'workspace.', label: 'Workspace' },
  { value: 'topup.', label: 'Top-ups' },
]

/** The page of what was acted on, by the type that its id begins with. */
export const activityHref = (subject: { type: string; id: string } | null): string | null => {
  const places: Readonly<Record<string, string>> = {
    payment: '/payments/',
    approval: '/approvals/',
    beneficiary: '/beneficiaries/',
    policy: '/policies/',
    mandate: '/mandates/',
    topup: '/top-up/',
  }
  const place = subject && places[subject.type]
  return place ? place + subject.id : null
}
