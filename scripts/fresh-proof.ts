import type { RouteEntry } from '../src/http/route-table.ts'

const stops = 'Only stops, ends or withdraws something.'
const underRules = 'The workspace’s rules still apply to every payment.'
const bySignature = 'The signature is the proof, in any session.'
const ofClient = 'The client authenticates itself; a session decides nothing here.'
const signIn = 'Signs in. Linking a new method needs the proof; a linked method gives it.'
const beforeSignIn = 'Has no effect before the callback.'
const adds = 'Adds access to the account that outlasts the session.'
const adminAct = 'Every administrator action needs it.'
const loosens = 'Allows more than before.'
const lifts = 'Lifts a freeze, which may have been set because of a theft.'

/** Why each write operation does or does not require a fresh proof from a session. */
const reasons: Readonly<Record<string, string>> = {
  'accounts.update': 'Changes only the displayed name.',
  'accounts.close': 'Closes the account permanently.',
  'identities.link': adds,
  'identities.unlink': 'Could lock out the owner.',
  'sessions.revoke': 'Only to end another session, or everything that began in it: these could be the owner’s.',
  'sessions.prepare_proof': 'Starts a proof.',
  'sessions.prove': 'Gives the proof.',
  'passkeys.prepare': 'Registers nothing yet.',
  'passkeys.add': adds,
  'passkeys.remove': 'Removes a method of approval from the owner.',
  'api_keys.create': adds,
  'api_keys.rotate': adds,
  'api_keys.update': 'Only to widen controls.',
  'api_keys.revoke': stops,
  'grants.update': 'Only to widen controls, or to lift a freeze.',
  'grants.revoke': stops,
  'grants.revoke_all': stops,
  'workspace_grants.freeze': 'Only to lift a freeze, which may have been set because of a theft.',
  'workspace_grants.freeze_all': stops,
  'workspace_grants.revoke': stops,
  'sign_in.google_start': beforeSignIn,
  'sign_in.github_start': beforeSignIn,
  'sign_in.link_page': beforeSignIn,
  'sign_in.link_continue': beforeSignIn,
  'sign_in.google_callback': signIn,
  'sign_in.github_callback': signIn,
  'sign_in.wallet_nonce': 'Returns a text that only the wallet can sign.',
  'sign_in.wallet_verify': signIn,
  'sign_in.logout': stops,
  'sign_in.create_dashboard_token': 'The token ends with the session, and never counts as proven.',
  'oauth.authorize': 'Only redirects the browser; a person consents later.',
  'oauth.decide_authorization': 'Only to approve, which adds access to the account.',
  'oauth.decide_device': 'Only to approve, which adds access to the account.',
  'oauth.token': ofClient,
  'oauth.revoke': ofClient,
  'oauth.introspect': ofClient,
  'oauth.push': ofClient,
  'oauth.device_authorization': ofClient,
  'oauth.register': ofClient,
  'workspaces.create': 'A new workspace gives no rights in the existing ones.',
  'workspaces.switch': 'Only selects the session’s workspace.',
  'workspaces.update': 'Only to change the time zone, which decides when limits reset.',
  'workspaces.freeze': stops,
  'workspaces.unfreeze': lifts,
  'workspaces.separate_balance': 'Moves money out of the rules that protect it.',
  'workspaces.confirm_separation': 'Moves money out of the rules that protect it.',
  'workspaces.withdraw_separation': stops,
  'members.update': 'Only to give rights, or to change an approver.',
  'members.remove': 'Only for an approver.',
  'invitations.create': 'Gives another person access.',
  'invitations.revoke': stops,
  'invitations.accept': 'Only joins another workspace.',
  'beneficiaries.create': underRules,
  'beneficiaries.update': 'Only to lift a freeze. A changed name is shown with the person who changed it.',
  'beneficiaries.confirm': underRules,
  'beneficiaries.verify': 'Only queries the rail for a name.',
  'beneficiaries.archive': stops,
  'policies.create': 'An additional policy allows nothing that another rule refuses.',
  'policies.update': 'Only to loosen.',
  'policies.archive': 'Removes a rule, so more payments can pass.',
  'policies.confirm_change': loosens,
  'policies.withdraw_change': stops,
  'notification_settings.update': 'Only to turn something off: a stolen session could silence its owner.',
  'push_subscriptions.create': 'Sends notifications to this browser only while its session lasts.',
  'push_subscriptions.delete': 'Only for another session’s subscription, which may be how the owner learns of an approval.',
  'payments.create': underRules,
  'payments.cancel': stops,
  'payment_batches.create': underRules,
  'payment_batches.cancel': stops,
  'approvals.decide': underRules,
  'approvals.decide_by_signature': bySignature,
  'mandates.prepare': bySignature,
  'mandates.create': bySignature,
  'mandates.revoke': stops,
  'topups.initiate': 'Only adds money.',
  'mcp.call': 'Each tool calls a route, which has its own row.',
}

/** @throws if the operation has no reason */
export const proofReason = ({ operation, method, rule, freshProof, changesNothing }: RouteEntry): string => {
  const reason = reasons[operation]
  if (reason !== undefined) return reason
  if (freshProof === null && (method === 'GET' || changesNothing)) return 'Only reads.'
  if (rule === 'admin') return adminAct
  throw new Error(`${operation}: add to scripts/fresh-proof.ts whether a session needs a fresh proof for it, and why`)
}

export const withProofReason: readonly string[] = Object.keys(reasons)
