/** A group of operations. `features`: the first parts of their names. */
type Tag = { name: string; description: string; features: readonly string[] }

/** In the order in which a newcomer needs them. */
export const tags: readonly Tag[] = [
  {
    name: 'Accounts',
    features: ['accounts', 'credentials', 'request_log'],
    description: 'The account behind the credential: its balance, its history, and what the credential may do.',
  },
  {
    name: 'Top-ups',
    features: ['topups'],
    description: 'Money in: an M-PESA prompt is sent to a phone, and the account is credited when the provider confirms.',
  },
  {
    name: 'Beneficiaries',
    features: ['beneficiaries'],
    description: 'The payees of a workspace. The destination is encrypted and only shown as a mask.',
  },
  {
    name: 'Payments',
    features: ['payments', 'payment_batches', 'payment_refusals'],
    description: 'Money out. A payment is decided, held and recorded in one transaction, and then sent over its rail.',
  },
  {
    name: 'Spending policies',
    features: ['policies'],
    description:
      'Rules of a workspace: limits, approval thresholds and what they apply to; and a simulation of the decision about a payment.',
  },
  {
    name: 'Approvals',
    features: ['approvals'],
    description: 'Payments that wait for a person, decided by a credential or by the signature of a wallet.',
  },
  {
    name: 'Intent mandates',
    features: ['mandates'],
    description: 'Approvals given in advance: a wallet signs how much may be spent, on what, and until when.',
  },
  {
    name: 'API keys',
    features: ['api_keys'],
    description: 'Credentials for servers and agents, each with a grant and spending controls of its own.',
  },
  {
    name: 'Grants',
    features: ['grants', 'workspace_grants'],
    description: 'What was delegated to keys and to OAuth clients: permissions, controls, usage, revocation.',
  },
  {
    name: 'Workspaces',
    features: ['workspaces', 'members', 'invitations'],
    description: 'Where people pay together: members and their roles, invitations, and the freeze.',
  },
  {
    name: 'Notifications',
    features: ['notifications', 'notification_settings', 'push', 'push_subscriptions'],
    description:
      'Everything that happens, as a stream or as a list, and approvals as notices in a person’s own browser. There are no webhooks.',
  },
  {
    name: 'Sign-in',
    features: ['sign_in', 'identities', 'passkeys', 'sessions'],
    description: 'Google, GitHub and wallets: signing in, linking another sign-in method, and ending sessions.',
  },
  {
    name: 'OAuth',
    features: ['oauth'],
    description:
      'The OAuth 2.1 authorization server for agents. Its endpoints follow their RFCs: form bodies, their own error codes.',
  },
  {
    name: 'Proof',
    features: ['proof'],
    description: 'What a stranger needs to check a receipt: the public keys and the head of the sealed log.',
  },
  {
    name: 'Administration',
    features: ['admin'],
    description: 'For administrators of the service, in person. Every act is in the audit log.',
  },
  { name: 'Service', features: ['service'], description: 'Health checks for load balancers.' },
]
