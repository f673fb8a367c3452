/** Actions in a workspace. Verbs without a subject type have the feature as their subject. */
const workspaceActions = {
  api_key: ['create', 'revoke', 'rotate'],
  approval: ['approve', 'approved', 'cancelled', 'decision_voided', 'expired', 'refused', 'reject', 'rejected', 'text_changed'],
  beneficiary: ['archived', 'confirmed', 'created', 'name_check', 'updated'],
  grant: ['create', 'revoke', 'update'],
  invitation: ['accept', 'create', 'revoke'],
  mandate: ['create', 'exhausted', 'expired', 'refused', 'revoked'],
  member: ['leave', 'remove', 'update'],
  oauth_client: ['register'],
  oauth_code: { reused: 'grant' },
  oauth_consent: { approve: 'grant', deny: 'oauth_client' },
  oauth_token: { issue: 'grant', refresh: 'grant', reused: 'grant', revoke: 'grant' },
  payment_batch: ['cancelled', 'completed', 'create', 'denied', 'expired', 'failed', 'processing', 'rejected'],
  payment: [
    'cancelled',
    'create',
    'denied',
    'expired',
    'failed',
    'late_success',
    'late_success_charged',
    'late_success_written_off',
    'processing',
    'receipt',
    'rejected',
    'returned',
    'succeeded',
    'unknown',
  ],
  policy: ['archived', 'change_requested', 'change_withdrawn', 'created', 'updated'],
  suspense: ['record'],
  topup: ['deposit', 'expired', 'failed', 'initiate', 'other_amount', 'receipt', 'succeeded'],
  workspace: [
    'create',
    'export_evidence',
    'freeze',
    'unfreeze',
    'update',
    'separate',
    'separation_request',
    'separation_confirm',
    'separation_withdraw',
  ],
} as const

/** Actions of people on their own accounts, and of administrators. They appear in no workspace's log. */
const privateActions = {
  account: ['close', 'update'],
  admin: {
    account_update: 'account',
    adjustment_cancel: 'ledger',
    adjustment_post: 'ledger',
    adjustment_reject: 'ledger',
    adjustment_request: 'ledger',
    assign_suspense: 'suspense',
    delivery_retry: 'delivery',
    enter_suspense_amount: 'suspense',
    export_person: 'account',
    grant: 'account',
    invite: null,
    name_movement: 'movement',
    pass_duplicate_check: 'rail',
    pause_rail: 'rail',
    payment_resolve: 'payment',
    reconcile: 'reconciliation',
    resolve_difference: 'reconciliation',
    resolve_provider_alert: 'alert',
    resolve_suspense: 'suspense',
    resolve_suspense_request: 'suspense',
    resume_rail: 'rail',
    revoke: 'account',
    retire_receipt_key: null,
    rotate_keys: null,
    workspace_reinstate: 'workspace',
    workspace_suspend: 'workspace',
  },
  dashboard_token: ['create'],
  identity: { link: 'identity', link_refused: null, link_start: null, unlink: 'identity' },
  notification_settings: { update: null },
  passkey: ['add', 'remove'],
  push_subscription: ['add', 'remove'],
  session: { create: 'session', prove: 'session', prove_refused: null, revoke: 'session' },
  sign_in: { refused: null, start: null },
  // The subject is the acting credential: a person switches in a session, a program with a dashboard token.
  workspace: { switch: 'credential' },
} as const

type Table = Readonly<Record<string, readonly string[] | Readonly<Record<string, string | null>>>>
type VerbOf<Verbs> = Verbs extends readonly (infer Verb)[] ? Verb : keyof Verbs
type ActionOf<Of extends Table> = { [Feature in keyof Of]: `${Feature & string}.${VerbOf<Of[Feature]> & string}` }[keyof Of]

const subjectsOf = <Of extends Table>(table: Of): [ActionOf<Of>, string | null][] =>
  Object.entries(table).flatMap(([feature, verbs]) => {
    const subjects = Array.isArray(verbs) ? verbs.map((verb) => [verb, feature]) : Object.entries(verbs)
    return subjects.map(([verb, subject]): [ActionOf<Of>, string | null] => [`${feature}.${verb}` as ActionOf<Of>, subject])
  })

/** Formatted as `feature.verb`. */
export type AuditAction = ActionOf<typeof workspaceActions> | ActionOf<typeof privateActions>

/** The subject type of each action, or null if the action has no subject. */
export const subjectTypes: ReadonlyMap<AuditAction, string | null> = new Map<AuditAction, string | null>([
  ...subjectsOf(workspaceActions),
  ...subjectsOf(privateActions),
])

/** Private actions, or their features if a workspace's log has none of the feature. */
export const privateBeginnings = Object.entries(privateActions).flatMap(([feature, verbs]) =>
  feature in workspaceActions ? Object.keys(verbs).map((verb) => `${feature}.${verb}`) : [`${feature}.`],
)

export const workspaceAuditActions = subjectsOf(workspaceActions).map(([action]) => action)
export const auditActions: readonly AuditAction[] = [...subjectTypes.keys()]
