/** A group of operations. `features`: the first parts of their names. */
type Tag = { name: string; description: string; features: readonly string[] }

/** In the order in which a newcomer needs them. */
export const tags: readonly Tag[] = [
  {
    name: 'Accounts',
    features: ['accounts', 'credentials', 'request_log'],
    description: 'The account of the credential: its balance, its history, and the permissions of the credential.',
  },
  {
    name: 'Top-ups',
    features: ['topups'],
    description: 'Money in: a phone receives an M-PESA prompt, and the account is credited when the provider confirms.',
  },
  {
    name: 'Beneficiaries',
    features: ['beneficiaries'],
    description: 'The people and businesses that a workspace can pay. The destination is encrypted and shown only as a mask.',
  },
  {
    name: 'Payments',
    features: ['payments', 'payment_batches', 'payment_refusals'],
    description: 'Money out. A payment is evaluated, held and recorded in one transaction, and then sent over its rail.',
  },
  {
    name: 'Spending policies',
    features: ['policies'],
    description:
      'The rules of a workspace: limits, approval thresholds and the payments that they apply to. Also simulates the decision about a payment.',
  },
  {
    name: 'Approvals',
    features: ['approvals'],
    description: 'Payments that wait for a person to decide, with a credential or a wallet signature.',
  },
  {
    name: 'Intent mandates',
    features: ['mandates'],
    description: 'Approvals given in advance: a wallet signs the amount, the purpose and the end date.',
  },
  {
    name: 'API keys',
    features: ['api_keys'],
    description: 'Credentials for servers and agents, each with its own grant and spending controls.',
  },
  {
    name: 'Grants',
    features: ['grants', 'workspace_grants'],
    description: 'Permissions and spending controls delegated to keys and OAuth clients, with their usage and revocation.',
  },
  {
    name: 'Workspaces',
    features: ['workspaces', 'members', 'invitations'],
    description: 'Shared workspaces: members and their roles, invitations, and freezes.',
  },
  {
    name: 'Notifications',
    features: ['notifications', 'notification_settings', 'push', 'push_subscriptions'],
    description: 'All events, as a stream or a list, and push notifications of approvals in a browser. There are no webhooks.',
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
      'The OAuth 2.1 authorization server for agents. Its endpoints follow their RFCs, with form bodies and their own error codes.',
  },
  {
    name: 'Proof',
    features: ['proof'],
    description: 'The public keys and the head of the sealed log, with which anyone can verify a receipt.',
  },
  {
    name: 'Administration',
    features: ['admin'],
    description: 'Only for administrators of the service, in person. Every action is recorded in the audit log.',
  },
  { name: 'Service', features: ['service'], description: 'Health checks for load balancers.' },
]
